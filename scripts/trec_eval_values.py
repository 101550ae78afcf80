#!/usr/bin/env python3
"""Writes crates/eval/src/metrics/trec_eval.json: made-up judgments and a made-up run with what trec_eval says of them, which the tests of
the metrics are held against. Needs PyPI's pytrec-eval-terrier. usage: trec_eval_values.py OUT"""
import json
import random
import sys

import pytrec_eval

MEASURES = {"map", "recip_rank", "P", "recall", "success", "ndcg_cut", "map_cut"}
CUTS = "1,3,5,10,20"


def made_up(seed):
    """(judgments, run, unjudged) by query; each query is one awkward case repeated with other numbers."""
    draw = random.Random(seed)
    judgments, run, unjudged = {}, {}, {}
    for number in range(40):
        query, documents = f"q{number:02}", [f"d{place:02}" for place in range(40)]
        kind = number % 8
        top = 1 if kind == 0 else 3
        judged = draw.sample(documents, draw.randint(3, 25))
        judgments[query] = {document: draw.randint(0, top) for document in judged}
        judgments[query][judged[0]] = top
        if kind == 1:  # negative grades
            judgments[query].update({document: draw.choice([-2, -1]) for document in judged[1:4]})
        if kind == 2:  # no positive at all
            judgments[query] = {document: draw.choice([-1, 0]) for document in judged}
        if kind == 3:  # relevant documents that the run never shows
            judgments[query].update({f"x{place}": 2 for place in range(draw.randint(1, 30))})
        shown = draw.sample(documents, draw.randint(1, 40))
        levels = 3 if kind == 4 else 1000  # many ties
        run[query] = {document: draw.randint(-levels, levels) / 4 for document in shown}
        if kind == 5:  # nothing relevant is shown
            run[query] = {document: score for document, score in run[query].items() if judgments[query].get(document, 0) <= 0}
            run[query]["y"] = 0.5
        if kind == 6:  # one document only
            run[query] = {draw.choice(shown): 1.0}
        unjudged[query] = draw.sample([document for document in documents if document not in judgments[query]], 5)
    return judgments, run, unjudged


def values(judgments, run):
    """What trec_eval says of each query, names as it prints them."""
    cut = {f"{measure}.{CUTS}" if measure not in ("map", "recip_rank") else measure for measure in MEASURES}
    return pytrec_eval.RelevanceEvaluator(judgments, cut).evaluate(run)


def main():
    judgments, run, unjudged = made_up(5)
    condensed = {
        query: {document: score for document, score in ranking.items() if document not in unjudged[query]}
        for query, ranking in run.items()
    }
    document = {
        "made_with": "pytrec-eval-terrier 0.5",
        "qrels": [f"{q} 0 {d} {g}" for q, grades in judgments.items() for d, g in grades.items()],
        "run": [f"{q} Q0 {d} 0 {s} made-up" for q, ranking in run.items() for d, s in ranking.items()],
        "unjudged": [f"{q} {d}" for q, documents in unjudged.items() for d in documents],
        "raw": values(judgments, run),
        "condensed": values(judgments, {query: ranking for query, ranking in condensed.items() if ranking}),
    }
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write("{\n" + ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in document.items()) + "\n}\n")


main()
