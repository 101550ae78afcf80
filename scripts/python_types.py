#!/usr/bin/env python3
"""Writes python/python/lakeward/types.py: the answers' dataclasses, from the JSON Schemas of `lakeward schema`.

    scripts/python_types.py [--check] [--program target/release/lakeward]

With --check nothing is written: exit code 1 says that the file is out of date. `tests/program/python_types.rs` runs that.
"""

from __future__ import annotations

import argparse
import json
import keyword
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "python/python/lakeward/types.py"
WIDTH = 120

# The documents, and what Python reads of them; what these hold comes along.
DOCUMENTS = {
    "search": ["SearchAnswer"],
    "columns": ["ColumnAnswer"],
    "join": ["JoinAnswer", "CompositeKey"],
    "union": ["UnionAnswer"],
    "correlate": ["CorrelationAnswer"],
    "features": ["Feature", "LeftOut", "Gain"],
    "ask": ["RankedTable", "RankedOperation", "Signals", "TaskSpec", "ModelCost"],
    "tables": ["TableLine"],
    "profile": ["ColumnProfile", "TimeCoverage", "PlaceCoverage", "TableMetadata", "Repair"],
    "index": ["BuildStats"],
    "sessions": ["SessionSummary"],
    "session": ["Turn", "Step"],
}
# Objects that stay mappings.
MAPPINGS = {"ColumnFeatures", "Demanded", "Plan", "Recommendation", "SearchFeatures", "TaskPath", "UnionFeatures", "Usage"}
# Types with the same fields as another are that one.
SAME = {"Ranked2": "Ranked"}
# Fields whose names are words of Python.
RENAMED = {("TimeCoverage", "from"): "first", ("TimeCoverage", "to"): "last", ("Gain", "with"): "with_it"}

HEAD = '''"""The rows of answers: frozen dataclasses with the fields of the library's own documents.

Shares, scores and likenesses are 0 to 1, greater is better, unless a field says otherwise. A field that a document
leaves out has its default.
"""

# Written by scripts/python_types.py; what stands here is declared at the Rust types of the same names.

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any
'''

Schema = dict[str, Any]


class Types:
    """The definitions of all documents."""

    def __init__(self, program: str) -> None:
        self.known: dict[str, Schema] = {}
        for document in DOCUMENTS:
            printed = subprocess.run([program, "schema", document], check=True, capture_output=True, text=True)
            schema = json.loads(printed.stdout)
            for name, known in {**schema.get("$defs", {}), schema["title"]: schema}.items():
                self.known.setdefault(name, known)

    def resolved(self, schema: Schema) -> Schema:
        """What a reference stands for."""
        while "$ref" in schema:
            schema = self.known[schema["$ref"].rsplit("/", 1)[1]]
        return schema

    def annotation(self, schema: Schema, needed: list[str]) -> str:
        """The type of a value; the classes in it are added to `needed`."""
        for choice in ("anyOf", "oneOf"):
            others = [part for part in schema.get(choice, []) if part.get("type") != "null"]
            if len(others) < len(schema.get(choice, [])):
                return f"{self.annotation(others[0], needed)} | None"
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            name = SAME.get(name, name)
            target = self.resolved(schema)
            if name in MAPPINGS:
                return self.mapping(target)
            if "properties" in target:
                needed.append(name)
                return name
            return self.annotation(target, needed)
        if any(form.get("type") == "object" for form in schema.get("oneOf", ())):
            return self.mapping({})
        kind = schema.get("type", "string")
        if isinstance(kind, list):
            one = self.annotation({**schema, "type": next(name for name in kind if name != "null")}, needed)
            return f"{one} | None"
        if kind == "array":
            parts = schema.get("prefixItems")
            if parts:
                return f"tuple[{', '.join(self.annotation(part, needed) for part in parts)}]"
            return f"tuple[{self.annotation(schema['items'], needed)}, ...]"
        if kind == "object":
            inner = schema.get("additionalProperties")
            return f"Mapping[str, {self.annotation(inner, needed) if isinstance(inner, dict) else 'Any'}]"
        return {"integer": "int", "number": "float", "boolean": "bool"}.get(kind, "str")

    def mapping(self, schema: Schema) -> str:
        """The type of an object that stays a mapping."""
        parts = {self.annotation(part, []) for part in schema.get("properties", {}).values()}
        return f"Mapping[str, {parts.pop() if len(parts) == 1 else 'Any'}]"

    def fields(self, name: str) -> list[tuple[str, Schema, bool]]:
        """Name, schema and whether it is always there, of the fields of a class: those that are come first."""
        schema = self.known[name]
        properties = dict(schema.get("properties", {}))
        required = set(schema.get("required", ()))
        order = schema.get("x-order") or [*schema.get("required", ()), *sorted(set(properties) - required)]
        # One of several forms: the fields of each, those of one form alone may be missing.
        forms = schema.get("oneOf", ())
        for form in forms:
            for key, part in form.get("properties", {}).items():
                if key not in properties:
                    properties[key] = part
                    order.append(key)
        required |= set.intersection(*[set(form.get("required", ())) for form in forms]) if forms else set()
        listed = [(key, properties[key], key in required) for key in order]
        return sorted(listed, key=lambda known: not known[2])

    def written(self, name: str) -> tuple[str, list[str]]:
        """A class, and those that it needs."""
        needed: list[str] = []
        lines = ["@dataclasses.dataclass(frozen=True, slots=True)", f"class {name}:"]
        lines += documented(self.known[name].get("description", ""))
        for key, schema, always in self.fields(name):
            annotation = self.annotation(schema, needed)
            field = RENAMED.get((name, key), key)
            if keyword.iskeyword(field):
                sys.exit(f"`{field}` of {name} is a word of Python: give it another name in RENAMED")
            options = [f'metadata={{"json": "{key}"}}'] if field != key else []
            default = None if always else self.default(annotation, schema, bool(self.known[name].get("oneOf")))
            if default is not None and default.startswith("default_factory"):
                options.insert(0, default)
            elif default is not None and options:
                options.insert(0, f"default={default}")
            if options:
                default = f"dataclasses.field({', '.join(options)})"
            nullable = " | None" if default == "None" and not annotation.endswith("None") else ""
            lines.append(f"    {field}: {annotation}{nullable}" + (f" = {default}" if default else ""))
            lines += documented(schema.get("description", ""))
        return "\n".join(lines), needed

    def default(self, annotation: str, schema: Schema, of_a_form: bool) -> str:
        """What a field is that a document leaves out."""
        if annotation.endswith("| None"):
            return "None"
        if annotation.startswith("tuple"):
            return "()"
        if annotation.startswith("Mapping"):
            return "default_factory=dict"
        if annotation in self.known:
            return f"default_factory={annotation}"
        if of_a_form:
            return {"int": "0", "float": "0.0", "bool": "False"}.get(annotation, "None")
        return {"int": "0", "float": "0.0", "bool": "False"}.get(annotation, '""')


def documented(description: str) -> list[str]:
    """A description as the lines of a docstring."""
    text = re.sub(r"\[`(?:[A-Za-z_]+::)*([^`]+)`\]", r"`\1`", " ".join(description.split()))
    text = re.sub(r"`([^`]*)`", r"``\1``", text).replace("\\", "\\\\")
    if not text:
        return []
    if text.endswith('"'):
        text += " "
    lines = textwrap.wrap(f'"""{text}"""', WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    if len(lines) > 1:
        lines = textwrap.wrap(f'"""{text}', WIDTH - 4, break_long_words=False, break_on_hyphens=False) + ['"""']
    return [f"    {line}" for line in lines]


def module(types: Types) -> str:
    """The whole file."""
    classes: dict[str, str] = {}

    def add(name: str) -> None:
        if name not in classes:
            text, needed = types.written(name)
            # A default may be an object of what stands above.
            for other in needed:
                if other != name:
                    add(other)
            classes[name] = text

    for names in DOCUMENTS.values():
        for name in names:
            add(name)
    listed = "\n".join(f'    "{name}",' for name in sorted(classes))
    return "\n\n".join([f"{HEAD}\n__all__ = [\n{listed}\n]\n", *[f"{text}\n" for text in classes.values()]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the file is as it should be")
    parser.add_argument("--program", default=str(ROOT / "target/release/lakeward"), help="the program that knows the schemas")
    arguments = parser.parse_args()
    text = module(Types(arguments.program))
    if not arguments.check:
        FILE.write_text(text, encoding="utf-8")
    elif not FILE.is_file() or FILE.read_text(encoding="utf-8") != text:
        print(f"{FILE.relative_to(ROOT)} is out of date: run scripts/python_types.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
