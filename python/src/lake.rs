//! An opened lake and all that can be asked of it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::Instant;

use lakeward::Lakeward;
use lakeward::Place;
use lakeward::documents::{Document, JoinDocument, TableList, TableReport};
use lakeward::functions::{self, TableCall};
use lakeward::model_options;
use lakeward_agent::Request;
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

/// Answers at the most; the same as in SQL.
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

    /// The snapshot as it is now.
    pub fn snapshot(&self) -> Lakeward {
        self.opened.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Runs `work` over the snapshot beside Python.
    fn asked(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Lakeward, &Stop) -> Result<Answer> + Send + 'static,
    ) -> PyResult<Found> {
        let lakeward = self.snapshot();
        work::run(py, move |stop| Ok(work(&lakeward, stop)?.warned_by(&lakeward)))?.into_found(py)
    }
}

/// A lake's place from what Python says; without a path the nearest folder upward that holds an index.
///
/// # Errors
/// Those of [`Place::new`] and [`Place::nearest`].
pub fn place(path: Option<&Path>, index: Option<&Path>) -> Result<Place> {
    match path {
        Some(path) => Place::new(path, index),
        None => Place::new(&Place::nearest()?, index),
    }
}

/// Which language model may be asked.
#[derive(FromPyObject, Default)]
#[pyo3(from_item_all)]
pub struct ModelChoice {
    /// Whether any.
    enabled: bool,
    /// The address of its server.
    url: Option<String>,
    /// Its name.
    model: Option<String>,
}

impl ModelChoice {
    /// `lakeward` with the model chosen, or that of the environment and the settings.
    ///
    /// # Errors
    /// Those of [`Lakeward::with_model`].
    pub fn given_to(self, lakeward: Lakeward) -> Result<Lakeward> {
        if self.enabled { lakeward.with_model(&model_options(self.url, self.model)) } else { Ok(lakeward) }
    }
}

/// The number of answers wanted.
pub fn wanted(py: Python<'_>, k: i64) -> PyResult<usize> {
    match usize::try_from(k) {
        Ok(wanted) if wanted > 0 && k <= MOST_ANSWERS => Ok(wanted),
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
            Ok(Self::new(model.given_to(lakeward)?))
        })
    }

    /// The folder of the lake.
    #[getter]
    fn path(&self) -> PathBuf {
        self.snapshot().place().lake.clone()
    }

    /// The folder of its index.
    #[getter]
    fn index(&self) -> PathBuf {
        self.snapshot().place().index.clone()
    }

    /// The index as it is on the disk now.
    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        let lakeward = self.snapshot();
        let reopened = work::run(py, move |_| lakeward.reopened())?;
        *self.opened.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = reopened;
        Ok(())
    }

    /// Tables that answer a text.
    fn search(&self, py: Python<'_>, text: String, k: i64) -> PyResult<Found> {
        let k = wanted(py, k)?;
        self.asked(py, move |lakeward, _| {
            let started = Instant::now();
            let answers = lakeward.search(&text, k)?;
            let batch = functions::table::search_batch(&answers)?;
            Answer::new(to_string(&Document::new(text, answers, started)), Some(batch.into()))
        })
    }

    /// Tables that can be joined with `table`.
    fn join(&self, py: Python<'_>, table: String, columns: Vec<String>, k: i64) -> PyResult<Found> {
        let k = wanted(py, k)?;
        self.asked(py, move |lakeward, _| {
            let started = Instant::now();
            let query = query_table(lakeward, &table)?;
            let columns = query.columns_named(&columns)?;
            let found = lakeward.join(&query, &columns, k)?;
            let batch = functions::table::joinable_batch(&found.answers)?;
            let document = JoinDocument::new(table, &query, &columns, found, started);
            Answer::new(to_string(&document), Some(batch.into()))
        })
    }

    /// Tables whose rows could stand below those of `table`.
    fn union(&self, py: Python<'_>, table: String, k: i64) -> PyResult<Found> {
        let k = wanted(py, k)?;
        self.asked(py, move |lakeward, _| {
            let started = Instant::now();
            let answers = lakeward.union(&*query_table(lakeward, &table)?, k)?;
            let batch = functions::table::unionable_batch(&answers)?;
            Answer::new(to_string(&Document::new(table, answers, started)), Some(batch.into()))
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
        let request = Request { text, table, column, k: k.map_or(Ok(0), |k| wanted(py, k))? };
        self.asked(py, move |lakeward, _| {
            let started = Instant::now();
            let mut session = lakeward.new_session();
            let (recommendation, provenance) = lakeward.ask(&mut session, &request)?;
            crate::session::answer(request, &session, recommendation, &provenance, started)
        })
    }

    /// What is in a table of the lake, else in a file.
    fn profile(&self, py: Python<'_>, table: String) -> PyResult<Found> {
        self.asked(py, move |lakeward, _| {
            let report = TableReport::of(lakeward, &table)?;
            let batch = TableCall::Profile { table }.rows(lakeward)?;
            Answer::new(to_string(&report), Some(batch.into()))
        })
    }

    /// All tables.
    fn tables(&self, py: Python<'_>) -> PyResult<Found> {
        self.asked(py, move |lakeward, _| {
            let batch = TableCall::Tables.rows(lakeward)?;
            Answer::new(to_string(&TableList::containing(lakeward.index(), "")?), Some(batch.into()))
        })
    }

    /// The rows of a query, with what there is to know of the tables it read.
    fn sql(&self, py: Python<'_>, query: String) -> PyResult<(Batches, Vec<String>)> {
        let lakeward = self.snapshot();
        work::run(py, move |stop| {
            let stop = stop.clone();
            let context = functions::context(&lakeward, Limits::default())?.stopping_when(move || stop.asked());
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

    /// All functions and the catalogue, as DataFusion takes them.
    fn functions(&self) -> Functions {
        capsules::all(&self.snapshot())
    }

    /// All sessions, as JSON.
    fn sessions(&self, py: Python<'_>) -> PyResult<Found> {
        self.asked(py, |lakeward, _| Answer::new(to_string(&lakeward.sessions().list()?), None))
    }

    /// A session: with `resume` the one called `name`, else the one written last; without it the one called `name`, begun
    /// where there is none, else a new one; one that is kept nowhere where it is not `kept`.
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
            None => Err(Error::Usage(format!("there is no session in `{}` yet", store.folder().display()))),
        },
        (None, false) => store.create(None, lake),
    }
}

/// The table to search with. Those of the lake are kept for the next call; a file may be a table in memory that is gone by
/// then.
fn query_table(lakeward: &Lakeward, name: &str) -> Result<Arc<QueryTable>> {
    match lakeward.index().get(name)? {
        Some(_) => lakeward.cached_query_table(name),
        None => lakeward.query_table(name).map(Arc::new),
    }
}
