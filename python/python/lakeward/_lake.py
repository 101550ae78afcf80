"""An opened lake."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _answers, _lakeward
from ._answers import Answers, CorrelationAnswers, FeatureTable, JoinAnswers, Profile, Recommendation, SqlRows, Tables
from ._decode import decode
from ._query_table import TableLike, query_table, titled
from ._session import Session
from .errors import UsageError
from .types import BuildStats, ColumnAnswer, SearchAnswer, SessionSummary, UnionAnswer

if TYPE_CHECKING:
    import datafusion

PathLike = str | os.PathLike[str]
"""A path."""


class Lake:
    """A lake with a snapshot of its index; :func:`lakeward.open` and :func:`lakeward.index` make one.

    Can be used from several threads at once. Long calls release the GIL and can be interrupted by Ctrl-C. Every
    ``table`` argument is the id of a table of the lake, the path of a file, or a table of pyarrow, pandas, polars or
    anything else with ``__arrow_c_stream__``.
    """

    stats: BuildStats | None
    """The statistics of indexing, if made by :func:`lakeward.index`."""

    def __init__(self, lake: _lakeward.Lake, stats: BuildStats | None = None) -> None:
        self._lake = lake
        self.stats = stats

    @property
    def path(self) -> str:
        """The folder of the lake, or its address."""
        return os.fspath(self._lake.path)

    @property
    def index_path(self) -> str:
        """The folder of its index."""
        return os.fspath(self._lake.index)

    def __repr__(self) -> str:
        return f"Lake({self.path!r})"

    def search(self, text: str, k: int = 10) -> Answers[SearchAnswer]:
        """The best ``k`` tables for a text: words, names, topics, values."""
        return _answers.searched(self._lake.search(_text(text), k))

    def columns(self, text: str, k: int = 10) -> Answers[ColumnAnswer]:
        """The best ``k`` columns that hold what a text says: by name, values and meaning."""
        return _answers.holding(self._lake.columns(_text(text), k))

    def join(self, table: TableLike, column: str | Sequence[str] | None = None, k: int = 10) -> JoinAnswers:
        """The best ``k`` tables to join with ``table``.

        ``column`` is its key column; several form a composite key; without one the best column is used.
        """
        columns = [column] if isinstance(column, str) else builtins.list(column or ())
        with query_table(table) as name:
            return _answers.joined(self._lake.join(name, columns, k), titled(table))

    def union(self, table: TableLike, k: int = 10) -> Answers[UnionAnswer]:
        """The best ``k`` tables whose rows could be appended to ``table``."""
        with query_table(table) as name:
            return _answers.united(self._lake.union(name, k), titled(table))

    def correlate(
        self, table: TableLike, target: str, key: str | Sequence[str] | None = None, k: int = 10
    ) -> CorrelationAnswers:
        """The best ``k`` columns of the lake that go with column ``target`` of ``table``.

        They are joined on ``key``, one column or two together; without one the likeliest keys are tried.
        """
        columns = [key] if isinstance(key, str) else builtins.list(key or ())
        with query_table(table) as name:
            return _answers.correlated(self._lake.correlate(name, _text(target), columns, k), titled(table))

    def features(
        self,
        table: TableLike,
        target: str,
        key: str | Sequence[str] | None = None,
        k: int = 3,
        *,
        seconds: float = 20.0,
    ) -> FeatureTable:
        """A table of at most ``k`` features for a model of column ``target`` of ``table``, at one row a key.

        Each says what it adds to a small cross-validated model; models are fitted for ``seconds`` at most. ``plan`` makes
        the table: ``session.run(plan)``.
        """
        columns = [key] if isinstance(key, str) else builtins.list(key or ())
        with query_table(table) as name:
            return _answers.featured(self._lake.features(name, _text(target), columns, k, seconds), titled(table))

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

        ``table`` is the table to start from and ``column`` its key. The request is the next turn of ``session``, which
        is created if no session has this name; without one it is independent. Without ``k`` there are as many answers
        as the text requests, else ten tables or three catalogue records.
        """
        if isinstance(session, str):
            session = self.session(session)
        if session is not None:
            return session.ask(text, table, k, column=column)
        if table is None:
            return _answers.recommended(self._lake.ask(_text(text), None, column, k))
        with query_table(table) as name:
            return _answers.recommended(self._lake.ask(_text(text), name, column, k))

    def profile(self, table: TableLike) -> Profile:
        """The profile of a table: its columns, keys, grain, coverage, and the publisher's metadata."""
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
        batches, notes = self._lake.sql(_text(query))
        return SqlRows(batches, notes)

    def session(self, name: str | None = None, *, keep: bool = True) -> Session:
        """A conversation: the one called ``name``, created if it does not exist; without a name a new one.

        It is saved on disk, beside the index, after every turn; with ``keep=False`` it is not saved.
        """
        if name is not None and not keep:
            raise UsageError("a session with a name is always saved", hint="leave out `name` or `keep=False`")
        return Session(self._lake.session(name, False, keep))

    def resume(self, name: str | None = None) -> Session:
        """The conversation called ``name``, which must exist; without a name the most recently written one."""
        return Session(self._lake.session(name, True, True))

    def sessions(self) -> list[SessionSummary]:
        """All conversations, the most recently written first; unusable files last."""
        return builtins.list(_answers.summaries(self._lake.sessions()))

    def refresh(self) -> Lake:
        """Switches to the current index on disk; earlier answers remain valid. Returns this lake."""
        self._lake.refresh()
        return self

    def register(self, ctx: datafusion.SessionContext) -> None:
        """Registers the lake in a ``datafusion.SessionContext`` of the PyPI package ``datafusion`` 55.

        Its tables become ``lake.folder.name``; ``lake_search``, ``lake_joinable`` and the other table functions, the
        scalar functions and the aggregates can be called in its SQL. Only the current snapshot is registered: register
        again after :meth:`refresh`.
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
    """Opens the indexed lake in the folder ``path``, else in the nearest folder upward that has an index.

    ``path`` may be an address as text: ``s3://``, ``gs://``, ``az://``, or ``https://`` of a folder with a list
    ``index.txt``; ``index`` then names a folder of this machine.

    ``index`` is the folder of its index, by default ``.lakeward`` in that of the lake. ``llm_url`` and ``llm_model``
    name a language model on an OpenAI-compatible server; by default the one of ``LAKEWARD_LLM_URL``,
    ``LAKEWARD_LLM_MODEL`` or the lake's ``lakeward.toml`` is used, if any, and none with ``llm=False``.

    Raises :class:`lakeward.errors.NoIndex` if the lake was never indexed.
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
    """Builds or updates the index of the lake in the folder or at the address ``path``, and opens the lake.

    Only files that changed are read. ``rebuild`` discards the old index, ``repair`` checks every byte of it and reads
    the tables of damaged parts again, ``records`` is a file of catalogue records, ``sample_rows`` is the number of rows
    to read of each table. ``progress`` shows a bar in a notebook and on a terminal. After Ctrl-C, the next call
    continues from what was read so far. The other arguments are those of :func:`open`. The statistics are in
    :attr:`Lake.stats`.
    """
    from ._progress import Progress

    if sample_rows is not None and sample_rows < 1:
        raise UsageError(f"`sample_rows` is {sample_rows}; it must be at least 1")
    arguments = {"rebuild": rebuild, "repair": repair, "records": records, "sample_rows": sample_rows}
    with Progress(progress) as shown:
        lake, found = _lakeward.build(path, index, arguments, _model(llm, llm_url, llm_model), shown)
    return Lake(lake, decode(BuildStats, _answers.document(found)))


def _model(llm: bool, url: str | None, model: str | None) -> dict[str, Any]:
    return {"enabled": llm, "url": url, "model": model}


def _text(text: object) -> str:
    if isinstance(text, str):
        return text
    raise UsageError(f"expected a text, not a `{type(text).__name__}`")
