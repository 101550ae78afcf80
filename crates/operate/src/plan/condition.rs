//! Conditions in SQL. Each is false or NULL where a value is missing, and only [`Condition::Not`] tells these apart.

use super::equality::{absent, apart, either, equals, present};
use super::literal_values::{number, number_for, span, span_for};
use super::value::{Typed, value, yes};
use crate::inputs::{Family, InputTable};
use crate::quote::{literal, pattern};
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Comparison, Condition, Expression, TextTest, Value};

/// `condition` over the columns of `table`.
///
/// # Errors
/// [`Error::UnknownColumn`] with the nearest names, [`Error::Usage`] for values that a column cannot hold.
pub(super) fn condition(table: &InputTable, condition: &Condition) -> Result<String> {
    Ok(match condition {
        Condition::Compare { left, comparison, right } => match (left, right) {
            (Expression::Value(_), Expression::Value(_)) => {
                two(&value(table, left)?, *comparison, &value(table, right)?)?
            }
            (left, Expression::Value(right)) => with(&value(table, left)?, *comparison, right)?,
            (Expression::Value(left), right) => with(&value(table, right)?, flipped(*comparison), left)?,
            (left, right) => two(&value(table, left)?, *comparison, &value(table, right)?)?,
        },
        Condition::Between { value: of, from, to } => {
            let of = value(table, of)?;
            if of.column.family == Family::Number {
                let bound = |value: &Value| number_for(&of.column, &value.to_string());
                format!("{} BETWEEN {} AND {}", of.sql, bound(from)?, bound(to)?)
            } else {
                let (from, to) = (with(&of, Comparison::AtLeast, from)?, with(&of, Comparison::AtMost, to)?);
                format!("({from} AND {to})")
            }
        }
        Condition::OneOf { value: of, values } => one_of(&value(table, of)?, values)?,
        Condition::Text { value: of, test, text, exact } => {
            let of = value(table, of)?;
            if text.is_empty() {
                return Ok(present(&of.column, &of.sql));
            }
            let (before, after) = match test {
                TextTest::Contains => ("%", "%"),
                TextTest::Starts => ("", "%"),
                TextTest::Ends => ("%", ""),
            };
            let like = if *exact { "LIKE" } else { "ILIKE" };
            format!("{} {like} {}", of.text(), pattern(before, text, after))
        }
        Condition::Missing(of) => {
            let of = value(table, of)?;
            absent(&of.column, &of.sql)
        }
        Condition::Holds(of) => yes(&value(table, of)?)?,
        Condition::All(parts) if parts.is_empty() => "TRUE".to_string(),
        Condition::Any(parts) if parts.is_empty() => "FALSE".to_string(),
        Condition::All(parts) => joined(table, parts, " AND ")?,
        Condition::Any(parts) => joined(table, parts, " OR ")?,
        Condition::Not(part) => format!("({}) IS NOT TRUE", self::condition(table, part)?),
    })
}

fn joined(table: &InputTable, parts: &[Condition], word: &str) -> Result<String> {
    let parts = parts.iter().map(|part| condition(table, part)).collect::<Result<Vec<_>>>()?;
    Ok(format!("({})", parts.join(word)))
}

fn flipped(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::Greater => Comparison::Less,
        Comparison::AtMost => Comparison::AtLeast,
        Comparison::AtLeast => Comparison::AtMost,
        same => same,
    }
}

fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "=",
        Comparison::Different => "<>",
        Comparison::Less => "<",
        Comparison::AtMost => "<=",
        Comparison::Greater => ">",
        Comparison::AtLeast => ">=",
    }
}

fn one_of(of: &Typed, values: &[Value]) -> Result<String> {
    let values: Vec<String> = values.iter().map(Value::to_string).collect();
    let (some, missing) = apart(&of.column, &values)?;
    let equal = equals(&of.column, &of.sql, &some)?;
    Ok(either(equal, missing.then(|| absent(&of.column, &of.sql))))
}

/// A value compared with one that the analyst has written.
fn with(of: &Typed, comparison: Comparison, value: &Value) -> Result<String> {
    match comparison {
        Comparison::Equal => return one_of(of, std::slice::from_ref(value)),
        Comparison::Different => {
            let values = [value.to_string()];
            let (some, _) = apart(&of.column, &values)?;
            let (column, sql) = (&of.column, &of.sql);
            let normal = |sql: &str| column.call("value_normalize", sql);
            return Ok(match (&some[..], column.family) {
                ([], _) => present(column, sql),
                ([value], Family::Number) => format!("{sql} <> {}", number_for(column, value)?),
                ([value], Family::Text | Family::Empty) => format!("{} <> {}", normal(sql), normal(&literal(value))),
                _ => equals(column, sql, &some)?.map_or_else(|| present(column, sql), |equal| format!("NOT ({equal})")),
            });
        }
        _ => {}
    }
    let (sign, text) = (sign(comparison), value.to_string());
    let on_calendar = |sql: &str, family: Family| -> Result<String> {
        let span = span_for(&of.column, &text)?;
        Ok(match comparison {
            Comparison::AtLeast => span.not_before(sql, family),
            Comparison::AtMost => span.not_after(sql, family),
            Comparison::Less => format!("NOT ({})", span.not_before(sql, family)),
            _ => format!("NOT ({})", span.not_after(sql, family)),
        })
    };
    match of.column.family {
        Family::Number => Ok(format!("{} {sign} {}", of.sql, number_for(&of.column, &text)?)),
        Family::Date | Family::Time => on_calendar(&of.sql, of.column.family),
        Family::Text | Family::Empty => {
            if let Some(number) = number(&text) {
                return Ok(format!("{} {sign} {number}", of.column.call("value_number", &of.sql)));
            }
            if span(&text).is_some() {
                return on_calendar(&of.column.call("value_date", &of.sql), Family::Date);
            }
            let normal = |sql: &str| of.column.call("value_normalize", sql);
            Ok(format!("{} {sign} {}", normal(&of.sql), normal(&literal(&text))))
        }
        Family::Boolean | Family::Other => {
            Err(Error::usage(format!("the values of `{}` have no order", of.column.name)))
        }
    }
}

/// Two values of a row compared with each other.
fn two(left: &Typed, comparison: Comparison, right: &Typed) -> Result<String> {
    let families = (left.column.family, right.column.family);
    let (left, right) = match families {
        (Family::Number | Family::Boolean, _) if families.0 == families.1 => (left.sql.clone(), right.sql.clone()),
        (Family::Text, Family::Text) => {
            let normal = |typed: &Typed| typed.column.call("value_normalize", &typed.sql);
            (normal(left), normal(right))
        }
        (a, b) if a.is_dated() && b.is_dated() => {
            let time = |typed: &Typed| format!("CAST({} AS TIMESTAMP(6))", typed.sql);
            if left.column.data_type == right.column.data_type {
                (left.sql.clone(), right.sql.clone())
            } else {
                (time(left), time(right))
            }
        }
        (a, b) if a == Family::Number || b == Family::Number => (left.number()?, right.number()?),
        (a, b) if a.is_dated() || b.is_dated() => (left.date()?, right.date()?),
        _ => (left.text(), right.text()),
    };
    Ok(format!("{left} {} {right}", sign(comparison)))
}
