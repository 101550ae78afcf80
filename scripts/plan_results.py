"""The figures of a result that two engines must agree on, whatever the order of its rows and the last digits of its numbers.

A cell of text, whole numbers, dates, times, or yes and no has one spelling. A row's hash is FNV-1a (64 bits) over the spellings of these
cells, each followed by the byte 0x1F, a missing one being the byte 0x00; where rows have an order the row's number from 0 and 0x1F come first. `digest`
is the sum of the hashes modulo 2^64. For a column of numbers with a fraction `totals` has the sum of its values, each times a weight
between 0.5 and 1.5 made of its row's hash, and the same sum of absolute values, by which a difference is judged, and how many are missing.
"""

import datetime

TOLERANCE = 1e-7
# Results of so many cells are stored as they are, too.
SMALL_CELLS = 24


def spelled(value, kind):
    if value is None:
        return None
    if kind == "whole":
        if value != int(value):
            return repr(value)
        return str(int(value))
    if kind == "boolean":
        return "true" if value else "false"
    if kind == "time" and isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S")
    if isinstance(value, datetime.datetime):
        return value.isoformat() if value.time() != datetime.time() else value.date().isoformat()
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def row_hash(cells):
    value = 0xCBF29CE484222325
    for cell in cells:
        for byte in (b"\0" if cell is None else cell.encode()) + b"\x1f":
            value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def figures(rows, kinds, ordered):
    """Rows, digest and totals of a result."""
    exact = [place for place, kind in enumerate(kinds) if kind != "number"]
    loose = [place for place, kind in enumerate(kinds) if kind == "number"]
    digest, totals = 0, [[0.0, 0.0, 0] for _ in loose]
    for number, row in enumerate(rows):
        hashed = row_hash(([str(number)] if ordered else []) + [spelled(row[place], kinds[place]) for place in exact])
        digest = (digest + hashed) & 0xFFFFFFFFFFFFFFFF
        weight = 0.5 + (hashed >> 11) / 2**53
        for total, place in zip(totals, loose):
            value = row[place]
            if value is None:
                total[2] += 1
            else:
                total[0] += weight * float(value)
                total[1] += abs(weight * float(value))
    return {"rows": len(rows), "digest": f"{digest:016x}", "totals": [[float(f"{a:.12g}"), float(f"{b:.12g}"), n] for a, b, n in totals]}


def disagreement(expected, found):
    """What differs first, or None."""
    for word in ("rows", "digest"):
        if expected[word] != found[word]:
            return word
    for place, (one, other) in enumerate(zip(expected["totals"], found["totals"])):
        if one[2] != other[2]:
            return f"missing numbers of column {place}"
        if not abs(one[0] - other[0]) <= TOLERANCE * max(one[1], 1e-9):
            return f"numbers of column {place}"
    return None
