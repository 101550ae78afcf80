#!/usr/bin/env python3
"""Measures correlation search on made lakes whose truth is known, beside plain baselines.

    scripts/correlation_benchmark.py [--program target/release/lakeward] [--seeds 5] [--tables 400] [--columns 50] [--keys 8000]
                                     [--levels N] [--folder FOLDER]

Needs numpy, scipy and pyarrow. Each lake has `tables` tables with a key and `columns` columns of figures; every table has a random part, from
1% to all, of the keys of a table with a target, and keys of its own. 100 columns go with the target, the rest do not; half of all columns
and the target have heavy tails. The truth is the 40 columns that were made with the greatest correlation. Prints a table for eval/correlation.md.

Baselines, all from the same tables: `quadrant bit`, the first 256 rows of each table in their order and the share that lies on the same side
of both means (BLEND); `Pearson sketch`, r of the values of the 1,024 keys of smallest hash (correlation sketches), by size; `overlap`, the
number of shared keys; `exact join`, ρ of all shared keys, by size: what a search without an index could do at best.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.stats import rankdata

TRUE, WANTED, SKETCH, BLEND_ROWS = 100, 40, 1024, 256


def made_lake(folder: Path, seed: int, tables: int, columns: int, keys: int, levels: int | None):
    """Writes a lake; gives the target by key, what each table has, and the correlation that each column was made with."""
    draw = np.random.default_rng(seed)
    latent = draw.standard_normal(keys)
    target = np.exp(1.5 * latent)
    names = np.array([f"unit {number}" for number in draw.permutation(10 * keys)[: 2 * keys]])
    pq.write_table(pa.table({"unit": names[:keys], "target": target}), folder / "base.parquet")
    strengths = np.zeros((tables, columns))
    places = draw.choice(tables * columns, TRUE, replace=False)
    signs = draw.choice([-1.0, 1.0], TRUE)
    strengths.ravel()[places] = signs * draw.uniform(0.2, 0.9, TRUE)
    made = []
    for table in range(tables):
        shared = draw.permutation(keys)[: max(1, int(keys * draw.uniform(0.01, 1)))]
        own = keys + draw.permutation(keys)[: int(draw.integers(0, keys // 4))]
        has = draw.permutation(np.concatenate([shared, own]))
        inside = has < keys
        z = np.where(inside, latent[np.minimum(has, keys - 1)], draw.standard_normal(len(has)))
        noise = draw.standard_normal((len(has), columns))
        rho = strengths[table]
        values = rho * z[:, None] + np.sqrt(1 - rho**2) * noise
        heavy = np.arange(columns) % 2 == 1
        values[:, heavy] = np.exp(1.5 * values[:, heavy])
        if levels:
            values = np.floor(rankdata(values, axis=0) * levels / (len(has) + 1)) + 0.25
        data = {"unit": names[has], **{f"figure_{number}": values[:, number] for number in range(columns)}}
        pq.write_table(pa.table(data), folder / f"table_{table:04}.parquet")
        made.append((has, values))
    return target, made, strengths


def correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """r of `x` with each column of `y`."""
    if len(x) < 25:
        return np.zeros(y.shape[1])
    dx, dy = x - x.mean(), y - y.mean(axis=0)
    below = np.sqrt((dx**2).sum() * (dy**2).sum(axis=0))
    return np.divide(dx @ dy, below, out=np.zeros(y.shape[1]), where=below > 0)


def baselines(target: np.ndarray, made, seed: int) -> dict[str, np.ndarray]:
    """The score of each column by each baseline."""
    keys = len(target)
    hashes = np.random.default_rng(1_000 + seed).permutation(2 * keys)
    own = np.argsort(hashes[:keys])[:SKETCH]
    scores = {name: [] for name in ("quadrant bit", "Pearson sketch", "overlap", "exact join")}
    above = target > target.mean()
    for has, values in made:
        shared = has < keys
        rho = correlations(rankdata(target[has[shared]]), rankdata(values[shared], axis=0)) if shared.sum() >= 25 else None
        scores["exact join"].append(np.abs(rho) if rho is not None else np.zeros(values.shape[1]))
        scores["overlap"].append(np.full(values.shape[1], float(shared.sum())))
        first, rows = has[:BLEND_ROWS], values[:BLEND_ROWS]
        both = first < keys
        agree = above[first[both]][:, None] == (rows[both] > values.mean(axis=0))
        scores["quadrant bit"].append(np.abs(2 * agree.sum(axis=0) - both.sum()))
        theirs = np.argsort(hashes[has])[:SKETCH]
        common = np.isin(has[theirs], own)
        places = theirs[common]
        scores["Pearson sketch"].append(np.abs(correlations(target[has[places]], values[places])))
    return {name: np.array(parts) for name, parts in scores.items()}


def recall(ranked: list[int], truth: set[int], first: int) -> float:
    return len(truth & set(ranked[:first])) / len(truth)


def run(program: str, *arguments: object) -> str:
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{arguments}: {done.stderr}")
    return done.stdout


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default="target/release/lakeward")
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--tables", type=int, default=400)
    options.add_argument("--columns", type=int, default=50)
    options.add_argument("--keys", type=int, default=8_000)
    options.add_argument("--levels", type=int, default=None, help="round figures to so many values: a smaller index, to measure the time of many columns")
    options.add_argument("--folder", type=Path, default=None)
    given = options.parse_args()
    found: dict[str, list[tuple[float, float]]] = {}
    costs = []
    for seed in range(given.seeds):
        folder = Path(tempfile.mkdtemp(dir=given.folder))
        target, made, strengths = made_lake(folder, seed, given.tables, given.columns, given.keys, given.levels)
        base = folder.parent / f"{folder.name}.parquet"
        (folder / "base.parquet").rename(base)
        order = np.argsort(-np.abs(strengths.ravel()))
        truth, real = set(order[:WANTED].tolist()), set(order[:TRUE].tolist())
        for name, scores in baselines(target, made, seed).items():
            ranked = np.argsort(-scores.ravel(), kind="stable").tolist()
            found.setdefault(name, []).append((recall(ranked, truth, 40), recall(ranked, truth, 100)))
        del made
        started = time.time()
        run(given.program, "index", folder, "--fast", "--quiet")
        indexing = time.time() - started
        sizes = {file.name: file.stat().st_size for file in folder.rglob("*.seg")}
        arguments = ("correlate", base, "--target", "target", "--key", "unit", "-k", 500, "--json", "--lake", folder)
        run(given.program, *arguments)
        answer = json.loads(run(given.program, *arguments))
        place = lambda row: int(row["table"].rsplit("_", 1)[1]) * given.columns + int(row["column"].rsplit("_", 1)[1])
        ranked = [place(row) for row in answer["answers"]]
        found.setdefault("Lakeward", []).append((recall(ranked, truth, 40), recall(ranked, truth, 100)))
        sure = [row for row in answer["answers"] if row["false_discovery_rate"] <= 0.05]
        false = sum(place(row) not in real for row in sure)
        search_ms = answer["elapsed_ms"]
        few = (*arguments[:6], "-k", 1, *arguments[8:])
        few_ms = json.loads(run(given.program, *few))["elapsed_ms"]
        part = sizes["correlations.seg"] / (sum(sizes.values()) - sizes["correlations.seg"])
        costs.append((indexing, search_ms, few_ms, part, len(sure), false, answer["tested"]))
        print(f"seed {seed}: {found['Lakeward'][-1]}, {costs[-1]}", file=sys.stderr, flush=True)
        shutil.rmtree(folder)
        base.unlink()
    print("| system | recall of the true 40 in the first 40 | in the first 100 |\n|---|---|---|")
    for name, figures in found.items():
        first, hundred = zip(*figures)
        spread = f"{np.mean(first):.2f} ({min(first):.2f} to {max(first):.2f})"
        print(f"| {name} | {spread} | {np.mean(hundred):.2f} |")
    indexing, search_ms, few_ms, part, sure, false, tested = (np.array(cost) for cost in zip(*costs))
    print(f"\ntested {tested.mean():.0f} columns; index {indexing.mean():.0f} s; search of 500 verified {search_ms.mean():.0f} ms, of 50 {few_ms.mean():.0f} ms")
    print(f"correlations.seg is {100 * part.mean():.1f}% of the other files; at a stated rate of 5%: {sure.mean():.0f} found, {100 * false.sum() / max(1, sure.sum()):.1f}% false")


if __name__ == "__main__":
    main()
