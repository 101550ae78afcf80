"""The rows of answers: frozen dataclasses with the fields of the library's own documents.

Shares, scores and likenesses are 0 to 1, greater is better, unless a field says otherwise. A field that a document leaves
out has its default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "AlignedPair",
    "BuildStats",
    "ColumnMetadata",
    "ColumnPair",
    "ColumnProfile",
    "CompositeKey",
    "Constraints",
    "Evidence",
    "FieldMatch",
    "IntentionFit",
    "JoinAnswer",
    "Match",
    "ModelCost",
    "NamedValue",
    "NewRows",
    "Override",
    "PlaceCoverage",
    "Precondition",
    "Question",
    "QuestionChoice",
    "Ranked",
    "RankedOperation",
    "RankedTable",
    "Repair",
    "Sample",
    "SearchAnswer",
    "SessionSummary",
    "Signals",
    "SkippedFile",
    "Step",
    "TableLine",
    "TableMetadata",
    "TaskSpec",
    "TimeCoverage",
    "Turn",
    "UnionAnswer",
    "Utility",
    "ValueMatch",
    "VariantMatch",
]


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


@dataclass(frozen=True, slots=True)
class Utility:
    """Why a table stands where it stands: ``total`` is the weighted sum of the other three."""

    relevance: float
    intention: float
    operation: float
    total: float


@dataclass(frozen=True, slots=True)
class Match:
    """A check, with what was seen."""

    met: bool
    grade: float
    evidence: str


@dataclass(frozen=True, slots=True)
class IntentionFit:
    """How well a table meets what the intention needs."""

    granularity: Match
    richness: Match
    compatibility: Match
    paper: float
    graded: float
    constraints: tuple[tuple[str, Match], ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What each search found out about a table, where it found it."""

    search: SearchAnswer | None = None
    join: JoinAnswer | None = None
    union: UnionAnswer | None = None


@dataclass(frozen=True, slots=True)
class RankedTable:
    """A recommended table."""

    table: str
    title: str
    rows: int
    columns: int
    operation: str
    utility: Utility
    fit: IntentionFit
    evidence: Evidence
    reason: str
    record: bool = False
    accepted: bool = False
    model_rank: int | None = None


@dataclass(frozen=True, slots=True)
class Precondition:
    """Something that has to hold for an operation to make sense."""

    met: bool
    what: str


@dataclass(frozen=True, slots=True)
class QuestionChoice:
    """An answer to a question."""

    label: str
    operation: str | None = None
    tables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose answers split the candidates; ``information`` is in bits."""

    text: str
    choices: tuple[QuestionChoice, ...]
    information: float


@dataclass(frozen=True, slots=True)
class RankedOperation:
    """What to do next. ``sql`` is there where the operation is complete: :meth:`lakeward.Lake.sql` runs it."""

    kind: str
    score: float
    asked: float
    preconditions: tuple[Precondition, ...]
    reason: str
    table: str | None = None
    runnable: Mapping[str, Any] | None = None
    sql: str | None = None
    question: Question | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """A label with its probability, and all labels with theirs."""

    label: str
    confidence: float
    all: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Constraints:
    """What a request demands."""

    topic: str | None = None
    geography: str | None = None
    time_range: str | None = None
    granularity: str | None = None
    required_columns: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    set_in_turn: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Override:
    """An earlier constraint that a turn replaced or took back."""

    constraint: str
    was: str
    set_in_turn: int


@dataclass(frozen=True, slots=True)
class Signals:
    """What was understood of a request."""

    operation: Ranked
    intention: Ranked
    constraints: Constraints = Constraints()
    overrides: tuple[Override, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """What a table should be like for the intention."""

    granularity: str
    richness: str
    compatibility: str
    adjusted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelCost:
    """A language model that helped, with what it cost."""

    id: str
    calls: int
    refused: int
    elapsed_ms: float
    usage: Mapping[str, int] = field(default_factory=dict)
    money: float = 0.0


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
