"""What is known of tables, of an index and of a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .recommended import Signals


@dataclass(frozen=True, slots=True)
class Sample:
    """The part of a table that was read, where that is not all."""

    rows: int
    estimated: bool
    total_rows: int | None = None


@dataclass(frozen=True, slots=True)
class TableLine:
    """A table of the lake."""

    table: str
    title: str
    rows: int
    columns: int
    record: bool = False
    sampled: Sample | None = None


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What is in a column."""

    name: str
    logical: str
    rows: int
    missing: int
    distinct: int
    distinct_exact: bool
    uniqueness: float
    key_likeness: float
    patterns: tuple[tuple[str, float], ...] = ()
    top: tuple[tuple[str, int], ...] = ()
    semantic: str | None = None
    min: str | None = None
    max: str | None = None
    moments: tuple[float, ...] | None = None
    quantiles: tuple[float, ...] | None = None
    weakness: str | None = None


@dataclass(frozen=True, slots=True)
class CompositeKey:
    """Columns that identify a row only together."""

    columns: tuple[str, ...]
    plausibility: float
    rows: int
    complete: bool


@dataclass(frozen=True, slots=True)
class TimeCoverage:
    """The period that a column covers."""

    column: str
    first: str = field(metadata={"json": "from"})
    last: str = field(metadata={"json": "to"})


@dataclass(frozen=True, slots=True)
class PlaceCoverage:
    """The places that a column names."""

    column: str
    kind: str
    distinct: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ColumnMetadata:
    """What the publisher says of a column."""

    title: str | None = None
    description: str | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class TableMetadata:
    """What the publisher says of a table."""

    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    publisher: str | None = None
    licence: str | None = None
    identifier: str | None = None
    source_url: str | None = None
    issued: str | None = None
    modified: str | None = None
    spatial: str | None = None
    temporal: str | None = None
    columns: Mapping[str, ColumnMetadata] = field(default_factory=dict)
    standard: str | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Repair:
    """Something that a reader had to mend or leave out."""

    kind: str
    count: int
    first_line: int | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file of the lake that holds no readable table, or not all of one."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class BuildStats:
    """What indexing did."""

    tables: int
    columns: int
    added: int
    changed: int
    removed: int
    renamed: int
    unchanged: int
    unread: int
    sampled: int
    rows: int
    read_bytes: int
    segments: int
    merged_segments: int
    index_bytes: int
    repaired_segments: int
    elapsed_ms: int
    records: int = 0
    records_left_out: int = 0
    repaired: tuple[tuple[str, tuple[Repair, ...]], ...] = ()
    partial: tuple[SkippedFile, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in a list; a damaged one has a ``file`` and a ``reason`` instead of figures."""

    id: str
    state: str
    created: str | None = None
    updated: str | None = None
    turns: int = 0
    steps: int = 0
    first_request: str | None = None
    file: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A request of a session, with the ids of the tables that answered it, best first."""

    number: int
    at: str
    text: str
    signals: Signals
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """An operation that was carried out in a session."""

    number: int
    turn: int
    at: str
    sql: str
    rows: int
    columns: tuple[str, ...]
    operation: Mapping[str, Any]
    undone: bool = False
