"""The lake in a session of the PyPI package ``datafusion``.

The two libraries exchange structures of ``datafusion-ffi``, whose layout is specific to a major version of DataFusion:
with another one the process would crash, so the version is checked first.
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
    """Registers the functions and tables of ``lake`` in ``ctx``."""
    datafusion = checked()
    if not isinstance(ctx, datafusion.SessionContext):
        raise UsageError(f"expected a `datafusion.SessionContext`, not a `{type(ctx).__name__}`")
    scalars, aggregates, tables, catalog = lake.functions()
    for scalar in scalars:
        ctx.register_udf(datafusion.udf(scalar))
    for aggregate in aggregates:
        ctx.register_udaf(datafusion.udaf(aggregate))
    # A separate session: functions that refer to `ctx` would make a reference cycle.
    plans = datafusion.SessionContext()
    for table in tables:
        ctx.register_udtf(datafusion.udtf(_named(plans, table), table.name))
    ctx.register_catalog_provider(CATALOG, catalog)


def _named(plans: datafusion.SessionContext, table: Any) -> Callable[..., Any]:
    """The function ``table``, whose calls are named in plans by their whole text.

    DataFusion treats scans of one name as the same: of two subqueries that call one function with different arguments
    only one would run.
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
            f"the installed `datafusion` has version {found}, which is incompatible with this `lakeward`",
            hint=f"`pip install 'datafusion>={MAJOR},<{MAJOR + 1}'`",
        )
    return datafusion
