#!/usr/bin/env python3
"""Finds what documents name and the repository does not have: files, and test programs of commands (`--test NAME`).

    scripts/check_documents.py      # prints a line for each; exit code 1 if there are any

Looks at the Markdown files, and for commands at comments of Rust files, too.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Folders of the root; a placeholder such as `crates/X` names none.
FOLDERS = "benches|cluster|crates|eval|examples|labels|lake|prompts|schemas|scripts|src|tests"
NAMED = re.compile(rf"(?<![\w./-])((?:{FOLDERS})/[\w./-]*\w)")
TEST = re.compile(r"--test\s+([a-z_]+)")
PLACEHOLDER = re.compile(r"/X(/|$)")


def exists(path):
    """Whether there is such a file or folder, or one that begins so (a name that is cut before a wildcard)."""
    return (ROOT / path).exists() or any(ROOT.glob(f"{path}*"))


def main():
    listed = subprocess.run(["git", "ls-files", "*.md", "*.rs"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    programs = {folder.name for folder in ROOT.glob("crates/*/tests/*") if (folder / "main.rs").exists()}
    programs |= {folder.parent.name for folder in ROOT.glob("tests/*/main.rs")} | {file.stem for file in ROOT.glob("cluster/tests/*.rs")}
    wrong = 0
    for name in listed.splitlines():
        text = (ROOT / name).read_text(encoding="utf-8")
        missing = [f"no test program `{test}`" for test in TEST.findall(text) if test not in programs]
        if name.endswith(".md"):
            near = (ROOT / name).parent
            found = (path for path in NAMED.findall(text) if not PLACEHOLDER.search(path))
            missing += [f"no file `{path}`" for path in found if not exists(path) and not (near / path).exists()]
        for line in missing:
            wrong += 1
            print(f"{name}: {line}", file=sys.stderr)
    print(f"{wrong} things named that are not there")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
