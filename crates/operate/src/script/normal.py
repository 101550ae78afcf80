import decimal
import re
import unicodedata

# --- the normal form by which values are compared ---


def normal_forms(cells, how):
    return (None if cell is None else normal_form(cell, how) for cell in cells)


def normal_form(cell, how):
    """The same text for two cells that mean the same, None for a missing value."""
    cell = cell.strip(WHITE)
    if is_missing(cell, how):
        return None
    if len(cell.encode()) > 512:
        return "''" + cell if cell.startswith("'") else cell
    bare = without_footnotes(cell)
    for text in (cell, bare):
        number = parse_number(text, how)
        if number:
            return canonical(*number)
        date = parse_date(text, how)
        if date:
            return iso(*date)
    normal = folded(bare) or cell
    is_figure = re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?%?", normal)
    return "'" + normal if is_figure or len(normal.encode()) > 512 else normal


def canonical(value, digits, whole, percent):
    """The shortest way to write a number."""
    if whole and abs(value) >= 2**53:
        text = digits
    else:
        text = "0" if value == 0 else format(decimal.Decimal(repr(value)), "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return text + "%" if percent else text


def iso(year, month, day, second):
    """A date as `2020-03`, `2020-03-04` or `2020-03-04T05:06:07`."""
    text = f"{year:04}-{month:02}" + (f"-{day:02}" if day else "")
    return text + f"T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}" if second else text


def folded(text):
    """Words without case, accents and punctuation; those of a name in the order of the alphabet."""
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not "\u0300" <= c <= "\u036f")
    text = "".join(c.lower() for c in unicodedata.normalize("NFC", text))
    out, previous = [], " "
    for place, c in enumerate(text):
        if c.isalnum() or unicodedata.category(c)[0] == "M" or c in "+#%<>=$€£¥°":
            kept = c
        elif c in "'’‘ʼ`":
            continue
        elif c == "&":
            out.append(" and ")
            previous = " "
            continue
        else:
            following = text[place + 1 : place + 2]
            sign = previous == " " and following.isascii() and following.isdigit()
            grade = not following and previous.isalnum()
            kept = "-" if c in "-−" and (sign or grade) else " "
        out.append(kept)
        previous = kept
    words = [word for word in "".join(out).split(" ") if word]
    if 2 <= len(words) <= 8 and all(re.fullmatch(r"(?s)[a-z\u0080-\U0010ffff]+", word) for word in words):
        words.sort()
    return " ".join(words)
