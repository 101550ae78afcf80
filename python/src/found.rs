//! What a call found: the library's own document as JSON, and the same rows as Arrow.

use lakeward::Lakeward;
use lakeward_core::Error;
use lakeward_models::embed::EmbedderExt;
use pyo3::prelude::*;

use crate::arrow_stream::Batches;

/// An answer on its way to Python.
#[pyclass(frozen, get_all, module = "lakeward._lakeward")]
pub struct Found {
    /// The document.
    json: String,
    /// Its rows.
    batches: Option<Py<Batches>>,
    /// What the caller should be warned of.
    warnings: Vec<String>,
}

/// [`Found`] before Python is at hand.
pub struct Answer {
    json: String,
    batches: Option<Batches>,
    warnings: Vec<String>,
}

impl Answer {
    /// A document that was written as JSON, and its rows where they can be had as Arrow.
    ///
    /// # Errors
    /// [`Error::Internal`] where the document could not be written.
    pub fn new(json: serde_json::Result<String>, batches: Option<Batches>) -> lakeward_core::Result<Self> {
        let json = json.map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Self { json, batches, warnings: Vec::new() })
    }

    /// The same, with a warning where the embedding model of `lakeward` gave no vectors.
    pub fn warned_by(mut self, lakeward: &Lakeward) -> Self {
        let trouble = lakeward.embedder().failure();
        let words = |failure| format!("found by words and values only, not by meaning: {failure}");
        self.warnings.extend(trouble.map(words));
        self
    }

    /// For Python.
    ///
    /// # Errors
    /// Out of memory.
    pub fn into_found(self, py: Python<'_>) -> PyResult<Found> {
        let batches = self.batches.map(|batches| Py::new(py, batches)).transpose()?;
        Ok(Found { json: self.json, batches, warnings: self.warnings })
    }
}
