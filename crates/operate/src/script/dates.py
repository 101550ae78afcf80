import datetime
import re
import pyarrow as pa

# --- dates as people write them ---

MONTHS = "January February March April May June July August September October November December".lower().split()
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()


def parse_date(cell, how):
    """Year, month, day (0: only a month) and second of the day of a trimmed cell; None for no date."""
    if not 6 <= len(cell) <= 40 or not cell.isascii():
        return None
    weekday = re.match(r"([A-Za-z]{3,})(, | )", cell)
    if weekday and any(weekday[1].lower() in (day, day[:3]) for day in DAYS):
        cell = cell[weekday.end() :].lstrip(WHITE)
    clock = re.match(r"([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2}))? ", cell)
    if clock:
        found = parse_date(cell[clock.end() :], how)
        hour, minute, second = int(clock[1]), int(clock[2]), int(clock[3] or 0)
        if found is None or found[3] or hour > 23 or minute > 59 or second > 59:
            return None
        return (*found[:3], hour * 3600 + minute * 60 + second)
    if found := re.fullmatch(r"([0-9]{4})([-/])([0-9]{2})", cell):
        return moment(found[1], found[3], 0, "")
    if found := re.match(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?![0-9])", cell):
        return moment(found[1], found[3], found[4], cell[found.end() :]) if int(found[4]) else None
    if found := re.fullmatch(r"([0-9]{4}),\s*([A-Za-z]+)\s*", cell):
        return moment(found[1], month_of(found[2]), 0, "")
    if found := re.match(r"([0-9]{1,2})([/. -])([A-Za-z]+)\.?(?:\2|[, ])\s*([0-9]+)", cell):
        day, year = int(found[1]), full_year(found[4])
        return moment(year, month_of(found[3]), day, cell[found.end() :]) if day else None
    if re.match(r"[0-9]{1,2}[/.-]", cell):
        return number_first(cell, how)
    if found := re.fullmatch(r"([A-Za-z]+)\.?[ -]\s*([0-9]{4})", cell):
        return moment(found[2], month_of(found[1]), 0, "")
    if found := re.match(r"([A-Za-z]+)\.?[ -]\s*([0-9]{1,2})(?![0-9])[stndrh]*,? \s*([0-9]{4})(?![0-9])", cell):
        day = int(found[2])
        return moment(found[3], month_of(found[1]), day, cell[found.end() :]) if day else None
    return None


def number_first(cell, how):
    """A date such as 3/4/2020: the day is first where `how` says so, with dots, and where nothing else is possible."""
    date = re.split(r"[ T]", cell, maxsplit=1)[0]
    parts = re.fullmatch(r"([0-9]{1,2})([/.-])([0-9]{1,2})[/.-]([0-9]{2}|[0-9]{4})", date)
    if not parts:
        return None
    first, mark, second, year = int(parts[1]), parts[2], int(parts[3]), date.rpartition(parts[2])[2]
    if not (1 <= first <= 31 and 1 <= second <= 31) or (mark == "." and len(year) != 4):
        return None
    if mark == "." or "day_first" in how:
        day, month = first, second
    elif "month_first" in how:
        day, month = second, first
    elif mark == "/" and first > 12:
        day, month = first, second
    elif mark == "/" and (second > 12 or first == second):
        day, month = second, first
    else:
        return None
    return moment(full_year(year), month, day, cell[len(date) :])


def month_of(name):
    """The number of the month with this name, written out or abbreviated."""
    name = name.lower()
    fits = (place for place, month in enumerate(MONTHS, 1) if len(name) >= 3 and name in (month, month[:3]))
    return 9 if name == "sept" else next(fits, None)


def full_year(text):
    """A year of four digits; of two, 30 to 99 are in the last century."""
    if re.fullmatch(r"[0-9]{2}", text):
        return int(text) + (1900 if int(text) >= 30 else 2000)
    return int(text) if re.fullmatch(r"[0-9]{4}", text) else None


def moment(year, month, day, time):
    """A moment, if there is such a day and such a time."""
    second = time_of_day(time)
    if year is None or month is None or second is None:
        return None
    year, month, day = int(year), int(month), int(day)
    try:
        datetime.date(year, month, day or 1)
    except ValueError:
        return None
    return year, month, day, second


def time_of_day(rest):
    """Seconds since midnight of ` 05:06`, `T05:06:07.123Z`, ` 5:06 PM`."""
    if not rest:
        return 0
    found = re.fullmatch(r"(?s)[ Tt]\s*([0-9]+):([0-9]+)(:[0-9:]*)?((?:\.[0-9]*)?)(.*)", rest)
    if not found or found[3] == ":":
        return None
    hour, minute, second = int(found[1]), int(found[2]), int((found[3] or ":0").split(":")[1] or 60)
    tail = found[5].strip(WHITE).lower()
    if tail == "pm" and hour < 12:
        hour += 12
    elif tail == "am" and hour == 12:
        hour = 0
    zone = tail in ("", "am", "pm", "z", "utc") or tail[0] in "+-"
    return hour * 3600 + minute * 60 + second if zone and hour < 24 and minute < 60 and second < 60 else None


def day_of(found):
    """The day of a moment; a month is its first day."""
    return found and datetime.date(found[0], found[1], found[2] or 1)


def read_date(cell, how):
    return day_of(parse_date(cell, how))


def read_day(cell, how):
    found = parse_date(cell, how)
    return day_of(found) if found and not found[3] else None


def read_time(cell, how):
    found = parse_date(cell, how)
    fraction = re.search(r":[0-9]{2}\.([0-9]{0,6})[^.]*\Z", cell)
    microseconds = int(fraction[1].ljust(6, "0")) if fraction else 0
    passed = found and datetime.timedelta(seconds=found[3], microseconds=microseconds)
    return found and datetime.datetime.combine(day_of(found), datetime.time()) + passed


READERS["date"] = (read_day, pa.date32())
READERS["timestamp"] = (read_time, pa.timestamp("us"))
