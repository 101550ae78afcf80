//! The value that a span says, in the type and unit of its column, and its comparison with the column.

use lakeward_core::plan::{Comparison, Condition, DatePart, Expression, TextTest, Value};

use super::yes_no::{no, yes};
use crate::reader::number::{Months, date, date_in, month, months, number, weekday};
use crate::reader::schema::{ColumnKind, SchemaColumn};
use crate::reader::span::{Operator, Role, Span};
use crate::reader::unit::{Taken, in_unit_of};
use lakeward_core::text::{lower_words, name_key};

pub(super) fn comparison(operator: Operator) -> Option<Comparison> {
    Some(match operator {
        Operator::Equal => Comparison::Equal,
        Operator::Different => Comparison::Different,
        Operator::Less => Comparison::Less,
        Operator::AtMost => Comparison::AtMost,
        Operator::Greater => Comparison::Greater,
        Operator::AtLeast => Comparison::AtLeast,
        _ => return None,
    })
}

/// The value that a span names, in the type of its column.
pub(super) fn plain_value(column: &SchemaColumn, span: &Span) -> Option<Value> {
    let words = span.value.as_deref().unwrap_or(&span.words);
    match column.kind {
        ColumnKind::Integer | ColumnKind::Number => numeric(column, span).map(|number| as_value(number, column)),
        ColumnKind::Date => {
            let (year, month, day) = date_in(words, column.only_year)?;
            let (month, day) = (month?, day?);
            Some(Value::Text(format!("{year:04}-{month:02}-{day:02}")))
        }
        ColumnKind::Boolean | ColumnKind::Text => Some(Value::Text(words.trim().to_string())),
    }
}

/// The number that a span says, in the unit of its column: shares written as fractions take per cents apart.
fn numeric(column: &SchemaColumn, span: &Span) -> Option<f64> {
    let given = span.value.as_ref().and_then(|value| value.trim().parse::<f64>().ok());
    if given.is_some() {
        return given;
    }
    let said = number_in(span)?;
    if let Some(unit) = &span.unit
        && let Taken::Converted(value, _) = in_unit_of(column, said, unit)
    {
        return Some(value);
    }
    let is_fraction = column.range.is_some_and(|(least, most)| least >= -1.0 && most <= 1.0);
    let percent = number(&span.words).is_some_and(|said| said.percent);
    Some(if percent && is_fraction { said / 100.0 } else { said })
}

/// The number in the words of a span; "an hour" is one.
pub(super) fn number_in(span: &Span) -> Option<f64> {
    let unit = span.unit.as_ref().map(|unit| unit.name.to_lowercase());
    let is_one = |word: String| matches!(word.as_str(), "a" | "an") || Some(word) == unit;
    let one = || (unit.is_some() && lower_words(&span.words).all(is_one)).then_some(1.0);
    number(&span.words).map(|said| said.value).or_else(one)
}

/// Whether something is compared with a place in an order, which is a part of a name ("before the second war") unless the column counts such
/// places ("above the third floor").
pub(super) fn is_place(column: &SchemaColumn, span: &Span) -> bool {
    let orders = !matches!(span.operator, Operator::Equal | Operator::Different);
    orders
        && span.value.is_none()
        && number(&span.words).is_some_and(|said| said.ordinal)
        && !column.is_named(&span.words)
}

fn as_value(number: f64, column: &SchemaColumn) -> Value {
    let whole = number.fract() == 0.0 && number.abs() < 9e15;
    if whole && (column.kind == ColumnKind::Integer || number.abs() < 1e9) {
        Value::Integer(number as i64)
    } else {
        Value::Number(number)
    }
}

pub(super) fn compared(column: &SchemaColumn, span: &Span) -> Option<Condition> {
    let of = Expression::column(column.name.clone());
    let words = span.value.as_deref().unwrap_or(&span.words);
    if column.kind == ColumnKind::Date
        && let Some((year, months)) = months(words)
    {
        return in_months(&of, comparison(span.operator)?, year.or(column.only_year), months);
    }
    // "January 2013" is neither a month of every year nor a whole year, whatever part the reader takes it for.
    let says_month =
        column.kind == ColumnKind::Date && matches!(date_in(words, column.only_year), Some((_, Some(_), _)));
    let part = span.part.filter(|part| !(says_month && matches!(part, DatePart::Year | DatePart::Month)));
    if let Some(part) = part {
        let number = of_part(part, words)?;
        // A column of numbers beside a part of a date holds that part.
        let left = if column.kind.is_number() && part != DatePart::Decade {
            of
        } else {
            Expression::Part { part, of: Box::new(of) }
        };
        let right = Expression::Value(Value::Integer(number));
        return Some(Condition::Compare { left, comparison: comparison(span.operator)?, right });
    }
    let texts = |test| Condition::Text { value: of.clone(), test, text: words.trim().to_string(), exact: false };
    let comparison = match span.operator {
        Operator::Contains => return Some(texts(TextTest::Contains)),
        Operator::Starts => return Some(texts(TextTest::Starts)),
        Operator::Ends => return Some(texts(TextTest::Ends)),
        other => comparison(other)?,
    };
    let ordered = !matches!(comparison, Comparison::Equal | Comparison::Different);
    let right = match column.kind {
        ColumnKind::Date => match date_in(words, column.only_year)? {
            (year, Some(month), Some(day)) => Value::Text(format!("{year:04}-{month:02}-{day:02}")),
            (year, Some(month), None) => return Some(in_month(of, comparison, year, month)),
            (year, None, _) => {
                let left = Expression::Part { part: DatePart::Year, of: Box::new(of) };
                return Some(Condition::Compare {
                    left,
                    comparison,
                    right: Expression::Value(Value::Integer(i64::from(year))),
                });
            }
        },
        ColumnKind::Boolean => {
            return Some(if comparison == Comparison::Different { no(column, of) } else { yes(column, of) });
        }
        ColumnKind::Text if ordered && holds_times(column) => Value::Text(time_of_day(words)?),
        // Text is ordered only as the numbers that it holds.
        ColumnKind::Text if ordered => Value::Number(numeric(column, span)?),
        ColumnKind::Text => Value::Text(words.trim().to_string()),
        ColumnKind::Integer | ColumnKind::Number => as_value(numeric(column, span)?, column),
    };
    Some(Condition::Compare { left: of, comparison, right: Expression::Value(right) })
}

/// The values of a column of months in text, `04/2023`, that a span says: a month, several, a year. None for other columns and words.
pub(super) fn months_among(column: &SchemaColumn, span: &Span) -> Option<Vec<Value>> {
    const LEAST: usize = 3;
    let of_year = |value: &String| match date_in(value, None)? {
        (year, Some(month), None) => Some((year, month)),
        _ => None,
    };
    let is_value = span.role == Role::Value && column.kind == ColumnKind::Text && column.complete;
    if !is_value || column.values.len() < LEAST || name_key(&span.words).is_empty() {
        return None;
    }
    let known: Vec<(i32, u32)> = column.values.iter().map(of_year).collect::<Option<_>>()?;
    let words = &span.words;
    let said = months(words).or_else(|| match (date_in(words, None), month(words)) {
        (Some((year, Some(month), None)), _) => Some((Some(year), (month, month))),
        (Some((year, None, None)), _) => Some((Some(year), (1, 12))),
        (None, Some(month)) => Some((None, (month, month))),
        _ => None,
    });
    let (year, (first, last)) = said?;
    let only = known.iter().all(|(other, _)| *other == known[0].0).then_some(known[0].0);
    let of = |year: i32, month: u32| i64::from(year) * 12 + i64::from(month);
    let ends = year.or(only).map(|year| (of(year, first), of(if first <= last { year } else { year + 1 }, last)));
    let is_meant = |&(year, month): &(i32, u32)| match (span.operator, ends) {
        (Operator::Equal | Operator::Different, Some((from, to))) => (from..=to).contains(&of(year, month)),
        (Operator::Equal | Operator::Different, None) if first <= last => (first..=last).contains(&month),
        (Operator::Equal | Operator::Different, None) => month >= first || month <= last,
        (Operator::AtLeast, Some((from, _))) => of(year, month) >= from,
        (Operator::Greater, Some((_, to))) => of(year, month) > to,
        (Operator::AtMost, Some((_, to))) => of(year, month) <= to,
        (Operator::Less, Some((from, _))) => of(year, month) < from,
        _ => false,
    };
    let meant = column.values.iter().zip(&known).filter(|(_, known)| is_meant(known));
    let meant: Vec<Value> = meant.map(|(value, _)| Value::Text(value.clone())).collect();
    (!meant.is_empty()).then_some(meant)
}

/// Several months compared with dates: those of a year, else of every year.
fn in_months(of: &Expression, comparison: Comparison, year: Option<i32>, (first, last): Months) -> Option<Condition> {
    let Some(year) = year else {
        let compare = |comparison, month: u32| Condition::Compare {
            left: Expression::Part { part: DatePart::Month, of: Box::new(of.clone()) },
            comparison,
            right: Expression::Value(Value::Integer(i64::from(month))),
        };
        let (from, to) = (compare(Comparison::AtLeast, first), compare(Comparison::AtMost, last));
        let within = if first <= last { from.and(to) } else { from.or(to) };
        return match comparison {
            Comparison::Equal => Some(within),
            Comparison::Different => Some(Condition::Not(Box::new(within))),
            _ => None,
        };
    };
    let end = if first <= last { year } else { year + 1 };
    let bound = |comparison| match comparison {
        Comparison::Less | Comparison::AtLeast => in_month(of.clone(), comparison, year, first),
        _ => in_month(of.clone(), comparison, end, last),
    };
    Some(match comparison {
        Comparison::Equal => bound(Comparison::AtLeast).and(bound(Comparison::AtMost)),
        Comparison::Different => Condition::Not(Box::new(bound(Comparison::AtLeast).and(bound(Comparison::AtMost)))),
        other => bound(other),
    })
}

/// A month of a year compared with dates.
fn in_month(of: Expression, comparison: Comparison, year: i32, month: u32) -> Condition {
    let first = format!("{year:04}-{month:02}-01");
    let next = if month == 12 { format!("{:04}-01-01", year + 1) } else { format!("{year:04}-{:02}-01", month + 1) };
    let compare = |comparison, date: String| Condition::Compare {
        left: of.clone(),
        comparison,
        right: Expression::Value(Value::Text(date)),
    };
    match comparison {
        Comparison::Less => compare(Comparison::Less, first),
        Comparison::AtMost => compare(Comparison::Less, next),
        Comparison::Greater => compare(Comparison::AtLeast, next),
        Comparison::AtLeast => compare(Comparison::AtLeast, first),
        Comparison::Equal => compare(Comparison::AtLeast, first).and(compare(Comparison::Less, next)),
        Comparison::Different => {
            Condition::Not(Box::new(compare(Comparison::AtLeast, first).and(compare(Comparison::Less, next))))
        }
    }
}

/// Whether all known values of a column of text are times of day that come in the order of their letters: `08:30`.
fn holds_times(column: &SchemaColumn) -> bool {
    let is_time = |value: &String| value.len() == 5 && time_of_day(value).as_ref() == Some(value);
    !column.values.is_empty() && column.values.iter().all(is_time)
}

/// A time of day in words as `HH:MM`: `20:15`, `8.30 pm`, `20h`, `noon`; none for what is no time of a day of 24 hours.
fn time_of_day(words: &str) -> Option<String> {
    const NOON: u32 = 12;
    let said: Vec<String> = lower_words(words).collect();
    let says = |word: &str| said.iter().any(|known| known == word);
    if says("noon") || says("midday") {
        return Some("12:00".into());
    }
    if says("midnight") {
        return Some("00:00".into());
    }
    let is_digit = |c: char| c.is_ascii_digit();
    let from = words.find(is_digit)?;
    let (hour, rest) = words[from..].split_at(words[from..].find(|c| !is_digit(c)).unwrap_or(words.len() - from));
    let minute =
        rest.strip_prefix([':', '.', 'h']).map(|rest| &rest[..rest.find(|c| !is_digit(c)).unwrap_or(rest.len())]);
    let minute: u32 = minute.filter(|minute| minute.len() == 2).map_or(Some(0), |minute| minute.parse().ok())?;
    let hour: u32 = hour.parse().ok()?;
    let ends = |end: &str| words.to_lowercase().trim_end_matches('.').replace('.', "").ends_with(end);
    let hour = match hour {
        1..NOON if ends("pm") => hour + NOON,
        NOON if ends("am") => 0,
        hour => hour,
    };
    (hour < 24 && minute < 60).then(|| format!("{hour:02}:{minute:02}"))
}

/// The number of a part of a date that words say, where that part can have it.
fn of_part(part: DatePart, words: &str) -> Option<i64> {
    let said = || number(words).map(|number| number.value as i64);
    let possible = match part {
        DatePart::Month => 1..=12,
        DatePart::Quarter => 1..=4,
        DatePart::Weekday => 1..=7,
        DatePart::Day => 1..=31,
        DatePart::Hour => 0..=23,
        DatePart::Year | DatePart::Decade | DatePart::YearMonth | DatePart::Date => i64::MIN..=i64::MAX,
    };
    let number = match part {
        DatePart::Month => month(words).map(i64::from).or_else(said),
        DatePart::Weekday => weekday(words).map(i64::from).or_else(said),
        DatePart::Decade => said().map(|decade| match decade {
            0..=99 => 1900 + decade / 10 * 10,
            other => other / 10 * 10,
        }),
        DatePart::Year => date(words).map(|(year, ..)| i64::from(year)).or_else(said),
        _ => said(),
    };
    number.filter(|number| possible.contains(number))
}
