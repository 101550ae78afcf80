//! The file of extractions as it is: which of its lines still stand, and where they are.
//!
//! What rules extracted stands while content, rules and known names are as they were. What a model extracted stands while
//! content, model and prompts are: it cost something, and other known names change only which record a name means, which is
//! looked up again. Where a model's answer could not be used, the rules' line says which model was tried, so that it is not
//! asked the same again.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::document::Fingerprint;
use super::super::extraction::Extraction;
use super::{EXTRACTOR, KnownDatasets};
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{LineEnd, LineReader};

/// Longest line that is taken over.
const LONGEST_LINE_BYTES: u64 = 8 << 20;
/// How the rules of every version are called.
const RULES: &str = "rules@";

/// An extraction as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredExtraction {
    /// What was extracted, and by what: `rules@2`, or the model with its prompts.
    #[serde(flatten)]
    pub extraction: Extraction,
    /// The content that it was extracted from.
    pub fingerprint: Fingerprint,
    /// The known names, as a hash.
    pub known: String,
    /// The model whose answer could not be used, so that the rules' result stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<String>,
}

/// The same without the extraction itself.
#[derive(Deserialize)]
struct StoredHead {
    extractor: String,
    fingerprint: Fingerprint,
    known: String,
    #[serde(default)]
    tried: Option<String>,
}

/// Who extracts in a run, which decides what stands of earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Maker<'a> {
    /// Rules; what a model has made stands.
    Rules,
    /// Rules alone.
    RulesAlone,
    /// The model that is called so.
    Model(&'a str),
}

/// The lines of a file by the content that they were made of.
pub(super) struct ExtractionFile {
    path: PathBuf,
    file: Option<File>,
    places: HashMap<Fingerprint, Place>,
    /// Contents of which the model of this run could make nothing, where the line does not stand.
    refused: HashSet<Fingerprint>,
}

#[derive(Clone, Copy)]
struct Place {
    at: u64,
    length: u64,
    /// Whether it was made with other known names.
    is_of_others: bool,
}

impl ExtractionFile {
    /// The lines that stand in a run of `maker` who knows the names with the hash `known`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(path: &Path, maker: Maker<'_>, known: &str) -> Result<Self> {
        let is_rules = |head: &StoredHead| head.extractor == EXTRACTOR && head.known == known;
        let stands = |head: &StoredHead| match maker {
            Maker::Rules => is_rules(head) || !head.extractor.starts_with(RULES),
            Maker::RulesAlone => is_rules(head),
            Maker::Model(id) => head.extractor == id || is_rules(head) && head.tried.as_deref() == Some(id),
        };
        let model = if let Maker::Model(id) = maker { Some(id) } else { None };
        Self::read(path, model, Some(known), stands)
    }

    /// All lines.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open_any(path: &Path) -> Result<Self> {
        Self::read(path, None, None, |_| true)
    }

    /// No line, as of a file that is not there.
    pub fn nothing(path: &Path) -> Self {
        Self { path: path.to_path_buf(), file: None, places: HashMap::new(), refused: HashSet::new() }
    }

    fn read(
        path: &Path,
        model: Option<&str>,
        known: Option<&str>,
        stands: impl Fn(&StoredHead) -> bool,
    ) -> Result<Self> {
        let failed = |error| Error::io("read", path, error);
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::nothing(path)),
            Err(error) => return Err(failed(error)),
        };
        let mut kept = Self::nothing(path);
        let mut lines = LineReader::new(file, LONGEST_LINE_BYTES);
        while let Some(line) = lines.next_line().map_err(failed)? {
            // What is no extraction, or too long for one, leaves the file: its document is looked at again.
            if line.end == LineEnd::Whole
                && let Ok(head) = serde_json::from_slice::<StoredHead>(line.bytes)
            {
                if stands(&head) {
                    let (at, length) = (line.at, line.bytes.len() as u64 + 1);
                    let is_of_others = known.is_some_and(|known| known != head.known);
                    kept.places.insert(head.fingerprint, Place { at, length, is_of_others });
                } else if model.is_some() && head.tried.as_deref() == model {
                    kept.refused.insert(head.fingerprint);
                }
            }
        }
        kept.file = Some(lines.into_inner());
        Ok(kept)
    }

    /// Whether a line of this content stands.
    pub fn has(&self, fingerprint: &Fingerprint) -> bool {
        self.places.contains_key(fingerprint)
    }

    /// Whether the model of this run has refused this content before.
    pub fn is_refused(&self, fingerprint: &Fingerprint) -> bool {
        self.refused.contains(fingerprint)
    }

    /// The line of a content as it was written.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn line(&self, fingerprint: &Fingerprint) -> Result<Option<Vec<u8>>> {
        let (Some(place), Some(mut file)) = (self.places.get(fingerprint), self.file.as_ref()) else {
            return Ok(None);
        };
        let mut line = vec![0; place.length as usize];
        file.seek(SeekFrom::Start(place.at))
            .and_then(|_| file.read_exact(&mut line))
            .map_err(|error| Error::io("read", &self.path, error))?;
        Ok(Some(line))
    }

    /// The same with the records that its names mean now.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn linked(&self, fingerprint: &Fingerprint, known: &KnownDatasets, hash: &str) -> Result<Option<Vec<u8>>> {
        let Some(line) = self.line(fingerprint)? else { return Ok(None) };
        if !self.places.get(fingerprint).is_some_and(|place| place.is_of_others) {
            return Ok(Some(line));
        }
        let Ok(mut kept) = serde_json::from_slice::<StoredExtraction>(&line) else { return Ok(Some(line)) };
        kept.known = hash.to_string();
        for mention in kept.extraction.tasks.iter_mut().flat_map(|task| &mut task.datasets) {
            mention.record = known.named(&mention.name).and_then(|found| found.record.clone());
        }
        written(&kept).map(Some)
    }
}

/// A line of the file.
///
/// # Errors
/// [`Error::Internal`] for what cannot be written as JSON.
pub(super) fn written(kept: &StoredExtraction) -> Result<Vec<u8>> {
    let mut line = serde_json::to_vec(kept).map_err(|error| Error::Internal(error.to_string()))?;
    line.push(b'\n');
    Ok(line)
}
