"""Writes what the lake says about itself: SOURCES.md and datapackage.json."""

import json
import re
from pathlib import Path

from .origins import ORIGINS, Origin
from .packages import NPM, PYPI
from .table import Table
from .writers import Written

TITLE = "Sample lake of public tables"
ABOUT = (
    "Tables on public subjects (places, transport, energy, climate, population, health, economy, "
    "films, sport, cars, science), taken from packages of PyPI and npm and laid out as a lake that "
    "nobody tidied: several formats, several encodings, tables that join and tables that continue "
    "each other, and about one in four written as messily as open-data portals do. SOURCES.md names "
    "the origin and the licence of each table."
)

INTRODUCTION = """# Sources of the sample lake

Every table below was taken from a package of PyPI or npm by `scripts/build_lake.py`, which also
wrote this file. The figures are those of the packages. The script chose rows and columns, renamed
columns, split tables by year, place or kind, and wrote some of them in a messy way on purpose; where
it summed or converted something, the table's description in `datapackage.json` says so. Each table
keeps the licence of its data; where that asks for attribution, the publisher's name is the credit.

| Table | What it holds | Package | Publisher | Licence |
| --- | --- | --- | --- | --- |
"""


def origins_of(table: Table) -> list[Origin]:
    keys = table.origins.split()
    if not keys:
        raise ValueError(f"{table.path} has no source")
    return [ORIGINS[key] for key in keys]


def package_label(origin: Origin) -> str:
    versions = PYPI if origin.registry == "PyPI" else NPM
    inside = f", {origin.part}" if origin.part else ""
    return f"{origin.registry}: {origin.package} {versions[origin.package]}{inside}"


def unique(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


def sources_md(tables: list[Table]) -> str:
    lines = []
    for table in tables:
        origins = origins_of(table)
        cells = [
            f"`{table.path}`",
            table.title,
            "; ".join(unique([package_label(origin) for origin in origins])),
            "; ".join(unique([f"[{origin.publisher}]({origin.url})" for origin in origins])),
            "; ".join(unique([f"[{origin.licence}]({origin.licence_url})" for origin in origins])),
        ]
        lines.append("| " + " | ".join(cells) + " |\n")
    return INTRODUCTION + "".join(lines)


def datapackage(tables: list[Table], written: dict[str, Written]) -> str:
    package = {
        "name": "sample-lake",
        "title": TITLE,
        "description": ABOUT,
        "resources": [resource(table, written[table.path]) for table in tables],
    }
    return json.dumps(package, ensure_ascii=False, indent=1) + "\n"


def resource(table: Table, written: Written) -> dict:
    origins = origins_of(table)
    described = {
        "name": re.sub(r"[^a-z0-9]+", "-", table.path.lower()).strip("-"),
        "path": table.path,
        "title": table.title,
        "description": table.about,
        "keywords": [word.strip() for word in table.keywords.split(",")],
        "format": table.format,
    }
    if table.path.endswith(".gz"):
        described["compression"] = "gz"
    if table.format not in ("parquet", "ndjson"):
        described["encoding"] = table.text.encoding.removesuffix("-sig")
        described["dialect"] = {"delimiter": table.text.delimiter, "headerRows": [written.header_line]}
    described["sources"] = [
        {"title": f"{origin.publisher} ({package_label(origin)})", "path": origin.url} for origin in origins
    ]
    described["licenses"] = [
        dict(pair)
        for pair in dict.fromkeys(
            (("name", origin.licence_name), ("title", origin.licence), ("path", origin.licence_url))
            for origin in origins
        )
    ]
    described["schema"] = {"fields": fields(table, written.columns)}
    return described


def fields(table: Table, columns: list[str]) -> list[dict]:
    unknown = set(table.fields) - set(columns)
    if unknown:
        raise ValueError(f"{table.path}: no such columns: {sorted(unknown)}")
    result = []
    for place, name in enumerate(columns, start=1):
        # A data package wants names that are there and unique, whatever the file has.
        taken = {entry["name"] for entry in result}
        entry = {"name": name if name and name not in taken else f"{name or 'field'}{place}"}
        if name in table.fields and name not in taken:
            entry["description"] = table.fields[name]
        result.append(entry)
    return result


def write_catalog(tables: list[Table], written: dict[str, Written], root: Path) -> None:
    (root / "SOURCES.md").write_text(sources_md(tables), encoding="utf-8")
    (root / "datapackage.json").write_text(datapackage(tables, written), encoding="utf-8")
