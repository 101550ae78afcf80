//! An opened lake with all its searches.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use lakeward::Lakeward;
use lakeward::Place;
use lakeward::documents::{CorrelationDocument, Document, FeatureDocument, JoinDocument, TableList, TableReport};
use lakeward::functions::{self, TableCall};
use lakeward::model::model_options;
use lakeward_agent::Request;
use lakeward_agent::feature_table::{Aggregate, FeatureOptions};
use lakeward_agent::session::SessionStore;
use lakeward_core::Error;
use lakeward_core::Result;
use lakeward_operate::Limits;
use lakeward_search::QueryTable;
use pyo3::prelude::*;
use serde_json::to_string;

use crate::arrow_stream::Batches;
use crate::capsules::{self, Functions};
use crate::errors::usage;
use crate::found::{Answer, Found};
use crate::session::Session;
use crate::work::{self, Stop};

/// Largest number of answers; the same as in SQL.
const MOST_ANSWERS: i64 = 10_000;

/// An opened lake: a snapshot of its index, which [`Lake::refresh`] replaces.
#[pyclass(frozen, module = "lakeward._lakeward")]
pub struct Lake {
    opened: RwLock<Lakeward>,
}

impl Lake {
    /// The snapshot `lakeward`.
    pub fn new(lakeward: Lakeward) -> Self {
        Self { opened: RwLock::new(lakeward) }
    }

    /// The current snapshot.
    pub fn snapshot(&self) -> Lakeward {
        self.opened.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Runs `work` over the snapshot on another thread.
    fn answer(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Lakeward, &Stop) -> Result<Answer> + Send + 'static,
    ) -> PyResult<Found> {
        let lakeward = self.snapshot();
        work::run(py, move |stop| Ok(work(&lakeward, stop)?.with_warnings_of(&lakeward)))?.into_found(py)
    }
}

/// A lake's place from Python's arguments; without a path the nearest folder upward that has an index.
///
/// # Errors
/// Those of [`Place::new`] and [`Place::nearest`].
pub fn place(path: Option<&Path>, index: Option<&Path>) -> Result<Place> {
    match path {
        Some(path) => Place::new(path, index),
        None => Place::new(&Place::nearest()?, index),
    }
}

/// Which language model to use.
#[derive(FromPyObject, Default)]
#[pyo3(from_item_all)]
pub struct ModelChoice {
    /// Whether to use one.
    enabled: bool,
    /// The address of its server.
    url: Option<String>,
    /// Its name.
    model: Option<String>,
}

impl ModelChoice {
    /// `lakeward` with the chosen model, or with that of the environment and the settings.
    ///
    /// # Errors
    /// Those of [`Lakeward::with_model`].
    pub fn apply_to(self, lakeward: Lakeward) -> Result<Lakeward> {
        if self.enabled { lakeward.with_model(&model_options(self.url, self.model)) } else { Ok(lakeward) }
    }
}

/// The requested number of answers.
pub fn answer_count(py: Python<'_>, k: i64) -> PyResult<usize> {
    match usize::try_from(k) {
        Ok(count) if count > 0 && k <= MOST_ANSWERS => Ok(count),
        _ => Err(usage(py, format!("`k` is {k}; it must be a number from 1 to {MOST_ANSWERS}"))),
    }
}

#[pymethods]
impl Lake {
    /// Opens an indexed lake.
    #[staticmethod]
    fn open(py: Python<'_>, path: Option<PathBuf>, index: Option<PathBuf>, model: ModelChoice) -> PyResult<Self> {
        work::run(py, move |_| {
            let lakeward = Lakeward::open_at(place(path.as_deref(), index.as_deref())?)?;
            Ok(Self::new(model.apply_to(lakeward)?))
        })
    }

    /// The folder of the lake, or its address, of which a `pathlib.Path` would make one slash of two.
    #[getter]
    fn path(&self) -> OsString {
        self.snapshot().place().lake.clone().into_os_string()
    }

    /// The folder of its index.
    #[getter]
    fn index(&self) -> PathBuf {
        self.snapshot().place().index.clone()
    }

    /// Replaces the snapshot by the current one on disk.
    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        let lakeward = self.snapshot();
        let reopened = work::run(py, move |_| lakeward.reopened())?;
        *self.opened.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = reopened;
        Ok(())
    }

    /// Tables that match a text.
    fn search(&self, py: Python<'_>, text: String, k: i64) -> PyResult<Found> {
        let k = answer_count(py, k)?;
        self.answer(py, move |lakeward, _| {
            let started = Instant::now();
            let answers = lakeward.search(&text, k)?;
            let batch = functions::table::search_batch(&answers)?;
            Answer::new(to_string(&Document::new(text, answers, started)), Some(batch.into()))
        })
    }

    /// Columns that hold what a text says.
    fn columns(&self, py: Python<'_>, text: String, k: i64) -> PyResult<Found> {
        let k = answer_count(py, k)?;
        self.answer(py, move |lakeward, _| {
            let started = Instant::now();
            let answers = lakeward.columns(&text, k)?;
            let batch = functions::table::columns_batch(&answers)?;
            Answer::new(to_string(&Document::new(text, answers, started)), Some(batch.into()))
        })
    }

    /// Tables that can be joined with `table`.
    fn join(&self, py: Python<'_>, table: String, columns: Vec<String>, k: i64) -> PyResult<Found> {
        let k = answer_count(py, k)?;
        self.answer(py, move |lakeward, _| {
            let started = Instant::now();
            let query = query_table(lakeward, &table)?;
            let columns = query.columns_named(&columns)?;
            let found = lakeward.join(&query, &columns, k)?;
            let batch = functions::table::joinable_batch(&found.answers)?;
            let document = JoinDocument::new(table, &query, &columns, found, started);
            Answer::new(to_string(&document), Some(batch.into()))
        })
    }

    /// Tables whose rows could be appended to `table`.
    fn union(&self, py: Python<'_>, table: String, k: i64) -> PyResult<Found> {
        let k = answer_count(py, k)?;
        self.answer(py, move |lakeward, _| {
            let started = Instant::now();
            let answers = lakeward.union(&*query_table(lakeward, &table)?, k)?;
            let batch = functions::table::unionable_batch(&answers)?;
            Answer::new(to_string(&Document::new(table, answers, started)), Some(batch.into()))
        })
    }

    /// Columns that go with column `target` of `table`.
    fn correlate(&self, py: Python<'_>, table: String, target: String, key: Vec<String>, k: i64) -> PyResult<Found> {
        let k = answer_count(py, k)?;
        self.answer(py, move |lakeward, _| {
            let started = Instant::now();
            let query = query_table(lakeward, &table)?;
            let found = lakeward.correlate(&query, query.column(&target)?, &query.columns_named(&key)?, k)?;
            let batch = functions::table::correlated_batch(&found.answers)?;
            Answer::new(to_string(&CorrelationDocument::new(table, found, started)), Some(batch.into()))
        })
    }

    /// A table of features for a model of column `target` of `table`, as a plan; models are fitted for `seconds` at most.
    fn features(
        &self,
        py: Python<'_>,
        table: String,
        target: String,
        key: Vec<String>,
        k: i64,
        seconds: f64,
    ) -> PyResult<Found> {
        let k = answer_count(py, k)?;
        let within = Duration::try_from_secs_f64(seconds)
            .map_err(|_| usage(py, format!("`seconds` is {seconds}; it must be a number from 0")))?;
        self.answer(py, move |lakeward, stop| {
            let (started, stop) = (Instant::now(), stop.clone());
            let query = query_table(lakeward, &table)?;
            let options = FeatureOptions {
                target: query.column(&target)?,
                key: query.columns_named(&key)?,
                k,
                aggregate: Aggregate::Mean,
                within,
                base: None,
                only: Vec::new(),
            };
            let context = functions::context(lakeward, Limits::default())?.stopping_when(move || stop.requested());
            let found = lakeward.features(&context, &query, &options)?;
            let answers: Vec<_> = found.features.iter().map(|feature| feature.found.clone()).collect();
            let batch = functions::table::correlated_batch(&answers)?;
            Answer::new(to_string(&FeatureDocument::new(table, found, started)), Some(batch.into()))
        })
    }

    /// Ranked tables and operations for a request that belongs to no session.
    fn ask(
        &self,
        py: Python<'_>,
        text: String,
        table: Option<String>,
        column: Option<String>,
        k: Option<i64>,
    ) -> PyResult<Found> {
        let request = Request { text, table, column, k: k.map_or(Ok(0), |k| answer_count(py, k))? };
        self.answer(py, move |lakeward, _| {
            let started = Instant::now();
            let mut session = lakeward.new_session();
            let (recommendation, provenance) = lakeward.ask(&mut session, &request)?;
            crate::session::answer(request, &session, recommendation, &provenance, started)
        })
    }

    /// What is in a table of the lake, else in a file.
    fn profile(&self, py: Python<'_>, table: String) -> PyResult<Found> {
        self.answer(py, move |lakeward, _| {
            let report = TableReport::of(lakeward, &table)?;
            let batch = TableCall::Profile { table }.rows(lakeward)?;
            Answer::new(to_string(&report), Some(batch.into()))
        })
    }

    /// All tables.
    fn tables(&self, py: Python<'_>) -> PyResult<Found> {
        self.answer(py, move |lakeward, _| {
            let batch = TableCall::Tables.rows(lakeward)?;
            Answer::new(to_string(&TableList::containing(lakeward.index(), "")?), Some(batch.into()))
        })
    }

    /// The rows of a query, with notes on the tables it read.
    fn sql(&self, py: Python<'_>, query: String) -> PyResult<(Batches, Vec<String>)> {
        let lakeward = self.snapshot();
        work::run(py, move |stop| {
            let stop = stop.clone();
            let context = functions::context(&lakeward, Limits::default())?.stopping_when(move || stop.requested());
            let mut rows = context.query(&query, None)?;
            let mut batches = Vec::new();
            while let Some(batch) = rows.next_batch()? {
                batches.push(batch);
            }
            let schema = rows.schema().clone();
            drop(rows);
            let notes = context.notes().iter().map(ToString::to_string).collect();
            Ok((Batches::new(schema, batches), notes))
        })
    }

    /// All functions and the catalogue, for DataFusion.
    fn functions(&self) -> Functions {
        capsules::all(&self.snapshot())
    }

    /// All sessions, as JSON.
    fn sessions(&self, py: Python<'_>) -> PyResult<Found> {
        self.answer(py, |lakeward, _| Answer::new(to_string(&lakeward.sessions().list()?), None))
    }

    /// A session. With `resume`: the one called `name`, by default the most recently written. Without: the one called `name`,
    /// created if it does not exist, by default a new one. If it is not `kept`, it is not stored.
    fn session(slf: Bound<'_, Self>, name: Option<String>, resume: bool, kept: bool) -> PyResult<Session> {
        let lakeward = slf.get().snapshot();
        let opened = work::run(slf.py(), move |_| {
            if !kept {
                return Ok(lakeward.new_session());
            }
            let lake = lakeward.place().lake.to_string_lossy();
            session(&lakeward.sessions(), &lake, name.as_deref(), resume)
        })?;
        Ok(Session::new(slf.unbind(), opened, kept))
    }
}

fn session(
    store: &SessionStore,
    lake: &str,
    name: Option<&str>,
    resume: bool,
) -> Result<lakeward_agent::session::Session> {
    match (name, resume) {
        (Some(name), true) => store.open(name),
        (Some(name), false) => match store.open(name) {
            Err(Error::UnknownSession { .. }) => store.create(Some(name), lake),
            opened => opened,
        },
        (None, true) => match store.latest()? {
            Some(latest) => store.open(&latest),
            None => Err(Error::usage(format!("there is no session in `{}` yet", store.folder().display()))),
        },
        (None, false) => store.create(None, lake),
    }
}

/// The query table. Tables of the lake are cached for the next call; files are not, as they may be temporary copies of tables
/// in memory.
fn query_table(lakeward: &Lakeward, name: &str) -> Result<Arc<QueryTable>> {
    match lakeward.index().get(name)? {
        Some(_) => lakeward.cached_query_table(name),
        None => lakeward.query_table(name).map(Arc::new),
    }
}
