//! Values that an analyst writes, read as the type of the column they are compared with.

use chrono::{Datelike, Days, Months, NaiveDate};

use crate::inputs::{Family, InputColumn};
use lakeward_core::error::{Error, Result};
use lakeward_core::text::yes_or_no;
use lakeward_sketch::normalise::without_footnotes;
use lakeward_sketch::number::parse_number;
use lakeward_sketch::temporal::{DateOrder, Moment, parse_date};

/// Whole numbers that SQL takes digit by digit.
fn whole(digits: &str) -> Option<i64> {
    digits.trim_end_matches('.').parse().ok()
}

/// The number that `value` is, as SQL writes it.
pub(super) fn number(value: &str) -> Option<String> {
    let cell = without_footnotes(value.trim());
    let mut digits = String::new();
    let number = parse_number(cell, &mut digits)?;
    Some(match whole(&digits).filter(|_| number.integer) {
        Some(whole) => whole.to_string(),
        None if number.value.abs() >= 1e15 || (number.value != 0.0 && number.value.abs() < 1e-5) => {
            format!("{:e}", number.value)
        }
        None => number.value.to_string(),
    })
}

/// [`number()`] of a value compared with a column of numbers.
///
/// # Errors
/// [`Error::Usage`] for what is no number.
pub(super) fn number_for(column: &InputColumn, value: &str) -> Result<String> {
    number(value)
        .ok_or_else(|| Error::usage(format!("`{}` holds numbers, and `{}` is none", column.name, shown(value))))
}

/// The yes or no that `value` is.
///
/// # Errors
/// [`Error::Usage`] for what is neither.
pub(super) fn boolean_for(column: &InputColumn, value: &str) -> Result<&'static str> {
    match yes_or_no(value.trim()) {
        Some(true) => Ok("TRUE"),
        Some(false) => Ok("FALSE"),
        None => Err(Error::usage(format!("`{}` holds yes and no, and `{}` is neither", column.name, shown(value)))),
    }
}

/// The last year that SQL writes with four digits.
const LAST_YEAR: i32 = 9999;

/// A stretch of time that a date stands for: a year, a month, a day or a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first day.
    from: NaiveDate,
    /// The day after its last one.
    until: NaiveDate,
    /// The second of its first day where it is a second.
    second: Option<u32>,
}

/// The stretch of time that `value` names.
///
/// # Errors
/// [`Error::Usage`] for what is no date.
pub(super) fn span_for(column: &InputColumn, value: &str) -> Result<Span> {
    span(value).ok_or_else(|| {
        let shown = shown(value);
        Error::usage(format!("`{}` holds dates, and `{shown}` is none; write 2021, 2021-03 or 2021-03-14", column.name))
    })
}

/// The stretch of time that `value` names, if it names one.
pub(super) fn span(value: &str) -> Option<Span> {
    let cell = value.trim();
    if cell.len() == 4 && cell.bytes().all(|byte| byte.is_ascii_digit()) {
        let from = NaiveDate::from_ymd_opt(cell.parse().ok()?, 1, 1)?;
        return Some(Span { from, until: from.checked_add_months(Months::new(12))?, second: None });
    }
    let Moment { year, month, day, second } = parse_date(cell, DateOrder::Unknown)?;
    let from = NaiveDate::from_ymd_opt(year.into(), month.into(), day.max(1).into())?;
    let until = if day == 0 { from.checked_add_months(Months::new(1))? } else { from.checked_add_days(Days::new(1))? };
    Some(Span { from, until, second: (second > 0).then_some(second) })
}

impl Span {
    /// The condition that `expression`, of values of `family`, does not lie before this.
    pub fn not_before(&self, expression: &str, family: Family) -> String {
        match self.second.filter(|_| family == Family::Time) {
            Some(second) => format!("{expression} >= {}", timestamp(self.from, second)),
            None => format!("{} >= {}", day_of(expression, family), date(self.from)),
        }
    }

    /// The condition that `expression`, of values of `family`, does not lie after this.
    pub fn not_after(&self, expression: &str, family: Family) -> String {
        match self.second.filter(|_| family == Family::Time) {
            Some(second) => format!("{expression} < {}", timestamp_after(self.from, second)),
            // SQL has no day after the last one of the year 9999.
            None if self.until.year() > LAST_YEAR => format!("{} <= DATE '9999-12-31'", day_of(expression, family)),
            None => format!("{} < {}", day_of(expression, family), date(self.until)),
        }
    }

    /// The condition that `expression`, of values of `family`, lies within this.
    pub fn holds(&self, expression: &str, family: Family) -> String {
        let is_day = self.second.is_none() && self.from.checked_add_days(Days::new(1)) == Some(self.until);
        if is_day {
            return format!("{} = {}", day_of(expression, family), date(self.from));
        }
        format!("{} AND {}", self.not_before(expression, family), self.not_after(expression, family))
    }
}

fn day_of(expression: &str, family: Family) -> String {
    // Comparing days also keeps away from nanoseconds, which end in 2262.
    if family == Family::Time { format!("CAST({expression} AS DATE)") } else { expression.to_string() }
}

fn date(day: NaiveDate) -> String {
    format!("DATE '{:04}-{:02}-{:02}'", day.year(), day.month(), day.day())
}

fn timestamp(day: NaiveDate, second: u32) -> String {
    let (hour, minute) = (second / 3600, second / 60 % 60);
    let text = format!("{}T{hour:02}:{minute:02}:{:02}", day.format("%Y-%m-%d"), second % 60);
    format!("CAST('{text}' AS TIMESTAMP(6))")
}

fn timestamp_after(day: NaiveDate, second: u32) -> String {
    const DAY_SECONDS: u32 = 86_400;
    match day.checked_add_days(Days::new(1)) {
        Some(next) if second + 1 == DAY_SECONDS => timestamp(next, 0),
        _ => timestamp(day, second + 1),
    }
}

/// At most a line of a value, for messages.
fn shown(value: &str) -> String {
    const SHOWN_CHARS: usize = 60;
    value.chars().take(SHOWN_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_plainly() {
        for (value, expected) in [
            ("1,234", Some("1234")),
            ("9007199254740993", Some("9007199254740993")),
            ("$2.50", Some("2.5")),
            ("50%", Some("50")),
            ("1e20", Some("1e20")),
            ("0.0000001", Some("1e-7")),
            ("-3[1]", Some("-3")),
            ("x' OR 1=1", None),
        ] {
            assert_eq!(number(value).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn dates_stand_for_what_they_name() {
        let holds = |value: &str, family| span(value).map(|span| span.holds("d", family));
        assert_eq!(holds("2020", Family::Date).as_deref(), Some("d >= DATE '2020-01-01' AND d < DATE '2021-01-01'"));
        assert_eq!(holds("2020-12", Family::Date).as_deref(), Some("d >= DATE '2020-12-01' AND d < DATE '2021-01-01'"));
        assert_eq!(holds("4 March 2020", Family::Time).as_deref(), Some("CAST(d AS DATE) = DATE '2020-03-04'"));
        let last =
            "d >= CAST('2020-12-31T23:59:59' AS TIMESTAMP(6)) AND d < CAST('2021-01-01T00:00:00' AS TIMESTAMP(6))";
        assert_eq!(holds("2020-12-31 23:59:59", Family::Time).as_deref(), Some(last));
        assert_eq!(holds("soon", Family::Date), None);
        assert_eq!(holds("9999", Family::Date).as_deref(), Some("d >= DATE '9999-01-01' AND d <= DATE '9999-12-31'"));
    }
}
