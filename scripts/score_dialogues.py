#!/usr/bin/env python3
"""Usage: python3 scripts/score_dialogues.py GOLD.jsonl PRED.jsonl [--wrong FIELD]

Scores the constraints in force after each turn of dialogues, and the overrides. GOLD has lines {"id", "turns": [{"text",
"constraints", "overrides"}]}; PRED has what `lakeward signals GOLD.jsonl` prints, {"id", "turns": [{"constraints",
"overrides"}]}. `--wrong FIELD` lists the turns where the field differs.

Gold constraints are free text, so both sides are normalised alike before they are compared:
- text: lower case, accents off, words of letters and digits only, stop words dropped, plural endings off; `30,000` and
  `30k` are one number; adjectives and rhythms of time are their unit (`monthly`, `month`); words for any data (`table`,
  `column`, `data`) are dropped.
- places: adjectives and other names of countries are the country (`Dutch`, `US`); `northern` and `north` are the same.
- periods: an interval of first and last year, open ends kept; a list of years is the set of them; `after 2005` begins in
  2006 and `before 1990` ends in 1989; months of a year are kept beside it, seasons as their months; a period without any
  year is its words.
Measures, all micro-averaged over turns: geography F1 of place words in force; time range F1 of turns, right when the period
is equal; granularity, required columns and exclusions F1 of words; topic F1 of words; overrides F1 of (turn, field), for
lists (turn, field, item), an item being right when it shares a word with one that was replaced in gold.
"""
import json
import re
import sys
import unicodedata
from collections import Counter

STOP = set("the a an of and or in on to for by with at from per each every all any its their his her is are that which one only as be table tables column columns data dataset file files record records row rows flag".split())
UNITS = {"yearly": "year", "annual": "year", "annually": "year", "quarterly": "quarter", "monthly": "month", "weekly": "week",
         "daily": "day", "hourly": "hour", "nightly": "day"}
COUNTRIES = {
    "united states": "us usa america american", "united kingdom": "uk britain british", "germany": "german", "france": "french",
    "netherlands": "dutch holland", "kenya": "kenyan", "uganda": "ugandan", "scotland": "scottish", "england": "english",
    "wales": "welsh", "ireland": "irish", "italy": "italian", "spain": "spanish", "portugal": "portuguese", "denmark": "danish",
    "sweden": "swedish", "norway": "norwegian", "finland": "finnish", "poland": "polish", "austria": "austrian",
    "switzerland": "swiss", "belgium": "belgian", "greece": "greek", "turkey": "turkish", "russia": "russian", "ukraine": "ukrainian",
    "china": "chinese", "japan": "japanese", "india": "indian", "brazil": "brazilian", "mexico": "mexican", "canada": "canadian",
    "australia": "australian", "chile": "chilean", "argentina": "argentine argentinian", "colombia": "colombian", "peru": "peruvian",
    "egypt": "egyptian", "ghana": "ghanaian", "nigeria": "nigerian", "south africa": "", "czech republic": "czech czechia",
    "hungary": "hungarian", "romania": "romanian", "bulgaria": "bulgarian", "estonia": "estonian", "latvia": "latvian",
    "lithuania": "lithuanian", "european union": "eu", "europe": "european", "vietnam": "vietnamese", "indonesia": "indonesian",
    "thailand": "thai", "philippines": "philippine", "malaysia": "malaysian", "iceland": "icelandic", "croatia": "croatian",
    "slovenia": "slovenian", "slovakia": "slovak", "serbia": "serbian", "morocco": "moroccan", "tunisia": "tunisian",
    "ethiopia": "ethiopian", "tanzania": "tanzanian", "zambia": "zambian", "malawi": "malawian", "bavaria": "bavarian",
}
PLACES = {name: country for country, names in COUNTRIES.items() for name in names.split()}
DIRECTIONS = {"northern": "north", "southern": "south", "eastern": "east", "western": "west"}
SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (12, 2)}
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def words(text):
    text = unicodedata.normalize("NFKD", text.lower())
    text = "".join(c for c in text if not unicodedata.combining(c))
    text = re.sub(r"(\d),(\d{3})", r"\1\2", text)
    text = re.sub(r"(\d)k\b", r"\g<1>000", text)
    return re.findall(r"[a-z0-9%_]+", text)


def stem(word):
    word = UNITS.get(word, word)
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)] + instead
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


def tokens(value):
    texts = value if isinstance(value, list) else [value] if value else []
    return Counter({stem(word): 1 for text in texts for word in words(text) if word not in STOP})


def places(value):
    if not value:
        return Counter()
    found = [word for word in words(value) if word not in STOP]
    found = [part for word in found for part in PLACES.get(word, DIRECTIONS.get(word, word)).split()]
    return Counter({word: 1 for word in found})


def month(word):
    return MONTHS.index(word[:3]) + 1 if word[:3] in MONTHS and (len(word) <= 4 or word in FULL) else None


FULL = set("january february march april may june july august september october november december".split())


def period(value):
    """None, or something that is equal for equal periods."""
    if not value:
        return None
    text = value.lower().replace("fy", " ")
    text = re.sub(r"\b(\d{2})(\d{2})[/-](\d{2})\b(?!\d)", r"\1\2-\1\3", text)
    years = [int(year) for year in re.findall(r"\d{4}", text)]
    if not years:
        return tuple(sorted(tokens(text)))
    if re.search(r"\d{4}s", text):
        years += [years[-1] + 9]
    months = tuple(m for m in map(month, re.findall(r"[a-z]+", text)) if m)
    for name, span in SEASONS.items():
        months = span if name in text else months
    months = months * 2 if len(months) == 1 else months
    first, last = min(years), max(years)
    if re.search(r"onward|since|after|later|until (now|today)|present", text):
        return (first + ("after" in text), None, months)
    if re.search(r"until|before|up to|earlier", text) and len(years) == 1:
        return (None, last - ("before" in text), months)
    if "," in text or " and " in text:
        return tuple(sorted(set(years)))
    return (first, last, months)


def f1(right, told, gold):
    precision = right / told if told else 0.0
    recall = right / gold if gold else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0


def as_constraints(told):
    """What `lakeward signals` prints as gold is written: demands by the field that they are."""
    if "demands" not in told:
        return told
    of = lambda demands, *roles: [demand["said"] for demand in demands if demand["role"] in roles and not demand.get("avoid")]
    demands = told["demands"]
    fields = {"topic": " ".join(of(demands, "topic", "subject")), "geography": ", ".join(of(demands, "place")),
              "time_range": next((years_said(demand) for demand in demands if demand["role"] == "period" and not demand.get("avoid")), None),
              "granularity": of(demands, "grain", "frequency", "dimension"), "required_columns": of(demands, "column"),
              "excluded": [demand["said"] for demand in demands if demand.get("avoid")]}
    names = {"place": "geography", "period": "time_range", "grain": "granularity", "frequency": "granularity", "dimension": "granularity",
             "column": "required_columns", "topic": "topic", "subject": "topic"}
    gone = [{"constraint": "excluded" if demand.get("avoid") else names.get(demand["role"], demand["role"]), "was": demand["said"]}
            for demand in told.get("gone", [])]
    return {"constraints": fields, "overrides": gone}


def years_said(demand):
    years = demand["value"].get("period") if isinstance(demand["value"], dict) else None
    if not years:
        return demand["said"]
    (kind, value), = years.items()
    if kind == "starts_in":
        return f"{value} onward"
    return f"until {value}" if kind == "ends_in" else f"{value['from']}-{value['to']}"


def bags(name, constraints):
    value = constraints.get(name)
    if name == "geography":
        return places(value)
    if name == "time_range":
        told = period(value)
        # Years one after the other are the same as the span of them.
        if isinstance(told, tuple) and told and all(isinstance(year, int) for year in told) and len(told) > 1:
            if told == tuple(range(told[0], told[-1] + 1)):
                told = (told[0], told[-1], ())
        if isinstance(told, tuple) and len(told) == 1 and isinstance(told[0], int):
            told = (told[0], told[0], ())
        return Counter({told: 1} if told else {})
    return tokens(value)


def overrides(turns):
    found = []
    for at, turn in enumerate(turns):
        for item in turn.get("overrides") or []:
            found.append((at, item["constraint"], tokens(item["was"])))
    return found


def matched(told, gold):
    """Greedy one-to-one matches of (turn, field, words)."""
    left, pairs = list(gold), 0
    for at, field, was in told:
        for other in left:
            lists = field in ("required_columns", "excluded")
            if other[:2] == (at, field) and (not lists or was & other[2]):
                left.remove(other)
                pairs += 1
                break
    return pairs


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--wrong"]
    if len(arguments) < 2:
        sys.exit(__doc__)
    read = lambda path: {line["id"]: line for line in map(json.loads, filter(str.strip, open(path, encoding="utf-8")))}
    gold, told = read(arguments[0]), read(arguments[1])
    wrong = arguments[2] if len(arguments) > 2 else None
    fields = ["geography", "time_range", "granularity", "required_columns", "excluded", "topic"]
    counts = {field: [0, 0, 0] for field in fields + ["overrides"]}
    by_field = {}
    for name, line in gold.items():
        turns = told.get(name, {}).get("turns", [])
        turns = [as_constraints(turn) for turn in turns] + [{}] * (len(line["turns"]) - len(turns))
        for at, (right, said) in enumerate(zip(line["turns"], turns), 1):
            for field in fields:
                one, other = bags(field, right.get("constraints") or {}), bags(field, said.get("constraints") or {})
                counts[field][0] += sum((one & other).values())
                counts[field][1] += sum(other.values())
                counts[field][2] += sum(one.values())
                if wrong == field and one != other:
                    print(name, at, right["text"], "\n    gold", (right.get("constraints") or {}).get(field), "\n    told", (said.get("constraints") or {}).get(field))
            if wrong == "overrides":
                one, other = overrides([right]), overrides([said])
                if matched(other, one) < max(len(one), len(other)):
                    show = lambda items: [(item["constraint"], item["was"]) for item in items or []]
                    print(name, at, right["text"], "\n    gold", show(right.get("overrides")), "\n    told", show(said.get("overrides")))
        one, other = overrides(line["turns"]), overrides(turns)
        counts["overrides"][0] += matched(other, one)
        counts["overrides"][1] += len(other)
        counts["overrides"][2] += len(one)
        for field in fields:
            of = lambda items: [item for item in items if item[1] == field]
            sums = by_field.setdefault(field, [0, 0, 0])
            sums[0] += matched(of(other), of(one))
            sums[1] += len(of(other))
            sums[2] += len(of(one))
    print(f"{len(gold)} dialogues, {sum(len(line['turns']) for line in gold.values())} turns")
    print(f"{'':18} precision recall    F1   right told gold")
    rows = list(counts.items()) + [(f"  {field}", sums) for field, sums in by_field.items()]
    for field, sums in rows:
        precision, recall, both = f1(*sums)
        print(f"{field:18} {precision:9.3f} {recall:6.3f} {both:5.3f}   {sums[0]:5} {sums[1]:4} {sums[2]:4}")


if __name__ == "__main__":
    main()
