//! Measures of a group in SQL.

use arrow::datatypes::DataType;

use super::condition::condition;
use super::value::{NUMBER, Typed, WHOLE, not_zero, order_by, plain, scaled, value};
use crate::inputs::{Family, InputColumn, InputTable};
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Measure, MeasureFunction};

/// A measure in SQL and what its values are, named as wanted. `keys` are the names and the SQL of what makes a group.
///
/// # Errors
/// [`Error::UnknownColumn`] with the nearest names, [`Error::Usage`] for a measure that the values do not have.
pub(super) fn measured(
    table: &InputTable,
    measure: &Measure,
    keys: &[(String, String)],
) -> Result<(String, InputColumn)> {
    let of = measure.of.as_ref().map(|of| value(table, of)).transpose()?;
    let rows = measure.condition.as_ref().map(|rows| condition(table, rows)).transpose()?;
    let (sql, data_type) = match &measure.function {
        MeasureFunction::Share { within, times } => {
            let function = if of.is_some() { MeasureFunction::Sum } else { MeasureFunction::Count };
            let (part, data_type) = call(table, &function, of.as_ref(), rows.as_deref())?;
            let part = if data_type == NUMBER { part } else { format!("CAST({part} AS DOUBLE)") };
            let within = within.iter().map(|name| {
                let key = keys.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
                key.map(|(_, sql)| sql.clone()).ok_or_else(|| {
                    Error::usage(format!("a share is computed within keys of its grouping, and `{name}` is none"))
                })
            });
            let within = within.collect::<Result<Vec<_>>>()?;
            let window = if within.is_empty() { String::new() } else { format!("PARTITION BY {}", within.join(", ")) };
            (scaled(&format!("{part} / {}", not_zero(&format!("sum({part}) OVER ({window})"))), *times)?, NUMBER)
        }
        function => call(table, function, of.as_ref(), rows.as_deref())?,
    };
    let name = measure.column_name();
    let column = match measure.function {
        // Texts keep how they are written.
        MeasureFunction::Min | MeasureFunction::Max | MeasureFunction::First { .. } => of.map_or_else(
            || InputColumn::computed(&name, data_type),
            |of| InputColumn { name: name.clone(), ..of.column },
        ),
        _ => InputColumn::computed(&name, data_type),
    };
    Ok((sql, column))
}

/// The call of an aggregate function over the rows that meet `rows`, and the type of its value.
///
/// # Errors
/// [`Error::Usage`] for a measure that the values do not have, or one without a value.
pub(super) fn call(
    table: &InputTable,
    function: &MeasureFunction,
    of: Option<&Typed>,
    rows: Option<&str>,
) -> Result<(String, DataType)> {
    let filter = rows.map_or_else(String::new, |rows| format!(" FILTER (WHERE {rows})"));
    let Some(of) = of else {
        return match function {
            MeasureFunction::Count => Ok((format!("count(*){filter}"), WHOLE)),
            other => Err(Error::usage(format!("the {} of what?", other.word()))),
        };
    };
    let own = || of.column.data_type.clone();
    let (call, data_type) = match function {
        MeasureFunction::Count => (format!("count({})", of.sql), WHOLE),
        MeasureFunction::CountDistinct => (format!("count(DISTINCT {})", of.sql), WHOLE),
        MeasureFunction::Sum => {
            let whole = of.column.data_type.is_integer() || of.column.family == Family::Boolean;
            (format!("sum({})", of.number()?), if whole { WHOLE } else { NUMBER })
        }
        MeasureFunction::Mean => (format!("avg({})", of.number()?), NUMBER),
        MeasureFunction::Median => (format!("median({})", of.double()?), NUMBER),
        MeasureFunction::Quantile { at } => {
            if !(0.0..=1.0).contains(at) {
                return Err(Error::usage(format!("a quantile lies between 0 and 1, not at {at}")));
            }
            (format!("percentile_cont({}) WITHIN GROUP (ORDER BY {})", plain_part(*at), of.double()?), NUMBER)
        }
        MeasureFunction::Min => (format!("min({})", of.sql), own()),
        MeasureFunction::Max => (format!("max({})", of.sql), own()),
        MeasureFunction::StandardDeviation => (format!("stddev({})", of.double()?), NUMBER),
        MeasureFunction::First { by } => (format!("first_value({} {})", of.sql, order_by(table, by)?), own()),
        MeasureFunction::Correlation { with } => {
            (format!("corr({}, {})", of.double()?, value(table, with)?.double()?), NUMBER)
        }
        MeasureFunction::Share { .. } => {
            return Err(Error::usage("a share is computed by a grouping"));
        }
    };
    Ok((format!("{call}{filter}"), data_type))
}

fn plain_part(at: f64) -> String {
    if at.fract() == 0.0 { plain(at) } else { at.to_string() }
}
