//! How far models are trusted, as it was measured (`lakeward model check`): kept beside the index, by model, prompt and role.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PromptUse;
use lakeward_core::error::{Error, Holds, Result};
use lakeward_core::store::{
    Bounds, Damage, FileLock, KeyedLines, KeyedRecord, LineRecord, LinesFormat, Links, Purpose, make_folder,
};
use lakeward_core::text::shown;

/// The file in the index folder.
pub const FILE_NAME: &str = "model_checks.jsonl";
const LOCK_FILE: &str = "model_checks.lock";
/// Characters of a model's id and of a prompt's.
const ID_CHARS: usize = 300;

/// What a language model is trusted with, each measured for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    /// Reading requests.
    Reading,
    /// Ordering candidates.
    Ranking,
    /// Planning searches, and saying whether what was found is enough.
    Judging,
    /// Reading from papers which datasets they used for which tasks.
    Extraction,
    /// Saying whether two names mean one dataset.
    SameDataset,
}

lakeward_core::names! { ModelRole, "Its name, as in the settings.":
    Reading = "reading",
    Ranking = "ranking",
    Judging = "judging",
    Extraction = "extraction",
    SameDataset = "same_dataset",
}

impl ModelRole {
    /// What it is, as shown to people.
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Reading => "reading requests",
            Self::Ranking => "ordering candidates",
            Self::Judging => "judging what was found",
            Self::Extraction => "reading papers",
            Self::SameDataset => "comparing names of datasets",
        }
    }

    /// The prompt that it is measured with.
    pub fn prompt(self) -> PromptUse {
        match self {
            Self::Reading => PromptUse::Read,
            Self::Ranking => PromptUse::Rerank,
            Self::Judging => PromptUse::Evaluate,
            Self::Extraction => PromptUse::ExtractPairs,
            Self::SameDataset => PromptUse::SameDataset,
        }
    }
}

static FORMAT: LinesFormat = LinesFormat {
    name: "lakeward_model_checks",
    version: 1,
    purpose: Purpose::Private,
    bounds: Bounds {
        most_bytes: 4 << 20,
        links: Links::Refused,
        damaged: |path, reason| Error::damaged_file(Holds::Checks, path, reason),
    },
    longest_line: 4 << 10,
    most_lines: 10_000,
    damage: Damage::Refused,
};

/// What a model was measured to be worth in a role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasuredTrust {
    /// Model, prompt and role.
    key: String,
    /// When, RFC 3339.
    pub at: String,
    /// Model and server.
    pub model: String,
    /// Name, version and hash of the prompt.
    pub prompt: String,
    /// Labelled items.
    pub items: usize,
    /// Those that the model got right.
    pub model_right: usize,
    /// Those that Lakeward gets right without it.
    pub built_in_right: usize,
    /// How far it is trusted, 0..=1.
    pub trust: f64,
}

impl MeasuredTrust {
    /// A measurement of now, of `items` items.
    pub fn now(model: &str, prompt: &str, items: usize, [model_right, built_in_right]: [usize; 2], trust: f64) -> Self {
        let (model, prompt) = (shown(model, ID_CHARS), shown(prompt, ID_CHARS));
        let at = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
        Self { key: key(&model, &prompt), at, model, prompt, items, model_right, built_in_right, trust }
    }
}

fn key(model: &str, prompt: &str) -> String {
    format!("{} {}", shown(model, ID_CHARS), shown(prompt, ID_CHARS))
}

impl LineRecord for MeasuredTrust {
    fn check(&self) -> Result<(), String> {
        let is_known = self.key == key(&self.model, &self.prompt);
        let counts = self.model_right.max(self.built_in_right) <= self.items;
        if is_known && counts && (0.0..=1.0).contains(&self.trust) {
            Ok(())
        } else {
            Err("its figures do not go together".into())
        }
    }
}

impl KeyedRecord for MeasuredTrust {
    fn key(&self) -> &str {
        &self.key
    }
}

/// The file of measurements.
#[derive(Debug, Clone)]
pub struct TrustStore {
    path: PathBuf,
}

impl TrustStore {
    /// The measurements kept in the folder of an index.
    pub fn new(folder: &Path) -> Self {
        Self { path: folder.join(FILE_NAME) }
    }

    /// What was measured of a model with a prompt.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::DamagedFile`] for a file that is none or of another version.
    pub fn measured(&self, model: &str, prompt: &str) -> Result<Option<MeasuredTrust>> {
        let lines = KeyedLines::<MeasuredTrust>::open(&self.path, &FORMAT)?;
        Ok(lines.get(&key(model, prompt)).cloned())
    }

    /// Keeps a measurement in place of an earlier one.
    ///
    /// # Errors
    /// As [`TrustStore::measured`]; [`Error::Locked`] while another process writes.
    pub fn keep(&self, measured: MeasuredTrust) -> Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        make_folder(folder)?;
        let _lock = FileLock::acquire_file(&folder.join(LOCK_FILE))?;
        let mut lines = KeyedLines::open(&self.path, &FORMAT)?;
        lines.append(vec![measured])?;
        lines.finish()?;
        lines.sync()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_measurement_of_a_model_and_prompt_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = TrustStore::new(folder.path());
        assert_eq!(store.measured("m@local", "read@1").unwrap(), None);
        store.keep(MeasuredTrust::now("m@local", "read@1", 60, [20, 30], 0.34)).unwrap();
        store.keep(MeasuredTrust::now("m@local", "read@1", 60, [50, 30], 0.82)).unwrap();
        assert_eq!(store.measured("m@local", "read@1").unwrap().unwrap().model_right, 50);
        assert_eq!(store.measured("m@local", "read@2").unwrap(), None);
        std::fs::write(folder.path().join(FILE_NAME), "{\"lakeward_model_checks\": 9}\n").unwrap();
        assert!(store.measured("m@local", "read@1").unwrap_err().to_string().contains("version"));
    }
}
