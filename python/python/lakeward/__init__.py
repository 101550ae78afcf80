"""Finds the tables for a task in an undocumented data lake, and the operation to run next.

>>> import lakeward
>>> lake = lakeward.index("lake")  # doctest: +SKIP
>>> lake.search("airports by country")  # doctest: +SKIP
>>> lake.join("geo/countries", column="iso_code")  # doctest: +SKIP
>>> lake.ask("append rows like these", table=frame)  # doctest: +SKIP

An answer is a sequence of typed rows, shows itself in a notebook, and is a table for pyarrow, pandas and polars.
"""

from . import errors, types
from ._answers import Answers, CorrelationAnswers, FeatureTable, JoinAnswers, Profile, Recommendation, SqlRows, Tables
from ._lake import Lake, index, open
from ._lakeward import __version__
from ._session import Session
from .errors import LakewardError, LakewardWarning

__all__ = [
    "Answers",
    "CorrelationAnswers",
    "FeatureTable",
    "JoinAnswers",
    "Lake",
    "LakewardError",
    "LakewardWarning",
    "Profile",
    "Recommendation",
    "Session",
    "SqlRows",
    "Tables",
    "__version__",
    "errors",
    "index",
    "open",
    "types",
]
