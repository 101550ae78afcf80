//! Extracts from all new or changed documents of a store; the results are stored next to it as JSON lines, one [`Extraction`] each.
//!
//! A line also stores the content, the rules or model, and the known names that it was made from; if these are unchanged, it is
//! reused. A model reads new documents; if it fails, the rules' result is used for that document. The file is replaced
//! atomically, without documents that were removed.

use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::document::{Document, Fingerprint};
use super::super::extraction::Extraction;
use super::super::store::{FOLDER, Store};
use super::extraction_file::{ExtractionFile, Maker, StoredExtraction, written};
use super::model::{ExtractionModel, NotExtracted};
use super::{EXTRACTOR, KnownDatasets, extract};
use lakeward_core::error::Result;
use lakeward_core::monitor::{Monitor, Total};
use lakeward_core::store::{AtomicFile, FileLock, Purpose, make_folder, remove_unfinished};

/// The file's name in the folder of papers.
pub const FILE_NAME: &str = "extractions.jsonl";
/// Number of documents in memory at a time.
const BATCH: usize = 64;

/// How to extract.
#[derive(Clone, Copy, Default)]
pub struct ExtractOptions<'a> {
    /// Extract from all documents again.
    pub again: bool,
    /// Use rules only: no model is asked, and documents extracted by one are extracted again.
    pub rules: bool,
    /// The model to ask; without one, earlier extractions by a model are kept.
    pub model: Option<&'a ExtractionModel<'a>>,
    /// Number of concurrent model requests; at least one.
    pub concurrency: usize,
}

/// The result of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtractStats {
    /// The file with all extractions.
    pub path: PathBuf,
    /// Documents of the store.
    pub documents: u64,
    /// Documents extracted in this run.
    pub extracted: u64,
    /// Documents whose stored extraction was reused.
    pub unchanged: u64,
    /// Documents left for the next run because the user stopped this one.
    pub left: u64,
    /// Documents extracted in this run that use datasets.
    pub relevant: u64,
    /// Their tasks.
    pub tasks: u64,
    /// The datasets of these tasks.
    pub datasets: u64,
    /// What extracts in this run: the rules, or the model with its prompts.
    #[serde(default)]
    pub extractor: String,
    /// Documents extracted in this run by the model.
    #[serde(default)]
    pub by_model: u64,
    /// Documents for which the model failed, so that the rules' result is used.
    #[serde(default)]
    pub by_rules_instead: u64,
    /// The first failure of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// Calls to the model.
    #[serde(default)]
    pub calls: u64,
    /// Tokens of its prompts and answers.
    #[serde(default)]
    pub tokens: u64,
    /// The first few reasons why texts could not be read.
    pub problems: Vec<String>,
    /// Time taken, in milliseconds.
    pub elapsed_ms: f64,
}

/// The file with the extractions of the index in `index_folder`.
pub fn path_of(index_folder: &Path) -> PathBuf {
    index_folder.join(FOLDER).join(FILE_NAME)
}

/// Extracts from all documents of the index in `index_folder` that are new, changed, or were extracted with other rules, another
/// model or (by rules) other known names.
///
/// # Errors
/// [`Error::Locked`](lakeward_core::Error::Locked) while another run works there; [`Error::Io`](lakeward_core::Error::Io);
/// [`Error::DamagedFile`](lakeward_core::Error::DamagedFile) if the list of files cannot be read. A text that cannot be read is
/// reported in the result and retried next time. A model's failures are not errors.
pub fn extract_all(
    index_folder: &Path,
    known: &KnownDatasets,
    options: &ExtractOptions<'_>,
    monitor: &dyn Monitor,
) -> Result<ExtractStats> {
    const MAX_PROBLEMS: usize = 20;
    let started = Instant::now();
    let folder = index_folder.join(FOLDER);
    let path = path_of(index_folder);
    let model = options.model.filter(|_| !options.rules);
    let id = model.map(ExtractionModel::id);
    let mut stats = ExtractStats {
        path: path.clone(),
        extractor: id.clone().unwrap_or_else(|| EXTRACTOR.to_string()),
        ..ExtractStats::default()
    };
    if Store::open(index_folder)?.is_empty() && !path.exists() {
        return Ok(stats);
    }
    make_folder(&folder)?;
    let _lock = FileLock::acquire(&folder)?;
    remove_unfinished(&path);
    let store = Store::open(index_folder)?;
    let known_hash = format!("{:016x}", known.fingerprint());
    let maker = match &id {
        Some(id) => Maker::Model(id),
        None if options.rules => Maker::RulesAlone,
        None => Maker::Rules,
    };
    let stored =
        if options.again { ExtractionFile::empty(&path) } else { ExtractionFile::open(&path, maker, &known_hash)? };
    let new = store.entries().filter(|(entry, _)| !stored.has(&entry.fingerprint)).count() as u64;
    monitor.begin("documents", Total::Steps(new));

    let mut file = AtomicFile::create(&path, Purpose::Index)?;
    let fingerprints: Vec<Fingerprint> = store.entries().map(|(entry, _)| entry.fingerprint.clone()).collect();
    stats.documents = fingerprints.len() as u64;
    for fingerprint in &fingerprints {
        if let Some(line) = stored.linked(fingerprint, known, &known_hash)? {
            file.put(&line)?;
            stats.unchanged += 1;
        }
    }
    let run = Run { known, known_hash: &known_hash, stored: &stored, model, monitor };
    let batch_size = model.map_or(BATCH, |_| options.concurrency.clamp(1, BATCH));
    let mut documents = store.documents_where(|entry| !stored.has(&entry.fingerprint));
    loop {
        if monitor.is_stopped() {
            stats.left = new - stats.extracted;
            break;
        }
        let mut batch: Vec<Document> = Vec::new();
        let mut read = 0;
        for document in documents.by_ref().take(batch_size) {
            read += 1;
            match document {
                Ok(document) => batch.push(document),
                Err(error) if stats.problems.len() < MAX_PROBLEMS => stats.problems.push(error.to_string()),
                Err(_) => {}
            }
        }
        if read == 0 {
            break;
        }
        for (stored, trouble) in run.batch(&batch) {
            file.put(&written(&stored)?)?;
            stats.count(&stored.extraction);
            stats.by_model += u64::from(model.is_some() && trouble.is_none() && stored.tried.is_none());
            stats.by_rules_instead += u64::from(trouble.is_some() || stored.tried.is_some());
            if let Some(trouble) = trouble {
                stats.trouble.get_or_insert(trouble);
            }
        }
    }
    drop(documents);
    file.replace()?;
    (stats.calls, stats.tokens) = model.map_or((0, 0), ExtractionModel::spent);
    stats.elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
    Ok(stats)
}

impl ExtractStats {
    fn count(&mut self, extraction: &Extraction) {
        self.extracted += 1;
        self.relevant += u64::from(!extraction.tasks.is_empty());
        self.tasks += extraction.tasks.len() as u64;
        self.datasets += extraction.tasks.iter().map(|task| task.datasets.len() as u64).sum::<u64>();
    }
}

/// The inputs shared by all documents of a run.
struct Run<'a> {
    known: &'a KnownDatasets,
    known_hash: &'a str,
    stored: &'a ExtractionFile,
    model: Option<&'a ExtractionModel<'a>>,
    monitor: &'a dyn Monitor,
}

impl Run<'_> {
    /// The extractions of a batch, each with the model's failure, if any.
    fn batch(&self, batch: &[Document]) -> Vec<(StoredExtraction, Option<String>)> {
        let Some(model) = self.model else {
            return batch.par_iter().map(|document| self.done((self.by_rules(document, None), None))).collect();
        };
        std::thread::scope(|scope| {
            let one = |document| move || self.done(self.by_model(model, document));
            let handles: Vec<_> = batch.iter().map(|document| (document, scope.spawn(one(document)))).collect();
            let panicked = "the model's client panicked";
            let answer = |(document, handle): (&Document, std::thread::ScopedJoinHandle<'_, _>)| {
                handle.join().unwrap_or_else(|_| (self.by_rules(document, None), Some(panicked.into())))
            };
            handles.into_iter().map(answer).collect()
        })
    }

    fn done<T>(&self, made: T) -> T {
        self.monitor.advance(1);
        made
    }

    fn by_model(&self, model: &ExtractionModel<'_>, document: &Document) -> (StoredExtraction, Option<String>) {
        if self.stored.is_refused(&document.fingerprint) {
            return (self.by_rules(document, Some(model.id())), None);
        }
        match model.extract(document, self.known) {
            Ok(extraction) => (self.keep(document, extraction, None), None),
            Err(NotExtracted { trouble, is_refused }) => {
                (self.by_rules(document, is_refused.then(|| model.id())), Some(trouble))
            }
        }
    }

    fn by_rules(&self, document: &Document, tried: Option<String>) -> StoredExtraction {
        self.keep(document, extract(document, self.known), tried)
    }

    fn keep(&self, document: &Document, extraction: Extraction, tried: Option<String>) -> StoredExtraction {
        let known = self.known_hash.to_string();
        StoredExtraction { extraction, fingerprint: document.fingerprint.clone(), known, tried }
    }
}

/// The stored extraction of the document with this content, if there is one.
///
/// # Errors
/// [`Error::Io`](lakeward_core::Error::Io).
pub fn of_document(index_folder: &Path, fingerprint: &Fingerprint) -> Result<Option<StoredExtraction>> {
    let stored = ExtractionFile::open_any(&path_of(index_folder))?;
    let Some(line) = stored.line(fingerprint)? else { return Ok(None) };
    Ok(serde_json::from_slice(&line).ok())
}
