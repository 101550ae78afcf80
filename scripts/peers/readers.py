#!/usr/bin/env python3
"""How Polars and DataFusion read the CSV files of a lake, beside Lakeward.

usage: readers.py LAKEWARD LAKE     (pip install polars datafusion)

LAKEWARD is the program, LAKE a folder with .csv files. Prints, for each reader: files read, files refused, files whose
row or column count differs from Lakeward's, files in which digits with a leading zero became numbers, and seconds of
wall time for the whole folder, one file after the other. Lakeward's time is that of a whole indexing run.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import datafusion
import polars


def read_with_polars(path):
    frame = polars.read_csv(
        path, infer_schema_length=1000, ignore_errors=True, truncate_ragged_lines=True, encoding="utf8-lossy"
    )
    return frame.height, frame.width, {name for name, kind in frame.schema.items() if kind.is_numeric()}


def read_with_datafusion(path):
    table = datafusion.SessionContext().read_csv(str(path)).to_arrow_table()
    numeric = {field.name for field in table.schema if str(field.type) in ("int64", "double")}
    return table.num_rows, table.num_columns, numeric


def catalogue(program, lake, index):
    """Every table of the lake by path, as Lakeward profiles it, and the seconds the indexing run took."""
    command = [program, "--lake", str(lake), "--index", index, "--json", "--quiet"]
    begin = time.perf_counter()
    subprocess.run([*command, "index"], check=False, capture_output=True)
    seconds = time.perf_counter() - begin
    listed = json.loads(subprocess.run([*command, "tables"], check=True, capture_output=True).stdout)
    entries = {}
    for line in listed["tables"]:
        shown = subprocess.run([*command, "profile", line["table"]], check=False, capture_output=True)
        entry = json.loads(shown.stdout)
        entries[entry["path"]] = entry
    return entries, seconds


def has_zero_padded_codes(column):
    return column["logical"] == "text" and any(
        value.isdigit() and value.startswith("0") and len(value) > 1 for value, _ in column["top"]
    )


def compare(read, lake, entries):
    done = refused = differing = lost_zeros = 0
    begin = time.perf_counter()
    for path, entry in entries.items():
        try:
            rows, columns, numeric = read(lake / path)
        except Exception:  # any refusal counts, whatever the library calls it
            refused += 1
            continue
        done += 1
        profile = entry["profile"]
        differing += (rows, columns) != (profile["rows"], len(profile["columns"]))
        codes = {column["name"] for column in profile["columns"] if has_zero_padded_codes(column)}
        lost_zeros += bool(codes & numeric)
    return done, refused, differing, lost_zeros, time.perf_counter() - begin


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lake = pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as index:
        entries, seconds = catalogue(sys.argv[1], lake, index)
    entries = {path: entry for path, entry in entries.items() if path.endswith(".csv")}
    print(f"{'reader':12} {'read':>6} {'refused':>8} {'other size':>11} {'lost zeros':>11} {'seconds':>8}")
    print(f"{'lakeward':12} {len(entries):6} {0:8} {0:11} {0:11} {seconds:8.1f}")
    for name, read in (("polars", read_with_polars), ("datafusion", read_with_datafusion)):
        done, refused, differing, lost_zeros, seconds = compare(read, lake, entries)
        print(f"{name:12} {done:6} {refused:8} {differing:11} {lost_zeros:11} {seconds:8.1f}")


if __name__ == "__main__":
    main()
