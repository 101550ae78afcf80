"""Writes tests/program/data/plans/random_plans.jsonl.gz: random plans over the sample lake with DuckDB's results.

Usage: python scripts/random_plans.py LAKEWARD LAKE OUT [COUNT [SEED]]

LAKEWARD is the program, LAKE the sample lake with its index: the program writes the lake's tables as Parquet, so that how values are
read is not what differs. Plans are made step by step over typed columns; `plan_reference.py` says in SQL what each means, and the rows that
a plan has so far give its next step values to compare with. A plan is kept where its result has rows, at most MOST_ROWS, and where nothing in it
depends on how an engine orders equal rows. Needs duckdb and numpy (for a Python function in DuckDB).

A line of the file: {"plan", "columns": [[name, kind]], "ordered", "result": figures of `plan_results.py`, "sample": the rows of small results}.
"""

import collections
import gzip
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import duckdb
from plan_reference import (BOOLEAN, DATE, NUMBER, TEXT, TIME, WHOLE, Column, Reference, Unsupported, literal, normal_form, quoted)
from plan_results import SMALL_CELLS, figures, spelled

MOST_ROWS = 4000
MOST_SOURCE_ROWS = 6000
MOST_STEPS = 6
# A preview stops joins that multiply rows.
MOST_FAN_OUT = 20
# The program's status where rows of a table were left out.
READ_IN_PART = 4
KINDS = {"VARCHAR": TEXT, "BIGINT": WHOLE, "INTEGER": WHOLE, "DOUBLE": NUMBER, "DATE": DATE, "TIMESTAMP": TIME, "BOOLEAN": BOOLEAN}
MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "(null)", "n.a.", "<na>", "missing", "-", "--", ".", "..", "...", "?", "–", "—"}
WORDS = re.compile(r"[^\W\d_][^\W\d_ '.,&/()-]*(?:[ '.,&/()-]+[^\W\d_]+)*[.)]?$")


class Skip(Exception):
    """No step of this kind fits the table."""


def exported(program, lake, folder):
    """Every table of the lake as Parquet: pairs of its id and the file."""
    listed = subprocess.run([program, "--lake", lake, "tables", "--json"], check=True, capture_output=True, text=True).stdout
    for table in json.loads(listed)["tables"]:
        file = pathlib.Path(folder, table["table"].replace("/", "__") + ".parquet")
        select = f"SELECT * FROM {quoted(table['table'])}"
        done = subprocess.run([program, "--lake", lake, "-q", "sql", select, "--out", str(file), "--overwrite"], capture_output=True)
        if done.returncode not in (0, READ_IN_PART):
            sys.exit(done.stderr.decode())
        yield table["table"], file


def is_words(values):
    """Whether texts are compared as words: nothing in them reads as a number, a date, a code or a footnote."""
    return bool(values) and all(
        len(value) > 1 and len(value) < 200 and WORDS.match(value) and not re.search(r"\(.{0,2}\)", value) and normal_form(value) for value in values
    )


def loaded(connection, files):
    """The tables of the lake in DuckDB: for each id its name there and its columns that can be compared safely."""
    tables = {}
    for number, (table, file) in enumerate(files):
        name = f"lake_{number}"
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM read_parquet({literal(str(file))})")
        (rows,) = connection.execute(f"SELECT count(*) FROM {name}").fetchone()
        columns = []
        for column, kind, *_ in connection.execute(f"DESCRIBE {name}").fetchall():
            kind = KINDS[kind.split("(")[0]]
            words = False
            if kind == TEXT:
                values = [v for (v,) in connection.execute(f"SELECT DISTINCT {quoted(column)} FROM {name} WHERE {quoted(column)} IS NOT NULL").fetchall()]
                if not values or any(value.strip().lower() in MISSING or value != value.strip() for value in values):
                    continue
                words = is_words(values)
            columns.append(Column(column, kind, True, words))
        if rows <= MOST_SOURCE_ROWS and len(columns) > 1:
            tables[table] = (name, columns)
    return tables


class Plans:
    """Makes plans. Every choice comes from one seeded generator."""

    def __init__(self, reference, seed):
        self.reference = reference
        self.random = random.Random(seed)
        self.names = 0
        self.domains = {
            (table, column.name): self.values(sql, column, 400)
            for table, (sql, columns) in reference.tables.items()
            for column in columns
            if column.kind in (TEXT, WHOLE, DATE)
        }

    def values(self, sql, column, most=60):
        name = quoted(column.name)
        found = self.reference.rows(f"SELECT {name} FROM {sql} WHERE {name} IS NOT NULL GROUP BY 1 ORDER BY hash({name}) LIMIT {most}")
        return [value for (value,) in found]

    def name(self, word):
        self.names += 1
        return f"{word}_{self.names}"

    def pick(self, table, *kinds, words=False, exact=False):
        fitting = [c for c in table.columns if c.kind in kinds and (c.words or not words) and (c.exact or not exact)]
        if not fitting:
            raise Skip
        return self.random.choice(fitting)

    def chance(self, part):
        return self.random.random() < part

    def value_of(self, table, column):
        values = self.values(table.sql, column)
        if not values:
            raise Skip
        return self.random.choice(values)

    def plan(self):
        random = self.random
        self.names = 0
        source = random.choice(sorted(self.reference.tables))
        sql, columns = self.reference.tables[source]
        steps = []
        table = self.reference.source(source)
        first = self.chosen_columns(columns, 3, 8)
        steps.append({"select": first})
        table = self.reference.step(table, steps[0])
        wanted, tries = random.randint(1, MOST_STEPS), 0
        while len(steps) <= wanted and tries < 30:
            tries += 1
            try:
                more = self.step(table)
                made = table
                for step in more:
                    made = self.reference.step(made, step)
                (rows,) = self.reference.rows(f"SELECT count(*) FROM {made.sql}")[0]
            except (Skip, Unsupported):
                continue
            except duckdb.Error as error:
                # Numbers beyond their type, mostly.
                print(f"left out: {str(error).splitlines()[0]}", file=sys.stderr)
                continue
            multiplied = any("join" in step for step in more) and rows > MOST_FAN_OUT * self.reference.rows(f"SELECT count(*) FROM {table.sql}")[0][0]
            if multiplied or rows > 3 * MOST_ROWS or (rows == 0 and self.chance(0.95)) or len(made.columns) > 24:
                continue
            table = made
            steps.extend(more)
        return {"version": 1, "source": {"table": source}, "steps": steps}, table

    def chosen_columns(self, columns, least, most):
        count = min(len(columns), self.random.randint(least, most))
        return [{"column": column.name} for column in self.random.sample(columns, count)]

    WEIGHTS = {
        "filter": 22, "derive": 16, "group": 16, "join": 12, "union": 6, "unpivot": 5, "pivot": 4, "sort": 6, "limit": 6, "top": 5,
        "distinct": 4, "select": 2, "drop": 2, "rename": 2,
    }

    def step(self, table):
        (word,) = self.random.choices(list(self.WEIGHTS), list(self.WEIGHTS.values()))
        return getattr(self, f"make_{word}")(table)

    # Steps; each a list, for some need another before them.

    def make_filter(self, table):
        return [{"filter": self.condition(table, self.random.choice((0, 1, 1, 2)))}]

    def make_select(self, table):
        kept = self.chosen_columns(table.columns, 2, 6)
        for one in kept:
            if self.chance(0.4):
                one["as"] = self.name("kept")
        return [{"select": kept}]

    def make_drop(self, table):
        if len(table.columns) < 3:
            raise Skip
        return [{"drop": [one["column"] for one in self.chosen_columns(table.columns, 1, min(2, len(table.columns) - 2))]}]

    def make_rename(self, table):
        names = [one["column"] for one in self.chosen_columns(table.columns, 1, 3)]
        if len(names) == 2 and self.chance(0.2):
            return [{"rename": [[names[0], names[1]], [names[1], names[0]]]}]
        return [{"rename": [[name, self.name("new name")] for name in names]}]

    def make_derive(self, table):
        value = self.expression(table, self.random.choice((0, 1, 1, 2)))
        name = self.random.choice(table.columns).name if self.chance(0.15) else self.name("derived")
        return [{"derive": {"name": name, "value": value}}]

    def make_group(self, table):
        keys = [self.key(table) for _ in range(self.random.choice((0, 1, 1, 1, 2, 2, 3)))]
        measures = [self.measure(table) for _ in range(self.random.choice((1, 1, 2, 3, 4)) if keys or self.chance(0.9) else 1)]
        names = [key["as"] for key in keys]
        for measure in measures:
            if measure["function"] == "share" and names and self.chance(0.4):
                measure["within"] = self.random.sample(names, 1)
        if keys and self.chance(0.05):
            measures = []
        return [{"group": {name: part for name, part in (("keys", keys), ("measures", measures)) if part}}]

    def key(self, table):
        column = self.pick(table, TEXT, WHOLE, DATE, TIME, BOOLEAN)
        of = {"column": column.name}
        if column.kind in (DATE, TIME) and self.chance(0.8):
            of = {"part": {"part": self.date_part(column), "of": of}}
        elif column.kind == WHOLE and self.chance(0.25):
            of = self.bin(table, column)
        elif column.kind == TEXT and self.chance(0.2):
            of = self.text_function(table, column)
        return {"of": of, "as": self.name("key")}

    def total_order(self, table):
        """Every column, in a random order; those that engines compute alike first."""
        exact = ", ".join(quoted(column.name) for column in table.columns if column.exact) or "NULL"
        (rows, different), = self.reference.rows(f"SELECT count(*), count(DISTINCT ({exact})) FROM {table.sql}")
        if rows != different:
            # Equal rows may change places, and a window then tells them apart.
            raise Skip
        columns = self.random.sample(table.columns, len(table.columns))
        columns.sort(key=lambda column: not column.exact)
        return [self.by(column) for column in columns]

    def by(self, column):
        by = {"by": {"column": column.name}}
        if self.chance(0.5):
            by["direction"] = "descending"
        return by

    MEASURES = ("count", "count", "count_distinct", "sum", "sum", "mean", "mean", "median", "quantile", "min", "max", "standard_deviation", "first", "share", "correlation")

    def measure(self, table, condition=True):
        function = self.random.choice(self.MEASURES)
        measure = {"function": function, "as": self.name(function)}
        if function in ("count", "share") and self.chance(0.5):
            pass
        elif function in ("count", "count_distinct"):
            measure["of"] = {"column": self.pick(table, TEXT, WHOLE, NUMBER, DATE, exact=True).name}
        elif function in ("min", "max"):
            measure["of"] = {"column": self.pick(table, TEXT, WHOLE, NUMBER, DATE, TIME).name}
        elif function == "first":
            measure["of"] = {"column": self.pick(table, TEXT, WHOLE, NUMBER, DATE).name}
            measure["by"] = self.total_order(table)
        else:
            # What is left of nearly equal numbers differs between engines: no spread of computed ones.
            spread = function in ("standard_deviation", "correlation")
            measure["of"] = {"column": self.pick(table, WHOLE, NUMBER, exact=spread).name}
            if self.chance(0.2) and not spread:
                measure["of"] = self.arithmetic(table, 0)
        if function == "quantile":
            measure["at"] = self.random.choice((0.1, 0.25, 0.5, 0.9, 0.95, 1))
        if function == "correlation":
            measure["with"] = {"column": self.pick(table, WHOLE, NUMBER, exact=True).name}
        if function == "share":
            measure["times"] = self.random.choice((1.0, 100.0))
        if condition and self.chance(0.25) and function != "first":
            measure["where"] = self.condition(table, 0, windows=False)
        return measure

    def make_distinct(self, table):
        if self.chance(0.5):
            return [{"distinct": []}]
        sort = [] if table.ordered else self.make_sort(table)
        return [*sort, {"distinct": [one["column"] for one in self.chosen_columns(table.columns, 1, 2)]}]

    def make_sort(self, table):
        by = self.total_order(table)
        if table.ordered and self.chance(0.7):
            by = by[: self.random.randint(1, len(by))]
        if self.chance(0.2):
            column = self.pick(table, WHOLE, NUMBER, exact=True)
            by.insert(0, {"by": {"number": {"function": "absolute", "of": {"column": column.name}}}})
        return [{"sort": by}]

    def make_limit(self, table):
        limit = {"rows": self.random.choice((1, 3, 10, 25, 100))}
        if self.chance(0.25):
            limit["skip"] = self.random.randint(1, 5)
        sort = self.make_sort(table) if not table.ordered or self.chance(0.5) else []
        return [*sort, {"limit": limit}]

    def make_top(self, table):
        within = [self.pick(table, TEXT, WHOLE, DATE).name for _ in range(self.random.choice((0, 1, 1, 1, 2)))]
        return [{"top": {"rows": self.random.randint(1, 4), "by": self.total_order(table), "within": sorted(set(within))}}]

    def overlaps(self, table, column, other, there):
        domain = self.domains.get((other, there.name))
        if not domain or there.kind != column.kind:
            return False
        here = self.values(table.sql, column, 200)
        form = normal_form if column.words and there.words else lambda value: value
        if column.kind == TEXT and column.words != there.words:
            form = lambda value: value
        here, domain = {form(v) for v in here}, {form(v) for v in domain}
        return len(here & domain) * 4 >= min(len(here), len(domain))

    def make_join(self, table):
        for _ in range(60):
            other = self.random.choice(sorted(self.reference.tables))
            _, theirs = self.reference.tables[other]
            column, there = self.pick(table, TEXT, WHOLE, DATE), self.random.choice(theirs)
            if not self.overlaps(table, column, other, there):
                continue
            pairs = [(column, there)]
            if self.chance(0.5):
                more = [(a, b) for a in table.columns for b in theirs if a is not column and b is not there and b.kind in (TEXT, WHOLE, DATE) and self.overlaps(table, a, other, b)]
                pairs += [self.random.choice(more)] if more else []
            return [self.join_of(table, other, theirs, pairs)]
        raise Skip

    def join_of(self, table, other, theirs, pairs):
        kind = self.random.choice(("inner", "inner", "left", "left", "semi", "anti", "full"))
        on = []
        for place, (here, there) in enumerate(pairs):
            key = {"left": here.name, "right": there.name}
            if here.kind == TEXT and (not (here.words and there.words) or self.chance(0.3)):
                key["exact"] = True
            on.append(key)
        names = {there.name for _, there in pairs}
        others = [column for column in theirs if column.name not in names]
        added = self.random.sample(others, min(len(others), self.random.randint(1, 3)))
        relation = {"source": {"table": other}}
        steps = []
        if self.chance(0.3):
            steps.append({"filter": self.condition(self.reference.source(other), 0)})
        if self.chance(0.35):
            # One row for each key, so that rows are not multiplied.
            keys = [{"of": {"column": there.name}, "as": there.name} for _, there in pairs]
            measures = [self.measure(self.reference.source(other), False) for _ in range(2)]
            measures = [measure for measure in measures if measure["function"] not in ("first", "share")]
            steps.append({"group": {"keys": keys, "measures": measures or [{"function": "count", "as": self.name("count")}]}})
            columns = []
        else:
            columns = [{"column": column.name, "as": self.name("joined")} for column in added]
        if steps:
            relation["steps"] = steps
        join = {"with": relation, "kind": kind, "on": on}
        if columns and kind not in ("semi", "anti"):
            join["columns"] = columns
        elif kind not in ("semi", "anti") and not steps:
            raise Skip
        return {"join": join}

    def make_union(self, table):
        others = []
        for _ in range(self.random.choice((1, 1, 2))):
            other = self.random.choice(sorted(self.reference.tables))
            sql, theirs = self.reference.tables[other]
            if self.chance(0.6) and table.source in self.reference.tables:
                other = table.source
                sql, theirs = self.reference.tables[other]
            free, pairs = list(theirs), []
            for column in table.columns:
                same = [c for c in free if c.kind == column.kind or {c.kind, column.kind} == {WHOLE, NUMBER}]
                same = [c for c in same if c.name == column.name] or same
                if same:
                    pairs.append([column.name, same[0].name])
                    free.remove(same[0])
            if len(pairs) < min(2, len(table.columns)):
                raise Skip
            relation = {"source": {"table": other}}
            if self.chance(0.5):
                relation["steps"] = [{"filter": self.condition(self.reference.source(other), 0)}]
            part = {"with": relation, "columns": pairs}
            if all(a == b for a, b in pairs) and len(pairs) == len(table.columns) and self.chance(0.5):
                del part["columns"]
            others.append(part)
        union = {"others": others}
        if self.chance(0.4):
            union["source_column"] = self.name("source")
        if self.chance(0.15):
            for part in others:
                _, theirs = self.reference.tables[part["with"]["source"]["table"]]
                extra = self.random.choice(theirs).name
                used = [b for _, b in part.get("columns", [])]
                kept = list(dict.fromkeys([*used, extra])) if used else None
                if kept is None or any(extra.lower() == c.name.lower() for c in table.columns):
                    raise Skip
                part["with"].setdefault("steps", []).append({"select": [{"column": name} for name in kept]})
            union["keep_extra"] = True
        return [{"union": union}]

    def make_unpivot(self, table):
        kind = self.random.choice(((WHOLE, NUMBER), (WHOLE,), (NUMBER,), (TEXT,), (DATE,)))
        columns = [column.name for column in table.columns if column.kind in kind]
        if len(columns) < 2 or len(columns) == len(table.columns):
            raise Skip
        turned = self.random.sample(columns, self.random.randint(2, len(columns)))
        body = {"columns": turned, "name": self.name("turned"), "value": self.name("cell")}
        if self.chance(0.3):
            body["keep_missing"] = True
        return [{"unpivot": body}]

    def make_pivot(self, table):
        column = self.pick(table, TEXT, WHOLE)
        if column.kind == TEXT and not column.words:
            raise Skip
        values = self.values(table.sql, column, 12)
        if not 2 <= len(values) < 12 or len({normal_form(str(value)) for value in values}) < len(values):
            raise Skip
        others = [one for one in table.columns if one is not column]
        measure = self.measure(table)
        if measure["function"] in ("first", "share") or "column" not in measure.get("of", {"column": ""}):
            raise Skip
        del measure["as"]
        rows = [one.name for one in others if one.kind in (TEXT, WHOLE, DATE) and one.name != measure.get("of", {}).get("column")]
        if not rows:
            raise Skip
        rows = self.random.sample(rows, min(len(rows), self.random.choice((1, 1, 2))))
        body = {"column": column.name, "rows": rows, "measure": measure}
        if self.chance(0.6):
            body["values"] = self.random.sample(values, self.random.randint(1, min(5, len(values))))
        return [{"pivot": body}]

    # Values.

    def date_part(self, column):
        parts = ["year", "month", "day", "quarter", "weekday", "decade", "year_month", "date"] + ["hour"] * (column.kind == TIME)
        return self.random.choice(parts)

    def bin(self, table, column):
        values = self.values(table.sql, column)
        if not values:
            raise Skip
        size = max(1, (max(values) - min(values)) / self.random.choice((3, 5, 8)))
        width = self.random.choice((float(math.ceil(size)), 0.5, 2.5, 10.0)) if size < 100 else float(math.ceil(size))
        body = {"of": {"column": column.name}, "width": width}
        if self.chance(0.4):
            body["start"] = self.random.choice((1.0, 5.0, -3.0, 0.5))
        return {"bin": body}

    def text_function(self, table, column):
        function = self.random.choice(("lower", "upper", "trim", "length", "slice", "slice", "replace", "split"))
        letters = f"SELECT count(*) FROM {table.sql} WHERE NOT regexp_full_match(CAST({quoted(column.name)} AS VARCHAR), '[ -~]*')"
        if function in ("lower", "upper") and self.reference.rows(letters)[0][0]:
            # Engines differ in ß, in İ, and in how they put accents together.
            raise Skip
        if function == "slice":
            function = {"slice": {"from": self.random.randint(1, 4), **({"length": self.random.randint(1, 4)} if self.chance(0.7) else {})}}
        elif function in ("replace", "split"):
            text = str(self.value_of(table, column))
            by = self.random.choice([c for c in text] + [" ", "-"])
            function = {"replace": {"text": by, "with": self.random.choice(("", "_", "%"))}} if function == "replace" else {"split": {"by": by, "part": self.random.choice((1, 1, 2, -1))}}
        return {"text": {"function": function, "of": {"column": column.name}}}

    def arithmetic(self, table, depth):
        left = self.numeric(table, depth)
        operator = self.random.choice(("plus", "minus", "times", "divided_by", "divided_by", "modulo", "to_the_power"))
        if operator == "modulo":
            return {"arithmetic": {"operator": operator, "left": {"column": self.pick(table, WHOLE).name}, "right": {"value": self.random.choice((2, 3, 7, 10))}}}
        if operator == "to_the_power":
            return {"arithmetic": {"operator": operator, "left": left, "right": {"value": self.random.choice((2, 0.5))}}}
        right = {"value": self.random.choice((2, 10, 0.5, 1000, 100.0))} if self.chance(0.4) else self.numeric(table, 0)
        if self.chance(0.1):
            left, right = right, left
        return {"arithmetic": {"operator": operator, "left": left, "right": right}}

    def numeric(self, table, depth):
        if depth > 0 and self.chance(0.6):
            return self.arithmetic(table, depth - 1)
        return {"column": self.pick(table, WHOLE, NUMBER).name}

    def expression(self, table, depth):
        choice = self.random.choice(("arithmetic", "arithmetic", "number", "text", "concat", "part", "bin", "case", "case", "first_present", "convert", "over", "over", "share", "previous", "running_total", "rank", "dates", "value"))
        return getattr(self, f"of_{choice}")(table, depth)

    def of_arithmetic(self, table, depth):
        return self.arithmetic(table, depth)

    def of_number(self, table, depth):
        # Not to tenths: 50.65 is no half in binary, and engines differ in whether they know.
        function = self.random.choice(("absolute", "floor", "ceiling", "logarithm", "square_root", {"round": 0}, {"round": -2}))
        return {"number": {"function": function, "of": self.numeric(table, depth)}}

    def of_text(self, table, depth):
        return self.text_function(table, self.pick(table, TEXT))

    def of_concat(self, table, depth):
        return {"concat": [{"column": self.pick(table, TEXT, WHOLE, DATE).name}, {"value": self.random.choice((" / ", "-", ""))}, {"column": self.pick(table, TEXT, WHOLE, DATE).name}]}

    def of_part(self, table, depth):
        column = self.pick(table, DATE, TIME)
        return {"part": {"part": self.date_part(column), "of": {"column": column.name}}}

    def of_bin(self, table, depth):
        return self.bin(table, self.pick(table, WHOLE, NUMBER, exact=True))

    def of_case(self, table, depth):
        kind = self.random.choice(("text", "number", "column"))
        branches = []
        for place in range(self.random.choice((1, 2, 3))):
            then = {"value": f"case {place}"} if kind == "text" else {"value": place + 1} if kind == "number" else {"column": self.pick(table, WHOLE, NUMBER).name}
            branches.append({"when": self.condition(table, self.random.choice((0, 1)), windows=False), "then": then})
        case = {"branches": branches}
        if self.chance(0.6):
            case["otherwise"] = {"value": "else"} if kind == "text" else {"value": 0}
        return {"case": case}

    def of_first_present(self, table, depth):
        kind = self.random.choice((TEXT, WHOLE, DATE))
        parts = [{"column": self.pick(table, kind).name}, {"column": self.pick(table, kind).name}]
        if self.chance(0.5) and kind != DATE:
            parts.append({"value": "unknown" if kind == TEXT else -1})
        return {"first_present": parts}

    def of_convert(self, table, depth):
        to = self.random.choice(("text", "number", "integer", "date", "boolean"))
        kinds = {"text": (WHOLE, DATE), "number": (WHOLE,), "integer": (NUMBER, WHOLE), "date": (TIME, DATE), "boolean": (WHOLE,)}[to]
        return {"convert": {"to": to, "of": {"column": self.pick(table, *kinds, exact=True).name}}}

    def within(self, table):
        if self.chance(0.35):
            return {}
        return {"within": sorted({self.pick(table, TEXT, WHOLE, DATE, BOOLEAN).name for _ in range(self.random.choice((1, 1, 2)))})}

    def of_over(self, table, depth):
        measure = self.measure(table, False)
        while measure["function"] in ("quantile", "share"):
            measure = self.measure(table, False)
        del measure["as"]
        return {"over": {**measure, **self.within(table)}}

    def of_share(self, table, depth):
        return {"share": {"of": {"column": self.pick(table, WHOLE, NUMBER).name}, **self.within(table), "times": self.random.choice((1.0, 100.0))}}

    def of_previous(self, table, depth):
        body = {"of": {"column": self.pick(table, TEXT, WHOLE, NUMBER, DATE).name}, "by": self.total_order(table), **self.within(table)}
        if self.chance(0.3):
            body["rows"] = self.random.choice((2, 3))
        return {"previous": body}

    def of_running_total(self, table, depth):
        return {"running_total": {"of": {"column": self.pick(table, WHOLE, NUMBER).name}, "by": self.total_order(table), **self.within(table)}}

    def of_rank(self, table, depth):
        return {"rank": {"by": [self.by(self.pick(table, WHOLE, NUMBER, TEXT, DATE, exact=True))], **self.within(table)}}

    def of_dates(self, table, depth):
        column = self.pick(table, DATE)
        if self.chance(0.5):
            right = {"column": self.pick(table, DATE).name}
            return {"arithmetic": {"operator": "minus", "left": {"column": column.name}, "right": right}}
        return {"arithmetic": {"operator": self.random.choice(("plus", "minus")), "left": {"column": column.name}, "right": {"value": self.random.randint(1, 400)}}}

    def of_value(self, table, depth):
        return {"value": self.random.choice((7, 2.5, "a text", True))}

    # Conditions.

    def condition(self, table, depth, windows=True):
        if depth > 0 and self.chance(0.75):
            word = self.random.choice(("all", "any", "any", "not"))
            if word == "not":
                return {"not": self.condition(table, depth - 1, windows)}
            return {word: [self.condition(table, depth - 1, windows) for _ in range(self.random.choice((2, 2, 3)))]}
        choice = self.random.choice(("compare",) * 5 + ("between", "between", "one_of", "text", "text", "missing", "holds", "columns", "computed") + ("around",) * windows)
        return getattr(self, f"if_{choice}")(table)

    def written(self, value):
        """A word as somebody else would write it."""
        return self.random.choice((value, value, value.upper(), value.lower(), f" {value} ", value.replace(" ", "  ")))

    def if_compare(self, table):
        column = self.random.choice(table.columns)
        how = self.random.choice(("equal", "different", "less", "at_most", "greater", "at_least"))
        left = {"column": column.name}
        value = self.value_of(table, column)
        if column.kind == TEXT:
            if not column.words:
                raise Skip
            how, value = self.random.choice(("equal", "equal", "different")), self.written(value)
        elif column.kind in (DATE, TIME):
            value = self.random.choice((value.strftime("%Y-%m-%d"), value.strftime("%Y-%m"), value.strftime("%Y"), value.year))
        elif column.kind == BOOLEAN:
            how = self.random.choice(("equal", "different"))
        elif column.kind == NUMBER:
            value = float(f"{value:.9g}")
            if not column.exact:
                value *= 1.0001234
            if how in ("equal", "different") and not column.exact:
                raise Skip
        elif self.chance(0.1):
            value = str(value)
        right = {"value": value}
        if self.chance(0.08):
            flipped = Reference.FLIPPED.get(how, how)
            return {"compare": {"left": right, "comparison": flipped, "right": left}}
        return {"compare": {"left": left, "comparison": how, "right": right}}

    def if_between(self, table):
        column = self.pick(table, WHOLE, NUMBER, DATE, TIME)
        values = sorted(self.value_of(table, column) for _ in range(2))
        if column.kind in (DATE, TIME):
            form = self.random.choice(("%Y-%m-%d", "%Y-%m", "%Y"))
            values = [value.strftime(form) for value in values]
        elif column.kind == NUMBER:
            values = [float(f"{values[0]:.9g}") * 0.9999871, float(f"{values[1]:.9g}") * 1.0000123]
            values.sort()
        return {"between": {"value": {"column": column.name}, "from": values[0], "to": values[1]}}

    def if_one_of(self, table):
        column = self.pick(table, TEXT, WHOLE, DATE)
        if column.kind == TEXT and not column.words:
            raise Skip
        values = [self.value_of(table, column) for _ in range(self.random.randint(1, 5))]
        if column.kind == TEXT:
            values = [self.written(value) for value in values]
        elif column.kind == DATE:
            values = [value.isoformat() for value in values]
        return {"one_of": {"value": {"column": column.name}, "values": values}}

    def if_text(self, table):
        column = self.pick(table, TEXT, TEXT, WHOLE)
        value = str(self.value_of(table, column))
        test = self.random.choice(("contains", "starts", "ends"))
        size = self.random.randint(1, min(4, len(value)) or 1)
        at = self.random.randint(0, max(0, len(value) - size))
        text = {"contains": value[at : at + size], "starts": value[:size], "ends": value[-size:]}[test]
        if self.chance(0.05):
            text = self.random.choice(("%", "_", "\\", "'"))
        body = {"value": {"column": column.name}, "test": test, "text": text}
        if self.chance(0.3):
            body["exact"] = True
        elif self.chance(0.5):
            body["text"] = text.upper()
        return {"text": body}

    def if_missing(self, table):
        column = self.random.choice(table.columns)
        if column.kind == TEXT and not column.words:
            raise Skip
        missing = {"missing": {"column": column.name}}
        return {"not": missing} if self.chance(0.6) else missing

    def if_holds(self, table):
        return {"holds": {"column": self.pick(table, BOOLEAN, WHOLE).name}}

    def if_columns(self, table):
        a = self.random.choice(table.columns)
        kinds = (WHOLE, NUMBER) if a.kind in (WHOLE, NUMBER) else (a.kind,)
        b = self.pick(table, *kinds, words=a.kind == TEXT, exact=True)
        if a is b or not a.exact or (a.kind == TEXT and not a.words):
            raise Skip
        signs = ("equal", "different") if a.kind in (TEXT, BOOLEAN) else ("less", "at_most", "greater", "at_least", "different")
        return {"compare": {"left": {"column": a.name}, "comparison": self.random.choice(signs), "right": {"column": b.name}}}

    def if_computed(self, table):
        if self.chance(0.4):
            column = self.pick(table, DATE, TIME)
            part = self.random.choice(("month", "weekday", "quarter", "day"))
            top = {"month": 12, "weekday": 7, "quarter": 4, "day": 28}[part]
            left = {"part": {"part": part, "of": {"column": column.name}}}
            return {"compare": {"left": left, "comparison": self.random.choice(("equal", "at_most", "greater")), "right": {"value": self.random.randint(1, top)}}}
        if self.chance(0.4):
            column = self.pick(table, TEXT)
            left = {"text": {"function": "length", "of": {"column": column.name}}}
            return {"compare": {"left": left, "comparison": self.random.choice(("less", "at_least")), "right": {"value": self.random.randint(2, 15)}}}
        a, b = self.pick(table, WHOLE, NUMBER, exact=True), self.pick(table, WHOLE, NUMBER, exact=True)
        left = {"arithmetic": {"operator": self.random.choice(("plus", "minus", "times", "divided_by")), "left": {"column": a.name}, "right": {"column": b.name}}}
        return {"compare": {"left": left, "comparison": self.random.choice(("less", "greater")), "right": {"value": self.random.choice((0.1234, 1.777, 50.321, 1000.77))}}}

    def if_around(self, table):
        column = self.pick(table, WHOLE, NUMBER)
        around = {"over": {"function": self.random.choice(("mean", "max", "median")), "of": {"column": column.name}, **self.within(table)}}
        # A mean may meet the value itself, which two engines need not compute alike.
        times = {"arithmetic": {"operator": "times", "left": around, "right": {"value": 0.9999321}}}
        return {"compare": {"left": {"column": column.name}, "comparison": self.random.choice(("less", "greater")), "right": times}}


def plain(value):
    return value if isinstance(value, (int, float, bool, type(None))) else str(value)


def main():
    program, lake, out = sys.argv[1:4]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 2400
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else 20
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    with tempfile.TemporaryDirectory() as folder:
        tables = loaded(connection, exported(program, lake, folder))
    reference = Reference(connection, tables)
    plans = Plans(reference, seed)
    lines, known, used, steps, empty = [], set(), set(), collections.Counter(), 0
    while len(lines) < count:
        plan, table = plans.plan()
        key = json.dumps(plan)
        order = " ORDER BY __place" if table.ordered else ""
        rows = reference.rows(f"SELECT {', '.join(quoted(c.name) for c in table.columns)} FROM {table.sql}{order}")
        reference.forget()
        if len(rows) > MOST_ROWS or key in known or len(plan["steps"]) < 2:
            continue
        if not rows:
            empty += 1
            if empty > count // 50:
                continue
        known.add(key)
        kinds = [column.kind for column in table.columns]
        line = {"plan": plan, "columns": [[c.name, c.kind] for c in table.columns], "ordered": table.ordered, "result": figures(rows, kinds, table.ordered)}
        if len(rows) * len(kinds) <= SMALL_CELLS:
            line["sample"] = [[(float(f"{v:.9g}") if k == NUMBER else spelled(v, k)) if v is not None else None for v, k in zip(row, kinds)] for row in rows]
        lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
        steps.update(word for step in plan["steps"] for word in step)
        used.add(plan["source"]["table"])
    pathlib.Path(out).parent.mkdir(parents=True, exist_ok=True)
    with open(out, "wb") as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=9, mtime=0) as packed:
        packed.write(("\n".join(lines) + "\n").encode())
    print(f"{len(lines)} plans over {len(used)} tables, {pathlib.Path(out).stat().st_size:,} bytes; steps: {dict(steps.most_common())}")


if __name__ == "__main__":
    main()
