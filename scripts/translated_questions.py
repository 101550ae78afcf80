#!/usr/bin/env python3
"""Scores `lakeward ask` on questions in other languages: recall and MRR at 10, each beside the same question in English.

    scripts/translated_questions.py LAKE [--program target/release/lakeward] [--each]
    scripts/translated_questions.py --catalogue statcan=LAKE --catalogue acordar=LAKE

LAKE is an indexed copy of the sample lake, whose questions of labels/questions.jsonl are in eval/translated.tsv; or of the records of a
benchmark catalogue, of which eval/translated_catalogues.tsv has questions. They are asked without a language model.
"""

import argparse
import collections
import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def found(program, lake, text):
    command = [program, "--no-llm", "ask", text, "--lake", lake, "-k", "10", "--json"]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout or "{}")
    return [table["table"] for table in answer.get("tables", [])], answer.get("notes", [])


def rows(path):
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def of_sample_lake(lake):
    """Questions as (kind, language, text, the tables that answer, lake)."""
    lines = (ROOT / "labels/questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = {question["id"]: question for question in map(json.loads, lines)}
    asked = rows("eval/translated.tsv")
    asked += [(name, "en", questions[name]["text"]) for name in dict.fromkeys(row[0] for row in asked)]
    for name, language, text in asked:
        kind = "direct" if questions[name]["style"] == "direct" else "paraphrased"
        yield kind, language, text, questions[name]["tables"], lake


def of_catalogues(lakes):
    for catalogue, record, language, text in rows("eval/translated_catalogues.tsv"):
        if catalogue in lakes:
            yield catalogue, language, text, [record], lakes[catalogue]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lake", nargs="?")
    parser.add_argument("--catalogue", action="append", default=[], metavar="NAME=LAKE")
    parser.add_argument("--program", default=str(ROOT / "target/release/lakeward"))
    parser.add_argument("--each", action="store_true", help="print every question")
    options = parser.parse_args()
    asked = list(of_catalogues(dict(pair.split("=", 1) for pair in options.catalogue)))
    asked += list(of_sample_lake(options.lake)) if options.lake else []
    scores = collections.defaultdict(list)
    for kind, language, text, answers, lake in asked:
        tables, notes = found(options.program, lake, text)
        hits = [table in answers for table in tables[:10]]
        recall = sum(hits) / min(10, len(answers))
        rank = next((1 / (place + 1) for place, hit in enumerate(hits) if hit), 0.0)
        scores[kind, language].append((recall, rank))
        if options.each:
            print(f"{kind} {answers[0]} {language} {recall:.2f} {rank:.2f} {text} | {notes[:1]}")
    for (kind, language), values in sorted(scores.items()):
        recall, rank = (sum(value[part] for value in values) / len(values) for part in (0, 1))
        print(f"{kind:12} {language} {len(values):3}  R@10 {recall:.3f}  MRR {rank:.3f}")


main()
