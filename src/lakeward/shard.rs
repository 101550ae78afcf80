//! What one shard of an index says to a question that all shards answer together: what it has for the others, or the answer.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Lakeward;
use lakeward_core::error::{Error, Result};
use lakeward_index::{AllFigures, OwnFigures};
use lakeward_lake::composite_key;
use lakeward_search::query_table::{InLake, QueryTable};
use lakeward_search::{JoinOptions, SearchOptions, UnionOptions, join, text_search, union};

/// A question that all shards answer together.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum SharedQuestion {
    /// Tables for a text.
    Search {
        /// The text.
        text: String,
        /// Answers.
        k: usize,
    },
    /// Tables to join with.
    Join {
        /// Id of a table of the lake.
        table: String,
        /// Its key column.
        column: Option<String>,
        /// Answers.
        k: usize,
    },
    /// Tables to append.
    Union {
        /// Id of a table of the lake.
        table: String,
        /// Answers.
        k: usize,
    },
}

/// What has to be the same in all shards, or their answers are of different lakes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardState {
    /// Which shard it is, and of how many; not the same.
    pub shard: Option<(u32, u32)>,
    /// The program's version.
    pub version: String,
    /// The checksum of the index.
    pub index: String,
    /// Hash of the weights of the ranking.
    pub weights: String,
    /// Hash of the users' notes and synonyms.
    pub known: String,
}

impl ShardState {
    /// In what another shard differs.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        let Self { shard: _, version, index, weights, known } = self;
        match () {
            () if *version != other.version => Some("another version of Lakeward"),
            () if *index != other.index => Some("another state of the index"),
            () if *weights != other.weights => Some("other weights of the ranking"),
            () if *known != other.known => Some("other notes or synonyms"),
            () => None,
        }
    }
}

/// What a shard says in one round.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShardRound {
    /// It opened no segment: nothing depends on it.
    Empty,
    /// What the others need to know.
    Figures(OwnFigures),
    /// What the shard at this place told cannot be.
    Unreadable(usize),
    /// The answer of all.
    Answer(Value),
}

impl Lakeward {
    /// What has to be the same in all shards.
    pub fn shard_state(&self) -> &ShardState {
        self.cache.state(|| self.state())
    }

    fn state(&self) -> ShardState {
        let hash = |value: Value| blake3::hash(value.to_string().as_bytes()).to_hex().to_string();
        let notes: Vec<_> = self.index.notes().all().collect();
        ShardState {
            shard: self.place.shard.map(|shard| (shard.number, shard.of)),
            version: env!("CARGO_PKG_VERSION").to_string(),
            index: self.index.manifest().checksum.clone(),
            weights: hash(json!(self.config.ranking)),
            known: hash(json!([notes, self.config.synonyms])),
        }
    }

    /// What this shard answers to `question`, where `of_all` are the figures of all shards so far; whether it is the first of these.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`], and those of the question.
    pub fn shard_round(&self, question: &SharedQuestion, of_all: AllFigures, is_first: bool) -> Result<ShardRound> {
        if self.index.segments().is_empty() {
            return Ok(ShardRound::Empty);
        }
        let index = Arc::new(self.index.within(of_all, is_first));
        let answer = Self { index: Arc::clone(&index), ..self.clone() }.answer_with_others(question, is_first);
        let exchange = index.exchange();
        if let Some(place) = exchange.and_then(|exchange| exchange.unreadable()) {
            return Ok(ShardRound::Unreadable(place));
        }
        match answer {
            Ok(answer) => Ok(ShardRound::Answer(answer)),
            Err(Error::AwaitsShards) => {
                Ok(ShardRound::Figures(exchange.map(|exchange| exchange.own_figures()).unwrap_or_default()))
            }
            Err(error) => Err(error),
        }
    }

    fn answer_with_others(&self, question: &SharedQuestion, is_first: bool) -> Result<Value> {
        let (index, weights) = (&*self.index, &self.config.ranking);
        match question {
            SharedQuestion::Search { text, k } => {
                let options = SearchOptions { k: *k, weights };
                let answers = text_search::search(index, self.embedder(), &self.read(text)?, &options)?;
                let nothing_found = !answers.iter().any(|answer| answer.may_serve(&weights.calibration));
                Ok(json!({ "answers": answers, "nothing_found": nothing_found }))
            }
            SharedQuestion::Join { table, column, k } => {
                let query = self.table_of_any_shard(table)?;
                let columns = query.columns_named(column.as_slice())?;
                if columns.len() > 1 {
                    let reason = "an index in shards is searched for joins on one column: name one, or none";
                    return Err(Error::usage(reason));
                }
                let own = || {
                    let is_needed =
                        is_first && columns.is_empty() && !composite_key::has_single_key(&query.entry.profile);
                    let found =
                        is_needed.then(|| composite_key::find(&query.path, &query.entry.profile).ok()).flatten();
                    Ok(json!(found.unwrap_or_default()))
                };
                let keys = index.gather("keys of several columns", own, |_| true);
                let options = JoinOptions { k: *k, column: columns.first().copied(), weights };
                let answers = join::search(index, &query, &options)?;
                let keys: Vec<Value> =
                    keys?.into_iter().filter_map(|keys| keys.as_array().cloned()).flatten().collect();
                Ok(
                    json!({ "nothing_found": answers.is_empty(), "answers": answers, "composite_keys": keys, "notes": [] }),
                )
            }
            SharedQuestion::Union { table, k } => {
                let query = self.table_of_any_shard(table)?;
                let options = UnionOptions { k: *k, count_rows: true, weights };
                let answers = union::search(index, &self.place.lake, &query, &options)?;
                Ok(json!({ "nothing_found": answers.is_empty(), "answers": answers }))
            }
        }
    }

    fn table_of_any_shard(&self, id: &str) -> Result<Arc<QueryTable>> {
        // Before the cache: all shards must gather the same values.
        let table = InLake::find(&self.index, id)?;
        self.cache.query_table(id, || QueryTable::of_lake(&self.place.lake, &table, self.embedder()))
    }
}
