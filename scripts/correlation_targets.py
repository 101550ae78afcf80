#!/usr/bin/env python3
"""Scores `lakeward correlate` and `lakeward features` on targets whose features are known (eval/correlation_targets.jsonl).

    scripts/correlation_targets.py --sample FOLDER --fivethirtyeight FOLDER [--program target/release/lakeward] [--held-back] [--seed 0]

The folders are copies of the two lakes with an index; they are written to. Prints a line a target: whether one of the first five columns is one
that matters, how many features help a model, and the time; then the shares.

With `--held-back`, three tenths of the things (or the latest times) are taken out of the table before anything is searched, and the
first three proposals are made without them. Models of our own (ridge regression and a small tree of scikit-learn, the better one in folds of what
is left) then predict what was held back, without the features and with them. Beside it stands what could have been: whether one of the ten
columns that go best with the target by the exact join makes that model better by .01 R². Needs pyarrow, numpy and scikit-learn.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEAST = 0.01


class Lake:
    def __init__(self, program: str, folder: str) -> None:
        self.program, self.folder = program, folder

    def run(self, *arguments: str) -> str:
        lake = [self.folder] if arguments[0] == "index" else ["--lake", self.folder]
        done = subprocess.run([self.program, *arguments, *lake, "--quiet"], capture_output=True, text=True)
        # An index that skips files that are no data says so by its status.
        if done.returncode not in (0, 1) and arguments[0] != "index":
            raise SystemExit(f"{arguments}: {done.stderr}")
        return done.stdout

    def about(self, command: str, case: dict, *more: str) -> dict:
        about = [case["table"], "--target", case["target"], "--key", case["key"]]
        return json.loads(self.run(command, *about, *more, "--json"))


def scored(case: dict, lake: Lake) -> tuple[bool, bool, bool]:
    found = lake.about("correlate", case, "-k", "5")
    names = [f"{answer['table']}:{answer['column']}" for answer in found["answers"]]
    hit = any(re.fullmatch(case["matters"], name) for name in names)
    features = lake.about("features", case, "-k", "3")
    gain, any_found = features["gain"], bool(features["features"])
    shown = f"{gain['without']:.2f} → {gain['with']:.2f} {gain['figure']} [{gain['low']:.2f}, {gain['high']:.2f}]" if gain else "–"
    figures = f"{found['elapsed_ms']:.0f} ms, {features['elapsed_ms']:.0f} ms"
    name = f"{case['table']}:{case['target']}"
    print(f"| {name} | {'yes' if hit else 'no'} | {names[0] if names else '–'} | {len(features['features'])} | {shown} | {figures} |", flush=True)
    return hit, any_found, gain is not None and gain["gain"] > 0


def is_held_back(things: list, seed: int) -> list[bool]:
    """Three tenths of the different things, by hash; of times the latest."""
    known = sorted({str(thing) for thing in things})
    if all(re.match(r"\d{4}(-|$)", thing) for thing in known):
        late = set(known[int(0.7 * len(known)):])
    else:
        late = {thing for thing in known if hashlib.sha256(f"{seed} {thing}".encode()).digest()[0] < 77}
    return [str(thing) in late for thing in things]


def held_back(case: dict, lake: Lake, seed: int) -> tuple[str, float, float | None, int]:
    """The verdict, and what the proposals and the best single column add to R² of what was held back."""
    import numpy as np
    import pyarrow.parquet as pq
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import cross_val_predict
    from sklearn.tree import DecisionTreeRegressor

    work = Path(tempfile.mkdtemp())
    quoted = case["table"].replace('"', '""')
    lake.run("sql", f'SELECT * FROM "{quoted}"', "--out", str(work / "all.parquet"))
    rows = pq.read_table(work / "all.parquet")
    file = next(Path(lake.folder).glob(f"{case['table']}.*sv"))
    original = file.read_bytes()
    # The thing decides; of a pair with a time it is the one that is no time.
    keys = case["key"].split(",")
    held = is_held_back(rows.column(keys[-1] if keys[-1] in ("player", "name") else keys[0]).to_pylist(), seed)
    try:
        with file.open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(rows.column_names)
            writer.writerows([row[name] for name in rows.column_names] for row, late in zip(rows.to_pylist(), held) if not late)
        lake.run("index")
        proposed = lake.about("features", case, "-k", "3")
        could = lake.about("features", case, "-k", "10", "--seconds", "0")
    finally:
        file.write_bytes(original)
        lake.run("index")

    def columns(found: dict) -> dict[str, list]:
        names = [feature["name"] for feature in found["features"]]
        (work / "plan.json").write_text(json.dumps(found["plan"]))
        lake.run("plan", str(work / "plan.json"), "--out", str(work / "made.parquet"), "--overwrite")
        made = pq.read_table(work / "made.parquet")
        assert made.column(case["target"]).to_pylist() == rows.column(case["target"]).to_pylist(), "rows moved"
        return {name: made.column(name).to_pylist() for name in names}

    late = np.array(held)
    target = np.array([np.nan if value is None else float(value) for value in rows.column(case["target"]).to_pylist()])
    known = ~np.isnan(target)

    def matrix(parts: list[list]) -> np.ndarray:
        made = [np.zeros(len(target))]
        for part in parts:
            if all(value is None or isinstance(value, (int, float)) for value in part):
                numbers = np.array([np.nan if value is None else float(value) for value in part])
                seen = numbers[known & ~late]
                mean, spread = (np.nanmean(seen), np.nanstd(seen)) if (~np.isnan(seen)).any() else (0.0, 1.0)
                made.append(np.where(np.isnan(numbers), 0.0, (numbers - mean) / (spread or 1.0)))
                if np.isnan(numbers).any():
                    made.append(np.isnan(numbers).astype(float))
            else:
                texts = [str(value) for value in part]
                made += [np.array([text == label for text in texts], float) for label in sorted(set(texts), key=texts.count)[-8:]]
        return np.column_stack(made)

    def r2(parts: list[list]) -> float:
        x, train, test = matrix(parts), known & ~late, known & late
        models = [Ridge(alpha=1.0), DecisionTreeRegressor(max_depth=4, min_samples_leaf=5, random_state=0)]
        folds = [((cross_val_predict(model, x[train], target[train], cv=5) - target[train]) ** 2).sum() for model in models]
        model = models[int(np.argmin(folds))].fit(x[train], target[train])
        errors = ((model.predict(x[test]) - target[test]) ** 2).sum()
        return 1.0 - errors / ((target[train].mean() - target[test]) ** 2).sum()

    own = [rows.column(name).to_pylist() for name in proposed["given"]]
    without = r2(own)
    best = max((r2([*own, part]) - without for part in columns(could).values()), default=None)
    added = list(columns(proposed).values())
    gain = r2([*own, *added]) - without if added else 0.0
    return f"{without:.2f}", gain, best, len(added)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default=str(ROOT / "target/release/lakeward"))
    options.add_argument("--sample", required=True)
    options.add_argument("--fivethirtyeight", required=True)
    options.add_argument("--held-back", action="store_true")
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    lakes = {name: Lake(given.program, getattr(given, name)) for name in ("sample", "fivethirtyeight")}
    cases = [json.loads(line) for line in (ROOT / "eval/correlation_targets.jsonl").read_text().splitlines()]
    if given.held_back:
        can = better = both = 0
        for case in cases:
            without, gain, best, added = held_back(case, lakes[case["lake"]], given.seed)
            is_better, is_able = gain > 0, best is not None and best >= LEAST
            can, better, both = can + is_able, better + is_better, both + (is_better and is_able)
            shown = "–" if best is None else f"{best:+.2f}"
            print(f"| {case['table']}:{case['target']} | {without} | {added} | {gain:+.2f} | {shown} |", flush=True)
        print(f"\nsomething can help: {can}; the proposals help there: {both} ({both / max(1, can):.2f}); they help in all: {better}")
        return
    for name, lake in lakes.items():
        results = [scored(case, lake) for case in cases if case["lake"] == name]
        hits, tried, better = (sum(column) for column in zip(*results))
        print(f"\n{name}: hit@5 {hits}/{len(results)}; features were found for {tried}, and a model is better with them for {better}\n")


if __name__ == "__main__":
    main()
