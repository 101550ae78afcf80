//! Runs a system on every query of a benchmark: rankings, their scores and latencies, query by query.
//!
//! Queries run one after the other, so that latencies are those of a single user. A query that fails scores 0, is counted and
//! stores its reason; one that cannot be scored (no relevant document) is still run but left out of means.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::benchmark::{Benchmark, Grades, LabelledQuery, Task};
use super::dialogue::{final_ranking, turn_of_success};
use super::metrics::{BothScores, ideal_ranking, is_scorable, score_both};
use super::run::Run;
use super::system::{Ranked, System};
use super::variant::work::Work;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::{Monitor, Total};

/// Documents requested after each turn of a dialogue, according to the protocol.
pub const DIALOGUE_DEPTH: usize = 10;
/// Depths at which the turn of success is counted.
pub const TURN_CUTS: [usize; 3] = [1, 3, 5];
/// Name of the system with the perfect ranking.
pub const IDEAL: &str = "IDEAL";

/// How to run and score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalOptions {
    /// The main depth of the report.
    pub k: usize,
    /// Documents requested per query.
    pub depth: usize,
    /// Tasks to run.
    pub tasks: Vec<Task>,
}

/// The monitor's name of the stage in which `system` is run.
pub fn asking(system: &str) -> String {
    format!("asking {system}")
}

/// The result of a system for one query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueryRow {
    /// The query.
    pub query: String,
    /// Its task.
    pub task: Task,
    /// Its group: label set and style.
    pub group: String,
    /// Its ranking, best first.
    pub ranking: Vec<(String, f64)>,
    /// Its scores; absent if no document is relevant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<BothScores>,
    /// The first turn with a relevant document among the first k, by k; for dialogues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_of_success: Option<BTreeMap<usize, usize>>,
    /// Time of each answer in milliseconds: one, or one per turn; empty for a run from a file.
    pub latencies_ms: Vec<f64>,
    /// The error, if the query failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// How the user corrects himself, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<String>,
    /// Tokens of a language model over all turns of a dialogue, if the system reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The work for the answer, if the system reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
}

/// The queries of a benchmark that belong to the requested ranking tasks.
fn selected<'a>(benchmark: &'a Benchmark, options: &'a EvalOptions) -> impl Iterator<Item = &'a LabelledQuery> {
    benchmark
        .queries
        .iter()
        .filter(|labelled| labelled.query.task != Task::Signals && options.tasks.contains(&labelled.query.task))
}

/// Runs `system` on every query of the requested tasks that it can answer.
///
/// # Errors
/// [`Error::Interrupted`], without partial results; the first failure if every query fails.
pub fn evaluate(
    benchmark: &Benchmark,
    system: &dyn System,
    options: &EvalOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<QueryRow>> {
    match ask_all(benchmark, system, options, monitor)? {
        (rows, Some(error)) if rows.iter().all(|row| row.failure.is_some()) => Err(error),
        (rows, _) => Ok(rows),
    }
}

/// Like [`evaluate`], but every query may fail. The second value is the first failure.
///
/// # Errors
/// [`Error::Interrupted`], without partial results.
pub fn ask_all(
    benchmark: &Benchmark,
    system: &dyn System,
    options: &EvalOptions,
    monitor: &dyn Monitor,
) -> Result<(Vec<QueryRow>, Option<Error>)> {
    let queries: Vec<&LabelledQuery> =
        selected(benchmark, options).filter(|labelled| system.answers(&labelled.query)).collect();
    monitor.begin(&asking(system.name()), Total::Steps(queries.len() as u64));
    let mut rows = Vec::with_capacity(queries.len());
    let mut failed: Option<Error> = None;
    for labelled in queries {
        if monitor.is_stopped() {
            return Err(Error::Interrupted);
        }
        let mut row = new_row(labelled);
        match ask(benchmark, labelled, system, options, &mut row) {
            Ok(()) => {}
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => {
                row.failure = Some(with_sources(&error));
                failed.get_or_insert(error);
                row.scores = scores(benchmark, &row.query, &[], options.k);
                // Counts as never found, whatever the turn of the failure.
                let turns = labelled.query.turns.len();
                row.turn_of_success = (labelled.query.task == Task::Dialogue)
                    .then(|| TURN_CUTS.into_iter().map(|k| (k, turns + 2)).collect());
            }
        }
        rows.push(row);
        monitor.advance(1);
    }
    Ok((rows, failed))
}

fn with_sources(error: &Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn new_row(labelled: &LabelledQuery) -> QueryRow {
    QueryRow {
        query: labelled.query.id.clone(),
        task: labelled.query.task,
        group: labelled.group(),
        ranking: Vec::new(),
        scores: None,
        turn_of_success: None,
        latencies_ms: Vec::new(),
        failure: None,
        correction: labelled.correction.clone(),
        tokens: None,
        work: None,
    }
}

fn ask(
    benchmark: &Benchmark,
    labelled: &LabelledQuery,
    system: &dyn System,
    options: &EvalOptions,
    row: &mut QueryRow,
) -> Result<()> {
    if labelled.query.task == Task::Dialogue {
        return converse(benchmark, labelled, system, options, row);
    }
    let started = Instant::now();
    let (mut ranking, work) = system.rank_with_work(&labelled.query, options.depth)?;
    row.latencies_ms.push(started.elapsed().as_secs_f64() * 1000.0);
    row.work = work;
    let mut seen = HashSet::new();
    ranking.retain(|ranked| labelled.query.origin.as_ref() != Some(&ranked.id) && seen.insert(ranked.id.clone()));
    let ids: Vec<&str> = ranking.iter().map(|ranked| ranked.id.as_str()).collect();
    row.scores = scores(benchmark, &row.query, &ids, options.k);
    row.ranking = ranking.into_iter().map(|ranked| (ranked.id, ranked.score)).collect();
    Ok(())
}

/// Requests a list after every turn; the last list comes first in the final ranking.
fn converse(
    benchmark: &Benchmark,
    labelled: &LabelledQuery,
    system: &dyn System,
    options: &EvalOptions,
    row: &mut QueryRow,
) -> Result<()> {
    let mut lists: Vec<Vec<String>> = Vec::with_capacity(labelled.query.turns.len());
    let mut query = labelled.query.clone();
    for turn in 1..=labelled.query.turns.len() {
        query.turns = labelled.query.turns[..turn].to_vec();
        let started = Instant::now();
        let (list, work) = system.rank_with_work(&query, DIALOGUE_DEPTH)?;
        // Of who was not asked there are no tokens to tell.
        let asked = work.filter(|work| work.model_calls > 0);
        row.tokens = asked.map(|work| work.tokens + row.tokens.unwrap_or(0)).or(row.tokens);
        row.latencies_ms.push(started.elapsed().as_secs_f64() * 1000.0);
        lists.push(list.into_iter().map(|ranked| ranked.id).collect());
    }
    let ranking = final_ranking(&lists);
    row.scores = scores(benchmark, &row.query, &ranking, options.k);
    if let Some(grades) = benchmark.qrels.get(&row.query).filter(|grades| is_scorable(grades)) {
        let turn = |k| (k, turn_of_success(&lists, grades, k));
        row.turn_of_success = Some(TURN_CUTS.into_iter().map(turn).collect());
    }
    row.ranking = by_place(&ranking);
    Ok(())
}

fn by_place(ranking: &[&str]) -> Vec<(String, f64)> {
    ranking.iter().enumerate().map(|(place, id)| (id.to_string(), 1.0 / (place + 1) as f64)).collect()
}

fn scores(benchmark: &Benchmark, query: &str, ranking: &[&str], k: usize) -> Option<BothScores> {
    let grades = benchmark.qrels.get(query).filter(|grades| is_scorable(grades))?;
    Some(score_both(ranking, grades, benchmark.unjudged.get(query), k))
}

/// The scores of a perfect ranking. Its turn of success is the first.
pub fn ideal(benchmark: &Benchmark, options: &EvalOptions) -> Vec<QueryRow> {
    let none = Grades::new();
    let row = |labelled: &LabelledQuery| {
        let mut row = new_row(labelled);
        let ranking = ideal_ranking(benchmark.qrels.get(&row.query).unwrap_or(&none));
        row.scores = scores(benchmark, &row.query, &ranking, options.k);
        if labelled.query.task == Task::Dialogue && row.scores.is_some() {
            row.turn_of_success = Some(TURN_CUTS.into_iter().map(|k| (k, 1)).collect());
        }
        row.ranking = by_place(&ranking);
        row
    };
    selected(benchmark, options).map(row).collect()
}

/// The rows of a run from a file: queries that are not in the run score 0. The second value lists queries of the run that the
/// benchmark does not have.
pub fn of_run(benchmark: &Benchmark, run: &Run, options: &EvalOptions) -> (Vec<QueryRow>, Vec<String>) {
    let row = |labelled: &LabelledQuery| {
        let mut row = new_row(labelled);
        let ranking: &[Ranked] = run.get(&row.query).map_or(&[], Vec::as_slice);
        let own = labelled.query.origin.as_deref();
        let others: Vec<&Ranked> = ranking.iter().filter(|ranked| own != Some(ranked.id.as_str())).collect();
        let ids: Vec<&str> = others.iter().map(|ranked| ranked.id.as_str()).collect();
        row.scores = scores(benchmark, &row.query, &ids, options.k);
        row.ranking = others.iter().map(|ranked| (ranked.id.clone(), ranked.score)).collect();
        row
    };
    let rows: Vec<QueryRow> = selected(benchmark, options).map(row).collect();
    let known: HashSet<&str> = benchmark.queries.iter().map(|labelled| labelled.query.id.as_str()).collect();
    let unknown = run.keys().filter(|query| !known.contains(query.as_str())).cloned().collect();
    (rows, unknown)
}
