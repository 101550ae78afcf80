//! DataFusion's optimizer rules, each where it holds. Of DataFusion 55:
//!
//! - `eliminate_duplicated_expr` takes a key for unique where `unnest` has repeated its rows, and leaves out what stands behind it in an
//!   order.
//! - `push_down_filter` moves a condition without columns, such as `NULL > 3`, below a group of all rows, which has a row even if no row
//!   is left.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{Optimizer, OptimizerConfig, OptimizerRule};

type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// DataFusion's rules.
pub fn rules() -> Vec<Rule> {
    let where_it_holds = |rule: Rule| match rule.name() {
        "eliminate_duplicated_expr" => Arc::new(Except { rule, fails: |plan| matches!(plan, LogicalPlan::Sort(_)) }),
        "push_down_filter" => Arc::new(Except { rule, fails: filters_group_of_all }),
        _ => rule,
    };
    Optimizer::new().rules.into_iter().map(where_it_holds).collect()
}

fn filters_group_of_all(plan: &LogicalPlan) -> bool {
    let LogicalPlan::Filter(filter) = plan else { return false };
    matches!(&*filter.input, LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty())
}

/// A rule that leaves the nodes alone on which it `fails`.
#[derive(Debug)]
struct Except {
    rule: Rule,
    fails: fn(&LogicalPlan) -> bool,
}

impl OptimizerRule for Except {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if (self.fails)(&plan) { Ok(Transformed::no(plan)) } else { self.rule.rewrite(plan, config) }
    }
}
