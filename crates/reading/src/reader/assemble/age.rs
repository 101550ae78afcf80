//! Ages, counted from today: `older than 60` where there is a date or year of birth, `older than 90 days` of a date, `average age`.

use chrono::{Days, Months, NaiveDate, Utc};
use lakeward_core::message;
use lakeward_core::plan::{Arithmetic, Comparison, Condition, DatePart, Expression, Measure, Value};
use lakeward_core::text::lower_words;

use super::Assembler;
use super::figures::measure_of;
use super::values::comparison;
use crate::reader::number::number;
use crate::reader::schema::{ColumnKind, SchemaColumn, StandIn};
use crate::reader::span::{Role, Span};
use crate::reader::unit::days_of;

/// Words that speak of an age.
const AGE: [&str; 7] = ["older", "oldest", "younger", "youngest", "old", "age", "aged"];
/// Years that somebody can be old.
const YEARS: std::ops::RangeInclusive<f64> = 1.0..=130.0;
/// Days of a year, about.
const YEAR: f64 = 365.25;

impl<'a> Assembler<'a> {
    /// Conditions on an age, as those on the date that it is counted from.
    pub(super) fn ages(&mut self) {
        let today = Utc::now().date_naive();
        for (place, span) in self.spans(Role::Value) {
            let said = (self.done[place], number(&span.words).map(|number| number.value), self.bound_of_age(span));
            let (false, Some(age), Some(how)) = said else { continue };
            let unit = self.unit_behind(span);
            let years = unit.map_or(age, |days| age * days / YEAR);
            let Some(column) = self.counted_from(span, unit, age) else { continue };
            let Some(condition) = born(column, how, years, today) else { continue };
            self.done[place] = true;
            let (words, today) = (span.words.trim(), today.to_string());
            self.remarks.push(message!("`{}` is an age, counted from {} to {}", words, &column.name, today));
            if self.replaces {
                self.layout.take_conditions(&column.name, |_| true);
            }
            self.layout.last().add_condition(condition, false);
        }
    }

    /// The column that an age is counted from: of birth, or the only date where the words speak of an age in days or months.
    fn counted_from(&self, span: &Span, unit: Option<f64>, age: f64) -> Option<&'a SchemaColumn> {
        let schema = self.schema;
        let columns = || schema.columns.iter().filter(|column| !column.of_result && column.stand_in.is_none());
        let only = |is_it: &dyn Fn(&SchemaColumn) -> bool| {
            let mut found = columns().filter(|column| is_it(column));
            found.next().filter(|_| found.next().is_none())
        };
        let linked = span.column().map(|column| &schema.columns[column]);
        let in_years = unit.is_none_or(|days| days > YEAR - 1.0);
        if in_years {
            // So few years are no year: "older than ten years" of a year of building.
            let of_years = linked.filter(|linked| linked.holds_years() && YEARS.contains(&age));
            if let Some(own) = of_years.filter(|_| self.speaks_of_age(span)) {
                return Some(own);
            }
            let born = only(&|column| column.is_of_birth()).filter(|_| YEARS.contains(&age))?;
            let is_linked = linked.is_some_and(|linked| linked.name == born.name);
            let counts_rows =
                linked.is_some_and(|linked| linked.stand_in == Some(StandIn::Rows)) && self.groups_by_none();
            return (is_linked || counts_rows || self.speaks_of_age(span)).then_some(born);
        }
        let own = linked.filter(|linked| linked.kind == ColumnKind::Date);
        own.or_else(|| only(&|column| column.kind == ColumnKind::Date)).filter(|_| self.speaks_of_age(span))
    }

    /// Which side of an age is asked for: as the words say, since the reader may have told the one of the date.
    fn bound_of_age(&self, span: &Span) -> Option<Comparison> {
        const NEAR: usize = 3;
        let read = comparison(span.operator)?;
        let before = self.reading.text.get(..span.bytes.end).unwrap_or_default();
        let words: Vec<String> = lower_words(before).collect();
        let last = |list: &[&str]| words.iter().rposition(|word| list.contains(&word.as_str()));
        let (old, young) = (last(&["older", "over", "above", "more"]), last(&["younger", "under", "below", "less"]));
        let Some(at) = old.max(young).filter(|at| at + 2 * NEAR >= words.len()) else { return Some(read) };
        let negates = |word: &String| matches!(word.as_str(), "not" | "never" | "t");
        // "No, younger than 40" corrects, "no younger than 40" negates.
        let no = before.to_lowercase().contains(&format!("no {}", words[at]));
        let is_negated = no || words[at.saturating_sub(NEAR)..at].iter().any(negates);
        Some(match (old > young, is_negated) {
            (true, false) if read == Comparison::AtLeast => read,
            (false, false) if read == Comparison::AtMost => read,
            (true, false) => Comparison::Greater,
            (false, false) => Comparison::Less,
            (true, true) => Comparison::AtMost,
            (false, true) => Comparison::AtLeast,
        })
    }

    fn groups_by_none(&self) -> bool {
        self.spans(Role::Group).is_empty() && !self.layout.is_grouped()
    }

    /// Whether the words of a span, or those beside it, speak of an age.
    fn speaks_of_age(&self, span: &Span) -> bool {
        const NEAR: usize = 3;
        let text = |range| self.reading.text.get(range).unwrap_or_default();
        let before: Vec<String> = lower_words(text(0..span.bytes.start)).collect();
        let before = before.into_iter().rev().take(NEAR);
        let after = lower_words(text(span.bytes.end..self.reading.text.len())).take(NEAR);
        before.chain(lower_words(&span.words)).chain(after).any(|word| AGE.contains(&word.as_str()))
    }

    /// The days of the unit of time that stands in a span or right behind it.
    fn unit_behind(&self, span: &Span) -> Option<f64> {
        let behind = self.reading.text.get(span.bytes.end..).unwrap_or_default();
        lower_words(&span.words).chain(lower_words(behind).take(1)).find_map(|word| days_of(&word))
    }

    /// The figure of ages that a measure asks for, where no column has them.
    pub(super) fn figure_of_ages(&mut self, span: &Span) -> Option<Measure> {
        let is_age = |word: String| matches!(word.as_str(), "age" | "ages" | "old");
        let function = span.function?;
        let mut columns = self.schema.columns.iter().filter(|column| !column.of_result);
        if !lower_words(&span.words).any(is_age) || columns.clone().any(|column| column.is_named("age")) {
            return None;
        }
        let mut born = columns.by_ref().filter(|column| column.is_of_birth());
        let column = born.next().filter(|_| born.next().is_none())?;
        let of = Expression::column(column.name.clone());
        let year = match column.kind {
            ColumnKind::Date => Expression::Part { part: DatePart::Year, of: Box::new(of) },
            _ => of,
        };
        let this_year = Value::Integer(i64::from(crate::reader::this_year()));
        let age = Expression::Arithmetic {
            operator: Arithmetic::Minus,
            left: Box::new(Expression::Value(this_year)),
            right: Box::new(year),
        };
        let measure = measure_of(function, "age".into())?;
        let name = measure.column_name();
        let how = message!("the age is this year less the year of {}", &column.name);
        if !self.remarks.contains(&how) {
            self.remarks.push(how);
        }
        Some(Measure { of: Some(age), name: Some(name), ..measure })
    }
}

/// The condition on a date, or year, of birth that an age of so many years is.
fn born(column: &SchemaColumn, how: Comparison, years: f64, today: NaiveDate) -> Option<Condition> {
    // Who is older was born earlier.
    let turned = match how {
        Comparison::Less => Comparison::Greater,
        Comparison::AtMost => Comparison::AtLeast,
        Comparison::Greater => Comparison::Less,
        Comparison::AtLeast => Comparison::AtMost,
        Comparison::Equal | Comparison::Different => return None,
    };
    let is_whole = years.fract() == 0.0;
    let months = Months::new((years * 12.0).round() as u32);
    let then = match is_whole {
        true => today.checked_sub_months(months)?,
        false => today.checked_sub_days(Days::new((years * YEAR).round() as u64))?,
    };
    let value = match column.kind {
        ColumnKind::Date => Value::Text(then.to_string()),
        _ => Value::Integer(i64::from(crate::reader::this_year()) - years.round() as i64),
    };
    let left = Expression::column(column.name.clone());
    Some(Condition::Compare { left, comparison: turned, right: Expression::Value(value) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_older_was_born_earlier() {
        let today = NaiveDate::from_ymd_opt(2026, 11, 30).unwrap();
        let column = |kind| SchemaColumn::new("birth_date", kind);
        let right = |kind, how, years| match born(&column(kind), how, years, today)? {
            Condition::Compare { comparison, right: Expression::Value(value), .. } => {
                Some((comparison, value.to_string()))
            }
            _ => None,
        };
        let older = right(ColumnKind::Date, Comparison::Greater, 60.0);
        assert_eq!(older, Some((Comparison::Less, "1966-11-30".into())));
        let younger = right(ColumnKind::Date, Comparison::AtMost, 90.0 / YEAR);
        assert_eq!(younger, Some((Comparison::AtLeast, "2026-09-01".into())));
        assert_eq!(right(ColumnKind::Date, Comparison::Equal, 60.0), None);
        assert!(column(ColumnKind::Date).is_of_birth() && !column(ColumnKind::Text).is_of_birth());
    }
}
