"""Writes tables so that the same data always gives the same bytes."""

import csv
import gzip
import io
import json
from dataclasses import dataclass
from pathlib import Path

import pandas
import pyarrow
import pyarrow.parquet

from .mess import Sheet
from .table import Table


@dataclass
class Written:
    """What the file has: the names of its columns and, for text, the line they stand in."""

    columns: list[str]
    header_line: int = 1


def write(table: Table, root: Path) -> Written:
    """Writes the table below `root`."""
    path = root / table.path
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = tidy(table.data)
    if table.format == "parquet":
        write_parquet(frame, path)
        return Written(list(frame.columns))
    if table.format == "ndjson":
        content, written = ndjson(frame), Written(list(frame.columns))
    else:
        content, written = delimited(table, frame)
    # The time of writing would otherwise be part of a gzip file.
    path.write_bytes(gzip.compress(content, 9, mtime=0) if path.suffix == ".gz" else content)
    return written


def tidy(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Whole numbers become integers even where some are missing: pandas holds those as floats."""
    result = frame.reset_index(drop=True).copy()
    for name in result.columns:
        column = result[name]
        if column.dtype.kind == "f" and (column.dropna() % 1 == 0).all():
            result[name] = column.astype("Int64")
        elif column.dtype.kind == "O" or isinstance(column.dtype, pandas.CategoricalDtype):
            result[name] = column.astype(object).where(column.notna(), None)
    return result


def write_parquet(frame: pandas.DataFrame, path: Path) -> None:
    table = pyarrow.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    pyarrow.parquet.write_table(table, path, compression="snappy", version="2.6")


def ndjson(frame: pandas.DataFrame) -> bytes:
    lines = []
    for record in frame.astype(object).where(frame.notna(), None).to_dict("records"):
        lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    return "".join(lines).encode("utf-8")


def delimited(table: Table, frame: pandas.DataFrame) -> tuple[bytes, Written]:
    rows = [[as_text(value) for value in row] for row in frame.itertuples(index=False, name=None)]
    sheet = Sheet(list(frame.columns), rows)
    for edit in table.edits:
        edit(sheet)
    buffer = io.StringIO()
    for line in sheet.above:
        buffer.write(line + table.text.newline)
    writer = csv.writer(buffer, delimiter=table.text.delimiter, lineterminator=table.text.newline)
    writer.writerow(sheet.header)
    writer.writerows(sheet.rows)
    return encode(buffer.getvalue(), table.text.encoding), Written(sheet.header, len(sheet.above) + 1)


def encode(content: str, encoding: str) -> bytes:
    if encoding == "utf-16":
        # Python's own utf-16 takes the byte order of the machine.
        return b"\xff\xfe" + content.encode("utf-16-le")
    return content.encode(encoding)


def as_text(value: object) -> str:
    if value is None or value is pandas.NA or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return format(value, ".12g")
    return str(value)
