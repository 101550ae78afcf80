"""Answers of a lake: ranked rows that are a sequence, a table for Arrow libraries, and HTML in a notebook."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from ._arrow import ArrowTable
from ._decode import decode
from ._text import columns, shown
from .errors import LakewardWarning
from .types import (
    ColumnProfile,
    CompositeKey,
    ColumnAnswer,
    CorrelationAnswer,
    Feature,
    Gain,
    JoinAnswer,
    LeftOut,
    ModelCost,
    PlaceCoverage,
    Question,
    RankedOperation,
    RankedTable,
    Repair,
    SearchAnswer,
    SessionSummary,
    Signals,
    TableLine,
    TableMetadata,
    TaskSpec,
    TimeCoverage,
    UnionAnswer,
)

if TYPE_CHECKING:
    from . import _lakeward

Row = TypeVar("Row")

_SHOWN_ROWS = 60
"""Rows that a representation shows."""


class Answers(ArrowTable, Generic[Row]):
    """Ranked rows, best first.

    Can be counted, indexed and iterated: rows are frozen dataclasses of :mod:`lakeward.types`, created on first access.
    Also a table for pyarrow, pandas and polars, with the columns of the corresponding SQL function.
    """

    kind: str
    """The kind of search: ``search``, ``columns``, ``join``, ``union``, ``correlate``, ``features``, ``ask``, ``profile``, ``tables``."""
    query: str
    """The text or the table of the request."""
    elapsed_ms: float | None
    """Time spent in the library, in milliseconds, if measured."""

    def __init__(
        self,
        kind: str,
        row: type[Row],
        rows: Sequence[Any],
        found: _lakeward.Found,
        query: str = "",
        elapsed_ms: float | None = None,
    ) -> None:
        self.kind = kind
        self.query = query
        self.elapsed_ms = elapsed_ms
        self._row = row
        self._documents = rows
        self._rows: tuple[Row, ...] | None = None
        if found.batches is not None:
            self._batches = found.batches

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes: what could not be compared, what was left out."""
        return ()

    # Not a `Sequence`: polars would then read the rows instead of the Arrow stream.
    def _decoded(self) -> tuple[Row, ...]:
        if self._rows is None:
            self._rows = tuple([decode(self._row, document) for document in self._documents])
        return self._rows

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._decoded())

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        return self._decoded()[place]

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries, as ``--json`` prints them. A copy."""
        copied: list[dict[str, Any]] = json.loads(json.dumps(list(self._documents)))
        return copied

    def __repr__(self) -> str:
        from . import _plain

        return _plain.text(self, _SHOWN_ROWS)

    def _repr_html_(self) -> str:
        from . import _html

        return _html.page(self, _SHOWN_ROWS)


class JoinAnswers(Answers[JoinAnswer]):
    """Tables that can be joined, best first."""

    composite_keys: tuple[CompositeKey, ...]
    """Composite keys of the query table, to be passed as ``column``."""

    def __init__(self, document: Mapping[str, Any], found: _lakeward.Found, query: str) -> None:
        super().__init__("join", JoinAnswer, document["answers"], found, query, document["elapsed_ms"])
        self.composite_keys = tuple([decode(CompositeKey, key) for key in document["composite_keys"]])
        self._notes = tuple(document["notes"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be compared, and why."""
        return self._notes


class CorrelationAnswers(Answers[CorrelationAnswer]):
    """Columns that go with a column of a table, best first."""

    target: str
    """The column that they go with."""
    keys: tuple[tuple[str, ...], ...]
    """The keys that were tried, each by the names of its columns."""
    tested: int
    """Pairs of a key and a column of the lake that were tested."""

    def __init__(self, document: Mapping[str, Any], found: _lakeward.Found, query: str) -> None:
        super().__init__("correlate", CorrelationAnswer, document["answers"], found, query, document["elapsed_ms"])
        self.target = document["target"]
        self.keys = tuple([tuple(key) for key in document["keys"]])
        self.tested = document["tested"]
        self._notes = tuple(document["notes"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be verified, and why."""
        return self._notes


class FeatureTable(Answers[Feature]):
    """Features for a model of a column, in the order in which they were added."""

    target: str
    """The column to be predicted."""
    gain: Gain | None
    """What all features together add to a model."""
    left_out: tuple[LeftOut, ...]
    """What was looked at and left out, and why."""
    plan: Mapping[str, Any]
    """The plan that makes the table."""

    def __init__(self, document: Mapping[str, Any], found: _lakeward.Found, query: str) -> None:
        super().__init__("features", Feature, document["features"], found, query, document["elapsed_ms"])
        self.target = document["target"]
        self.gain = None if document["gain"] is None else decode(Gain, document["gain"])
        self.left_out = tuple([decode(LeftOut, left_out) for left_out in document["left_out"]])
        self.plan = document["plan"]
        self._notes = tuple(document["notes"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be done, and why."""
        return self._notes


class Recommendation(Answers[RankedTable]):
    """The answer to a request: ranked tables, and ranked operations."""

    operations: tuple[RankedOperation, ...]
    """Possible next operations, likeliest first."""
    signals: Signals
    """How the request was understood."""
    spec: TaskSpec
    """The table specification derived from the request."""
    session: str | None
    """The session it belongs to, if that is stored."""
    turn: int
    """The number of the turn in its session, from 1."""
    model: ModelCost | None
    """The language model that helped, with what it cost."""

    def __init__(self, document: Mapping[str, Any], found: _lakeward.Found) -> None:
        super().__init__("ask", RankedTable, document["tables"], found, document["request"], document["elapsed_ms"])
        self.operations = tuple([decode(RankedOperation, operation) for operation in document["operations"]])
        self.signals = decode(Signals, document["signals"])
        self.spec = decode(TaskSpec, document["spec"])
        self.session = document["session"]
        self.turn = document["turn"]
        self.model = decode(ModelCost, document["model"]) if document.get("model") else None
        self._notes = tuple(document.get("notes", ()))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes: what was left out, and what could not be used."""
        return self._notes

    @property
    def question(self) -> Question | None:
        """Lakeward's question, if asking it is the first operation; answer it in the next turn of a session."""
        return self.operations[0].question if self.operations else None

    @property
    def sql(self) -> str | None:
        """The SQL of the likeliest operation that is complete; :meth:`lakeward.Lake.sql` runs it."""
        return next((operation.sql for operation in self.operations if operation.sql), None)


class Tables(Answers[TableLine]):
    """The tables of a lake, by id."""

    def __init__(self, document: Mapping[str, Any], found: _lakeward.Found) -> None:
        super().__init__("tables", TableLine, document["tables"], found)


class Profile(Answers[ColumnProfile]):
    """The profile of a table: a sequence of its columns, with properties of the whole table."""

    table: str
    """Its id."""
    path: str
    """Its file, below the folder of the lake."""
    rows: int
    """Number of rows; of those read, if it is ``sampled``."""
    sampled: bool
    """Whether only its first rows were read."""
    in_lake: bool
    """Whether it is a table of the lake; else it was read from a file now."""
    record: bool
    """Whether it is a record of a catalogue, whose data is not in the lake."""
    keys: tuple[str, ...]
    """Columns that could identify a row, likeliest first."""
    composite_keys: tuple[CompositeKey, ...]
    """Columns that identify a row only together."""
    grain: str
    """What a row represents: ``instance`` or ``aggregate``."""
    grain_evidence: tuple[str, ...]
    """The evidence for an aggregate."""
    time: TimeCoverage | None
    """The period covered, if a column shows it."""
    places: PlaceCoverage | None
    """The places covered, if a column shows them."""
    metadata: TableMetadata | None
    """The publisher's metadata."""
    repairs: tuple[Repair, ...]
    """Repairs made when it was read."""
    citation: str
    """The identifier to cite it by."""

    def __init__(self, document: Mapping[str, Any], found: _lakeward.Found) -> None:
        profile, report = document["profile"], document["report"]
        super().__init__("profile", ColumnProfile, profile["columns"], found, document["id"])
        self.table = document["id"]
        self.path = document["path"]
        self.rows = profile["rows"]
        self.sampled = document["sampled"]
        self.in_lake = document["in_lake"]
        self.record = document.get("record", False)
        self.keys = tuple(profile["keys"])
        self.composite_keys = tuple([decode(CompositeKey, key) for key in document["composite_keys"]])
        self.grain = profile["grain"]["kind"]
        self.grain_evidence = tuple(profile["grain"]["evidence"])
        self.time = decode(TimeCoverage, profile["time"]) if profile.get("time") else None
        self.places = decode(PlaceCoverage, profile["places"]) if profile.get("places") else None
        self.metadata = decode(TableMetadata, document["metadata"]) if document.get("metadata") else None
        self.repairs = tuple([decode(Repair, repair) for repair in report["repairs"]])
        self.citation = document["citation"]

    @property
    def columns(self) -> tuple[ColumnProfile, ...]:
        """The columns, in their order."""
        return self._decoded()


class SqlRows(ArrowTable):
    """The rows of a query."""

    notes: tuple[str, ...]
    """Notes on cells read as NULL and on tables read in part."""

    def __init__(self, batches: _lakeward.Batches, notes: Sequence[str]) -> None:
        self._batches = batches
        self.notes = tuple(notes)

    def __len__(self) -> int:
        return len(self._batches)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._batches.names)

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries. Needs ``pyarrow``."""
        rows: list[dict[str, Any]] = self.to_arrow().to_pylist()
        return rows

    def __repr__(self) -> str:
        header = [shown(name, 40) for name in self._batches.names]
        cells = [
            ["NULL" if cell is None else shown(cell, 40) for cell in row] for row in self._batches.texts(_SHOWN_ROWS)
        ]
        more = [f"… {len(self) - len(cells)} more rows"] if len(self) > len(cells) else []
        return "\n".join([columns(header, cells) if header else "no columns", *more])

    def _repr_html_(self) -> str:
        from . import _html

        return _html.rows(self._batches.names, self._batches.texts(_SHOWN_ROWS), len(self), self.notes)


def searched(found: _lakeward.Found) -> Answers[SearchAnswer]:
    """The answer to a search."""
    answer = document(found)
    return Answers("search", SearchAnswer, answer["answers"], found, answer["query"], answer["elapsed_ms"])


def holding(found: _lakeward.Found) -> Answers[ColumnAnswer]:
    """The answer to a column search."""
    answer = document(found)
    return Answers("columns", ColumnAnswer, answer["answers"], found, answer["query"], answer["elapsed_ms"])


def joined(found: _lakeward.Found, query: str) -> JoinAnswers:
    """The answer to a join search with the table shown as ``query``."""
    return JoinAnswers(document(found), found, query)


def correlated(found: _lakeward.Found, query: str) -> CorrelationAnswers:
    """The answer to a correlation search with the table shown as ``query``."""
    return CorrelationAnswers(document(found), found, query)


def featured(found: _lakeward.Found, query: str) -> FeatureTable:
    """The table of features made from the table shown as ``query``."""
    return FeatureTable(document(found), found, query)


def united(found: _lakeward.Found, query: str) -> Answers[UnionAnswer]:
    """The answer to a union search with the table shown as ``query``."""
    answer = document(found)
    return Answers("union", UnionAnswer, answer["answers"], found, query, answer["elapsed_ms"])


def recommended(found: _lakeward.Found) -> Recommendation:
    """The answer to a request."""
    return Recommendation(document(found), found)


def profiled(found: _lakeward.Found) -> Profile:
    """A profile."""
    return Profile(document(found), found)


def listed(found: _lakeward.Found) -> Tables:
    """A list of tables."""
    return Tables(document(found), found)


def summaries(found: _lakeward.Found) -> list[SessionSummary]:
    """A list of sessions."""
    return [decode(SessionSummary, session) for session in document(found)]


def document(found: _lakeward.Found) -> Any:
    """The document of an answer; its warnings are issued at the caller of the public method."""
    for warning in found.warnings:
        warnings.warn(warning, LakewardWarning, stacklevel=4)
    return json.loads(found.json)
