#!/usr/bin/env python3
"""Prints the tables of eval/ranking.md: Lakeward, the best plain baseline and a perfect ranking on outside benchmarks.

usage: ranking_tables.py FOLDER_OF_BENCHMARKS KEEP [--lakeward target/release/lakeward]

Runs `lakeward eval` once on each set and form below; reports and indexes stay in the folder KEEP. Needs nothing but Python.
"""
import argparse
import json
import pathlib
import subprocess

SETS = [  # folder, form of it, task
    ("lakebench-webtable", "titles", "join"),
    ("lakebench-webtable", "titles", "union"),
    ("wiki-split", "titles", "join"),
    ("wiki-split", "titles", "union"),
    ("ugen-v1", "titles", "union"),
    ("ottqa", "titles", "search"),
    ("ottqa", "cells", "search"),
    ("fetaqa", "titles", "search"),
    ("fetaqa", "cells", "search"),
    ("acordar", "titles", "search"),
    ("lakebench-webtable", "masked", "join"),
    ("lakebench-webtable", "masked", "union"),
    ("wiki-split", "masked", "join"),
    ("wiki-split", "masked", "union"),
    ("ugen-v1", "masked", "union"),
]


def evaluate(options, name, form, task):
    """The report of Lakeward, its ablations and the baselines on one set; kept in a folder, so that a stopped run goes on."""
    kept = options.keep / f"{name}-{form}-{task}.json"
    if not kept.exists():
        command = [options.lakeward, "eval", f"{options.folder}/{name}", "--form", form, "--task", task, "--json"]
        command += ["--keep-index", options.keep / f"{name}-{form}"]
        for system in ["lakeward", "baselines", "ablations"]:
            command += ["--system", system]
        kept.write_text(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return json.loads(kept.read_text())


def groups(report):
    """The groups of the report's first system, each with the same group of the other systems that answer all of it."""
    for group in report["systems"][0]["groups"]:
        others = {
            system["system"]: other
            for system in report["systems"]
            for other in system["groups"]
            if other["group"] == group["group"] and other["queries"] == group["queries"]
        }
        if group["queries"]:
            yield group["group"], others


def ndcg(group, kind="raw"):
    return group[kind]["at"]["10"]["ndcg"]


def qualities(options):
    print("| set | form | queries | nDCG@10 | condensed | best baseline | condensed | MRR | best baseline's | ideal P@10 |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, form, task in SETS:
        for group, systems in groups(evaluate(options, name, form, task)):
            ours, ideal = systems.pop("lakeward"), systems.pop("IDEAL")
            systems = {system: found for system, found in systems.items() if "-no-" not in system}

            def best(value):
                system = max(systems, key=lambda system: value(systems[system]))
                return f"{value(systems[system]):.3f} ({system})"

            print(
                f"| {name} {task} {group} | {form} | {ours['queries']} | **{ndcg(ours):.3f}** "
                f"| {ndcg(ours, 'condensed'):.3f} | {best(ndcg)} | {best(lambda other: ndcg(other, 'condensed'))} "
                f"| {ours['raw']['reciprocal_rank']:.3f} | {best(lambda other: other['raw']['reciprocal_rank'])} "
                f"| {ideal['raw']['at']['10']['precision']:.3f} |",
                flush=True,
            )


def ablations(options, task):
    """How much nDCG@10 is lost without each feature, by set."""
    columns, lost = [], {}
    for name, form, of in SETS:
        if of != task:
            continue
        for group, systems in groups(evaluate(options, name, form, task)):
            columns.append(f"{name} {group} {form}")
            whole = ndcg(systems["lakeward"])
            for system, other in systems.items():
                if "-no-" in system:
                    lost.setdefault(system.split("-no-")[1], []).append(ndcg(other) - whole)
            lost.setdefault("(nothing)", []).append(whole)
    print("| without | " + " | ".join(columns) + " |")
    print("|---|" + "---:|" * len(columns))
    print("| (nothing: nDCG@10) | " + " | ".join(f"{value:.3f}" for value in lost.pop("(nothing)")) + " |")
    for feature, values in lost.items():
        print(f"| {feature} | " + " | ".join(f"{value:+.3f}" for value in values) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("keep", type=pathlib.Path)
    parser.add_argument("--lakeward", default="target/release/lakeward")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    qualities(options)
    for task in ["join", "union", "search"]:
        print()
        ablations(options, task)


if __name__ == "__main__":
    main()
