#!/usr/bin/env python3
"""Prints the tables of eval/variants.md from reports of `lakeward eval DIR --variant … --json`: measures, what each step gains with its
interval, what the answers took, what failures cost. Needs nothing but Python. usage: variant_tables.py REPORT.json…"""
import json
import sys

CUTS = ("5", "10", "20")
MEASURES = (("nDCG", "ndcg"), ("MAP", "average_precision"), ("R", "recall"), ("MRR", "reciprocal_rank"))


def table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|---" * len(header) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def three(value):
    return "–" if value is None else f"{value:.3f}"


def groups(report):
    """(task and group, [(system, group's figures)]) of the systems that keep an account of their work."""
    found = {}
    for system in report["systems"]:
        for group in system["groups"]:
            if group.get("work"):
                found.setdefault((group["task"], group["group"]), []).append((system["system"], group))
    return found.items()


def interval(difference):
    return f"{difference['mean']:+.3f} ({difference['low']:+.3f} to {difference['high']:+.3f})"


def steps(report, task, group):
    """The differences of variants, by measure side by side."""
    found = {}
    for comparison in report["comparisons"]:
        if (comparison["task"], comparison["group"]) == (task, group):
            pair = (comparison["system"], comparison["against"])
            found.setdefault(pair, {})[comparison["measure"]] = interval(comparison["difference"])
    return found


def show(report):
    for (task, group), systems in groups(report):
        name = " ".join(part for part in (report["benchmark"], report["form"], group) if part)
        print(f"**{name}**, {systems[0][1]['queries']} queries\n")
        header = ["variant"] + [f"{name}@{cut}" for name, _ in MEASURES for cut in CUTS]
        table(header, [[system] + [three(own["raw"]["at"][cut][key]) for _, key in MEASURES for cut in CUTS] for system, own in systems])
        found = steps(report, task, group)
        measures = sorted({measure for of in found.values() for measure in of}, reverse=True)
        table(["step"] + measures, [[f"{system} − {against}"] + [of.get(m, "–") for m in measures] for (system, against), of in found.items()])
        work = [(system, own, own["work"]) for system, own in systems]
        table(
            ["variant", "rounds", "calls", "limited", "traced", "sourced", "stable", "p50 ms", "p95 ms"],
            [
                [system, f"{took['iterations']:.2f}", f"{took['tool_calls']:.2f}", three(took["limited"]), three(took.get("trace_complete")),
                 three(took["provenance_complete"]), three((took.get("stability") or {}).get("jaccard")),
                 f"{own['p50_ms']:.1f}", f"{own['p95_ms']:.1f}"]
                for system, own, took in work
            ],
        )
        faults = [(system, fault) for system, _, took in work for fault in took.get("faults", [])]
        if faults:
            table(
                ["variant", "fails", f"nDCG@{report['k']}", "difference", "answered", "partial"],
                [[system, fault["component"], three(fault["ndcg"]), interval(fault["difference"]), f"{fault['answered']:.2f}",
                  f"{fault['partial']:.2f}"] for system, fault in faults],
            )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            show(json.load(file))
