//! Partitions one after the other.
//!
//! Where DataFusion brings several partitions together (the tables of a union) it takes rows as they come, so that their
//! order differs from run to run. Here the second partition begins when the first has ended.

use std::future::poll_fn;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

/// Batches ahead of who reads them.
const BATCHES_AHEAD: usize = 1;
/// What DataFusion brings partitions together with.
const COALESCE: &str = "CoalescePartitionsExec";

/// `plan` with one partition, and wherever it brings partitions together these come in turn.
///
/// # Errors
/// DataFusion's, for a plan it cannot rewrite.
pub fn in_turn(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = plan.transform_up(|node| match (node.name(), node.children().first()) {
        (COALESCE, Some(input)) => Ok(Transformed::yes(one_partition(Arc::clone(input), node.fetch())?)),
        _ => Ok(Transformed::no(node)),
    })?;
    one_partition(plan.data, None)
}

fn one_partition(input: Arc<dyn ExecutionPlan>, fetch: Option<usize>) -> Result<Arc<dyn ExecutionPlan>> {
    if input.output_partitioning().partition_count() == 1 && fetch.is_none() {
        return Ok(input);
    }
    let schema = input.schema();
    let turns = Turns { input, schema: Arc::clone(&schema) };
    Ok(Arc::new(StreamingTableExec::try_new(schema, vec![Arc::new(turns)], None, [], false, fetch)?))
}

#[derive(Debug)]
struct Turns {
    input: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
}

impl PartitionStream for Turns {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut builder = RecordBatchReceiverStreamBuilder::new(Arc::clone(&self.schema), BATCHES_AHEAD);
        let batches = builder.tx();
        let input = Arc::clone(&self.input);
        builder.spawn(async move {
            for partition in 0..input.output_partitioning().partition_count() {
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
        builder.build()
    }
}
