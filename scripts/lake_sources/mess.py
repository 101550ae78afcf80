"""Edits that make a clean sheet look like an export of an open-data portal.

Each function returns an edit: something that changes a sheet of texts in
place. No edit changes or loses a figure; they only change how it is written.
"""

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Sheet:
    header: list[str]
    rows: list[list[str]]
    above: list[str] = field(default_factory=list)

    def column(self, name: str) -> int:
        return self.header.index(name)


Edit = Callable[[Sheet], None]


def each(change: Callable[[str], str], *columns: str) -> Edit:
    def edit(sheet: Sheet) -> None:
        for place in map(sheet.column, columns):
            for row in sheet.rows:
                row[place] = change(row[place])

    return edit


def upper(*columns: str) -> Edit:
    return each(str.upper, *columns)


def thousands(*columns: str, mark: str = ",") -> Edit:
    return each(lambda text: f"{int(text):,}".replace(",", mark) if text else "", *columns)


def decimal_comma(*columns: str) -> Edit:
    return each(lambda text: text.replace(".", ","), *columns)


def dates(form: str, *columns: str) -> Edit:
    """Rewrites ISO dates, such as 2013-01-31, in another style."""
    return each(lambda text: datetime.date.fromisoformat(text).strftime(form) if text else "", *columns)


def last_first(*columns: str) -> Edit:
    """Turns names round, taking the last word as the surname; several are split by semicolons."""

    def turn(name: str) -> str:
        first, _, last = name.rpartition(" ")
        return f"{last}, {first}" if first else last

    return each(lambda text: "; ".join(map(turn, text.split(", "))), *columns)


def marks(column: str, notes: dict[str, str]) -> Edit:
    """Puts a footnote marker behind the named values, which must all be there."""

    def edit(sheet: Sheet) -> None:
        place = sheet.column(column)
        missing = set(notes) - {row[place] for row in sheet.rows}
        if missing:
            raise ValueError(f"no row to mark: {sorted(missing)}")
        for row in sheet.rows:
            row[place] += notes.get(row[place], "")

    return edit


def preamble(*lines: str) -> Edit:
    return lambda sheet: sheet.above.extend(lines)


def total(label: str, *columns: str, decimals: int = 0) -> Edit:
    """Ends the sheet with a row of sums, its label in the first column."""

    def edit(sheet: Sheet) -> None:
        row = [label] + [""] * (len(sheet.header) - 1)
        for place in map(sheet.column, columns):
            value = sum(float(other[place] or 0) for other in sheet.rows)
            row[place] = f"{value:.{decimals}f}"
        sheet.rows.append(row)

    return edit


def footer(*lines: str) -> Edit:
    return lambda sheet: sheet.rows.extend([line] for line in lines)


def ragged(sheet: Sheet) -> None:
    """Leaves out the empty fields that end a row, as some spreadsheets do."""
    for row in sheet.rows:
        while len(row) > 1 and not row[-1]:
            row.pop()


def overlong(every: int, text: str) -> Edit:
    """Gives every so many rows a field more than the header has."""

    def edit(sheet: Sheet) -> None:
        for row in sheet.rows[every - 1 :: every]:
            row.append(text)

    return edit


def blank_lines(every: int) -> Edit:
    def edit(sheet: Sheet) -> None:
        for place in range(len(sheet.rows) // every * every, 0, -every):
            sheet.rows.insert(place, [])

    return edit


def headers(names: dict[str, str]) -> Edit:
    """Renames columns at the very end, so to a name that another column has, or to none."""

    def edit(sheet: Sheet) -> None:
        sheet.header[:] = [names.get(name, name) for name in sheet.header]

    return edit


def trailing_delimiter(sheet: Sheet) -> None:
    sheet.header.append("")
    for row in sheet.rows:
        row.append("")
