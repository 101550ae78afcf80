import functools
import re

# --- cells: which are missing, and the marks behind them ---

WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
MISSING = ("na", "n/a", "#n/a", "nan", "null", "none", "nil", "(null)", "n.a.", "<na>", "missing")
NOTE_MARKS = "*†‡§¶¹²³⁴⁵⁶⁷⁸⁹⁰"


@functools.cache
def writing(how):
    """How a column writes its values: what it says of dates and points, the marks of gaps that are words in it, and its own marks."""
    parts = [part.strip().partition("=") for part in how.split(",")]
    listed = lambda key: {value.lower() for name, _, value in parts if name == key}
    return {"".join(part) for part in parts}, listed("word"), listed("missing")


def is_missing(cell, how=""):
    """Whether a trimmed cell is a gap."""
    flags, words, missing = writing(how)
    if not cell or cell.lower() in missing:
        return True
    if "typed" in flags or cell.lower() in words:
        return False
    if cell in ("\\N", "–", "—", "−", "…"):
        return True
    if cell[0] in "-.?:_":
        return len(cell) <= 3 and set(cell) == {cell[0]}
    return cell.lower() in MISSING and cell not in ("Na", "Nan")


def without_footnotes(cell):
    """The cell without `[1]`, `[note 2]`, `*`, `²` and the like at its end."""
    while not re.search(r"[0-9A-Za-z.)%]\Z", cell):
        before = cell.rstrip(WHITE)
        shorter = before[:-1] if before and before[-1] in NOTE_MARKS else None
        note = re.fullmatch(r"(?s)(.+)\[([^\[]*)\]", before)
        if note and (len(note[2].encode()) <= 3 or re.match(r"note|nb|[0-9]+\Z", note[2])):
            shorter = note[1]
        if shorter is None or not shorter.rstrip(WHITE):
            return before
        cell = shorter
    return cell


def values(cells, read, how):
    """What `read` makes of each cell, else of the cell without its footnote marks; `how` says how their column writes."""
    for cell in cells:
        cell = "" if cell is None else cell.strip(WHITE)
        gone = is_missing(cell, how)
        value = None if gone else read(cell, how)
        yield read(without_footnotes(cell), how) if value is None and not gone else value


# How a cell becomes a value of a type.
READERS = {}
