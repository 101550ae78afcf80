#!/usr/bin/env python3
"""Writes questions of WikiSQL as annotated turns in which only the values and their columns are marked.

    scripts/wikisql_turns.py wikisql.jsonl FOLDER/wikisql.jsonl
    lakeward --lake lake train reader --labels FOLDER --examples wikisql.examples.jsonl
    scripts/train_reader.py examples.jsonl MODEL --first wikisql.examples.jsonl

The input has a question a line: {"tables": [{"columns": [{"name", "type"}]}], "question", "sql"}, the SQL as WikiSQL writes it
(`SELECT COUNT School/Club Team FROM t WHERE No. = 3`). Left out: questions without a condition, values that do not stand in the question, and names
or questions with a sign that annotations use. WikiSQL (Zhong et al., 2017) is BSD-3-Clause; nothing of it is kept in this repository but weights.
Python standard library only.
"""

import json
import re
import sys


def conditions(text, names):
    """`No. = 3 AND Player = X` as (column, operator, value); None where a column is unknown. Values may contain AND."""
    found = []
    while text:
        for name in names:
            match = re.match(re.escape(name) + r" (=|>|<) ", text)
            if not match:
                continue
            rest = text[match.end():]
            begins = (cut for cut in re.finditer(r" AND ", rest) if any(re.match(re.escape(known) + r" (=|>|<) ", rest[cut.end():]) for known in names))
            cut = next(begins, None)
            found.append((name, match[1], (rest if cut is None else rest[:cut.start()]).strip()))
            text = "" if cut is None else rest[cut.end():]
            break
        else:
            return None
    return found


def marked(question, wanted):
    """The question with its values in brackets, or None where one does not stand in it or two overlap."""
    spans = []
    for name, operator, value in wanted:
        start = question.lower().find(value.lower())
        if start < 0 or not value:
            return None
        spans.append((start, start + len(value), name, operator))
    spans.sort()
    if any(first[1] > second[0] for first, second in zip(spans, spans[1:])):
        return None
    text, at = "", 0
    for start, end, name, operator in spans:
        text += question[at:start] + f'[{question[start:end]}|value col="{name}" op={operator}]'
        at = end
    return text + question[at:]


def main(source, target):
    seen, total = set(), 0
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            item = json.loads(line)
            total += 1
            columns, question = item["tables"][0]["columns"], item["question"]
            names = sorted((column["name"] for column in columns), key=len, reverse=True)
            if question.lower() in seen or any(sign in question for sign in "[]|") or any(sign in name for name in names for sign in ':=|"\\'):
                continue
            _, where, text = item["sql"].partition(" WHERE ")
            wanted = conditions(text, names) if where else None
            text = marked(question, wanted) if wanted else None
            if text is None:
                continue
            seen.add(question.lower())
            name = f"w{len(seen)}"
            kinds = [f"{column['name']}:{'text' if column['type'] == 'text' else 'number'}" for column in columns]
            out.write(json.dumps({"c": name, "sheet": "t", "columns": kinds}) + "\n")
            out.write(json.dumps({"c": name, "t": 1, "act": "refine", "m": text}) + "\n")
    print(f"{len(seen)} of {total} questions")


if __name__ == "__main__":
    main(*sys.argv[1:])
