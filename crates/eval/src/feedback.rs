//! Evaluates learning from sessions: simulated analysts ask one half of a benchmark's requests and accept a table each; the other
//! half is then asked with and without what was learned.
//!
//! A session asks its request, looks at the first ten tables, and accepts the best relevant one among them; if there is none, it
//! accepts the best relevant one overall, as an analyst who already knew it. This is the real pipeline: the agent answers, the
//! session is saved, its feedback is read from the file, and a graph is built from it. A tested request was never asked in a
//! session, nor was one with the same words. Tested requests are *about a known table* if a session has accepted a table relevant to
//! them, otherwise *about others*; the latter must not get worse.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::benchmark::{Benchmark, Grades, LabelledQuery, Task};
use super::compare::{PairedDifference, paired_bootstrap};
use super::lakeward_system::LakeIndexOf;
use super::metrics;
use super::provenance::Produced;
use lakeward_agent::Request;
use lakeward_agent::session::{FeedbackStore, RequestFeedback, Session, SessionStore, requests_with_feedback};
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Monitor;
use lakeward_core::text::content_words;
use lakeward_tasks::papers::extraction::Extraction;
use lakeward_tasks::task_graph::{self, DatasetRecord, GraphInputs, GraphOptions, TaskSource, learned};

/// Number of tables that a simulated analyst looks at.
const LOOKED_AT: usize = 10;
/// Shares of the sessions after which the tested requests are asked.
const STAGES: [f64; 3] = [0.25, 0.5, 1.0];

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub struct FeedbackOptions {
    /// Depth of nDCG.
    pub k: usize,
    /// Seed of the split into halves and of the bootstrap.
    pub seed: u64,
    /// Weight of tasks; by default the shipped one.
    pub weight: Option<f64>,
}

/// Scores of tested requests before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FeedbackScores {
    /// `known`: a session accepted a relevant table; `others`: no session did; `all`.
    pub requests: String,
    /// Number of requests.
    pub count: u64,
    /// Mean nDCG before and after learning.
    pub ndcg: [f64; 2],
    /// Its difference, paired by request.
    pub ndcg_difference: PairedDifference,
    /// Share with a relevant table first, before and after learning.
    pub hit_at_1: [f64; 2],
    /// Its difference.
    pub hit_difference: PairedDifference,
}

/// The state after some sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FeedbackStage {
    /// Sessions so far.
    pub sessions: u64,
    /// Sessions in which a relevant table was among those shown.
    pub found: u64,
    /// Learned pairs of request and table.
    pub uses: u64,
    /// By kind of tested request.
    pub scores: Vec<FeedbackScores>,
}

/// What `lakeward eval DIR --learning` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FeedbackReport {
    /// What was measured.
    #[serde(flatten)]
    pub produced: Produced,
    /// The benchmark.
    pub benchmark: String,
    /// Depth of nDCG.
    pub k: usize,
    /// The seed.
    pub seed: u64,
    /// The stages, after increasing numbers of sessions.
    pub stages: Vec<FeedbackStage>,
}

/// A request with its judgments.
struct Judged<'b> {
    text: &'b str,
    grades: &'b Grades,
}

/// Scores of one request.
#[derive(Clone, Copy)]
struct Score {
    ndcg: f64,
    hit: f64,
}

/// Evaluates on the text requests of `benchmark`.
///
/// # Errors
/// [`Error::Usage`] for a benchmark with fewer than four such requests; [`Error::Interrupted`] if `monitor` is stopped; errors of
/// answering and building.
pub fn measure(
    benchmark: &Benchmark,
    over: &LakeIndexOf<'_>,
    options: &FeedbackOptions,
    monitor: &dyn Monitor,
) -> Result<FeedbackReport> {
    let (training, tested) = halves(benchmark, options.seed)?;
    let place = tempfile::tempdir().map_err(|error| Error::io("make a folder in", &std::env::temp_dir(), error))?;
    let datasets = DatasetRecord::all(over.index())?;
    let learned = FeedbackStore::new(place.path());
    let store = SessionStore::new(place.path()).teaching(Some(learned.clone()));
    let before: Vec<Score> =
        tested.iter().map(|judged| scored(over, None, judged, options, monitor)).collect::<Result<_>>()?;
    let mut stages = Vec::new();
    let (mut sessions, mut found) = (0, 0);
    let mut accepted: BTreeSet<String> = BTreeSet::new();
    for share in STAGES {
        let until = (training.len() as f64 * share).round() as usize;
        for judged in &training[sessions..until] {
            let (table, was_shown) = session(over, &store, judged, monitor)?;
            accepted.insert(table);
            found += u64::from(was_shown);
        }
        sessions = until;
        let (uses, _) = learned.uses()?;
        let requests = requests_with_feedback(uses.iter());
        let document = |request: &RequestFeedback<'_>| learned::document(&request.words, &request.tables, request.year);
        let documents: Vec<Extraction> = requests.iter().map(document).collect();
        let inputs =
            GraphInputs { datasets: &datasets, extractions: &documents, embedder: over.embedder(), judge: None };
        let folder = place.path().join(task_graph::FOLDER);
        task_graph::build(&folder, &inputs, &GraphOptions::default())?;
        let source = TaskSource::new(&folder, over.embedder().id(), true);
        let after: Vec<Score> =
            tested.iter().map(|judged| scored(over, Some(&source), judged, options, monitor)).collect::<Result<_>>()?;
        let is_known =
            |judged: &Judged<'_>| judged.grades.iter().any(|(table, grade)| *grade > 0 && accepted.contains(table));
        let known: Vec<bool> = tested.iter().map(is_known).collect();
        let of = |name: &str, holds: &dyn Fn(bool) -> bool| {
            let pairs = before.iter().zip(&after).zip(&known).filter(|(_, known)| holds(**known));
            scores(name, pairs.map(|((before, after), _)| (*before, *after)).collect(), options.seed)
        };
        let scores = [of("known", &|known| known), of("others", &|known| !known), of("all", &|_| true)];
        stages.push(FeedbackStage {
            sessions: sessions as u64,
            found,
            uses: uses.len() as u64,
            scores: scores.into_iter().flatten().collect(),
        });
    }
    let (produced, benchmark) = (Produced::by_reader(None), benchmark.name.clone());
    Ok(FeedbackReport { produced, benchmark, k: options.k, seed: options.seed, stages })
}

/// Splits the requests into those asked in sessions and those tested: about half of each table's requests each.
fn halves(benchmark: &Benchmark, seed: u64) -> Result<(Vec<Judged<'_>>, Vec<Judged<'_>>)> {
    let mut requests: Vec<(u64, &LabelledQuery, Judged<'_>)> = benchmark
        .queries
        .iter()
        .filter(|labelled| labelled.query.task == Task::Search && labelled.query.table.is_none())
        .filter_map(|labelled| {
            let text = labelled.query.text.as_deref()?;
            let grades = benchmark.qrels.get(&labelled.query.id).filter(|grades| metrics::is_scorable(grades))?;
            Some((xxh3_64_with_seed(labelled.query.id.as_bytes(), seed), labelled, Judged { text, grades }))
        })
        .collect();
    if requests.len() < 4 {
        let what = format!("`{}` has {} judged requests in words; learning needs four", benchmark.name, requests.len());
        return Err(Error::usage(what));
    }
    requests.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.query.id.cmp(&b.1.query.id)));
    // In random order, requests about the same best table alternate between the two halves.
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut training_words: HashSet<String> = HashSet::new();
    let (mut training, mut tested): (Vec<Judged<'_>>, Vec<Judged<'_>>) = (Vec::new(), Vec::new());
    for (draw, _, judged) in requests {
        let count = counts.entry(best_table(judged.grades)).or_insert((draw % 2) as usize);
        *count += 1;
        if count.is_multiple_of(2) {
            training_words.insert(content_words(judged.text).to_lowercase());
            training.push(judged);
        } else {
            tested.push(judged);
        }
    }
    tested.retain(|judged| !training_words.contains(&content_words(judged.text).to_lowercase()));
    Ok((training, tested))
}

/// The table with the greatest grade, ties by id.
fn best_table(grades: &Grades) -> String {
    metrics::ideal_ranking(grades).first().map(ToString::to_string).unwrap_or_default()
}

/// Runs a session of one request; returns the accepted table, and whether it was among those shown.
fn session(
    over: &LakeIndexOf<'_>,
    store: &SessionStore,
    judged: &Judged<'_>,
    monitor: &dyn Monitor,
) -> Result<(String, bool)> {
    if monitor.is_stopped() {
        return Err(Error::Interrupted);
    }
    let mut session = store.create(None, "lake")?;
    let request = Request { text: judged.text.to_string(), k: LOOKED_AT, ..Request::default() };
    let answer = over.agent(over.weights())?.turn(&mut session, &request)?;
    let grade = |table: &str| judged.grades.get(table).copied().unwrap_or(0);
    let mut shown: Vec<&str> = answer.tables.iter().map(|table| table.table.as_str()).collect();
    // A stable sort: ties keep the order shown.
    shown.sort_by_key(|table| -grade(table));
    let accepted = shown.first().filter(|table| grade(table) > 0).map(ToString::to_string);
    let was_shown = accepted.is_some();
    let table = accepted.unwrap_or_else(|| best_table(judged.grades));
    session.accept(&table);
    store.save(&mut session)?;
    Ok((table, was_shown))
}

fn scored(
    over: &LakeIndexOf<'_>,
    source: Option<&TaskSource>,
    judged: &Judged<'_>,
    options: &FeedbackOptions,
    monitor: &dyn Monitor,
) -> Result<Score> {
    if monitor.is_stopped() {
        return Err(Error::Interrupted);
    }
    let mut weights = over.weights().clone();
    weights.turn.tasks = options.weight.unwrap_or(weights.turn.tasks);
    let mut agent = over.agent(&weights)?;
    if let Some(source) = source {
        agent = agent.with_tasks(source);
    }
    let request = Request { text: judged.text.to_string(), k: options.k, ..Request::default() };
    let answer = agent.turn(&mut Session::new("eval", "lake"), &request)?;
    let ranking: Vec<&str> = answer.tables.iter().map(|table| table.table.as_str()).collect();
    let scores = metrics::score(&ranking, judged.grades, options.k);
    let at = |depth: usize| scores.at.get(&depth).copied().unwrap_or_default();
    Ok(Score { ndcg: at(options.k).ndcg, hit: at(1).hit })
}

fn scores(name: &str, pairs: Vec<(Score, Score)>, seed: u64) -> Option<FeedbackScores> {
    let count = pairs.len();
    let mean = |of: &dyn Fn(&(Score, Score)) -> f64| pairs.iter().map(of).sum::<f64>() / count as f64;
    let difference = |of: &dyn Fn(&Score) -> f64| {
        let all: Vec<f64> = pairs.iter().map(|(before, after)| of(after) - of(before)).collect();
        paired_bootstrap(&all, seed)
    };
    Some(FeedbackScores {
        requests: name.to_string(),
        count: count as u64,
        ndcg_difference: difference(&|score| score.ndcg)?,
        hit_difference: difference(&|score| score.hit)?,
        ndcg: [mean(&|(before, _)| before.ndcg), mean(&|(_, after)| after.ndcg)],
        hit_at_1: [mean(&|(before, _)| before.hit), mean(&|(_, after)| after.hit)],
    })
}
