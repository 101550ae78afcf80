import csv
import gzip
import io
import sys
import pyarrow as pa

# --- delimited text ---


def read_delimited(path, source):
    """The rows of a delimited text as an Arrow table."""
    raw = path.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    elif raw[:4] == b"\x28\xb5\x2f\xfd":
        raw = pa.input_stream(pa.BufferReader(raw), compression="zstd").read()
    lines = io.StringIO(raw.decode(source["encoding"]).removeprefix("\ufeff"), newline="")
    for _ in range(source["lines_above"]):
        next(lines)
    csv.field_size_limit(sys.maxsize)
    rows = csv.reader(lines, delimiter=source["delimiter"], quotechar=source["quote"])
    rows = [row for row in rows if len(row) > 1 or (row and (not row[0] or row[0].strip(" \t\n\f\r")))]
    rows = rows[source["header"] : len(rows) - source["lines_below"]]
    if len(rows) != source["rows"]:
        sys.exit(f"{path} has {len(rows)} rows as Python reads it, and {source['rows']} as Lakeward does")
    columns = {}
    for place, (name, kind, how) in enumerate(source["columns"]):
        cells = [row[place] if place < len(row) else None for row in rows]
        columns[name] = read_column(cells, kind, how)
    return pa.table(columns)


def read_column(cells, kind, how):
    """The values of a column's cells; what is no value of its type is missing."""
    if kind in READERS:
        read, data_type = READERS[kind]
        return pa.array(values(cells, read, how), data_type)
    missing = [not cell or is_missing(cell.strip(WHITE), how) for cell in cells]
    return pa.array([None if gone else cell for cell, gone in zip(cells, missing)], pa.string())


def read_boolean(cell, _):
    yes, no = ("true", "yes", "y", "t", "on", "1"), ("false", "no", "n", "f", "off", "0")
    return cell.lower() in yes if cell.lower() in yes + no else None


READERS["boolean"] = (read_boolean, pa.bool_())
