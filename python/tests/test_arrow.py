"""Answers as tables of other libraries, and tables of other libraries to search with."""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import lakeward
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from lakeward import errors

COUNTRIES = {"land": ["France", "Chad", "Peru", "Japan"], "visits": [3, 1, 2, 5]}


def test_answers_are_tables_of_pyarrow_polars_and_pandas(lake: lakeward.Lake) -> None:
    found = lake.join("geo/countries", "iso3", 4)
    table = found.to_arrow()
    assert table.column("id").to_pylist() == [answer.table for answer in found]
    assert table.column("rank").to_pylist() == [1, 2, 3, 4]
    assert pyarrow.table(found).equals(table)
    assert pyarrow.schema(found).equals(table.schema)
    assert found.to_polars().shape == polars.DataFrame(found).shape == (4, table.num_columns)
    assert list(found.to_pandas()["id"]) == table.column("id").to_pylist()


def test_nothing_is_copied_on_the_way(lake: lakeward.Lake) -> None:
    found = lake.search("airports", 4)

    def address(table: pyarrow.Table) -> int:
        return table.column("score").chunk(0).buffers()[1].address

    first, second = found.to_arrow(), pyarrow.table(found)
    assert address(first) == address(second)
    assert address(found.to_polars().to_arrow()) == address(first)
    rows = lake.sql("SELECT population FROM geo.countries")
    one, two = (rows.to_arrow().column(0).chunk(0).buffers()[1].address for _ in range(2))
    assert one == two


def test_every_answer_is_a_table_even_an_empty_one(lake: lakeward.Lake) -> None:
    answers = [
        lake.search("airports"),
        lake.join("geo/countries"),
        lake.union("geo/countries"),
        lake.ask("airports"),
        lake.profile("geo/countries"),
        lake.tables(),
        lake.search("qqqqzzzz xxyyqq"),
    ]
    for answer in answers:
        assert answer.to_arrow().num_rows == len(answer) == len(answer.to_pandas()) == len(answer.to_polars())


@pytest.mark.parametrize(
    "frame",
    [
        pandas.DataFrame(COUNTRIES),
        pandas.DataFrame(COUNTRIES).set_index("land"),
        pandas.DataFrame(COUNTRIES, index=[9, 8, 7, 6]),
        polars.DataFrame(COUNTRIES),
        polars.DataFrame(COUNTRIES, schema_overrides={"land": polars.Categorical}),
        pyarrow.table(COUNTRIES),
        pyarrow.table(COUNTRIES).to_batches()[0],
        pyarrow.table({"land": pyarrow.array(COUNTRIES["land"]).dictionary_encode(), "visits": COUNTRIES["visits"]}),
        pyarrow.table({"land": pyarrow.array(COUNTRIES["land"], pyarrow.string_view())}),
        pyarrow.table({"land": pyarrow.array(COUNTRIES["land"], pyarrow.large_string())}),
    ],
    ids=["pandas", "index", "plain index", "polars", "categories", "arrow", "batch", "dictionary", "view", "large"],
)
def test_a_table_in_memory_is_searched_with(lake: lakeward.Lake, frame: object) -> None:
    found = lake.join(frame, "land", k=30)
    assert found[0].containment == 1.0
    assert "geo/countries" in [answer.table for answer in found]
    assert len(lake.union(frame, k=2)) == 2
    assert [column.name for column in lake.profile(frame)][0] == "land"
    assert len(lake.ask("add the population", table=frame, k=3)) > 0


def test_a_path_is_searched_with(lake: lakeward.Lake, tmp_path: Path) -> None:
    file = tmp_path / "visits.parquet"
    pyarrow.parquet.write_table(pyarrow.table(COUNTRIES), file)
    assert lake.join(file, "land")[0].containment == 1.0
    assert lake.join(str(file), "land")[0].containment == 1.0


def test_columns_of_any_type_are_taken(lake: lakeward.Lake) -> None:
    table = pyarrow.table(
        {
            "day": [datetime.date(2020, 1, 1), None],
            "moment": [datetime.datetime(2020, 1, 1, 12), None],
            "amount": [Decimal("1.50"), None],
            "list": [[1, 2], None],
            "part": [{"a": 1}, None],
            "flag": [True, None],
            "bytes": [b"x", None],
            "none": pyarrow.nulls(2),
            "long": pyarrow.array([datetime.timedelta(seconds=1), None]),
        }
    )
    assert [column.name for column in lake.profile(table)] == table.column_names


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (3, "`int` is no table"),
        ([1, 2], "`list` is no table"),
        (pandas.DataFrame({"mixed": [1, "x"]}), "mixed"),
        (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "a"),
    ],
)
def test_what_is_no_table_is_refused(lake: lakeward.Lake, frame: object, reason: str) -> None:
    with pytest.raises(errors.UsageError, match=reason):
        lake.join(frame)  # type: ignore[arg-type]


def test_a_missing_package_is_named(lake: lakeward.Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="pip install polars"):
        lake.tables().to_polars()


def test_the_package_imports_no_other() -> None:
    heavy = "pyarrow pandas polars numpy datafusion IPython"
    program = f"import sys, lakeward; print([name for name in {heavy.split()!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
