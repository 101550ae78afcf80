//! One DataFusion session over one snapshot of a lake: queries in, rows out.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::error::ArrowError;
use datafusion::common::config::ConfigNonZeroUsize;
use datafusion::error::DataFusionError;
use datafusion::execution::context::{SessionConfig, SessionContext};
use datafusion::execution::disk_manager::DiskManagerBuilder;
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement;

use super::barrier::{BarrierPlanner, with_barriers};
use super::fault::LakeFault;
use super::lake_catalog::{CATALOG, LakeCatalog, Place, ROOT_SCHEMA, Tables};
use super::names::Names;
use super::notes::{Note, Notes};
use super::plan::KeptSteps;
use super::rows::Rows;
use super::session_tables::SESSION_SCHEMA;
use super::stop::Stop;
use super::{aggregates, calls, columns, functions, optimizer_rules, order, quote, statement};
use lakeward_core::error::{Error, Result};
use lakeward_index::LakeIndex;
use lakeward_lake::reader::{self, ReadOptions};

/// Consumers of memory named in an error.
const NAMED_CONSUMERS: std::num::NonZeroUsize = std::num::NonZeroUsize::MIN;
/// Bytes of memory for each row of a batch where there is little memory.
const SPILLING_BATCH_SHARE: usize = 1 << 17;
/// Rows of a batch at least.
const LEAST_BATCH_ROWS: usize = 128;
/// Part of the memory that each sort keeps aside for merging.
const SHARE_ASIDE: usize = 48;
/// What DataFusion recommends besides quoting a column's name.
const UNUSABLE_ADVICE: &str = " or disable the datafusion.sql_parser.enable_ident_normalization configuration";
/// Stack of the threads that plan and run a query.
const PLANNING_STACK_BYTES: usize = 64 << 20;
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
    stop: Option<Stop>,
    kept: Option<KeptSteps>,
}

/// How a query is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    /// On all cores; rows come in any order.
    Parallel,
    /// On one core and with the same order of rows each time: that of the table, for a join that of its first table.
    InOrder,
    /// As [`Strategy::InOrder`] for joins, but with joins that sort what they join, so that it can go to temporary files.
    Spilling {
        /// How often that failed before: batches have a quarter of the rows each time.
        attempt: u32,
    },
}

impl LakeContext {
    /// A context over the tables of `index`, whose files are below `lake`; opens no table.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`]; [`Error::Internal`] where the system gives no threads.
    pub fn new(lake: &Path, index: &LakeIndex, limits: Limits) -> Result<Self> {
        let internal = |error: &dyn std::fmt::Display| Error::Internal(error.to_string());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .thread_stack_size(PLANNING_STACK_BYTES)
            .enable_all()
            .build()
            .map_err(|error| internal(&error))?;
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
        // DataFusion takes a CASE for one that is never NULL before it has planned it, and for one that may be after that.
        config.options_mut().execution.skip_physical_aggregate_schema_check = true;
        // What a sort keeps aside for merging must fit as well.
        let aside = &mut config.options_mut().execution.sort_spill_reservation_bytes;
        *aside = (*aside).min(limits.memory_bytes / SHARE_ASIDE);
        let opener = SessionContext::new_with_config_rt(config.clone(), Arc::clone(&environment));
        let state = SessionStateBuilder::new_with_default_features()
            .with_config(config)
            .with_runtime_env(environment)
            .with_optimizer_rules(optimizer_rules::rules())
            .with_query_planner(Arc::new(BarrierPlanner));
        let session = SessionContext::new_with_state(state.build());
        functions::register_all(&session);
        aggregates::register_all(&session);
        let notes = Arc::new(Notes::default());
        let tables = Arc::new(Tables::new(lake, Names::new(index)?, Arc::clone(&notes), opener));
        session.register_catalog(CATALOG, Arc::new(LakeCatalog::new(Arc::clone(&tables), None)));
        Ok(Self { runtime, session, tables, notes, limits, stop: None, kept: None })
    }

    /// The same context, whose queries end with [`Error::Interrupted`] soon after `asked` says yes.
    pub fn stopping_when(self, asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { stop: Some(Stop::when(asked)), ..self }
    }

    /// The same context, which keeps in `folder` what previews of plans compute, so that no step is computed twice.
    pub fn keeping_steps_in(self, folder: &Path) -> Self {
        Self { kept: Some(KeptSteps::new(folder)), ..self }
    }

    pub(super) fn kept(&self) -> Option<&KeptSteps> {
        self.kept.as_ref()
    }

    /// The result of the session's step `step` lies in the Parquet file at `path`; from now on it is the table
    /// `session.step_N`.
    pub fn set_step(&self, step: usize, path: &Path) {
        let name = self.tables.session.set_step(step, path);
        self.tables.close(&Place::Session(name));
    }

    /// The session has no step `step` any more.
    pub fn remove_step(&self, step: usize) {
        let name = self.tables.session.remove_step(step);
        self.tables.close(&Place::Session(name));
    }

    /// Makes the file at `path` a table that queries can name, with types as those of the lake. Returns its name in SQL,
    /// such as `session."orders"`.
    ///
    /// # Errors
    /// [`Error::Io`] where there is no such file.
    pub fn add_file(&self, path: &Path) -> Result<String> {
        let name = self.tables.session.add_file(path)?;
        Ok(format!("{SESSION_SCHEMA}.{}", quote::identifier(&name)))
    }

    /// The session, to register functions with.
    pub fn session(&self) -> &SessionContext {
        &self.session
    }

    pub(super) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The outcome of `future`, unless the user stops it before.
    pub(super) fn wait<T>(&self, future: impl Future<Output = T>) -> Result<T> {
        match &self.stop {
            Some(stop) => self.runtime.block_on(stop.or(future)),
            None => Ok(self.runtime.block_on(future)),
        }
    }

    /// Whether the latest query failed because it needed more memory than it may use.
    pub(super) fn is_exhausted(&self) -> bool {
        self.notes.is_exhausted()
    }

    /// Starts the query `sql` and gives its rows batch by batch, at most `limit` of them.
    ///
    /// One query at a time: a new one forgets the notes of the one before.
    ///
    /// # Errors
    /// [`Error::Usage`] for anything but one query, [`Error::UnknownTable`] with the nearest ids, [`Error::Sql`] with
    /// DataFusion's message, and what reading a table's head can meet.
    pub fn query(&self, sql: &str, limit: Option<usize>) -> Result<Rows<'_>> {
        self.query_by(sql, limit, Strategy::Parallel)
    }

    /// [`LakeContext::query`] in a certain way. It is planned on a thread with a stack that a query of hundreds of conditions or
    /// parts fits on.
    pub(super) fn query_by(&self, sql: &str, limit: Option<usize>, strategy: Strategy) -> Result<Rows<'_>> {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(PLANNING_STACK_BYTES);
            let planning = thread.spawn_scoped(scope, || self.planned(sql, limit, strategy));
            let planning = planning.map_err(|error| Error::Internal(error.to_string()))?;
            planning.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn planned(&self, sql: &str, limit: Option<usize>, strategy: Strategy) -> Result<Rows<'_>> {
        self.notes.clear();
        let mut statement = statement::parse(sql)?;
        let calls = calls::fold(&mut statement);
        let places = self.check_names(&statement, &calls)?;
        self.tables.set_calls(calls);
        for place in &places {
            let (path, is_parquet) = self.tables.file(place)?;
            if is_parquet {
                self.notes.parquet(path);
            }
        }
        self.wait(async {
            let session = self.session_for(strategy);
            let mut plan = self.plan(statement, &places).await?;
            statement::read_only().verify_plan(&plan).map_err(|error| {
                Error::usage(format!("the lake is only read, and this query would write: {}", error.strip_backtrace()))
            })?;
            plan = with_barriers(plan).map_err(|error| self.error(&error))?;
            if strategy != Strategy::Parallel {
                plan = order::by_first_table(plan).map_err(|error| self.error(&error))?;
            }
            let explains = matches!(plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_));
            let limited = !explains && !matches!(plan, LogicalPlan::DescribeTable(_));
            let mut frame = session.execute_logical_plan(plan).await.map_err(|error| self.error(&error))?;
            if let Some(limit) = limit.filter(|_| limited) {
                // One row more tells whether there are more.
                frame = frame.limit(0, Some(limit.saturating_add(1))).map_err(|error| self.error(&error))?;
            }
            let stream = frame.execute_stream().await.map_err(|error| self.error(&error))?;
            Ok(Rows::new(self, stream, limit.filter(|_| !explains), explains))
        })?
    }

    /// The session with the settings of a strategy; what it knows of tables and functions is shared.
    fn session_for(&self, strategy: Strategy) -> SessionContext {
        if strategy == Strategy::Parallel {
            return self.session.clone();
        }
        let mut state = self.session.state();
        let options = state.config_mut().options_mut();
        match strategy {
            Strategy::Parallel => {}
            Strategy::InOrder => {
                options.execution.target_partitions = 1;
                options.optimizer.join_reordering = false;
            }
            Strategy::Spilling { attempt } => {
                // DataFusion sorts for a join only where there are several partitions.
                options.execution.target_partitions = 2;
                options.optimizer.prefer_hash_join = false;
                // A few batches of each table must fit at the same time.
                let rows = (self.limits.memory_bytes / SPILLING_BATCH_SHARE) >> (2 * attempt);
                let rows = rows.max(LEAST_BATCH_ROWS);
                if let Ok(rows) = ConfigNonZeroUsize::try_new(rows) {
                    options.execution.batch_size = options.execution.batch_size.min(rows);
                }
            }
        }
        SessionContext::new_with_state(state)
    }

    /// What there is to know about the tables that the latest query has read so far.
    pub fn notes(&self) -> Vec<Note> {
        self.notes.list()
    }

    /// Rows of the file at `path`, if the latest query has read all of it.
    pub(super) fn rows_read(&self, path: &Path) -> Option<u64> {
        self.notes.rows_of(path)
    }

    /// Plans a statement over the tables at `places`: as it stands, else with its names in the case of the columns.
    async fn plan(&self, statement: Statement, places: &[Place]) -> Result<LogicalPlan> {
        let state = self.session.state();
        let failed = match state.statement_to_plan(statement.clone()).await {
            Ok(plan) => return Ok(plan),
            Err(error) => self.error(&error),
        };
        let mut schemas = Vec::with_capacity(places.len());
        for place in places {
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

    /// The places of the tables that a statement names, besides the functions that it `calls`. Unknown names are told with the
    /// nearest ids, which DataFusion does not know.
    fn check_names(&self, statement: &Statement, calls: &[String]) -> Result<Vec<Place>> {
        let mut places = Vec::new();
        let state = self.session.state();
        let references = state.resolve_table_references(statement).map_err(|error| self.error(&error))?;
        let functions = state.table_functions();
        if let Some(unknown) = calls.iter().find(|name| !functions.contains_key(*name)) {
            return Err(calls::unknown(unknown, functions.keys().map(String::as_str)));
        }
        for reference in references {
            let called = reference.schema().is_none() && calls.iter().any(|name| name == reference.table());
            if called || reference.schema() == Some(INFORMATION_SCHEMA) {
                continue;
            }
            let place = self.tables.resolve(&reference).map_err(|unknown| {
                if reference.schema().is_none() && functions.contains_key(reference.table()) {
                    return Error::usage(format!("`{0}` is a function; write `{0}()`", reference.table()));
                }
                unknown
            })?;
            places.push(place);
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
        if let Some(fault) = LakeFault::take(error) {
            return self.tables.session.with_step_named(fault);
        }
        let root = error.find_root();
        if is_damage(root)
            && let Some(path) = damaged_file(self.notes.parquet_files())
        {
            return self.tables.session.with_step_named(Error::unreadable(&path, root.strip_backtrace()));
        }
        if let DataFusionError::ResourcesExhausted(reason) = root {
            self.notes.set_exhausted();
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

/// Which of the Parquet files that a query reads is damaged: DataFusion does not say, so where there are several they are
/// read again, each up to its first fault.
fn damaged_file(mut files: Vec<PathBuf>) -> Option<PathBuf> {
    if files.len() == 1 {
        return files.pop();
    }
    files.into_iter().find(|path| {
        let read = || -> Result<()> {
            let mut reader = reader::open_path(path, &ReadOptions::default())?;
            while reader.next_batch()?.is_some() {}
            Ok(())
        };
        read().is_err()
    })
}
