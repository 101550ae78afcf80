//! Aggregates that build signatures of values and compare them.

use datafusion::logical_expr::AggregateUDF;

/// The aggregate functions.
pub fn aggregates() -> Vec<AggregateUDF> {
    Vec::new()
}
