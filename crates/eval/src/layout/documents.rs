//! The documents of a benchmark: the tables of its lake, or the records of its corpus.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::lines::read_json;
use lakeward_core::error::Result;
use lakeward_lake::source;

/// A table of a benchmark's lake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its id, the same as in an index.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
}

/// The tables below `lake`, in the order of their files.
///
/// # Errors
/// [`lakeward_core::Error::Io`] if the folder cannot be listed.
pub fn documents(lake: &Path) -> Result<Vec<Document>> {
    let listing = source::list_files(lake)?;
    let ids = source::assign_ids(&listing.files);
    let document = |(id, file): (source::TableId, source::LakeFile)| Document { id: id.to_string(), path: file.path };
    Ok(ids.into_iter().zip(listing.files).map(document).collect())
}

#[derive(Deserialize)]
struct Record {
    id: String,
}

/// The ids of the records of `corpus`.
///
/// # Errors
/// Those of [`read_json`].
pub(super) fn record_ids(corpus: &Path) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    read_json(corpus, |_, record: Record| {
        ids.push(record.id);
        Ok(())
    })?;
    Ok(ids)
}
