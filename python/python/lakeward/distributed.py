"""Index a lake with many machines: list it in shards, work on each, commit.

>>> from lakeward import distributed
>>> distributed.dask(client, "s3://bucket/lake", 64, index="s3://bucket/index")  # doctest: +SKIP
>>> distributed.spark(context, "/mnt/lake", 64)  # doctest: +SKIP

Every step can be made again, and the index is as if one machine had built it. Any engine can drive the steps: it calls
:func:`work` with every number below the number of shards, on machines that have this version of Lakeward and reach the
lake and the index under the same paths or addresses.
"""

from __future__ import annotations

import functools
import json
from typing import Any

from . import _answers, _lakeward
from ._decode import decode
from ._lake import PathLike
from .errors import UsageError
from .types import BuildStats


def shards(
    lake: PathLike,
    n: int,
    index: PathLike | None = None,
    *,
    records: PathLike | None = None,
    sample_rows: int | None = None,
    fast: bool = False,
) -> dict[str, Any]:
    """Lists what the index of ``lake`` lacks, in ``n`` shards; under ``"list"`` is what the other steps take.

    ``records`` and ``sample_rows`` are those of :func:`lakeward.index`; ``fast`` leaves out the model of whole texts.
    """
    if not 1 <= n <= 100_000:
        raise UsageError(f"`n` is {n}; it must be from 1 to 100000")
    if sample_rows is not None and sample_rows < 1:
        raise UsageError(f"`sample_rows` is {sample_rows}; it must be at least 1")
    arguments = {"records": records, "sample_rows": sample_rows, "fast": fast}
    found: dict[str, Any] = json.loads(_lakeward.list_shards(lake, index, n, arguments).json)
    return found


def work(list: PathLike, shard: int) -> dict[str, Any]:
    """Reads one shard of a list. What could not be read is in the row that it returns, with the reason."""
    row: dict[str, Any] = json.loads(_lakeward.work_on_shard(list, shard).json)
    return row


def commit(list: PathLike, *, in_part: bool = False) -> BuildStats:
    """Commits the shards of a list; with ``in_part``, those that are there."""
    return decode(BuildStats, _answers.document(_lakeward.commit_shards(list, in_part)))


def dask(
    client: Any, lake: PathLike, n: int, index: PathLike | None = None, *, retries: int = 3, **options: Any
) -> BuildStats:
    """Indexes with the workers of a ``distributed.Client``; ``options`` are those of :func:`shards`, as below."""
    listed = shards(lake, n, index, **options)["list"]
    client.gather(client.map(functools.partial(work, listed), range(n), retries=retries, pure=False))
    return commit(listed)


def spark(context: Any, lake: PathLike, n: int, index: PathLike | None = None, **options: Any) -> BuildStats:
    """Indexes with the executors of a ``pyspark.SparkContext``, which retries as its ``spark.task.maxFailures`` says."""
    listed = shards(lake, n, index, **options)["list"]
    context.parallelize(range(n), n).map(functools.partial(work, listed)).collect()
    return commit(listed)


def ray(lake: PathLike, n: int, index: PathLike | None = None, *, retries: int = 3, **options: Any) -> BuildStats:
    """Indexes with the cluster that Ray is connected to."""
    import ray as engine

    listed = shards(lake, n, index, **options)["list"]
    task = engine.remote(work).options(max_retries=retries, retry_exceptions=True)
    engine.get([task.remote(listed, shard) for shard in range(n)])
    return commit(listed)
