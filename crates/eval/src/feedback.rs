//! What learning from sessions is worth: simulated analysts ask one half of a benchmark's requests and take a table each, the other
//! half is then asked with what that has taught and without it.
//!
//! A session asks its request, looks at the first ten tables, and accepts the best relevant one among them; where there is none, it
//! accepts the best relevant one, which its analyst knew anyway. All of it goes the way of real sessions: the agent answers, the
//! session is saved, what it teaches is read from the file, a graph is built of it. A request that is tested was never asked in a
//! session, nor one of the same words. Tested requests are *about a known table* where a session has accepted a table relevant to
//! them, else *about others*: those must not be harmed.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::benchmark::{Benchmark, Grades, LabelledQuery, Task};
use super::compare::{PairedDifference, paired_bootstrap};
use super::lakeward_system::LakeIndexOf;
use super::metrics;
use lakeward_agent::Request;
use lakeward_agent::session::{FeedbackStore, RequestFeedback, Session, SessionStore, requests_with_feedback};
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Monitor;
use lakeward_reading::signals::content_words;
use lakeward_tasks::papers::extraction::Extraction;
use lakeward_tasks::task_graph::{self, DatasetRecord, GraphInputs, GraphOptions, TaskSource, learned};

/// Tables that a simulated analyst looks at.
const LOOKED_AT: usize = 10;
/// Sessions after which the tested requests are asked, as shares of all.
const STAGES: [f64; 3] = [0.25, 0.5, 1.0];

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub struct FeedbackOptions {
    /// Depth of nDCG.
    pub k: usize,
    /// Halves the requests and resamples.
    pub seed: u64,
    /// How much tasks count; as shipped without it.
    pub weight: Option<f64>,
}

/// Scores of tested requests before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FeedbackScores {
    /// `known`: a session accepted a relevant table; `others`: none did; `all`.
    pub requests: String,
    /// How many.
    pub count: u64,
    /// Mean nDCG without what was learned, and with it.
    pub ndcg: [f64; 2],
    /// Its difference, paired by request.
    pub ndcg_difference: PairedDifference,
    /// Share with a relevant table first, without what was learned and with it.
    pub hit_at_1: [f64; 2],
    /// Its difference.
    pub hit_difference: PairedDifference,
}

/// The state after some sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FeedbackStage {
    /// Sessions so far.
    pub sessions: u64,
    /// Of them, those whose analyst found a relevant table among those shown.
    pub found: u64,
    /// Pairs of request and table learned.
    pub uses: u64,
    /// By kind of tested request.
    pub scores: Vec<FeedbackScores>,
}

/// What `lakeward eval DIR --learning` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FeedbackReport {
    /// The benchmark.
    pub benchmark: String,
    /// Depth of nDCG.
    pub k: usize,
    /// The seed.
    pub seed: u64,
    /// After more and more sessions.
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

/// Measures on the requests in words of `benchmark`.
///
/// # Errors
/// [`Error::Usage`] for a benchmark with fewer than four such requests; [`Error::Interrupted`] once `monitor` says so; whatever asking
/// and building report.
pub fn measure(
    benchmark: &Benchmark,
    over: &LakeIndexOf<'_>,
    options: &FeedbackOptions,
    monitor: &dyn Monitor,
) -> Result<FeedbackReport> {
    let (taught, tested) = halves(benchmark, options.seed)?;
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
        let until = (taught.len() as f64 * share).round() as usize;
        for judged in &taught[sessions..until] {
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
    Ok(FeedbackReport { benchmark: benchmark.name.clone(), k: options.k, seed: options.seed, stages })
}

/// The requests that sessions ask and those that are tested: of each table's requests about half each.
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
        return Err(Error::Usage(what));
    }
    requests.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.query.id.cmp(&b.1.query.id)));
    // In a drawn order, each goes where the requests about its best table have gone less often.
    let mut gone: BTreeMap<String, usize> = BTreeMap::new();
    let mut asked: HashSet<String> = HashSet::new();
    let (mut taught, mut tested): (Vec<Judged<'_>>, Vec<Judged<'_>>) = (Vec::new(), Vec::new());
    for (draw, _, judged) in requests {
        let count = gone.entry(best_table(judged.grades)).or_insert((draw % 2) as usize);
        *count += 1;
        if count.is_multiple_of(2) {
            asked.insert(content_words(judged.text).to_lowercase());
            taught.push(judged);
        } else {
            tested.push(judged);
        }
    }
    tested.retain(|judged| !asked.contains(&content_words(judged.text).to_lowercase()));
    Ok((taught, tested))
}

/// The table of the greatest grade, ties by id.
fn best_table(grades: &Grades) -> String {
    metrics::ideal_ranking(grades).first().map(ToString::to_string).unwrap_or_default()
}

/// A session of one request; the table that its analyst took, and whether it was among those shown.
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
    // Ties in the order shown.
    shown.sort_by_key(|table| -grade(table));
    let taken = shown.first().filter(|table| grade(table) > 0).map(ToString::to_string);
    let was_shown = taken.is_some();
    let table = taken.unwrap_or_else(|| best_table(judged.grades));
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
