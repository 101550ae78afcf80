//! Rows that a filter keeps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Asides, Counted, PreviewDetail};
use crate::context::LakeContext;
use crate::counts::figures;
use crate::sql::filter::ResolvedFilter;
use lakeward_core::error::Result;

/// What a filter would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FilterPreview {
    /// Its conditions in order.
    pub conditions: Vec<ConditionPreview>,
}

/// What a condition does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConditionPreview {
    /// The condition in SQL.
    pub sql: String,
    /// Rows that meet it, whatever the other conditions say.
    pub rows: u64,
}

/// Counts in one pass.
pub fn count(context: &LakeContext, filter: &ResolvedFilter, asides: &mut Asides) -> Result<Counted> {
    let mut counts = vec!["count(*)".to_string()];
    let met = |condition: &str| format!("count(*) FILTER (WHERE {condition})");
    if !filter.conditions.is_empty() {
        counts.push(met(&filter.conditions.join(" AND ")));
        counts.extend(filter.conditions.iter().map(|condition| met(condition)));
    }
    let columns: Vec<String> = counts.iter().enumerate().map(|(place, count)| format!("{count} AS n{place}")).collect();
    let sql = format!("SELECT {} FROM {}", columns.join(", "), filter.input.sql);
    let counts = figures(context, &sql, &mut asides.notes)?;
    let rows_in = counts.first().copied().unwrap_or(0);
    let alone = counts.iter().skip(2);
    let conditions = filter
        .conditions
        .iter()
        .zip(alone)
        .map(|(sql, rows)| ConditionPreview { sql: sql.clone(), rows: *rows })
        .collect();
    Ok(Counted {
        rows_in: vec![rows_in],
        rows_out: counts.get(1).copied().unwrap_or(rows_in),
        detail: PreviewDetail::Filter(FilterPreview { conditions }),
        stopped: None,
    })
}
