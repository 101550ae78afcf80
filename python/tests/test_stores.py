"""An index in an object store, asked from Python; with moto, where `LAKEWARD_TEST_STORES_PYTHON` names a Python that has it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import lakeward
import pytest
from lakeward import errors

SCRIPT = Path(__file__).resolve().parents[2] / "tests" / "program" / "store_services.py"


@pytest.fixture
def store(small_lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a bucket."""
    python = os.environ.get("LAKEWARD_TEST_STORES_PYTHON")
    if python is None:
        pytest.skip("LAKEWARD_TEST_STORES_PYTHON names no Python with the servers of CONTRIBUTING.md")
    (tmp_path / "data").mkdir()
    command = [python, str(SCRIPT), "moto", str(tmp_path / "data"), str(small_lake)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        told = json.loads(server.stdout.readline())
        if "skipped" in told:
            pytest.skip(told["skipped"])
        for name, value in told["environment"].items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("LAKEWARD_STATE", str(tmp_path / "state"))
        yield told["address"]
        server.stdin.close()


def test_a_lake_and_its_index_in_a_store(small_lake: Path, store: str) -> None:
    lake = lakeward.index(f"{store}/lake", f"{store}/index", progress=False)
    assert lake.stats.added == 2
    assert lake.search("town")[0].table == "shops"
    assert lake.join("sales", column="shop", k=1)[0].table == "shops"
    # Another lake handle finds what was committed, and what is in the folder answers the same.
    again = lakeward.open(f"{store}/lake", f"{store}/index", llm=False)
    here = lakeward.index(small_lake, progress=False)
    tables = [answer.table for answer in here.search("shops by town")]
    assert [answer.table for answer in again.search("shops by town")] == tables
    assert lakeward.index(f"{store}/lake", f"{store}/index", progress=False).stats.unchanged == 2
    with pytest.raises(errors.LakewardError):
        lakeward.open(f"{store}/lake", f"{store}/none", llm=False)
