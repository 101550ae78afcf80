"""A table of the lake: what it says, where it comes from and how it is written."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas

from . import mess


@dataclass
class Text:
    """How a delimited file is laid out."""

    delimiter: str = ","
    encoding: str = "utf-8"
    newline: str = "\n"


@dataclass
class Table:
    """`path` decides the format by its ending: csv, tsv, txt, parquet, ndjson, or one of them .gz."""

    path: str
    title: str
    about: str
    keywords: str
    origins: str
    data: pandas.DataFrame
    fields: dict[str, str] = field(default_factory=dict)
    text: Text = field(default_factory=Text)
    edits: tuple[Callable[[mess.Sheet], None], ...] = ()

    @property
    def format(self) -> str:
        return self.path.removesuffix(".gz").rsplit(".", 1)[-1]


WINDOWS = Text(delimiter=";", encoding="windows-1252", newline="\r\n")
LATIN = Text(delimiter=";", encoding="iso-8859-1")
UTF16_TABS = Text(delimiter="\t", encoding="utf-16", newline="\r\n")
BOM = Text(encoding="utf-8-sig")
SEMICOLON = Text(delimiter=";")
PIPE = Text(delimiter="|")
TABS = Text(delimiter="\t")
CRLF = Text(newline="\r\n")
