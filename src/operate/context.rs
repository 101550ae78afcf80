//! One DataFusion session over one snapshot of a lake: queries in, rows out.

use std::path::Path;
use std::sync::Arc;

use arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::execution::context::{SessionConfig, SessionContext};
use datafusion::execution::disk_manager::DiskManagerBuilder;
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement;

use super::catalog::{CATALOG, LakeCatalog, ROOT_SCHEMA, Tables};
use super::columns;
use super::names::Names;
use super::notes::{Note, Notes};
use super::rows::Rows;
use super::statement;
use crate::error::{Error, Result};
use crate::index::LakeIndex;

/// Consumers of memory named in an error.
const NAMED_CONSUMERS: std::num::NonZeroUsize = std::num::NonZeroUsize::MIN;
/// What DataFusion recommends besides quoting a column's name.
const UNUSABLE_ADVICE: &str = " or disable the datafusion.sql_parser.enable_ident_normalization configuration";
/// Schema of DataFusion's own tables about tables.
const INFORMATION_SCHEMA: &str = "information_schema";

/// What a query may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Memory for sorting, grouping and joining; what exceeds it goes to temporary files where the operator can. 1 GB by default.
    pub memory_bytes: usize,
    /// Temporary files. 20 GB by default; with 0 nothing goes to disk.
    pub spill_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory_bytes: 1 << 30, spill_bytes: 20 << 30 }
    }
}

/// Answers queries over the tables of a lake. Tables are opened when a query names them, and stay open.
pub struct LakeContext {
    runtime: tokio::runtime::Runtime,
    session: SessionContext,
    tables: Arc<Tables>,
    notes: Arc<Notes>,
    limits: Limits,
}

impl LakeContext {
    /// A context over the tables of `index`, whose files are below `lake`; opens no table.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`]; [`Error::Internal`] where the system gives no threads.
    pub fn new(lake: &Path, index: &LakeIndex, limits: Limits) -> Result<Self> {
        let internal = |error: &dyn std::fmt::Display| Error::Internal(error.to_string());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| internal(&error))?;
        let pool = TrackConsumersPool::new(FairSpillPool::new(limits.memory_bytes), NAMED_CONSUMERS);
        let disk = DiskManagerBuilder::default().with_max_temp_directory_size(limits.spill_bytes);
        let environment = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(pool))
            .with_disk_manager_builder(disk)
            .build_arc()
            .map_err(|error| internal(&error))?;
        let mut config = SessionConfig::new()
            .with_information_schema(true)
            .with_create_default_catalog_and_schema(false)
            .with_default_catalog_and_schema(CATALOG, ROOT_SCHEMA);
        config.options_mut().execution.parquet.pushdown_filters = true;
        let opener = SessionContext::new_with_config_rt(config.clone(), Arc::clone(&environment));
        let session = SessionContext::new_with_config_rt(config, environment);
        let notes = Arc::new(Notes::default());
        let tables = Arc::new(Tables::new(lake, Names::new(index)?, Arc::clone(&notes), opener));
        session.register_catalog(CATALOG, Arc::new(LakeCatalog::new(Arc::clone(&tables), None)));
        Ok(Self { runtime, session, tables, notes, limits })
    }

    /// Starts the query `sql` and gives its rows batch by batch, at most `limit` of them.
    ///
    /// One query at a time: a new one forgets the notes of the one before.
    ///
    /// # Errors
    /// [`Error::Usage`] for anything but one query, [`Error::UnknownTable`] with the nearest ids, [`Error::Sql`] with
    /// DataFusion's message, and what reading a table's head can meet.
    pub fn query(&self, sql: &str, limit: Option<usize>) -> Result<Rows<'_>> {
        self.notes.clear();
        let statement = statement::parse(sql)?;
        let places = self.check_names(&statement)?;
        for &place in &places {
            let (path, is_parquet) = self.tables.file(place)?;
            if is_parquet {
                self.notes.parquet(path);
            }
        }
        self.runtime.block_on(async {
            let plan = self.plan(statement, &places).await?;
            statement::read_only().verify_plan(&plan).map_err(|error| {
                Error::Usage(format!("the lake is only read, and this query would write: {}", error.strip_backtrace()))
            })?;
            let explains = matches!(plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_));
            let limited = !explains && !matches!(plan, LogicalPlan::DescribeTable(_));
            let mut frame = self.session.execute_logical_plan(plan).await.map_err(|error| self.error(&error))?;
            if let Some(limit) = limit.filter(|_| limited) {
                // One row more tells whether there are more.
                frame = frame.limit(0, Some(limit.saturating_add(1))).map_err(|error| self.error(&error))?;
            }
            let stream = frame.execute_stream().await.map_err(|error| self.error(&error))?;
            Ok(Rows::new(self, stream, limit.filter(|_| !explains), explains))
        })
    }

    /// What there is to know about the tables that the latest query has read so far.
    pub fn notes(&self) -> Vec<Note> {
        self.notes.list()
    }

    pub(super) fn runtime(&self) -> &tokio::runtime::Runtime {
        &self.runtime
    }

    /// Plans a statement over the tables at `places`: as it stands, else with its names in the case of the columns.
    async fn plan(&self, statement: Statement, places: &[usize]) -> Result<LogicalPlan> {
        let state = self.session.state();
        let failed = match state.statement_to_plan(statement.clone()).await {
            Ok(plan) => return Ok(plan),
            Err(error) => self.error(&error),
        };
        let mut schemas = Vec::with_capacity(places.len());
        for &place in places {
            match self.tables.table(place).await {
                Ok(table) => schemas.push(table.schema()),
                Err(_) => return Err(failed),
            }
        }
        let columns = schemas.iter().flat_map(|schema| schema.fields()).map(|field| field.name().as_str());
        match columns::as_written(statement, columns) {
            Some(statement) => state.statement_to_plan(statement).await.map_err(|_| failed),
            None => Err(failed),
        }
    }

    /// The places of the tables that a statement names. Unknown names are told with the nearest ids, which DataFusion does not know.
    fn check_names(&self, statement: &Statement) -> Result<Vec<usize>> {
        let mut places = Vec::new();
        let state = self.session.state();
        let references = state.resolve_table_references(statement).map_err(|error| self.error(&error))?;
        for reference in references {
            let of_datafusion = reference.schema() == Some(INFORMATION_SCHEMA)
                || (reference.schema().is_none() && state.table_functions().contains_key(reference.table()));
            if of_datafusion {
                continue;
            }
            places.push(self.tables.resolve(&reference)?);
            // In `us.zip.zip_ma` the first folder stands where SQL puts a catalogue.
            if let Some(above) = reference.catalog().filter(|above| *above != CATALOG) {
                let catalog = LakeCatalog::new(Arc::clone(&self.tables), Some(above.to_string()));
                self.session.register_catalog(above, Arc::new(catalog));
            }
        }
        Ok(places)
    }

    /// The lake's own error where there is one behind DataFusion's.
    pub(super) fn error(&self, error: &DataFusionError) -> Error {
        if let Some(fault) = self.notes.take_fault() {
            return fault;
        }
        let root = error.find_root();
        if is_damage(root)
            && let Some(path) = self.notes.only_parquet()
        {
            return Error::unreadable(&path, root.strip_backtrace());
        }
        if let DataFusionError::ResourcesExhausted(reason) = root {
            let limit_mb = self.limits.memory_bytes / 1_000_000;
            let reason = reason.lines().next().unwrap_or_default();
            return Error::Sql {
                reason: format!(
                    "it needs more than the {limit_mb} MB of memory it may use; select fewer columns, filter or aggregate before \
                     joining ({reason})"
                ),
            };
        }
        // Settings cannot be changed here, so that advice would lead nowhere.
        Error::Sql { reason: error.strip_backtrace().replace(UNUSABLE_ADVICE, "") }
    }
}

/// Whether a Parquet file turned out to be damaged while its rows were read.
fn is_damage(error: &DataFusionError) -> bool {
    match error {
        DataFusionError::ParquetError(_) => true,
        DataFusionError::ArrowError(error, _) => matches!(**error, ArrowError::ParquetError(_)),
        _ => false,
    }
}
