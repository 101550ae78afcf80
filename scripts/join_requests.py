#!/usr/bin/env python3
"""Scores `lakeward ask` on requests that want columns of one table beside the rows of another (eval/join_requests.jsonl, _b).

    scripts/join_requests.py LAKE [--requests FILE] [--program target/release/lakeward] [--each]

LAKE is an indexed copy of the sample lake. A request counts if its first operation starts from one of the tables listed for it, or from the
one at hand, and joins one of the partners listed; "column" if it also brings one of the columns listed of that partner.
"""

from __future__ import annotations

import argparse
import collections
import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def joins(plan: dict | None) -> list[dict]:
    """The joins of a plan, those of joined tables too."""
    found = []
    for step in (plan or {}).get("steps", []):
        if "join" in step:
            found += [step["join"], *joins(step["join"]["with"])]
    return found


def brings(join: dict, columns: list[str]) -> bool:
    """Whether a join keeps one of the columns, itself or as a figure of the rows of a key."""
    kept = [column["column"] for column in join.get("columns", [])]
    made = [step for step in join["with"].get("steps", []) if "group" in step]
    if made:
        return any(json.dumps(column) in json.dumps(made) for column in columns)
    return not kept or any(column in kept for column in columns)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("lake")
    options.add_argument("--requests", type=Path, default=ROOT / "eval/join_requests.jsonl")
    options.add_argument("--program", default=str(ROOT / "target/release/lakeward"))
    options.add_argument("--each", action="store_true", help="print every request with what was proposed")
    given = options.parse_args()
    counts = collections.defaultdict(collections.Counter)
    for line in given.requests.read_text(encoding="utf-8").splitlines():
        request = json.loads(line)
        command = [given.program, "--lake", given.lake, "ask", request["text"], "--json", "--quiet"]
        command += ["--table", request["table"]] if request["table"] else []
        answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        first = next(iter(json.loads(answer)["operations"] if answer else []), {})
        plan = first.get("runnable")
        source = (plan or {}).get("source", {}).get("table")
        bases = [request["table"]] if request["table"] else request["bases"]
        met = [join for join in joins(plan) if join["with"]["source"].get("table") in request["partners"]]
        of_partner = [join for join in met if brings(join, request["partners"][join["with"]["source"]["table"]])]
        count = counts["at hand" if request["table"] else "to be found"]
        count["all"] += 1
        count["partner"] += source in bases and bool(met)
        right = source in bases and bool(of_partner)
        count["column"] += right
        if given.each:
            print("+" if right else "-", request["table"], request["text"], "->", first.get("reason", "")[:160])
    for name, count in counts.items():
        all_ = count["all"]
        print(f"table {name}: partner {count['partner']} of {all_}, column {count['column']} of {all_} ({count['column'] / all_:.2f})")


if __name__ == "__main__":
    main()
