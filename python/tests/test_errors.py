"""What goes wrong has a class, a message and a hint."""

from __future__ import annotations

import copy
import pickle
import re
import warnings
from pathlib import Path

import lakeward
import pytest
from lakeward import errors


def test_an_unknown_table_is_told_with_the_nearest(lake: lakeward.Lake) -> None:
    for ask in (lake.join, lake.union, lake.profile, lambda name: lake.ask("more rows", table=name)):
        with pytest.raises(errors.UnknownTable) as raised:
            ask("geo/contries")
        assert raised.value.nearest[0] == "geo/countries"
        assert "did you mean `geo/countries`" in str(raised.value)
        assert isinstance(raised.value, LookupError)


def test_an_unknown_column_is_told_with_the_nearest(lake: lakeward.Lake) -> None:
    with pytest.raises(errors.UnknownColumn) as raised:
        lake.join("geo/countries", column="iso33")
    assert raised.value.nearest[0] == "iso3"
    with pytest.raises(errors.UnknownColumn):
        lake.join("geo/countries", column=["iso", "nonsense"])
    with pytest.raises(errors.UnknownColumn):
        lake.ask("join it", table="geo/countries", column="nonsense")


def test_no_lake_and_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        lakeward.open(tmp_path)
    assert isinstance(raised.value, errors.NoIndex)
    assert "lakeward.index(PATH)" in str(raised.value)
    assert raised.value.path == str(tmp_path / ".lakeward") == raised.value.filename
    with pytest.raises(errors.UsageError, match="not a folder"):
        lakeward.open(tmp_path / "nowhere")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(errors.NoIndex, match=r"lakeward\.open\(PATH\)"):
        lakeward.open()


def test_an_index_of_another_version_and_a_damaged_one(small_lake: Path) -> None:
    lakeward.index(small_lake, progress=False)
    segment = next((small_lake / ".lakeward" / "segments").rglob("*.seg"))
    sound = segment.read_bytes()
    segment.write_bytes(sound[: len(sound) // 2])
    with pytest.raises(errors.LakewardError) as raised:
        lakeward.open(small_lake).search("shops")
    assert isinstance(raised.value, errors.DamagedIndex)
    assert "lakeward.index(PATH, re" in str(raised.value)
    assert lakeward.index(small_lake, progress=False, rebuild=True).search("shops")[0].table == "shops"
    manifest = small_lake / ".lakeward" / "manifest.json"
    changed = re.sub(r'"format_version": *\d+', '"format_version": 99', manifest.read_text())
    manifest.write_text(changed)
    with pytest.raises(errors.IndexVersion, match=r"rebuild=True"):
        lakeward.open(small_lake)


def test_a_table_removed_since_indexing(small_lake: Path) -> None:
    lake = lakeward.index(small_lake, progress=False)
    (small_lake / "sales.csv").unlink()
    with pytest.raises(errors.LakewardError) as raised:
        lake.join("sales")
    assert "sales.csv" in str(raised.value)
    with pytest.raises(errors.LakewardError, match="sales"):
        lake.sql("SELECT * FROM sales")
    assert lake.search("sales")[0].table == "sales"


@pytest.mark.parametrize("k", [0, -1, 10_001, 10**18])
def test_k_has_limits(lake: lakeward.Lake, k: int) -> None:
    for ask in (lake.search, lake.join, lake.union, lambda text, k: lake.ask(text, k=k)):
        with pytest.raises(ValueError, match="`k` is"):
            ask("geo/countries", k=k)


def test_wrong_types_are_refused(lake: lakeward.Lake) -> None:
    with pytest.raises(errors.UsageError, match="expected a text"):
        lake.search(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        lake.search("x", k="many")  # type: ignore[arg-type]
    with pytest.raises(errors.UsageError, match="a name is always saved"):
        lake.session("named", keep=False)


def test_sql_errors(lake: lakeward.Lake) -> None:
    with pytest.raises(errors.UnknownTable) as raised:
        lake.sql("SELECT * FROM geo.contries")
    assert raised.value.nearest[0] == "geo/countries"
    with pytest.raises(errors.SqlError, match="nothing_like_it"):
        lake.sql("SELECT nothing_like_it FROM geo.countries")
    with pytest.raises(errors.LakewardError):
        lake.sql("DROP TABLE geo.countries")
    with pytest.raises(errors.LakewardError):
        lake.sql("SELECT 1; SELECT 2")
    with pytest.raises(errors.LakewardError, match="lake_search"):
        lake.sql("SELECT * FROM lake_search(1)")


def test_exceptions_can_be_copied_and_sent_to_other_processes() -> None:
    error = errors.UnknownTable("no table `x`", hint="did you mean `y`?", nearest=["y"])
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (str(other), other.nearest, type(other)) == (str(error), ("y",), errors.UnknownTable)
    missing = pickle.loads(pickle.dumps(errors.NoIndex("no index", path="/x")))
    assert (missing.filename, missing.path) == ("/x", "/x")
    assert str(missing) == "no index"


def test_answers_warn_of_nothing_without_cause(lake: lakeward.Lake) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lake.search("airports")
