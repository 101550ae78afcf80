//! Maps the library's errors to the exceptions of `lakeward.errors`.

use lakeward_core::Error;
use lakeward_core::error::Holds;
use lakeward_core::message::Message;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Phrases in hints for the command line, with their replacements for Python.
const PYTHON_PHRASES: [(&str, &str); 10] = [
    ("`lakeward index LAKE --repair`", "`lakeward.index(PATH, repair=True)`"),
    ("`lakeward index LAKE --rebuild`", "`lakeward.index(PATH, rebuild=True)`"),
    ("`lakeward index LAKE`", "`lakeward.index(PATH)`"),
    (
        "name the lake's folder with `--lake DIR`, or run `lakeward index DIR` first",
        "name the lake's folder, as in `lakeward.open(PATH)`",
    ),
    ("`lakeward index DIR`", "`lakeward.index(PATH)`"),
    ("(`lakeward sessions` lists them)", "(`lake.sessions()` lists them)"),
    ("choose a writable folder for the index with `--index DIR`", "choose a writable folder with `index=PATH`"),
    ("in the REPL, `--session", "in the REPL, `lake.resume(NAME)` in Python, `--session"),
    ("`lakeward augment`", "`lakeward augment` in a shell"),
    ("`--column`", "`column`"),
];

/// The exception for `error`; an interruption is Python's own [`PyKeyboardInterrupt`].
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    if matches!(error, Error::Interrupted) {
        return PyKeyboardInterrupt::new_err(());
    }
    exception_of(py, error).unwrap_or_else(|failure| failure)
}

/// The exception for an invalid request.
pub fn usage(py: Python<'_>, message: impl Into<Message>) -> PyErr {
    exception(py, &Error::usage(message))
}

fn exception_of(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = py.import(intern!(py, "lakeward.errors"))?.getattr(class_of(error))?;
    let details = PyDict::new(py);
    details.set_item("hint", error.hint().map(|hint| in_python(&hint)))?;
    details.set_item("nearest", nearest(error))?;
    details.set_item("path", path(error))?;
    details.set_item("errno", errno(error))?;
    Ok(PyErr::from_value(class.call((message(error),), Some(&details))?))
}

/// The error with its sources, as one line.
fn message(error: &Error) -> String {
    let mut message = in_python(&error.to_string());
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    message
}

fn in_python(text: &str) -> String {
    PYTHON_PHRASES.iter().fold(text.to_string(), |text, (cli, python)| text.replace(cli, python))
}

fn class_of(error: &Error) -> &'static str {
    match error {
        Error::Io { .. } => "FileError",
        Error::Unreadable { .. } | Error::UnreadableStep { .. } => "UnreadableTable",
        Error::UnknownTable { .. } => "UnknownTable",
        Error::UnknownColumn { .. } => "UnknownColumn",
        Error::UnknownSession { .. } => "UnknownSession",
        Error::NoLake | Error::NoIndex { .. } => "NoIndex",
        Error::DamagedIndex { .. } | Error::DamagedFile { holds: Holds::ShardRow(_), .. } => "DamagedIndex",
        Error::IndexVersion { .. } => "IndexVersion",
        Error::EmbeddingModel { .. } => "OtherEmbeddingModel",
        Error::EmbeddingServer { .. } => "EmbeddingServerError",
        Error::Locked { .. } => "IndexLocked",
        Error::DamagedFile { holds: Holds::Session | Holds::Learned, .. } => "DamagedSession",
        Error::SessionVersion { .. } => "SessionVersion",
        Error::SessionChanged { .. } => "SessionChanged",
        Error::Usage(_) => "UsageError",
        Error::Sql { .. } => "SqlError",
        Error::Internal(_) => "InternalError",
        _ => "LakewardError",
    }
}

fn nearest(error: &Error) -> Vec<String> {
    match error {
        Error::UnknownTable { nearest, .. }
        | Error::UnknownColumn { nearest, .. }
        | Error::UnknownSession { nearest, .. } => nearest.clone(),
        _ => Vec::new(),
    }
}

fn path(error: &Error) -> Option<String> {
    match error {
        Error::Io { path, .. }
        | Error::Unreadable { path, .. }
        | Error::UnreadableStep { path, .. }
        | Error::NoIndex { path }
        | Error::DamagedIndex { path, .. }
        | Error::IndexVersion { path, .. }
        | Error::Locked { path, .. }
        | Error::DamagedFile { path, .. }
        | Error::SessionVersion { path, .. } => Some(path.display().to_string()),
        _ => None,
    }
}

fn errno(error: &Error) -> Option<i32> {
    match error {
        Error::Io { source, .. } => source.raw_os_error(),
        _ => None,
    }
}
