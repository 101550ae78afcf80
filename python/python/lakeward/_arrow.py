"""Conversion to tables of other libraries, which are imported only when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import MissingPackage

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from . import _lakeward


class ArrowTable:
    """An object whose rows Arrow libraries read without a copy, by the Arrow PyCapsule interface.

    ``pyarrow.table(x)``, ``polars.DataFrame(x)``, ``duckdb.sql("SELECT * FROM x")`` and
    ``ctx.from_arrow(x)`` of ``datafusion`` accept it directly.
    """

    _batches: _lakeward.Batches

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as a capsule with an Arrow C stream."""
        return self._batches.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The columns as a capsule with an Arrow C schema."""
        return self._batches.__arrow_c_schema__()

    def to_arrow(self) -> pyarrow.Table:
        """The rows as a ``pyarrow.Table``, without a copy. Needs ``pyarrow``."""
        return package("pyarrow").table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a ``pandas.DataFrame``. Needs ``pandas`` and ``pyarrow``."""
        package("pandas")
        frame: pandas.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The rows as a ``polars.DataFrame``, without a copy. Needs ``polars``."""
        frame: polars.DataFrame = package("polars").DataFrame(self)
        return frame


def package(name: str) -> Any:
    """The optional package ``name``."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingPackage(f"this needs the package `{name}`", hint=f"`pip install {name}`") from error
