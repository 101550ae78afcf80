"""What a plan means, in DuckDB's SQL: each step of a plan as one SELECT over the table that the step before has made.

It is the reference for what Lakeward makes of plans (`random_plans.py`, `check_plans.py`) and shares no code with it: it follows
the documentation of the plan's types (`lakeward schema plan`). It covers what a generator makes, not every plan: joined columns have
names of their own, and the texts that are compared by their normal form are words without digits.

An order of rows is a hidden column, `ORDER_COLUMN`, so that it lives through the steps after a sort.
"""

import dataclasses
import datetime
import unicodedata

ORDER_COLUMN = "__place"
TEXT, WHOLE, NUMBER, DATE, TIME, BOOLEAN = "text", "whole", "number", "date", "time", "boolean"


@dataclasses.dataclass
class Column:
    """A column of a table; `exact` where two engines compute the same bits, `words` where every text is words without digits."""

    name: str
    kind: str
    exact: bool = True
    words: bool = False


@dataclasses.dataclass
class Table:
    """A table in DuckDB: its name there, its columns, whether it has an order, and the id of the lake's table it began with."""

    sql: str
    columns: list
    ordered: bool
    source: str

    def column(self, name):
        return next(column for column in self.columns if column.name == name)


class Unsupported(Exception):
    """A plan that the reference does not cover."""


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def literal(text):
    return "'" + text.replace("'", "''") + "'"


def normal_form(text):
    """The form by which words are compared: without case, accents, punctuation and extra spaces, words in any order."""
    letters = unicodedata.normalize("NFC", "".join(c for c in unicodedata.normalize("NFKD", text) if not "\u0300" <= c <= "\u036f"))
    folded = []
    for c in letters.lower():
        if c in "'’‘ʼ`":
            continue
        folded.append(" and " if c == "&" else c if c.isalnum() or unicodedata.category(c).startswith("M") else " ")
    parts = "".join(folded).split()
    if 2 <= len(parts) <= 8:
        parts.sort()
    return " ".join(parts)


def span(value):
    """The first day of what a date, a month or a year names, and the day after its last."""
    parts = [int(part) for part in str(value).split("-")]
    first = datetime.date(*(parts + [1, 1])[:3])
    if len(parts) == 1:
        return first, datetime.date(first.year + 1, 1, 1)
    if len(parts) == 2:
        return first, datetime.date(first.year + first.month // 12, first.month % 12 + 1, 1)
    return first, first + datetime.timedelta(days=1)


class Reference:
    """Runs plans in a DuckDB connection; `tables` gives for an id of the lake the name and the columns of its table there."""

    def __init__(self, connection, tables):
        self.connection = connection
        self.tables = tables
        self.made = 0
        connection.create_function("normal_form", normal_form, ["VARCHAR"], "VARCHAR")

    def relation(self, relation):
        table = self.source(relation["source"]["table"])
        for step in relation.get("steps", []):
            table = self.step(table, step)
        return table

    def source(self, name):
        sql, columns = self.tables[name]
        return Table(sql, list(columns), False, name)

    def rows(self, sql):
        return self.connection.execute(sql).fetchall()

    def step(self, table, step):
        ((word, body),) = step.items()
        return getattr(self, word)(table, body)

    def make(self, table, select, columns, ordered, rest="", group="", source=None):
        """The table of one SELECT over `table`. `select`: SQL for each of `columns`; NaN and infinity are missing values."""
        parts = []
        for sql, column in zip(select, columns):
            if column.kind == NUMBER:
                sql = f"CASE WHEN isfinite(CAST({sql} AS DOUBLE)) THEN CAST({sql} AS DOUBLE) END"
            elif column.kind == WHOLE:
                sql = f"CAST({sql} AS BIGINT)"
            parts.append(f"{sql} AS {quoted(column.name)}")
        names = [column.name.lower() for column in columns]
        if len(set(names)) < len(names):
            raise Unsupported("two columns of one name")
        if ordered is True:
            parts.append(ORDER_COLUMN)
        elif ordered:
            parts.append(f"{ordered} AS {ORDER_COLUMN}")
        self.made += 1
        name = f"made_{self.made}"
        tables = table if source else table.sql
        self.connection.execute(f"CREATE TEMP TABLE {name} AS SELECT {', '.join(parts)} FROM {tables} {rest} {group}")
        return Table(name, columns, bool(ordered), source or table.source)

    def own(self, table):
        return [quoted(column.name) for column in table.columns]

    def forget(self):
        """Drops the tables that plans have made."""
        for number in range(1, self.made + 1):
            self.connection.execute(f"DROP TABLE IF EXISTS made_{number}")
        self.made = 0

    # Steps.

    def filter(self, table, condition):
        where = self.condition(table, condition)
        self.made += 1
        name = f"made_{self.made}"
        # Windows look at the rows before the filter.
        self.connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM {table.sql} QUALIFY {where} AND row_number() OVER () > 0")
        return dataclasses.replace(table, sql=name)

    def select(self, table, kept):
        columns = [dataclasses.replace(table.column(one["column"]), name=one.get("as") or one["column"]) for one in kept]
        return self.make(table, [quoted(one["column"]) for one in kept], columns, table.ordered)

    def drop(self, table, names):
        return self.select(table, [{"column": column.name} for column in table.columns if column.name not in names])

    def rename(self, table, pairs):
        names = dict(pairs)
        return self.select(table, [{"column": column.name, "as": names.get(column.name)} for column in table.columns])

    def derive(self, table, body):
        sql, made = self.value(table, body["value"])
        made = dataclasses.replace(made, name=body["name"])
        select, columns = self.own(table), list(table.columns)
        for place, column in enumerate(columns):
            if column.name.lower() == made.name.lower():
                select[place], columns[place] = sql, made
                break
        else:
            select.append(sql)
            columns.append(made)
        return self.make(table, select, columns, table.ordered)

    def group(self, table, body):
        # Windows are computed before rows are grouped.
        select, columns = [], []
        keys = body.get("keys", [])
        for key in keys:
            sql, column = self.value(table, key["of"])
            select.append(sql)
            columns.append(dataclasses.replace(column, name=key.get("as") or column.name))
        group = "GROUP BY " + ", ".join(str(place + 1) for place in range(len(keys))) if keys else ""
        shares = []
        for measure in body.get("measures", []):
            if measure["function"] == "share":
                shares.append((len(select), measure))
                of = f"sum({self.number(table, measure['of'])})" if "of" in measure else "count(*)"
                sql, column = of + self.where(table, measure), Column(measure["as"], NUMBER, False)
            else:
                sql, column = self.measure(table, measure)
                sql += self.where(table, measure)
            select.append(sql)
            columns.append(dataclasses.replace(column, name=measure["as"]))
        made = self.make(table, select, columns, None, group=group)
        if not shares:
            return made
        select = self.own(made)
        for place, measure in shares:
            within = ", ".join(quoted(name) for name in measure.get("within", []))
            total = f"sum({select[place]}) OVER ({'PARTITION BY ' + within if within else ''})"
            select[place] = f"{measure.get('times', 1.0)} * {select[place]} / nullif({total}, 0)"
        return self.make(made, select, columns, None)

    def where(self, table, measure):
        return f" FILTER (WHERE {self.condition(table, measure['where'])})" if measure.get("where") else ""

    def distinct(self, table, names):
        by = [quoted(name) for name in names] or self.own(table)
        if len(by) == len(table.columns):
            order = f"min({ORDER_COLUMN})" if table.ordered else None
            return self.make(table, self.own(table), table.columns, order, group="GROUP BY ALL")
        if not table.ordered:
            raise Unsupported("the first rows of a table without an order")
        first = f"QUALIFY row_number() OVER (PARTITION BY {', '.join(by)} ORDER BY {ORDER_COLUMN}) = 1"
        return self.make(table, self.own(table), table.columns, True, first)

    def order(self, table, by):
        """ORDER BY that leaves no two different rows equal."""
        parts = [self.value(table, one["by"])[0] + (" DESC" if one.get("direction") == "descending" else "") + " NULLS LAST" for one in by]
        named = {one["by"].get("column") for one in by}
        if table.ordered:
            parts.append(ORDER_COLUMN)
        elif any(column.name not in named for column in table.columns):
            raise Unsupported("an order with equal rows")
        return "ORDER BY " + ", ".join(parts)

    def sort(self, table, by):
        place = f"row_number() OVER ({self.order(table, by)})"
        return self.make(table, self.own(table), table.columns, place)

    def limit(self, table, body):
        if not table.ordered:
            raise Unsupported("the first rows of a table without an order")
        cut = f"ORDER BY {ORDER_COLUMN} LIMIT {body['rows']} OFFSET {body.get('skip', 0)}"
        return self.make(table, self.own(table), table.columns, True, cut)

    def top(self, table, body):
        within = ", ".join(quoted(name) for name in body["within"])
        if not within:
            return self.limit(self.sort(table, body["by"]), {"rows": body["rows"]})
        first = f"QUALIFY row_number() OVER (PARTITION BY {within} {self.order(table, body['by'])}) <= {body['rows']}"
        return self.make(table, self.own(table), table.columns, None, first)

    def join(self, table, body):
        other = self.relation(body["with"])
        kind = body.get("kind", "left")
        on = []
        for key in body["on"]:
            left, right = table.column(key["left"]), other.column(key["right"])
            sides = [f"l.{quoted(left.name)}", f"r.{quoted(right.name)}"]
            if left.kind == TEXT and not key.get("exact"):
                if not (left.words and right.words):
                    raise Unsupported("the normal form of codes")
                sides = [f"normal_form({side})" for side in sides]
            on.append(f"{sides[0]} = {sides[1]}")
        on = " AND ".join(on)
        left = [f"l.{name}" for name in self.own(table)]
        if kind in ("semi", "anti"):
            exists = f"EXISTS (SELECT 1 FROM {other.sql} r WHERE {on})"
            return self.make(f"{table.sql} l", left, table.columns, table.ordered, f"WHERE {'NOT ' if kind == 'anti' else ''}{exists}", source=table.source)
        keys = [key["right"] for key in body["on"]]
        kept = body.get("columns") or [{"column": column.name} for column in other.columns if column.name not in keys]
        columns = list(table.columns)
        if kind == "full":
            rights = {key["left"]: key["right"] for key in body["on"]}
            for place, column in enumerate(table.columns):
                if column.name in rights:
                    left[place] = f"coalesce({left[place]}, r.{quoted(rights[column.name])})"
        for one in kept:
            left.append(f"r.{quoted(one['column'])}")
            columns.append(dataclasses.replace(other.column(one["column"]), name=one.get("as") or one["column"]))
        both = f"{table.sql} l {kind.upper()} JOIN {other.sql} r ON {on}"
        return self.make(both, left, columns, None, source=table.source)

    def union(self, table, body):
        parts = [(table, {column.name: column.name for column in table.columns})]
        columns = [dataclasses.replace(column) for column in table.columns]
        for part in body["others"]:
            other = self.relation(part["with"])
            pairs = dict(part.get("columns", [])) or {c.name: c.name for c in table.columns if any(o.name == c.name for o in other.columns)}
            if body.get("keep_extra"):
                for column in other.columns:
                    if column.name in pairs.values():
                        continue
                    same = [extra for extra in columns[len(table.columns):] if extra.name == column.name]
                    if not same:
                        columns.append(dataclasses.replace(column))
                    pairs[column.name] = column.name
            parts.append((other, pairs))
        for column in columns:
            theirs = [other.column(pairs[column.name]) for other, pairs in parts if column.name in pairs]
            kinds = {one.kind for one in theirs}
            if kinds == {WHOLE, NUMBER}:
                column.kind = NUMBER
            elif len(kinds) > 1:
                raise Unsupported("values of two kinds in one column")
            column.exact = all(one.exact for one in theirs)
            column.words = all(one.words for one in theirs)
        selects = []
        for other, pairs in parts:
            select = [f"{quoted(pairs[c.name]) if c.name in pairs else 'NULL'} AS {quoted(c.name)}" for c in columns]
            if body.get("source_column"):
                select.append(f"{literal(other.source)} AS {quoted(body['source_column'])}")
            selects.append(f"SELECT {', '.join(select)} FROM {other.sql}")
        if body.get("source_column"):
            columns.append(Column(body["source_column"], TEXT))
        whole = " UNION ALL ".join(selects)
        return self.make(f"({whole})", [quoted(c.name) for c in columns], columns, None, source=table.source)

    def unpivot(self, table, body):
        turned = [table.column(name) for name in body["columns"]]
        kinds = {column.kind for column in turned}
        kind = NUMBER if kinds == {WHOLE, NUMBER} else kinds.pop()
        others = [column for column in table.columns if column.name not in body["columns"]]
        value = Column(body["value"], kind, all(column.exact for column in turned), all(column.words for column in turned))
        columns = others + [Column(body["name"], TEXT), value]
        selects = []
        for column in turned:
            select = self.own_of(others) + [f"{literal(column.name)} AS {quoted(body['name'])}", f"{quoted(column.name)} AS {quoted(body['value'])}"]
            missing = "" if body.get("keep_missing") else f" WHERE {quoted(column.name)} IS NOT NULL"
            selects.append(f"SELECT {', '.join(select)} FROM {table.sql}{missing}")
        whole = " UNION ALL ".join(selects)
        return self.make(f"({whole})", [quoted(c.name) for c in columns], columns, None, source=table.source)

    def own_of(self, columns):
        return [quoted(column.name) for column in columns]

    def pivot(self, table, body):
        column = table.column(body["column"])
        values = body.get("values")
        if not values:
            found = self.rows(f"SELECT DISTINCT {quoted(column.name)} AS v FROM {table.sql} WHERE v IS NOT NULL ORDER BY v")
            values = [value for (value,) in found]
        measured = [column.name, body["measure"].get("of", {}).get("column")]
        rows = body.get("rows") or [c.name for c in table.columns if c.name not in measured]
        measures = []
        for value in values:
            is_value = {"compare": {"left": {"column": column.name}, "comparison": "equal", "right": {"value": value}}}
            both = {"all": [is_value, body["measure"]["where"]]} if body["measure"].get("where") else is_value
            measures.append({**body["measure"], "where": both, "as": str(value)})
        return self.group(table, {"keys": [{"of": {"column": name}} for name in rows], "measures": measures})

    # Measures.

    def measure(self, table, measure):
        function = measure["function"]
        if "of" not in measure:
            return "count(*)", Column("", WHOLE)
        sql, column = self.value(table, measure["of"])
        if function == "count":
            return f"count({sql})", Column("", WHOLE)
        if function == "count_distinct":
            return f"count(DISTINCT {sql})", Column("", WHOLE)
        if function in ("min", "max"):
            return f"{function}({sql})", column
        if function == "first":
            # DuckDB's first leaves missing values in.
            return f"first({sql} {self.order(table, measure['by'])})", column
        number = self.number(table, measure["of"])
        if function == "sum":
            whole = column.kind in (WHOLE, BOOLEAN)
            return f"sum({number})", Column("", WHOLE if whole else NUMBER, whole)
        if function == "quantile":
            return f"quantile_cont(CAST({number} AS DOUBLE), {measure['at']})", Column("", NUMBER, False)
        if function == "correlation":
            # Not over numbers that are all the same.
            other = self.number(table, measure["with"])
            return f"corr(CAST({number} AS DOUBLE), CAST({other} AS DOUBLE))", Column("", NUMBER, False)
        name = {"mean": "avg", "median": "median", "standard_deviation": "stddev_samp"}[function]
        return f"{name}(CAST({number} AS DOUBLE))", Column("", NUMBER, False)

    # Values of a row.

    def number(self, table, expression):
        sql, column = self.value(table, expression)
        if column.kind == BOOLEAN:
            return f"CAST({sql} AS BIGINT)"
        if column.kind not in (WHOLE, NUMBER):
            raise Unsupported("numbers written as text")
        return sql

    def text(self, table, expression):
        sql, column = self.value(table, expression)
        if column.kind in (TEXT, WHOLE, DATE):
            return f"CAST({sql} AS VARCHAR)", column
        raise Unsupported("how engines write numbers")

    def value(self, table, expression):
        ((word, body),) = expression.items()
        if word == "column":
            return quoted(body), table.column(body)
        if word == "value":
            if isinstance(body, bool):
                return str(body).upper(), Column("", BOOLEAN)
            if isinstance(body, str):
                return literal(body), Column("", TEXT)
            return (f"CAST({body} AS BIGINT)", Column("", WHOLE)) if isinstance(body, int) else (f"CAST({body!r} AS DOUBLE)", Column("", NUMBER))
        return getattr(self, f"value_{word}")(table, body)

    def value_arithmetic(self, table, body):
        (_, left), (_, right) = self.value(table, body["left"]), self.value(table, body["right"])
        operator = body["operator"]
        if DATE in (left.kind, right.kind) or TIME in (left.kind, right.kind):
            (a, _), (b, _) = self.value(table, body["left"]), self.value(table, body["right"])
            a, b = (f"CAST({sql} AS DATE)" if one.kind in (DATE, TIME) else sql for sql, one in ((a, left), (b, right)))
            if operator == "minus" and right.kind in (DATE, TIME):
                return f"({a} - {b})", Column("", WHOLE)
            sign = {"plus": "+", "minus": "-"}[operator]
            return f"CAST({a} {sign} CAST({b} AS INTEGER) AS DATE)", Column("", DATE)
        a, b = self.number(table, body["left"]), self.number(table, body["right"])
        exact = left.exact and right.exact
        whole = {left.kind, right.kind} <= {WHOLE, BOOLEAN}
        if operator == "divided_by":
            return f"(CAST({a} AS DOUBLE) / nullif(CAST({b} AS DOUBLE), 0))", Column("", NUMBER, exact)
        if operator == "to_the_power":
            power = f"power(CAST({a} AS DOUBLE), CAST({b} AS DOUBLE))"
            return f"CASE WHEN NOT isnan({power}) THEN {power} END", Column("", NUMBER, False)
        if operator == "modulo":
            return f"({a} % nullif({b}, 0))", Column("", WHOLE if whole else NUMBER, exact)
        sign = {"plus": "+", "minus": "-", "times": "*"}[operator]
        return f"({a} {sign} {b})", Column("", WHOLE if whole else NUMBER, exact)

    def value_number(self, table, body):
        function = body["function"]
        _, column = self.value(table, body["of"])
        number = self.number(table, body["of"])
        if function == "absolute":
            return f"abs({number})", Column("", WHOLE if column.kind in (WHOLE, BOOLEAN) else NUMBER, column.exact)
        number = f"CAST({number} AS DOUBLE)"
        if isinstance(function, dict):
            return f"round({number}, {function['round']})", Column("", NUMBER, False)
        if function == "logarithm":
            return f"CASE WHEN {number} > 0 THEN ln({number}) END", Column("", NUMBER, False)
        if function == "square_root":
            return f"CASE WHEN {number} >= 0 THEN sqrt({number}) END", Column("", NUMBER, False)
        return f"{ {'floor': 'floor', 'ceiling': 'ceil'}[function]}({number})", Column("", NUMBER, column.exact)

    def value_text(self, table, body):
        sql, column = self.text(table, body["of"])
        function = body["function"]
        if isinstance(function, str):
            if function == "length":
                return f"length({sql})", Column("", WHOLE)
            if function == "normal":
                if not column.words:
                    raise Unsupported("the normal form of codes")
                return f"normal_form({sql})", Column("", TEXT, words=True)
            return f"{function}({sql})", Column("", TEXT, words=column.words)
        ((word, how),) = function.items()
        if word == "slice":
            length = f", {how['length']}" if how.get("length") is not None else ""
            return f"substr({sql}, {how['from']}{length})", Column("", TEXT)
        if word == "replace":
            return f"replace({sql}, {literal(how['text'])}, {literal(how['with'])})", Column("", TEXT)
        return f"split_part({sql}, {literal(how['by'])}, {how['part']})", Column("", TEXT)

    def value_concat(self, table, parts):
        return f"concat({', '.join(self.text(table, part)[0] for part in parts)})", Column("", TEXT)

    def value_part(self, table, body):
        sql, column = self.value(table, body["of"])
        part = body["part"]
        if column.kind == WHOLE:
            if part == "year":
                return sql, dataclasses.replace(column)
            if part == "decade":
                return f"CAST(floor({sql} / 10) * 10 AS BIGINT)", Column("", WHOLE)
            raise Unsupported("parts of a year")
        if part == "decade":
            return f"(year({sql}) - year({sql}) % 10)", Column("", WHOLE)
        if part == "year_month":
            return f"CAST(date_trunc('month', {sql}) AS DATE)", Column("", DATE)
        if part == "date":
            return f"CAST({sql} AS DATE)", Column("", DATE)
        return f"{'isodow' if part == 'weekday' else part}({sql})", Column("", WHOLE)

    def value_bin(self, table, body):
        width, start = float(body["width"]), float(body.get("start", 0))
        _, column = self.value(table, body["of"])
        sql = f"(floor((CAST({self.number(table, body['of'])} AS DOUBLE) - {start!r}) / {width!r}) * {width!r} + {start!r})"
        whole = width.is_integer() and start.is_integer()
        return (f"CAST({sql} AS BIGINT)", Column("", WHOLE)) if whole else (sql, Column("", NUMBER, column.exact))

    def one_kind(self, typed):
        kinds = {column.kind for _, column in typed}
        if kinds == {WHOLE, NUMBER}:
            return Column("", NUMBER, all(column.exact for _, column in typed))
        if len(kinds) > 1:
            raise Unsupported("values of two kinds")
        return Column("", kinds.pop(), all(column.exact for _, column in typed), all(column.words for _, column in typed))

    def value_case(self, table, body):
        typed = [self.value(table, branch["then"]) for branch in body["branches"]]
        sql = "CASE" + "".join(
            f" WHEN {self.condition(table, branch['when'])} THEN {then}" for branch, (then, _) in zip(body["branches"], typed)
        )
        if body.get("otherwise") is not None:
            typed.append(self.value(table, body["otherwise"]))
            sql += f" ELSE {typed[-1][0]}"
        return sql + " END", self.one_kind(typed)

    def value_first_present(self, table, parts):
        typed = [self.value(table, part) for part in parts]
        return f"coalesce({', '.join(sql for sql, _ in typed)})", self.one_kind(typed)

    def value_convert(self, table, body):
        to, (sql, column) = body["to"], self.value(table, body["of"])
        if to == "text":
            return self.text(table, body["of"])[0], Column("", TEXT)
        if to == "number":
            return f"CAST({self.number(table, body['of'])} AS DOUBLE)", Column("", NUMBER, column.exact)
        if to == "integer":
            return f"CAST(trunc(CAST({self.number(table, body['of'])} AS DOUBLE)) AS BIGINT)", Column("", WHOLE, column.exact)
        if to == "date" and column.kind in (DATE, TIME):
            return f"CAST({sql} AS DATE)", Column("", DATE)
        if to == "boolean" and column.kind in (WHOLE, NUMBER, BOOLEAN):
            return (f"({sql} <> 0)" if column.kind != BOOLEAN else sql), Column("", BOOLEAN)
        raise Unsupported("reading of text")

    def window(self, table, body, order=""):
        within = ", ".join(quoted(name) for name in body.get("within", []))
        return f"OVER ({'PARTITION BY ' + within if within else ''} {order})"

    def value_over(self, table, body):
        if body["function"] == "first":
            sql, column = self.value(table, body["of"])
            return f"first_value({sql}) {self.window(table, body, self.order(table, body['by']))}", column
        sql, column = self.measure(table, body)
        return f"{sql} {self.window(table, body)}", column

    def value_share(self, table, body):
        number = f"CAST({self.number(table, body['of'])} AS DOUBLE)"
        sql = f"{float(body.get('times', 1.0))!r} * {number} / nullif(sum({number}) {self.window(table, body)}, 0)"
        return sql, Column("", NUMBER, False)

    def value_previous(self, table, body):
        sql, column = self.value(table, body["of"])
        return f"lag({sql}, {body.get('rows', 1)}) {self.window(table, body, self.order(table, body['by']))}", column

    def value_running_total(self, table, body):
        _, column = self.value(table, body["of"])
        rows = self.order(table, body["by"]) + " ROWS UNBOUNDED PRECEDING"
        whole = column.kind in (WHOLE, BOOLEAN)
        return f"sum({self.number(table, body['of'])}) {self.window(table, body, rows)}", Column("", WHOLE if whole else NUMBER, whole)

    def value_rank(self, table, body):
        # Equal values share a place, so the order need not be total.
        parts = [self.value(table, one["by"])[0] + (" DESC" if one.get("direction") == "descending" else "") + " NULLS LAST" for one in body["by"]]
        return f"rank() {self.window(table, body, 'ORDER BY ' + ', '.join(parts))}", Column("", WHOLE)

    # Conditions.

    def condition(self, table, condition):
        ((word, body),) = condition.items()
        return getattr(self, f"is_{word}")(table, body)

    def is_all(self, table, parts):
        return "(" + " AND ".join(self.condition(table, part) for part in parts) + ")" if parts else "TRUE"

    def is_any(self, table, parts):
        return "(" + " OR ".join(self.condition(table, part) for part in parts) + ")" if parts else "FALSE"

    def is_not(self, table, part):
        return f"(NOT coalesce({self.condition(table, part)}, FALSE))"

    def is_missing(self, table, of):
        return f"({self.value(table, of)[0]} IS NULL)"

    def is_holds(self, table, of):
        sql, column = self.value(table, of)
        if column.kind not in (BOOLEAN, WHOLE, NUMBER):
            raise Unsupported("reading of text")
        return sql if column.kind == BOOLEAN else f"({sql} <> 0)"

    def is_text(self, table, body):
        sql, _ = self.text(table, body["value"])
        text = body["text"]
        if not body.get("exact"):
            sql, text = f"lower({sql})", text.lower()
        function = {"contains": "contains", "starts": "starts_with", "ends": "ends_with"}[body["test"]]
        return f"{function}({sql}, {literal(text)})"

    def is_between(self, table, body):
        parts = [("at_least", body["from"]), ("at_most", body["to"])]
        compared = [{"compare": {"left": body["value"], "comparison": how, "right": {"value": value}}} for how, value in parts]
        return self.is_all(table, compared)

    def is_one_of(self, table, body):
        compared = [{"compare": {"left": body["value"], "comparison": "equal", "right": {"value": value}}} for value in body["values"]]
        return self.is_any(table, compared)

    SIGNS = {"equal": "=", "different": "<>", "less": "<", "at_most": "<=", "greater": ">", "at_least": ">="}
    FLIPPED = {"less": "greater", "greater": "less", "at_most": "at_least", "at_least": "at_most"}

    def is_compare(self, table, body):
        left, how, right = body["left"], body["comparison"], body["right"]
        if "value" in left and "value" not in right:
            left, right, how = right, left, self.FLIPPED.get(how, how)
        (a, here), (b, there) = self.value(table, left), self.value(table, right)
        sign = self.SIGNS[how]
        if here.kind == TEXT and there.kind == TEXT and here.words and (there.words or "value" in right):
            if sign not in ("=", "<>"):
                raise Unsupported("the order of texts")
            return f"(normal_form({a}) {sign} normal_form({b}))"
        if here.kind in (DATE, TIME) and "value" in right:
            first, until = (f"CAST('{day}' AS {'DATE' if here.kind == DATE else 'TIMESTAMP'})" for day in span(right["value"]))
            return {
                "equal": f"({a} >= {first} AND {a} < {until})",
                "different": f"({a} < {first} OR {a} >= {until})",
                "less": f"({a} < {first})",
                "at_most": f"({a} < {until})",
                "greater": f"({a} >= {until})",
                "at_least": f"({a} >= {first})",
            }[how]
        number = {WHOLE, NUMBER}
        if here.kind in number and there.kind == TEXT and "value" in right:
            # What is written is compared in the type of the column.
            return f"({a} {sign} CAST({b} AS DOUBLE))"
        if here.kind == there.kind != TEXT or (here.kind in number and there.kind in number):
            return f"({a} {sign} {b})"
        raise Unsupported("values of two kinds compared")
