#!/usr/bin/env python3
"""Writes a table like TPC-H's `lineitem` as folders of Hive: `lineitem.py FOLDER PARTS ROWS [FIRST]`.

FOLDER/part=N/rows.parquet has ROWS rows of 16 columns, for each N from FIRST (0) up to PARTS; the same in every run. 1,000 parts of 6,000 rows
are as many rows as at scale factor 1. Needs numpy and pyarrow.
"""

import sys
from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet

WORDS = numpy.array("carefully quick ironic requests sleep above the final deposits furiously even pinto beans accounts boldly".split())
FLAGS, STATES = numpy.array(["A", "N", "R"]), numpy.array(["F", "O"])
INSTRUCTIONS = numpy.array(["COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"])
MODES = numpy.array(["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"])


def lineitem(number: int, rows: int) -> pyarrow.Table:
    draw = numpy.random.default_rng(number)
    days = lambda: pyarrow.array(draw.integers(8035, 10535, rows).astype("int32")).cast(pyarrow.date32())  # noqa: E731
    whole = lambda most: draw.integers(1, most + 1, rows)  # noqa: E731
    hundredths = lambda most: draw.integers(0, most + 1, rows) / 100  # noqa: E731
    chosen = lambda words: words[draw.integers(0, len(words), rows)]  # noqa: E731
    return pyarrow.table(
        {
            "l_orderkey": ((number * rows + numpy.arange(rows)) // 4 * 3).astype("int64"),
            "l_partkey": whole(200_000),
            "l_suppkey": whole(10_000),
            "l_linenumber": whole(7),
            "l_quantity": whole(50),
            "l_extendedprice": hundredths(10_000_000),
            "l_discount": hundredths(10),
            "l_tax": hundredths(8),
            "l_returnflag": chosen(FLAGS),
            "l_linestatus": chosen(STATES),
            "l_shipdate": days(),
            "l_commitdate": days(),
            "l_receiptdate": days(),
            "l_shipinstruct": chosen(INSTRUCTIONS),
            "l_shipmode": chosen(MODES),
            "l_comment": [" ".join(words) for words in WORDS[draw.integers(0, len(WORDS), (rows, 5))]],
        }
    )


def main() -> None:
    folder, parts, rows = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for number in range(int(sys.argv[4]) if len(sys.argv) > 4 else 0, parts):
        place = folder / f"part={number}"
        place.mkdir(parents=True, exist_ok=True)
        pyarrow.parquet.write_table(lineitem(number, rows), place / "rows.parquet")


if __name__ == "__main__":
    main()
