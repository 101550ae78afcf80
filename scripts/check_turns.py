#!/usr/bin/env python3
"""Checks labels/turns/*.jsonl against the rules of labels/turns/README.md and counts what is in them.

usage: check_turns.py [FILE ...]      all files of labels/turns by default

Prints one line for each fault (file, line, what) and exits with 1 where there is any. Python standard library only; with pyarrow,
columns of Parquet tables are checked as well.
"""
import collections
import csv
import gzip
import json
import pathlib
import re
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ACTS = "refine correct retract new undo redo pick ask more fewer accept reject run chat unclear compare".split()
ROLES = {
    "value": {"col", "op", "val", "part"}, "test": {"col", "op"}, "compare": {"col", "op", "col2"},
    "distinct": {"col"}, "limit": {"n"}, "show": {"col"}, "hide": {"col"}, "column": {"col"},
    "group": {"col", "part"}, "measure": {"fn", "col", "by"}, "order": {"col", "dir"},
    "derive": {"fn", "col", "n", "by", "part"}, "table": {"how", "val"}, "add": set(), "key": {"col"},
    "old": {"fn", "col", "val", "dir", "n", "part", "op"}, "steps": {"n"}, "answer": {"n"}, "topic": {"not"},
    **{role: {"not", "op"} for role in "place period grain publisher format frequency licence status".split()},
}
NEEDED = {
    "value": {"col"}, "test": {"col", "op"}, "compare": {"col", "op", "col2"}, "limit": {"n"}, "show": {"col"},
    "hide": {"col"}, "column": {"col"}, "group": {"col"}, "measure": {"fn"}, "order": {"dir"}, "derive": {"fn"},
    "table": {"how"}, "key": {"col"}, "steps": {"n"}, "answer": {"n"},
}
SETS = {
    ("value", "op"): "= != < <= > >= contains starts ends", ("test", "op"): "missing present yes no",
    ("compare", "op"): "= != < <= > >=", ("order", "dir"): "asc desc", ("table", "how"): "join union semi anti source",
    ("measure", "fn"): "count count_distinct sum mean median min max std share quantile correlation at_max at_min first last",
    ("derive", "fn"): "minus plus times ratio percent rate share change running rank bin part",
}
PARTS = "year month day weekday quarter hour decade".split()
SPAN = re.compile(r"\[([^\[\]|]+)\|([^\[\]]*)\]")


def header(table):
    """The columns of a table of the sample lake, or None where this script cannot read it."""
    for path in (ROOT / "lake").joinpath(table).parent.glob(pathlib.PurePath(table).name + ".*"):
        name = path.name[len(pathlib.PurePath(table).name):]
        if name == ".parquet":
            try:
                import pyarrow.parquet
            except ImportError:
                return None
            return pyarrow.parquet.read_schema(path).names
        opener = gzip.open if name.endswith(".gz") else open
        with opener(path, "rt", encoding="utf-8", errors="replace") as lines:
            first = [line for _, line in zip(range(40), lines)]
        if "json" in name:
            return list(json.loads(first[0]))
        if name.startswith((".csv", ".tsv", ".txt")):
            # Lines before the header and other delimiters: every cell of the first lines may be a name.
            cells = set()
            for delimiter in ",;\t|":
                cells |= {cell.strip().lstrip("\ufeff") for row in csv.reader(first, delimiter=delimiter) for cell in row}
            return sorted(cells)
    return []


def attributes(text):
    """`role a=b c="d e"` as the role and a dictionary."""
    words = shlex.split(text.replace("'", "\\'"))
    if not words:
        raise ValueError("a span without a role")
    pairs = {}
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"`{word}` is no attribute")
        pairs[name] = value
    return words[0], pairs


def spans(marked):
    """The plain text and the spans as (from, to, role, attributes), counted in characters of the plain text."""
    text, found, at = "", [], 0
    for match in SPAN.finditer(marked):
        text += marked[at:match.start()]
        start = len(text)
        text += match[1]
        found.append((start, len(text), *attributes(match[2])))
        at = match.end()
    text += marked[at:]
    if "[" in text or "]" in text:
        raise ValueError("a bracket that is no span")
    return text, found


def check_turn(turn, columns):
    faults = []
    acts = turn.get("act", "").split()
    if not 1 <= len(acts) <= 2 or any(act not in ACTS for act in acts):
        faults.append(f"act `{turn.get('act')}`")
    if turn.get("on") not in (None, "result"):
        faults.append("`on` is `result` or left out")
    try:
        text, found = spans(turn["m"])
    except (ValueError, KeyError) as error:
        return [*faults, f"m: {error}"], []
    if not text.strip():
        faults.append("no text")
    for start, end, role, pairs in found:
        if role not in ROLES:
            faults.append(f"role `{role}`")
            continue
        where = f"[{text[start:end]}|{role}]"
        if text[start:end] != text[start:end].strip():
            faults.append(f"{where}: blanks at its ends")
        for name in pairs.keys() - ROLES[role]:
            faults.append(f"{where}: attribute `{name}`")
        for name in NEEDED.get(role, set()) - pairs.keys():
            faults.append(f"{where}: `{name}` is missing")
        for name, value in pairs.items():
            if (role, name) in SETS and value not in SETS[role, name].split():
                faults.append(f"{where}: {name}={value}")
            if name == "part" and value not in PARTS:
                faults.append(f"{where}: part={value}")
            if name in ("n",) and not re.fullmatch(r"-?[\d.]+", value):
                faults.append(f"{where}: n={value}")
            if name in ("col", "col2", "by") and columns is not None:
                known = value == "?" or value in columns or role in ("value", "order", "compare", "measure", "hide", "old", "derive", "column", "show", "group")
                for one in [value] if value in columns else value.split(","):
                    if one != "?" and one not in columns and (not known or not re.fullmatch(r"[a-z_]+[A-Za-z_0-9 ./()$%-]*", one)):
                        faults.append(f"{where}: column `{one}` is not in the table")
    return faults, found


def main(paths):
    faults, totals, headers = 0, collections.Counter(), {}
    for path in paths or sorted((ROOT / "labels/turns").glob("*.jsonl")):
        columns, counts, seen = None, collections.Counter(), None
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            if not line.strip():
                continue
            try:
                item = json.loads(line)
            except ValueError as error:
                print(f"{path}:{number}: no JSON: {error}")
                faults += 1
                continue
            wrong = []
            if "t" not in item:
                seen = item.get("c")
                counts["conversations"] += 1
                if "columns" in item:
                    columns = [column.split("=")[0].rpartition(":")[0] for column in item["columns"]]
                    for column in item["columns"]:
                        if column.split("=")[0].rpartition(":")[2] not in ("text", "integer", "number", "date", "boolean"):
                            wrong.append(f"type of `{column}`")
                elif item.get("table"):
                    if item["table"] not in headers:
                        headers[item["table"]] = header(item["table"])
                    columns = headers[item["table"]]
                    if columns == []:
                        wrong.append(f"no table `{item['table']}`")
                else:
                    columns = None
            else:
                if item.get("c") != seen:
                    wrong.append("a turn of another conversation")
                problems, found = check_turn(item, columns)
                wrong += problems
                counts["turns"] += 1
                counts.update(f"act {act}" for act in item.get("act", "").split())
                counts.update(f"role {span[2]}" for span in found)
            for fault in wrong:
                print(f"{path}:{number}: {fault}")
            faults += len(wrong)
        print(path, dict(sorted(counts.items())))
        totals.update(counts)
    print("all", dict(sorted(totals.items())))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main([pathlib.Path(argument) for argument in sys.argv[1:]]))
