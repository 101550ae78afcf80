import math
import re
import pyarrow as pa

# --- numbers as people write them ---


def parse_number(cell, how):
    """The value of a trimmed cell, its plain digits, whether it is whole, and whether it is a per cent; None for no number."""
    if "point=thousands" in how and re.fullmatch(r"[1-9][0-9]{0,2}\.[0-9]{3}", cell.strip("-−+$€£¥ ")):
        cell = cell.replace(".", ",", 1)
    if len(cell.encode()) > 48 or not re.match(r"[-0-9+.($€£¥−–]", cell):
        return None
    negative = percent = False
    rest = cell
    if len(rest) > 1 and rest[0] == "(" and rest[-1] == ")":
        rest = rest[1:-1]
        if "," not in rest and "." not in rest:
            return None
        negative = True
    if rest[:1] in ("-", "−", "–"):
        negative, rest = not negative, rest[1:]
    elif rest[:1] == "+":
        rest = rest[1:]
    if rest[:1] in ("$", "€", "£", "¥"):
        rest = rest[1:].lstrip(WHITE)
        if rest[:1] in ("-", "−"):
            negative, rest = not negative, rest[1:]
    elif rest[-1:] in ("€", "£", "$"):
        rest = rest[:-1].rstrip(WHITE)
    if rest[-1:] == "%":
        percent, rest = True, rest[:-1].rstrip(WHITE)
    plain = plain_digits(rest)
    if plain is None:
        return None
    digits = "-" + plain[0] if negative else plain[0]
    try:
        value = float(digits)
    except ValueError:
        return None
    return (value, digits, plain[1], percent) if math.isfinite(value) else None


def plain_digits(text):
    """The digits without separators and with a decimal point, and whether they are a whole number."""
    if not re.match(r"[0-9.]", text) or not re.search(r"[0-9.]\Z", text) or re.match(r"0[0-9]", text):
        return None
    if re.fullmatch(r"[0-9]+", text):
        return text, True
    if "e" in text or "E" in text:
        return (text, False) if re.fullmatch(r"[0-9.]*[eE][+-]?[0-9]{1,3}", text) else None
    marks = separators(text)
    if marks is None:
        return None
    decimal, grouping = marks
    whole, _, fraction = text.rpartition(decimal) if decimal else (text, "", "")
    if not re.fullmatch(r"[0-9]*", fraction):
        return None
    groups = whole.split(grouping) if grouping else [whole]
    if any(not re.fullmatch(r"[0-9]*", group) for group in groups):
        return None
    if len(groups) > 1 and not (1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])):
        return None
    digits = "".join(groups) or "0"
    return (digits + "." + fraction, False) if fraction else (digits, True)


def separators(text):
    """The decimal mark and the mark between thousands, by where they stand."""
    commas, dots = text.count(","), text.count(".")
    spaced = re.search("[ \u00a0\u202f']", text)
    group = spaced[0] if spaced else None
    if commas == 0 and dots == 0:
        return None, group
    if commas == 0 and dots == 1:
        return ".", group
    if commas == 1 and dots == 0 and group:
        return ",", group
    if group:
        return None
    if commas == 1 and dots == 0:
        return (None, ",") if len(text.rpartition(",")[2].encode()) == 3 and not text.startswith("0,") else (",", None)
    if dots == 0:
        return None, ","
    if commas == 0:
        return None, "."
    if dots == 1 and text.rfind(".") > text.rfind(","):
        return ".", ","
    if commas == 1 and text.rfind(",") > text.rfind("."):
        return ",", "."
    return None


def read_integer(cell, how):
    number = parse_number(cell, how)
    whole = int(number[1]) if number and number[2] else None
    return whole if whole is not None and -(2**63) <= whole < 2**63 else None


def read_float(cell, how):
    number = parse_number(cell, how)
    return number and number[0]


READERS["integer"] = (read_integer, pa.int64())
READERS["float"] = (read_float, pa.float64())
