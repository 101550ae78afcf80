#!/usr/bin/env python3
"""Usage: python3 scripts/check_sample_benchmark.py

Checks eval/sample against the lake and reports what is wrong, one line each:
tables that do not exist, queries without a file, a column or an answer,
requests that stand in labels/ too, grades that do not follow from the figures
of join_pairs.tsv, and figures that the tables do not bear out. It reads the
lake by itself, not with Lakeward. It needs Python 3.11 and pyarrow.
"""

import csv
import gzip
import io
import json
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow.parquet

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "eval" / "sample"
ENDINGS = (".csv.gz", ".ndjson.gz", ".csv", ".tsv", ".txt", ".ndjson", ".parquet")
OPERATIONS = {"Filter", "Join", "Union", "Aggregate", "Clarify"}
INTENTIONS = {"Exploration", "Prediction", "Integration", "Summarization"}


def fold(value: str) -> str:
    """Lower case, no accents, no punctuation; whole numbers without leading zeros."""
    value = unicodedata.normalize("NFKD", value)
    value = "".join(c for c in value if not unicodedata.combining(c)).lower()
    value = re.sub(r"[\W_]+", " ", value.replace("'", "").replace("’", "")).strip()
    value = re.sub(r"^(\d+) 0$", r"\1", value)
    return (value.lstrip("0") or "0") if value.isdigit() else value


def read(path: Path) -> dict[str, list[str]]:
    """Columns of a table; a title above the header ends with an empty line."""
    if path.name.endswith(".parquet"):
        columns = pyarrow.parquet.read_table(path).to_pydict()
        return {k: ["" if v is None else str(v) for v in vs] for k, vs in columns.items()}
    raw = gzip.decompress(path.read_bytes()) if path.name.endswith(".gz") else path.read_bytes()
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = raw.decode("utf-16")
    else:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("cp1252")
    lines = text.splitlines()
    if ".ndjson" in path.name:
        rows = [json.loads(line) for line in lines if line.strip()]
        return {k: ["" if r.get(k) is None else str(r[k]) for r in rows] for k in rows[0]}
    start = max((i + 1 for i, line in enumerate(lines[:8]) if not line.strip(" ,;")), default=0)
    sample = lines[start : start + 50]
    delimiter = max(",;\t|", key=lambda d: 100 * sum(d in line for line in sample) + sample[0].count(d))
    header, *rows = [r for r in csv.reader(io.StringIO("\n".join(lines[start:])), delimiter=delimiter) if r]
    names = [h if header.count(h) == 1 else f"{h}_{i}" for i, h in enumerate(header)]
    return {h: [r[i] if i < len(r) else "" for r in rows] for i, h in enumerate(names)}


def tables(lake: Path) -> dict[str, Path]:
    found = {}
    for path in sorted(lake.rglob("*")):
        ending = next((e for e in ENDINGS if path.name.endswith(e)), None)
        if path.is_file() and ending:
            found[path.relative_to(lake).as_posix().removesuffix(ending)] = path
    return found


def tsv(name: str) -> list[dict[str, str]]:
    with open(BENCH / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def check_queries(queries: list[dict], grades: dict, lake: dict[str, Path]) -> list[str]:
    wrong = []
    labelled = {
        " ".join(fold(json.loads(line).get("text", "")).split())
        for file in ("requests.jsonl", "hard_requests.jsonl")
        for line in (ROOT / "labels" / file).read_text(encoding="utf-8").splitlines()
    }
    seen = Counter(fold(q["text"]) for q in queries if "text" in q) + Counter(q["id"] for q in queries)
    wrong += [f"twice: {text}" for text, n in seen.items() if n > 1]
    for query in queries:
        name, judged = query["id"], grades.get(query["id"], {})
        wrong += [f"{name}: no such table {t}" for t in judged if t not in lake]
        if (max(judged.values(), default=0) > 0) == (query.get("answer") == "none"):
            wrong.append(f"{name}: positives and mark disagree")
        if fold(query.get("text", "-")) in labelled:
            wrong.append(f"{name}: stands in labels/ too")
        if query["labels"].startswith("requests") and not (
            query["operation"] in OPERATIONS and query["intention"] in INTENTIONS
        ):
            wrong.append(f"{name}: unknown operation or intention")
        if "table" in query:
            path = BENCH / query["table"]
            header = read(path) if path.is_file() else {}
            needed = query.get("columns", [query["column"]] if "column" in query else [])
            wrong += [f"{name}: no column {c}" for c in needed if c not in header]
            if not header:
                wrong.append(f"{name}: no rows")
    return wrong


def check_pair(pair: dict, query: dict, columns: dict[str, list[str]], spell: dict) -> list[str]:
    """The figures of one query column and one lake column, counted again."""

    def entities(cells: list[list[str]], where: str) -> list[tuple]:
        domain = f"day/{where}" if pair["domain"] == "day" else pair["domain"]
        return [(spell.get((domain, fold(r[0])), fold(r[0])), *map(fold, r[1:])) for r in cells]

    asked = read(BENCH / query["table"])
    keys = query.get("columns", [query["column"]]) if pair["note"] == "pair" else [query["column"]]
    wanted = pair["column"].split("+") if pair["note"] == "pair" else [pair["column"]]
    if any(c not in columns for c in wanted):
        return [f"{pair['query']} {pair['table']}: no column {pair['column']}"]
    left = [list(r) for r in zip(*(asked[k] for k in keys)) if r[0].strip()]
    right = [list(map(str.strip, r)) for r in zip(*(columns[c] for c in wanted)) if r[0].strip()]
    want = {fold(r[0]) for r in left}
    counted = {"folded": len(want & {fold(r[0]) for r in right}) / len(want)}
    if pair["domain"]:
        exact = {r[0] for r in left}
        sought = set(entities(left, "query"))
        rows = Counter(e for e in entities(right, pair["table"]) if e in sought)
        counted["exact"] = len(exact & {r[0] for r in right}) / len(exact)
        counted["entities"] = len(rows) / len(sought)
        counted["once"] = sum(n == 1 for n in rows.values()) / len(rows) if rows else 0.0
    return [
        f"{pair['query']} {pair['table']} {pair['column']}: {figure} {pair[figure]}, counted {value:.3f}"
        for figure, value in counted.items()
        if abs(float(pair[figure]) - value) > 0.002
    ]


def main() -> int:
    lake = tables((BENCH / json.loads((BENCH / "benchmark.json").read_text())["lake"]).resolve())
    queries = [json.loads(line) for line in (BENCH / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (BENCH / "qrels.txt").read_text().splitlines():
        query, _, table, grade = line.split()
        grades[query][table] = int(grade)
    wrong = check_queries(queries, grades, lake)
    wrong += [f"qrels: no query {q}" for q in grades.keys() - {q["id"] for q in queries}]
    named, spell, opened = {q["id"]: q for q in queries}, {}, {}
    for row in tsv("spellings.tsv"):
        spell[row["domain"], row["spelling"]] = row["entity"]
    best: dict[tuple[str, str], int] = defaultdict(int)
    pairs = tsv("join_pairs.tsv")
    for pair in pairs:
        key = pair["query"], pair["table"]
        best[key] = max(best[key], int(pair["grade"]))
        if int(pair["grade"]) > 0 and float(pair["entities"]) < 0.3:
            wrong.append(f"{' '.join(key)}: a positive below .3")
        if pair["form"] != "by hand" and pair["table"] in lake:
            columns = opened.get(pair["table"]) or read(lake[pair["table"]])
            opened[pair["table"]] = columns
            wrong += check_pair(pair, named[pair["query"]], columns, spell)
    joins = {(q, t): g for q, judged in grades.items() if named[q]["task"] == "join" for t, g in judged.items()}
    for key in sorted(joins.keys() | best.keys()):
        if joins.get(key) != best.get(key):
            wrong.append(f"{' '.join(key)}: grade {joins.get(key)} in qrels, {best.get(key)} in pairs")
    judged = sum(map(len, grades.values()))
    print("\n".join(wrong) or f"{len(queries)} queries, {judged} judgements, {len(pairs)} pairs: nothing wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
