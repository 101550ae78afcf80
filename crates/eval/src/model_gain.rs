//! What a language model adds to the computed results: its order of candidates on judged queries, mixed in with several weights, one of them
//! as far as it is trusted.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::benchmark::{Benchmark, Grades, LabelledQuery, Task};
use super::compare::{PairedDifference, paired_bootstrap};
use super::lakeward_system::LakeIndexOf;
use super::metrics;
use super::stand_in::StandIn;
use super::task_search::GraphOf;
use lakeward_agent::agentic::card::{Card, Found};
use lakeward_agent::agentic::listwise::{self, OrderRequest};
use lakeward_agent::model;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Monitor;
use lakeward_core::request::{Intention, Label, OperationKind};
use lakeward_index::LakeIndex;
use lakeward_models::llm::config::Share;
use lakeward_models::llm::listwise::Order;
use lakeward_models::llm::{LanguageModel, Spent};
use lakeward_search::{JoinOptions, QueryTable, SearchOptions, UnionOptions, join, text_search, union};
use lakeward_tasks::task_graph::model_order;

/// Weights that are always reported.
const REPORTED: [f64; 6] = [0.0, 0.1, 0.3, 0.5, 0.7, 1.0];

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub struct VoiceOptions {
    /// Number of queries per group, sampled by the seed.
    pub queries: usize,
    /// Candidates that the model orders.
    pub candidates: usize,
    /// The weight of its order, 0..=1; none where it was not measured.
    pub weight: Option<f64>,
    /// Whether it may see values.
    pub share: Share,
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
    /// Scores with fixed weights: 0 first, the computed order; 1 last, the model's order alone.
    pub fixed: Vec<VoiceScore>,
    /// Scores with the weight that the model has: measured, set, or as before it is measured.
    pub trusted: VoiceScore,
    /// Scores with the weights that its orders have before it is measured; the mean weight.
    pub unmeasured: VoiceScore,
    /// nDCG with that weight minus nDCG of the computed order.
    pub gain: PairedDifference,
    /// That gain as a share of what the model's order alone gains; none where that gains nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered: Option<f64>,
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
    /// The weight that the model has, 0..=1; none where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
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

/// Evaluates the models made by `ask` (each with fresh limits) on `benchmark`; searches by task go over `graph`. A stand-in is told what is
/// relevant.
///
/// # Errors
/// [`Error::Interrupted`] if `monitor` is stopped; [`Error::Usage`] for a benchmark without a usable query. A query that Lakeward
/// cannot answer is skipped.
pub fn measure<'m>(
    benchmark: &Benchmark,
    (over, graph): (&LakeIndexOf<'_>, Option<&GraphOf<'_>>),
    options: &VoiceOptions,
    (ask, stand_in): (&dyn Fn() -> LanguageModel<'m>, Option<&StandIn>),
    monitor: &dyn Monitor,
) -> Result<VoiceReport> {
    let mut cost = Cost::default();
    let mut orders = Vec::new();
    let is_ranking = |task: Task| {
        matches!(task, Task::Join | Task::Union | Task::Search) || (task == Task::TaskSearch && graph.is_some())
    };
    for (group, queries) in sampled(benchmark, options, &is_ranking) {
        let mut askings = Vec::new();
        for labelled in queries {
            if monitor.is_stopped() {
                return Err(Error::Interrupted);
            }
            let model = ask();
            let grades = benchmark.qrels.get(&labelled.query.id).cloned().unwrap_or_default();
            let asked = Asker { model: &model, stand_in, options };
            if let Some(asking) = asked.ordered(over, graph, labelled, grades)? {
                askings.push(asking);
            }
            cost.add(&model);
        }
        orders.extend(order_scores(&group, &askings, options));
    }
    if orders.is_empty() {
        return Err(Error::usage(format!("`{}` has no query that a model could be measured on", benchmark.name)));
    }
    Ok(VoiceReport {
        lakeward: env!("CARGO_PKG_VERSION").into(),
        benchmark: benchmark.name.clone(),
        model: ask().id().to_string(),
        candidates: options.candidates as u64,
        weight: options.weight,
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

/// Who is asked for an order, and for how much of it.
struct Asker<'a> {
    model: &'a LanguageModel<'a>,
    stand_in: Option<&'a StandIn>,
    options: &'a VoiceOptions,
}

impl Asker<'_> {
    fn tell(&self, request: &str, computed: &[(String, f64)], grades: &Grades) {
        let Some(stand_in) = self.stand_in else { return };
        let first = &computed[..computed.len().min(self.options.candidates)];
        let grades: Vec<f64> =
            first.iter().map(|(id, _)| grades.get(id).copied().map_or(0.0, |grade| grade.max(0) as f64)).collect();
        stand_in.knows(request, &grades);
    }

    /// The tables of a query as computed, and the model's order of the first; `None` without tables.
    fn ordered(
        &self,
        over: &LakeIndexOf<'_>,
        graph: Option<&GraphOf<'_>>,
        labelled: &LabelledQuery,
        grades: Grades,
    ) -> Result<Option<Asking>> {
        let query = &labelled.query;
        let VoiceOptions { candidates: count, k: depth, share, .. } = *self.options;
        let (index, weights) = (over.index(), over.weights());
        let k = depth.max(count) + usize::from(query.origin.is_some());
        let is_other = |id: &str| query.origin.as_deref() != Some(id);
        let text = query.text.clone().unwrap_or_default();
        let mut computed: Vec<(String, f64)> = Vec::new();
        let mut cards: Vec<Card> = Vec::new();
        let mut add = |index: &LakeIndex, id: &str, score: f64, found: Found<'_>| -> Result<()> {
            if is_other(id) {
                if cards.len() < count {
                    cards.push(Card::of(&index.dataset(index.find(id)?)?, found, share));
                }
                computed.push((id.to_string(), score));
            }
            Ok(())
        };
        let (prompt, operation, intention): (String, OperationKind, Intention);
        let table: Option<QueryTable>;
        match query.task {
            Task::TaskSearch => {
                let Some(graph) = graph else { return Ok(None) };
                let answers = graph.answers(query, k)?;
                let computed: Vec<(String, f64)> =
                    answers.iter().map(|answer| (answer.dataset.clone(), answer.score)).collect();
                let first = &answers[..answers.len().min(count)];
                self.tell(&text, &computed, &grades);
                let order = if first.len() > 1 { model_order(self.model, &text, first).ok() } else { None };
                return Ok((!computed.is_empty()).then_some(Asking { computed, order, grades }));
            }
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
        let asked = OrderRequest {
            request: prompt.trim(),
            earlier: &[],
            operation: operation.name(),
            intention: intention.name(),
            specification: json!({}),
            table: model::table_at_hand(table.as_ref()),
        };
        self.tell(asked.request, &computed, &grades);
        let order = if cards.len() > 1 { listwise::order(self.model, &asked, &cards).ok() } else { None };
        Ok(Some(Asking { computed, order, grades }))
    }
}

impl Asking {
    /// nDCG and reciprocal rank of the candidates in the order `places`, followed by the other tables in computed order.
    fn score(&self, places: &[usize], k: usize) -> (f64, f64) {
        let all = places.iter().copied().chain(places.len()..self.computed.len());
        let ranking: Vec<&str> = all.map(|place| self.computed[place].0.as_str()).collect();
        let scores = metrics::score(&ranking, &self.grades, k);
        (scores.at(k).ndcg, scores.reciprocal_rank)
    }

    /// The weight of its order by a model that was `measured`, or was not.
    fn weight(&self, measured: Option<f64>) -> f64 {
        self.order.as_ref().map_or(0.0, |order| order.weight(measured))
    }

    fn with(&self, voice: f64, k: usize) -> (f64, f64) {
        let scores: Vec<f64> = self.computed.iter().map(|(_, score)| *score).collect();
        match &self.order {
            Some(order) => self.score(&order.fused(&scores[..scores.len().min(order.places.len())], voice), k),
            None => self.score(&[], k),
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

fn order_scores(group: &str, askings: &[Asking], options: &VoiceOptions) -> Option<OrderScores> {
    let with = |voice: &dyn Fn(&Asking) -> f64| -> Vec<(f64, f64)> {
        askings.iter().map(|asking| asking.with(voice(asking), options.k)).collect()
    };
    let weighted = |measured: Option<f64>| {
        let weights = askings.iter().map(|asking| asking.weight(measured)).sum::<f64>();
        (weights / askings.len().max(1) as f64, with(&|asking| asking.weight(measured)))
    };
    let (computed, (weight, trusted), unmeasured) = (with(&|_| 0.0), weighted(options.weight), weighted(None));
    let differences: Vec<f64> = trusted.iter().zip(&computed).map(|(with, without)| with.0 - without.0).collect();
    let fixed: Vec<VoiceScore> = REPORTED.into_iter().map(|voice| mean(voice, &with(&|_| voice))).collect();
    let trusted = mean(weight, &trusted);
    let alone = fixed[fixed.len() - 1].ndcg - fixed[0].ndcg;
    Some(OrderScores {
        group: group.to_string(),
        queries: askings.len() as u64,
        answered: askings.iter().filter(|asking| asking.order.is_some()).count() as u64,
        recovered: (alone > 0.0).then(|| (trusted.ndcg - fixed[0].ndcg) / alone),
        fixed,
        trusted,
        unmeasured: mean(unmeasured.0, &unmeasured.1),
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
    fn what_a_trusted_order_gains_is_said_as_a_share_of_what_it_knows() {
        let mut options =
            VoiceOptions { queries: 10, candidates: 12, weight: Some(1.0), share: Share::Values, k: 10, seed: 1 };
        let helps: Vec<Asking> = (0..10).map(|_| asking([1, 0])).collect();
        let scores = order_scores("g", &helps, &options).unwrap();
        assert_eq!((scores.fixed[0].reciprocal_rank, scores.trusted.reciprocal_rank), (0.5, 1.0));
        assert!(scores.recovered == Some(1.0) && scores.gain.low > 0.0);
        options.weight = Some(0.0);
        let scores = order_scores("g", &helps, &options).unwrap();
        assert_eq!((scores.recovered, scores.gain.mean), (Some(0.0), 0.0));
        let same: Vec<Asking> = (0..10).map(|_| asking([0, 1])).collect();
        assert_eq!(order_scores("g", &same, &options).unwrap().recovered, None);
    }
}
