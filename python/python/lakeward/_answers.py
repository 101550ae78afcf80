"""What a lake answers: ranked rows that are a sequence, a table for Arrow libraries, and a picture in a notebook."""

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
    JoinAnswer,
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

    Can be counted, indexed and iterated: rows are frozen dataclasses of :mod:`lakeward.types`, made when they are first
    looked at. Also a table that pyarrow, pandas and polars read, with the columns of the SQL function that answers the
    same.
    """

    kind: str
    """What was asked: ``search``, ``join``, ``union``, ``ask``, ``profile`` or ``tables``."""
    query: str
    """The text or the table it was asked with."""
    elapsed_ms: float | None
    """Time that it took inside the library, in milliseconds, where it is measured."""

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
        """What there is to know besides: what could not be compared, what was left out."""
        return ()

    # No `Sequence`: polars would take its rows for the table, not the Arrow stream.
    def _made(self) -> tuple[Row, ...]:
        if self._rows is None:
            self._rows = tuple([decode(self._row, document) for document in self._documents])
        return self._rows

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._made())

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        return self._made()[place]

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as the library's own documents: what ``--json`` prints. A copy."""
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
    """Columns that are a key of the query table only together, and worth naming as ``column``."""

    def __init__(self, document: Mapping[str, Any], found: _lakeward.Found, query: str) -> None:
        super().__init__("join", JoinAnswer, document["answers"], found, query, document["elapsed_ms"])
        self.composite_keys = tuple([decode(CompositeKey, key) for key in document["composite_keys"]])
        self._notes = tuple(document["notes"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be compared, and why."""
        return self._notes


class Recommendation(Answers[RankedTable]):
    """The answer to a request: ranked tables, and ranked operations."""

    operations: tuple[RankedOperation, ...]
    """What to do next, likeliest first."""
    signals: Signals
    """What was understood."""
    spec: TaskSpec
    """What a table should be like for that."""
    session: str | None
    """The session it belongs to, where it is kept."""
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
        """What was left out, and what could not be used."""
        return self._notes

    @property
    def question(self) -> Question | None:
        """What Lakeward asks back first of all, where it does; answer it with the next turn of a session."""
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
    """What is in a table: a sequence of its columns, with what is known of the whole."""

    table: str
    """Its id."""
    path: str
    """Its file, below the folder of the lake."""
    rows: int
    """Its rows; those read, where it is ``sampled``."""
    sampled: bool
    """Whether only its first rows were read."""
    in_lake: bool
    """Whether it is a table of the lake; else it was read just now."""
    record: bool
    """Whether it is a record of a catalogue, whose data is not in the lake."""
    keys: tuple[str, ...]
    """Columns that could identify a row, likeliest first."""
    composite_keys: tuple[CompositeKey, ...]
    """Columns that identify a row only together."""
    grain: str
    """What a row stands for: ``instance`` or ``aggregate``."""
    grain_evidence: tuple[str, ...]
    """What speaks for an aggregate."""
    time: TimeCoverage | None
    """The period covered, where a column tells."""
    places: PlaceCoverage | None
    """The places covered, where a column tells."""
    metadata: TableMetadata | None
    """What the publisher says."""
    repairs: tuple[Repair, ...]
    """What had to be mended when it was read."""
    citation: str
    """By what it can be cited."""

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
        return self._made()


class SqlRows(ArrowTable):
    """The rows of a query."""

    notes: tuple[str, ...]
    """Cells read as NULL, tables read in part."""

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
    said = document(found)
    return Answers("search", SearchAnswer, said["answers"], found, said["query"], said["elapsed_ms"])


def joined(found: _lakeward.Found, query: str) -> JoinAnswers:
    """The answer to a join search with the table shown as ``query``."""
    return JoinAnswers(document(found), found, query)


def united(found: _lakeward.Found, query: str) -> Answers[UnionAnswer]:
    """The answer to a union search with the table shown as ``query``."""
    said = document(found)
    return Answers("union", UnionAnswer, said["answers"], found, query, said["elapsed_ms"])


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
    """The document of an answer; what it warns of is told to the caller of the method that asked."""
    for warning in found.warnings:
        warnings.warn(warning, LakewardWarning, stacklevel=4)
    return json.loads(found.json)
