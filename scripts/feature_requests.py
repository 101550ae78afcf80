#!/usr/bin/env python3
"""Scores `lakeward ask` on requests that want features for a column of a table at hand (eval/feature_requests.jsonl).

    scripts/feature_requests.py --sample FOLDER --fivethirtyeight FOLDER [--program target/release/lakeward] [--each]

The two lakes are indexed copies. A request counts if the first partner of the first operation is one of those listed for it and brings a
column that is wanted. Every first operation is carried out: the table must keep its rows and, in the same order of values, its target.
Needs pyarrow.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]


def run(program: str, lake: str, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run([program, *arguments, "--lake", lake, "--quiet"], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def joins(plan: dict | None) -> list[dict]:
    steps = plan["steps"] if plan else []
    return [step["join"] for step in steps if "join" in step]


def columns(join: dict) -> list[str]:
    """The columns of the partner that a join brings."""

    def named(expression: object) -> list[str]:
        if isinstance(expression, dict):
            own = [expression["column"]] if isinstance(expression.get("column"), str) else []
            return own + [name for part in expression.values() for name in named(part)]
        return [name for part in expression for name in named(part)] if isinstance(expression, list) else []

    return [kept["column"] for kept in join.get("columns", [])] + named(join["with"].get("steps", []))


def sorted_target(rows, name: str) -> list[str]:
    return sorted(str(value) for value in rows.column(name).to_pylist())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default=str(ROOT / "target/release/lakeward"))
    options.add_argument("--sample", required=True)
    options.add_argument("--fivethirtyeight", required=True)
    options.add_argument("--requests", type=Path, default=ROOT / "eval/feature_requests.jsonl", help="eval/feature_requests_b.jsonl is by another writer")
    options.add_argument("--each", action="store_true", help="print each request")
    given = options.parse_args()
    lakes = {"sample": given.sample, "fivethirtyeight": given.fivethirtyeight}
    counts: dict[str, int] = {}
    folder = Path(tempfile.mkdtemp())
    cases = [json.loads(line) for line in given.requests.read_text().splitlines()]
    for number, case in enumerate(cases):
        lake, table = lakes[case["lake"]], case["table"]
        code, answer, error = run(given.program, lake, "ask", case["text"], "--table", table, "--json")
        if code not in (0, 1):
            raise SystemExit(f"{case['text']}: {error}")
        answer = json.loads(answer)
        first = answer["operations"][0] if answer["operations"] else {}
        made = joins(first.get("runnable"))
        partners = [join["with"]["source"].get("table", "") for join in made]
        is_partner = [re.fullmatch(case["partner"], partner) is not None for partner in partners]
        # All columns come where none is named; those of one partner may come by several joins.
        has = [not join.get("columns") or any(re.fullmatch(case["columns"], name) for name in columns(join)) for join in made]
        hit = bool(made) and is_partner[0] and any(of == partners[0] and wanted for of, wanted in zip(partners, has))
        within = any(partner and column for partner, column in zip(is_partner, has))
        verdict = {"hit": hit, "hit_within": within, "runnable": first.get("runnable") is not None}
        if first.get("runnable") is not None:
            out, before = folder / f"{number}.parquet", folder / f"{number}.base.parquet"
            code, _, error = run(given.program, lake, "ask", case["text"], "--table", table, "--run", "1", "--out", str(out))
            verdict["ran"] = code in (0, 1) and out.exists()
            if verdict["ran"]:
                quoted = case["table"].replace('"', '""')
                code, _, error = run(given.program, lake, "sql", f'SELECT * FROM "{quoted}"', "--out", str(before))
                rows, base = pq.read_table(out), pq.read_table(before)
                verdict["rows_kept"] = rows.num_rows == base.num_rows
                target = case["target"]
                verdict["target_kept"] = target in rows.column_names and (
                    rows.num_rows != base.num_rows or sorted_target(rows, target) == sorted_target(base, target))
                verdict["multiplied"] = rows.num_rows > base.num_rows
            elif given.each:
                print(error)
        for name, value in verdict.items():
            counts[name] = counts.get(name, 0) + value
        if given.each:
            signals = answer["signals"]
            intention, operation = signals["intention"], signals["operation"]
            print(f"{number} {'+' if hit else '(+)' if within else '-'} {table}: {case['text']}")
            print(f"    {operation['label']} {operation['confidence']:.2f} {intention['label']} {intention['confidence']:.2f}; {first.get('kind')} {partners} {[c for j in made for c in columns(j)][:8]}")
            print(f"    {verdict} {answer['elapsed_ms']:.0f} ms")
    share = lambda name: f"{counts.get(name, 0)} of {len(cases)} ({counts.get(name, 0) / len(cases):.2f})"
    print(f"first partner has the wanted columns: {share('hit')}; some partner has: {share('hit_within')}")
    print(f"can be carried out: {share('runnable')}; ran: {share('ran')}; rows kept: {share('rows_kept')}; target kept: {share('target_kept')}; rows multiplied: {share('multiplied')}")


if __name__ == "__main__":
    main()
