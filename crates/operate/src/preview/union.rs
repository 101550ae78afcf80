//! Rows and columns of a union.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Asides, Counted, PreviewDetail};
use crate::context::LakeContext;
use crate::counts::figures;
use crate::inputs::{Family, InputColumn};
use crate::quote::identifier;
use crate::sql::union::{ResolvedUnion, UnionColumn};
use lakeward_core::error::Result;

/// What a union would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnionPreview {
    /// The appended tables.
    pub parts: Vec<UnionPartPreview>,
    /// Columns that the first table does not have.
    pub extra_columns: Vec<String>,
    /// Columns whose parts have different types.
    pub conflicts: Vec<ColumnConflict>,
    /// Rows left out because they come more than once.
    pub repeated_rows: u64,
    /// The column that says which table a row is from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source_column: Option<String>,
}

/// What becomes of an appended table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnionPartPreview {
    /// The table.
    pub name: String,
    /// Columns of the first table with those of this one.
    pub aligned: Vec<(String, String)>,
    /// Columns of the first table that are empty in its rows.
    pub left_empty: Vec<String>,
    /// Its columns that become further columns.
    pub added: Vec<String>,
    /// Its columns that are left out.
    pub left_out: Vec<String>,
}

/// A column whose parts have different types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnConflict {
    /// The column of the result.
    pub column: String,
    /// Its parts.
    pub types: Vec<PartType>,
    /// Its type in the result.
    pub becomes: String,
    /// Cells that stand in the way of the other parts' type: words among numbers or dates. Where the result is text they are
    /// kept as written; where it is not, they become NULL.
    pub misfits: u64,
}

/// The type of a column in one table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartType {
    /// The table.
    pub table: String,
    /// Its column.
    pub column: String,
    /// The Arrow type.
    #[serde(rename = "type")]
    pub data_type: String,
}

/// Counts in one pass over each table, and one over all for distinct rows.
pub fn count(context: &LakeContext, union: &ResolvedUnion, asides: &mut Asides) -> Result<Counted> {
    let conflicts: Vec<&UnionColumn> = union.columns.iter().filter(|column| column.has_conflict()).collect();
    let mut misfits = vec![0; conflicts.len()];
    let mut rows_in = Vec::with_capacity(union.parts.len());
    for (place, part) in union.parts.iter().enumerate() {
        let counted: Vec<(usize, String)> = conflicts
            .iter()
            .enumerate()
            .filter_map(|(conflict, column)| Some((conflict, misfit_count(column, column.parts[place].as_ref()?)?)))
            .collect();
        let mut sql = "SELECT count(*) AS n".to_string();
        counted.iter().enumerate().for_each(|(at, (_, count))| sql.push_str(&format!(", {count} AS m{at}")));
        let counts = figures(context, &format!("{sql} FROM {}", part.input.sql), &mut asides.notes)?;
        rows_in.push(counts.first().copied().unwrap_or(0));
        for ((conflict, _), count) in counted.iter().zip(counts.iter().skip(1)) {
            misfits[*conflict] += count;
        }
    }
    let all: u64 = rows_in.iter().sum();
    let rows_out = if union.distinct {
        let sql = format!("SELECT count(*) AS n FROM (\n{}\n) AS u", union.rows_sql());
        figures(context, &sql, &mut asides.notes)?.first().copied().unwrap_or(0)
    } else {
        all
    };
    let conflicts = conflicts.iter().zip(misfits).map(|(column, misfits)| conflict(union, column, misfits)).collect();
    let detail = UnionPreview {
        parts: (1..union.parts.len()).map(|place| part(union, place)).collect(),
        extra_columns: union
            .columns
            .iter()
            .filter(|column| !column.of_first)
            .map(|column| column.name.clone())
            .collect(),
        conflicts,
        repeated_rows: all.saturating_sub(rows_out),
        source_column: union.source.clone(),
    };
    Ok(Counted { rows_in, rows_out, detail: PreviewDetail::Union(detail), stopped: None })
}

fn part(union: &ResolvedUnion, place: usize) -> UnionPartPreview {
    let of_first = || union.columns.iter().filter(|column| column.of_first);
    let own = |column: &UnionColumn| column.parts[place].as_ref().map(|own| own.name.clone());
    UnionPartPreview {
        name: union.parts[place].input.name.clone(),
        aligned: of_first().filter_map(|column| Some((column.name.clone(), own(column)?))).collect(),
        left_empty: of_first().filter(|column| own(column).is_none()).map(|column| column.name.clone()).collect(),
        added: union.columns.iter().filter(|column| !column.of_first).filter_map(own).collect(),
        left_out: union.parts[place].left_out.clone(),
    }
}

fn conflict(union: &ResolvedUnion, column: &UnionColumn, misfits: u64) -> ColumnConflict {
    let types = column.parts.iter().zip(&union.parts).filter_map(|(own, part)| {
        let own = own.as_ref()?;
        let (table, column) = (part.input.name.clone(), own.name.clone());
        Some(PartType { table, column, data_type: own.data_type.to_string() })
    });
    ColumnConflict { column: column.name.clone(), types: types.collect(), becomes: column.target.name(), misfits }
}

/// What counts the cells of `part` that are not of the type of the other parts.
fn misfit_count(column: &UnionColumn, part: &InputColumn) -> Option<String> {
    let name = identifier(&part.name);
    let others = || column.parts.iter().flatten().filter(|other| !other.family.is_text());
    let fitting = match part.family {
        Family::Text if others().all(|other| other.family == Family::Number) => part.call("value_number", &name),
        Family::Text if others().all(|other| other.family.is_dated()) => part.call("value_date", &name),
        Family::Empty => {
            let sql_type = column.type_name().filter(|name| *name != "VARCHAR")?;
            format!("TRY_CAST({name} AS {sql_type})")
        }
        _ => return None,
    };
    Some(format!("count(*) FILTER (WHERE {name} IS NOT NULL AND {fitting} IS NULL)"))
}
