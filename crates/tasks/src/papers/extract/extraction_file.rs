//! The existing file of extractions: which of its lines are still valid, and where they are.
//!
//! A line extracted by rules is valid while content, rules and known names are unchanged. A line extracted by a model is valid
//! while content, model and prompts are unchanged: it cost something, and other known names only change which record a name
//! means, which is looked up again. If a model's answer was unusable, the rules' line stores which model was tried, so that it
//! is not asked the same again.

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

/// Longest line that is reused, in bytes.
const LONGEST_LINE_BYTES: u64 = 8 << 20;
/// Prefix of the rules' extractor id, in every version.
const RULES: &str = "rules@";

/// A stored extraction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredExtraction {
    /// The extraction with its extractor: `rules@2`, or the model with its prompts.
    #[serde(flatten)]
    pub extraction: Extraction,
    /// The fingerprint of the document's content.
    pub fingerprint: Fingerprint,
    /// Hash of the known names.
    pub known: String,
    /// The model whose answer was unusable, so that the rules' result is used.
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

/// What extracts in a run; this decides which earlier lines are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Maker<'a> {
    /// Rules; lines extracted by a model stay valid.
    Rules,
    /// Rules only.
    RulesAlone,
    /// The model with this id.
    Model(&'a str),
}

/// The valid lines of a file by the content they were extracted from.
pub(super) struct ExtractionFile {
    path: PathBuf,
    file: Option<File>,
    places: HashMap<Fingerprint, Place>,
    /// Contents for which this run's model failed before and whose line is not valid.
    refused: HashSet<Fingerprint>,
}

#[derive(Clone, Copy)]
struct Place {
    at: u64,
    length: u64,
    /// Whether it was made with different known names.
    has_other_names: bool,
}

impl ExtractionFile {
    /// The lines valid in a run of `maker` with known names of the hash `known`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(path: &Path, maker: Maker<'_>, known: &str) -> Result<Self> {
        let is_rules = |head: &StoredHead| head.extractor == EXTRACTOR && head.known == known;
        let is_valid = |head: &StoredHead| match maker {
            Maker::Rules => is_rules(head) || !head.extractor.starts_with(RULES),
            Maker::RulesAlone => is_rules(head),
            Maker::Model(id) => head.extractor == id || is_rules(head) && head.tried.as_deref() == Some(id),
        };
        let model = if let Maker::Model(id) = maker { Some(id) } else { None };
        Self::read(path, model, Some(known), is_valid)
    }

    /// All lines as valid.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open_any(path: &Path) -> Result<Self> {
        Self::read(path, None, None, |_| true)
    }

    /// No lines, as if there were no file.
    pub fn empty(path: &Path) -> Self {
        Self { path: path.to_path_buf(), file: None, places: HashMap::new(), refused: HashSet::new() }
    }

    fn read(
        path: &Path,
        model: Option<&str>,
        known: Option<&str>,
        is_valid: impl Fn(&StoredHead) -> bool,
    ) -> Result<Self> {
        let failed = |error| Error::io("read", path, error);
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::empty(path)),
            Err(error) => return Err(failed(error)),
        };
        let mut found = Self::empty(path);
        let mut lines = LineReader::new(file, LONGEST_LINE_BYTES);
        while let Some(line) = lines.next_line().map_err(failed)? {
            // Invalid or too long lines are dropped: their documents are extracted again.
            if line.end == LineEnd::Whole
                && let Ok(head) = serde_json::from_slice::<StoredHead>(line.bytes)
            {
                if is_valid(&head) {
                    let (at, length) = (line.at, line.bytes.len() as u64 + 1);
                    let has_other_names = known.is_some_and(|known| known != head.known);
                    found.places.insert(head.fingerprint, Place { at, length, has_other_names });
                } else if model.is_some() && head.tried.as_deref() == model {
                    found.refused.insert(head.fingerprint);
                }
            }
        }
        found.file = Some(lines.into_inner());
        Ok(found)
    }

    /// Whether there is a valid line for this content.
    pub fn has(&self, fingerprint: &Fingerprint) -> bool {
        self.places.contains_key(fingerprint)
    }

    /// Whether this run's model has failed on this content before.
    pub fn is_refused(&self, fingerprint: &Fingerprint) -> bool {
        self.refused.contains(fingerprint)
    }

    /// The stored line of a content.
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

    /// The same with its names linked to the currently known records.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn linked(&self, fingerprint: &Fingerprint, known: &KnownDatasets, hash: &str) -> Result<Option<Vec<u8>>> {
        let Some(line) = self.line(fingerprint)? else { return Ok(None) };
        if !self.places.get(fingerprint).is_some_and(|place| place.has_other_names) {
            return Ok(Some(line));
        }
        let Ok(mut stored) = serde_json::from_slice::<StoredExtraction>(&line) else { return Ok(Some(line)) };
        stored.known = hash.to_string();
        for mention in stored.extraction.tasks.iter_mut().flat_map(|task| &mut task.datasets) {
            mention.record = known.named(&mention.name).and_then(|found| found.record.clone());
        }
        written(&stored).map(Some)
    }
}

/// A line of the file.
///
/// # Errors
/// [`Error::Internal`] for what cannot be written as JSON.
pub(super) fn written(stored: &StoredExtraction) -> Result<Vec<u8>> {
    let mut line = serde_json::to_vec(stored).map_err(|error| Error::Internal(error.to_string()))?;
    line.push(b'\n');
    Ok(line)
}
