//! Reads the files of a benchmark as a [`Benchmark`]; one module per layout, recognised by the files of the folder.
//!
//! A folder is untrusted input: no id opens a file outside of it, lines and files are bounded, and unusable content is an
//! error with file and line if it is a mistake, otherwise counted as a [`super::benchmark::Problem`].

mod documents;
mod judgments;
pub(super) mod lines;
mod pairs;
mod requests;
mod trec;

use std::path::{Component, Path, PathBuf};

pub use documents::{Document, documents};
pub use judgments::{read_qrels, read_unjudged};

use super::benchmark::{Benchmark, LayoutKind};
use lakeward_core::error::{Error, Result};
use lines::{bad_file, file_of};

/// Reads the benchmark in `folder`.
///
/// # Errors
/// [`Error::Io`]; [`Error::Benchmark`] for a folder of unknown layout or an unreadable line.
pub fn read(folder: &Path) -> Result<Benchmark> {
    if !folder.is_dir() {
        return Err(Error::usage(format!("`{}` is not a folder", folder.display())));
    }
    match kind_of(folder)? {
        LayoutKind::Trec => trec::read(folder),
        LayoutKind::Requests => requests::read(folder),
        kind @ (LayoutKind::Lakebench | LayoutKind::Pairs) => pairs::read(folder, kind),
    }
}

/// The layout of the files in `folder`.
fn kind_of(folder: &Path) -> Result<LayoutKind> {
    if file_of(folder, "queries.jsonl").is_some() {
        return Ok(LayoutKind::Trec);
    }
    if file_of(folder, "requests.jsonl").is_some() || file_of(folder, "dialogues.jsonl").is_some() {
        return Ok(LayoutKind::Requests);
    }
    if let Some(kind) = pairs::kind_of(folder)? {
        return Ok(kind);
    }
    Err(bad_file(folder, "no known benchmark layout"))
}

/// The name of a benchmark: that of its folder.
pub(super) fn name_of(folder: &Path) -> String {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    real.file_name().map_or_else(|| "benchmark".to_string(), |name| name.to_string_lossy().into_owned())
}

/// The file `relative` of a benchmark, if it is below `folder` after following links; `None` if it does not exist.
///
/// # Errors
/// The reason, for a path that leads out of the folder.
pub(super) fn inside(folder: &Path, relative: &str) -> Result<Option<PathBuf>, String> {
    let plain = Path::new(relative).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let out = || format!("`{relative}` leads out of the benchmark's folder");
    if !plain {
        return Err(out());
    }
    let path = folder.join(relative);
    let (Ok(real), Ok(root)) = (path.canonicalize(), folder.canonicalize()) else { return Ok(None) };
    if !real.starts_with(root) {
        return Err(out());
    }
    Ok(real.is_file().then_some(path))
}
