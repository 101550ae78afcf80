//! One row a group.

use super::{free_name, listed};
use crate::context::LakeContext;
use crate::inputs::{Family, InputColumn, InputTable};
use crate::quote::identifier;
use lakeward_core::error::{Error, Result};
use lakeward_core::request::{Aggregate, DatePart, GroupKey, Measure, MeasureFunction};

/// An aggregation whose table and columns are known.
pub struct ResolvedAggregate {
    /// The table.
    pub input: InputTable,
    /// What is grouped by, in SQL.
    pub keys: Vec<String>,
    /// The columns of the result in SQL, the keys first.
    columns: Vec<String>,
}

/// Looks up what `aggregate` names.
///
/// # Errors
/// As [`super::sql`]; [`Error::Usage`] for no measure, or one that the column's values do not have.
pub fn resolve(context: &LakeContext, aggregate: &Aggregate) -> Result<ResolvedAggregate> {
    if aggregate.measures.is_empty() {
        return Err(Error::Usage("nothing is to be computed; count the rows at least".into()));
    }
    let input = InputTable::resolve(context, &aggregate.input)?;
    let mut taken = Vec::new();
    let mut keys = Vec::new();
    let mut columns = Vec::new();
    for key in &aggregate.group_by {
        let column = input.column(&key.column)?;
        let expression = group_expression(column, key)?;
        let name = match key.part {
            Some(part) if expression != identifier(&column.name) => format!("{}_{}", column.name, part_name(part)),
            _ => column.name.clone(),
        };
        columns.push(named(&expression, &free_name(&name, &mut taken)));
        keys.push(expression);
    }
    for measure in &aggregate.measures {
        let (expression, name) = measured(&input, measure)?;
        columns.push(named(&expression, &free_name(&name, &mut taken)));
    }
    Ok(ResolvedAggregate { input, keys, columns })
}

fn named(expression: &str, name: &str) -> String {
    let name = identifier(name);
    if expression == name { name } else { format!("{expression} AS {name}") }
}

fn part_name(part: DatePart) -> &'static str {
    match part {
        DatePart::Year => "year",
        DatePart::Month => "month",
        DatePart::Day => "day",
    }
}

fn group_expression(column: &InputColumn, key: &GroupKey) -> Result<String> {
    let name = identifier(&column.name);
    let Some(part) = key.part else { return Ok(name) };
    let date = match column.family {
        Family::Date => name,
        // A cast has the name of what it casts, which may be grouped by as well.
        Family::Time => format!("arrow_cast({name}, 'Date32')"),
        Family::Text | Family::Empty => column.call("value_date", &name),
        // A column of years is its own year.
        Family::Number if part == DatePart::Year && column.data_type.is_integer() => return Ok(name),
        _ => {
            let part = part_name(part);
            return Err(Error::Usage(format!("`{}` holds no dates, so it cannot be grouped by {part}", column.name)));
        }
    };
    Ok(match part {
        DatePart::Year => format!("date_part('year', {date})"),
        DatePart::Month => format!("substr(CAST({date} AS VARCHAR), 1, 7)"),
        DatePart::Day => date,
    })
}

/// What is computed, and the name of its column.
fn measured(input: &InputTable, measure: &Measure) -> Result<(String, String)> {
    let function = function_name(measure.function);
    let Some(column) = &measure.column else {
        return match measure.function {
            MeasureFunction::Count => Ok(("count(*)".into(), "count".into())),
            _ => Err(Error::Usage(format!("`{function}` needs a column"))),
        };
    };
    let column = input.column(column)?;
    let name = identifier(&column.name);
    let expression = match measure.function {
        MeasureFunction::Count => format!("count({name})"),
        MeasureFunction::CountDistinct => format!("count(DISTINCT {name})"),
        MeasureFunction::Sum => format!("sum({})", numbers(column, function)?),
        MeasureFunction::Mean => format!("avg({})", numbers(column, function)?),
        // The median of whole numbers would be rounded to a whole number.
        MeasureFunction::Median => format!("median(CAST({} AS DOUBLE))", numbers(column, function)?),
        MeasureFunction::Min => format!("min({name})"),
        MeasureFunction::Max => format!("max({name})"),
    };
    Ok((expression, format!("{function}_{}", column.name)))
}

fn function_name(function: MeasureFunction) -> &'static str {
    match function {
        MeasureFunction::Count => "count",
        MeasureFunction::CountDistinct => "count_distinct",
        MeasureFunction::Sum => "sum",
        MeasureFunction::Mean => "mean",
        MeasureFunction::Median => "median",
        MeasureFunction::Min => "min",
        MeasureFunction::Max => "max",
    }
}

/// The numbers of a column: yes counts 1, and text counts by the numbers written in it.
fn numbers(column: &InputColumn, function: &str) -> Result<String> {
    let name = identifier(&column.name);
    match column.family {
        Family::Number => Ok(name),
        Family::Boolean => Ok(format!("CAST({name} AS BIGINT)")),
        Family::Text | Family::Empty => Ok(column.call("value_number", &name)),
        Family::Date | Family::Time | Family::Other => {
            let reason = format!("`{}` holds no numbers, so it has no {function}", column.name);
            Err(Error::Usage(format!("{reason}; `count`, `count_distinct`, `min` and `max` take any column")))
        }
    }
}

impl ResolvedAggregate {
    /// The query.
    pub fn sql(&self) -> String {
        let mut sql = format!("SELECT {}\nFROM {}", listed(&self.columns), self.input.sql);
        if !self.keys.is_empty() {
            let places: Vec<String> = (1..=self.keys.len()).map(|place| place.to_string()).collect();
            let places = places.join(", ");
            sql.push_str(&format!("\nGROUP BY {places}\nORDER BY {places}"));
        }
        sql
    }
}
