//! Barriers in a query's plan, which rows pass and nothing that DataFusion knows of them.
//!
//! Of what lies below some operators DataFusion 55 concludes what does not hold above them:
//!
//! - Sorting what a limit has left, it sorts below the limit, and counts skipped rows twice.
//! - Keeping the first rows of what windows have computed, it keeps the first rows below the windows.
//! - Rows that `unnest` repeats keep the keys of those they come from for it, and are distinct already.
//! - A literal of each table of a union, and all of a group of all rows, is a constant for it, and then it misses the order of
//!   partitions.
//!
//! So there is a barrier above each limit, union and group of all rows, above the windows of a SELECT, and below a DISTINCT of what
//! was repeated. It has no order and no constants; keys it has except the last one, for DataFusion groups by all that a key determines, and later takes that back.
//! Conditions still move below it, and columns that nobody needs are still left out.
//!
//! Where a query runs in one partition, a barrier also takes those below it (the tables of a union) one after the other:
//! DataFusion takes rows as they come, so that their order would differ from run to run.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, FunctionalDependencies};
use datafusion::error::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{
    Distinct, DistinctOn, Expr, Extension, LogicalPlan, Projection, UserDefinedLogicalNode, UserDefinedLogicalNodeCore,
};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties,
};
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};

/// Batches ahead of who reads them.
const BATCHES_AHEAD: usize = 1;

/// `plan` with its barriers.
///
/// # Errors
/// DataFusion's, for a plan it cannot rewrite.
pub fn with_barriers(plan: LogicalPlan) -> Result<LogicalPlan> {
    let plan = plan.transform_up_with_subqueries(|node| {
        // A subquery of the rows around it becomes a join, which needs to see all of it.
        if !node.all_out_ref_exprs().is_empty() {
            return Ok(Transformed::no(node));
        }
        Ok(Transformed::yes(match node {
            LogicalPlan::Limit(_) | LogicalPlan::Union(_) => Barrier::above(node)?,
            LogicalPlan::Distinct(distinct) if repeats(distinct.input())? => without_keys_below(distinct)?,
            LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty() => {
                Barrier::above(LogicalPlan::Aggregate(aggregate))?
            }
            LogicalPlan::Projection(Projection { expr, input, .. }) if matches!(*input, LogicalPlan::Window(_)) => {
                let input = Barrier::above(Arc::unwrap_or_clone(input))?;
                LogicalPlan::Projection(Projection::try_new(expr, Arc::new(input))?)
            }
            node => return Ok(Transformed::no(node)),
        }))
    })?;
    Ok(plan.data)
}

/// Whether rows of `plan` may be repeated ones.
fn repeats(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| Ok(matches!(node, LogicalPlan::Unnest(_))))
}

fn without_keys_below(distinct: Distinct) -> Result<LogicalPlan> {
    let below = |input: Arc<LogicalPlan>| Barrier::projected(Arc::unwrap_or_clone(input), true).map(Arc::new);
    Ok(LogicalPlan::Distinct(match distinct {
        Distinct::All(input) => Distinct::All(below(input)?),
        Distinct::On(on) => Distinct::On(DistinctOn { input: below(on.input)?, ..on }),
    }))
}

/// A barrier of a logical plan.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Barrier {
    input: LogicalPlan,
    schema: DFSchemaRef,
    /// Whether nothing is a key.
    without_keys: bool,
}

impl PartialOrd for Barrier {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.input.partial_cmp(&other.input)
    }
}

impl Barrier {
    fn of(input: LogicalPlan, without_keys: bool) -> Result<Self> {
        let mut schema = Arc::clone(input.schema());
        if without_keys {
            let keyless = schema.as_ref().clone().with_functional_dependencies(FunctionalDependencies::empty())?;
            schema = Arc::new(keyless);
        }
        Ok(Self { input, schema, without_keys })
    }

    fn above(input: LogicalPlan) -> Result<LogicalPlan> {
        Self::projected(input, false)
    }

    fn projected(input: LogicalPlan, without_keys: bool) -> Result<LogicalPlan> {
        let columns = input.schema().columns().into_iter().map(Expr::Column).collect();
        let barrier = LogicalPlan::Extension(Extension { node: Arc::new(Self::of(input, without_keys)?) });
        // Of a subquery DataFusion asks what its first column is, which it does not see in a node that is not its own.
        Projection::try_new(columns, Arc::new(barrier)).map(LogicalPlan::Projection)
    }
}

impl UserDefinedLogicalNodeCore for Barrier {
    fn name(&self) -> &str {
        "Barrier"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        HashSet::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Barrier")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Self> {
        Self::of(inputs.swap_remove(0), self.without_keys)
    }

    fn necessary_children_exprs(&self, columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(vec![columns.to_vec()])
    }
}

/// Plans queries with barriers.
#[derive(Debug)]
pub struct BarrierPlanner;

#[async_trait]
impl QueryPlanner for BarrierPlanner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, session: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(BarrierPlanner)]);
        planner.create_physical_plan(plan, session).await
    }
}

#[async_trait]
impl ExtensionPlanner for BarrierPlanner {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        _: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let in_turn = session.config().target_partitions() == 1;
        let barrier = |input| -> Arc<dyn ExecutionPlan> { Arc::new(BarrierExec::new(Arc::clone(input), in_turn)) };
        Ok(inputs.first().map(barrier))
    }
}

/// A barrier of a physical plan.
#[derive(Debug)]
struct BarrierExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
    /// Whether the partitions of `input` become one.
    in_turn: bool,
}

impl BarrierExec {
    fn new(input: Arc<dyn ExecutionPlan>, in_turn: bool) -> Self {
        let partitions = if in_turn { 1 } else { input.output_partitioning().partition_count() };
        let properties = PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            Partitioning::UnknownPartitioning(partitions),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Self { input, properties: Arc::new(properties), in_turn }
    }
}

impl DisplayAs for BarrierExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BarrierExec")
    }
}

impl ExecutionPlan for BarrierExec {
    fn name(&self) -> &str {
        "BarrierExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    /// Rows of a limit are in order, and more partitions would lose it.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::new(children.swap_remove(0), self.in_turn)))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let partitions = self.input.output_partitioning().partition_count();
        if !self.in_turn || partitions == 1 {
            return self.input.execute(partition, context);
        }
        let mut builder = RecordBatchReceiverStreamBuilder::new(self.schema(), BATCHES_AHEAD);
        let batches = builder.tx();
        let input = Arc::clone(&self.input);
        builder.spawn(async move {
            for partition in 0..partitions {
                let mut stream = input.execute(partition, Arc::clone(&context))?;
                while let Some(batch) = poll_fn(|task| stream.as_mut().poll_next(task)).await {
                    if batches.send(Ok(batch?)).await.is_err() {
                        // Nobody wants more.
                        return Ok(());
                    }
                }
            }
            Ok(())
        });
        Ok(builder.build())
    }
}
