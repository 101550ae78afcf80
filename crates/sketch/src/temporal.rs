//! Parses dates and times as people write them, and writes them as ISO 8601.
//!
//! `03/04/2020` is the third of April or the fourth of March; only the rest of its column can decide. A [`DateOrder`] is learnt from the
//! head of a column ([`DateOrder::learn`]) and passed to [`parse_date`]; while it is unknown such a cell stays text, so that equal text
//! never becomes unequal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which of two leading numbers of a slashed date is the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DateOrder {
    /// No cell decides it.
    #[default]
    Unknown,
    /// `31/12/2020`.
    DayFirst,
    /// `12/31/2020`.
    MonthFirst,
}

/// A calendar day or month, with a time of day where one was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Year, 1–9999.
    pub year: u16,
    /// Month, 1–12.
    pub month: u8,
    /// Day, 1–31; 0 if only a month was written.
    pub day: u8,
    /// Seconds since midnight, 0–86,399; 0 if no time was written.
    pub second: u32,
}

impl Moment {
    /// Appends ISO 8601: `2020-03`, `2020-03-04` or `2020-03-04T05:06:07` (midnight is a plain date).
    pub fn write_iso(&self, out: &mut String) {
        push_padded(out, u32::from(self.year), 4);
        out.push('-');
        push_padded(out, u32::from(self.month), 2);
        if self.day > 0 {
            out.push('-');
            push_padded(out, u32::from(self.day), 2);
        }
        if self.second > 0 {
            out.push('T');
            push_padded(out, self.second / 3600, 2);
            out.push(':');
            push_padded(out, self.second / 60 % 60, 2);
            out.push(':');
            push_padded(out, self.second % 60, 2);
        }
    }
}

fn push_padded(out: &mut String, number: u32, width: u32) {
    for place in (0..width).rev() {
        out.push(char::from(b'0' + (number / 10u32.pow(place) % 10) as u8));
    }
}

impl DateOrder {
    /// The order that a column's cells share: decided by cells with a part above 12, unknown if there are none or they contradict each
    /// other.
    pub fn learn<'a>(cells: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut day_first, mut month_first) = (0u32, 0u32);
        for cell in cells {
            let Some((first, second)) = slashed_head(cell) else { continue };
            if first > 12 && second <= 12 {
                day_first += 1;
            } else if second > 12 && first <= 12 {
                month_first += 1;
            }
        }
        match (day_first, month_first) {
            (0, 0) => DateOrder::Unknown,
            (_, 0) => DateOrder::DayFirst,
            (0, _) => DateOrder::MonthFirst,
            _ => DateOrder::Unknown,
        }
    }
}

/// The first two numbers of `d/m/yyyy` or `m/d/yyyy` (also with `-`), both 1–31.
fn slashed_head(cell: &str) -> Option<(u32, u32)> {
    let cell = cell.trim();
    // Checked for every cell at the head of a column, and nearly all are something else.
    if !matches!(cell.as_bytes(), [_, b'/' | b'-', ..] | [_, _, b'/' | b'-', ..]) {
        return None;
    }
    let date = cell.split([' ', 'T']).next()?;
    let mut parts = date.split(['/', '-']);
    let (first, second, year) = (parts.next()?, parts.next()?, parts.next()?);
    if first.len() > 2 || second.len() > 2 || !matches!(year.len(), 2 | 4) || parts.next().is_some() {
        return None;
    }
    let (first, second): (u32, u32) = (first.parse().ok()?, second.parse().ok()?);
    year.parse::<u32>().ok()?;
    ((1..=31).contains(&first) && (1..=31).contains(&second)).then_some((first, second))
}

const LONGEST_DATE: usize = 40;

/// Parses a trimmed cell as a date or a date with a time; `None` if it is neither or ambiguous under `order`.
pub fn parse_date(cell: &str, order: DateOrder) -> Option<Moment> {
    if cell.len() < 6 || cell.len() > LONGEST_DATE || !cell.is_ascii() {
        return None;
    }
    let cell = without_weekday(cell);
    let bytes = cell.as_bytes();
    if matches!((bytes.get(1), bytes.get(2)), (Some(b':'), _) | (_, Some(b':')))
        && let Some((time, date)) = cell.split_once(' ')
    {
        // `16:57:52 11 Oct 2019`
        let moment = parse_date(date, order).filter(|moment| moment.second == 0)?;
        let second = clock(time)?;
        return Some(Moment { second, ..moment });
    }
    if bytes.first()?.is_ascii_digit() {
        let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        match (digits, bytes.get(digits)) {
            (4, Some(b'-' | b'/' | b'.')) => year_first(cell),
            (4, Some(b',')) => year_and_month_name(cell),
            (1 | 2, Some(b'/' | b'-' | b'.' | b' ')) => number_first(cell, digits, order),
            _ => None,
        }
    } else if bytes[0].is_ascii_alphabetic() {
        month_name_first(cell)
    } else {
        None
    }
}

/// `Tuesday, 5 September 2017` without its first word.
fn without_weekday(cell: &str) -> &str {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let letters = cell.bytes().take_while(u8::is_ascii_alphabetic).count();
    let Some(rest) = cell[letters..].strip_prefix(", ").or_else(|| cell[letters..].strip_prefix(' ')) else {
        return cell;
    };
    let word = &cell[..letters];
    let day = letters == 3 || DAYS.iter().any(|day| day.len() == letters);
    let named = |day: &&str| day.get(..letters).is_some_and(|head| head.eq_ignore_ascii_case(word));
    if letters >= 3 && day && DAYS.iter().any(named) { rest.trim_start() } else { cell }
}

/// `05:06`, `05:06:07`.
fn clock(text: &str) -> Option<u32> {
    let mut parts = text.split(':').map(|part| part.parse::<u32>().ok().filter(|_| part.len() <= 2));
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    (parts.next().is_none() && hour < 24 && minute < 60 && second < 60).then_some(hour * 3600 + minute * 60 + second)
}

/// `2010, December`.
fn year_and_month_name(cell: &str) -> Option<Moment> {
    let (year, name) = cell.split_once(',')?;
    moment(year.parse().ok()?, month_of(name.trim())?, 0, 0)
}

fn year_first(cell: &str) -> Option<Moment> {
    let mark = char::from(cell.as_bytes()[4]);
    let year: u16 = cell[..4].parse().ok()?;
    let rest = &cell[5..];
    let month_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let month: u8 = rest.get(..month_digits).filter(|text| matches!(text.len(), 1 | 2))?.parse().ok()?;
    let rest = &rest[month_digits..];
    if rest.is_empty() {
        // `2020.03` is a number, `2020-03` and `2020/03` are months.
        return (mark != '.' && month_digits == 2).then(|| moment(year, month, 0, 0)).flatten();
    }
    let rest = rest.strip_prefix(mark)?;
    let day_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let day: u8 = rest.get(..day_digits).filter(|text| matches!(text.len(), 1 | 2))?.parse().ok()?;
    moment(year, month, day.max(1), time_of_day(&rest[day_digits..])?).filter(|_| day > 0)
}

fn number_first(cell: &str, digits: usize, order: DateOrder) -> Option<Moment> {
    let mark = char::from(cell.as_bytes()[digits]);
    let rest = &cell[digits + 1..];
    if rest.as_bytes().first()?.is_ascii_alphabetic() {
        // `4 March 2020`, `04-Mar-20`
        let day: u8 = cell[..digits].parse().ok()?;
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let month = month_of(&rest[..letters])?;
        let rest = rest[letters..].strip_prefix('.').unwrap_or(&rest[letters..]);
        let rest = rest.strip_prefix(mark).or_else(|| rest.strip_prefix([',', ' ']))?.trim_start();
        let year_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let year = full_year(&rest[..year_digits])?;
        return moment(year, month, day, time_of_day(&rest[year_digits..])?).filter(|_| day > 0);
    }
    if mark == ' ' {
        return None;
    }
    let date = &cell[..cell.find([' ', 'T']).unwrap_or(cell.len())];
    let (first, second) = slashed_head(&date.replace('.', "/"))?;
    let year_text = date.rsplit(mark).next()?;
    let year = full_year(year_text)?;
    let (day, month) = match (order, mark) {
        // A dotted date always has the day first.
        (_, '.') if year_text.len() == 4 => (first, second),
        (_, '.') => return None,
        (DateOrder::DayFirst, _) => (first, second),
        (DateOrder::MonthFirst, _) => (second, first),
        (DateOrder::Unknown, '/') if first > 12 => (first, second),
        (DateOrder::Unknown, '/') if second > 12 || first == second => (second, first),
        (DateOrder::Unknown, _) => return None,
    };
    moment(year, month as u8, day as u8, time_of_day(&cell[date.len()..])?)
}

/// `March 4, 2020`, `Mar 4 2020`, `March 2020`.
fn month_name_first(cell: &str) -> Option<Moment> {
    let letters = cell.bytes().take_while(u8::is_ascii_alphabetic).count();
    let month = month_of(&cell[..letters])?;
    let rest = cell[letters..].strip_prefix('.').unwrap_or(&cell[letters..]);
    let rest = rest.strip_prefix([' ', '-'])?.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 4 && rest.len() == 4 {
        return moment(rest.parse().ok()?, month, 0, 0);
    }
    let day: u8 = rest.get(..digits).filter(|text| matches!(text.len(), 1 | 2))?.parse().ok()?;
    let rest = rest[digits..].trim_start_matches(|c: char| c.is_ascii_alphabetic() && "stndrh".contains(c));
    let rest = rest.strip_prefix(',').unwrap_or(rest).strip_prefix(' ')?.trim_start();
    let year_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if year_digits != 4 || day == 0 {
        return None;
    }
    moment(rest[..4].parse().ok()?, month, day, time_of_day(&rest[4..])?)
}

/// The full names of months.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn month_of(name: &str) -> Option<u8> {
    if name.len() < 3 {
        return None;
    }
    let matches = |month: &str| {
        let prefix = name.len() == 3 || name.len() == month.len() || (name.len() == 4 && month.starts_with("Sept"));
        prefix && month.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name))
    };
    MONTHS.iter().position(|month| matches(month)).map(|place| place as u8 + 1)
}

/// Two-digit years as in Excel, which writes most of them: 30–99 are 19xx, 00–29 are 20xx.
fn full_year(text: &str) -> Option<u16> {
    let year: u16 = text.parse().ok()?;
    match text.len() {
        4 => Some(year),
        2 if year >= 30 => Some(1900 + year),
        2 => Some(2000 + year),
        _ => None,
    }
}

/// Seconds since midnight of ` 05:06`, `T05:06:07.123Z`, ` 5:06 PM`; 0 for an empty rest; zone offsets are ignored.
fn time_of_day(rest: &str) -> Option<u32> {
    if rest.is_empty() {
        return Some(0);
    }
    let rest = rest.strip_prefix([' ', 'T', 't'])?.trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == ':')).unwrap_or(rest.len());
    let mut parts = rest[..end].split(':');
    let hour: u32 = parts.next()?.parse().ok()?;
    let minute: u32 = parts.next()?.parse().ok()?;
    let second: u32 = parts.next().unwrap_or("0").parse().ok()?;
    let mut tail = &rest[end..];
    if let Some(fraction) = tail.strip_prefix('.') {
        tail = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    let tail = tail.trim();
    let hour = match tail.to_ascii_lowercase().as_str() {
        "pm" if hour < 12 => hour + 12,
        "am" if hour == 12 => 0,
        _ => hour,
    };
    let zone = tail.is_empty()
        || tail.eq_ignore_ascii_case("am")
        || tail.eq_ignore_ascii_case("pm")
        || tail.eq_ignore_ascii_case("z")
        || tail.eq_ignore_ascii_case("utc")
        || tail.starts_with(['+', '-']);
    (zone && hour < 24 && minute < 60 && second < 60).then_some(hour * 3600 + minute * 60 + second)
}

fn moment(year: u16, month: u8, day: u8, second: u32) -> Option<Moment> {
    const DAYS: [u8; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    if year == 0 || !(1..=12).contains(&month) {
        return None;
    }
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let last = DAYS[usize::from(month) - 1] + u8::from(month == 2 && leap);
    (day <= last).then_some(Moment { year, month, day, second })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iso(cell: &str, order: DateOrder) -> Option<String> {
        let mut out = String::new();
        parse_date(cell, order)?.write_iso(&mut out);
        Some(out)
    }

    #[test]
    fn one_day_has_one_form_however_it_is_written() {
        for cell in [
            "2020-03-14",
            "2020/03/14",
            "2020-3-14",
            "14.03.2020",
            "14 March 2020",
            "14-Mar-2020",
            "14-Mar-20",
            "March 14, 2020",
            "Mar 14 2020",
            "March 14th, 2020",
            "Saturday, March 14, 2020",
            "Sat 14 Mar 2020",
            "14/03/2020",
            "03/14/2020",
            "2020-03-14T00:00:00Z",
        ] {
            assert_eq!(iso(cell, DateOrder::Unknown).as_deref(), Some("2020-03-14"), "{cell}");
        }
        assert_eq!(iso("2020-03-14 05:06", DateOrder::Unknown).as_deref(), Some("2020-03-14T05:06:00"));
        assert_eq!(iso("3/4/2020 1:02 PM", DateOrder::MonthFirst).as_deref(), Some("2020-03-04T13:02:00"));
        assert_eq!(iso("05:06:07 14 Mar 2020", DateOrder::Unknown).as_deref(), Some("2020-03-14T05:06:07"));
        assert_eq!(iso("Mar 2020", DateOrder::Unknown).as_deref(), Some("2020-03"));
        assert_eq!(iso("2020, March", DateOrder::Unknown).as_deref(), Some("2020-03"));
        assert_eq!(iso("24/8/68", DateOrder::Unknown).as_deref(), Some("1968-08-24"));
        assert_eq!(iso("24/8/29", DateOrder::Unknown).as_deref(), Some("2029-08-24"));
    }

    #[test]
    fn a_column_decides_which_number_is_the_day() {
        assert_eq!(DateOrder::learn(["01/02/2020", "25/02/2020"]), DateOrder::DayFirst);
        assert_eq!(DateOrder::learn(["01/02/2020", "02/25/2020"]), DateOrder::MonthFirst);
        assert_eq!(DateOrder::learn(["25/02/2020", "02/25/2020"]), DateOrder::Unknown);
        assert_eq!(iso("01/02/2020", DateOrder::Unknown), None);
        assert_eq!(iso("01/02/2020", DateOrder::DayFirst).as_deref(), Some("2020-02-01"));
        assert_eq!(iso("01/02/2020", DateOrder::MonthFirst).as_deref(), Some("2020-01-02"));
    }

    #[test]
    fn what_is_no_day_stays_text() {
        for cell in [
            "2020",
            "1-2",
            "12-15",
            "2020-13-01",
            "2020-02-30",
            "May be 2020",
            "3-4-5",
            "marching",
            "1999-2000",
            "9/11",
            "2020-01-01 99:00",
            "Sat 14 Mar",
            "Monday",
            "25:00 1 May 2020",
            "2020, Maybe",
        ] {
            assert_eq!(iso(cell, DateOrder::Unknown), None, "{cell}");
        }
    }
}
