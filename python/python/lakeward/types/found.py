"""What the three searches find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A cell that the request names."""

    value: str
    column: str


@dataclass(frozen=True, slots=True)
class FieldMatch:
    """Which field of a table matched which words of the request."""

    field: str
    words: tuple[str, ...]
    exact: bool


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """A table that answers a text."""

    table: str
    title: str
    score: float
    cosine: float
    sampled: bool
    columns: tuple[str, ...]
    reason: str
    matched: tuple[FieldMatch, ...] = ()
    lexical_rank: int | None = None
    dense_rank: int | None = None
    lexical_score: float | None = None
    features: Mapping[str, float] = field(default_factory=dict)
    named_values: tuple[NamedValue, ...] = ()
    record: bool = False
    rows: int | None = None
    citation: str | None = None


@dataclass(frozen=True, slots=True)
class ColumnPair:
    """Two columns that a join compares."""

    query_column: str
    column: str
    containment: float
    name_likeness: float


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """A value that both columns hold, as each writes it."""

    query: str
    candidate: str | None = None
    difference: str | None = None


@dataclass(frozen=True, slots=True)
class VariantMatch:
    """Two values that are nearly alike."""

    query: str
    candidate: str
    variation: str


@dataclass(frozen=True, slots=True)
class JoinAnswer:
    """A table that can be joined. ``containment`` is the share of the query's values found in the table."""

    table: str
    title: str
    score: float
    query_column: str
    column: str
    on: tuple[ColumnPair, ...]
    kind: str
    containment: float
    containment_as_written: float
    containment_of_candidate: float
    jaccard: float
    exact: bool
    sampled: bool
    shared_values: int
    uniqueness: float
    fan_out: float
    name_likeness: float
    semantic_likeness: float
    rarity: float
    rows: int
    reason: str
    matches: tuple[ValueMatch, ...] = ()
    normalised: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()
    variants: float = 0.0
    variant_matches: tuple[VariantMatch, ...] = ()
    weakness: str | None = None
    citation: str | None = None


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """A column of the query and the column of a table that goes with it."""

    query_column: str
    column: str
    score: float
    name: float
    values: float
    meaning: float


@dataclass(frozen=True, slots=True)
class NewRows:
    """How many rows of a table the query does not have."""

    compared: int
    new: int
    complete: bool


@dataclass(frozen=True, slots=True)
class UnionAnswer:
    """A table whose rows could stand below the query's."""

    table: str
    title: str
    score: float
    alignment: tuple[AlignedPair, ...]
    unmatched: tuple[str, ...]
    extra: tuple[str, ...]
    near_copy: bool
    rows: int
    sampled: bool
    reason: str
    parts: Mapping[str, float] = field(default_factory=dict)
    new_rows: NewRows | None = None
    citation: str | None = None
