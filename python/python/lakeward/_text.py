"""Text of a lake made safe to show: in a terminal, and in a page."""

from __future__ import annotations

import html


def shown(text: object, width: int = 300) -> str:
    """``text`` on one line of at most ``width`` characters; control and text-direction characters become spaces."""
    line = str(text)[: width + 1]
    line = "".join(character if character.isprintable() else " " for character in line)
    return line if len(line) <= width else line[: width - 1] + "…"


def escaped(text: object, width: int = 300) -> str:
    """:func:`shown`, for HTML: no markup survives."""
    return html.escape(shown(text, width), quote=True)


def columns(header: list[str], rows: list[list[str]]) -> str:
    """A table of plain text; all columns but the last have the width of their widest cell."""
    lines = [header, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(header) - 1)]
    padded = ["  ".join([*map(str.ljust, line, widths), line[-1]]) for line in lines]
    return "\n".join(line.rstrip() for line in padded)
