//! Joins that keep the order of their first table.
//!
//! DataFusion's hash join holds its first table in memory and lets the second one stream past it, so the rows come in the
//! order of the second. The working table comes first and is the longer one as a rule, so the two change places.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::logical_expr::LogicalPlan;
use datafusion::logical_expr::logical_plan::Join;

/// `plan` with the sides of its joins exchanged.
///
/// # Errors
/// DataFusion's, for a plan it cannot rewrite.
pub fn by_first_table(plan: LogicalPlan) -> Result<LogicalPlan> {
    let exchanged = plan.transform_up(|node| {
        let LogicalPlan::Join(join) = node else { return Ok(Transformed::no(node)) };
        let on = join.on.into_iter().map(|(left, right)| (right, left)).collect();
        let join = Join::try_new(
            join.right,
            join.left,
            on,
            join.filter,
            join.join_type.swap(),
            join.join_constraint,
            join.null_equality,
            join.null_aware,
        )?;
        Ok(Transformed::yes(LogicalPlan::Join(join)))
    })?;
    Ok(exchanged.data)
}
