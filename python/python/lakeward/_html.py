"""Answers as HTML for notebooks: tables, bars and pairs of columns. No script; every text of a lake is escaped.

Colours are derived from those of the page, so that light and dark themes are both readable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ._text import escaped
from .types import (
    ColumnProfile,
    ColumnAnswer,
    CorrelationAnswer,
    Feature,
    JoinAnswer,
    RankedOperation,
    RankedTable,
    SearchAnswer,
    TableLine,
    Turn,
    UnionAnswer,
)

_STYLE = """<style>
.lakeward table{border-collapse:collapse;color:inherit;background:transparent}
.lakeward caption{caption-side:top;text-align:left;font-weight:600;padding:2px 8px 6px;color:inherit}
.lakeward th,.lakeward td{text-align:left;vertical-align:top;padding:3px 8px;border:0;
border-bottom:1px solid rgba(128,128,128,.28);background:transparent;color:inherit}
.lakeward th{font-weight:600;opacity:.75}
.lakeward td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.lakeward code{background:rgba(128,128,128,.16);color:inherit;padding:0 3px;border-radius:3px}
.lakeward .bar{display:inline-block;width:64px;height:8px;margin-right:6px;border-radius:4px;
background:rgba(128,128,128,.25);overflow:hidden;vertical-align:middle}
.lakeward .bar>span{display:block;height:100%;background:#3b82c4}
.lakeward .quiet{opacity:.7;font-size:92%}
.lakeward summary{cursor:pointer}
</style>"""


def page(answers: Any, most: int) -> str:
    """``answers`` with at most ``most`` rows."""
    caption, header, row = _LAYOUTS[answers.kind]
    lines = [row(place, answer) for place, answer in enumerate(answers[:most], 1)]
    body = _table(caption(answers), header, lines) if lines else f"<p>{caption(answers)}: nothing found</p>"
    rest = [_more(len(answers), len(lines))]
    if answers.kind == "ask":
        rest.append(_operations(answers.operations))
    rest += [f'<div class="quiet">{_sentence(note)}</div>' for note in answers.notes]
    return _framed(body, *rest)


def rows(names: Sequence[str], texts: Sequence[Sequence[str | None]], count: int, notes: Iterable[str]) -> str:
    """The first rows of a query's result of ``count`` rows."""
    lines = [
        [_cell('<span class="quiet">NULL</span>' if text is None else escaped(text, 120)) for text in row]
        for row in texts
    ]
    body = _table("", [escaped(name, 60) for name in names], lines)
    return _framed(body, _more(count, len(lines)), *[f'<div class="quiet">{_sentence(note)}</div>' for note in notes])


def turns(name: str, history: Iterable[Turn]) -> str:
    """The turns of the session ``name``, which is escaped already."""
    lines = [
        [_number(turn.number), _cell(escaped(turn.text)), _cell(escaped(", ".join(turn.tables[:5])))]
        for turn in history
    ]
    return _framed(_table(f"session <code>{name}</code>", ["", "request", "tables"], lines))


def _framed(*parts: str) -> str:
    return f'<div class="lakeward">{_STYLE}{"".join(parts)}</div>'


def _table(caption: str, header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in header)
    body = "".join(f"<tr>{''.join(line)}</tr>" for line in lines)
    captioned = f"<caption>{caption}</caption>" if caption else ""
    return f"<table>{captioned}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _more(count: int, seen: int) -> str:
    return f'<div class="quiet">… {count - seen:,} more</div>' if count > seen else ""


def _cell(content: str, kind: str = "") -> str:
    return f'<td class="{kind}">{content}</td>' if kind else f"<td>{content}</td>"


def _number(value: float | None) -> str:
    return _cell("–" if value is None else f"{value:,}", "n")


def _bar(share: float, label: str | None = None) -> str:
    """A share of 0 to 1 as a bar with its figure."""
    width = min(max(share, 0.0), 1.0) * 100 if share == share else 0.0
    figure = f"{share:.0%}" if label is None else label
    return f'<span class="bar"><span style="width:{width:.0f}%"></span></span>{figure}'


def _name(table: str, title: str) -> str:
    subtitle = f'<br><span class="quiet">{escaped(title, 120)}</span>' if title else ""
    return _cell(f"<code>{escaped(table, 120)}</code>{subtitle}")


def _sentence(sentence: str) -> str:
    """A sentence of the library, with its backticks as code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped(sentence))


def _folded(summary: str, lines: Sequence[str]) -> str:
    """Lines that are shown on a click."""
    return f"<details><summary>{summary}</summary>{'<br>'.join(lines)}</details>" if lines else ""


def _search_row(place: int, answer: SearchAnswer) -> list[str]:
    return [
        _number(place),
        _name(answer.table, answer.title),
        _cell(_bar(answer.score, f"{answer.score:.2f}"), "n"),
        _number(answer.rows),
        _cell(_sentence(answer.reason)),
    ]


def _join_row(place: int, answer: JoinAnswer) -> list[str]:
    pairs = [
        f"<code>{escaped(pair.query_column, 60)}</code> = <code>{escaped(pair.column, 60)}</code>" for pair in answer.on
    ]
    matches = [
        f"<code>{escaped(match.query, 60)}</code> = <code>{escaped(match.candidate, 60)}</code>"
        for match in answer.matches
        if match.candidate is not None
    ]
    adds = ", ".join(f"<code>{escaped(column, 40)}</code>" for column in answer.adds[:8])
    more = f" and {len(answer.adds) - 8} more" if len(answer.adds) > 8 else ""
    about = "" if answer.exact else "about "
    return [
        _number(place),
        _name(answer.table, answer.title),
        _cell("<br>".join(pairs)),
        _cell(_bar(answer.containment, f"{about}{answer.containment:.0%}"), "n"),
        _number(answer.rows),
        _cell(
            escaped(answer.reason)
            + _folded("matching values", matches)
            + _folded("adds", [adds + more] if adds else [])
        ),
    ]


def _union_row(place: int, answer: UnionAnswer) -> list[str]:
    pairs = [
        f"{_bar(pair.score)} <code>{escaped(pair.query_column, 60)}</code> ← <code>{escaped(pair.column, 60)}</code>"
        for pair in answer.alignment
    ]
    missing = [f"no partner for <code>{escaped(column, 60)}</code>" for column in answer.unmatched]
    extra = [f"additional <code>{escaped(column, 60)}</code>" for column in answer.extra]
    total = len(answer.alignment) + len(answer.unmatched)
    new = "–" if answer.new_rows is None else f"{answer.new_rows.new:,}"
    return [
        _number(place),
        _name(answer.table, answer.title),
        _cell(_bar(answer.score, f"{answer.score:.2f}"), "n"),
        _cell(_bar(len(answer.alignment) / max(total, 1), f"{len(answer.alignment)} of {total}"), "n"),
        _cell(new, "n"),
        _cell(_sentence(answer.reason) + _folded("columns", [*pairs, *missing, *extra])),
    ]


def _ask_row(place: int, table: RankedTable) -> list[str]:
    utility = table.utility
    parts = [
        f"{_bar(utility.relevance)} relevance",
        f"{_bar(utility.intention)} fit to the intention",
        f"{_bar(utility.operation)} fit to the operation",
    ]
    checks = [
        ("granularity", table.fit.granularity),
        ("richness", table.fit.richness),
        ("compatibility", table.fit.compatibility),
    ]
    checked = [
        f"{'✓' if check.met else '✗'} {escaped(name, 60)}: {_sentence(check.evidence)}"
        for name, check in [*checks, *table.fit.constraints]
    ]
    return [
        _number(place),
        _name(table.table, table.title),
        _cell(_bar(utility.total, f"{utility.total:.2f}"), "n"),
        _cell(escaped(table.operation)),
        _cell("–" if table.record else f"{table.rows:,} × {table.columns:,}", "n"),
        _cell(_sentence(table.reason) + _folded("why", [*parts, *checked])),
    ]


def _operations(operations: Sequence[RankedOperation]) -> str:
    lines = []
    for operation in operations:
        met = [f"{'✓' if condition.met else '✗'} {_sentence(condition.what)}" for condition in operation.preconditions]
        sql = [f"<code>{escaped(operation.sql, 2000)}</code>"] if operation.sql else []
        question = ""
        if operation.question is not None:
            choices = [
                f"{place}. {escaped(choice.label)}" for place, choice in enumerate(operation.question.choices, 1)
            ]
            question = "<br>".join(["", f"<em>{_sentence(operation.question.text)}</em>", *choices])
        reason = _sentence(operation.reason) + question + _folded("preconditions", met) + _folded("SQL", sql)
        lines.append([_cell(escaped(operation.kind)), _cell(_bar(operation.score), "n"), _cell(reason)])
    return _table("next", ["operation", "score", "reason"], lines) if lines else ""


def _table_row(_place: int, table: TableLine) -> list[str]:
    sizes = [_cell("record", "n"), _cell("–", "n")] if table.record else [_number(table.rows), _number(table.columns)]
    return [_cell(f"<code>{escaped(table.table, 120)}</code>"), *sizes, _cell(escaped(table.title, 160))]


def _column_row(place: int, column: ColumnProfile) -> list[str]:
    missing = column.missing / column.rows if column.rows else 0.0
    span = f"{escaped(column.min, 40)} … {escaped(column.max, 40)}" if column.min is not None else ""
    top = ", ".join(f"<code>{escaped(value, 40)}</code>" for value, _ in column.top[:5])
    about = "" if column.distinct_exact else "about "
    return [
        _number(place),
        _cell(f"<code>{escaped(column.name, 80)}</code>"),
        _cell(escaped(column.semantic or column.logical)),
        _cell(_bar(missing), "n"),
        _cell(f"{about}{column.distinct:,}", "n"),
        _cell(_bar(column.uniqueness), "n"),
        _cell(span),
        _cell(top),
    ]


def _held_row(place: int, answer: ColumnAnswer) -> list[str]:
    return [
        _number(place),
        _name(answer.table, answer.title),
        _cell(f"<code>{escaped(answer.column, 60)}</code>"),
        _cell(_bar(answer.score), "n"),
        _cell(_sentence(answer.reason)),
    ]


def _correlation_row(place: int, answer: CorrelationAnswer) -> list[str]:
    return [
        _number(place),
        _name(answer.table, answer.title),
        _cell(f"<code>{escaped(answer.column, 60)}</code>"),
        _cell(_bar(abs(answer.strength), f"{answer.strength:.2f}"), "n"),
        _number(answer.keys),
        _cell(_sentence(answer.reason)),
    ]


def _feature_row(place: int, feature: Feature) -> list[str]:
    adds = "–" if feature.gain is None else f"{feature.gain.gain:+.2f} {feature.gain.figure}"
    return [
        _number(place),
        _cell(f"<code>{escaped(feature.name, 60)}</code>"),
        _name(feature.found.table, feature.found.title),
        _cell(escaped(feature.aggregate, 60)),
        _cell(escaped(adds, 40)),
        _cell(_sentence(feature.found.reason)),
    ]


def _quoted(words: str) -> Any:
    return lambda answers: f"{words} <code>{escaped(answers.query, 160)}</code>"


def _profile_caption(profile: Any) -> str:
    sampled = " (from a sample)" if profile.sampled else ""
    return f"<code>{escaped(profile.table, 160)}</code>: {profile.rows:,} rows{sampled}, {len(profile):,} columns"


_LAYOUTS: dict[str, tuple[Any, list[str], Any]] = {
    "search": (_quoted("tables for"), ["", "table", "score", "rows", "reason"], _search_row),
    "columns": (_quoted("columns for"), ["", "table", "column", "score", "reason"], _held_row),
    "join": (_quoted("tables to join with"), ["", "table", "on", "values found", "rows", "reason"], _join_row),
    "union": (_quoted("tables to append to"), ["", "table", "score", "columns", "new rows", "reason"], _union_row),
    "correlate": (
        _quoted("columns that go with one of"),
        ["", "table", "column", "strength", "keys", "reason"],
        _correlation_row,
    ),
    "features": (
        _quoted("features for a model of a column of"),
        ["", "feature", "of", "as", "adds", "reason"],
        _feature_row,
    ),
    "ask": (_quoted("tables for"), ["", "table", "utility", "for", "size", "reason"], _ask_row),
    "tables": (lambda answers: f"{len(answers):,} tables", ["table", "rows", "columns", "title"], _table_row),
    "profile": (
        _profile_caption,
        ["", "column", "type", "missing", "distinct", "unique", "span", "most frequent"],
        _column_row,
    ),
}
