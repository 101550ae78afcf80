//! The list of processed files: one record per file, as JSON lines below a header with the format version.
//!
//! While files are added, records are appended, and a later record of a file replaces an earlier one; at the end the list is
//! rewritten atomically, sorted by path. A last line truncated by a crash is dropped; any other unreadable line is an error with
//! its number, and the list is left unchanged.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::Fingerprint;
use lakeward_core::error::{Error, Holds, Result};
use lakeward_core::store::{Bounds, Damage, KeyedLines, KeyedRecord, LineRecord, LinesFormat, Links, Purpose};

/// Its name in the folder of papers.
pub const FILE_NAME: &str = "papers.jsonl";
static FORMAT: LinesFormat = LinesFormat {
    name: "lakeward_papers",
    version: 1,
    purpose: Purpose::Index,
    bounds: Bounds { most_bytes: u64::MAX, links: Links::Followed, damaged },
    // A file of very many documents.
    longest_line: 256 << 20,
    most_lines: usize::MAX,
    damage: Damage::Refused,
};

/// The record of an added file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// The file.
    pub path: String,
    /// Its size when it was read.
    pub read_bytes: u64,
    /// Its modification time when it was read, in nanoseconds since 1970.
    pub modified_ns: u64,
    /// When it was read, RFC 3339.
    pub processed: String,
    /// SHA-256 of its bytes; none if they could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// Version of the reader.
    pub reader: u32,
    /// Why it gave no document, or what is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<DocumentEntry>,
    /// Documents of it that were removed by hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Fingerprint>,
}

/// Whether a file could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// Completely.
    Read,
    /// Some of its documents are missing.
    InPart,
    /// Not at all; it is retried when it is added again.
    Failed,
}

/// A document in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentEntry {
    /// Its id in the store.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// Its byte offset in the file of texts.
    pub at: u64,
    /// Its length there.
    pub bytes: u64,
}

impl FileRecord {
    /// Whether it could be read.
    pub fn status(&self) -> FileStatus {
        match (&self.reason, self.documents.is_empty() && self.removed.is_empty()) {
            (None, _) => FileStatus::Read,
            (Some(_), false) => FileStatus::InPart,
            (Some(_), true) => FileStatus::Failed,
        }
    }

    /// Whether this program can have written it.
    fn is_possible(&self) -> bool {
        let mut prints =
            self.fingerprint.iter().chain(&self.removed).chain(self.documents.iter().map(|entry| &entry.fingerprint));
        prints.all(Fingerprint::is_possible) && (self.documents.is_empty() || self.fingerprint.is_some())
    }
}

impl LineRecord for FileRecord {
    fn check(&self) -> std::result::Result<(), String> {
        if self.is_possible() { Ok(()) } else { Err("a fingerprint is invalid".into()) }
    }
}

impl KeyedRecord for FileRecord {
    fn key(&self) -> &str {
        &self.path
    }
}

/// The list of files, by path.
pub type Manifest = KeyedLines<FileRecord>;

/// The list in `folder`; empty if there is none.
///
/// # Errors
/// [`Error::Io`]; [`Error::DamagedFile`] with the unreadable line, or the version found.
pub fn open(folder: &Path) -> Result<Manifest> {
    KeyedLines::open(&folder.join(FILE_NAME), &FORMAT)
}

/// The error for a damaged file of papers.
pub(super) fn damaged(path: &Path, reason: String) -> Error {
    Error::damaged_file(Holds::Papers, path, reason)
}
