"""Opening, indexing, and every question to a lake."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import lakeward
import pytest
from conftest import SAMPLE
from lakeward import errors, types


def test_index_opens_the_lake_and_says_what_was_done(small_lake: Path) -> None:
    lake = lakeward.index(small_lake, progress=False)
    assert isinstance(lake.stats, types.BuildStats)
    assert (lake.stats.tables, lake.stats.added) == (2, 2)
    assert lakeward.index(small_lake, progress=False).stats.unchanged == 2
    assert lakeward.index(small_lake, progress=False, rebuild=True).stats.added == 2
    assert lake.path == str(small_lake)
    assert Path(lake.index_path) == small_lake / ".lakeward"
    assert repr(lake) == f"Lake({str(small_lake)!r})"


def test_only_the_first_rows_are_read_where_a_sample_is_asked_for(small_lake: Path) -> None:
    lake = lakeward.index(small_lake, progress=False, sample_rows=10)
    assert lake.stats.sampled == 2
    assert lake.profile("sales").sampled
    with pytest.raises(ValueError, match="sample_rows"):
        lakeward.index(small_lake, sample_rows=0)


def test_open_finds_the_nearest_index_upward(small_lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lakeward.index(small_lake, progress=False)
    below = small_lake / "deeper"
    below.mkdir()
    monkeypatch.chdir(below)
    assert os.path.samefile(lakeward.open().path, small_lake)


def test_search(lake: lakeward.Lake) -> None:
    found = lake.search("airports by country", k=5)
    assert len(found) == 5
    assert isinstance(found[0], types.SearchAnswer)
    assert found[0].table.startswith("transport/")
    assert found.query == "airports by country"
    assert found.elapsed_ms is not None and found.elapsed_ms > 0
    assert [answer.table for answer in found] == [answer.table for answer in found[:]]
    scores = [answer.score for answer in found]
    assert scores == sorted(scores, reverse=True)
    assert found[-1] == found[4]


def test_join_by_one_column_several_and_the_best(lake: lakeward.Lake) -> None:
    found = lake.join("geo/countries", column="iso3", k=3)
    assert len(found) == 3
    assert found[0].query_column == "iso3"
    assert found[0].containment > 0.9
    assert lake.join("geo/countries", k=3)[0].score >= found[0].score
    two = lake.join("geo/countries", ["iso", "iso3"], k=2)
    assert all(len(answer.on) == 2 for answer in two)
    assert isinstance(found.notes, tuple)


def test_correlate_on_a_key_that_is_given_or_found(lake: lakeward.Lake) -> None:
    found = lake.correlate("population/gapminder/countries2007", "life_expectancy", key="country", k=3)
    assert found.target == "life_expectancy" and found.keys == (("country",),) and found.tested > 50
    assert found[0].verified and found[0].low <= found[0].strength <= found[0].high
    assert len(found) == 3
    assert "what goes with `life_expectancy`" in repr(found)
    assert len(lake.correlate("population/gapminder/countries2007", "life_expectancy", k=2)) == 2


def test_features_with_what_they_add(lake: lakeward.Lake) -> None:
    found = lake.features("energy/us_states_egrid_2023", "lb_co2e_per_mwh", key="state", k=1)
    assert len(found) == 1 and found[0].gain is not None and found[0].found.verified
    assert found.gain is not None and found.gain.folds == 5 and found.plan["steps"]
    assert "lb_co2e_per_mwh" in repr(found)


def test_columns_by_what_they_hold(lake: lakeward.Lake) -> None:
    found = lake.columns("Toyota", k=2)
    assert {answer.column for answer in found} == {"manufacturer", "make"} and found[0].values == ("Toyota",)
    assert found[0].matched == ("values",) and "columns for `Toyota`" in repr(found)


def test_union(lake: lakeward.Lake) -> None:
    found = lake.union("population/gapminder/gap_1962", k=3)
    assert found[0].table.startswith("population/gapminder/")
    assert found[0].alignment and isinstance(found[0].alignment[0], types.AlignedPair)
    assert found[0].new_rows is not None


def test_ask_recommends_tables_and_operations(lake: lakeward.Lake) -> None:
    answer = lake.ask("average life expectancy per continent")
    assert answer.operations[0].kind == "Aggregate"
    assert "life" in answer[0].table or "gapminder" in answer[0].table
    assert answer.signals.operation.label == "Aggregate"
    assert answer.turn == 1 and answer.session is None
    assert answer.sql is not None
    rows = lake.sql(answer.sql)
    assert len(rows) > 1 and "continent" in rows.columns


def test_ask_with_a_table_at_hand(lake: lakeward.Lake) -> None:
    answer = lake.ask("add the capital of each country", table="health/health_income", k=3)
    assert 0 < len(answer) <= 3
    assert answer[0].evidence.join is not None or answer[0].evidence.search is not None


def test_profile_of_a_table_and_of_a_file(lake: lakeward.Lake, tmp_path: Path) -> None:
    profile = lake.profile("geo/countries")
    assert (profile.table, profile.rows, profile.in_lake) == ("geo/countries", 252, True)
    assert [column.name for column in profile][:2] == ["iso", "iso3"]
    assert profile.columns == tuple(profile)
    assert "iso" in profile.keys
    assert profile.metadata is not None
    file = tmp_path / "prices.csv"
    file.write_text("day,price\n2020-01-01,3\n2020-01-02,4\n")
    outside = lake.profile(file)
    assert (outside.table, outside.in_lake, outside.rows) == ("prices", False, 2)


def test_tables(lake: lakeward.Lake) -> None:
    tables = lake.tables()
    ids = [table.table for table in tables]
    assert ids == sorted(ids)
    assert "geo/countries" in ids
    assert len(tables) == len(tables.to_arrow())


def test_sql_over_tables_and_functions(lake: lakeward.Lake) -> None:
    rows = lake.sql("SELECT name FROM geo.countries WHERE iso = 'FR'")
    assert rows.to_dicts() == [{"name": "France"}]
    joined = lake.sql(
        "SELECT j.id, t.rows FROM lake_joinable('geo/countries', 'iso', 3) j JOIN lake_tables() t USING (id) "
        "ORDER BY j.rank"
    )
    assert len(joined) == 3
    assert "name" in repr(rows) and "France" in repr(rows)
    empty = lake.sql("SELECT name FROM geo.countries WHERE iso = '??'")
    assert len(empty) == 0 and empty.columns == ("name",)
    assert empty.to_arrow().schema.names == ["name"]


def test_refresh_shows_what_was_indexed_since(small_lake: Path) -> None:
    lake = lakeward.index(small_lake, progress=False)
    (small_lake / "towns.csv").write_text("town,people\nA,1\nB,2\n")
    lakeward.index(small_lake, progress=False)
    assert len(lake.tables()) == 2
    assert len(lake.refresh().tables()) == 3


def test_typed_rows_have_every_key_of_the_documents(lake: lakeward.Lake) -> None:
    """Decoding leaves unknown keys out, so that nothing breaks; here it shows when one was forgotten."""
    session = lake.session(keep=False)
    session.ask("countries with their population", table="geo/countries")
    documents = [
        (types.SearchAnswer, lake.search("population of countries", 3).to_dicts()),
        (types.JoinAnswer, lake.join("geo/countries", k=5).to_dicts()),
        (types.UnionAnswer, lake.union("geo/countries", k=5).to_dicts()),
        (types.ColumnAnswer, lake.columns("country codes", 5).to_dicts()),
        (types.CorrelationAnswer, lake.correlate("us/state_crime_2009", "murder", k=5).to_dicts()),
        (types.RankedTable, lake.ask("join countries with income", table="geo/countries").to_dicts()),
        (types.TableLine, lake.tables().to_dicts()),
        (types.ColumnProfile, lake.profile("geo/countries").to_dicts()),
        (types.Turn, session.document()["turns"]),
        (types.Signals, [session.document()["turns"][0]["signals"]]),
        (types.Demand, session.document()["demands"]),
    ]
    for kind, rows in documents:
        names = {field.metadata.get("json", field.name) for field in dataclasses.fields(kind)}
        for row in rows:
            assert set(row) - names == set(), kind.__name__


def test_rows_are_frozen_and_documents_are_copies(lake: lakeward.Lake) -> None:
    found = lake.search("airports", 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found[0].score = 1.0  # type: ignore[misc]
    found.to_dicts()[0]["table"] = "changed"
    assert found.to_dicts()[0]["table"] == found[0].table
    json.dumps(found.to_dicts())


def test_answers_show_themselves_as_text(lake: lakeward.Lake) -> None:
    shown = repr(lake.join("geo/countries", "iso3", 3))
    assert shown.startswith("tables to join with `geo/countries`")
    assert "iso3 = " in shown
    assert "Aggregate" in repr(lake.ask("average life expectancy per continent"))
    assert "252 rows" in repr(lake.profile("geo/countries"))
    assert "… " in repr(lake.tables())
    assert "nothing found" in repr(lake.search("qqqqzzzz xxyyqq"))


def test_the_sample_lake_was_not_written_to(lake: lakeward.Lake) -> None:
    assert errors.NoIndex.__mro__[2] is FileNotFoundError
    assert Path(lake.index_path).parent != SAMPLE
