#!/usr/bin/env python3
"""Which text files of a folder have names that differ in one number only, and the same columns: `numbered_families.py FOLDER…`.

Prints a line for each such family with the kind of its numbers (years, dates, counted from 0 or 1, others), and the counts of a folder: what a
rule that makes one table of such files would do there.
"""

import csv
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

ENDINGS = {".csv", ".tsv", ".txt"}


def header(path: Path) -> tuple[str, ...]:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return tuple(next(csv.reader(file), []))


def kind(texts: list[str]) -> str:
    numbers = sorted(map(int, texts))
    if all(1800 <= number <= 2100 for number in numbers):
        return "years"
    if all(len(text) in (6, 8) for text in texts):
        return "dates or times"
    if numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        return "counted"
    return "others"


def main() -> None:
    for root in map(Path, sys.argv[1:]):
        files = [path for path in sorted(root.rglob("*")) if path.suffix.lower() in ENDINGS and path.is_file()]
        families: dict[tuple[Path, str, str], list[tuple[str, Path]]] = defaultdict(list)
        for path in files:
            for found in re.finditer(r"\d+", path.stem):
                key = (path.parent, path.name[: found.start()], path.name[found.end() :])
                families[key].append((found.group(), path))
        alike, all_of = Counter(), Counter()
        for (folder, before, after), members in sorted(families.items()):
            if len(members) < 2:
                continue
            numbers = kind([number for number, _ in members])
            all_of[numbers] += 1
            if len({header(path) for _, path in members}) == 1:
                alike[numbers] += 1
                print(f"{len(members):5} {numbers}: {folder.relative_to(root)}/{before}#{after}")
        print(f"{root}: {len(files)} files, families {dict(all_of)}, with the same columns {dict(alike)}")


if __name__ == "__main__":
    main()
