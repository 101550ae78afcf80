//! What was processed: one record a file, as JSON lines below a head with the format's version.
//!
//! While files are added, records are appended, a later one of a file taking the place of an earlier one; at the end the list
//! is written anew, whole or not at all, in the order of paths. A last line cut short by a crash is dropped; anything else
//! that cannot be read is an error with its line, and the list is left as it is.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::Fingerprint;
use lakeward_core::error::{Error, Result};

/// Its name in the folder of papers.
pub const FILE_NAME: &str = "papers.jsonl";
/// Its format version.
pub const VERSION: u64 = 1;
const SCRATCH_PREFIX: &str = ".papers-";
/// Longest line: a file of very many documents.
const LONGEST_LINE_BYTES: u64 = 256 << 20;

/// What is known of a file that was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// The file.
    pub path: String,
    /// Its size when it was read.
    pub read_bytes: u64,
    /// Its time of change when it was read, in nanoseconds since 1970.
    pub modified_ns: u64,
    /// When it was read, RFC 3339.
    pub processed: String,
    /// SHA-256 of its bytes; none where they could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// Version of the reader.
    pub reader: u32,
    /// Why it gave no document, or what of it is missing.
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
    /// All of it.
    Read,
    /// Some of its documents are missing.
    InPart,
    /// Nothing; it is tried again when it is added again.
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
    /// Where it begins in the file of texts, in bytes.
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

    /// Whether it can be what this program wrote.
    fn is_possible(&self) -> bool {
        let mut prints =
            self.fingerprint.iter().chain(&self.removed).chain(self.documents.iter().map(|entry| &entry.fingerprint));
        prints.all(Fingerprint::is_possible) && (self.documents.is_empty() || self.fingerprint.is_some())
    }
}

#[derive(Serialize, Deserialize)]
struct Head {
    lakeward_papers: u64,
}

/// The list of files.
#[derive(Debug)]
pub struct Manifest {
    path: PathBuf,
    files: BTreeMap<String, FileRecord>,
    appending: Option<File>,
    /// Whether the file on the disk is not one line a record in order.
    is_loose: bool,
}

impl Manifest {
    /// The list in `folder`; empty where there is none.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::DamagedPapers`] with the line that cannot be read, or the version found.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE_NAME);
        let mut manifest = Self { path, files: BTreeMap::new(), appending: None, is_loose: false };
        match File::open(&manifest.path) {
            Ok(file) => manifest.read(BufReader::with_capacity(1 << 16, file))?,
            Err(error) if error.kind() == ErrorKind::NotFound => manifest.is_loose = true,
            Err(error) => return Err(Error::io("read", &manifest.path, error)),
        }
        Ok(manifest)
    }

    fn read(&mut self, mut input: impl BufRead) -> Result<()> {
        let mut line = Vec::new();
        for number in 1usize.. {
            line.clear();
            let length = (&mut input)
                .take(LONGEST_LINE_BYTES + 1)
                .read_until(b'\n', &mut line)
                .map_err(|error| Error::io("read", &self.path, error))?;
            if length == 0 {
                break;
            }
            let ended = line.pop_if(|last| *last == b'\n').is_some();
            if !ended && length as u64 > LONGEST_LINE_BYTES {
                return Err(self.damaged(number, &format!("longer than {} MB", LONGEST_LINE_BYTES >> 20)));
            }
            if !ended {
                // The run that wrote it was killed; its file is read again.
                self.is_loose = true;
                break;
            }
            if number == 1 {
                self.check_head(&line)?;
                continue;
            }
            let record: FileRecord = serde_json::from_slice(&line)
                .map_err(|error| self.damaged(number, &format!("no record of a file: {error}")))?;
            if !record.is_possible() {
                return Err(self.damaged(number, "a fingerprint is none"));
            }
            let follows = self.files.last_key_value().is_none_or(|(last, _)| *last < record.path);
            self.is_loose |= !follows;
            self.files.insert(record.path.clone(), record);
        }
        Ok(())
    }

    fn check_head(&self, line: &[u8]) -> Result<()> {
        let head: Head = serde_json::from_slice(line)
            .map_err(|_| self.damaged(1, &format!("it does not begin with `{{\"lakeward_papers\":{VERSION}}}`")))?;
        match head.lakeward_papers {
            VERSION => Ok(()),
            found => Err(self.damaged(1, &format!("format version {found}; this program reads version {VERSION}"))),
        }
    }

    fn damaged(&self, line: usize, reason: &str) -> Error {
        Error::DamagedPapers { path: self.path.clone(), reason: format!("line {line}: {reason}") }
    }

    /// The record of the file at `path`.
    pub fn get(&self, path: &str) -> Option<&FileRecord> {
        self.files.get(path)
    }

    /// All records, by path.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &FileRecord> {
        self.files.values()
    }

    /// All records, to be changed; [`Manifest::finish`] writes them.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut FileRecord> {
        self.is_loose = true;
        self.files.values_mut()
    }

    /// Adds or replaces a record; it survives this process when this returns, though not yet a failure of the machine.
    ///
    /// # Errors
    /// [`Error::Io`] when the disk refuses.
    pub fn append(&mut self, record: FileRecord) -> Result<()> {
        if self.appending.is_none() {
            if self.is_loose {
                self.write_whole()?;
            }
            let opened = OpenOptions::new().append(true).open(&self.path);
            self.appending = Some(opened.map_err(|error| Error::io("write", &self.path, error))?);
        }
        let line = line(&record)?;
        if let Some(file) = &mut self.appending {
            file.write_all(&line).map_err(|error| Error::io("write", &self.path, error))?;
        }
        self.is_loose = true;
        self.files.insert(record.path.clone(), record);
        Ok(())
    }

    /// What was appended is on the disk when this returns.
    ///
    /// # Errors
    /// [`Error::Io`] when the disk refuses.
    pub fn sync(&self) -> Result<()> {
        let Some(file) = &self.appending else { return Ok(()) };
        file.sync_data().map_err(|error| Error::io("write", &self.path, error))
    }

    /// Leaves the file with one line a record, in the order of paths.
    ///
    /// # Errors
    /// [`Error::Io`] when the disk refuses; the file is what it was then.
    pub fn finish(&mut self) -> Result<()> {
        self.appending = None;
        if self.is_loose { self.write_whole() } else { Ok(()) }
    }

    fn write_whole(&mut self) -> Result<()> {
        let failed = |error| Error::io("write", &self.path, error);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let file = scratch(SCRATCH_PREFIX, folder).map_err(failed)?;
        let mut out = BufWriter::new(file);
        let head = serde_json::to_string(&Head { lakeward_papers: VERSION }).map_err(internal)?;
        writeln!(out, "{head}").map_err(failed)?;
        for record in self.files.values() {
            out.write_all(&line(record)?).map_err(failed)?;
        }
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&self.path).map_err(|error| failed(error.error))?;
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        self.is_loose = false;
        Ok(())
    }

    /// Removes what killed runs left half written.
    pub fn remove_scratch(folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(SCRATCH_PREFIX) {
                // Another try comes with the next run.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// A file in the making, which those may read who may read the others: temporary files are private unless told otherwise.
pub(super) fn scratch(prefix: &str, folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

fn internal(error: serde_json::Error) -> Error {
    Error::Internal(error.to_string())
}

fn line(record: &FileRecord) -> Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record).map_err(internal)?;
    line.push(b'\n');
    Ok(line)
}
