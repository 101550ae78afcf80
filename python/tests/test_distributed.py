"""A lake that engines index: the bytes of one process."""

from __future__ import annotations

import functools
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import lakeward
import pytest
from lakeward import distributed
from lakeward.errors import UsageError

SAMPLE = Path(__file__).resolve().parents[2] / "lake"


@pytest.fixture(scope="module")
def some_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    for name in ("geo", "sport", "us"):
        shutil.copytree(SAMPLE / name, folder / name)
    (folder / "broken.parquet").write_bytes(b"PAR1 and nothing else")
    # The time of a file that was just written is not trusted.
    time.sleep(0.2)
    return folder


@pytest.fixture(scope="module")
def expected(some_lake: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("one")
    listed = distributed.shards(some_lake, 5, folder)["list"]
    for shard in range(5):
        distributed.work(listed, shard)
    lakeward.index(some_lake, folder, progress=False)
    return content(folder)


def content(index: Path) -> dict[str, bytes]:
    """What the manifest names, and itself; of the rows of shards their names, which have the checksum of what is in them but for its time."""
    files = [index / "manifest.json", *(index / "segments").rglob("*.seg")]
    rows = {str(row.relative_to(index)): b"" for row in index.glob("lists/*/rows/*.json")}
    assert len(rows) == 5
    return rows | {str(file.relative_to(index)): file.read_bytes() for file in files}


def check(stats: Any, index: Path, expected: dict[str, bytes]) -> None:
    assert [skipped.path for skipped in stats.skipped] == ["broken.parquet"]
    found = content(index)
    assert sorted(found) == sorted(expected)
    assert [name for name in found if found[name] != expected[name]] == []


def test_any_caller_is_an_engine(some_lake: Path, expected: dict[str, bytes], tmp_path: Path) -> None:
    listed = distributed.shards(some_lake, 5, tmp_path)
    with pytest.raises(UsageError, match="5 of 5 shards"):
        distributed.commit(listed["list"])
    rows = [distributed.work(listed["list"], shard) for shard in (2, 0, 4, 1, 0, 3)]
    assert rows[1]["segments"] == rows[4]["segments"]
    check(distributed.commit(listed["list"]), tmp_path, expected)
    with pytest.raises(UsageError):
        distributed.shards(some_lake, 0, tmp_path)


def flaky(folder: Path, listed: str, shard: int) -> Any:
    """Does the work of a shard and fails the first time after it."""
    row = distributed.work(listed, shard)
    seen = folder / f"{shard}"
    if not seen.exists():
        seen.touch()
        raise OSError("a worker that ends before it has answered")
    return row


def test_dask(some_lake: Path, expected: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = pytest.importorskip("distributed")
    # Workers do not have this module.
    pytest.importorskip("cloudpickle").register_pickle_by_value(sys.modules[__name__])
    with engine.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with engine.Client(cluster) as client:
            check(distributed.dask(client, some_lake, 5, tmp_path / "index"), tmp_path / "index", expected)
            monkeypatch.setattr(distributed, "work", functools.partial(flaky, tmp_path))
            check(distributed.dask(client, some_lake, 5, tmp_path / "retried"), tmp_path / "retried", expected)
    assert sorted(file.name for file in tmp_path.glob("[0-9]")) == ["0", "1", "2", "3", "4"]


def test_spark(
    some_lake: Path, expected: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyspark = pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("no Java")
    # Its workers are this Python, which has the package.
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    configuration = pyspark.SparkConf().setMaster("local[2]").set("spark.ui.enabled", "false")
    context = pyspark.SparkContext(conf=configuration)
    try:
        check(distributed.spark(context, some_lake, 5, tmp_path), tmp_path, expected)
    finally:
        context.stop()


def test_ray(some_lake: Path, expected: dict[str, bytes], tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        check(distributed.ray(some_lake, 5, tmp_path), tmp_path, expected)
    finally:
        ray.shutdown()
