//! Groups of an aggregation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Asides, Counted, PreviewDetail};
use crate::context::LakeContext;
use crate::counts::figures;
use crate::sql::aggregate::ResolvedAggregate;
use lakeward_core::error::Result;

/// What an aggregation would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AggregatePreview {
    /// Groups, those of missing values among them; one where nothing is grouped by.
    pub groups: u64,
    /// Rows of the smallest group.
    pub least_rows: u64,
    /// Mean number of rows of a group; 0 where there is none.
    pub mean_rows: f64,
    /// Rows of the greatest group.
    pub most_rows: u64,
}

/// Counts in one pass.
pub fn count(context: &LakeContext, aggregate: &ResolvedAggregate, asides: &mut Asides) -> Result<Counted> {
    let keys: Vec<String> =
        aggregate.keys.iter().enumerate().map(|(place, key)| format!("{key} AS k{place}")).collect();
    let places: Vec<String> = (1..=keys.len()).map(|place| place.to_string()).collect();
    let groups = if keys.is_empty() {
        format!("SELECT count(*) AS n FROM {}", aggregate.input.sql)
    } else {
        let (keys, places) = (keys.join(", "), places.join(", "));
        format!("SELECT {keys}, count(*) AS n FROM {} GROUP BY {places}", aggregate.input.sql)
    };
    let sql = format!("SELECT count(*) AS groups, min(n) AS least, max(n) AS most, sum(n) AS n FROM ({groups}) AS g");
    let counts = figures(context, &sql, &mut asides.notes)?;
    let figure = |place: usize| counts.get(place).copied().unwrap_or(0);
    let (groups, rows) = (figure(0), figure(3));
    let detail = AggregatePreview {
        groups,
        least_rows: figure(1),
        mean_rows: if groups == 0 { 0.0 } else { rows as f64 / groups as f64 },
        most_rows: figure(2),
    };
    Ok(Counted { rows_in: vec![rows], rows_out: groups, detail: PreviewDetail::Aggregate(detail), stopped: None })
}
