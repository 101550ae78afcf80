#!/usr/bin/env python3
"""Makes a benchmark of labels/asks: a catalogue of its datasets, and its asks as dialogues with the dataset that answers each.

usage: asks_benchmark.py FOLDER [--every N]      then: lakeward eval FOLDER --task dialogue

`--every N` takes each N-th ask. Python standard library only."""
import argparse
import json
from pathlib import Path

ASKS = Path(__file__).resolve().parent.parent / "labels/asks"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    records, queries, qrels, seen = [], [], [], 0
    for path in sorted(ASKS.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            family = json.loads(line)
            for at, dataset in enumerate(family["datasets"], 1):
                record = f"{family['f']}-{at}"
                records.append({"id": record, "title": dataset["title"], "description": dataset["about"]})
                for person, turns in enumerate(dataset["asks"], 1):
                    seen += 1
                    if seen % options.every:
                        continue
                    query = f"{record}-{person}"
                    queries.append({"id": query, "task": "dialogue", "turns": [{"text": text} for text in turns],
                                    "labels": path.stem})
                    qrels.append(f"{query} 0 {record} 1")
    for name, lines in (("corpus.jsonl", map(json.dumps, records)), ("queries.jsonl", map(json.dumps, queries)), ("qrels.txt", qrels)):
        (options.folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{len(records)} datasets, {len(queries)} asks")


if __name__ == "__main__":
    main()
