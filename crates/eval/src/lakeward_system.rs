//! Lakeward as a [`System`]: its index over the benchmark's lake, queried as a user would; and its ablations, each with one feature
//! of a ranking set to weight 0.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::benchmark::{BenchQuery, Task};
use super::system::{Ranked, System};
use super::variant::system::VariantModel;
use super::variant::work::Work;
use lakeward_agent::config::Config;
use lakeward_agent::session::{Session, SessionStore};
use lakeward_agent::{Agent, Request};
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_core::monitor::Monitor;
use lakeward_index::LakeIndex;
use lakeward_index::build::{self, BuildOptions, BuildStats};
use lakeward_index::manifest::Manifest;
use lakeward_models::embed::Embedder;
use lakeward_models::llm::Spent;
use lakeward_reading::catalogue::CatalogueWords;
use lakeward_search::{
    CompositeOptions, JoinOptions, QueryTable, RankingWeights, SearchAnswer, SearchOptions, UnionOptions,
};
use lakeward_search::{composite, join, text_search, union};

/// Its name; ablations append [`WITHOUT`] and the feature.
pub const NAME: &str = "lakeward";
/// Between the name and the ablated feature.
pub const WITHOUT: &str = "-no-";
/// The rankers whose features can be ablated, by their names in the weights file.
const RANKERS: [&str; 3] = ["join", "union", "search"];

/// An index over the documents of a benchmark.
pub struct LakeIndexOf<'a> {
    lake: PathBuf,
    index: LakeIndex,
    words: Arc<CatalogueWords>,
    embedder: &'a dyn Embedder,
    weights: RankingWeights,
    /// Statistics of the build.
    pub stats: BuildStats,
    /// Temporary folders, removed on drop.
    _places: Vec<tempfile::TempDir>,
}

/// What to index, and where.
pub struct IndexPlan<'a> {
    /// The folder of tables; without it, the records are the documents.
    pub lake: Option<&'a Path>,
    /// Records about the tables, or the documents.
    pub records: Option<&'a Path>,
    /// The folder of the index; a temporary one without it.
    pub folder: Option<&'a Path>,
    /// The weights to rank with.
    pub weights: RankingWeights,
}

impl<'a> LakeIndexOf<'a> {
    /// Indexes the documents; an existing index in a given folder is updated.
    ///
    /// # Errors
    /// Those of [`build::build`]; [`Error::Interrupted`] if the monitor was stopped: a partial index is not evaluated.
    pub fn build(plan: &IndexPlan<'_>, embedder: &'a dyn Embedder, monitor: &dyn Monitor) -> Result<Self> {
        let mut places = Vec::new();
        let mut or_temporary = |given: Option<&Path>| match given {
            Some(folder) => Ok(folder.to_path_buf()),
            None => {
                let place =
                    tempfile::tempdir().map_err(|error| Error::io("make a folder in", &std::env::temp_dir(), error))?;
                let path = place.path().to_path_buf();
                places.push(place);
                Ok::<PathBuf, Error>(path)
            }
        };
        let lake = or_temporary(plan.lake)?;
        let folder = or_temporary(plan.folder)?;
        let mut options = BuildOptions { records: plan.records.map(Path::to_path_buf), ..BuildOptions::default() };
        let mut stats = build::build(&lake, &folder, embedder, &options, monitor)?;
        if plan.records.is_none() && !Manifest::read(&folder)?.records.is_empty() {
            // The existing index contains records that must not be shown.
            options.rebuild = true;
            stats = build::build(&lake, &folder, embedder, &options, monitor)?;
        }
        if stats.unread > 0 {
            return Err(Error::Interrupted);
        }
        let index = LakeIndex::open(&folder, embedder.id())?;
        let words = Arc::default();
        Ok(Self { lake, index, words, embedder, weights: plan.weights.clone(), stats, _places: places })
    }

    /// The folder of the tables.
    pub fn lake(&self) -> &Path {
        &self.lake
    }

    /// The index itself.
    pub fn index(&self) -> &LakeIndex {
        &self.index
    }

    /// The ranking weights.
    pub fn weights(&self) -> &RankingWeights {
        &self.weights
    }

    /// The model that made its vectors.
    pub fn embedder(&self) -> &'a dyn Embedder {
        self.embedder
    }

    /// Reads the table of a query.
    ///
    /// # Errors
    /// [`Error::Usage`] for a query without a table; errors of reading it.
    pub fn query_table(&self, query: &BenchQuery) -> Result<QueryTable> {
        let path = query.table.as_ref().ok_or_else(|| Error::usage(format!("query `{}` has no table", query.id)))?;
        let origin = query.origin.as_ref().map(|id| self.index.get(id)).transpose()?.flatten();
        QueryTable::read(path, origin, self.embedder)
    }

    /// An agent over it that ranks by `weights`, with the default settings.
    ///
    /// # Errors
    /// [`Error::Usage`] if α, β, γ are invalid.
    pub fn agent(&self, weights: &RankingWeights) -> Result<Agent<'_>> {
        let unused = SessionStore::new(Path::new("unused"));
        let config = Config::ranking_by(weights.clone())?;
        Ok(Agent::new(&self.lake, &self.index, self.embedder, config, unused).with_words(Arc::clone(&self.words)))
    }
}

/// Lakeward, complete or ablated.
pub struct Lakeward<'a> {
    name: String,
    over: Rc<LakeIndexOf<'a>>,
    weights: RankingWeights,
    /// The language model used in dialogues.
    model: Option<VariantModel<'a>>,
    /// The most recent dialogue, up to its most recent turn.
    conversation: RefCell<Conversation>,
}

/// A dialogue with the session after its turns so far.
#[derive(Default)]
struct Conversation {
    query: String,
    turns: Vec<String>,
    session: Option<Session>,
}

impl<'a> Lakeward<'a> {
    /// The system of `name` ([`NAME`], or an ablation of [`ablations`]) over an index.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown name, with the nearest ones.
    pub fn named(name: &str, over: Rc<LakeIndexOf<'a>>) -> Result<Self> {
        let weights = match name.strip_prefix(NAME) {
            Some("") => over.weights.clone(),
            Some(rest) => match rest.strip_prefix(WITHOUT) {
                Some(feature) => without(&over.weights, feature)?,
                None => return Err(unknown(name, &over.weights)),
            },
            None => return Err(unknown(name, &over.weights)),
        };
        Ok(Self { name: name.to_string(), over, weights, model: None, conversation: RefCell::default() })
    }

    /// The same with a language model for dialogues.
    pub fn with_model(self, model: Option<VariantModel<'a>>) -> Self {
        Self { model, ..self }
    }
}

/// The names of all ablations of `weights`, each without one feature of one ranker: `lakeward-no-join-rarity`.
pub fn ablations(weights: &RankingWeights) -> Vec<String> {
    features(weights).into_iter().map(|(ranker, feature)| ablation(ranker, &feature)).collect()
}

fn ablation(ranker: &str, feature: &str) -> String {
    format!("{NAME}{WITHOUT}{ranker}-{}", feature.replace('_', "-"))
}

/// Ranker and feature of every weight above 0.
fn features(weights: &RankingWeights) -> Vec<(&'static str, String)> {
    let value = serde_json::to_value(weights).unwrap_or_default();
    let of = |ranker: &'static str| {
        let weighs = |weight: &Value| weight.as_f64().is_some_and(|weight| weight > 0.0);
        let fields = value[ranker].as_object().cloned().unwrap_or_default();
        fields.into_iter().filter(move |(_, weight)| weighs(weight)).map(move |(feature, _)| (ranker, feature))
    };
    RANKERS.into_iter().flat_map(of).collect()
}

/// `weights` with weight 0 for the feature `ablated` (`join-rarity`).
fn without(weights: &RankingWeights, ablated: &str) -> Result<RankingWeights> {
    let name = format!("{NAME}{WITHOUT}{ablated}");
    let found = features(weights).into_iter().find(|(ranker, feature)| ablation(ranker, feature) == name);
    let Some((ranker, feature)) = found else { return Err(unknown(&name, weights)) };
    let internal = |error: serde_json::Error| Error::Internal(error.to_string());
    let mut value = serde_json::to_value(weights).map_err(internal)?;
    value[ranker][feature.as_str()] = Value::from(0.0);
    serde_json::from_value(value).map_err(internal)
}

fn unknown(name: &str, weights: &RankingWeights) -> Error {
    let all = ablations(weights);
    let nearest = nearest_names(name, all.iter().map(String::as_str), 3);
    let near: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
    Error::usage(format!("there is no system `{name}`; did you mean {}?", near.join(", ")))
}

impl System for Lakeward<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn rank(&self, query: &BenchQuery, depth: usize) -> Result<Vec<Ranked>> {
        let k = k_of(query, depth);
        let ranking: Vec<Ranked> = match query.task {
            Task::Join => self.join(query, k)?,
            Task::Union => self.union(query, k)?,
            Task::Dialogue => self.dialogue(query, k)?.0,
            // Requests with a table are answered by the agent.
            Task::Search if query.table.is_some() => self.ask(query, k)?,
            Task::Search | Task::TaskSearch | Task::Signals => ranked(self.found(query, k)?),
        };
        let others = ranking.into_iter().filter(|ranked| query.origin.as_ref() != Some(&ranked.id));
        Ok(others.take(depth).collect())
    }

    fn rank_with_work(&self, query: &BenchQuery, depth: usize) -> Result<(Vec<Ranked>, Option<Work>)> {
        if query.task != Task::Dialogue {
            if query.task != Task::Search || query.table.is_some() {
                return Ok((self.rank(query, depth)?, None));
            }
            // A plain search stands beside the variants: one round over words and meaning.
            let mut answers = self.found(query, k_of(query, depth))?;
            answers.retain(|answer| query.origin.as_ref() != Some(&answer.table));
            answers.truncate(depth);
            let is_sourced = |answer: &SearchAnswer| answer.lexical_rank.is_some() || answer.dense_rank.is_some();
            let provenance_complete = answers.iter().all(is_sourced);
            let work = Work { iterations: 1, tool_calls: 2, provenance_complete, ..Work::default() };
            return Ok((ranked(answers), Some(work)));
        }
        let (ranking, spent) = self.dialogue(query, depth)?;
        let tokens = spent.usage.tokens();
        Ok((
            ranking,
            Some(Work { model_calls: spent.calls as u32, tokens, estimated: spent.estimated, ..Work::default() }),
        ))
    }

    fn answers(&self, query: &BenchQuery) -> bool {
        !matches!(query.task, Task::TaskSearch | Task::Signals)
    }

    fn index_bytes(&self) -> Option<u64> {
        Some(self.over.stats.index_bytes)
    }
}

impl Lakeward<'_> {
    fn join(&self, query: &BenchQuery, k: usize) -> Result<Vec<Ranked>> {
        let table = self.over.query_table(query)?;
        if !query.columns.is_empty() {
            let columns = query.columns.iter().map(|name| table.column(name)).collect::<Result<_>>()?;
            let options = CompositeOptions { k, columns, weights: &self.weights };
            let found = composite::search(&self.over.index, &self.over.lake, &table, &options)?;
            return Ok(found.answers.into_iter().map(|answer| Ranked::new(answer.table, answer.score)).collect());
        }
        let column = query.column.as_ref().map(|name| table.column(name)).transpose()?;
        let options = JoinOptions { k, column, weights: &self.weights };
        let answers = join::search(&self.over.index, &table, &options)?;
        Ok(answers.into_iter().map(|answer| Ranked::new(answer.table, answer.score)).collect())
    }

    fn union(&self, query: &BenchQuery, k: usize) -> Result<Vec<Ranked>> {
        let table = self.over.query_table(query)?;
        // Rows are not counted: the count is only displayed and does not affect the ranking.
        let options = UnionOptions { k, count_rows: false, weights: &self.weights };
        let answers = union::search(&self.over.index, &self.over.lake, &table, &options)?;
        Ok(answers.into_iter().map(|answer| Ranked::new(answer.table, answer.score)).collect())
    }

    /// What a plain search finds.
    fn found(&self, query: &BenchQuery, k: usize) -> Result<Vec<SearchAnswer>> {
        let text = query.text.as_deref().unwrap_or_default();
        let options = SearchOptions { k, weights: &self.weights };
        text_search::search(&self.over.index, self.over.embedder, text, &options)
    }

    /// The tables that the agent recommends for a request with a table.
    fn ask(&self, query: &BenchQuery, k: usize) -> Result<Vec<Ranked>> {
        let table = query.table.as_ref().map(|path| path.to_string_lossy().into_owned());
        let request = Request { text: query.text.clone().unwrap_or_default(), table, column: query.column.clone(), k };
        let answer = self.over.agent(&self.weights)?.turn(&mut Session::new("eval", "lake"), &request)?;
        Ok(answer.into_inner().tables.into_iter().map(|table| Ranked::new(table.table, table.utility.total)).collect())
    }

    /// The tables that the agent recommends after the latest turn, and the model's usage.
    fn dialogue(&self, query: &BenchQuery, k: usize) -> Result<(Vec<Ranked>, Spent)> {
        let agent = self.over.agent(&self.weights)?.with_model(self.model.map(|model| model.access));
        let mut conversation = self.conversation.borrow_mut();
        let mut known = std::mem::take(&mut *conversation);
        // The earlier turns were answered in the previous calls.
        let continues =
            known.query == query.id && query.turns.len() > known.turns.len() && query.turns.starts_with(&known.turns);
        if !continues {
            known = Conversation { query: query.id.clone(), ..Conversation::default() };
        }
        let mut session = known.session.unwrap_or_else(|| Session::new("eval", "lake"));
        let (mut latest, mut spent) = (Vec::new(), Spent::default());
        for text in &query.turns[known.turns.len()..] {
            let request = Request { text: text.clone(), table: None, column: None, k };
            let (answer, provenance) = agent.traced_turn(&mut session, &request)?;
            latest = answer.into_inner().tables;
            if let Some(used) = provenance.model {
                spent.add(used.spent);
            }
        }
        *conversation = Conversation { query: known.query, turns: query.turns.clone(), session: Some(session) };
        Ok((latest.into_iter().map(|table| Ranked::new(table.table, table.utility.total)).collect(), spent))
    }
}

/// One more, in case the query's own table is in the lake.
fn k_of(query: &BenchQuery, depth: usize) -> usize {
    depth.saturating_add(usize::from(query.origin.is_some()))
}

fn ranked(answers: Vec<SearchAnswer>) -> Vec<Ranked> {
    answers.into_iter().map(|answer| Ranked::new(answer.table, answer.score)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ablation_sets_one_weight_to_zero() {
        let weights = RankingWeights::shipped();
        let names = ablations(weights);
        assert!(names.contains(&"lakeward-no-search-about".to_string()), "{names:?}");
        for name in &names {
            let left_out = name.strip_prefix("lakeward-no-").unwrap();
            let ablated = without(weights, left_out).unwrap();
            assert_eq!(features(&ablated).len() + 1, features(weights).len(), "{name}");
        }
        let error = without(weights, "search-abou").unwrap_err().to_string();
        assert!(error.contains("`lakeward-no-search-about`"), "{error}");
    }
}
