"""The lake in a session of PyPI's ``datafusion``."""

from __future__ import annotations

import lakeward
import pandas
import pyarrow
import pytest
from lakeward import errors

datafusion = pytest.importorskip("datafusion")


@pytest.fixture
def ctx(lake: lakeward.Lake) -> datafusion.SessionContext:
    ctx = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(8).with_information_schema(True))
    lake.register(ctx)
    return ctx


def rows(ctx: datafusion.SessionContext, query: str) -> list[dict[str, object]]:
    return ctx.sql(query).to_arrow_table().to_pylist()


def test_tables_of_the_lake(ctx: datafusion.SessionContext) -> None:
    assert rows(ctx, "SELECT name FROM lake.geo.countries WHERE iso = 'FR'") == [{"name": "France"}]
    assert rows(ctx, 'SELECT count(*) AS n FROM lake."us/zip".zip_ma') == [{"n": 711}]
    assert len(ctx.table("lake.geo.countries").collect()) >= 1
    listed = rows(ctx, "SELECT * FROM information_schema.tables WHERE table_catalog = 'lake' AND table_schema = 'geo'")
    assert "countries" in [table["table_name"] for table in listed]


def test_calls_with_other_arguments_are_other_calls(ctx: datafusion.SessionContext, lake: lakeward.Lake) -> None:
    query = "SELECT (SELECT id FROM lake_search('airports', 1)) AS a, (SELECT id FROM lake_search('hurricanes', 1)) AS b"
    found = {"a": lake.search("airports", 1)[0].table, "b": lake.search("hurricanes", 1)[0].table}
    assert found["a"] != found["b"]
    assert rows(ctx, query) == [found]


def test_parquet_reads_only_what_a_query_needs(ctx: datafusion.SessionContext) -> None:
    plan = str(rows(ctx, "EXPLAIN SELECT title FROM lake.film.films_2000s WHERE year > 2005"))
    assert "projection=[title" in plan
    assert "TableScan: lake.film.films_2000s" in plan and "year > " in plan
    counted = rows(ctx, "SELECT count(*) AS n FROM lake.film.films_2000s WHERE year > 2005")[0]["n"]
    assert 0 < counted < rows(ctx, "SELECT count(*) AS n FROM lake.film.films_2000s")[0]["n"]


def test_table_functions_answer_as_the_methods_do(ctx: datafusion.SessionContext, lake: lakeward.Lake) -> None:
    def ids(query: str) -> list[object]:
        return [row["id"] for row in rows(ctx, query + " ORDER BY rank")]

    assert ids("SELECT * FROM lake_search('airports', 4)") == [found.table for found in lake.search("airports", 4)]
    joined = [found.table for found in lake.join("geo/countries", "iso3", 4)]
    assert ids("SELECT * FROM lake_joinable('geo/countries', 'iso3', 4)") == joined
    assert ids("SELECT * FROM lake_joinable('geo/countries', NULL, 4)") == [
        found.table for found in lake.join("geo/countries", k=4)
    ]
    united = [found.table for found in lake.union("geo/countries", 3)]
    assert ids("SELECT * FROM lake_unionable('geo/countries', 3)") == united
    text = "average life expectancy per continent"
    assert ids(f"SELECT * FROM lake_ask('{text}', NULL, 3)") == [table.table for table in lake.ask(text, k=3)]
    profile = [row["name"] for row in rows(ctx, "SELECT name FROM lake_profile('geo/countries') ORDER BY position")]
    assert profile == [column.name for column in lake.profile("geo/countries")]
    assert len(rows(ctx, "SELECT id FROM lake_tables()")) == len(lake.tables())
    assert "lake_search" in [row["name"] for row in rows(ctx, "SELECT name FROM lake_functions()")]


def test_answers_join_with_tables_and_with_one_another(ctx: datafusion.SessionContext) -> None:
    found = rows(
        ctx,
        "SELECT j.id, t.rows FROM lake_joinable('geo/countries', 'iso', 5) j JOIN lake_tables() t USING (id) "
        "WHERE t.rows > 100 ORDER BY j.rank",
    )
    assert found and all(row["rows"] > 100 for row in found)
    assert rows(ctx, "SELECT unnest(adds) AS added FROM lake_joinable('geo/countries', 'iso', 1)")


def test_a_data_frame_joins_a_table_of_the_lake(ctx: datafusion.SessionContext, lake: lakeward.Lake) -> None:
    ctx.from_pandas(pandas.DataFrame({"land": ["FRANCE", "chad"], "visits": [3, 1]}), "mine")
    joined = rows(
        ctx,
        "SELECT m.land, c.population FROM mine m JOIN lake.geo.countries c "
        "ON value_normalize(m.land) = value_normalize(c.name) ORDER BY m.land",
    )
    assert [row["land"] for row in joined] == ["FRANCE", "chad"]
    ctx.from_arrow(lake.search("airports", 3), "found")
    assert rows(ctx, "SELECT count(*) AS n FROM found") == [{"n": 3}]


def test_aggregates_over_several_partitions(ctx: datafusion.SessionContext) -> None:
    table = pyarrow.table({"g": [n % 3 for n in range(30_000)], "x": [n % 1000 for n in range(30_000)]})
    ctx.register_record_batches("one", [[batch] for batch in table.to_batches(max_chunksize=2_000)])
    table = pyarrow.table({"y": list(range(500, 1500))})
    ctx.register_record_batches("two", [[batch] for batch in table.to_batches(max_chunksize=100)])
    exact = rows(ctx, "SELECT containment((SELECT minhash(x) FROM one), (SELECT minhash(y) FROM two)) AS share")
    assert exact == [{"share": 0.5}]
    jaccard = rows(ctx, "SELECT jaccard((SELECT minhash(x) FROM one), (SELECT minhash(y) FROM two)) AS share")
    assert jaccard[0]["share"] == pytest.approx(1 / 3)
    grouped = rows(ctx, "SELECT g, approx_containment(x, x) AS share FROM one GROUP BY g ORDER BY g")
    assert grouped == [{"g": g, "share": 1.0} for g in range(3)]
    together = rows(ctx, "SELECT approx_jaccard(x, x + 500) AS share FROM one WHERE x < 500")
    assert together == [{"share": 0.0}]


def test_vectors(ctx: datafusion.SessionContext) -> None:
    close, far = (
        rows(ctx, f"SELECT cosine(embed('airport'), embed('{word}')) AS c")[0]["c"] for word in ("airports", "cheese")
    )
    assert close > far


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT * FROM lake_joinable('geo/contries', NULL, 3)", "did you mean `geo/countries`"),
        ("SELECT * FROM lake_joinable('geo/countries', 'iso33', 3)", "did you mean `iso3`"),
        ("SELECT * FROM lake_search(1)", "lake_search"),
        ("SELECT * FROM lake_search('x', 0)", "`k`"),
        ("SELECT * FROM lake_search()", "lake_search"),
        ("SELECT * FROM lake_search('x', 99999999999999999999)", "lake_search"),
        ("SELECT * FROM lake_search('x', [1])", "lake_search"),
        ("SELECT * FROM lake_search('x', true)", "lake_search"),
        ("SELECT * FROM lake_search('x', 2.5)", "lake_search"),
        ("SELECT * FROM lake.geo.contries", "did you mean `geo/countries`"),
        ("SELECT * FROM lake.nowhere.nothing_like_it", "nothing_like_it"),
        ("SELECT nothing_like_it FROM lake.geo.countries", "nothing_like_it"),
    ],
)
def test_errors_say_what_to_do(ctx: datafusion.SessionContext, query: str, words: str) -> None:
    with pytest.raises(Exception, match=".*") as raised:
        ctx.sql(query).collect()
    assert words in str(raised.value)


def test_arguments_that_are_no_constants_are_refused(lake: lakeward.Lake) -> None:
    function = next(table for table in lake._lake.functions()[2] if table.name == "lake_search")
    with pytest.raises(errors.UsageError, match="constants"):
        function(datafusion.col("a"))
    with pytest.raises(errors.UsageError, match="constants"):
        function(3)


def test_an_older_registration_stays_when_the_lake_goes(ctx: datafusion.SessionContext, lake: lakeward.Lake) -> None:
    other = datafusion.SessionContext()
    lakeward.open(lake.path, lake.index_path, llm=False).register(other)
    assert len(rows(other, "SELECT * FROM lake_search('airports', 2)")) == 2
    lake.register(ctx)
    assert len(rows(ctx, "SELECT * FROM lake_search('airports', 2)")) == 2


@pytest.mark.parametrize("version", ["54.0.0", "56.1.0", "unknown"])
def test_another_version_is_refused(lake: lakeward.Lake, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(datafusion, "__version__", version)
    with pytest.raises(ImportError, match=r"pip install 'datafusion>=55,<56'"):
        lake.register(datafusion.SessionContext())


def test_something_else_is_no_session(lake: lakeward.Lake) -> None:
    with pytest.raises(errors.UsageError, match="SessionContext"):
        lake.register(object())  # type: ignore[arg-type]
