#!/usr/bin/env python3
"""When a turn is about another table than the one at hand: fits the constants of `Explained::other_is_meant`, a writer left out in turn.

Usage: other_table.py LAKEWARD FOLDER WRITER...

Makes a lake of the tables of the writers' annotated turns (labels/turns) in FOLDER, has LAKEWARD index it and read the turns over their own tables and
over those that a search for their words finds, and prints the constants and how often they are right. Only writers that the reader did not learn
from. Needs scikit-learn.
"""
import csv
import datetime
import json
import pathlib
import random
import subprocess
import sys

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

LABELS = pathlib.Path(__file__).parent.parent / "labels" / "turns"
ROWS = 12
LEAST = 0.01
NEARLY_ALL = 0.75
FEATURES = ["NEW", "SURE", "SPELT", "UNMET", "SHARE", "RELEVANCE", "RANK"]


def cell(kind, values, row, chance):
    """A made-up cell of a column `name:kind=value|value`."""
    if values:
        return values[row % len(values)]
    if kind == "integer":
        return chance.randrange(1, 500)
    if kind == "number":
        return round(chance.uniform(0, 90), 2)
    if kind == "date":
        return datetime.date(2023, 1, 1) + datetime.timedelta(days=chance.randrange(600))
    if kind == "boolean":
        return chance.choice(["true", "false"])
    return "".join(chance.choice("bcdfgklmnprst") + chance.choice("aeiou") for _ in range(3))


def make_lake(folder, writers):
    chance = random.Random(5)
    folder.mkdir(parents=True, exist_ok=True)
    for writer in writers:
        for line in open(LABELS / f"{writer}.jsonl", encoding="utf-8"):
            head = json.loads(line)
            if not head.get("columns"):
                continue
            columns = []
            for column in head["columns"]:
                name, _, values = column.partition("=")
                name, _, kind = name.rpartition(":")
                columns.append((name, kind, [value for value in values.split("|") if value]))
            rows = max([ROWS] + [len(values) for _, _, values in columns])
            name = f"{head['c']}--{head.get('sheet') or 'sheet'}.csv".replace(" ", "_")
            with open(folder / name, "w", newline="", encoding="utf-8") as file:
                out = csv.writer(file)
                out.writerow([name for name, _, _ in columns])
                out.writerows([cell(kind, values, row, chance) for _, kind, values in columns] for row in range(rows))


def log_odds(likely):
    likely = min(max(likely, LEAST), 1 - LEAST)
    return np.log(likely / (1 - likely))


def features(pair):
    own, other, found = pair["own"], pair["other"], pair["found"]
    more = [other[name] - own[name] for name in ("sure", "spelt", "unmet", "share")]
    return [pair["new"], *more, log_odds(found["relevance"]) - log_odds(found["own_relevance"]), found["rank"]]


def main():
    program, folder, *writers = sys.argv[1:]
    lake = pathlib.Path(folder)
    make_lake(lake, writers)
    subprocess.run([program, "--lake", lake, "index", "--quiet"], check=True)
    asked = [argument for writer in writers for argument in ("--writer", writer)]
    told = subprocess.run(
        [program, "--no-llm", "--lake", lake, "train", "reader", "--labels", LABELS, "--check", "--other-tables", *asked],
        check=True, capture_output=True, text=True,
    ).stdout
    pairs = [json.loads(line) for line in told.splitlines()]
    x = np.array([features(pair) for pair in pairs], float)
    y = np.array([pair["is_it"] for pair in pairs])
    of = np.array([pair["writer"] for pair in pairs])
    likely = np.zeros(len(y))
    for writer in writers:
        out = of == writer
        likely[out] = LogisticRegression(max_iter=2000).fit(x[~out], y[~out]).predict_proba(x[out])[:, 1]
    model = LogisticRegression(max_iter=2000).fit(x, y)
    print(f"{len(y)} pairs; BIAS {model.intercept_[0]:.2f}", *(f"{name} {value:.2f}" for name, value in zip(FEATURES, model.coef_[0])))
    print(f"a writer left out in turn: area under the curve {roc_auc_score(y, likely):.3f}")
    turns = {}
    for place, pair in enumerate(pairs):
        if pair["own"]["unmet"] or pair["own"]["share"] < NEARLY_ALL:
            turns.setdefault((pair["writer"], pair["begins"], pair["text"]), []).append(place)
    count = {begins: len({(pair["writer"], pair["text"]) for pair in pairs if pair["begins"] == begins}) for begins in (True, False)}
    for bound in (0.5, 0.6, 0.7, 0.8):
        right = wrong = left = 0
        for (_, begins, _), places in turns.items():
            best = max(places, key=lambda place: likely[place])
            if likely[best] < bound:
                continue
            right += begins and pairs[best]["is_it"]
            wrong += begins and not pairs[best]["is_it"]
            left += not begins
        print(f"from {bound}: begun found {right / count[True]:.2f}, at a wrong table {wrong / count[True]:.2f}, of those that go on left {left / count[False]:.3f}")


if __name__ == "__main__":
    main()
