"""An opened lake."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _answers, _lakeward
from ._answers import Answers, JoinAnswers, Profile, Recommendation, SqlRows, Tables
from ._decode import decode
from ._query_table import TableLike, query_table, titled
from ._session import Session
from .errors import UsageError
from .types import BuildStats, SearchAnswer, SessionSummary, UnionAnswer

if TYPE_CHECKING:
    import datafusion

PathLike = str | os.PathLike[str]
"""A path."""


class Lake:
    """A lake with a snapshot of its index; :func:`lakeward.open` and :func:`lakeward.index` make one.

    May be used from several threads at once. What takes long releases the GIL and can be interrupted by Ctrl-C.
    ``table`` is everywhere the id of a table of the lake, the path of a file, or a table of pyarrow, pandas, polars or
    anything else with ``__arrow_c_stream__``.
    """

    stats: BuildStats | None
    """What indexing did, where :func:`lakeward.index` made it."""

    def __init__(self, lake: _lakeward.Lake, stats: BuildStats | None = None) -> None:
        self._lake = lake
        self.stats = stats

    @property
    def path(self) -> str:
        """The folder of the lake."""
        return os.fspath(self._lake.path)

    @property
    def index_path(self) -> str:
        """The folder of its index."""
        return os.fspath(self._lake.index)

    def __repr__(self) -> str:
        return f"Lake({self.path!r})"

    def search(self, text: str, k: int = 10) -> Answers[SearchAnswer]:
        """The best ``k`` tables for a text: words, names, topics, values."""
        return _answers.searched(self._lake.search(_words(text), k))

    def join(self, table: TableLike, column: str | Sequence[str] | None = None, k: int = 10) -> JoinAnswers:
        """The best ``k`` tables to join with ``table``.

        ``column`` is its key; several are a key together; without one the column is taken that serves best.
        """
        columns = [column] if isinstance(column, str) else builtins.list(column or ())
        with query_table(table) as name:
            return _answers.joined(self._lake.join(name, columns, k), titled(table))

    def union(self, table: TableLike, k: int = 10) -> Answers[UnionAnswer]:
        """The best ``k`` tables whose rows could stand below those of ``table``."""
        with query_table(table) as name:
            return _answers.united(self._lake.union(name, k), titled(table))

    def ask(
        self,
        text: str,
        table: TableLike | None = None,
        k: int | None = None,
        session: Session | str | None = None,
        *,
        column: str | None = None,
    ) -> Recommendation:
        """Ranked tables and ranked operations for a request in plain language.

        ``table`` is the table at hand and ``column`` its key. As the next turn of ``session``, which is begun where no
        session has this name; without one the request stands for itself. Without ``k`` there are as many answers as the request
        asks for, else ten tables or three records of a catalogue.
        """
        if isinstance(session, str):
            session = self.session(session)
        if session is not None:
            return session.ask(text, table, k, column=column)
        if table is None:
            return _answers.recommended(self._lake.ask(_words(text), None, column, k))
        with query_table(table) as name:
            return _answers.recommended(self._lake.ask(_words(text), name, column, k))

    def profile(self, table: TableLike) -> Profile:
        """What is in a table: its columns, keys, grain, coverage, and what the publisher says."""
        with query_table(table) as name:
            return _answers.profiled(self._lake.profile(name))

    def tables(self) -> Tables:
        """All tables of the lake, by id."""
        return _answers.listed(self._lake.tables())

    def sql(self, query: str) -> SqlRows:
        """The rows of a read-only query over the lake's tables and functions.

        A table is named by its id with dots, ``SELECT * FROM transport.airports``; ``lake_search('…')``,
        ``lake_joinable('…')`` and the others are tables too: ``SELECT * FROM lake_functions()`` lists them.
        """
        batches, notes = self._lake.sql(_words(query))
        return SqlRows(batches, notes)

    def session(self, name: str | None = None, *, keep: bool = True) -> Session:
        """A conversation: the one called ``name``, begun where there is none; without a name a new one.

        It is on the disk, beside the index, after every turn; with ``keep=False`` nowhere.
        """
        if name is not None and not keep:
            raise UsageError("a session with a name is kept", hint="leave out `name` or `keep=False`")
        return Session(self._lake.session(name, False, keep))

    def resume(self, name: str | None = None) -> Session:
        """The conversation called ``name``, which must exist; without a name the one written last."""
        return Session(self._lake.session(name, True, True))

    def sessions(self) -> list[SessionSummary]:
        """All conversations, the one written last first; files that cannot be used at the end."""
        return builtins.list(_answers.summaries(self._lake.sessions()))

    def refresh(self) -> Lake:
        """Looks at the index as it is on the disk now; answers that were given stay. Returns this lake."""
        self._lake.refresh()
        return self

    def register(self, ctx: datafusion.SessionContext) -> None:
        """Makes the lake known to a ``datafusion.SessionContext`` of the PyPI package ``datafusion`` 55.

        Its tables become ``lake.folder.name``; ``lake_search``, ``lake_joinable`` and the other table functions, the
        scalar functions and the aggregates can be called in its SQL. What is registered is the snapshot: after
        :meth:`refresh`, register again.
        """
        from . import _datafusion

        _datafusion.register(self._lake, ctx)


def open(
    path: PathLike | None = None,
    index: PathLike | None = None,
    *,
    llm: bool = True,
    llm_url: str | None = None,
    llm_model: str | None = None,
) -> Lake:
    """Opens the indexed lake in the folder ``path``, else in the nearest folder upward that holds an index.

    ``index`` is the folder of its index, by default ``.lakeward`` in that of the lake. ``llm_url`` and ``llm_model``
    name a language model on an OpenAI-compatible server; without them that of ``LAKEWARD_LLM_URL``,
    ``LAKEWARD_LLM_MODEL`` or the lake's ``lakeward.toml`` is used where there is one, and none with ``llm=False``.

    Raises :class:`lakeward.errors.NoIndex` where the lake was never indexed.
    """
    return Lake(_lakeward.Lake.open(path, index, _model(llm, llm_url, llm_model)))


def index(
    path: PathLike,
    index: PathLike | None = None,
    *,
    progress: bool = True,
    rebuild: bool = False,
    repair: bool = False,
    records: PathLike | None = None,
    sample_rows: int | None = None,
    llm: bool = True,
    llm_url: str | None = None,
    llm_model: str | None = None,
) -> Lake:
    """Indexes the lake in the folder ``path``, or brings its index up to date, and opens it.

    Only files that changed are read. ``rebuild`` forgets the old index, ``repair`` checks every byte of it and reads
    again what is damaged, ``records`` is a file of catalogue records, ``sample_rows`` reads only so many rows of each
    table. ``progress`` shows a bar in a notebook and on a terminal. Interrupted by Ctrl-C, what was read so far is
    kept, and the next call goes on from there. The other arguments are those of :func:`open`. What was done is in
    :attr:`Lake.stats`.
    """
    from ._progress import Progress

    if sample_rows is not None and sample_rows < 1:
        raise UsageError(f"`sample_rows` is {sample_rows}; it must be at least 1")
    wishes = {"rebuild": rebuild, "repair": repair, "records": records, "sample_rows": sample_rows}
    with Progress(progress) as shown:
        lake, found = _lakeward.build(path, index, wishes, _model(llm, llm_url, llm_model), shown)
    return Lake(lake, decode(BuildStats, _answers.document(found)))


def _model(llm: bool, url: str | None, model: str | None) -> dict[str, Any]:
    return {"enabled": llm, "url": url, "model": model}


def _words(text: object) -> str:
    if isinstance(text, str):
        return text
    raise UsageError(f"a text is wanted, not a `{type(text).__name__}`")
