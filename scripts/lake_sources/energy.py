"""Electricity: what it is made from and how much carbon it takes; emissions of countries."""

import json
import re

import pandas

from . import mess
from .reader import Packages
from .table import SEMICOLON, Table, Text

EMISSION_SPANS = {
    # first and last year: (path, headings, layout, edits)
    (1970, 1984): ("energy/co2_per_person/co2pp_1970_1984.csv", {}, Text(), ()),
    (1985, 1999): ("energy/co2_per_person/co2pp_1985_1999.csv", {}, Text(), ()),
    (2000, 2012): (
        "energy/co2_per_person/tbl_0423_exp.csv",
        {"country": "Country", "year": "Yr", "emissions": "t_CO2_pc"},
        SEMICOLON,
        (
            mess.decimal_comma("t_CO2_pc"),
            mess.marks("Country", {"Finland": "[1]", "Spain": "*", "France": " †"}),
        ),
    ),
}


def tables(packages: Packages) -> list[Table]:
    return [
        *world_tables(packages),
        *part_tables(packages),
        *(emissions(packages, span) for span in EMISSION_SPANS),
    ]


def world_tables(packages: Packages) -> list[Table]:
    mix = pandas.DataFrame(packages.codecarbon("private_infra/global_energy_mix.json").values())
    mix = mix.dropna(subset=["iso_code"])
    sources = [
        "coal",
        "gas",
        "oil",
        "nuclear",
        "hydroelectricity",
        "solar",
        "wind",
        "biofuel",
        "other_renewable_exc_biofuel",
    ]
    return [
        Table(
            "energy/electricity_mix_by_country.csv",
            "Electricity generation by source and country, latest year",
            "One row per country with the electricity it generated from each source in its latest year on record, "
            "mostly 2022 or 2023, and the carbon intensity of the whole. Generation is in terawatt-hours, "
            "intensity in grams of CO2 equivalent per kilowatt-hour. Years differ between countries.",
            "electricity, generation, energy mix, coal, solar, wind, countries",
            "owid-energy",
            mix[
                ["iso_code", "country_name", "year"]
                + [f"{source}_TWh" for source in sources]
                + ["total_TWh", "carbon_intensity"]
            ],
            {
                "iso_code": "ISO alpha-3 code of the country",
                "year": "Year that the row is about",
                "total_TWh": "Electricity generated from all sources, terawatt-hours",
                "carbon_intensity": "Grams of CO2 equivalent per kilowatt-hour",
                "solar_TWh": "Generated from sunlight, terawatt-hours",
                "wind_TWh": "Generated from wind, terawatt-hours",
                "coal_TWh": "Generated from coal, terawatt-hours",
            },
        ),
        Table(
            "energy/grid_intensity_iso3.csv",
            "Carbon intensity of power grids by country (Ember)",
            "One row per country, continent or group with the average carbon intensity of its electricity in grams "
            "of CO2 per kilowatt-hour. Keys are ISO alpha-3 codes except for groups such as ASIA, ASEAN or WORLD. "
            "The package keeps only the latest yearly value and not its year.",
            "carbon intensity, electricity, grid, countries",
            "ember",
            pandas.DataFrame(ember(packages).items(), columns=["country_code", "gco2_per_kwh"]),
            {
                "country_code": "ISO alpha-3 code, or the name of a group in capitals",
                "gco2_per_kwh": "Grams of CO2 per kilowatt-hour",
            },
        ),
    ]


def ember(packages: Packages) -> dict[str, float]:
    script = packages.npm("@tgwf/co2", "dist/esm/data/average-intensities.min.js").read_text(encoding="utf-8")
    return json.loads(re.search(r"const data = (\{.*?\});", script, re.DOTALL).group(1))


def part_tables(packages: Packages) -> list[Table]:
    states = packages.codecarbon("private_infra/2023/usa_emissions.json")
    rows = [(name, entry["regionCode"], entry["emissions"]) for name, entry in states.items() if name[0] != "_"]
    canada = packages.codecarbon("private_infra/2023/canada_energy_mix.json")
    nordic = packages.codecarbon("private_infra/nordic_emissions.json")["data"]
    return [
        Table(
            "energy/us_states_egrid_2023.csv",
            "Carbon intensity of electricity in U.S. states, 2023",
            "One row per state with the output emission rate of its power plants in 2023, in pounds of CO2 "
            "equivalent per megawatt-hour, after the EPA's eGRID. State names are in lower case; the row usa is the "
            "whole country.",
            "electricity, emissions, states, eGRID, United States",
            "egrid",
            pandas.DataFrame(rows, columns=["state", "region_code", "lb_co2e_per_mwh"]),
            {
                "state": "Name in lower case",
                "region_code": "Two-letter state code",
                "lb_co2e_per_mwh": "Pounds of CO2 equivalent per megawatt-hour",
            },
        ),
        Table(
            "energy/canada_generation_shares.csv",
            "Sources of electricity in the provinces of Canada",
            "One row per province or territory with the share of each source in its electricity, in percent. "
            "Shares are rounded by the source and so may miss 100 by a little; the total column says by how much.",
            "electricity, Canada, provinces, hydro, nuclear",
            "codecarbon",
            pandas.DataFrame([{"province": name, **shares} for name, shares in canada.items()]),
            {
                "province": "Name in lower case",
                "hydro": "Percent from water",
                "nuclear": "Percent from fission",
            },
            edits=(
                mess.upper("province"),
                mess.preamble("Electricity generation by source", "percent of total", ""),
            ),
        ),
        Table(
            "energy/nordic_bidding_zones.ndjson",
            "Carbon intensity of Nordic electricity price zones, 2025",
            "One record for each bidding zone of Sweden and Norway and for Finland, with the estimated carbon "
            "intensity in grams of CO2 equivalent per kilowatt-hour, how much of the generation the estimate "
            "covers, and a remark on what drives it.",
            "electricity, Nordic, Sweden, Norway, bidding zones",
            "codecarbon",
            pandas.DataFrame([{"zone": zone, **entry} for zone, entry in nordic.items()]),
            {"zone": "Code of the bidding zone", "emission_factor": "Value in the stated unit"},
        ),
    ]


def emissions(packages: Packages, span: tuple[int, int]) -> Table:
    path, headings, layout, edits = EMISSION_SPANS[span]
    every = packages.bokeh_texts("emissions.csv.gz")
    every["year"] = every.year.astype(float).astype(int)
    frame = every[every.year.between(*span)].sort_values(["country", "year"])
    return Table(
        path,
        f"CO2 emissions per person by country, {span[0]} to {span[1]}",
        f"One row per country and year from {span[0]} to {span[1]} with the CO2 emissions in tonnes per person. The "
        "unit is inferred from the size of the figures, as the package does not state it. The series continues "
        "in the sister files of the folder, one of which has other headings, decimal commas "
        "and footnote markers.",
        "CO2, emissions, per capita, countries, climate",
        "bokeh-emissions",
        frame.rename(columns=headings),
        {
            headings.get("country", "country"): "English country name",
            headings.get("emissions", "emissions"): "Tonnes of CO2 per person",
        },
        text=layout,
        edits=edits,
    )
