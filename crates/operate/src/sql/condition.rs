//! Conditions on a column, by the type of its values.
//!
//! Words are compared in their normal form, so that `new york` meets `New  York`; numbers and dates as such, whatever the
//! style in which the analyst or the table writes them. A date that is only a year or a month stands for all of it.

use super::values::{boolean_for, number, number_for, span, span_for, stands_for_missing};
use crate::inputs::{Family, InputColumn};
use crate::quote::{containing, identifier, literal};
use lakeward_core::error::{Error, Result};
use lakeward_core::request::Test;

/// The condition in SQL; never NULL-safe by accident: what is unknown of a missing value is no.
///
/// # Errors
/// [`Error::Usage`] for values that the column cannot hold, for an empty list, and for bounds without a bound.
pub fn condition(column: &InputColumn, test: &Test) -> Result<String> {
    let name = identifier(&column.name);
    match test {
        Test::OneOf { values } => {
            let (values, missing) = apart(column, values)?;
            let equal = equals(column, &name, &values)?;
            Ok(either(equal, missing.then(|| absent(column, &name))))
        }
        Test::NoneOf { values } => {
            let (values, missing) = apart(column, values)?;
            let equal = equals(column, &name, &values)?;
            Ok(match (equal, missing) {
                (Some(equal), true) => format!("(NOT ({equal}) AND {})", present(column, &name)),
                (Some(equal), false) => format!("(NOT ({equal}) OR {})", absent(column, &name)),
                (None, _) => present(column, &name),
            })
        }
        Test::Contains { text } if text.is_empty() => Ok(present(column, &name)),
        Test::Contains { text } => {
            let cells = if column.family.is_text() { name } else { format!("CAST({name} AS VARCHAR)") };
            Ok(format!("{cells} ILIKE {}", containing(text)))
        }
        Test::Between { from, to } => between(column, &name, from.as_deref(), to.as_deref()),
        Test::Present => Ok(present(column, &name)),
    }
}

/// The values that are some, and whether one stands for a missing value.
pub fn apart<'v>(column: &InputColumn, values: &'v [String]) -> Result<(Vec<&'v str>, bool)> {
    if values.is_empty() {
        return Err(Error::Usage(format!("no value is given for `{}`", column.name)));
    }
    let is_code = |value: &str| !column.writing.is_empty() && value.trim() == "NA";
    let (missing, some): (Vec<&str>, Vec<&str>) =
        values.iter().map(String::as_str).partition(|value| stands_for_missing(value) && !is_code(value));
    Ok((some, !missing.is_empty()))
}

pub fn either(first: Option<String>, second: Option<String>) -> String {
    match (first, second) {
        (Some(first), Some(second)) => format!("({first} OR {second})"),
        (first, second) => first.or(second).unwrap_or_else(|| "FALSE".to_string()),
    }
}

pub fn present(column: &InputColumn, name: &str) -> String {
    match column.family {
        Family::Text => format!("{} IS NOT NULL", column.call("value_normalize", name)),
        _ => format!("{name} IS NOT NULL"),
    }
}

pub fn absent(column: &InputColumn, name: &str) -> String {
    match column.family {
        Family::Text => format!("{} IS NULL", column.call("value_normalize", name)),
        _ => format!("{name} IS NULL"),
    }
}

fn among(expression: &str, values: &[String]) -> Option<String> {
    match values {
        [] => None,
        [value] => Some(format!("{expression} = {value}")),
        _ => Some(format!("{expression} IN ({})", values.join(", "))),
    }
}

/// That the column has one of the values; `None` where there are none.
pub fn equals(column: &InputColumn, name: &str, values: &[&str]) -> Result<Option<String>> {
    match column.family {
        Family::Number => {
            let values = values.iter().map(|value| number_for(column, value)).collect::<Result<Vec<_>>>()?;
            Ok(among(name, &values))
        }
        Family::Boolean => {
            let values = values
                .iter()
                .map(|value| boolean_for(column, value).map(str::to_string))
                .collect::<Result<Vec<_>>>()?;
            Ok(among(name, &values))
        }
        Family::Date | Family::Time => {
            let spans = values
                .iter()
                .map(|value| Ok(span_for(column, value)?.holds(name, column.family)))
                .collect::<Result<Vec<_>>>()?;
            Ok(match &spans[..] {
                [] => None,
                [one] => Some(format!("({one})")),
                _ => Some(format!("({})", spans.join(" OR "))),
            })
        }
        Family::Text | Family::Empty | Family::Other => {
            let values: Vec<String> =
                values.iter().map(|value| column.call("value_normalize", &literal(value))).collect();
            Ok(among(&column.call("value_normalize", name), &values))
        }
    }
}

fn between(column: &InputColumn, name: &str, from: Option<&str>, to: Option<&str>) -> Result<String> {
    let bounds: Vec<&str> = from.into_iter().chain(to).collect();
    if bounds.is_empty() {
        return Err(Error::Usage(format!("neither a least nor a greatest value is given for `{}`", column.name)));
    }
    let numbers = |cells: &str| -> Result<String> {
        Ok(match (from.map(|from| number_for(column, from)), to.map(|to| number_for(column, to))) {
            (Some(from), Some(to)) => format!("{cells} BETWEEN {} AND {}", from?, to?),
            (Some(from), None) => format!("{cells} >= {}", from?),
            (None, Some(to)) => format!("{cells} <= {}", to?),
            (None, None) => String::new(),
        })
    };
    let dates = |cells: &str, family: Family| -> Result<String> {
        let from = from.map(|from| Ok(span_for(column, from)?.not_before(cells, family)));
        let to = to.map(|to| Ok(span_for(column, to)?.not_after(cells, family)));
        let parts = from.into_iter().chain(to).collect::<Result<Vec<_>>>()?;
        Ok(parts.join(" AND "))
    };
    match column.family {
        Family::Number => numbers(name),
        Family::Date | Family::Time => dates(name, column.family),
        Family::Text | Family::Empty if bounds.iter().all(|bound| number(bound).is_some()) => {
            numbers(&column.call("value_number", name))
        }
        Family::Text | Family::Empty if bounds.iter().all(|bound| span(bound).is_some()) => {
            dates(&column.call("value_date", name), Family::Date)
        }
        _ => {
            let reason = "bounds must be two numbers or two dates, and the column must hold such";
            Err(Error::Usage(format!("`{}` cannot be compared with these bounds: {reason}", column.name)))
        }
    }
}
