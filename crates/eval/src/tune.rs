//! Learns the weights of every ranking from judged benchmarks: their queries become pools of candidates with features, and
//! [`super::coordinate_ascent`] finds the weights.
//!
//! Six rankers are learned: the three searches; their combination for a table to join with and for one to append; and α, β,
//! γ of the utility. The benchmark of a query only matters for the averages: every set of judgments counts equally.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::benchmark::{BenchQuery, Benchmark, Grades, LabelledQuery, Task};
use super::coordinate_ascent::{HeldOut, Pool, PoolCandidate, Tuned, learn};
use super::form::DocumentForm;
use super::lakeward_system::LakeIndexOf;
use super::left_out::PlainRanking;
use super::system::System;
use lakeward_agent::Request;
use lakeward_agent::recommend::Utility;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Monitor;
use lakeward_index::TableRef;
use lakeward_search::candidates::{Grains, TableRequest, TextRequest, candidates, find};
use lakeward_search::join::{self, JoinFeatures, JoinWeights};
use lakeward_search::text_search::{self, SearchFeatures, SearchWeights};
use lakeward_search::union::{self, UnionFeatures, UnionWeights};
use lakeward_search::{Candidate, ChannelWeights, JoinOptions, QueryTable, RankingWeights, SearchOptions};

/// The rankers, each learned from its own pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ranker {
    /// Join search.
    Join,
    /// Union search.
    Union,
    /// Text search.
    Search,
    /// The three searches together, for a table to join with.
    ToJoin,
    /// The three searches together, for a table to append.
    Otherwise,
    /// α, β, γ.
    Utility,
}

lakeward_core::names! { Ranker, "Its name on the command line.":
    Join = "join",
    Union = "union",
    Search = "search",
    ToJoin = "to-join",
    Otherwise = "otherwise",
    Utility = "utility",
}

impl Ranker {
    /// Whether its weights are accepted only if they carry over: those of the searches that plain baselines can answer, too.
    pub fn is_compared(self) -> bool {
        matches!(self, Ranker::Join | Ranker::Union)
    }

    /// The names of its features.
    pub fn features(self) -> &'static [&'static str] {
        match self {
            Ranker::Join => JoinFeatures::NAMES,
            Ranker::Union => UnionFeatures::NAMES,
            Ranker::Search => SearchFeatures::NAMES,
            Ranker::ToJoin | Ranker::Otherwise => &["search", "join", "union"],
            Ranker::Utility => &["alpha", "beta", "gamma"],
        }
    }

    /// Its weights in `weights`, in the order of its features.
    pub fn weights(self, weights: &RankingWeights) -> Vec<f64> {
        let channels = |ChannelWeights { search, join, union }: ChannelWeights| vec![search, join, union];
        match self {
            Ranker::Join => weights.join.values(),
            Ranker::Union => weights.union.values(),
            Ranker::Search => weights.search.values(),
            Ranker::ToJoin => channels(weights.relevance.to_join),
            Ranker::Otherwise => channels(weights.relevance.otherwise),
            Ranker::Utility => self
                .features()
                .iter()
                .map(|name| weights.utility.get(*name).and_then(Value::as_f64).unwrap_or(0.0))
                .collect(),
        }
    }

    fn set(self, weights: &mut RankingWeights, values: &[f64]) {
        let channels = || ChannelWeights { search: values[0], join: values[1], union: values[2] };
        match self {
            Ranker::Join => weights.join = JoinWeights::from_values(values),
            Ranker::Union => weights.union = UnionWeights::from_values(values),
            Ranker::Search => weights.search = SearchWeights::from_values(values),
            Ranker::ToJoin => weights.relevance.to_join = channels(),
            Ranker::Otherwise => weights.relevance.otherwise = channels(),
            Ranker::Utility => {
                for (name, value) in self.features().iter().zip(values) {
                    weights.utility.insert((*name).to_string(), Value::from(*value));
                }
            }
        }
    }
}

/// Pools by ranker.
pub type Pools = BTreeMap<Ranker, Vec<Pool>>;

/// The learned weights of one ranker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TunedRanker {
    /// The ranker.
    pub ranker: Ranker,
    /// Its features with the weight before and after; shares of their sum.
    pub weights: Vec<TunedWeight>,
    /// Their scores, by set of judgments.
    pub sets: Vec<HeldOut>,
    /// Whether the learned weights were accepted: those learned from the other benchmarks carry over to every benchmark that was
    /// left out. Otherwise the weights stay as they were.
    pub accepted: bool,
}

/// A feature's weight, as a share of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TunedWeight {
    /// The feature.
    pub feature: String,
    /// The weight before.
    pub before: f64,
    /// The learned weight.
    pub learned: f64,
}

/// The result of a tuning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TuneReport {
    /// Hash of the learned weights.
    pub weights: String,
    /// Hash of the initial weights.
    pub started_from: String,
    /// The output file.
    pub out: PathBuf,
    /// By ranker.
    pub rankers: Vec<TunedRanker>,
}

/// What is collected of a benchmark.
pub struct PoolOptions<'a> {
    /// For which rankers.
    pub rankers: &'a [Ranker],
    /// The form that the documents are in.
    pub form: DocumentForm,
    /// Label sets that are left out.
    pub excluded: &'a [String],
    /// The systems without learned weights that join and union searches are compared with.
    pub plain: &'a [Box<dyn System + 'a>],
}

/// Adds the pools of a benchmark's queries to `pools`.
///
/// # Errors
/// [`Error::Interrupted`]; errors of answering a query.
pub fn add_pools(
    pools: &mut Pools,
    benchmark: &Benchmark,
    over: &LakeIndexOf<'_>,
    options: &PoolOptions<'_>,
    monitor: &dyn Monitor,
) -> Result<()> {
    for labelled in &benchmark.queries {
        if monitor.is_stopped() {
            return Err(Error::Interrupted);
        }
        monitor.advance(1);
        let Some(grades) = benchmark.qrels.get(&labelled.query.id) else { continue };
        let is_excluded = labelled.labels.as_ref().is_some_and(|labels| options.excluded.contains(labels));
        if is_excluded || !grades.values().any(|grade| *grade > 0) {
            continue;
        }
        let query = PoolQuery { benchmark, labelled, grades, over, options };
        for ranker in options.rankers {
            if let Some(pool) = query.pool(*ranker)? {
                pools.entry(*ranker).or_default().push(pool);
            }
        }
    }
    Ok(())
}

/// Learns the weights of every ranker that has pools, starting with `start`.
pub fn tune(pools: &Pools, start: &RankingWeights) -> (RankingWeights, Vec<TunedRanker>) {
    let mut weights = start.clone();
    let mut rankers = Vec::new();
    for (ranker, pools) in pools {
        let before = ranker.weights(start);
        let Tuned { weights: learned, held_out } = learn(pools, &before, ranker.features());
        let carries = |set: &HeldOut| set.left_out.as_ref().is_none_or(|left_out| left_out.carries);
        let accepted = !ranker.is_compared() || held_out.iter().all(carries);
        if accepted {
            ranker.set(&mut weights, &learned);
        }
        let sum: f64 = before.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let tuned = ranker.features().iter().zip(before.iter().zip(&learned)).map(|(feature, (before, learned))| {
            TunedWeight { feature: (*feature).to_string(), before: before / sum, learned: *learned }
        });
        rankers.push(TunedRanker { ranker: *ranker, weights: tuned.collect(), sets: held_out, accepted });
    }
    (weights, rankers)
}

/// A query whose pool is collected.
struct PoolQuery<'a> {
    benchmark: &'a Benchmark,
    labelled: &'a LabelledQuery,
    grades: &'a Grades,
    over: &'a LakeIndexOf<'a>,
    options: &'a PoolOptions<'a>,
}

/// Maximum number of candidates per query: more have no influence on the first twenty.
const MAX_CANDIDATES: usize = 200;

impl PoolQuery<'_> {
    fn query(&self) -> &BenchQuery {
        &self.labelled.query
    }

    /// The candidates of the query for `ranker`; `None` if the query is not for that ranker.
    fn pool(&self, ranker: Ranker) -> Result<Option<Pool>> {
        let query = self.query();
        let request = query.text.as_deref().filter(|text| !text.trim().is_empty());
        let found = match (ranker, query.task, request) {
            (Ranker::Join, Task::Join, _) => self.join()?,
            (Ranker::Union, Task::Union, _) => self.union()?,
            (Ranker::Search, Task::Search, Some(text)) if query.table.is_none() => self.search(text)?,
            (Ranker::ToJoin, Task::Join, Some(text)) | (Ranker::Otherwise, Task::Union, Some(text)) => {
                self.together(text)?
            }
            (Ranker::Utility, Task::Join | Task::Union, Some(text)) => self.utility(text)?,
            _ => return Ok(None),
        };
        let unjudged = self.benchmark.unjudged.get(&query.id);
        let judged = |id: &str| self.grades.contains_key(id) || !unjudged.is_some_and(|unjudged| unjudged.contains(id));
        let gain = |id: &str| self.grades.get(id).copied().unwrap_or(0).max(0) as f64;
        let mut found = found;
        // Relevant candidates are never cut.
        found.sort_by_key(|(id, _)| gain(id) == 0.0);
        found.truncate(MAX_CANDIDATES);
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let candidates = found
            .into_iter()
            .filter(|(id, _)| query.origin.as_ref() != Some(id))
            .map(|(id, features)| PoolCandidate { features, gain: gain(&id), judged: judged(&id) })
            .collect();
        let mut ideal: Vec<f64> = self.grades.values().filter(|grade| **grade > 0).map(|grade| *grade as f64).collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        let group = self.group()?;
        let benchmark = self.benchmark.name.clone();
        let form = match self.options.form {
            DocumentForm::Titles => String::new(),
            form => format!(" {}", form.name()),
        };
        let set = format!("{benchmark}{form} {} {}", query.task, self.labelled.group());
        let mut plain = Vec::new();
        for system in self.options.plain.iter().filter(|system| ranker.is_compared() && system.answers(query)) {
            let ranked = system.rank(query, MAX_CANDIDATES)?;
            let documents = ranked.iter().map(|document| (gain(&document.id), judged(&document.id))).collect();
            plain.push(PlainRanking { system: system.name().to_string(), documents });
        }
        let set = set.trim_end().to_string();
        Ok(Some(Pool { query: query.id.clone(), benchmark, set, group, candidates, ideal, plain }))
    }

    /// The key of the query's group: the header of its table; without a table, its best document.
    fn group(&self) -> Result<String> {
        if self.query().table.is_some() {
            let table = self.table()?;
            let mut header: Vec<String> =
                table.columns.iter().map(|column| column.profile.name.trim().to_lowercase()).collect();
            header.sort_unstable();
            return Ok(header.join("\u{1f}"));
        }
        let best = self.grades.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        Ok(best.map(|(id, _)| id.clone()).unwrap_or_default())
    }

    fn table(&self) -> Result<QueryTable> {
        self.over.query_table(self.query())
    }

    fn join(&self) -> Result<Vec<(String, Vec<f64>)>> {
        let table = self.table()?;
        let column = self.query().column.as_ref().map(|name| table.column(name)).transpose()?;
        let options = JoinOptions { column, ..JoinOptions::new(MAX_CANDIDATES) };
        let index = self.over.index();
        // A table's best match may be any of its columns.
        let mut ways: BTreeMap<TableRef, Vec<f64>> = BTreeMap::new();
        for candidate in join::candidates_with_features(index, &table, &options)? {
            let features = candidate.features.values().into_iter().map(|value| value * candidate.weight);
            ways.entry(candidate.table).or_default().extend(features);
        }
        ways.into_iter().map(|(table, features)| Ok((index.id(table)?.to_string(), features))).collect()
    }

    fn union(&self) -> Result<Vec<(String, Vec<f64>)>> {
        let pool = union::candidates_with_features(self.over.index(), &self.table()?)?;
        Ok(pool.into_iter().map(|(id, features)| (id, features.values())).collect())
    }

    fn search(&self, text: &str) -> Result<Vec<(String, Vec<f64>)>> {
        let options = SearchOptions::new(MAX_CANDIDATES);
        let pool = text_search::candidates_with_features(self.over.index(), self.over.embedder(), text, &options)?;
        Ok(pool.into_iter().map(|(id, features)| (id, features.values())).collect())
    }

    /// The scores of the three searches, for a query with a table and text.
    fn together(&self, text: &str) -> Result<Vec<(String, Vec<f64>)>> {
        let table = self.table()?;
        let column = self.query().column.as_ref().map(|name| table.column(name)).transpose()?;
        let texts = [(text, 1.0)];
        let request =
            TextRequest { texts: &texts, searched: &[], proposed: &[], supported: &[], depth: MAX_CANDIDATES };
        let table = TableRequest { query: &table, column, depth: MAX_CANDIDATES };
        let (index, lake, weights): (_, &Path, _) = (self.over.index(), self.over.lake(), self.over.weights());
        let (texts, table) = find(index, lake, self.over.embedder(), (&request, Some(table)), weights)?;
        let found = candidates(index, (&texts, table.as_ref()), (&[], &Grains::default()), weights)?;
        let features = |candidate: &Candidate| {
            let join = candidate.join.as_ref().map_or(0.0, |answer| answer.score);
            let union = candidate.union.as_ref().map_or(0.0, |answer| answer.score);
            vec![candidate.relevance.by_words, join, union]
        };
        Ok(found.iter().map(|candidate| (candidate.dataset.id().to_string(), features(candidate))).collect())
    }

    /// Rel, Int and Opt of every table, for each operation.
    fn utility(&self, text: &str) -> Result<Vec<(String, Vec<f64>)>> {
        let query = self.query();
        let table = query.table.as_ref().map(|path| path.to_string_lossy().into_owned());
        let request = Request { text: text.to_string(), table, column: query.column.clone(), k: MAX_CANDIDATES };
        let weighed = self.over.agent(self.over.weights())?.weigh(&request)?;
        let ways = |utilities: &[Utility]| {
            utilities.iter().flat_map(|utility| [utility.relevance, utility.intention, utility.operation]).collect()
        };
        Ok(weighed.into_iter().map(|(id, utilities)| (id, ways(&utilities))).collect())
    }
}
