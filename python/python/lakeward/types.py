"""The rows of answers: frozen dataclasses with the fields of the library's own documents.

Shares, scores and likenesses are 0 to 1, greater is better, unless a field says otherwise. A field that a document
leaves out has its default.
"""

# Written by scripts/python_types.py; what stands here is declared at the Rust types of the same names.

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

__all__ = [
    "AlignedPair",
    "BuildStats",
    "ColumnAnswer",
    "ColumnMetadata",
    "ColumnPair",
    "ColumnProfile",
    "CompositeKey",
    "CorrelationAnswer",
    "Demand",
    "DemandCheck",
    "Evidence",
    "Facet",
    "Feature",
    "FieldMatch",
    "Gain",
    "IntentionFit",
    "JoinAnswer",
    "KeyPair",
    "LeftOut",
    "Match",
    "ModelCost",
    "NamedValue",
    "NewRows",
    "PartialFile",
    "PlaceCoverage",
    "Precondition",
    "Question",
    "QuestionChoice",
    "Ranked",
    "RankedOperation",
    "RankedTable",
    "RecordAnswer",
    "RecordFile",
    "RecordFlaw",
    "RelatedWork",
    "Repair",
    "Sample",
    "ScoreParts",
    "SearchAnswer",
    "SessionSummary",
    "Signals",
    "SkippedFile",
    "Step",
    "StepInput",
    "TableLine",
    "TableMetadata",
    "TaskEvidence",
    "TaskSpec",
    "TimeCoverage",
    "TimeCovered",
    "Turn",
    "UnionAnswer",
    "Unused",
    "Utility",
    "ValueMatch",
    "VariantMatch",
    "Writing",
]


@dataclasses.dataclass(frozen=True, slots=True)
class FieldMatch:
    """The words that one field of a hit shares with the query."""
    field: str
    """The field."""
    words: tuple[str, ...]
    """The user's words as typed, without surrounding punctuation; for an exact match the whole text."""
    exact: bool
    """Whether the query is the table's id, file name (both ``Id``) or title, ignoring case, accents and punctuation."""


@dataclasses.dataclass(frozen=True, slots=True)
class NamedValue:
    """A value that the request names, where a table holds it."""
    value: str
    """As the request has it."""
    column: str
    """A column that holds it."""


@dataclasses.dataclass(frozen=True, slots=True)
class SearchAnswer:
    """A table that answers a text, with the evidence."""
    table: str
    """The table's id."""
    title: str
    """Its title."""
    score: float
    """Weighted mean of ``features``, 0..=1: greater is better."""
    cosine: float
    """Cosine of the request's and the table's vector."""
    matched: tuple[FieldMatch, ...]
    """Which field matched which words of the request."""
    sampled: bool
    """Whether only the table's first rows were read: words of the other rows are not found."""
    columns: tuple[str, ...]
    """Column names."""
    reason: str
    """The answer in a sentence."""
    relevance: float | None = None
    """How likely it serves the request, 0..=1: of the answers with .9 nine of ten do. None where no model reads whole
    texts.
    """
    lexical_rank: int | None = None
    """Rank by words, from 1, where the words found it."""
    dense_rank: int | None = None
    """Rank by meaning, from 1, where the vectors found it."""
    lexical_score: float | None = None
    """BM25 score."""
    features: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """What it was scored by."""
    named_values: tuple[NamedValue, ...] = ()
    """Cells that the request names, longest first; not those of digits alone."""
    record: bool = False
    """Whether it is a record of a catalogue: its data is not in the lake, rows and columns are unknown."""
    rows: int | None = None
    """Rows; those read, where it is ``sampled``; none for a record."""
    also: tuple[str, ...] = ()
    """Tables further down that are copies or editions of it."""
    citation: str = ""
    """What it is cited by: the publisher's identifier, else ``lakeward:<lake>/<table>@<hash>``."""


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnAnswer:
    """A column that holds what a text says, with the evidence."""
    table: str
    """Id of its table."""
    title: str
    """The table's title."""
    column: str
    """Its name."""
    score: float
    """Weighted mean of ``features``, 0..=1: greater is better."""
    features: Mapping[str, float]
    """What it was scored by."""
    matched: tuple[str, ...]
    """What about it answers the text."""
    logical: str
    """The type its cells share."""
    values: tuple[str, ...]
    """Cells that the text names, else its most frequent values."""
    distinct: int
    """Different values."""
    rows: int
    """Rows of its table."""
    citation: str
    """The table's citation: the publisher's identifier, else ``lakeward:<lake>/<table>@<hash>``."""
    reason: str
    """The answer in a sentence."""
    semantic: str | None = None
    """What its values stand for."""
    description: str | None = None
    """The publisher's title and description of it."""
    note: str | None = None
    """What a user says of it."""
    unit: str | None = None
    """Its unit, where the publisher says it."""
    min: str | None = None
    """Smallest value: number or date."""
    max: str | None = None
    """Greatest value: number or date."""


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnPair:
    """Two columns that a join compares."""
    query_column: str
    """The query's column."""
    column: str
    """The candidate's column."""
    containment: float
    """Share of the query's values, or combinations, whose value in this column is in the candidate's column, 0..=1."""
    name_likeness: float
    """Likeness of the two names, 0..=1."""


@dataclasses.dataclass(frozen=True, slots=True)
class ValueMatch:
    """A pair of equal values."""
    query: str
    """As the query writes it."""
    candidate: str | None = None
    """As the candidate writes it, if it is among the values stored as examples."""
    difference: str | None = None
    """The difference that normalisation removed; none where both are written the same."""


@dataclasses.dataclass(frozen=True, slots=True)
class VariantMatch:
    """A value of the query and a nearly equal one."""
    query: str
    """As the query writes it."""
    candidate: str
    """As the candidate writes it."""
    variation: str
    """How they differ."""


@dataclasses.dataclass(frozen=True, slots=True)
class JoinAnswer:
    """A table that can be joined, on one column or on several together, with the evidence. With several columns, all
    that refers to values refers to combinations: the distinct rows of the query's columns without a missing part.
    """
    table: str
    """The table's id."""
    title: str
    """Its title."""
    score: float
    """Greater is better, 0..=1."""
    query_column: str
    """The query's column; the names of several are joined by `` + ``."""
    column: str
    """The candidate's column, or columns in the same order."""
    on: tuple[ColumnPair, ...]
    """The pairs of columns, one for each of the query's."""
    kind: str
    """How the values match."""
    containment: float
    """Share of the query's distinct values found in the candidate, after normalisation."""
    containment_as_written: float
    """The same, counting only values equal as written."""
    containment_of_candidate: float
    """Share of the candidate's distinct values found in the query."""
    jaccard: float
    """Shared values divided by all values of both."""
    exact: bool
    """Whether the figures above are exact, not estimates from a sample of the values or of the rows."""
    sampled: bool
    """Whether only the first rows of the candidate, or of the query, were read: all figures are of those."""
    shared_values: int
    """Distinct values in common (among those compared)."""
    uniqueness: float
    """Distinct values per cell of the candidate's column, 0..=1; 1 for a key."""
    fan_out: float
    """Rows of the candidate that match one matching row of the query, on average."""
    name_likeness: float
    """Likeness of the two column names, 0..=1."""
    semantic_likeness: float
    """Cosine of the two columns' vectors."""
    rarity: float
    """Weight of the shared values by their rarity, as a share of the query's total weight, 0..=1."""
    matches: tuple[ValueMatch, ...]
    """Up to three matching values."""
    normalised: tuple[str, ...]
    """Differences that normalisation removed."""
    adds: tuple[str, ...]
    """Columns that the join would add."""
    rows: int
    """Rows of the candidate."""
    reason: str
    """The answer in a sentence."""
    variants: float = 0.0
    """Share of the query's distinct values that are not found but have a variant in the candidate: cut short, as
    initials, misspelt, run together. They are not equal: no other figure counts them, and a join on equal values
    matches none. An estimate where the candidate has more values than the index stores as samples.
    """
    declared: bool = False
    """Whether a database declares one of the columns to be a foreign key of the other; the score is then 1."""
    variant_matches: tuple[VariantMatch, ...] = ()
    """Up to three values that have a variant."""
    weakness: str | None = None
    """Why the values may match by chance."""
    citation: str = ""
    """Its citation: the publisher's identifier, else ``lakeward:<lake>/<table>@<hash>``."""


@dataclasses.dataclass(frozen=True, slots=True)
class CompositeKey:
    """Columns that together identify a row; no subset of them does."""
    columns: tuple[str, ...]
    """Two or three column names, in column order."""
    plausibility: float
    """How plausible the set is as an intended key, 0..=1."""
    rows: int
    """Rows it was checked on."""
    complete: bool
    """Whether these are all rows of the table."""


@dataclasses.dataclass(frozen=True, slots=True)
class AlignedPair:
    """A pair of aligned columns with the evidence; every likeness in 0..=1."""
    query_column: str
    """The query's column."""
    column: str
    """The candidate's column."""
    score: float
    """How well they fit."""
    name: float
    """Likeness of their names."""
    values: float
    """Share of equal values, of the smaller side."""
    meaning: float
    """Cosine of their vectors: meaning, type and shape."""


@dataclasses.dataclass(frozen=True, slots=True)
class NewRows:
    """Rows that a union would add."""
    new: int
    """Rows of the candidate that the query does not have, of those compared."""
    compared: int
    """Rows of the candidate that were compared."""
    complete: bool
    """Whether all rows of both tables were compared."""


@dataclasses.dataclass(frozen=True, slots=True)
class UnionAnswer:
    """A table that can be appended, with the evidence."""
    table: str
    """The table's id."""
    title: str
    """Its title."""
    score: float
    """Greater is better, 0..=1."""
    parts: Mapping[str, float]
    """The features of the score."""
    alignment: tuple[AlignedPair, ...]
    """Aligned columns, in the query's order."""
    unmatched: tuple[str, ...]
    """Columns of the query without an aligned column."""
    extra: tuple[str, ...]
    """Columns of the candidate without an aligned column."""
    near_copy: bool
    """Whether the candidate adds almost nothing: a near copy of the query."""
    rows: int
    """Rows of the candidate; of a ``sampled`` one, the rows read."""
    sampled: bool
    """Whether only the first rows of the candidate, or of the query, were read: all figures are of those."""
    reason: str
    """The answer in a sentence."""
    new_rows: NewRows | None = None
    """Rows that a union would add, if counted."""
    citation: str = ""
    """Its citation: the publisher's identifier, else ``lakeward:<lake>/<table>@<hash>``."""


@dataclasses.dataclass(frozen=True, slots=True)
class KeyPair:
    """Two columns that are equated."""
    query_column: str
    """The query's column."""
    column: str
    """The candidate's column."""


@dataclasses.dataclass(frozen=True, slots=True)
class CorrelationAnswer:
    """A column of the lake that goes with the target, if its table is joined on a key; several rows of a key are
    aggregated first.
    """
    table: str
    """The table's id."""
    title: str
    """Its title."""
    column: str
    """The column that goes with the target."""
    score: float
    """Greater is better, 0..=1: the lower 95% bound of the strength's magnitude, for a shared trend of what remains
    without it.
    """
    strength: float
    """Spearman's ρ in −1..=1; with labels √(1 − exp(−2 I)) of the mutual information I, in 0..=1."""
    low: float
    """Lower end of the 95% interval of the strength."""
    high: float
    """Upper end of the 95% interval of the strength."""
    keys: int
    """Keys that were compared."""
    false_discovery_rate: float
    """The share of columns at least as unlikely to be found by chance that are expected to be false, of all that were
    tested.
    """
    on: tuple[KeyPair, ...]
    """The columns to join on."""
    aggregate: str
    """How the rows of a key become one value: ``value`` if there is one row, ``mean``, or ``most frequent`` for labels.
    """
    fan_out: float
    """Rows of the candidate for each key that matches, on average."""
    coverage: float
    """Share of the query's rows that get a value, 0..=1."""
    verified: bool
    """Whether the figures are of the join of all rows; else they are estimates from the index."""
    cautions: tuple[str, ...]
    """Why it may be of no use."""
    points: tuple[tuple[float, ...], ...]
    """At most 200 points (target, column) to draw, where both are numbers."""
    rows: int
    """Rows of the candidate's table."""
    citation: str
    """Its citation: the publisher's identifier, else ``lakeward:<lake>/<table>@<hash>``."""
    reason: str
    """The answer in a sentence."""
    pearson: float | None = None
    """Pearson's r, where both are numbers."""
    information_bits: float | None = None
    """Mutual information in bits, where one of the two has labels."""
    without_time: float | None = None
    """ρ without what both share with time, for a key with a time."""
    of_changes: float | None = None
    """ρ of the changes from one time to the next, for a key with a time."""
    without_size: float | None = None
    """ρ without what both share with the number of rows of a key, where that differs."""


@dataclasses.dataclass(frozen=True, slots=True)
class Gain:
    """What columns add to a model."""
    figure: str
    """What the figures are: ``R²``, or ``accuracy`` for labels."""
    model: str
    """The model: ``linear`` or ``tree``."""
    without: float
    """The mean over the folds without the columns. R² is 0 for a guess of the mean, and below 0 for worse."""
    with_it: float = dataclasses.field(metadata={"json": "with"})
    """The mean over the folds with them."""
    gain: float
    """The difference of the two."""
    low: float
    """Lower end of the 95% interval of the difference."""
    high: float
    """Upper end of the 95% interval of the difference."""
    folds: int
    """Number of folds."""
    rows: int
    """Rows used."""
    split: Mapping[str, Any]
    """Which rows were tested together."""
    elapsed_ms: float
    """Time it took, in milliseconds."""


@dataclasses.dataclass(frozen=True, slots=True)
class Feature:
    """A column of a feature table that comes from another table."""
    name: str
    """Its name in the feature table."""
    aggregate: str
    """How the rows of a key become its value."""
    found: CorrelationAnswer
    """Where it comes from, and how it goes with the target."""
    gain: Gain | None = None
    """What it adds to a model of the target that has the table's own columns and the features before; none if there was
    no time.
    """


@dataclasses.dataclass(frozen=True, slots=True)
class LeftOut:
    """A column that goes with the target and is not in the table."""
    table: str
    """Its table."""
    column: str
    """Its name."""
    reason: str
    """Why it is left out."""
    leaks: bool
    """Whether a model with it would know the target."""


@dataclasses.dataclass(frozen=True, slots=True)
class Utility:
    """AIDEN's Eq. 4 (Taha, 2026): U(T, O) = α·Rel + β·Int + γ·Opt, each part and the sum in 0..=1."""
    relevance: float
    """Rel(T, q): how well the table answers request and query table."""
    intention: float
    """Int(T, U): how well it meets the task specification."""
    operation: float
    """Opt(O, o, s): how appropriate the operation is with this table."""
    total: float
    """The weighted sum."""


@dataclasses.dataclass(frozen=True, slots=True)
class Match:
    """A check with its evidence."""
    met: bool
    """Whether it is met."""
    grade: float
    """How well, 0..=1."""
    evidence: str
    """What was seen, in a clause."""


@dataclasses.dataclass(frozen=True, slots=True)
class IntentionFit:
    """AIDEN's Eq. 3 (Taha, 2026) with its evidence."""
    granularity: Match
    """Whether a row is what the intention needs a row to be."""
    richness: Match
    """Whether there are as many informative columns as it needs."""
    compatibility: Match
    """Whether it goes with the working table, where it must."""
    paper: float
    """The paper's form: the share of the three that are met: 0, ⅓, ⅔ or 1."""
    graded: float
    """The mean grade of the three and of the explicit constraints, 0..=1."""
    constraints: tuple[tuple[str, Match], ...] = ()
    """The explicit constraints, by name; they enter the graded score only."""


@dataclasses.dataclass(frozen=True, slots=True)
class ScoreParts:
    """What a record was ranked by."""
    words: float
    """The share of the words of what was said that it says, by how rare they are, 0..=1."""
    meaning: float
    """Cosine of request and title."""
    wishes: float
    """What soft demands give, and violated ones that are partly met."""
    late: float | None = None
    """Late interaction with the title, 0..=1; none for a record that did not come so far."""
    neighbours: float | None = None
    """What it says side by side as it was said, 0 and above; none for a record that did not come so far."""


@dataclasses.dataclass(frozen=True, slots=True)
class DemandCheck:
    """A demand with whether a record meets it."""
    role: str
    """In which role."""
    said: str
    """The words it was read from."""
    hard: bool
    """Whether it was stated and not only inferred."""
    state: str
    """Whether it is met."""
    refused: bool = False
    """Whether it was refused and not demanded."""


@dataclasses.dataclass(frozen=True, slots=True)
class RecordAnswer:
    """A record or table that meets what was demanded, or the most of it."""
    table: str
    """Its id."""
    title: str
    """Its title."""
    score: float
    """Greater is better; comparable among answers that violate as many filters."""
    parts: ScoreParts
    """What the score is made of."""
    reason: str
    """The answer in a sentence."""
    record: bool = False
    """Whether it is a record of a catalogue: its data is not in the lake."""
    demands: tuple[DemandCheck, ...] = ()
    """Each demand of which the catalogue says something, with whether it is met."""
    relaxed: tuple[str, ...] = ()
    """Roles of what was set or stated and is violated."""


@dataclasses.dataclass(frozen=True, slots=True)
class TaskEvidence:
    """What a graph of tasks says for a table."""
    share: float
    """How far the tasks it served fit the request, 0..=1: of the best dataset as far as the graph knows the request's
    words.
    """
    path: Mapping[str, Any]
    """The way from the request to the table."""
    reason: str
    """The way in a sentence."""


@dataclasses.dataclass(frozen=True, slots=True)
class Evidence:
    """What the searches found out about a table; each only where it was asked and found it."""
    search: SearchAnswer | None = None
    """By words and meaning."""
    join: JoinAnswer | None = None
    """By shared key values."""
    union: UnionAnswer | None = None
    """By alignable columns."""
    record: RecordAnswer | None = None
    """By what is wanted of the catalogue's records."""
    task: TaskEvidence | None = None
    """By the tasks that it served."""


@dataclasses.dataclass(frozen=True, slots=True)
class RankedTable:
    """A table with its utility."""
    table: str
    """Its id."""
    title: str
    """Its title."""
    rows: int
    """Its rows; those read where it was sampled; 0 for a record."""
    columns: int
    """Its columns."""
    operation: str
    """The operation it serves best."""
    utility: Utility
    """Why it stands where it stands."""
    fit: IntentionFit
    """How well it meets the task specification."""
    evidence: Evidence
    """What the searches found."""
    reason: str
    """The answer in one line."""
    citation: str = ""
    """What it is cited by: the publisher's identifier, else ``lakeward:<lake>/<table>@<hash>``."""
    link: str | None = None
    """Where it is on the web, where its citation is no address."""
    record: bool = False
    """Whether it is a record of a catalogue: its data is not in the lake, and no operation can use it."""
    accepted: bool = False
    """Whether the analyst accepted it earlier."""
    model_rank: int | None = None
    """Its rank by the language model, from 1, where one ordered the tables."""


@dataclasses.dataclass(frozen=True, slots=True)
class Precondition:
    """Something that has to hold for an operation to make sense."""
    met: bool
    """Whether it holds."""
    what: str
    """What was looked for and found, in a clause."""


@dataclasses.dataclass(frozen=True, slots=True)
class QuestionChoice:
    """An answer to a question and what follows from it."""
    label: str
    """As shown."""
    operation: str | None = None
    """The operation it stands for, where it does."""
    tables: tuple[str, ...] = ()
    """The tables it keeps; empty keeps all."""


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """A question whose answers split the candidates."""
    text: str
    """The question."""
    choices: tuple[QuestionChoice, ...]
    """The answers to choose from, numbered from 1 for the analyst."""
    information: float
    """How much an answer tells, in bits, weighing candidates by utility."""
    computed: str | None = None
    """The question as it was computed, where a language model put it in other words."""


@dataclasses.dataclass(frozen=True, slots=True)
class RankedOperation:
    """An operation with its score."""
    kind: str
    """What to do."""
    score: float
    """The probability, 0..=1, that it is what is wanted; those of one answer sum to 1 at most."""
    asked: float
    """The probability that the request asks for it."""
    preconditions: tuple[Precondition, ...]
    """What has to hold for it."""
    reason: str
    """Why, in one line."""
    requested: bool = False
    """Whether it is what the request says, not a suggestion: until it is carried out, the next request goes on from it.
    """
    table: str | None = None
    """The table it would use besides the working table."""
    runnable: Mapping[str, Any] | None = None
    """How its result is made, where all is known: the plan of the working table with what the operation does to it."""
    sql: str | None = None
    """The SQL that running it would execute."""
    question: Question | None = None
    """The question to answer first, for ``Clarify``."""


@dataclasses.dataclass(frozen=True, slots=True)
class Ranked:
    """The most probable label, its probability and the alternatives."""
    label: str
    """The most probable label."""
    confidence: float
    """Its probability, 0..=1; on requests of others the expected calibration error is .03 to .08."""
    all: tuple[tuple[str, float], ...]
    """All labels with their probabilities, most probable first."""


@dataclasses.dataclass(frozen=True, slots=True)
class Demand:
    """What a dataset must or should be, or must not be, in one respect."""
    role: str
    """In which respect."""
    value: Mapping[str, Any]
    """The value."""
    hard: bool
    """Whether it was stated and not only inferred; it then weighs more."""
    turn: int
    """The turn that set it, from 1."""
    said: str
    """The words it was read from."""
    avoid: bool = False
    """Whether it is what the dataset must not have."""
    doubtful: bool = False
    """Whether it may not be what was meant: then it weighs as it is stated, but no record counts as violating it."""
    filters: bool = False
    """Whether it was set by a command and not read from words; it then filters."""


@dataclasses.dataclass(frozen=True, slots=True)
class Signals:
    """What a request asks for, and what is wanted after it."""
    operation: Ranked
    """The operation."""
    intention: Ranked
    """The intention."""
    acts: tuple[str, ...] = ()
    """What the analyst does with the turn; a second act where two are said. None for a turn without words."""
    demands: tuple[Demand, ...] = ()
    """What is wanted of datasets after this turn, older demands first; in old turns those that the turn itself set."""
    gone: tuple[Demand, ...] = ()
    """Demands before it that it replaced or took back."""
    answers: int | None = None
    """How many answers are wanted, where it says so."""


@dataclasses.dataclass(frozen=True, slots=True)
class TaskSpec:
    """U_t: what a table should be like."""
    granularity: str
    """What a row should stand for."""
    richness: str
    """How many informative columns."""
    compatibility: str
    """Whether it must go with the working table."""
    adjusted: tuple[str, ...] = ()
    """What was changed against the table above, and why."""


@dataclasses.dataclass(frozen=True, slots=True)
class ModelCost:
    """A language model, with what it cost."""
    id: str
    """Model and server."""
    calls: int
    """Calls, including repairs, without those answered from the cache."""
    usage: Mapping[str, int]
    """Tokens, as the server counted them, or estimates where it did not."""
    refused: int
    """Answers that violated their contract."""
    elapsed_ms: float
    """Waiting time in milliseconds."""
    estimated: int = 0
    """Those of them that are estimates."""
    money: float = 0.0
    """Cost, if prices are configured."""


@dataclasses.dataclass(frozen=True, slots=True)
class Sample:
    """The part of a table that was read."""
    rows: int
    """Number of rows, from the first on."""
    estimated: bool
    """Whether ``total_rows`` is an estimate from the bytes that the sample takes."""
    total_rows: int | None = None
    """Rows of the whole file, as declared by the file or estimated from its size."""


@dataclasses.dataclass(frozen=True, slots=True)
class TableLine:
    """One table in a list."""
    table: str
    """Its id."""
    title: str
    """Its title."""
    rows: int
    """Rows; those read, where it is ``sampled``."""
    columns: int
    """Columns."""
    record: bool = False
    """Whether it is a record of a catalogue: its data is not in the lake, rows and columns are unknown."""
    sampled: Sample | None = None
    """The part that was read, where that is not all."""


@dataclasses.dataclass(frozen=True, slots=True)
class Writing:
    """How a column writes its values."""
    dates: str = ""
    """Which of two leading numbers of a slashed date is the day."""
    missing: tuple[str, ...] = ()
    """Cells that mark a gap in this column, as ``-9`` does, besides the usual ones. Upper and lower case are one."""
    point: str = ""
    """What a point does in a number."""
    typed: bool = False
    """Whether the file says itself what is missing, as Parquet does: an empty cell is the only mark of it."""
    words: tuple[str, ...] = ()
    """Values that would mark a gap elsewhere: ``NA`` among codes of countries. Upper and lower case are one."""


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What is in a column."""
    name: str
    """Its name, repaired where the file's header was empty or repeated."""
    logical: str
    """The type its cells share."""
    rows: int
    """Rows of the table."""
    missing: int
    """Cells without a value."""
    distinct: int
    """Different values after normalisation."""
    distinct_exact: bool
    """Whether ``distinct`` is an exact count, not an estimate from a sample of the values."""
    uniqueness: float
    """Distinct values divided by cells with a value, in 0..=1; 1 for a key."""
    key_likeness: float
    """How much it looks like a key, in 0..=1."""
    patterns: tuple[tuple[str, float], ...]
    """Formats with their shares, most frequent first."""
    top: tuple[tuple[str, int], ...]
    """Most frequent values as written, with counts."""
    semantic: str | None = None
    """What its values stand for."""
    min: str | None = None
    """Smallest value: number or date."""
    max: str | None = None
    """Greatest value: number or date."""
    moments: tuple[float, ...] | None = None
    """Mean and standard deviation of the numbers."""
    quantiles: tuple[float, ...] | None = None
    """5th, 25th, 50th, 75th and 95th percentile of the numbers."""
    writing: Writing = dataclasses.field(default_factory=Writing)
    """How its cells are read, where it is not the usual way."""
    markers: tuple[tuple[str, int], ...] = ()
    """Cells with a mark of a gap in them, such as ``NA``, that are read as missing: as written, with their counts."""
    misfits: int = 0
    """Cells that are no value of the type, which queries read as missing."""
    totals: bool = False
    """Whether one of its values may name the total of other rows: ``Total``, ``World``."""
    weakness: str | None = None
    """Why equal values may occur in the column by chance."""


@dataclasses.dataclass(frozen=True, slots=True)
class TimeCoverage:
    """The period that a table's column covers."""
    column: str
    """The column that shows the period; the first and the last one where each year has its own column."""
    first: str = dataclasses.field(metadata={"json": "from"})
    """First year or day, as written."""
    last: str = dataclasses.field(metadata={"json": "to"})
    """Last year or day, as written."""


@dataclasses.dataclass(frozen=True, slots=True)
class PlaceCoverage:
    """The places that a table's column names."""
    column: str
    """The column that names the places."""
    kind: str
    """What kind of places."""
    distinct: int
    """How many different ones."""
    examples: tuple[str, ...]
    """Some of them, as written."""


@dataclasses.dataclass(frozen=True, slots=True)
class RelatedWork:
    """A paper or dataset that a record refers to; at least one of identifier and title is known."""
    identifier: str | None = None
    """Its identifier or address."""
    relation: str | None = None
    """How the data relates to it, as written: ``IsSupplementTo``."""
    title: str | None = None
    """Its title or citation."""


@dataclasses.dataclass(frozen=True, slots=True)
class RecordFile:
    """A file that belongs to a record's data."""
    format: str | None = None
    """Its format as written: ``CSV``, ``text/csv``."""
    name: str | None = None
    """Its name, else its title."""
    size_bytes: int | None = None
    """Its size in bytes, where the record gives one that can be read."""
    url: str | None = None
    """Where it is."""


@dataclasses.dataclass(frozen=True, slots=True)
class TimeCovered:
    """The time covered according to the publisher, as written: a start and an end, either of which may be open, or
    words.
    """
    end: str | None = None
    """The end."""
    start: str | None = None
    """The start."""
    words: str | None = None
    """The text as written, where it is not a start and an end."""


@dataclasses.dataclass(frozen=True, slots=True)
class Facet:
    """The values that a record has under one field."""
    field: str
    """The field's name as written, at most 64 bytes."""
    values: tuple[str, ...]
    """Values in the order of the record, each once and at most 200 bytes; at most 256."""
    cut_short: bool = False
    """Whether the publisher's list is longer than this one."""


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnMetadata:
    """What a publisher says about one column."""
    title: str | None = None
    """Title for people, where it differs from the column's name."""
    description: str | None = None
    """What the column holds."""
    unit: str | None = None
    """Unit of measure as written: ``kg``, ``EUR``, a QUDT URI."""


@dataclasses.dataclass(frozen=True, slots=True)
class Unused:
    """Something of a record that could not be used, or only in part."""
    field: str
    """The field, as the record or the standard names it."""
    reason: str
    """Why."""
    value: str | None = None
    """The value, where it is short: at most 80 bytes."""


@dataclasses.dataclass(frozen=True, slots=True)
class TableMetadata:
    """What a publisher says about one table. Texts hold no control or direction characters; the description is at most
    16 KB, other texts at most 1 KB, tags at most 64, columns at most 4,096.
    """
    title: str | None = None
    """Title; where the dataset has several files, the dataset's and the file's joined by `` — ``."""
    description: str | None = None
    """Description of the file, then of the dataset."""
    tags: tuple[str, ...] = ()
    """Keywords and themes, each once."""
    publisher: str | None = None
    """Who publishes it."""
    licence: str | None = None
    """Licence name or URL."""
    identifier: str | None = None
    """What to cite: a DOI as ``https://doi.org/…``, a CSTR, a handle, else the publisher's own identifier or URL."""
    identifiers: tuple[str, ...] = ()
    """Further identifiers, each once: a record may have a DOI and a CSTR. Any of them resolves."""
    version: str | None = None
    """Version, as written."""
    source_url: str | None = None
    """Landing page, else the address of the file."""
    issued: str | None = None
    """When it was first published, as written."""
    modified: str | None = None
    """When it was last changed, as written."""
    method: str | None = None
    """How the data was collected or made."""
    related: tuple[RelatedWork, ...] = ()
    """Papers and datasets that the record refers to; at most 256."""
    files: tuple[RecordFile, ...] = ()
    """The files of the data according to the record; at most 256."""
    sizes: tuple[str, ...] = ()
    """The size of the data, as written."""
    spatial: tuple[str, ...] = ()
    """Places covered, each one name."""
    temporal: TimeCovered | None = None
    """Time covered."""
    facets: tuple[Facet, ...] = ()
    """The values of a record's other fields."""
    first_year: int | None = None
    """First year covered, where a field gives it."""
    last_year: int | None = None
    """Last year covered, where a field gives it."""
    columns: Mapping[str, ColumnMetadata] = dataclasses.field(default_factory=dict)
    """Metadata of columns, by the column's name in the file."""
    standard: str | None = None
    """The standard that the sidecar follows."""
    file: str | None = None
    """The sidecar, as a path in the lake."""
    unused: tuple[Unused, ...] = ()
    """What of the record could not be used; at most 32."""


@dataclasses.dataclass(frozen=True, slots=True)
class Repair:
    """One kind of repair, counted over the file."""
    kind: str
    """What was done."""
    count: int
    """How often: rows, cells, columns, bytes or lines, depending on the kind."""
    first_line: int | None = None
    """The line of the file (from 1) of the first one; the row for formats without lines."""
    detail: str | None = None
    """The decoder's reason, for damage."""


@dataclasses.dataclass(frozen=True, slots=True)
class RecordFlaw:
    """How many records have something that could not be used for one reason."""
    reason: str
    """Why."""
    records: int
    """How many records."""
    first: str
    """The first of them, with the field: ``10.5281/zenodo.1: issued``."""


@dataclasses.dataclass(frozen=True, slots=True)
class PartialFile:
    """A file of the lake of which only some rows could be read."""
    path: str
    """Path below the lake's root."""
    reason: str
    """Which rows are missing and why."""


@dataclasses.dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file of the lake that could not be read as a table."""
    path: str
    """Path below the lake's root."""
    reason: str
    """The reason."""
    read_bytes: int
    """Its size when reading was tried, so that an unchanged file is not tried again."""
    modified_ns: int
    """Its modification time when reading was tried."""


@dataclasses.dataclass(frozen=True, slots=True)
class BuildStats:
    """The results of a build."""
    tables: int
    """Tables in the index now."""
    records: int
    """Catalogue records now in the index that describe none of these tables. They are not included in ``tables``, but
    in ``added``, ``changed``, ``removed`` and ``unchanged``.
    """
    records_left_out: int
    """Invalid lines in the record files; ``problems`` gives the reasons."""
    records_replaced: int
    """Records of a harvest that a later record of the same id replaced."""
    records_deleted: int
    """Records of a harvest that its source deleted."""
    record_flaws: tuple[RecordFlaw, ...]
    """What of the records could not be used, by reason; each record says what of it."""
    columns: int
    """Columns in the index now."""
    added: int
    """Tables read because they are new."""
    changed: int
    """Tables read because their file or its metadata changed."""
    removed: int
    """Tables whose file was deleted."""
    renamed: int
    """Tables whose file was moved in the lake with unchanged content; not counted as added or removed."""
    unchanged: int
    """Unchanged tables."""
    unread: int
    """New or changed files that were not read because the run was interrupted; the next run reads them."""
    texts_unread: int
    """Tables and records whose texts were not read as a whole because the run was interrupted; the next run goes on
    with them. Until then searches compare words and static vectors.
    """
    sampled: int
    """Tables of which this run read only the first rows, as requested."""
    rows: int
    """Rows read in this run."""
    read_bytes: int
    """Bytes read in this run."""
    segments: int
    """Segments now in the index."""
    merged_segments: int
    """Older segments that were merged into new ones in this run."""
    index_bytes: int
    """Size of the index on disk."""
    repaired_segments: int
    """Damaged segments that were dropped and whose tables were read again."""
    elapsed_ms: int
    """Wall time in milliseconds."""
    repaired: tuple[tuple[str, tuple[Repair, ...]], ...]
    """Files repaired while reading, in this run: (path, repairs)."""
    partial: tuple[PartialFile, ...]
    """Files with missing rows, from this or earlier runs."""
    skipped: tuple[SkippedFile, ...]
    """Files of the lake without a readable table."""
    problems: tuple[tuple[str, str], ...]
    """Unusable metadata files and folders: (path, reason)."""
    unreadable: int
    """How many of them hide data: folders that cannot be listed, tables whose log and catalogues that cannot be read.
    """


@dataclasses.dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in a list."""
    id: str
    """Its name."""
    state: str
    created: str | None = None
    """When it began, RFC 3339."""
    first_request: str | None = None
    """The first request that is kept, in short."""
    steps: int = 0
    """Operations carried out."""
    turns: int = 0
    """Requests so far."""
    updated: str | None = None
    """When it was last written, RFC 3339."""
    file: str | None = None
    """Its file."""
    reason: str | None = None
    """Why."""


@dataclasses.dataclass(frozen=True, slots=True)
class Turn:
    """A request and its answer."""
    number: int
    """From 1."""
    at: str
    """When, RFC 3339."""
    text: str
    """The request as typed; cut in old turns."""
    signals: Signals
    """What was understood; in old turns the labels, and of the demands those that the turn itself set."""
    tables: tuple[str, ...]
    """Ids of the tables shown, best first; the first few in old turns."""
    asked: Mapping[str, Any] | None = None
    """The plan that was asked for, of a recent turn whose answer is no longer kept: steps back go to it."""
    english: str | None = None
    """The request in English words, where it was said in another language and read word by word."""
    recommendation: Mapping[str, Any] | None = None
    """The whole answer; only of the latest turns, and without evidence where it is very large."""


@dataclasses.dataclass(frozen=True, slots=True)
class StepInput:
    """A table that a step read."""
    name: str
    """Its name."""
    content: str
    """Hash of its content when it was read."""


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """A plan that was carried out."""
    number: int
    """From 1."""
    turn: int
    """After which turn."""
    at: str
    """When, RFC 3339."""
    plan: Mapping[str, Any]
    """How its result is made: from tables of the lake and files, whatever steps came before."""
    sql: str
    """The SQL that ran."""
    inputs: tuple[StepInput, ...]
    """What it read."""
    rows: int
    """Rows of the result."""
    columns: tuple[str, ...]
    """Columns of the result."""
    file: str
    """The file that holds the result, below the folder of sessions."""
    undone: bool = False
    """Whether it was taken back."""
