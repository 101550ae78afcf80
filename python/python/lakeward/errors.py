"""What goes wrong, by kind. Every exception says what to do where something can be done.

All are :class:`LakewardError`; where Python has an exception for the same mishap, they are that one too, so that
``except FileNotFoundError`` and ``except ValueError`` work as expected. Ctrl-C stays ``KeyboardInterrupt``.
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
    """Anything that Lakeward cannot do."""

    message: str
    """What failed."""
    hint: str | None
    """What to do next, where there is something."""
    nearest: tuple[str, ...]
    """Names that exist and are like the one asked for, nearest first."""
    path: str | None
    """The file or folder concerned, where one is."""

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
        # Python's own attributes of a file's error, which a message alone does not set.
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
    """The request cannot be met as written."""


class UnknownTable(LakewardError, LookupError):
    """No table of this id and no such file; ``nearest`` has ids that exist."""


class UnknownColumn(LakewardError, LookupError):
    """The table has no such column; ``nearest`` has columns that it has."""


class UnknownSession(LakewardError, LookupError):
    """No session of this name; ``nearest`` has names that exist."""


class SqlError(LakewardError, ValueError):
    """SQL that DataFusion refused, or that failed while it ran."""


class NoIndex(LakewardError, FileNotFoundError):
    """The lake was never indexed, or no lake is near."""


class DamagedIndex(LakewardError):
    """An index file is not what was written."""


class IndexVersion(LakewardError):
    """The index has a version that this package does not read."""


class OtherEmbeddingModel(LakewardError):
    """The index was built with another embedding model."""


class EmbeddingServerError(LakewardError, ConnectionError):
    """The server of the embedding model gives no vectors."""


class IndexLocked(LakewardError):
    """Another process is writing the index."""


class FileError(LakewardError, OSError):
    """The operating system refused something."""


class UnreadableTable(LakewardError):
    """A file from which no table can be read."""


class DamagedSession(LakewardError):
    """A session's file is not what was written."""


class SessionVersion(LakewardError):
    """A session of a version that this package does not read."""


class SessionChanged(LakewardError):
    """Another process has written the session meanwhile."""


class InternalError(LakewardError, RuntimeError):
    """A bug in Lakeward."""


class MissingPackage(LakewardError, ImportError):
    """A package that this needs is not installed, or not in a version that fits."""


class LakewardWarning(UserWarning):
    """An answer is worth less than it could be, and says why."""
