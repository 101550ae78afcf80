//! The texts of the files that were read: one file of JSON lines per content, named by its fingerprint, written atomically.
//! Content that was read once is not read again, whatever its path.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::document::{Document, Fingerprint};
use super::manifest::{DocumentEntry, damaged};
use super::reading::{Found, MAX_DOCUMENT_BYTES, READER_VERSION, Reading};
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{AtomicFile, LineEnd, LineReader, Purpose, make_folder, sync_folder};

const FOLDER: &str = "texts";
const ENDING: &str = ".jsonl";
/// Maximum length of a document's line: the escaped text and the other fields.
const LONGEST_LINE_BYTES: u64 = 8 * MAX_DOCUMENT_BYTES;

/// The last line of a file of texts.
#[derive(Debug, Serialize, Deserialize)]
struct Tail {
    reader: u32,
    documents: u64,
    missing: Option<String>,
}

/// The contents of a file of texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextsIndex {
    /// Its documents, with the ids given in their file.
    pub entries: Vec<DocumentEntry>,
    /// What is missing, if anything.
    pub missing: Option<String>,
}

/// The folder of texts.
#[derive(Debug, Clone)]
pub struct Texts {
    folder: PathBuf,
}

impl Texts {
    /// The texts below the folder of papers.
    pub fn new(papers: &Path) -> Self {
        Self { folder: papers.join(FOLDER) }
    }

    /// Creates the folder.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn make_folder(&self) -> Result<()> {
        make_folder(&self.folder)
    }

    /// Flushes the folder to disk; each file flushes itself, but not its name.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sync(&self) -> Result<()> {
        sync_folder(&self.folder)
    }

    fn path(&self, content: &Fingerprint) -> PathBuf {
        self.folder.join(format!("{}{ENDING}", content.as_str()))
    }

    /// Whether texts of this content are stored.
    pub fn has(&self, content: &Fingerprint) -> bool {
        self.path(content).is_file()
    }

    /// Writes the documents that `read` produces.
    ///
    /// # Errors
    /// [`Error::Io`] if the disk fails; the inner error is one clause that says why there are no documents.
    pub fn write(
        &self,
        content: &Fingerprint,
        read: impl FnOnce(Found<'_>) -> std::result::Result<Reading, String>,
    ) -> Result<std::result::Result<TextsIndex, String>> {
        let mut file = AtomicFile::create(&self.path(content), Purpose::Batch)?;
        let mut index = TextsIndex::default();
        let mut at = 0u64;
        let mut write_error: Option<Error> = None;
        let outcome = read(&mut |document| {
            let mut line = serde_json::to_vec(&document).map_err(|error| error.to_string())?;
            line.push(b'\n');
            if let Err(error) = file.put(&line) {
                let reason = error.to_string();
                write_error = Some(error);
                return Err(reason);
            }
            let Document { id, title, fingerprint, .. } = document;
            index.entries.push(DocumentEntry { id, title, fingerprint, at, bytes: line.len() as u64 - 1 });
            at += line.len() as u64;
            Ok(())
        });
        if let Some(error) = write_error {
            return Err(error);
        }
        let reading = match outcome {
            Ok(reading) => reading,
            Err(reason) => return Ok(Err(reason)),
        };
        index.missing = reading.missing;
        let tail = Tail { reader: READER_VERSION, documents: reading.documents, missing: index.missing.clone() };
        file.put(&serde_json::to_vec(&tail).map_err(|error| Error::Internal(error.to_string()))?)?;
        file.put(b"\n")?;
        file.replace()?;
        Ok(Ok(index))
    }

    /// The stored index of a content read by this reader version; `None` if there is none or it is incomplete.
    pub fn index(&self, content: &Fingerprint) -> Option<TextsIndex> {
        let mut lines = LineReader::new(File::open(self.path(content)).ok()?, LONGEST_LINE_BYTES);
        let mut index = TextsIndex::default();
        loop {
            let line = lines.next_line().ok()?.filter(|line| line.end == LineEnd::Whole)?;
            if let Ok(tail) = serde_json::from_slice::<Tail>(line.bytes) {
                let is_whole = tail.reader == READER_VERSION && tail.documents == index.entries.len() as u64;
                index.missing = tail.missing;
                return is_whole.then_some(index);
            }
            let Document { id, title, fingerprint, .. } = checked(line.bytes)?;
            index.entries.push(DocumentEntry { id, title, fingerprint, at: line.at, bytes: line.bytes.len() as u64 });
        }
    }

    /// Opens the texts of `content`, to read documents from them.
    pub fn open(&self, content: &Fingerprint) -> Result<OpenTexts> {
        let path = self.path(content);
        match File::open(&path) {
            Ok(file) => Ok(OpenTexts { path, file }),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(damaged(&path, "it is missing".into())),
            Err(error) => Err(Error::io("read", &path, error)),
        }
    }

    /// Removes texts for which `keep` is false, and unfinished files of killed runs. A file that cannot be removed is left to the
    /// next run.
    pub fn retain(&self, keep: impl Fn(&str) -> bool) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_kept = name.strip_suffix(ENDING).is_some_and(|print| !print.starts_with('.') && keep(print));
            if !is_kept {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// The texts of one content, open for reading.
#[derive(Debug)]
pub struct OpenTexts {
    path: PathBuf,
    file: File,
}

impl OpenTexts {
    /// The document of an entry.
    ///
    /// # Errors
    /// [`Error::DamagedFile`] if the file has changed since it was written; [`Error::Io`].
    pub fn document(&mut self, entry: &DocumentEntry) -> Result<Document> {
        if entry.bytes > LONGEST_LINE_BYTES {
            return Err(damaged(&self.path, "a document's length is above the limit".into()));
        }
        let mut line = Vec::new();
        let read = self
            .file
            .seek(SeekFrom::Start(entry.at))
            .and_then(|_| (&mut self.file).take(entry.bytes).read_to_end(&mut line));
        read.map_err(|error| Error::io("read", &self.path, error))?;
        match checked(&line) {
            Some(document) if document.fingerprint == entry.fingerprint => {
                Ok(Document { id: entry.id.clone(), ..document })
            }
            _ => Err(damaged(&self.path, "a document does not match its fingerprint".into())),
        }
    }
}

/// The document on a line, if its fingerprint matches its content.
fn checked(line: &[u8]) -> Option<Document> {
    let document: Document = serde_json::from_slice(line).ok()?;
    (document.fingerprint == document.content_fingerprint()).then_some(document)
}
