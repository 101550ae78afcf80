//! Rows of several tables below each other, under the column names of the first.
//!
//! A column has one type: where its parts differ, numbers become the wider number, dates and times a time, and anything else
//! text. A part that holds no value takes the type of the others. With `distinct` each row comes once: without a source
//! column that is SQL's `UNION`; with one, rows are grouped by all other columns, and the source is the alphabetically first
//! of the tables that have the row.

use arrow::datatypes::DataType;

use super::{free_name, listed};
use crate::context::LakeContext;
use crate::inputs::{Family, InputColumn, InputTable};
use crate::quote::{identifier, literal};
use lakeward_core::error::{Error, Result};
use lakeward_core::request::Union;

/// The type of a column of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// That of all its parts.
    Same(DataType),
    /// Whole numbers.
    Whole,
    /// Whole numbers of which some fill 64 bits without a sign.
    Wide,
    /// Numbers.
    Number,
    /// Times.
    Time,
    /// Text.
    Text,
}

impl Target {
    /// Its name in SQL; `None` where nothing is to be cast.
    fn sql(&self) -> Option<&'static str> {
        match self {
            Target::Same(_) => None,
            Target::Whole => Some("BIGINT"),
            Target::Wide => Some("DECIMAL(20, 0)"),
            Target::Number => Some("DOUBLE"),
            Target::Time => Some("TIMESTAMP(6)"),
            Target::Text => Some("VARCHAR"),
        }
    }

    /// What it is called in a report.
    pub fn name(&self) -> String {
        match self {
            Target::Same(data_type) => data_type.to_string(),
            other => other.sql().unwrap_or_default().to_string(),
        }
    }
}

/// A column of the result.
#[derive(Debug, Clone)]
pub struct UnionColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub target: Target,
    /// The column of each part, in the order of the parts; `None` where it has none.
    pub parts: Vec<Option<InputColumn>>,
    /// Whether the first table has it.
    pub of_first: bool,
}

/// A table of the union.
pub struct ResolvedPart {
    /// The table.
    pub input: InputTable,
    /// Its columns that are neither aligned nor kept.
    pub left_out: Vec<String>,
}

/// A union whose tables and columns are known.
pub struct ResolvedUnion {
    /// The tables, the first one first.
    pub parts: Vec<ResolvedPart>,
    /// The columns of the result, without the source.
    pub columns: Vec<UnionColumn>,
    /// The name of the source column.
    pub source: Option<String>,
    /// Whether each row comes once.
    pub distinct: bool,
}

/// Looks up what `union` names.
///
/// # Errors
/// As [`super::sql`]; [`Error::Usage`] for nothing to append, or a column that is aligned twice.
pub fn resolve(context: &LakeContext, union: &Union) -> Result<ResolvedUnion> {
    if union.others.is_empty() {
        return Err(Error::Usage("a union needs at least one table to append".into()));
    }
    let first = InputTable::resolve(context, &union.first)?;
    let count = union.others.len() + 1;
    let mut columns: Vec<UnionColumn> = first
        .columns
        .iter()
        .map(|column| {
            let mut parts = vec![None; count];
            parts[0] = Some(column.clone());
            UnionColumn { name: column.name.clone(), target: Target::Text, parts, of_first: true }
        })
        .collect();
    let own = columns.len();
    let mut taken: Vec<String> = columns.iter().map(|column| column.name.to_lowercase()).collect();
    let mut parts = vec![ResolvedPart { input: first, left_out: Vec::new() }];
    for (place, other) in union.others.iter().enumerate().map(|(place, other)| (place + 1, other)) {
        let input = InputTable::resolve(context, &other.input)?;
        let mut used: Vec<String> = Vec::new();
        for (ours, theirs) in &other.alignment {
            let ours = parts[0].input.column(ours)?.name.clone();
            let theirs = input.column(theirs)?;
            let column = columns[..own].iter_mut().find(|column| column.name == ours);
            let slot = column.and_then(|column| column.parts.get_mut(place));
            let slot = slot.ok_or_else(|| Error::Internal(format!("no column `{ours}`")))?;
            if slot.as_ref().is_some_and(|known| known.name != theirs.name) {
                return Err(Error::Usage(format!("two columns of `{}` are aligned with `{ours}`", input.name)));
            }
            *slot = Some(theirs.clone());
            used.push(theirs.name.clone());
        }
        let rest = input.columns.iter().filter(|column| !used.contains(&column.name));
        if !union.keep_extra {
            let left_out = rest.map(|column| column.name.clone()).collect();
            parts.push(ResolvedPart { input, left_out });
            continue;
        }
        for column in rest {
            // Tables appended share their further columns of one name.
            let shared = columns[own..].iter_mut().find(|known| {
                let source = known.parts.iter().flatten().next();
                known.parts[place].is_none() && source.is_some_and(|source| source.name == column.name)
            });
            if let Some(shared) = shared {
                shared.parts[place] = Some(column.clone());
                continue;
            }
            let mut slots = vec![None; count];
            slots[place] = Some(column.clone());
            let wanted = if taken.contains(&column.name.to_lowercase()) {
                format!("{}_{}", input.label, column.name)
            } else {
                column.name.clone()
            };
            let name = free_name(&wanted, &mut taken);
            columns.push(UnionColumn { name, target: Target::Text, parts: slots, of_first: false });
        }
        parts.push(ResolvedPart { input, left_out: Vec::new() });
    }
    for column in &mut columns {
        column.target = target(column.parts.iter().flatten());
    }
    let source = union.source_column.as_ref().map(|name| free_name(name, &mut taken));
    Ok(ResolvedUnion { parts, columns, source, distinct: union.distinct })
}

/// The type that holds the values of all `parts`.
fn target<'c>(parts: impl Iterator<Item = &'c InputColumn>) -> Target {
    let all: Vec<&InputColumn> = parts.collect();
    let some: Vec<&InputColumn> = all.iter().copied().filter(|column| column.family != Family::Empty).collect();
    let Some(first) = some.first() else { return Target::Text };
    let every = |test: fn(Family) -> bool| some.iter().all(|column| test(column.family));
    if some.iter().all(|column| column.data_type == first.data_type)
        && !matches!(first.data_type, DataType::Dictionary(..))
    {
        return Target::Same(first.data_type.clone());
    }
    if every(|family| family == Family::Number) {
        let whole = some.iter().all(|column| column.data_type.is_integer());
        let unsigned = some.iter().any(|column| column.data_type == DataType::UInt64);
        return match (whole, unsigned) {
            (true, false) => Target::Whole,
            (true, true) => Target::Wide,
            _ => Target::Number,
        };
    }
    if every(Family::is_dated) { Target::Time } else { Target::Text }
}

impl UnionColumn {
    /// What `part` puts into this column.
    fn expression(&self, part: usize) -> String {
        let name = identifier(&self.name);
        let Some(column) = self.parts.get(part).and_then(Option::as_ref) else {
            return match self.type_name() {
                Some(sql) => format!("CAST(NULL AS {sql}) AS {name}"),
                None => format!("NULL AS {name}"),
            };
        };
        let own = identifier(&column.name);
        let value = match (&self.target, column.family) {
            (Target::Same(data_type), _) if column.data_type == *data_type => own.clone(),
            (Target::Text, Family::Text) if column.data_type == DataType::Utf8 => own.clone(),
            (Target::Text, Family::Empty) if column.data_type == DataType::Utf8 => own.clone(),
            // Held for empty after a look at some rows only: what is not of the type becomes NULL and is counted.
            (_, Family::Empty) => match self.type_name() {
                Some(sql) => format!("TRY_CAST({own} AS {sql})"),
                None => "NULL".to_string(),
            },
            (target, _) => match target.sql() {
                Some(sql) => format!("CAST({own} AS {sql})"),
                None => own.clone(),
            },
        };
        if value == name { name } else { format!("{value} AS {name}") }
    }

    /// The type in SQL, where SQL has a name for it.
    pub fn type_name(&self) -> Option<&'static str> {
        match &self.target {
            Target::Same(data_type) => match data_type {
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some("VARCHAR"),
                DataType::Int64 => Some("BIGINT"),
                DataType::Int32 => Some("INT"),
                DataType::Float64 => Some("DOUBLE"),
                DataType::Date32 => Some("DATE"),
                DataType::Boolean => Some("BOOLEAN"),
                DataType::Timestamp(arrow::datatypes::TimeUnit::Microsecond, None) => Some("TIMESTAMP(6)"),
                _ => None,
            },
            target => target.sql(),
        }
    }

    /// Whether its parts have values of different types.
    pub fn has_conflict(&self) -> bool {
        let mut some = self.parts.iter().flatten().filter(|column| column.data_type != DataType::Null);
        let text = |column: &InputColumn| column.family.is_text();
        let Some(first) = some.next() else { return false };
        some.any(|column| column.data_type != first.data_type && !(text(column) && text(first)))
    }
}

impl ResolvedUnion {
    /// The query.
    pub fn sql(&self) -> String {
        let selects: Vec<String> = (0..self.parts.len()).map(|part| self.select(part, true)).collect();
        let Some(source) = self.source.as_ref().filter(|_| self.distinct) else {
            return selects.join(if self.distinct { "\nUNION\n" } else { "\nUNION ALL\n" });
        };
        let source = identifier(source);
        let names: Vec<String> = self.columns.iter().map(|column| identifier(&column.name)).collect();
        let mut kept = names.clone();
        kept.push(format!("min({source}) AS {source}"));
        let inner = selects.join("\nUNION ALL\n");
        format!("SELECT {}\nFROM (\n{inner}\n) AS u\nGROUP BY {}", listed(&kept), listed(&names))
    }

    /// The query of its rows without the source column.
    pub fn rows_sql(&self) -> String {
        let selects: Vec<String> = (0..self.parts.len()).map(|part| self.select(part, false)).collect();
        selects.join(if self.distinct { "\nUNION\n" } else { "\nUNION ALL\n" })
    }

    /// The rows of one table in the columns of the result.
    fn select(&self, part: usize, with_source: bool) -> String {
        let mut columns: Vec<String> = self.columns.iter().map(|column| column.expression(part)).collect();
        let input = &self.parts[part].input;
        if let Some(source) = self.source.as_ref().filter(|_| with_source) {
            columns.push(format!("{} AS {}", literal(&input.name), identifier(source)));
        }
        format!("SELECT {}\nFROM {}", listed(&columns), input.sql)
    }
}
