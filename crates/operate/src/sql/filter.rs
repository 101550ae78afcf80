//! Rows of a table that meet all conditions.

use super::condition::condition;
use super::listed;
use crate::context::LakeContext;
use crate::inputs::InputTable;
use crate::quote::identifier;
use lakeward_core::error::Result;
use lakeward_core::request::Filter;

/// A filter whose table and columns are known.
pub struct ResolvedFilter {
    /// The table.
    pub input: InputTable,
    /// The conditions in SQL, in the order of the operation.
    pub conditions: Vec<String>,
    /// Names of the columns kept; empty: all.
    pub kept: Vec<String>,
}

/// Looks up what `filter` names.
///
/// # Errors
/// As [`super::sql`].
pub fn resolve(context: &LakeContext, filter: &Filter) -> Result<ResolvedFilter> {
    let input = InputTable::resolve(context, &filter.input)?;
    let conditions = filter
        .conditions
        .iter()
        .map(|wanted| condition(input.column(&wanted.column)?, &wanted.test))
        .collect::<Result<Vec<_>>>()?;
    let kept = if filter.columns.is_empty() {
        Vec::new()
    } else {
        input.columns_named(&filter.columns)?.into_iter().map(|column| column.name.clone()).collect()
    };
    Ok(ResolvedFilter { input, conditions, kept })
}

impl ResolvedFilter {
    /// The query.
    pub fn sql(&self) -> String {
        let kept: Vec<String> = self.kept.iter().map(|name| identifier(name)).collect();
        let columns = if kept.is_empty() { "*".to_string() } else { listed(&kept) };
        let mut sql = format!("SELECT {columns}\nFROM {}", self.input.sql);
        for (place, condition) in self.conditions.iter().enumerate() {
            sql.push_str(if place == 0 { "\nWHERE " } else { "\n  AND " });
            sql.push_str(condition);
        }
        sql
    }
}
