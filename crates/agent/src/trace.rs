//! What led to an answer, written down so that it can be made again without the model: the session before, the request, the
//! state of the index, what each search ranked, every question to the model with its answer, and the answer itself.

use std::path::Path;

use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

use super::config::Config;
use super::{Agent, Request};
use crate::agentic::{RunTrace, first_difference};
use crate::recommend::Recommendation;
use crate::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::store::version_of;
use lakeward_models::llm::{CallRecord, LanguageModel, Spent};
use lakeward_search::RankingWeights;

/// Version of the document; another one is refused, never guessed at.
pub const VERSION: u32 = 5;
/// Longest file that is read.
const MOST_BYTES: u64 = 64 << 20;
/// Tables of a list that are written down.
const MOST_HITS: usize = 100;

/// A table in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// Its id.
    pub table: String,
    /// Its score in this list, where it has one; greater is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// The tables as one search, the utility, the model or the answer ranked them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankedList {
    /// Who ranked: `search`, `join`, `union`, `task`, `graph`, `utility`, `model`, `answer`.
    pub by: String,
    /// Best first, at most 100.
    pub hits: Vec<Hit>,
}

impl RankedList {
    /// The list `by`, of `hits` best first.
    pub fn of<'a>(by: &str, hits: impl IntoIterator<Item = (&'a str, Option<f64>)>) -> Self {
        let hits = hits.into_iter().take(MOST_HITS).map(|(table, score)| Hit { table: table.to_string(), score });
        Self { by: by.to_string(), hits: hits.collect() }
    }
}

/// What was asked of a model in a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelUse {
    /// Model and server.
    pub id: String,
    /// What it cost.
    pub spent: Spent,
    /// Every question with its answer, in order.
    pub calls: Vec<CallRecord>,
}

impl ModelUse {
    /// What `model` was asked.
    pub fn of(model: &LanguageModel<'_>) -> Self {
        Self { id: model.id().to_string(), spent: model.spent(), calls: model.calls() }
    }
}

/// What led to one answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// What each search ranked, then the utility, the model and the answer.
    pub lists: Vec<RankedList>,
    /// How the request's words were searched for, where it has any: plans, channels with scores, fusion, verdicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunTrace>,
    /// What the model was asked, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelUse>,
}

/// One turn with all that it depended on. `lakeward schema trace` prints its JSON Schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnTrace {
    /// Version of this layout.
    pub version: u32,
    /// The program's version.
    pub lakeward: String,
    /// The state of the index: its manifest's checksum.
    pub index: String,
    /// The embedding model.
    pub embedder: String,
    /// The settings.
    pub config: Config,
    /// The weights that it was ranked with.
    #[serde(deserialize_with = "RankingWeights::deserialize_any_version")]
    pub weights: RankingWeights,
    /// The session before the turn.
    pub session: Session,
    /// The request.
    pub request: Request,
    /// What led to the answer.
    pub provenance: Provenance,
    /// The answer.
    pub answer: Recommendation,
    /// 64 hex digits of a hash of the answer as JSON: reading a number back may change its last digit.
    pub answer_hash: String,
    /// Time to answer, in milliseconds.
    pub elapsed_ms: f64,
}

/// Where two answers to the same request part.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// The first step that differs: `request`, `signals`, a step of the search (`plan 2`, `channel words for QUERY`, `fusion 1`, `verdict 1`),
    /// a list's name, `operations`, `answer`.
    pub stage: String,
    /// What differs there, in a sentence.
    pub what: String,
}

impl TurnTrace {
    /// Reads a trace.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Usage`] for a file that is no trace or of another version.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_bytes(path)?;
        let wrong = |what: String| Error::usage(format!("`{}` {what}", path.display()));
        let no_trace = |error: serde_json::Error| wrong(format!("is no trace: {error}"));
        let found = version_of(&text, "version").map_err(no_trace)?;
        let found = found.ok_or_else(|| wrong("is no trace: it names no version".into()))?;
        if found != u64::from(VERSION) {
            return Err(wrong(format!("is a trace of version {found}; this program reads version {VERSION}")));
        }
        serde_json::from_slice(&text).map_err(no_trace)
    }

    /// The trace as it is read from its file: comparable with others that were.
    ///
    /// # Errors
    /// [`Error::Internal`].
    pub fn read_back(&self) -> Result<Self> {
        let text = serde_json::to_vec(self).map_err(|error| Error::Internal(error.to_string()))?;
        serde_json::from_slice(&text).map_err(|error| Error::Internal(error.to_string()))
    }

    /// Where another run of the same request parts from this one first; `None` where both gave the same answer.
    pub fn difference(&self, other: &TurnTrace) -> Option<Difference> {
        let part = |stage: &str, what: String| Some(Difference { stage: stage.to_string(), what });
        if self.request != other.request {
            return part("request", format!("`{}`, then `{}`", self.request.text, other.request.text));
        }
        if self.answer.signals != other.answer.signals {
            let labels = |trace: &TurnTrace| format!("{:?}", trace.answer.signals.operation.label);
            return part("signals", format!("{} was read, then {}", labels(self), labels(other)));
        }
        match (&self.provenance.run, &other.provenance.run) {
            (Some(one), Some(another)) => {
                if let Some((stage, what)) = first_difference(one, another) {
                    return part(&stage, what);
                }
            }
            (None, None) => {}
            _ => return part("plan 1", "only one of the runs searched for words".into()),
        }
        let lists = self.provenance.different_list(&other.provenance);
        if lists.is_some() {
            return lists;
        }
        if self.answer.tables != other.answer.tables {
            return part("answer", "the tables are told of otherwise".into());
        }
        if self.answer.operations != other.answer.operations {
            return part("operations", "the operations differ".into());
        }
        (self.answer != other.answer).then(|| Difference { stage: "answer".into(), what: "the notes differ".into() })
    }
}

impl Provenance {
    /// The first list that another run ranked otherwise.
    pub fn different_list(&self, other: &Self) -> Option<Difference> {
        self.lists.iter().find_map(|list| {
            let same = other.lists.iter().find(|candidate| candidate.by == list.by);
            let what = match same {
                None => "the other run has no such list".into(),
                Some(same) if same != list => moved(list, same),
                Some(_) => return None,
            };
            Some(Difference { stage: list.by.clone(), what })
        })
    }
}

/// The bytes of a trace's file.
///
/// # Errors
/// [`Error::Io`]; [`Error::Usage`] for a file too long to be one.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let size = std::fs::metadata(path).map_err(|error| Error::io("read", path, error))?.len();
    if size > MOST_BYTES {
        return Err(Error::usage(format!("`{}` has {size} bytes; that is no trace", path.display())));
    }
    std::fs::read(path).map_err(|error| Error::io("read", path, error))
}

/// The first place at which two lists differ.
fn moved(before: &RankedList, after: &RankedList) -> String {
    let at = before.hits.iter().zip(&after.hits).position(|(a, b)| a != b);
    let at = at.unwrap_or_else(|| before.hits.len().min(after.hits.len()));
    let hit_of = |list: &RankedList| {
        list.hits.get(at).map_or("nothing".to_string(), |hit| match hit.score {
            Some(score) => format!("`{}` ({score:.4})", hit.table),
            None => format!("`{}`", hit.table),
        })
    };
    format!("from rank {} on: {}, then {}", at + 1, hit_of(before), hit_of(after))
}

impl Agent<'_> {
    /// A turn with its trace.
    ///
    /// # Errors
    /// Those of [`Agent::turn`].
    pub fn trace(&self, session: &mut Session, request: &Request) -> Result<TurnTrace> {
        let before = session.clone();
        let started = std::time::Instant::now();
        let (answer, provenance) = self.answer(session, request, None)?;
        let elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
        let answer = answer.into_inner();
        let written = serde_json::to_vec(&answer).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(TurnTrace {
            version: VERSION,
            lakeward: env!("CARGO_PKG_VERSION").into(),
            index: self.index.manifest().checksum.clone(),
            embedder: self.embedder.id().into(),
            config: self.config.clone(),
            weights: self.ranking.clone(),
            session: before,
            request: request.clone(),
            provenance,
            answer,
            answer_hash: blake3::hash(&written).to_hex().to_string(),
            elapsed_ms,
        })
    }
}

/// The JSON Schema of a trace.
pub fn schema() -> Schema {
    schema_for!(TurnTrace)
}
