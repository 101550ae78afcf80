//! The table of a call: it searches when it is read, on its own thread.
//!
//! Not on a thread of the session's runtime: another program's session may have none free, and a runtime waits for its threads
//! when it shuts down, while a cancelled query must not wait for a search.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{ScalarValue, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::error::{DataFusionError, Result as DataFusionResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};

use super::TableCall;
use super::form::Form;
use crate::Lakeward;
use lakeward_core::error::{Error, Result};
use lakeward_core::guard::guarded;
use lakeward_operate::fault;

/// Searches that run at the same time; a query may hold any number of calls.
const MOST_SEARCHES: usize = 8;

/// A table function in a session.
pub(super) struct CallFunction {
    lakeward: Lakeward,
    form: &'static Form,
}

impl CallFunction {
    pub(super) fn new(lakeward: &Lakeward, form: &'static Form) -> Self {
        Self { lakeward: lakeward.clone(), form }
    }

    fn call(&self, arguments: &[Expr]) -> Result<TableCall> {
        let constant = |argument: &Expr| match argument {
            Expr::Literal(value, _) => Ok(value.clone()),
            other => Err(Error::usage(format!(
                "{}: arguments must be constants, and `{other}` is not; write {}",
                self.form.name,
                self.form.syntax()
            ))),
        };
        let arguments: Vec<ScalarValue> = arguments.iter().map(constant).collect::<Result<_>>()?;
        let call = TableCall::parse(self.form.name, &arguments)?;
        call.check(&self.lakeward)?;
        Ok(call)
    }
}

impl fmt::Debug for CallFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFunction").field("name", &self.form.name).finish_non_exhaustive()
    }
}

impl TableFunctionImpl for CallFunction {
    fn call_with_args(&self, arguments: TableFunctionArgs) -> DataFusionResult<Arc<dyn TableProvider>> {
        let call = self.call(arguments.exprs()).map_err(fault)?;
        Ok(Arc::new(CallTable::new(&self.lakeward, call)))
    }
}

/// The rows of a call.
pub(super) struct CallTable {
    lakeward: Lakeward,
    call: TableCall,
    schema: SchemaRef,
    /// A scan of the same rows under the text of the whole call as its name.
    named: Option<LogicalPlan>,
}

impl CallTable {
    pub(super) fn new(lakeward: &Lakeward, call: TableCall) -> Self {
        // DataFusion gives all scans of a function one name and treats scans of one name as the same, whatever their
        // arguments: of two subqueries only one would run.
        let name = TableReference::bare(call.to_string());
        let unnamed = Self { lakeward: lakeward.clone(), schema: call.schema(), call: call.clone(), named: None };
        let scan = LogicalPlanBuilder::scan(name, provider_as_source(Arc::new(unnamed)), None);
        let named = scan.and_then(LogicalPlanBuilder::build).ok();
        Self { lakeward: lakeward.clone(), schema: call.schema(), call, named }
    }
}

impl fmt::Debug for CallTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallTable").field("call", &self.call).finish_non_exhaustive()
    }
}

#[async_trait]
impl TableProvider for CallTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    fn get_logical_plan(&self) -> Option<Cow<'_, LogicalPlan>> {
        self.named.as_ref().map(Cow::Borrowed)
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        let columns: Vec<usize> = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let schema = Arc::new(self.schema.project(&columns)?);
        let answers =
            Answers { lakeward: self.lakeward.clone(), call: self.call.clone(), columns, schema: Arc::clone(&schema) };
        let plan = StreamingTableExec::try_new(schema, vec![Arc::new(answers)], None, [], false, limit)?;
        Ok(Arc::new(plan))
    }
}

/// Some columns of the rows of a call.
struct Answers {
    lakeward: Lakeward,
    call: TableCall,
    columns: Vec<usize>,
    schema: SchemaRef,
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers").field("call", &self.call).field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl PartitionStream for Answers {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let builder = RecordBatchReceiverStreamBuilder::new(Arc::clone(&self.schema), 1);
        let (batches, failed) = (builder.tx(), builder.tx());
        let (lakeward, call, columns) = (self.lakeward.clone(), self.call.clone(), self.columns.clone());
        let schema = Arc::clone(&self.schema);
        let most_rows = context.session_config().batch_size().max(1);
        let search = move || {
            let permit = SearchPermit::wait();
            // The query was cancelled while this waited.
            if batches.is_closed() {
                return;
            }
            let rows = guarded(|| call.rows(&lakeward))
                .unwrap_or_else(|_| Err(Error::Internal(format!("{} panicked", call.name()))));
            drop(permit);
            let rows = rows.and_then(|rows| project(rows, &columns, &schema)).map_err(fault);
            for slice in slices(rows, most_rows) {
                // Sending fails if the query needs no more rows.
                if batches.blocking_send(slice).is_err() {
                    return;
                }
            }
        };
        if let Err(error) = std::thread::Builder::new().name(self.call.name().to_string()).spawn(search) {
            // The channel has room for one message.
            let _ = failed.try_send(Err(DataFusionError::IoError(error)));
        }
        builder.build()
    }
}

/// These columns of `rows` with the schema `schema`.
fn project(rows: RecordBatch, columns: &[usize], schema: &SchemaRef) -> Result<RecordBatch> {
    let arrays = columns.iter().map(|column| Arc::clone(rows.column(*column))).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)
        .map_err(|error| Error::Internal(error.to_string()))
}

/// The rows in batches of at most `most_rows`, or the error.
fn slices(
    rows: DataFusionResult<RecordBatch>,
    most_rows: usize,
) -> Box<dyn Iterator<Item = DataFusionResult<RecordBatch>>> {
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) => return Box::new(std::iter::once(Err(error))),
    };
    let count = rows.num_rows();
    Box::new((0..count).step_by(most_rows).map(move |from| Ok(rows.slice(from, most_rows.min(count - from)))))
}

/// The right to run one of [`MOST_SEARCHES`] searches; released when dropped.
struct SearchPermit;

static RUNNING: Mutex<usize> = Mutex::new(0);
static FREE: Condvar = Condvar::new();

impl SearchPermit {
    fn wait() -> Self {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        while *running >= MOST_SEARCHES {
            running = FREE.wait(running).unwrap_or_else(PoisonError::into_inner);
        }
        *running += 1;
        SearchPermit
    }
}

impl Drop for SearchPermit {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        FREE.notify_one();
    }
}
