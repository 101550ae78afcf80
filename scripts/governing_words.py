#!/usr/bin/env python3
"""Writes crates/agent/src/governing.txt: the words that govern what is wanted in the labelled turns (labels/turns).

    scripts/governing_words.py

The word that governs a value is the last one before it in its clause, else the first after it, function words and the small words of
`crates/agent/src/stated.rs` left out: `wheat yields from [Yunnan]`, `must be [CSV]`, `[Norway] alone`. Only turns that look for data count, and only places, years, publishers, formats
and licences in them. Writers who are never learned from are left out here, too.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = {"bea", "gus", "xenia"}
ROLES = {"place", "period", "publisher", "format", "licence"}
SPAN = re.compile(r"\[([^\]|]*)\|([^\]]*)\]")
WORD = re.compile(r"[^\W_]+")
CLAUSE_END = ".?!;:,\u2013\u2014"


def listed(path, name):
    """The words of a constant of a Rust file."""
    found = re.search(name + r'[^=]*= "([^"]*)"', (ROOT / path).read_text(encoding="utf-8"))
    return set(found.group(1).replace("\\", " ").split())


def governors(text, small):
    """The governing words of the values of one annotated text."""
    plain, spans, at = "", [], 0
    for span in SPAN.finditer(text):
        plain += text[at : span.start()]
        start = len(plain)
        plain += span.group(1)
        spans.append((start, len(plain), span.group(2).split()[0]))
        at = span.end()
    for start, end, role in spans:
        if role not in ROLES:
            continue
        first = max(plain.rfind(sign, 0, start) for sign in CLAUSE_END) + 1
        last = min((place for sign in CLAUSE_END if (place := plain.find(sign, end)) >= 0), default=len(plain))
        before, after = (
            [word for word in map(str.lower, WORD.findall(part)) if word not in small and not word.isdigit()]
            for part in (plain[first:start], plain[end:last])
        )
        yield from before[-1:] or after[:1]


def main():
    small = listed("crates/core/src/text/words.rs", "FUNCTION_WORDS") | listed("crates/agent/src/stated.rs", "SMALL")
    found = set()
    for path in sorted((ROOT / "labels/turns").glob("*.jsonl")):
        if path.stem in LEFT_OUT:
            continue
        looks_for_data = False
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if "t" in row:
                found.update(governors(row["m"], small) if looks_for_data else ())
            else:
                looks_for_data = row.get("table", "") is None
    out = ROOT / "crates/agent/src/governing.txt"
    out.write_text("\n".join(sorted(found)) + "\n", encoding="utf-8")


main()
