#!/usr/bin/env python3
"""Usage: RAYON_NUM_THREADS=1 cargo bench --bench peers -- BENCH OUT && python3 scripts/peers/words.py BENCH OUT
(needs: pip install bm25s PyStemmer numpy)

Asks bm25s (Lucene's BM25, English stemmer and stop words) the search requests of BENCH over the headers and cells of the same CSV
files, one at a time on one core, and prints time and nDCG@10 beside Lakeward's.
"""

import csv
import json
import math
import sys
import time
from collections import defaultdict
from pathlib import Path

import bm25s
import numpy as np
import Stemmer

K = 10


def main(bench: Path, out: Path) -> None:
    ours = json.loads((out / "ours.json").read_text())["words"]
    csv.field_size_limit(1 << 30)
    paths = sorted((bench / "lake").glob("*.csv"))
    texts = []
    for path in paths:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            texts.append(" ".join(" ".join(row) for row in csv.reader(file)))
    stemmer = Stemmer.Stemmer("english")
    began = time.perf_counter()
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    built = time.perf_counter() - began
    grades = defaultdict(dict)
    for line in (bench / "qrels.txt").read_text().splitlines():
        query, _, table, grade = line.split()
        grades[query][table] = float(grade)
    times, scores = [], []
    for line in (bench / "queries.jsonl").read_text().splitlines():
        query = json.loads(line)
        if query.get("task") != "search" or not query.get("text"):
            continue
        began = time.perf_counter()
        tokens = bm25s.tokenize(query["text"], stopwords="en", stemmer=stemmer, show_progress=False)
        found, _ = index.retrieve(tokens, k=K, show_progress=False, n_threads=1)
        times.append(time.perf_counter() - began)
        scores.append(ndcg([paths[number].stem for number in found[0]], grades[query["id"]]))
    median = float(np.median(times)) * 1e3
    print(f"{len(texts)} tables, {len(times)} requests, one core; median time of a request (bm25s indexed in {built:.1f} s)")
    print(f"  bm25s                        {median:.3f} ms, nDCG@10 {sum(scores) / len(scores):.3f}")
    for label, part in (("lakeward, words alone", "words"), ("lakeward, words and meaning", "search")):
        taken = ours[part + "_ms"]
        print(f"  {label:28} {taken:.3f} ms, nDCG@10 {ours[part + '_ndcg']:.3f}; bm25s takes {median / taken:.2f} times as long")


def ndcg(ranking, grades) -> float:
    gains = sum(grades.get(table, 0.0) / math.log2(place + 2) for place, table in enumerate(ranking))
    best = sum(grade / math.log2(place + 2) for place, grade in enumerate(sorted(grades.values(), reverse=True)[:K]))
    return gains / best


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
