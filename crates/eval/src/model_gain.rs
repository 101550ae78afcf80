//! What a language model adds to the computed results: its order of candidates on judged queries, mixed in with several weights,
//! one of them learned.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::benchmark::{Benchmark, Grades, LabelledQuery, Task};
use super::compare::{PairedDifference, paired_bootstrap};
use super::lakeward_system::LakeIndexOf;
use super::metrics;
use lakeward_agent::agentic::card::{Card, Found};
use lakeward_agent::agentic::listwise::{self, Asked, Order};
use lakeward_agent::model;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Monitor;
use lakeward_core::request::{Intention, Label, OperationKind};
use lakeward_index::LakeIndex;
use lakeward_models::llm::{LanguageModel, Spent};
use lakeward_search::{JoinOptions, QueryTable, SearchOptions, UnionOptions, join, text_search, union};

/// Fixed weights that are always reported.
const REPORTED: [f64; 4] = [0.0, 0.3, 0.5, 1.0];
/// Steps of the grid that a weight is learned on.
const GRID: usize = 20;
/// Folds of the cross-validation of the learned weight.
const FOLDS: usize = 5;

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub struct VoiceOptions {
    /// Number of queries per group, sampled by the seed.
    pub queries: usize,
    /// Candidates that the model orders.
    pub candidates: usize,
    /// Depth of nDCG.
    pub k: usize,
    /// Seed of the sample and of the bootstrap.
    pub seed: u64,
}

/// Scores with one weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VoiceScore {
    /// The weight, 0..=1.
    pub voice: f64,
    /// nDCG at the requested depth.
    pub ndcg: f64,
    /// MRR over the candidates.
    pub reciprocal_rank: f64,
}

/// The model's orders of candidates of one group of queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OrderScores {
    /// Task, label set and style.
    pub group: String,
    /// Number of queries.
    pub queries: u64,
    /// Queries with a valid answer; the others keep the computed order.
    pub answered: u64,
    /// Mean of Kendall's τ between the model's order and the computed one, over the valid answers.
    pub agreement: f64,
    /// Scores with fixed weights, 0 first.
    pub fixed: Vec<VoiceScore>,
    /// Scores of the model's order alone, without the computed scores.
    pub alone: VoiceScore,
    /// The weight learned on all queries, with cross-validated scores.
    pub learned: VoiceScore,
    /// nDCG with the learned weight minus nDCG with 0.
    pub gain: PairedDifference,
}

/// What `eval --voice` reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VoiceReport {
    /// The program's version.
    pub lakeward: String,
    /// Name of the benchmark.
    pub benchmark: String,
    /// Model and server.
    pub model: String,
    /// Number of candidates that it orders.
    pub candidates: u64,
    /// Depth of nDCG.
    pub k: usize,
    /// Orders, by group.
    pub orders: Vec<OrderScores>,
    /// Total usage of the model.
    pub spent: Spent,
    /// The longest prompt, in tokens.
    pub longest_question: u64,
}

/// A query with its computed and the model's order.
struct Asking {
    /// Ids and scores as computed, best first.
    computed: Vec<(String, f64)>,
    order: Option<Order>,
    grades: Grades,
}

/// Evaluates the models made by `ask` (each with fresh limits) on `benchmark`.
///
/// # Errors
/// [`Error::Interrupted`] if `monitor` is stopped; [`Error::Usage`] for a benchmark without a usable query. A query that Lakeward
/// cannot answer is skipped.
pub fn measure<'m>(
    benchmark: &Benchmark,
    over: Option<&LakeIndexOf<'_>>,
    options: &VoiceOptions,
    ask: &dyn Fn() -> LanguageModel<'m>,
    monitor: &dyn Monitor,
) -> Result<VoiceReport> {
    let mut cost = Cost::default();
    let mut orders = Vec::new();
    let is_ranking = |task: Task| matches!(task, Task::Join | Task::Union | Task::Search);
    for (group, queries) in sampled(benchmark, options, &is_ranking) {
        let Some(over) = over else { continue };
        let mut askings = Vec::new();
        for labelled in queries {
            if monitor.is_stopped() {
                return Err(Error::Interrupted);
            }
            let model = ask();
            let grades = benchmark.qrels.get(&labelled.query.id).cloned().unwrap_or_default();
            if let Some(asking) = ordered(over, labelled, grades, (options.candidates, options.k), &model)? {
                askings.push(asking);
            }
            cost.add(&model);
        }
        orders.extend(order_scores(&group, &askings, options));
    }
    if orders.is_empty() {
        return Err(Error::Usage(format!("`{}` has no query that a model could be measured on", benchmark.name)));
    }
    Ok(VoiceReport {
        lakeward: env!("CARGO_PKG_VERSION").into(),
        benchmark: benchmark.name.clone(),
        model: ask().id().to_string(),
        candidates: options.candidates as u64,
        k: options.k,
        orders,
        spent: cost.spent,
        longest_question: cost.longest,
    })
}

#[derive(Default)]
struct Cost {
    spent: Spent,
    longest: u64,
}

impl Cost {
    fn add(&mut self, model: &LanguageModel<'_>) {
        self.spent.add(model.spent());
        let longest = model.calls().iter().map(|call| call.usage.prompt_tokens).max().unwrap_or(0);
        self.longest = self.longest.max(longest);
    }
}

/// The sampled queries of each group, in the order of the benchmark; only those that can be scored.
fn sampled<'b>(
    benchmark: &'b Benchmark,
    options: &VoiceOptions,
    is_selected: &dyn Fn(Task) -> bool,
) -> BTreeMap<String, Vec<&'b LabelledQuery>> {
    let mut groups: BTreeMap<String, Vec<(usize, &LabelledQuery)>> = BTreeMap::new();
    for (place, labelled) in
        benchmark.queries.iter().enumerate().filter(|(_, labelled)| is_selected(labelled.query.task))
    {
        let scorable = benchmark.qrels.get(&labelled.query.id).is_some_and(metrics::is_scorable);
        if scorable {
            let group = format!("{} {}", labelled.query.task, labelled.group()).trim().to_string();
            groups.entry(group).or_default().push((place, labelled));
        }
    }
    let chosen = |mut queries: Vec<(usize, &'b LabelledQuery)>| {
        queries.sort_by_cached_key(|(_, labelled)| {
            *blake3::hash(format!("{}\0{}", options.seed, labelled.query.id).as_bytes()).as_bytes()
        });
        queries.truncate(options.queries);
        queries.sort_by_key(|(place, _)| *place);
        queries.into_iter().map(|(_, labelled)| labelled).collect()
    };
    groups.into_iter().map(|(group, queries)| (group, chosen(queries))).collect()
}

/// The tables of a query as computed, at least `depth` of them, and the model's order of the first `count`; `None` without
/// tables.
fn ordered(
    over: &LakeIndexOf<'_>,
    labelled: &LabelledQuery,
    grades: Grades,
    (count, depth): (usize, usize),
    model: &LanguageModel<'_>,
) -> Result<Option<Asking>> {
    let query = &labelled.query;
    let (index, weights) = (over.index(), over.weights());
    let k = depth.max(count) + usize::from(query.origin.is_some());
    let is_other = |id: &str| query.origin.as_deref() != Some(id);
    let text = query.text.clone().unwrap_or_default();
    let mut computed: Vec<(String, f64)> = Vec::new();
    let mut cards: Vec<Card> = Vec::new();
    let mut add = |index: &LakeIndex, id: &str, score: f64, found: Found<'_>| -> Result<()> {
        if is_other(id) {
            if cards.len() < count {
                cards.push(Card::of(&index.dataset(index.find(id)?)?, found));
            }
            computed.push((id.to_string(), score));
        }
        Ok(())
    };
    let (prompt, operation, intention): (String, OperationKind, Intention);
    let table: Option<QueryTable>;
    match query.task {
        Task::Join if query.columns.is_empty() => {
            let opened = over.query_table(query)?;
            let column = query.column.as_ref().map(|name| opened.column(name)).transpose()?;
            for answer in join::search(index, &opened, &JoinOptions { k, column, weights })? {
                add(index, &answer.table, answer.score, Found { join: Some(&answer), ..Found::default() })?;
            }
            let on = query.column.as_ref().map(|name| format!(" on its column {name}")).unwrap_or_default();
            prompt = format!("Find tables to join with the table at hand{on}. {text}");
            (table, operation, intention) = (Some(opened), OperationKind::Join, Intention::Integration);
        }
        Task::Union => {
            let opened = over.query_table(query)?;
            let options = UnionOptions { k, count_rows: false, weights };
            for answer in union::search(index, over.lake(), &opened, &options)? {
                add(index, &answer.table, answer.score, Found { union: Some(&answer), ..Found::default() })?;
            }
            prompt = format!("Find tables whose rows can be appended to the table at hand. {text}");
            (table, operation, intention) = (Some(opened), OperationKind::Union, Intention::Integration);
        }
        Task::Search => {
            let options = SearchOptions { k, weights };
            for answer in text_search::search(index, over.embedder(), &text, &options)? {
                add(index, &answer.table, answer.score, Found { search: Some(&answer), ..Found::default() })?;
            }
            prompt = text;
            (table, operation, intention) = (None, OperationKind::Filter, Intention::Exploration);
        }
        _ => return Ok(None),
    }
    if cards.is_empty() {
        return Ok(None);
    }
    let asked = Asked {
        request: prompt.trim(),
        operation: operation.name(),
        intention: intention.name(),
        specification: json!({}),
        table: model::table_at_hand(table.as_ref()),
    };
    let order = if cards.len() > 1 { listwise::order(model, &asked, &cards).ok() } else { None };
    Ok(Some(Asking { computed, order, grades }))
}

impl Asking {
    /// nDCG and reciprocal rank of the candidates in the order `places`, followed by the other tables in computed order.
    fn score(&self, places: &[usize], k: usize) -> (f64, f64) {
        let all = places.iter().copied().chain(places.len()..self.computed.len());
        let ranking: Vec<&str> = all.map(|place| self.computed[place].0.as_str()).collect();
        let scores = metrics::score(&ranking, &self.grades, k);
        (scores.at(k).ndcg, scores.reciprocal_rank)
    }

    fn with(&self, voice: f64, k: usize) -> (f64, f64) {
        let scores: Vec<f64> = self.computed.iter().map(|(_, score)| *score).collect();
        match &self.order {
            Some(order) => self.score(&order.fused(&scores[..scores.len().min(order.places.len())], voice), k),
            None => self.score(&[], k),
        }
    }

    fn alone(&self, k: usize) -> (f64, f64) {
        match &self.order {
            Some(order) => self.score(&order.places, k),
            None => self.with(0.0, k),
        }
    }
}

fn mean(voice: f64, scores: &[(f64, f64)]) -> VoiceScore {
    let count = scores.len().max(1) as f64;
    VoiceScore {
        voice,
        ndcg: scores.iter().map(|(ndcg, _)| ndcg).sum::<f64>() / count,
        reciprocal_rank: scores.iter().map(|(_, rank)| rank).sum::<f64>() / count,
    }
}

/// The smallest weight of the grid with the greatest mean nDCG over the queries that `is_in`.
fn best_voice(grid: &[Vec<(f64, f64)>], is_in: &dyn Fn(usize) -> bool) -> usize {
    let total = |scores: &Vec<(f64, f64)>| -> f64 {
        scores.iter().enumerate().filter(|(place, _)| is_in(*place)).map(|(_, (ndcg, _))| ndcg).sum()
    };
    let mut best = (0, f64::NEG_INFINITY);
    for (at, scores) in grid.iter().enumerate() {
        let total = total(scores);
        if total > best.1 + 1e-9 {
            best = (at, total);
        }
    }
    best.0
}

fn order_scores(group: &str, askings: &[Asking], options: &VoiceOptions) -> Option<OrderScores> {
    let k = options.k;
    let with = |voice: f64| -> Vec<(f64, f64)> { askings.iter().map(|asking| asking.with(voice, k)).collect() };
    let weight = |at: usize| at as f64 / GRID as f64;
    let grid: Vec<Vec<(f64, f64)>> = (0..=GRID).map(|at| with(weight(at))).collect();
    let held_out: Vec<(f64, f64)> = (0..askings.len())
        .map(|place| grid[best_voice(&grid, &|other| other % FOLDS != place % FOLDS)][place])
        .collect();
    let learned = best_voice(&grid, &|_| true);
    let differences: Vec<f64> = held_out.iter().zip(&grid[0]).map(|(with, without)| with.0 - without.0).collect();
    let valid: Vec<&Order> = askings.iter().filter_map(|asking| asking.order.as_ref()).collect();
    let alone: Vec<(f64, f64)> = askings.iter().map(|asking| asking.alone(k)).collect();
    Some(OrderScores {
        group: group.to_string(),
        queries: askings.len() as u64,
        answered: valid.len() as u64,
        agreement: valid.iter().map(|order| order.agreement()).sum::<f64>() / valid.len().max(1) as f64,
        fixed: REPORTED.into_iter().map(|voice| mean(voice, &with(voice))).collect(),
        alone: mean(1.0, &alone),
        learned: mean(weight(learned), &held_out),
        gain: paired_bootstrap(&differences, options.seed)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve tables; the second one is relevant.
    fn asking(first: [usize; 2]) -> Asking {
        let computed = (0..12).map(|place| (format!("t{place}"), 0.9 - 0.01 * f64::from(place))).collect();
        let order = Order { places: first.into_iter().chain(2..12).collect(), named: 12 };
        Asking { computed, order: Some(order), grades: [("t1".to_string(), 1)].into_iter().collect() }
    }

    #[test]
    fn a_useful_voice_is_learned_and_a_redundant_one_is_not() {
        let options = VoiceOptions { queries: 10, candidates: 12, k: 10, seed: 1 };
        let helps: Vec<Asking> = (0..10).map(|_| asking([1, 0])).collect();
        let scores = order_scores("g", &helps, &options).unwrap();
        assert_eq!((scores.fixed[0].reciprocal_rank, scores.learned.reciprocal_rank), (0.5, 1.0));
        assert!(scores.learned.voice > 0.0 && scores.gain.low > 0.0 && scores.alone.ndcg == 1.0);
        let same: Vec<Asking> = (0..10).map(|_| asking([0, 1])).collect();
        let scores = order_scores("g", &same, &options).unwrap();
        assert_eq!((scores.learned.voice, scores.gain.mean), (0.0, 0.0));
    }
}
