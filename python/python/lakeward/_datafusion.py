"""The lake in a session of the PyPI package ``datafusion``.

What crosses between the two libraries are structures of ``datafusion-ffi``, whose layout belongs to one major version
of DataFusion: with another one the process would crash, so the version is checked before anything is handed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _lakeward
from ._arrow import package
from .errors import MissingPackage, UsageError

if TYPE_CHECKING:
    import datafusion

MAJOR = 55
"""The major version of DataFusion that this package is built with."""

CATALOG = "lake"
"""The catalogue of the lake's tables."""


def register(lake: _lakeward.Lake, ctx: datafusion.SessionContext) -> None:
    """Makes the functions and tables of ``lake`` known to ``ctx``."""
    datafusion = checked()
    if not isinstance(ctx, datafusion.SessionContext):
        raise UsageError(f"a `datafusion.SessionContext` is wanted, not a `{type(ctx).__name__}`")
    scalars, aggregates, tables, catalog = lake.functions()
    for scalar in scalars:
        ctx.register_udf(datafusion.udf(scalar))
    for aggregate in aggregates:
        ctx.register_udaf(datafusion.udaf(aggregate))
    # A session of its own: functions that held `ctx` would keep it, and it them, for ever.
    plans = datafusion.SessionContext()
    for table in tables:
        ctx.register_udtf(datafusion.udtf(_named(plans, table), table.name))
    ctx.register_catalog_provider(CATALOG, catalog)


def _named(plans: datafusion.SessionContext, table: Any) -> Callable[..., Any]:
    """The function ``table``, whose calls stand in plans under their whole text.

    DataFusion takes scans of one name for one and the same: of two subqueries that call one function with different
    arguments only one would run.
    """

    def call(*arguments: Any) -> Any:
        provider = table(*arguments)
        return plans.read_table(provider).alias(provider.call).into_view()

    return call


def checked() -> Any:
    """The package ``datafusion``, which must have the major version that this package is built with."""
    datafusion = package("datafusion")
    found = str(getattr(datafusion, "__version__", "unknown"))
    major = re.match(r"\d+", found)
    if major is None or int(major.group()) != MAJOR:
        raise MissingPackage(
            f"the installed `datafusion` has version {found}, which does not go with this `lakeward`",
            hint=f"`pip install 'datafusion>={MAJOR},<{MAJOR + 1}'`",
        )
    return datafusion
