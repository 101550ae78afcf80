//! Whether a column has a value that the analyst writes, by the type of its values.
//!
//! Words are compared in their normal form, so that `new york` meets `New  York`; numbers and dates as such, whatever the
//! style in which the analyst or the table writes them. A date that is only a year or a month stands for all of it.

use super::literal_values::{boolean_for, number_for, span_for};
use crate::inputs::{Family, InputColumn};
use crate::quote::literal;
use lakeward_core::error::{Error, Result};

/// The values that are some, and whether one stands for a missing value.
pub(super) fn apart<'v>(column: &InputColumn, values: &'v [String]) -> Result<(Vec<&'v str>, bool)> {
    if values.is_empty() {
        return Err(Error::usage(format!("no value is given for `{}`", column.name)));
    }
    // A word that the column keeps is a value, whatever it means elsewhere.
    let is_missing = |value: &str| column.writing.is_missing(value.trim());
    let (missing, some): (Vec<&str>, Vec<&str>) =
        values.iter().map(String::as_str).partition(|value| is_missing(value));
    Ok((some, !missing.is_empty()))
}

pub(super) fn either(first: Option<String>, second: Option<String>) -> String {
    match (first, second) {
        (Some(first), Some(second)) => format!("({first} OR {second})"),
        (first, second) => first.or(second).unwrap_or_else(|| "FALSE".to_string()),
    }
}

pub(super) fn present(column: &InputColumn, name: &str) -> String {
    match column.family {
        Family::Text => format!("{} IS NOT NULL", column.call("value_normalize", name)),
        _ => format!("{name} IS NOT NULL"),
    }
}

pub(super) fn absent(column: &InputColumn, name: &str) -> String {
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
pub(super) fn equals(column: &InputColumn, name: &str, values: &[&str]) -> Result<Option<String>> {
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
