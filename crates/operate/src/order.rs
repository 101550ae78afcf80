//! Joins that keep the order of their first table.
//!
//! DataFusion's hash join holds its first table in memory and lets the second one stream past it. The working table comes
//! first and is the longer one as a rule, so the two change places. Its rows are numbered and the result is sorted by these
//! numbers; as the join is known to keep them in order, that costs a sort only where the join is carried out another way.
//!
//! What keeps the rows that have a partner (`EXISTS`) becomes a join only while it is planned, so its rows are numbered and sorted, too.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::logical_plan::Join;
use datafusion::logical_expr::{Expr, Filter, LogicalPlan, LogicalPlanBuilder};

/// `plan` with the rows of its joins in the order of their first tables.
///
/// # Errors
/// DataFusion's, for a plan it cannot rewrite.
pub fn by_first_table(plan: LogicalPlan) -> Result<LogicalPlan> {
    let ordered = plan.transform_up(|node| match node {
        LogicalPlan::Join(join) => Ok(Transformed::yes(ordered(join)?)),
        LogicalPlan::Filter(filter) if asks_for_partners(&filter.predicate)? => Ok(Transformed::yes(in_order(filter)?)),
        other => Ok(Transformed::no(other)),
    })?;
    Ok(ordered.data)
}

fn asks_for_partners(condition: &Expr) -> Result<bool> {
    condition.exists(|part| Ok(matches!(part, Expr::Exists(_) | Expr::InSubquery(_))))
}

/// The rows that a filter keeps, in the order in which they come to it.
fn in_order(filter: Filter) -> Result<LogicalPlan> {
    let columns: Vec<Expr> = filter.input.schema().columns().into_iter().map(Expr::Column).collect();
    let numbered = LogicalPlanBuilder::from(filter.input.as_ref().clone()).window([row_number()]);
    // A join below has numbered them already.
    let Ok(numbered) = numbered else { return Ok(LogicalPlan::Filter(filter)) };
    let numbered = numbered.build()?;
    let Some(number) = numbered.schema().columns().pop() else { return Ok(LogicalPlan::Filter(filter)) };
    let filtered = LogicalPlanBuilder::from(numbered).filter(filter.predicate)?;
    filtered.sort([Expr::Column(number).sort(true, false)])?.project(columns)?.build()
}

fn ordered(join: Join) -> Result<LogicalPlan> {
    let numbered = LogicalPlanBuilder::from(join.left).window([row_number()])?.build()?;
    let number = numbered.schema().columns().pop();
    let on = join.on.into_iter().map(|(left, right)| (right, left)).collect();
    let exchanged = Join::try_new(
        join.right,
        numbered.into(),
        on,
        join.filter,
        join.join_type.swap(),
        join.join_constraint,
        join.null_equality,
        join.null_aware,
    )?;
    let exchanged = LogicalPlanBuilder::from(LogicalPlan::Join(exchanged));
    match number {
        Some(number) => exchanged.sort([Expr::Column(number).sort(true, false)])?.build(),
        None => exchanged.build(),
    }
}
