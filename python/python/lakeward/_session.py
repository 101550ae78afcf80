"""A conversation about a lake."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

from . import _answers, _lakeward
from ._answers import Recommendation, SqlRows
from ._decode import decode
from ._query_table import TableLike, stored
from ._text import escaped, shown
from .errors import UsageError
from .types import Demand, Step, Turn


class Session:
    """A conversation: each request is understood in the context of those before it.

    :meth:`lakeward.Lake.session` creates or opens one, :meth:`lakeward.Lake.resume` resumes one. Sessions are shared
    with the command line: each can resume those of the other. Turns from several threads run one after the other; an
    interrupted turn has no effect.
    """

    def __init__(self, session: _lakeward.Session) -> None:
        self._session = session
        self._id = session.id
        self._scratch: tempfile.TemporaryDirectory[str] | None = None

    @property
    def id(self) -> str:
        """Its name; empty if it is not saved."""
        return self._id

    @property
    def kept(self) -> bool:
        """Whether it is saved on disk after every turn."""
        return self._session.kept

    def ask(
        self, text: str, table: TableLike | None = None, k: int | None = None, *, column: str | None = None
    ) -> Recommendation:
        """The next turn: ranked tables and operations for a request.

        ``table`` becomes the working table, ``column`` is its key. A table in memory is stored beside the session.
        ``k`` is as in :meth:`lakeward.Lake.ask`.
        """
        if not isinstance(text, str):
            raise UsageError(f"expected a text, not a `{type(text).__name__}`")
        name = None if table is None else stored(table, self._folder(table))
        return _answers.recommended(self._session.ask(text, name, column, k))

    def run(self, operation: int | None = None, *, plan: dict[str, Any] | None = None) -> SqlRows:
        """Carries an operation out; its rows, an Arrow table, are the working table of the session from now on.

        ``operation`` is the number of one of the latest answer; without it the one that was asked for runs, else the first.
        ``plan`` runs a plan as ``lakeward plan`` reads it instead: :attr:`plan`, changed. What is to be known of the rows is in
        ``notes``. An operation that changes nothing or would explode is a :class:`~lakeward.errors.UsageError`, and the session stays
        as it was.
        """
        if operation is not None and (isinstance(operation, bool) or not isinstance(operation, int) or operation < 1):
            raise UsageError(f"operations are numbered from 1, and `{operation}` is no such number")
        if operation is not None and plan is not None:
            raise UsageError("give the number of an operation or a plan, not both")
        batches, notes = self._session.run(operation, None if plan is None else json.dumps(plan))
        return SqlRows(batches, notes)

    def undo(self) -> None:
        """Takes the latest operation back: the working table is the one before."""
        self._session.step_back(False)

    def redo(self) -> None:
        """Makes the operation again that was taken back last."""
        self._session.step_back(True)

    def accept(self, table: str) -> None:
        """Accepts a table of the lake, which ranks higher from now on."""
        self._session.accept(table)

    def reject(self, table: str) -> None:
        """Rejects a table of the lake, which is no longer recommended."""
        self._session.reject(table)

    @property
    def history(self) -> tuple[Turn, ...]:
        """The turns so far, oldest first; in very long sessions the oldest are dropped."""
        return tuple([decode(Turn, turn) for turn in self.document()["turns"]])

    @property
    def steps(self) -> tuple[Step, ...]:
        """The operations that were run, with :meth:`run` or with ``/run`` in the command line."""
        return tuple([decode(Step, step) for step in self.document()["steps"]])

    @property
    def plan(self) -> dict[str, Any] | None:
        """How the working table is made from tables of the lake, as ``lakeward plan`` reads it; none without one. A copy."""
        plan = self._session.plan
        return None if plan is None else json.loads(plan)

    @property
    def demands(self) -> tuple[Demand, ...]:
        """What is wanted of datasets, older demands first."""
        return tuple([decode(Demand, demand) for demand in self.document()["demands"]])

    def document(self) -> dict[str, Any]:
        """The whole session as the library stores it. A copy."""
        document: dict[str, Any] = json.loads(self._session.document().json)
        return document

    def __len__(self) -> int:
        return len(self.document()["turns"])

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        turns = [
            f"{turn.number}. {shown(turn.text, 100)} → {shown(', '.join(turn.tables[:3]), 100)}"
            for turn in self.history
        ]
        return "\n".join([f"Session({self.id!r})", *turns])

    def _repr_html_(self) -> str:
        from . import _html

        return _html.turns(escaped(self.id), self.history)

    def _folder(self, table: TableLike) -> str:
        """The folder for tables in memory, which exists as long as the session."""
        if isinstance(table, (str, os.PathLike)):
            return ""
        if self.kept:
            return os.fspath(self._session.folder)
        if self._scratch is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="lakeward-")
        return self._scratch.name
