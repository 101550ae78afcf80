"""Runs stored random plans through the program and compares with the stored results; tests/program/random_plans.rs does the same.

Usage: python scripts/check_plans.py LAKEWARD LAKE FILE [REPORT]

Needs duckdb, to read the Parquet that the program writes. REPORT gets one JSON line for each plan that differs.
"""

import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import duckdb
from plan_results import disagreement, figures

# Rows of a table were left out; a result has no rows.
READ_IN_PART, NO_ROWS = 4, 1


def result(program, lake, plan, out):
    """Names of columns and rows, or what the program says."""
    out.unlink(missing_ok=True)
    done = subprocess.run([program, "--lake", lake, "-q", "plan", "-", "--out", str(out), "--overwrite"], input=json.dumps(plan), capture_output=True, text=True)
    if done.returncode not in (0, READ_IN_PART, NO_ROWS) or not out.exists():
        return None, done.stderr.strip()
    read = duckdb.execute(f"SELECT * FROM read_parquet('{out}')")
    return [column[0] for column in read.description], read.fetchall()


def difference(line, names, rows):
    """What differs from a stored result, or None."""
    if names is None:
        return f"refused: {rows}"
    if names != [name for name, _ in line["columns"]]:
        return f"columns {names}"
    kinds = [kind for _, kind in line["columns"]]
    try:
        return disagreement(line["result"], figures(rows, kinds, line["ordered"]))
    except (TypeError, ValueError) as error:
        return f"another type: {error}"


def main():
    program, lake, file = sys.argv[1:4]
    report = open(sys.argv[4], "w", encoding="utf-8") if len(sys.argv) > 4 else None
    with gzip.open(file, "rt", encoding="utf-8") as packed:
        lines = [json.loads(line) for line in packed]
    differ = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "result.parquet")
        for number, line in enumerate(lines, 1):
            what = difference(line, *result(program, lake, line["plan"], out))
            if what:
                differ[what[:60]] += 1
                if report:
                    report.write(json.dumps({"number": number, "differs": what, **line}, ensure_ascii=False) + "\n")
    print(f"{len(lines) - differ.total()} of {len(lines)} plans agree")
    for what, count in differ.most_common(40):
        print(f"{count:6} {what}")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
