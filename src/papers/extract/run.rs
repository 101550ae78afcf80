//! Extracting from all documents of a store: what is new or changed, kept beside it as JSON lines, an [`Extraction`] each.
//!
//! A line also says which content, which rules and which known names it was made from; where these are as they were, it is
//! taken over. The file appears whole or not at all, in the order of the store, and documents that were removed leave it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::document::{Document, Fingerprint};
use super::super::extraction::Extraction;
use super::super::manifest::scratch;
use super::super::store::{FOLDER, Lock, Store};
use super::{EXTRACTOR, KnownDatasets, extract};
use crate::error::{Error, Result};

/// The file's name in the folder of papers.
pub const FILE_NAME: &str = "extractions.jsonl";
const SCRATCH_PREFIX: &str = ".extractions-";
/// Longest line that is taken over.
const LONGEST_LINE_BYTES: u64 = 8 << 20;
/// Documents in memory at a time.
const BATCH: usize = 64;

/// An extraction as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeptExtraction {
    /// What was extracted.
    #[serde(flatten)]
    pub extraction: Extraction,
    /// The content that it was extracted from.
    pub fingerprint: Fingerprint,
    /// The known names, as a hash.
    pub known: String,
}

/// The same without the extraction itself.
#[derive(Deserialize)]
struct KeptHead {
    extractor: String,
    fingerprint: Fingerprint,
    known: String,
}

/// Told how a run goes, and asked whether to go on.
pub trait ExtractObserver: Sync {
    /// So many documents are to be looked at.
    fn started(&self, documents: u64);
    /// One is done.
    fn document_done(&self);
    /// Whether to stop after the documents under way.
    fn interrupted(&self) -> bool;
}

/// What a run came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtractStats {
    /// The file with all extractions.
    pub path: PathBuf,
    /// Documents of the store.
    pub documents: u64,
    /// Looked at in this run.
    pub extracted: u64,
    /// As they were when they were looked at before.
    pub unchanged: u64,
    /// Left for the next run, since the user asked to stop.
    pub left: u64,
    /// Of those looked at, documents that use data sets.
    pub relevant: u64,
    /// Their tasks.
    pub tasks: u64,
    /// The data sets of these tasks.
    pub datasets: u64,
    /// Why texts could not be read, the first few.
    pub problems: Vec<String>,
    /// Time taken, in milliseconds.
    pub elapsed_ms: f64,
}

/// Where the extractions of the index in `index_folder` are kept.
pub fn path_of(index_folder: &Path) -> PathBuf {
    index_folder.join(FOLDER).join(FILE_NAME)
}

/// Extracts from all documents of the index in `index_folder` that are new, changed, or were looked at with other rules or
/// other known names; from all of them `again`.
///
/// # Errors
/// [`Error::Locked`] while another run works there; [`Error::Io`]; [`Error::DamagedPapers`] where the list of files cannot be
/// read. A text that cannot be read is told in the answer, and looked at next time.
pub fn extract_all(
    index_folder: &Path,
    known: &KnownDatasets,
    again: bool,
    observer: &dyn ExtractObserver,
) -> Result<ExtractStats> {
    const MOST_PROBLEMS: usize = 20;
    let started = Instant::now();
    let folder = index_folder.join(FOLDER);
    let path = path_of(index_folder);
    let mut stats = ExtractStats { path: path.clone(), ..ExtractStats::default() };
    if Store::open(index_folder)?.is_empty() && !path.exists() {
        return Ok(stats);
    }
    let _lock = Lock::acquire(&folder)?;
    let store = Store::open(index_folder)?;
    let known_hash = format!("{:016x}", known.fingerprint());
    let kept = Kept::open(&path, if again { None } else { Some(&known_hash) })?;
    let is_new = |print: &Fingerprint| !kept.places.contains_key(print);
    let new = store.entries().filter(|(entry, _)| is_new(&entry.fingerprint)).count() as u64;
    observer.started(new);

    let failed = |error: std::io::Error| Error::io("write", &path, error);
    let mut out = BufWriter::new(scratch(SCRATCH_PREFIX, &folder).map_err(failed)?);
    let prints: Vec<Fingerprint> = store.entries().map(|(entry, _)| entry.fingerprint.clone()).collect();
    stats.documents = prints.len() as u64;
    for print in &prints {
        if let Some(line) = kept.line(print)? {
            out.write_all(&line).map_err(failed)?;
            stats.unchanged += 1;
        }
    }
    let mut documents = store.documents_where(|entry| is_new(&entry.fingerprint));
    loop {
        if observer.interrupted() {
            stats.left = new - stats.extracted;
            break;
        }
        let mut batch: Vec<Document> = Vec::new();
        let mut read = 0;
        for document in documents.by_ref().take(BATCH) {
            read += 1;
            match document {
                Ok(document) => batch.push(document),
                Err(error) if stats.problems.len() < MOST_PROBLEMS => stats.problems.push(error.to_string()),
                Err(_) => {}
            }
        }
        if read == 0 {
            break;
        }
        let lines: Vec<Result<(Vec<u8>, Extraction)>> = batch
            .par_iter()
            .map(|document| {
                let extraction = extract(document, known);
                observer.document_done();
                let known = known_hash.clone();
                let kept = KeptExtraction { extraction, fingerprint: document.fingerprint.clone(), known };
                let mut line = serde_json::to_vec(&kept).map_err(|error| Error::Internal(error.to_string()))?;
                line.push(b'\n');
                Ok((line, kept.extraction))
            })
            .collect();
        for line in lines {
            let (line, extraction) = line?;
            out.write_all(&line).map_err(failed)?;
            stats.extracted += 1;
            stats.relevant += u64::from(!extraction.tasks.is_empty());
            stats.tasks += extraction.tasks.len() as u64;
            stats.datasets += extraction.tasks.iter().map(|task| task.datasets.len() as u64).sum::<u64>();
        }
    }
    drop(documents);
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&path).map_err(|error| failed(error.error))?;
    stats.elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
    Ok(stats)
}

/// What is kept of the document with this content; none where it was not looked at yet.
///
/// # Errors
/// [`Error::Io`].
pub fn of_document(index_folder: &Path, fingerprint: &Fingerprint) -> Result<Option<KeptExtraction>> {
    let kept = Kept::open_any(&path_of(index_folder))?;
    let Some(line) = kept.line(fingerprint)? else { return Ok(None) };
    Ok(serde_json::from_slice(&line).ok())
}

/// The file as it is: where the line of each content is.
struct Kept {
    path: PathBuf,
    file: Option<File>,
    places: HashMap<Fingerprint, (u64, u64)>,
}

impl Kept {
    /// Lines made by these rules from names with the hash `known`; none of them without it.
    fn open(path: &Path, known: Option<&str>) -> Result<Self> {
        match known {
            Some(known) => Self::read(path, |head| head.extractor == EXTRACTOR && head.known == known),
            None => Ok(Self { path: path.to_path_buf(), file: None, places: HashMap::new() }),
        }
    }

    fn open_any(path: &Path) -> Result<Self> {
        Self::read(path, |_| true)
    }

    fn read(path: &Path, wanted: impl Fn(&KeptHead) -> bool) -> Result<Self> {
        let failed = |error| Error::io("read", path, error);
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { path: path.to_path_buf(), file: None, places: HashMap::new() });
            }
            Err(error) => return Err(failed(error)),
        };
        let mut places = HashMap::new();
        let mut input = BufReader::with_capacity(1 << 16, file);
        let (mut line, mut at) = (Vec::new(), 0u64);
        loop {
            line.clear();
            let length = input.by_ref().take(LONGEST_LINE_BYTES).read_until(b'\n', &mut line).map_err(failed)? as u64;
            if length == 0 {
                break;
            }
            // A line of another hand, or the rest of one that is too long, is no extraction: its document is looked at again.
            if line.last() == Some(&b'\n')
                && let Ok(head) = serde_json::from_slice::<KeptHead>(&line)
                && wanted(&head)
            {
                places.insert(head.fingerprint, (at, length));
            }
            at += length;
        }
        Ok(Self { path: path.to_path_buf(), file: Some(input.into_inner()), places })
    }

    fn line(&self, fingerprint: &Fingerprint) -> Result<Option<Vec<u8>>> {
        let (Some((at, length)), Some(mut file)) = (self.places.get(fingerprint), self.file.as_ref()) else {
            return Ok(None);
        };
        let mut line = vec![0; *length as usize];
        file.seek(SeekFrom::Start(*at))
            .and_then(|_| file.read_exact(&mut line))
            .map_err(|error| Error::io("read", &self.path, error))?;
        Ok(Some(line))
    }
}
