//! The node of a plan that works on shards, and how it is sent.

use std::fmt;
use std::io;
use std::process::Stdio;
use std::sync::Arc;

use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::arrow::array::{AsArray, RecordBatch, StringArray, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use futures::TryStreamExt;
use tokio::process::Command;

/// Names the program `lakeward`, if it is not on the path.
pub const PROGRAM: &str = "LAKEWARD_PROGRAM";

/// Shards of one job: the plan, which has a message to the scheduler to itself, names each, and a message has at most 16 MiB.
pub const MOST_SHARDS: u32 = 10_000;

/// Works on the shards of a list whose numbers its input has. All that it carries is where the list is, so that a plan is small, however large the lake.
///
/// The numbers come from an input, one a partition, since Ballista 55 gives each task its partitions of the leaves that it knows, and all
/// partitions of any other leaf.
#[derive(Debug)]
pub struct IndexShards {
    list: String,
    numbers: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl IndexShards {
    /// These shards of `list`.
    pub fn of(list: String, shards: &[u32]) -> Result<Self> {
        let schema = Arc::new(Schema::new(vec![Field::new("shard", DataType::UInt32, false)]));
        let number = |shard| RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(UInt32Array::from(vec![shard]))]);
        let numbers: Vec<Vec<RecordBatch>> =
            shards.iter().map(|shard| Ok(vec![number(*shard)?])).collect::<Result<_>>()?;
        Ok(Self::new(list, MemorySourceConfig::try_new_exec(&numbers, schema, None)?))
    }

    fn new(list: String, numbers: Arc<dyn ExecutionPlan>) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema()),
            Partitioning::UnknownPartitioning(numbers.properties().output_partitioning().partition_count()),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Self { list, numbers, properties: Arc::new(properties) }
    }
}

/// One column: the row of a shard, as JSON.
fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("row", DataType::Utf8, false)]))
}

impl DisplayAs for IndexShards {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IndexShards: {}", self.list)
    }
}

impl ExecutionPlan for IndexShards {
    fn name(&self) -> &str {
        "IndexShards"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.numbers]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let numbers = <[_; 1]>::try_from(children).map_err(|_| DataFusionError::Internal("it has one input".into()))?;
        let [numbers] = numbers;
        Ok(Arc::new(Self::new(self.list.clone(), numbers)))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let list = self.list.clone();
        let numbers = self.numbers.execute(partition, context)?;
        let rows = numbers.and_then(move |batch| {
            let list = list.clone();
            async move {
                let mut rows = Vec::new();
                for shard in batch.column(0).as_primitive::<UInt32Type>().values() {
                    rows.push(work(&list, *shard).await?);
                }
                Ok(RecordBatch::try_new(schema(), vec![Arc::new(StringArray::from(rows))])?)
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema(), rows)))
    }
}

/// The row of a shard. Ballista retries what fails with an [`io::Error`]: all that could go better another time or elsewhere.
async fn work(list: &str, shard: u32) -> Result<String> {
    let program = std::env::var(PROGRAM).unwrap_or_else(|_| "lakeward".into());
    let mut command = Command::new(&program);
    command.args(["index", "work", list, "--shard", &shard.to_string(), "--json", "--quiet"]);
    if std::env::var_os("RAYON_NUM_THREADS").is_none() {
        command.env("RAYON_NUM_THREADS", "1");
    }
    // A task that is cancelled ends its process.
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.map_err(|error| failed(&format!("`{program}` cannot be run: {error}")))?;
    let stderr = String::from_utf8_lossy(&output.stderr).trim().to_string();
    match output.status.code() {
        Some(0) => String::from_utf8(output.stdout).map_err(|error| failed(&error.to_string())),
        // Usage: a list of another version, a shard that is not there. It would be the same elsewhere.
        Some(2) => Err(DataFusionError::Execution(format!("shard {shard}: {stderr}"))),
        _ => Err(failed(&format!("shard {shard} ended with {}: {stderr}", output.status))),
    }
}

fn failed(reason: &str) -> DataFusionError {
    DataFusionError::IoError(io::Error::other(reason.to_string()))
}

/// Sends [`IndexShards`], and all else as Ballista does: the first byte tells which it is.
#[derive(Debug, Default)]
pub struct ShardCodec {
    others: BallistaPhysicalExtensionCodec,
}

const OTHER: u8 = 0;
const SHARDS: u8 = 1;

impl PhysicalExtensionCodec for ShardCodec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let damaged = || DataFusionError::Internal("a part of a plan is of no known kind".into());
        match buf.split_first() {
            Some((&OTHER, sent)) => self.others.try_decode(sent, inputs, context, converter),
            Some((&SHARDS, sent)) => {
                let list = String::from_utf8(sent.to_vec()).map_err(|_| damaged())?;
                let [numbers] = inputs else { return Err(damaged()) };
                Ok(Arc::new(IndexShards::new(list, Arc::clone(numbers))))
            }
            _ => Err(damaged()),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(shards) = node.downcast_ref::<IndexShards>() else {
            buf.push(OTHER);
            return self.others.try_encode(node, buf, converter);
        };
        buf.push(SHARDS);
        buf.extend(shards.list.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use datafusion_proto::physical_plan::AsExecutionPlan;
    use datafusion_proto::protobuf::PhysicalPlanNode;

    use super::*;

    #[test]
    fn the_longest_plan_fits_a_message() {
        let shards: Vec<u32> = (0..MOST_SHARDS).collect();
        let list = format!("s3://{}/lists/{}", "a".repeat(500), "f".repeat(32));
        let plan = IndexShards::of(list, &shards).expect("a plan");
        let sent = PhysicalPlanNode::try_from_physical_plan(Arc::new(plan), &ShardCodec::default()).expect("a message");
        let mut bytes = Vec::new();
        sent.try_encode(&mut bytes).expect("bytes");
        println!("{} bytes for {MOST_SHARDS} shards", bytes.len());
        // Half of what Ballista takes, for what it adds.
        assert!(bytes.len() < 8 << 20, "{}", bytes.len());
    }
}
