//! The result of a call: the library's document as JSON, and the same rows as Arrow.

use lakeward::Lakeward;
use lakeward_core::Error;
use lakeward_models::embed::EmbedderExt;
use pyo3::prelude::*;

use crate::arrow_stream::Batches;

/// An answer as a Python object.
#[pyclass(frozen, get_all, module = "lakeward._lakeward")]
pub struct Found {
    /// The document.
    json: String,
    /// Its rows.
    batches: Option<Py<Batches>>,
    /// Warnings for the caller.
    warnings: Vec<String>,
}

/// [`Found`] before it is converted to Python objects.
pub struct Answer {
    json: String,
    batches: Option<Batches>,
    warnings: Vec<String>,
}

impl Answer {
    /// A document serialized as JSON, and its rows as Arrow if available.
    ///
    /// # Errors
    /// [`Error::Internal`] if serialization failed.
    pub fn new(json: serde_json::Result<String>, batches: Option<Batches>) -> lakeward_core::Result<Self> {
        let json = json.map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Self { json, batches, warnings: Vec::new() })
    }

    /// The same, with a warning if the embedding model of `lakeward` failed.
    pub fn with_warnings_of(mut self, lakeward: &Lakeward) -> Self {
        let failure = lakeward.embedder().failure();
        let warning = |failure| format!("searched by words and values only, without vectors: {failure}");
        self.warnings.extend(failure.map(warning));
        self
    }

    /// The Python object.
    ///
    /// # Errors
    /// Out of memory.
    pub fn into_found(self, py: Python<'_>) -> PyResult<Found> {
        let batches = self.batches.map(|batches| Py::new(py, batches)).transpose()?;
        Ok(Found { json: self.json, batches, warnings: self.warnings })
    }
}
