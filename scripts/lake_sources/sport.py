"""Baseball, football, the Winter Olympics and the 100 metres."""

import json

import pandas

from . import mess
from .reader import Packages
from .table import SEMICOLON, Table, Text

BATTING = {
    # season: (path, headings)
    2023: ("sport/baseball/batting_2023.csv", {}),
    2024: (
        "sport/baseball/bat24.csv",
        {"playerID": "player_id", "yearID": "season", "teamID": "team", "lgID": "league"},
    ),
}
MATCHES = {
    # (division, season's first year): (path, league, headings, layout, edits)
    ("English Premier League", 2014): (
        "sport/football/eng_2014_15.csv",
        "English Premier League",
        {},
        Text(),
        (),
    ),
    ("English Premier League", 2015): (
        "sport/football/eng_2015_16.csv",
        "English Premier League",
        {},
        Text(),
        (),
    ),
    ("Deutsche Bundesliga", 2015): (
        "sport/football/bundesliga_1516.csv",
        "German Bundesliga",
        {
            "date": "Datum",
            "home_team": "Heim",
            "away_team": "Gast",
            "home_score": "Tore",
            "away_score": "Tore ",
        },
        SEMICOLON,
        (mess.dates("%d.%m.%Y", "Datum"), mess.headers({"Tore ": "Tore"})),
    ),
    ("Primera Division", 2015): (
        "sport/football/esp_2015_16.parquet",
        "Spanish Primera Division",
        {},
        Text(),
        (),
    ),
}

MEDALS = ("gold", "silver", "bronze", "total")


def tables(packages: Packages) -> list[Table]:
    return [
        *baseball_people(packages),
        *baseball_teams(packages),
        *(batting(packages, season) for season in BATTING),
        *(matches(packages, *key) for key in MATCHES),
        *olympics(packages),
    ]


def full_names(people: pandas.DataFrame) -> pandas.Series:
    return people.nameFirst + " " + people.nameLast


def baseball_people(packages: Packages) -> list[Table]:
    people = packages.lahman("People")
    people["debut"] = people.debut.dt.strftime("%Y-%m-%d")
    chosen = people[(people.debut >= "1960-01-01")].assign(name=full_names)
    hall = packages.lahman("HallOfFame")
    hall = hall[(hall.inducted == "Y") & (hall.category == "Player") & (hall.yearid >= 1990)].merge(
        people.assign(name=full_names), on="playerID"
    )
    return [
        Table(
            "sport/baseball/people.parquet",
            "Baseball players since 1960",
            "One row per person whose first game in the major leagues was in 1960 or later, with name, birth, weight "
            "in pounds, height in inches, batting and throwing hand and the day of the first game.",
            "baseball, players, MLB, birth, height, weight",
            "lahman",
            chosen[
                [
                    "playerID",
                    "name",
                    "birthYear",
                    "birthCity",
                    "birthState",
                    "birthCountry",
                    "weight",
                    "height",
                ]
                + ["bats", "throws", "debut"]
            ],
            {
                "playerID": "Key of the player in the Lahman database",
                "name": "First name, then surname",
                "weight": "Pounds",
                "height": "Inches",
                "debut": "Day of the first game",
            },
        ),
        Table(
            "sport/baseball/hall_of_fame.csv",
            "Players inducted into the Baseball Hall of Fame since 1990",
            "One row per player inducted into the Hall of Fame in 1990 or later with the year, who voted, and the "
            "ballots and votes where there was a ballot. Names have the surname first.",
            "baseball, Hall of Fame, awards",
            "lahman",
            hall.sort_values(["yearid", "playerID"])[["name", "yearid", "votedBy", "ballots", "votes", "birthYear"]],
            {"name": "Surname, then first name", "yearid": "Year of the induction", "votedBy": "Who voted"},
            text=SEMICOLON,
            edits=(mess.last_first("name"),),
        ),
    ]


def baseball_teams(packages: Packages) -> list[Table]:
    teams = packages.lahman("Teams")
    salaries = packages.lahman("Salaries")
    return [
        Table(
            "sport/baseball/teams.csv",
            "Baseball teams by season since 1980",
            "One row per major-league team and season from 1980 on with wins, losses, runs, home runs, attendance "
            "and "
            "whether it won the World Series. The team code can change over the years, the franchise code does "
            "not.",
            "baseball, teams, seasons, wins, attendance, World Series",
            "lahman",
            teams[teams.yearID >= 1980][
                [
                    "yearID",
                    "lgID",
                    "teamID",
                    "franchID",
                    "divID",
                    "name",
                    "park",
                    "Rank",
                    "G",
                    "W",
                    "L",
                    "R",
                    "HR",
                ]
                + ["attendance", "WSWin"]
            ],
            {
                "teamID": "Code of the team in that season",
                "franchID": "Code of the franchise",
                "W": "Games won",
                "L": "Games lost",
                "WSWin": "Y for the winner of the World Series",
                "attendance": "Spectators at home",
            },
        ),
        Table(
            "sport/baseball/franchises.csv",
            "Baseball franchises",
            "One row per franchise, old ones included, with its code, its present or last name and whether it still "
            "plays. Teams refer to it by the code.",
            "baseball, franchises, lookup",
            "lahman",
            packages.lahman("TeamsFranchises")[["franchID", "franchName", "active"]],
            {"franchID": "Code of the franchise", "active": "Y if it still plays, N if not, empty for some old ones"},
        ),
        Table(
            "sport/baseball/salaries_2010_2016.parquet",
            "Salaries of baseball players, 2010 to 2016",
            "One row per player, team and season from 2010 to 2016 with the salary in dollars.",
            "baseball, salaries, players",
            "lahman",
            salaries[salaries.yearID >= 2010],
            {"playerID": "Key of the player", "teamID": "Code of the team", "salary": "Dollars per season"},
        ),
        Table(
            "sport/baseball/parks.csv",
            "Baseball parks",
            "One row per ballpark that has hosted major-league games, with its names, city, state and country.",
            "baseball, stadiums, parks, cities",
            "lahman",
            packages.lahman("Parks")[["parkkey", "parkname", "parkalias", "city", "state", "country"]],
            {"parkkey": "Code of the park", "parkalias": "Other names"},
            edits=(mess.overlong(40, "see also alias"),),
        ),
    ]


def batting(packages: Packages, season: int) -> Table:
    path, headings = BATTING[season]
    every = packages.lahman("Batting")
    frame = every[every.yearID == season][
        [
            "playerID",
            "yearID",
            "stint",
            "teamID",
            "lgID",
            "G",
            "AB",
            "R",
            "H",
            "2B",
            "3B",
            "HR",
            "RBI",
            "SB",
            "BB",
            "SO",
        ]
    ]
    described = {
        "playerID": "Key of the player, see people.parquet",
        "teamID": "Code of the team, see teams.csv",
        "AB": "At bats",
        "H": "Hits",
        "HR": "Home runs",
        "RBI": "Runs batted in",
        "SO": "Strikeouts",
    }
    return Table(
        path,
        f"Batting in the major leagues, season {season}",
        f"One row per player and team of the season {season} with games, at bats, runs, hits, home runs and other "
        "counts. A player who changed teams has several rows, numbered by stint. Other seasons are in the folder.",
        f"baseball, batting, players, {season}, statistics",
        "lahman",
        frame.rename(columns=headings),
        {headings.get(key, key): text for key, text in described.items()},
    )


def matches(packages: Packages, division: str, start: int) -> Table:
    path, league, headings, layout, edits = MATCHES[division, start]
    every = pandas.DataFrame(packages.vega("football.json"))
    inside = (every.date >= f"{start}-07-15") & (every.date < f"{start + 1}-07-01")
    frame = every[(every.division == division) & inside].drop(columns="division")
    described = {
        "home_team": "Team at home",
        "away_team": "Visiting team",
        "home_score": "Goals of the home team",
    }
    return Table(
        path,
        f"Football results: {league}, season {start}/{start + 1 - 2000}",
        f"One row per match of the {league} in the season {start}/{start + 1 - 2000} with day, teams and goals. Team "
        "names are those of openfootball. The leagues and seasons of the folder have the same five columns; the "
        "German file has German headings, the last two of them alike.",
        f"football, soccer, matches, goals, {league}",
        "openfootball",
        frame.rename(columns=headings),
        {headings.get(key, key): text for key, text in described.items()},
        text=layout,
        edits=edits,
    )


def olympics(packages: Packages) -> list[Table]:
    medals = json.loads(packages.bokeh("olympics2014.json").read_text(encoding="utf-8"))["data"]
    rows = [(entry["name"], entry["abbr"], *(entry["medals"][kind] for kind in MEDALS)) for entry in medals]
    return [
        Table(
            "sport/olympics/sochi_2014_medals.csv",
            "Medals by country, Winter Olympics 2014 in Sochi",
            "One row per nation that took part in the Winter Olympics of 2014 with its gold, silver and bronze "
            "medals "
            "as counted at the time, before later doping cases changed the list. Some names carry a footnote marker; "
            "the "
            "last row sums the medals.",
            "Olympics, medals, Sochi 2014, countries",
            "sochi",
            pandas.DataFrame(rows, columns=["country", "noc", *MEDALS]),
            {"noc": "Three-letter code of the Olympic committee", "total": "All medals"},
            edits=(
                mess.marks("country", {"Finland": "[1]", "Spain": "*", "France": " †"}),
                mess.total("Total", *MEDALS),
            ),
        ),
    ]
