"""Answers as plain text: one line per row."""

from __future__ import annotations

from typing import Any

from ._text import columns, shown

_HEADERS = {
    "search": ["", "table", "score", "reason"],
    "columns": ["", "table", "column", "score", "reason"],
    "join": ["", "table", "score", "on", "reason"],
    "union": ["", "table", "score", "columns", "reason"],
    "correlate": ["", "table", "column", "score", "reason"],
    "features": ["", "feature", "of", "adds", "reason"],
    "ask": ["", "table", "utility", "for", "reason"],
    "tables": ["table", "rows", "columns", "title"],
    "profile": ["column", "type", "missing", "distinct", "values"],
}


def text(answers: Any, most: int) -> str:
    """``answers`` with at most ``most`` rows."""
    rows = [_row(answers.kind, place, row) for place, row in enumerate(answers[:most], 1)]
    lines = [_title(answers), columns(_HEADERS[answers.kind], rows) if rows else "nothing found"]
    if len(answers) > most:
        lines.append(f"… {len(answers) - most} more")
    if answers.kind == "ask":
        lines += [
            "",
            *[
                f"{operation.score:4.0%}  {operation.kind}: {shown(operation.reason, 160)}"
                for operation in answers.operations
            ],
        ]
        if answers.question is not None:
            lines.append(shown(answers.question.text, 200))
    lines += [f"note: {shown(note)}" for note in answers.notes]
    return "\n".join(lines)


def _title(answers: Any) -> str:
    query = shown(answers.query, 80)
    return {
        "search": f"tables for `{query}`",
        "columns": f"columns for `{query}`",
        "join": f"tables to join with `{query}`",
        "union": f"tables to append to `{query}`",
        "correlate": f"what goes with `{shown(getattr(answers, 'target', ''), 60)}` of `{query}`",
        "features": f"features of `{query}` for a model of `{shown(getattr(answers, 'target', ''), 60)}`",
        "ask": f"`{query}`",
        "tables": f"{len(answers)} tables",
        "profile": f"`{query}`: {getattr(answers, 'rows', 0):,} rows, {len(answers)} columns",
    }[answers.kind]


def _row(kind: str, place: int, row: Any) -> list[str]:
    if kind == "tables":
        figures = ["–", "–"] if row.record else [f"{row.rows:,}", str(row.columns)]
        return [shown(row.table, 60), *figures, shown(row.title, 80)]
    if kind == "profile":
        values = ", ".join(shown(value, 24) for value, _ in row.top[:4])
        of = row.semantic or row.logical
        return [shown(row.name, 40), of, f"{row.missing:,}", f"{row.distinct:,}", values]
    if kind == "features":
        adds = "–" if row.gain is None else f"{row.gain.gain:+.2f} {row.gain.figure}"
        of = f"{row.aggregate} of {row.found.table}"
        return [str(place), shown(row.name, 40), shown(of, 60), adds, shown(row.found.reason, 160)]
    table, reason = shown(row.table, 60), shown(row.reason, 160)
    if kind == "join":
        return [str(place), table, f"{row.score:.2f}", shown(f"{row.query_column} = {row.column}", 40), reason]
    if kind == "union":
        return [str(place), table, f"{row.score:.2f}", str(len(row.alignment)), reason]
    if kind in ("columns", "correlate"):
        return [str(place), table, shown(row.column, 40), f"{row.score:.2f}", reason]
    if kind == "ask":
        return [str(place), table, f"{row.utility.total:.2f}", row.operation, reason]
    return [str(place), table, f"{row.score:.2f}", reason]
