"""Exceptions, by kind, with a hint on what to do where possible.

All are :class:`LakewardError`, and also Python's own exception for the same error, if there is one, so that
``except FileNotFoundError`` and ``except ValueError`` work as expected. Ctrl-C raises ``KeyboardInterrupt``.
"""

from __future__ import annotations

__all__ = [
    "DamagedIndex",
    "DamagedSession",
    "EmbeddingServerError",
    "FileError",
    "IndexLocked",
    "IndexVersion",
    "InternalError",
    "LakewardError",
    "LakewardWarning",
    "MissingPackage",
    "NoIndex",
    "OtherEmbeddingModel",
    "SessionChanged",
    "SessionVersion",
    "SqlError",
    "UnknownColumn",
    "UnknownSession",
    "UnknownTable",
    "UnreadableTable",
    "UsageError",
]


class LakewardError(Exception):
    """Base class of all errors of Lakeward."""

    message: str
    """What failed."""
    hint: str | None
    """What to do next, if known."""
    nearest: tuple[str, ...]
    """Existing names similar to the requested one, nearest first."""
    path: str | None
    """The file or folder concerned, if any."""

    def __init__(
        self,
        message: str = "",
        *,
        hint: str | None = None,
        nearest: list[str] | tuple[str, ...] = (),
        path: str | None = None,
        errno: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.nearest = tuple(nearest)
        self.path = path
        self._errno = errno
        # The attributes of `OSError`, which a message alone does not set.
        if isinstance(self, OSError):
            for name, value in (("errno", errno), ("filename", path), ("strerror", message)):
                setattr(self, name, value)

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> tuple[object, ...]:
        details = {"hint": self.hint, "nearest": self.nearest, "path": self.path, "errno": self._errno}
        return (_rebuilt, (type(self), self.message, details))


def _rebuilt(kind: type[LakewardError], message: str, details: dict[str, object]) -> LakewardError:
    return kind(message, **details)  # type: ignore[arg-type]


class UsageError(LakewardError, ValueError):
    """The request is invalid."""


class UnknownTable(LakewardError, LookupError):
    """No table has this id, and there is no such file; ``nearest`` has existing ids."""


class UnknownColumn(LakewardError, LookupError):
    """The table has no such column; ``nearest`` has columns that it has."""


class UnknownSession(LakewardError, LookupError):
    """No session of this name; ``nearest`` has existing names."""


class SqlError(LakewardError, ValueError):
    """SQL that DataFusion rejected, or that failed during execution."""


class NoIndex(LakewardError, FileNotFoundError):
    """The lake was never indexed, or no lake was found."""


class DamagedIndex(LakewardError):
    """The content of an index file is not what was written."""


class IndexVersion(LakewardError):
    """The index has a version that this package does not read."""


class OtherEmbeddingModel(LakewardError):
    """The index was built with another embedding model."""


class EmbeddingServerError(LakewardError, ConnectionError):
    """The server of the embedding model returns no vectors."""


class IndexLocked(LakewardError):
    """Another process is writing the index."""


class FileError(LakewardError, OSError):
    """The operating system refused an operation on a file."""


class UnreadableTable(LakewardError):
    """A file from which no table can be read."""


class DamagedSession(LakewardError):
    """The content of a session file is not what was written."""


class SessionVersion(LakewardError):
    """The session has a version that this package does not read."""


class SessionChanged(LakewardError):
    """Another process has written the session meanwhile."""


class InternalError(LakewardError, RuntimeError):
    """A bug in Lakeward."""


class MissingPackage(LakewardError, ImportError):
    """A required package is not installed, or has an incompatible version."""


class LakewardWarning(UserWarning):
    """An answer is limited in quality; the message says why."""
