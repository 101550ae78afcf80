//! A conversation, saved to disk after every turn.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use lakeward::documents::AskDocument;
use lakeward::functions;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session;
use lakeward_agent::trace::Provenance;
use lakeward_agent::{Request, execution};
use lakeward_core::plan::Plan;
use lakeward_core::request::Input;
use lakeward_core::{Error, Result};
use lakeward_operate::{Limits, PreviewLimits, table_rows};
use lakeward_search::cite::Checked;
use pyo3::prelude::*;
use serde_json::to_string;

use crate::arrow_stream::Batches;
use crate::found::{Answer, Found};
use crate::lake::{Lake, answer_count};
use crate::work::{self, Stop};

/// A conversation about a lake. Turns from several threads run one after the other.
#[pyclass(frozen, module = "lakeward._lakeward")]
pub struct Session {
    lake: Py<Lake>,
    document: Arc<Mutex<session::Session>>,
    kept: bool,
}

impl Session {
    /// The conversation `document` about `lake`; if it is `kept`, every turn is saved to disk.
    pub fn new(lake: Py<Lake>, document: session::Session, kept: bool) -> Self {
        Self { lake, document: Arc::new(Mutex::new(document)), kept }
    }

    /// Computes the next state of the document from the current one, and saves it.
    fn advance<T: Send + 'static>(
        &self,
        py: Python<'_>,
        step: impl FnOnce(&lakeward::Lakeward, &mut session::Session, &Stop) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let lakeward = self.lake.get().snapshot();
        let (document, kept) = (Arc::clone(&self.document), self.kept);
        work::run(py, move |stop| {
            let mut document = document.lock().unwrap_or_else(PoisonError::into_inner);
            let mut next = document.clone();
            let outcome = step(&lakeward, &mut next, stop)?;
            if !stop.begin_writing() {
                return Err(Error::Interrupted);
            }
            if kept {
                lakeward.sessions().save(&mut next)?;
            }
            *document = next;
            Ok(outcome)
        })
    }

    fn read<T: Send + 'static>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&session::Session) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let document = Arc::clone(&self.document);
        // A running turn holds the lock: waiting for it must not block Python.
        work::run(py, move |_| read(&document.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[pymethods]
impl Session {
    /// Its name; empty if it is not stored.
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |document| Ok(document.id.clone()))
    }

    /// Whether it is saved on disk.
    #[getter]
    fn kept(&self) -> bool {
        self.kept
    }

    /// The folder that stores the in-memory tables of its requests.
    #[getter]
    fn folder(&self, py: Python<'_>) -> PyResult<PathBuf> {
        let folder = self.lake.get().snapshot().sessions().folder().to_path_buf();
        self.read(py, move |document| Ok(folder.join(format!("{}.tables", document.id))))
    }

    /// The plan of the working table as JSON, if there is one.
    #[getter]
    fn plan(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.read(py, |document| {
            let plan = document.plan().map(|plan| to_string(&plan));
            plan.transpose().map_err(|error| Error::Internal(error.to_string()))
        })
    }

    /// The whole document.
    fn document(&self, py: Python<'_>) -> PyResult<Found> {
        self.read(py, |document| Answer::new(to_string(document), None))?.into_found(py)
    }

    /// The next turn.
    fn ask(
        &self,
        py: Python<'_>,
        text: String,
        table: Option<String>,
        column: Option<String>,
        k: Option<i64>,
    ) -> PyResult<Found> {
        let request = Request { text, table, column, k: k.map_or(Ok(0), |k| answer_count(py, k))? };
        let answer = self.advance(py, move |lakeward, document, _| {
            let started = Instant::now();
            let (recommendation, provenance) = lakeward.ask(document, &request)?;
            Ok(answer(request, document, recommendation, &provenance, started)?.with_warnings_of(lakeward))
        })?;
        answer.into_found(py)
    }

    /// Carries a plan out as the next step: `plan` as JSON, else that of operation `number` of the latest answer, else the one that was
    /// asked for. Its rows, with warnings and notes.
    fn run(&self, py: Python<'_>, number: Option<usize>, plan: Option<String>) -> PyResult<(Batches, Vec<String>)> {
        self.advance(py, move |lakeward, document, stop| {
            if document.id.is_empty() {
                return Err(Error::usage(
                    "a session that is not kept has no place for results: `lake.session(name)` has",
                ));
            }
            let plan = match (plan, number) {
                (Some(plan), _) => Plan::from_json(&plan)?,
                (None, number) => offered(document, number)?,
            };
            let stop = stop.clone();
            let context = functions::context(lakeward, Limits::default())?.stopping_when(move || stop.requested());
            let (store, limits) =
                (lakeward.sessions(), PreviewLimits { sample_rows: 0, ..execution::limits(document) });
            execution::connect(&context, &store, document)?;
            let preview = execution::preview(&context, document, &plan, &limits)?;
            let outcome = execution::run(&context, &store, document, &plan, &limits)?;
            execution::connect(&context, &store, document)?;
            let mut rows = table_rows(&context, &Input::Step(document.steps.len()))?;
            let (schema, mut batches) = (rows.schema().clone(), Vec::new());
            while let Some(batch) = rows.next_batch()? {
                batches.push(batch);
            }
            let warnings = preview.warnings.into_iter().map(|warning| warning.text);
            Ok((Batches::new(schema, batches), warnings.chain(outcome.notes.iter().map(ToString::to_string)).collect()))
        })
    }

    /// Takes the latest operation back, or makes the one `again` that was taken back last.
    fn step_back(&self, py: Python<'_>, again: bool) -> PyResult<()> {
        self.advance(py, move |_, document, _| document.step_back(again).map(|_| ()))
    }

    /// Records that the user accepts a table of the lake.
    fn accept(&self, py: Python<'_>, table: String) -> PyResult<()> {
        self.advance(py, move |lakeward, document, _| {
            document.accept(lakeward.index().id(lakeward.index().find(&table)?)?);
            Ok(())
        })
    }

    /// Records that the user rejects a table of the lake.
    fn reject(&self, py: Python<'_>, table: String) -> PyResult<()> {
        self.advance(py, move |lakeward, document, _| {
            document.reject(lakeward.index().id(lakeward.index().find(&table)?)?);
            Ok(())
        })
    }
}

/// The plan of operation `number` of the latest answer, by default of the one that was asked for, else of the first.
fn offered(document: &session::Session, number: Option<usize>) -> Result<Plan> {
    let latest = document.latest();
    match (number, latest.and_then(session::Turn::requested), latest.and_then(|turn| turn.recommendation.as_ref())) {
        (None, Some(asked), _) => Ok(asked.clone()),
        (number, _, Some(answer)) => answer.plan(number.unwrap_or(1)).cloned(),
        (_, _, None) => Err(Error::usage("there is no operation to run yet: `session.ask(…)` proposes some")),
    }
}

/// The document of a turn, as `ask --json` prints it.
///
/// # Errors
/// Those of [`Answer::new`] and of converting the ranked tables to Arrow.
pub fn answer(
    request: Request,
    session: &session::Session,
    recommendation: Checked<Recommendation>,
    provenance: &Provenance,
    started: Instant,
) -> Result<Answer> {
    let batch = lakeward::functions::table::ask_batch(&recommendation)?;
    let document = AskDocument::new(request.text, session, recommendation, provenance, started);
    Answer::new(to_string(&document), Some(batch.into()))
}
