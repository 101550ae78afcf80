//! Every verdict about two dataset names, stored next to the graph as JSON lines: the stage, the rule or model, and the reason in a
//! sentence. The user's verdicts (`graph merge`, `graph split`) and a model's survive rebuilds; each rebuild rewrites those of
//! the rules.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::error::{Error, Result};
use lakeward_core::store::{AtomicFile, Bounds, Links, Purpose, version_of};

/// Name of the file in the graph's folder.
pub const FILE_NAME: &str = "verdicts.jsonl";
/// Format version of a line.
pub const VERSION: u32 = 1;
const BOUNDS: Bounds =
    Bounds { most_bytes: 4 << 30, links: Links::Followed, damaged: |path, reason| Error::damaged(path, reason) };

/// One side of a verdict: a record or a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Named {
    /// A record or table, by its id.
    Record(String),
    /// A name as written in a document.
    Name(String),
}

impl Named {
    /// The id or the name.
    pub fn as_str(&self) -> &str {
        match self {
            Named::Record(text) | Named::Name(text) => text,
        }
    }
}

/// Who gave a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The user; overrides everything else.
    User,
    /// Normalised titles and aliases.
    Dictionary,
    /// A judge that compared both.
    Judge,
}

/// The outcome of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// One dataset.
    Same,
    /// Two datasets.
    Different,
    /// Undecided, so they are not merged.
    Unsure,
}

/// A verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// [`VERSION`].
    pub version: u32,
    /// One of the two.
    pub a: Named,
    /// The other.
    pub b: Named,
    /// Who gave it.
    pub stage: Stage,
    /// The outcome.
    pub decision: Decision,
    /// The rule, or the model with its prompt and the prompt's version.
    pub by: String,
    /// Why.
    pub sentence: String,
}

/// All verdicts, one per pair and stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdicts {
    by_pair: BTreeMap<(Named, Named, Stage), Verdict>,
}

impl Verdicts {
    /// Reads the verdicts of the graph in `folder`; empty if there is no file.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::IndexVersion`] for lines of another version; [`Error::DamagedIndex`] for lines that are not a verdict,
    /// so that none of the user's verdicts is dropped silently.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE_NAME);
        let Some(text) = BOUNDS.read(&path)? else { return Ok(Self::default()) };
        let mut verdicts = Self::default();
        for (number, line) in text.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
            let damaged = |error: serde_json::Error| Error::damaged(&path, format!("line {}: {error}", number + 1));
            let found = version_of(line, "version").map_err(damaged)?.unwrap_or(0) as u32;
            if found != VERSION {
                return Err(Error::IndexVersion { path, found, expected: VERSION });
            }
            verdicts.put(serde_json::from_slice(line).map_err(damaged)?);
        }
        Ok(verdicts)
    }

    /// Writes them into `folder`, atomically.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, folder: &Path) -> Result<()> {
        let mut file = AtomicFile::create(&folder.join(FILE_NAME), Purpose::Index)?;
        for verdict in self.by_pair.values() {
            file.put(&serde_json::to_vec(verdict).map_err(|error| Error::Internal(error.to_string()))?)?;
            file.put(b"\n")?;
        }
        file.replace().map(|_| ())
    }

    /// Adds a verdict; it replaces an earlier one of the same stage about the same pair.
    pub fn put(&mut self, verdict: Verdict) {
        let (a, b) = (verdict.a.clone().min(verdict.b.clone()), verdict.a.clone().max(verdict.b.clone()));
        self.by_pair.insert((a, b, verdict.stage), verdict);
    }

    /// The verdict of `stage` about a pair.
    pub fn get(&self, a: &Named, b: &Named, stage: Stage) -> Option<&Verdict> {
        self.by_pair.get(&(a.min(b).clone(), a.max(b).clone(), stage))
    }

    /// All verdicts, sorted by pair.
    pub fn iter(&self) -> impl Iterator<Item = &Verdict> {
        self.by_pair.values()
    }

    /// Number of verdicts.
    pub fn len(&self) -> usize {
        self.by_pair.len()
    }

    /// Whether there are no verdicts.
    pub fn is_empty(&self) -> bool {
        self.by_pair.is_empty()
    }

    /// The verdicts that survive a rebuild: the user's and a model's.
    pub fn lasting(&self) -> Self {
        let lasting = self.by_pair.iter().filter(|(_, verdict)| verdict.stage != Stage::Dictionary);
        Self { by_pair: lasting.map(|(key, verdict)| (key.clone(), verdict.clone())).collect() }
    }

    /// The verdicts that make `a` and `b` the same dataset, along the shortest chain from one to the other; `None` if they are not.
    /// `joined` tells whether the pair of a positive verdict was really merged.
    pub fn way(&self, a: &Named, b: &Named, joined: impl Fn(&Verdict) -> bool) -> Option<Vec<&Verdict>> {
        let mut by_end: HashMap<&Named, Vec<&Verdict>> = HashMap::new();
        for verdict in self.iter().filter(|verdict| verdict.decision == Decision::Same && joined(verdict)) {
            by_end.entry(&verdict.a).or_default().push(verdict);
            by_end.entry(&verdict.b).or_default().push(verdict);
        }
        let mut from: HashMap<&Named, Option<(&Named, &Verdict)>> = HashMap::from([(a, None)]);
        let mut queue = VecDeque::from([a]);
        while let Some(at) = queue.pop_front().filter(|at| *at != b) {
            for verdict in by_end.get(at).into_iter().flatten() {
                let next = if verdict.a == *at { &verdict.b } else { &verdict.a };
                from.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    Some((at, verdict))
                });
            }
        }
        let mut way = Vec::new();
        let mut at = b;
        while let Some((before, verdict)) = from.get(at)? {
            way.push(*verdict);
            at = before;
        }
        way.reverse();
        Some(way)
    }
}
