#!/usr/bin/env python3
"""Scores `lakeward ask` on questions of labels/questions.jsonl in other languages (eval/translated.tsv): recall and MRR at 10.

    scripts/translated_questions.py LAKE [--program target/release/lakeward] [--each]

LAKE is an indexed copy of the sample lake. The questions are asked without a language model, and each once more as it is in English.
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lake")
    parser.add_argument("--program", default=str(ROOT / "target/release/lakeward"))
    parser.add_argument("--each", action="store_true", help="print every question")
    options = parser.parse_args()
    lines = (ROOT / "labels/questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = {question["id"]: question for question in map(json.loads, lines)}
    rows = (ROOT / "eval/translated.tsv").read_text(encoding="utf-8").splitlines()
    asked = [row.split("\t") for row in rows if not row.startswith("#")]
    asked += [(name, "en", questions[name]["text"]) for name in dict.fromkeys(row[0] for row in asked)]
    scores = collections.defaultdict(list)
    for name, language, text in asked:
        question = questions[name]
        tables, notes = found(options.program, options.lake, text)
        hits = [table in question["tables"] for table in tables[:10]]
        recall = sum(hits) / min(10, len(question["tables"]))
        rank = next((1 / (place + 1) for place, hit in enumerate(hits) if hit), 0.0)
        kind = "direct" if question["style"] == "direct" else "paraphrased"
        scores[kind, language].append((recall, rank))
        if options.each:
            print(f"{name} {language} {recall:.2f} {rank:.2f} {text} | {notes[:1]}")
    for (kind, language), values in sorted(scores.items()):
        recall, rank = (sum(value[part] for value in values) / len(values) for part in (0, 1))
        print(f"{kind:12} {language} {len(values):3}  R@10 {recall:.3f}  MRR {rank:.3f}")


main()
