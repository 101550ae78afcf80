"""Usage: python -m lake_sources.build OUT CACHE (build_lake.py calls this in its virtualenv)"""

import shutil
import sys
from pathlib import Path

from . import (
    catalog,
    climate,
    culture,
    disasters,
    economy,
    energy,
    geography,
    health,
    nature,
    population,
    science,
    sport,
    transport,
    us_places,
    us_society,
    writers,
)
from .origins import ORIGINS
from .reader import Packages
from .table import Table

TOPICS = (
    climate, culture, disasters, economy, energy, geography, health, nature, population,
    science, sport, transport, us_places, us_society,
)  # fmt: skip
# What an earlier build leaves in its folder: its presence makes the folder safe to empty.
MARK = "datapackage.json"
LARGEST_FILE = 1_500_000
LARGEST_LAKE = 12_000_000


def collect(packages: Packages) -> list[Table]:
    tables = [table for topic in TOPICS for table in topic.tables(packages)]
    paths = [table.path for table in tables]
    if len(set(paths)) < len(paths):
        raise ValueError("two tables have the same path")
    return sorted(tables, key=lambda table: table.path)


def check_origins(tables: list[Table]) -> None:
    """Every table needs a known source (catalog.py sees to that), and every source a table."""
    used = {origin for table in tables for origin in catalog.origins_of(table)}
    unused = [key for key, origin in ORIGINS.items() if origin not in used]
    if unused:
        raise ValueError(f"no table comes from {unused}")


def clear(root: Path) -> None:
    if root.exists() and any(root.iterdir()) and not (root / MARK).exists():
        raise ValueError(f"{root} is not a lake: it has no {MARK}")
    shutil.rmtree(root, ignore_errors=True)


def check_sizes(root: Path) -> None:
    sizes = {path: path.stat().st_size for path in root.rglob("*") if path.is_file()}
    large = [str(path) for path, size in sizes.items() if size > LARGEST_FILE]
    if large or sum(sizes.values()) > LARGEST_LAKE:
        raise ValueError(f"too large: {sum(sizes.values())} bytes in all, files {large}")
    print(f"{len(sizes)} files, {sum(sizes.values())} bytes")


def main(root: Path, cache: Path) -> None:
    tables = collect(Packages(cache))
    check_origins(tables)
    clear(root)
    written = {table.path: writers.write(table, root) for table in tables}
    catalog.write_catalog(tables, written, root)
    check_sizes(root)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
