"""Progress of indexing: a bar in a notebook or on a terminal, nothing elsewhere."""

from __future__ import annotations

import html
import sys
import time
from types import TracebackType
from typing import Any

_WIDTH = 30
_DELAY = 0.3
"""Seconds before a bar is shown: shorter work needs none."""


class Progress:
    """Shows the state of a build when called; as a context manager, removes the bar at the end."""

    def __init__(self, enabled: bool) -> None:
        self._notebook: Any = _notebook() if enabled else None
        self._terminal = enabled and self._notebook is None and sys.stderr is not None and sys.stderr.isatty()
        self._begun = time.monotonic()
        self._handle: Any = None
        self._last = ""

    def __enter__(self) -> Progress:
        return self

    def __call__(self, files: int, total_bytes: int, read_bytes: int, phase: str) -> None:
        if time.monotonic() - self._begun < _DELAY or not phase:
            return
        share = read_bytes / total_bytes if total_bytes else 1.0
        text = f"{phase} {files:,} files" if phase == "reading" else phase
        figures = f"{read_bytes / 1e6:,.0f} of {total_bytes / 1e6:,.0f} MB" if phase == "reading" else ""
        if self._notebook is not None:
            self._show_html(text, share, figures)
        elif self._terminal:
            filled = round(share * _WIDTH)
            self._show_line(f"{text} [{'#' * filled}{'-' * (_WIDTH - filled)}] {figures}")

    def _show_html(self, text: str, share: float, figures: str) -> None:
        page = (
            f'<div>{html.escape(text)} <progress max="1" value="{share:.3f}"></progress> {html.escape(figures)}</div>'
        )
        if page == self._last:
            return
        self._last = page
        shown = self._notebook.HTML(page)
        if self._handle is None:
            self._handle = self._notebook.display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def _show_line(self, line: str) -> None:
        if line != self._last:
            sys.stderr.write(f"\r\x1b[2K{line}")
            sys.stderr.flush()
            self._last = line

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            self._handle.update(self._notebook.HTML(""))
        elif self._last and self._terminal:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


def _notebook() -> Any:
    """``IPython.display`` in a kernel that shows HTML, else ``None``; IPython is not imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    import IPython.display

    return IPython.display
