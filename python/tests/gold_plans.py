"""Plans that compute what a SELECT computes, for tests: SQL in DuckDB's dialect, read by sqlglot, by general rules over its syntax.

`Translator(columns).plan(sql)` gives the plan as JSON; `columns(table)` names the columns of a table. What has no rule raises
`NoPlan` with the construct. SQL compares texts as written and plans in their normal form: where that differs, so do the results.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp

Json = dict[str, Any]


class NoPlan(Exception):
    """A construct that no rule turns into steps."""


@dataclass
class Relation:
    """A plan in the making. `scope`: for each column that SQL can name its table's alias, its name, and its name in the plan."""

    source: str
    steps: list[Json] = field(default_factory=list)
    scope: list[tuple[str, str, str]] = field(default_factory=list)

    def json(self) -> Json:
        return {"source": {"table": self.source}, **({"steps": self.steps} if self.steps else {})}

    def names(self) -> list[str]:
        return [name for _, _, name in self.scope]


SIGNS = {exp.EQ: "equal", exp.NEQ: "different", exp.LT: "less", exp.LTE: "at_most", exp.GT: "greater", exp.GTE: "at_least"}
FLIPPED = {"less": "greater", "greater": "less", "at_most": "at_least", "at_least": "at_most"}
ARITHMETIC = {exp.Add: "plus", exp.Sub: "minus", exp.Mul: "times", exp.Div: "divided_by", exp.Mod: "modulo", exp.Pow: "to_the_power"}
PARTS = {exp.Year: "year", exp.Month: "month", exp.Day: "day", exp.Quarter: "quarter", exp.Hour: "hour", exp.DayOfWeekIso: "weekday"}
NUMBERS = {exp.Abs: "absolute", exp.Floor: "floor", exp.Ceil: "ceiling", exp.Ln: "logarithm", exp.Sqrt: "square_root"}
TEXTS = {exp.Lower: "lower", exp.Upper: "upper", exp.Trim: "trim", exp.Length: "length"}
MEASURES = {exp.Sum: "sum", exp.Avg: "mean", exp.Min: "min", exp.Max: "max", exp.Median: "median", exp.Stddev: "standard_deviation", exp.StddevSamp: "standard_deviation"}
AGGREGATES = (*MEASURES, exp.Count, exp.CountIf, exp.Quantile, exp.PercentileCont, exp.Corr, exp.ArgMax, exp.ArgMin, exp.AnyValue, exp.First)
TYPES = {"VARCHAR": "text", "TEXT": "text", "DOUBLE": "number", "FLOAT": "number", "DECIMAL": "number", "INT": "integer", "BIGINT": "integer", "DATE": "date", "BOOLEAN": "boolean"}


class Translator:
    """Turns SELECTs into plans."""

    def __init__(self, columns: Callable[[str], list[str]]) -> None:
        self.columns = columns
        self.made = 0

    def plan(self, sql: str) -> Json:
        self.made = 0
        return {"version": 1, **self.query(sqlglot.parse_one(sql, read="duckdb"), {}).json()}

    def name(self, word: str) -> str:
        self.made += 1
        return f"{word} {self.made}"

    # Queries.

    def query(self, node: exp.Expression, tables: dict[str, exp.Expression]) -> Relation:
        if isinstance(node, (exp.Subquery, exp.Paren)):
            return self.query(node.this, tables)
        named = node.args.get("with_") or node.args.get("with")
        if named:
            tables = {**tables, **{one.alias: one.this for one in named.expressions}}
        if isinstance(node, exp.Union):
            return self.union(node, tables)
        if isinstance(node, exp.Select):
            return self.select(node, tables)
        raise NoPlan(type(node).__name__)

    def union(self, node: exp.Union, tables: dict[str, exp.Expression]) -> Relation:
        here, there = self.query(node.this, tables), self.query(node.expression, tables)
        by_name = node.args.get("by_name")
        if not by_name and len(here.scope) != len(there.scope):
            raise NoPlan("a union of tables of two widths")
        # The rows of a table in an order or cut come with their steps.
        part: Json = {"with": there.json()}
        if not by_name:
            part["columns"] = [[a, b] for a, b in zip(here.names(), there.names())]
        last = here.steps[-1] if here.steps else None
        if last and "union" in last and not by_name and isinstance(node.this, exp.Union) and node.this.args.get("distinct") == node.args.get("distinct"):
            last["union"]["others"].append(part)
        else:
            here.steps.append({"union": {"others": [part], **({"keep_extra": True} if by_name else {})}})
        if by_name:
            here.scope += [("", name, plan) for _, name, plan in there.scope if plan not in here.names()]
        if node.args.get("distinct"):
            here.steps.append({"distinct": []})
        here.scope = [("", name, plan) for _, name, plan in here.scope]
        self.order_and_limit(node, here)
        return here

    def table(self, node: exp.Expression, tables: dict[str, exp.Expression]) -> Relation:
        alias = node.alias_or_name
        if isinstance(node, exp.Table) and node.name in tables:
            made = self.query(tables[node.name].copy(), tables)
        elif isinstance(node, exp.Table):
            made = Relation(node.name, [], [(alias, name, name) for name in self.columns(node.name)])
        else:
            made = self.query(node, tables)
        made.scope = [(alias, name, plan) for _, name, plan in made.scope]
        return made

    def source(self, node: exp.Select, tables: dict[str, exp.Expression]) -> Relation:
        start = node.args.get("from_") or node.args.get("from")
        if start is None:
            raise NoPlan("a SELECT without a table")
        made = self.table(start.this, tables)
        for join in node.args.get("joins") or []:
            self.join(made, join, tables)
        return made

    def join(self, made: Relation, join: exp.Join, tables: dict[str, exp.Expression]) -> None:
        other = self.table(join.this, tables)
        kind = (join.side or join.kind or "INNER").lower()
        if join.kind in ("SEMI", "ANTI"):
            kind = join.kind.lower()
        keys, rest = [], []
        if join.args.get("using"):
            for one in join.args["using"]:
                keys.append((self.column_name(made, exp.column(one.name)), self.column_name(other, exp.column(one.name)), True))
        elif join.args.get("on") is not None:
            for part in conjuncts(join.args["on"]):
                key = self.key(part, made, other)
                keys.append(key) if key else rest.append(part)
        if not keys:
            raise NoPlan("a join without equal columns")
        if rest and kind == "inner":
            pass
        elif rest and all(self.belongs(part, other) for part in rest) and kind in ("left", "inner", "semi", "anti"):
            other.steps.append({"filter": {"all": [self.condition(part, other) for part in rest]}})
            rest = []
        elif rest:
            raise NoPlan("an outer join on more than equal columns")
        if kind not in ("inner", "left", "full", "semi", "anti"):
            raise NoPlan(f"a {kind} join")
        taken = {name.lower() for name in made.names()}
        added, scope = [], []
        for alias, name, plan in other.scope:
            wanted, number = plan, 1
            while wanted.lower() in taken:
                number += 1
                wanted = f"{plan} {number}"
            taken.add(wanted.lower())
            added.append({"column": plan, "as": wanted})
            scope.append((alias, name, wanted))
        body: Json = {"with": other.json(), "kind": kind}
        body["on"] = [{"left": a, "right": b, **({"exact": True} if exact else {})} for a, b, exact in keys]
        if kind not in ("semi", "anti"):
            body["columns"] = added
            made.scope += scope
        made.steps.append({"join": body})
        if rest:
            made.steps.append({"filter": {"all": [self.condition(part, made) for part in rest]}})

    def belongs(self, node: exp.Expression, relation: Relation) -> bool:
        return all(self.found(relation, column) for column in node.find_all(exp.Column))

    def key(self, part: exp.Expression, made: Relation, other: Relation) -> tuple[str, str, bool] | None:
        if not isinstance(part, exp.EQ):
            return None
        for left, right in ((part.this, part.expression), (part.expression, part.this)):
            if left.find(exp.Column) and right.find(exp.Column) and self.belongs(left, made) and self.belongs(right, other):
                # The tables that queries were written for have their cells trimmed.
                left, right = (exp.Trim(this=one.copy()) if isinstance(one, exp.Lower) else one for one in (left, right))
                return self.derived(made, left), self.derived(other, right), True
        return None

    def derived(self, relation: Relation, node: exp.Expression) -> str:
        """The name of a column that holds the value; one more column where it is computed."""
        if isinstance(node, exp.Column):
            return self.column_name(relation, node)
        name = self.name("computed")
        relation.steps.append({"derive": {"name": name, "value": self.value(node, relation)}})
        return name

    def select(self, node: exp.Select, tables: dict[str, exp.Expression]) -> Relation:
        made = self.source(node, tables)
        if node.args.get("where"):
            self.where(node.args["where"].this, made, tables)
        outputs = self.outputs(node, made)
        aliases = {output.alias.lower(): output.unalias() for output in outputs if isinstance(output, exp.Alias)}
        expressions = [output.unalias() for output in outputs]
        having = node.args["having"].this if node.args.get("having") else None
        order = [one.this for one in node.args["order"].expressions] if node.args.get("order") else []
        order = [self.by_alias(one, aliases, made) for one in order]
        replaced: dict[str, exp.Expression] = {}
        if node.args.get("group") or any(self.aggregates(one) for one in [*expressions, having] if one is not None):
            expressions = [self.resolved(one, made) for one in expressions]
            aliases = {name: self.resolved(one, made) for name, one in aliases.items()}
            order = [self.resolved(one, made) for one in order]
            having = self.resolved(self.by_alias(having, aliases, made), made) if having is not None else None
            replaced = self.group(node, made, expressions, aliases, [one for one in (having, *order) if one is not None])
            expressions = [self.replace(one, replaced) for one in expressions]
            order = [self.replace(one, replaced) for one in order]
            if having is not None:
                made.steps.append({"filter": self.condition(self.scalars(self.replace(having, replaced), made, tables), made)})
        elif having is not None:
            raise NoPlan("HAVING without a group")
        kept, scope = [], []
        for output, value in zip(outputs, expressions):
            value = self.scalars(value, made, tables)
            name = output.alias_or_name or value.sql()
            column = self.derived(made, value)
            if any(one["column"] == column and one["as"] == name for one in kept):
                continue
            wanted, number = name, 1
            while any(one["as"].lower() == wanted.lower() for one in kept):
                number += 1
                wanted = f"{name} {number}"
            kept.append({"column": column, "as": wanted})
            scope.append(("", name, wanted))
        if node.args.get("qualify"):
            made.steps.append({"filter": self.condition(self.by_alias(node.args["qualify"].this, aliases, made), made)})
        distinct = node.args.get("distinct")
        by_output = {place: one["column"] for place, one in enumerate(kept, 1)}
        named = {one["as"].lower(): one["column"] for one in kept}
        if not distinct:
            self.order_and_limit(node, made, order, by_output, named)
        made.steps.append({"select": [one if one["as"] != one["column"] else {"column": one["column"]} for one in kept]})
        made.scope = scope
        if distinct:
            if distinct.args.get("on"):
                raise NoPlan("DISTINCT ON")
            made.steps.append({"distinct": []})
            self.order_and_limit(node, made)
        return made

    def outputs(self, node: exp.Select, made: Relation) -> list[exp.Expression]:
        outputs: list[exp.Expression] = []
        for one in node.expressions or [exp.Star()]:
            star = one if isinstance(one, exp.Star) else one.this if isinstance(one, exp.Column) and isinstance(one.this, exp.Star) else None
            if star is None:
                outputs.append(one)
                continue
            alias = one.table if isinstance(one, exp.Column) else ""
            left_out = {name.name.lower() for name in star.args.get("except_") or star.args.get("except") or []}
            # USING names one column where there are two.
            using = {key.name.lower() for join in node.args.get("joins") or [] for key in join.args.get("using") or []}
            seen: set[str] = set()
            for table, name, plan in made.scope:
                if (alias and table != alias) or name.lower() in left_out or (name.lower() in using and name.lower() in seen):
                    continue
                seen.add(name.lower())
                outputs.append(exp.alias_(planned(plan), name, quoted=True))
        return outputs

    def where(self, node: exp.Expression, made: Relation, tables: dict[str, exp.Expression]) -> None:
        parts = []
        for part in conjuncts(node):
            negated = isinstance(part, exp.Not)
            inner = part.this.unnest() if negated else part.unnest()
            query = inner.args.get("query") if isinstance(inner, exp.In) else None
            if query is not None:
                other = self.query(query.this if isinstance(query, exp.Subquery) else query, tables)
                on = [{"left": self.derived(made, inner.this), "right": other.names()[0], "exact": True}]
                made.steps.append({"join": {"with": other.json(), "kind": "anti" if negated else "semi", "on": on}})
            elif isinstance(inner, exp.Exists):
                raise NoPlan("EXISTS")
            else:
                parts.append(self.condition(self.scalars(part, made, tables), made))
        if parts:
            made.steps.append({"filter": parts[0] if len(parts) == 1 else {"all": parts}})

    def scalars(self, node: exp.Expression, made: Relation, tables: dict[str, exp.Expression]) -> exp.Expression:
        """A query for one value becomes a column: joined on a constant that both tables have."""
        node = node.copy()
        for query in list(node.find_all(exp.Subquery)):
            other = self.query(query, tables)
            one, value = self.name("one"), self.name("scalar")
            for relation in (made, other):
                relation.steps.append({"derive": {"name": one, "value": {"value": 1}}})
            columns = [{"column": other.names()[0], "as": value}]
            made.steps.append({"join": {"with": other.json(), "kind": "left", "on": [{"left": one, "right": one}], "columns": columns}})
            if query is node:
                return planned(value)
            query.replace(planned(value))
            # What is named there is no column here.
            made.scope.append(("", value, value))
        return node

    def aggregates(self, node: exp.Expression) -> list[exp.Expression]:
        """The aggregates of a group: no windows themselves, but what is within one; nothing of a query within."""
        found: list[exp.Expression] = []

        def look(one: exp.Expression, heads_window: bool = False) -> None:
            if isinstance(one, (exp.Subquery, exp.Select)):
                return
            if isinstance(one, (*AGGREGATES, exp.Filter, exp.WithinGroup, exp.IgnoreNulls)) and not heads_window:
                found.append(one)
                return
            for name, child in one.args.items():
                for each in child if isinstance(child, list) else [child]:
                    if isinstance(each, exp.Expression):
                        look(each, isinstance(one, exp.Window) and name == "this")

        look(node)
        return found

    def resolved(self, node: exp.Expression, made: Relation) -> exp.Expression:
        """The expression with columns of the plan in place of what SQL calls them, so that equal ones have equal texts."""

        def put(one: exp.Expression) -> exp.Expression:
            if isinstance(one, exp.Column) and not isinstance(one.this, exp.Star):
                found = self.found(made, one)
                return planned(found) if found else one
            return one

        return rewritten(node.copy(), put)

    def group(self, node: exp.Select, made: Relation, expressions: list, aliases: dict, more: list) -> dict[str, exp.Expression]:
        """Adds a grouping; for the text of each key and aggregate the column that holds it then."""
        replaced: dict[str, exp.Expression] = {}
        keys, measures = [], []
        clause = node.args.get("group")
        if clause is not None and clause.args.get("all"):
            wanted = [one for one in expressions if not self.aggregates(one)]
        else:
            wanted = []
            for one in clause.expressions if clause else []:
                if isinstance(one, exp.Literal) and one.is_int:
                    one = expressions[int(one.this) - 1]
                elif isinstance(one, exp.Column) and not one.table and not self.found(made, one):
                    one = aliases.get(one.name.lower(), one)
                wanted.append(self.resolved(one, made))
        for one in wanted:
            name = self.name("key")
            keys.append({"of": self.value(one, made), "as": name})
            replaced[text(one)] = planned(name)
        for one in [*expressions, *more]:
            for aggregate in self.aggregates(one):
                if text(aggregate) not in replaced:
                    name = self.name("measure")
                    measures.append({**self.measure(aggregate, made), "as": name})
                    replaced[text(aggregate)] = planned(name)
        made.steps.append({"group": {word: part for word, part in (("keys", keys), ("measures", measures)) if part}})
        made.scope = [("", column.args["plan"], column.args["plan"]) for column in replaced.values()]
        return replaced

    def by_alias(self, node: exp.Expression, aliases: dict, made: Relation) -> exp.Expression:
        def put(one: exp.Expression) -> exp.Expression:
            if isinstance(one, exp.Column) and not one.table and not self.found(made, one) and one.name.lower() in aliases:
                return aliases[one.name.lower()].copy()
            return one

        return rewritten(node.copy(), put)

    def replace(self, node: exp.Expression, replaced: dict[str, exp.Expression]) -> exp.Expression:
        def put(one: exp.Expression) -> exp.Expression:
            if isinstance(one, (exp.Identifier, exp.Literal, exp.Star)):
                return one
            found = replaced.get(text(one))
            return found.copy() if found is not None else one

        return rewritten(node.copy(), put)

    def order_and_limit(self, node: exp.Expression, made: Relation, values: list | None = None, places: dict | None = None, named: dict | None = None) -> None:
        """`values`: what is ordered by, in terms of the plan; `places` and `named`: columns of what is selected later."""
        if node.args.get("order"):
            by = []
            expressions = node.args["order"].expressions
            for one, value in zip(expressions, values or [one.this for one in expressions]):
                if isinstance(value, exp.Literal) and value.is_int:
                    place = int(value.this)
                    column = (places or dict(enumerate(made.names(), 1)))[place]
                    of: Json = {"column": column}
                elif isinstance(value, exp.Column) and named and value.name.lower() in named and not value.table:
                    of = {"column": named[value.name.lower()]}
                else:
                    of = self.value(value, made)
                first = one.args.get("nulls_first")
                if first:
                    by.append({"by": {"case": {"branches": [{"when": {"missing": of}, "then": {"value": 0}}], "otherwise": {"value": 1}}}})
                by.append({"by": of, **({"direction": "descending"} if one.args.get("desc") else {})})
            made.steps.append({"sort": by})
        limit, offset = node.args.get("limit"), node.args.get("offset")
        if limit or offset:
            rows = int(limit.expression.this) if limit else 2**62
            made.steps.append({"limit": {"rows": rows, **({"skip": int(offset.expression.this)} if offset else {})}})

    # Columns.

    def found(self, relation: Relation, column: exp.Column) -> str | None:
        if column.args.get("plan"):
            return column.args["plan"]
        name, table = column.name, column.table
        fitting = [plan for alias, own, plan in relation.scope if own.lower() == name.lower() and (not table or alias.lower() == table.lower())]
        return fitting[0] if fitting else None

    def column_name(self, relation: Relation, column: exp.Column) -> str:
        found = self.found(relation, column)
        if found is None:
            raise NoPlan(f"a column that is not there: {column.sql()}")
        return found

    # Values.

    def value(self, node: exp.Expression, made: Relation) -> Json:
        if isinstance(node, exp.Paren):
            return self.value(node.this, made)
        if isinstance(node, exp.Column):
            return {"column": self.column_name(made, node)}
        constant = literal(node)
        if constant is not None:
            return {"value": constant}
        kind = type(node)
        if kind is exp.Neg:
            return {"arithmetic": {"operator": "minus", "left": {"value": 0}, "right": self.value(node.this, made)}}
        if kind in ARITHMETIC:
            return {"arithmetic": {"operator": ARITHMETIC[kind], "left": self.value(node.this, made), "right": self.value(node.expression, made)}}
        if kind is exp.IntDiv:
            quotient = {"arithmetic": {"operator": "divided_by", "left": self.value(node.this, made), "right": self.value(node.expression, made)}}
            return {"convert": {"to": "integer", "of": quotient}}
        if kind in PARTS:
            return {"part": {"part": PARTS[kind], "of": self.value(node.this, made)}}
        if kind in (exp.TimestampTrunc, exp.DateTrunc):
            unit = node.args["unit"].name.lower()
            if unit == "month":
                return {"part": {"part": "year_month", "of": self.value(node.this, made)}}
            if unit == "day":
                return {"part": {"part": "date", "of": self.value(node.this, made)}}
            raise NoPlan(f"date_trunc to a {unit}")
        if kind is exp.TimeToStr:
            return self.date_text(node, made)
        if kind in NUMBERS:
            return {"number": {"function": NUMBERS[kind], "of": self.value(node.this, made)}}
        if kind is exp.Round:
            decimals = literal(node.args["decimals"]) if node.args.get("decimals") else 0
            return {"number": {"function": {"round": decimals}, "of": self.value(node.this, made)}}
        if kind in TEXTS:
            return {"text": {"function": TEXTS[kind], "of": self.value(node.this, made)}}
        if kind is exp.Substring:
            length = literal(node.args["length"]) if node.args.get("length") else None
            how = {"from": literal(node.args["start"]), **({"length": length} if length is not None else {})}
            return {"text": {"function": {"slice": how}, "of": self.value(node.this, made)}}
        if kind is exp.Left:
            return {"text": {"function": {"slice": {"from": 1, "length": literal(node.expression)}}, "of": self.value(node.this, made)}}
        if kind in (exp.RegexpReplace, exp.Replace):
            old = literal(node.expression)
            new = literal(node.args["replacement"]) or ""
            # A pattern without signs is a text; a plan replaces each occurrence, as `g` does.
            if kind is exp.RegexpReplace and (not isinstance(old, str) or re.search(r"[\\^$.|?*+()\[\]{}]", old)):
                raise NoPlan("a regular expression")
            return {"text": {"function": {"replace": {"text": old, "with": new}}, "of": self.value(node.this, made)}}
        if kind is exp.SplitPart:
            how = {"by": literal(node.args["delimiter"]), "part": literal(node.args["part_index"])}
            return {"text": {"function": {"split": how}, "of": self.value(node.this, made)}}
        if kind is exp.DPipe:
            return {"concat": [self.value(node.this, made), self.value(node.expression, made)]}
        if kind is exp.Concat:
            return {"concat": [self.value(one, made) for one in node.expressions]}
        if kind is exp.Coalesce:
            return {"first_present": [self.value(one, made) for one in [node.this, *node.expressions]]}
        if kind is exp.Nullif:
            same = self.condition(exp.EQ(this=node.this.copy(), expression=node.expression.copy()), made)
            return {"case": {"branches": [{"when": {"not": same}, "then": self.value(node.this, made)}]}}
        if kind in (exp.Case, exp.If):
            return self.case(node, made)
        if kind in (exp.Cast, exp.TryCast):
            to = TYPES.get(node.to.this.name)
            if to is None:
                raise NoPlan(f"a cast to {node.to.sql()}")
            return {"convert": {"to": to, "of": self.value(node.this, made)}}
        if kind is exp.Window:
            return self.window(node, made)
        raise NoPlan(f"{kind.__name__}: {node.sql('duckdb')[:60]}")

    def date_text(self, node: exp.Expression, made: Relation) -> Json:
        """A date in a format, from the text of its day."""
        day = {"convert": {"to": "text", "of": {"part": {"part": "date", "of": self.value(node.this, made)}}}}
        places = {"%Y": (1, 4), "%m": (6, 2), "%d": (9, 2)}
        parts: list[Json] = []
        for piece in re.findall(r"%.|[^%]+", literal(node.args["format"])):
            if piece in places:
                start, length = places[piece]
                parts.append({"text": {"function": {"slice": {"from": start, "length": length}}, "of": day}})
            elif piece.startswith("%"):
                raise NoPlan(f"a date written as {piece}")
            else:
                parts.append({"value": piece})
        return parts[0] if len(parts) == 1 else {"concat": parts}

    def case(self, node: exp.Expression, made: Relation) -> Json:
        branches = []
        for one in node.args.get("ifs") or [node]:
            when = one.this if node.args.get("ifs") is None or node.this is None else exp.EQ(this=node.this.copy(), expression=one.this.copy())
            branches.append({"when": self.condition(when, made), "then": self.value(one.args["true"], made)})
        default = node.args.get("default") if node.args.get("ifs") is not None else node.args.get("false")
        body: Json = {"branches": branches}
        if default is not None and not isinstance(default, exp.Null):
            body["otherwise"] = self.value(default, made)
        return {"case": body}

    def window(self, node: exp.Window, made: Relation) -> Json:
        within = [self.derived(made, one) for one in node.args.get("partition_by") or []]
        rest = {"within": within} if within else {}
        order = node.args.get("order")
        by = [{"by": self.value(one.this, made), **({"direction": "descending"} if one.args.get("desc") else {})} for one in order.expressions] if order else []
        function = node.this
        if isinstance(function, exp.Rank):
            return {"rank": {"by": by, **rest}}
        if isinstance(function, exp.RowNumber):
            # Equal rows have one place: the same where the order tells all rows apart.
            return {"rank": {"by": by, **rest}}
        if isinstance(function, exp.Lag):
            rows = literal(function.args["offset"]) if function.args.get("offset") else 1
            return {"previous": {"of": self.value(function.this, made), "by": by, **rest, "rows": rows}}
        if isinstance(function, exp.Sum) and by:
            return {"running_total": {"of": self.value(function.this, made), "by": by, **rest}}
        if by:
            raise NoPlan(f"{type(function).__name__} over an order")
        measure = self.measure(function, made)
        if "where" in measure:
            raise NoPlan("a window with FILTER")
        return {"over": {**measure, **rest}}

    def measure(self, node: exp.Expression, made: Relation) -> Json:
        if isinstance(node, exp.Filter):
            return {**self.measure(node.this, made), "where": self.condition(node.expression.this, made)}
        if isinstance(node, exp.IgnoreNulls):
            return self.measure(node.this, made)
        if isinstance(node, exp.WithinGroup):
            return {"function": "quantile", "at": literal(node.this.this), "of": self.value(node.expression.expressions[0].this, made)}
        if isinstance(node, exp.Count):
            of = node.this
            if of is None or isinstance(of, exp.Star):
                return {"function": "count"}
            if isinstance(of, exp.Distinct):
                if len(of.expressions) > 1:
                    raise NoPlan("a count of different pairs")
                return {"function": "count_distinct", "of": self.value(of.expressions[0], made)}
            return {"function": "count"} if literal(of) is not None else {"function": "count", "of": self.value(of, made)}
        if isinstance(node, exp.CountIf):
            return {"function": "count", "where": self.condition(node.this, made)}
        if isinstance(node, exp.Quantile):
            return {"function": "quantile", "at": literal(node.args["quantile"]), "of": self.value(node.this, made)}
        if isinstance(node, exp.Corr):
            return {"function": "correlation", "of": self.value(node.this, made), "with": self.value(node.expression, made)}
        if isinstance(node, (exp.ArgMax, exp.ArgMin)):
            order = {"by": self.value(node.expression, made), **({"direction": "descending"} if isinstance(node, exp.ArgMax) else {})}
            return {"function": "first", "of": self.value(node.this, made), "by": [order]}
        if isinstance(node, (exp.AnyValue, exp.First)):
            return {"function": "min", "of": self.value(node.this, made)}
        if type(node) in MEASURES:
            if isinstance(node.this, exp.Distinct):
                raise NoPlan(f"{type(node).__name__} of different values")
            # The mean of a condition is the part of rows that meet it.
            return {"function": MEASURES[type(node)], "of": self.value(node.this, made)}
        raise NoPlan(type(node).__name__)

    # Conditions.

    def condition(self, node: exp.Expression, made: Relation) -> Json:
        kind = type(node)
        if kind is exp.Paren:
            return self.condition(node.this, made)
        if kind is exp.And:
            return {"all": [self.condition(one, made) for one in conjuncts(node)]}
        if kind is exp.Or:
            return {"any": [self.condition(node.this, made), self.condition(node.expression, made)]}
        if kind is exp.Not:
            return self.negated(node.this.unnest(), made)
        if kind in SIGNS:
            left, right = self.value(node.this, made), self.value(node.expression, made)
            return {"compare": {"left": left, "comparison": SIGNS[kind], "right": right}}
        if kind is exp.Between:
            low, high = literal(node.args["low"]), literal(node.args["high"])
            if low is not None and high is not None:
                return {"between": {"value": self.value(node.this, made), "from": low, "to": high}}
            bounds = [exp.GTE(this=node.this.copy(), expression=node.args["low"].copy()), exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())]
            return {"all": [self.condition(one, made) for one in bounds]}
        if kind is exp.In:
            if node.args.get("query") is not None:
                raise NoPlan("IN a query among other conditions")
            values = [literal(one) for one in node.expressions]
            if None in values:
                raise NoPlan("IN a list of values that are computed")
            return {"one_of": {"value": self.value(node.this, made), "values": values}}
        if kind is exp.Is:
            of = node.expression
            if isinstance(of, exp.Null):
                return {"missing": self.value(node.this, made)}
            holds = {"holds": self.value(node.this, made)}
            return holds if of.this else {"all": [{"not": holds}, {"not": {"missing": self.value(node.this, made)}}]}
        if kind in (exp.Like, exp.ILike):
            if node.args.get("negate"):
                positive = node.copy()
                positive.set("negate", None)
                return self.negated(positive, made)
            return self.like(node, made)
        if kind in (exp.Contains, exp.StartsWith, exp.EndsWith):
            test = {exp.Contains: "contains", exp.StartsWith: "starts", exp.EndsWith: "ends"}[kind]
            return {"text": {"value": self.value(node.this, made), "test": test, "text": literal(node.expression), "exact": True}}
        if kind in (exp.Column, exp.Cast, exp.Case):
            return {"holds": self.value(node, made)}
        if kind is exp.Boolean:
            return {"all": []} if node.this else {"any": []}
        raise NoPlan(f"a condition: {node.sql('duckdb')[:60]}")

    def negated(self, node: exp.Expression, made: Relation) -> Json:
        """NOT of SQL: false where a value is missing, while `not` of plans is true there."""
        if isinstance(node, exp.Is):
            return {"not": self.condition(node, made)}
        present = [{"not": {"missing": {"column": name}}} for name in dict.fromkeys(self.column_name(made, one) for one in node.find_all(exp.Column))]
        return {"all": [{"not": self.condition(node, made)}, *present]}

    def like(self, node: exp.Expression, made: Relation) -> Json:
        pattern = literal(node.expression)
        if "_" in pattern or "\\" in pattern:
            raise NoPlan("LIKE with a sign for one character")
        value = self.value(node.this, made)
        exact = {"exact": True} if isinstance(node, exp.Like) else {}
        pieces = pattern.split("%")
        if len(pieces) == 1:
            return {"compare": {"left": value, "comparison": "equal", "right": {"value": pattern}}}
        if sum(bool(piece) for piece in pieces[1:-1]) > 1:
            raise NoPlan("LIKE with several parts in an order")
        tests = [("starts", pieces[0]), *[("contains", piece) for piece in pieces[1:-1]], ("ends", pieces[-1])]
        parts = [{"text": {"value": value, "test": test, "text": piece, **exact}} for test, piece in tests if piece]
        return parts[0] if len(parts) == 1 else {"all": parts}


def planned(name: str) -> exp.Expression:
    """A column that is called so in the plan."""
    column = exp.column(name, quoted=True)
    column.set("plan", name)
    return column


def rewritten(node: exp.Expression, put: Callable[[exp.Expression], exp.Expression]) -> exp.Expression:
    """The expression with what `put` makes of its parts; queries within are left as they are."""
    made = put(node)
    if made is not node or isinstance(node, (exp.Subquery, exp.Select)):
        return made
    for name, child in list(node.args.items()):
        if isinstance(child, list):
            node.set(name, [rewritten(one, put) if isinstance(one, exp.Expression) else one for one in child])
        elif isinstance(child, exp.Expression):
            node.set(name, rewritten(child, put))
    return node


def text(node: exp.Expression) -> str:
    return node.sql("duckdb").lower()


def conjuncts(node: exp.Expression) -> list[exp.Expression]:
    node = node.unnest()
    return conjuncts(node.this) + conjuncts(node.expression) if isinstance(node, exp.And) else [node]


def literal(node: exp.Expression) -> Any:
    """The constant that an expression is, else None."""
    if isinstance(node, exp.Paren):
        return literal(node.this)
    if isinstance(node, exp.Literal):
        if node.is_string:
            return node.this
        return int(node.this) if re.fullmatch(r"\d+", node.this) else float(node.this)
    if isinstance(node, exp.Neg):
        inner = literal(node.this)
        return -inner if isinstance(inner, (int, float)) else None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.to.this.name in ("DATE", "TIMESTAMP"):
        return node.this.this
    return None
