"""The table that a search starts from: an id, a file, or a table in memory, which is written to a temporary file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

from . import _lakeward
from ._arrow import package
from .errors import LakewardError, UsageError

_IN_MEMORY = "table"
"""The name of a table in memory in answers."""


@runtime_checkable
class ArrowStream(Protocol):
    """A table of pyarrow, polars, duckdb, datafusion, or of another library that exports Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class PandasFrame(Protocol):
    """A ``pandas.DataFrame``."""

    @property
    def index(self) -> Any: ...
    @property
    def iloc(self) -> Any: ...


TableLike = str | os.PathLike[str] | ArrowStream | PandasFrame
"""A query table: an id of the lake, the path of a file, or a table in memory."""


@contextlib.contextmanager
def query_table(table: TableLike) -> Iterator[str]:
    """The name by which the library finds ``table``."""
    if isinstance(table, (str, os.PathLike)):
        yield os.fspath(table)
        return
    with tempfile.TemporaryDirectory(prefix="lakeward-") as folder:
        path = os.path.join(folder, f"{_IN_MEMORY}.parquet")
        write(table, path)
        yield path


def stored(table: TableLike, folder: str) -> str:
    """Like :func:`query_table`, but a table in memory is stored in ``folder``, once, named by its content."""
    if isinstance(table, (str, os.PathLike)):
        return os.fspath(table)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".lakeward-", dir=folder) as scratch:
        path = os.path.join(scratch, f"{_IN_MEMORY}.parquet")
        write(table, path)
        with open(path, "rb") as file:
            content = hashlib.file_digest(file, "sha256") if sys.version_info >= (3, 11) else _digest(file)
        target = os.path.join(folder, f"{_IN_MEMORY}-{content.hexdigest()[:16]}.parquet")
        os.replace(path, target)
    return target


def _digest(file: Any) -> Any:
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest


def titled(table: TableLike) -> str:
    """The name of ``table`` in answers."""
    if isinstance(table, (str, os.PathLike)):
        return os.fspath(table)
    return f"a {type(table).__module__.split('.')[0]} {type(table).__name__}"


def write(table: Any, path: str) -> None:
    """Writes a table in memory to the Parquet file ``path``."""
    if _is_pandas(table):
        table = _from_pandas(table)
    if not isinstance(table, ArrowStream):
        raise UsageError(
            f"a `{type(table).__name__}` is no table",
            hint="give the id of a table, the path of a file, or a table of pyarrow, pandas or polars",
        )
    try:
        _lakeward.write_table(table, path)
    except LakewardError:
        raise
    except Exception as error:
        raise UsageError(f"the `{type(table).__name__}` cannot be read as Arrow: {error}") from error


def _is_pandas(table: object) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(table, pandas.DataFrame)


def _from_pandas(frame: Any) -> Any:
    """A data frame as an Arrow table; an index with a name becomes its first column."""
    pyarrow = package("pyarrow")
    try:
        if all(name is not None for name in frame.index.names):
            frame = frame.reset_index()
        return pyarrow.Table.from_pandas(frame.rename(columns=str), preserve_index=False)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError) as error:
        reason = "; ".join(str(argument) for argument in error.args)
        raise UsageError(
            f"the data frame cannot be read as Arrow: {reason}",
            hint="give that column one type, for example `frame[column].astype(str)`",
        ) from error
    except ValueError as error:
        raise UsageError(f"the data frame cannot be read as Arrow: {error}") from error
