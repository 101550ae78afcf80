//! Conditions on dates of one year as conditions on the same dates of another.

use lakeward_core::error::{Error, Result};
use lakeward_core::plan::Step;
use lakeward_core::text::years::{LIKELY, years};
use lakeward_lake::dataset::TableEntry;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::{LogicalType, SemanticType};
use serde_json::Value;

/// The columns of a table that are dates or years.
pub(super) fn date_columns(table: &TableEntry) -> Vec<&str> {
    let is_date = |column: &&ColumnProfile| {
        matches!(column.logical, LogicalType::Date | LogicalType::Timestamp)
            || column.semantic == Some(SemanticType::Year)
    };
    table.profile.columns.iter().filter(is_date).map(|column| column.name.as_str()).collect()
}

/// A step whose conditions on `dates`, columns of dates or years, are of a year `by` years later than `from`.
///
/// # Errors
/// [`Error::Internal`] for a step that is no JSON.
pub(super) fn with_years_moved(step: &Step, dates: &[&str], from: i32, by: i32) -> Result<Step> {
    let failed = |error: serde_json::Error| Error::Internal(error.to_string());
    let mut written = serde_json::to_value(step).map_err(failed)?;
    move_years(&mut written, dates, from, by);
    serde_json::from_value(written).map_err(failed)
}

/// The same for a part of a step as JSON: only within comparisons that speak of nothing but `dates`, since a number or a name may look like a year.
fn move_years(part: &mut Value, dates: &[&str], from: i32, by: i32) {
    let children: Vec<&mut Value> = match part {
        Value::Object(parts) if ["left", "from", "values"].iter().any(|name| parts.contains_key(*name)) => {
            let columns = parts.values().flat_map(columns_in).collect::<Vec<_>>();
            if columns.is_empty() || !columns.iter().all(|column| dates.contains(column)) {
                return;
            }
            return parts.values_mut().for_each(|value| move_values(value, from, by));
        }
        Value::Object(parts) => parts.values_mut().collect(),
        Value::Array(parts) => parts.iter_mut().collect(),
        _ => return,
    };
    children.into_iter().for_each(|child| move_years(child, dates, from, by));
}

/// The columns that a part of a condition names.
fn columns_in(part: &Value) -> Vec<&str> {
    match part {
        Value::Object(parts) => parts
            .iter()
            .flat_map(|(name, part)| match (name.as_str(), part) {
                ("column", Value::String(column)) => vec![column.as_str()],
                _ => columns_in(part),
            })
            .collect(),
        Value::Array(parts) => parts.iter().flat_map(columns_in).collect(),
        _ => Vec::new(),
    }
}

/// Years of a comparison, and those of its dates; the first day of the next year ends one.
fn move_values(part: &mut Value, from: i32, by: i32) {
    match part {
        Value::String(text) => {
            let year = years(text, LIKELY).find(|year| (from..=from + 1).contains(year));
            if let Some(year) = year {
                *text = text.replace(&year.to_string(), &(year + by).to_string()).replace("-02-29", "-02-28");
            }
        }
        Value::Number(number) if number.as_i64() == Some(from.into()) => *part = (from + by).into(),
        Value::Array(parts) => parts.iter_mut().for_each(|part| move_values(part, from, by)),
        Value::Object(parts) => {
            let others = parts.iter_mut().filter(|(name, _)| *name != "column");
            others.for_each(|(_, part)| move_values(part, from, by));
        }
        _ => {}
    }
}
