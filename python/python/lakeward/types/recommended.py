"""What a request is answered with, and what was understood of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .found import JoinAnswer, SearchAnswer, UnionAnswer


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
class ScoreParts:
    """What a record was ranked by: words, cosine of title and request, demands met in part, late interaction with the title."""

    words: float
    meaning: float
    wishes: float
    late: float | None = None


@dataclass(frozen=True, slots=True)
class DemandCheck:
    """What was demanded (or, ``refused``, not wanted) in a role; ``state`` is met, partly, violated or unsaid."""

    role: str
    said: str
    hard: bool
    state: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class RecordAnswer:
    """A record or table of a catalogue that meets what is wanted; ``relaxed`` names the roles that it does not meet."""

    table: str
    title: str
    score: float
    parts: ScoreParts
    reason: str
    record: bool = False
    demands: tuple[DemandCheck, ...] = ()
    relaxed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskEvidence:
    """The tasks that a table served: how far they fit, and the way from the request to the table."""

    share: float
    reason: str
    path: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What each search found out about a table, where it found it."""

    search: SearchAnswer | None = None
    join: JoinAnswer | None = None
    union: UnionAnswer | None = None
    record: RecordAnswer | None = None
    task: TaskEvidence | None = None


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
    citation: str | None = None


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
    computed: str | None = None


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
    geography: tuple[str, ...] = ()
    time_range: Mapping[str, Any] | None = None
    granularity: tuple[str, ...] = ()
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
class Said:
    """Words of a turn."""

    text: str
    turn: int


@dataclass(frozen=True, slots=True)
class DataWanted:
    """What kind of data is wanted."""

    modality: Said | None = None
    annotation: Said | None = None
    entity: Said | None = None


@dataclass(frozen=True, slots=True)
class Demand:
    """What a record must (``hard``) or should meet; ``value`` has the catalogue's ``values`` or a ``period``."""

    role: str
    value: Mapping[str, Any]
    hard: bool
    turn: int
    said: str


@dataclass(frozen=True, slots=True)
class Intent:
    """What a conversation wants, element by element: ``schemas/intent.schema.json``."""

    topics: tuple[Said, ...] = ()
    task: Said | None = None
    data: DataWanted = DataWanted()
    demands: tuple[Demand, ...] = ()
    refused: tuple[Demand, ...] = ()
    measures: tuple[Said, ...] = ()
    columns_wanted: tuple[Said, ...] = ()
    columns_excluded: tuple[Said, ...] = ()
    answers: int | None = None


@dataclass(frozen=True, slots=True)
class Signals:
    """What was understood of a request."""

    operation: Ranked
    intention: Ranked
    constraints: Constraints = Constraints()
    overrides: tuple[Override, ...] = ()
    intent: Intent = Intent()


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
