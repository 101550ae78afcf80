#!/usr/bin/env python3
"""Scores `lakeward correlate` and `lakeward features` on targets of the sample lake whose features are known (eval/correlation_targets.jsonl).

    scripts/correlation_targets.py [--program target/release/lakeward] [--lake lake] [--index FOLDER]

Prints a line a target: whether one of the first five columns is one that matters, how many features help a model, and the time; then the shares.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default=str(ROOT / "target/release/lakeward"))
    options.add_argument("--lake", default=str(ROOT / "lake"))
    options.add_argument("--index", default=None)
    given = options.parse_args()
    place = ["--lake", given.lake, *(["--index", given.index] if given.index else []), "--json", "--quiet"]

    def run(command: str, case: dict, *more: str) -> dict:
        arguments = [given.program, command, case["table"], "--target", case["target"], "--key", case["key"], *more, *place]
        done = subprocess.run(arguments, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{arguments}: {done.stderr}")
        return json.loads(done.stdout)

    cases = [json.loads(line) for line in (ROOT / "eval/correlation_targets.jsonl").read_text().splitlines()]
    hits, tried, better = 0, 0, 0
    for case in cases:
        found = run("correlate", case, "-k", "5")
        names = [f"{answer['table']}:{answer['column']}" for answer in found["answers"]]
        hit = any(re.fullmatch(case["matters"], name) for name in names)
        hits += hit
        features = run("features", case, "-k", "3")
        gain = features["gain"]
        if features["features"]:
            tried += 1
            better += gain is not None and gain["gain"] > 0
        shown = f"{gain['without']:.2f} → {gain['with']:.2f} {gain['figure']} [{gain['low']:.2f}, {gain['high']:.2f}]" if gain else "–"
        first = names[0] if names else "–"
        figures = f"{found['elapsed_ms']:.0f} ms, {features['elapsed_ms']:.0f} ms"
        print(f"| {case['table']}:{case['target']} | {'yes' if hit else 'no'} | {first} | {len(features['features'])} | {shown} | {figures} |")
    print(f"\nhit@5 {hits}/{len(cases)}; features were found for {tried}, and a model is better with them for {better}")


if __name__ == "__main__":
    main()
