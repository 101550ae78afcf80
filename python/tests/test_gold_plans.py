"""The queries of an outcome benchmark as plans: how many can be expressed, and whether their results are the stored ones.

Runs where LAKEWARD_BENCH names the folder of the benchmarks: this one in outcomes/ (tasks.jsonl, gold/, score_outcomes.py), the second lake
in scale/.
LAKEWARD_PROGRAM names the program; by default the one that `cargo build --release` makes. With LAKEWARD_BENCH_REPORT the queries that
have no plan or another result are written to that file, one JSON line each. Nothing of the benchmark is in this repository.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(os.environ.get("LAKEWARD_BENCH", ""))
REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("LAKEWARD_PROGRAM", str(REPOSITORY / "target/release/lakeward"))
# Rows of a table were left out; a result has no rows.
READ_IN_PART, NO_ROWS = 4, 1
# Parts of all queries that the plan language has to express, and of those with the stored result.
LEAST_EXPRESSED = 0.97
LEAST_EQUAL = 0.97

pytestmark = pytest.mark.skipif(not (BENCH / "outcomes/tasks.jsonl").exists(), reason="LAKEWARD_BENCH names no folder with outcomes/")


def program(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True, check=False)


class Lake:
    """A lake with its index, and the columns of its tables."""

    def __init__(self, folder: Path, index: Path) -> None:
        self.options = ["--lake", str(folder), "--index", str(index), "-q"]
        self.known: dict[str, list[str]] = {}

    def columns(self, table: str) -> list[str]:
        if table not in self.known:
            quoted = table.replace('"', '""')
            done = program(*self.options, "sql", f'SELECT * FROM "{quoted}" WHERE false', "--format", "json")
            self.known[table] = [column["name"] for column in json.loads(done.stdout)["columns"]] if done.stdout else []
        return self.known[table]

    def run(self, plan: dict[str, Any], out: Path) -> str | None:
        """Writes the plan's result; what the program says where there is none."""
        out.unlink(missing_ok=True)
        done = program(*self.options, "plan", "-", "--out", str(out), "--overwrite", text=json.dumps(plan))
        fits = done.returncode in (0, READ_IN_PART, NO_ROWS) and out.exists()
        return None if fits else done.stderr.strip()


def indexed(folder: Path, index: Path) -> Lake:
    if not (index / "manifest.json").exists():
        done = program("--lake", str(folder), "--index", str(index), "-q", "index")
        assert done.returncode in (0, READ_IN_PART), done.stderr
    return Lake(folder, index)


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Lake]:
    folder = tmp_path_factory.mktemp("lakes")
    second = folder / "fivethirtyeight"
    second.mkdir()
    packed = BENCH / "scale/fivethirtyeight.tar.zst"
    subprocess.run(["tar", "--zstd", "-xf", str(packed), "-C", str(second)], check=True)
    return {"sample": indexed(REPOSITORY / "lake", folder / "sample-index"), "fivethirtyeight": indexed(second, folder / "second-index")}


def scorer(folder: Path) -> Any:
    spec = importlib.util.spec_from_file_location("score_outcomes", folder / "score_outcomes.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_gold_queries_are_plans(lakes: dict[str, Lake], tmp_path: Path) -> None:
    pytest.importorskip("sqlglot")
    from gold_plans import NoPlan, Translator

    folder = BENCH / "outcomes"
    score = scorer(folder)
    counts: Counter[str] = Counter()
    report = []
    for line in (folder / "tasks.jsonl").read_text(encoding="utf-8").splitlines():
        task = json.loads(line)
        lake = lakes[task["lake"]]
        for number, turn in enumerate(task["turns"], 1):
            golds = [(turn["sql"], f"{task['id']}-{number}.csv")] if turn.get("sql") else []
            golds += [(sql, f"{task['id']}-{number}.alt{place}.csv") for place, sql in enumerate(turn.get("accept", []), 1)]
            for sql, gold in golds:
                counts["queries"] += 1
                plan = None
                try:
                    plan = Translator(lake.columns).plan(sql)
                except NoPlan as lacks:
                    reason = f"no plan: {lacks}"
                else:
                    counts["expressed"] += 1
                    out = tmp_path / "result.csv"
                    reason = lake.run(plan, out)
                    if reason is None:
                        tables = score.Table.read(folder / "gold" / gold), score.Table.read(out)
                        by = turn.get("by") if turn.get("by") and all(name in tables[0].names for name in turn["by"]) else None
                        if score.equal(*tables, False, turn.get("ordered", False), by):
                            counts["equal"] += 1
                            continue
                        reason = f"another result: {tables[1].rows} rows for {tables[0].rows}"
                report.append({"gold": gold, "reason": reason, "sql": sql, "plan": plan})
    if os.environ.get("LAKEWARD_BENCH_REPORT"):
        lines = [json.dumps(one, ensure_ascii=False) + "\n" for one in report]
        Path(os.environ["LAKEWARD_BENCH_REPORT"]).write_text("".join(lines), encoding="utf-8")
    shown = f"{counts['queries']} queries, {counts['expressed']} expressed, {counts['equal']} with the stored result\n"
    shown += "\n".join(f"{one['gold']}: {one['reason']}" for one in report)
    print(shown)
    assert counts["expressed"] >= LEAST_EXPRESSED * counts["queries"], shown
    assert counts["equal"] >= LEAST_EQUAL * counts["queries"], shown
