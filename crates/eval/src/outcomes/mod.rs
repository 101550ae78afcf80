//! Scores conversations by the tables that they end with: a folder with `tasks.jsonl`, a conversation a line, and `gold/`, the table that
//! the analyst should have after each turn.
//!
//! An [`Analyst`] carries out the first operation that is offered after each turn, without being told whether it was right, and goes on from
//! there. Each turn falls into one [`TurnClass`]; tables are compared by value ([`table`]). What an analyst sees comes from the program, so
//! that what is measured is what is used.

mod cell;
mod report;
pub mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::lines::{bad_file, bad_line, file_of, read_json};
use super::layout::{inside, name_of};
use super::provenance::Produced;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::{Monitor, Total};
pub use report::{Grouping, OutcomeReport, OutcomeScores, TurnOutcome};
use table::{Equality, Table};

const TASKS: &str = "tasks.jsonl";
const GOLD: &str = "gold";
/// How far numbers may differ, as a share of the greater one: always, and where the text asks for rounded ones.
const TOLERANCE: f64 = 1e-6;
const ROUNDED: f64 = 1e-3;

/// What a turn came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnClass {
    /// The table that was meant; a question where asking is as good; nothing where the lake cannot answer.
    Right,
    /// Another table, and no warning.
    Silent,
    /// Another table, with a warning.
    Warned,
    /// A question where an answer was due.
    Asked,
    /// No table and no question.
    Nothing,
}

/// What an analyst has after a turn.
#[derive(Debug, Clone, Default)]
pub struct TurnResult {
    /// The table, as a CSV file that stands until the next turn; none where nothing was carried out.
    pub table: Option<PathBuf>,
    /// Whether a question was asked back instead.
    pub asked: bool,
    /// Why the table may not be what was meant, as it was said.
    pub warnings: Vec<String>,
    /// How likely it is what was meant, as it was said, 0..=1.
    pub likelihood: Option<f64>,
    /// What was said of what was done.
    pub said: String,
}

/// An analyst at work with the agent that is measured.
pub trait Analyst {
    /// Begins a new conversation, at the table `start` if there is one.
    ///
    /// # Errors
    /// [`Error::UnknownTable`] if the lake has no such table.
    fn begin(&mut self, start: Option<&str>) -> Result<()>;

    /// Says `text` and carries out the first operation that is offered. What fails for the analyst is a result without a table.
    ///
    /// # Errors
    /// [`Error::Interrupted`], and what keeps results from being written.
    fn turn(&mut self, text: &str) -> Result<TurnResult>;
}

#[derive(Deserialize)]
struct Task {
    id: String,
    lake: String,
    start: Option<String>,
    #[serde(default)]
    voice: String,
    turns: Vec<Turn>,
}

#[derive(Deserialize)]
struct Turn {
    text: String,
    kind: String,
    /// The whole state in SQL; none where there is none.
    sql: Option<String>,
    #[serde(default)]
    accept: Vec<String>,
    #[serde(default)]
    ordered: bool,
    #[serde(default)]
    by: Vec<String>,
    #[serde(default)]
    columns: String,
    #[serde(default)]
    ask_ok: bool,
    #[serde(default)]
    rounded: bool,
    #[serde(default)]
    finds: String,
}

impl Turn {
    /// Whether nothing in the lake answers it.
    fn is_impossible(&self) -> bool {
        self.kind == "impossible"
    }
}

/// Whether `folder` has conversations to score.
pub fn is_one(folder: &Path) -> bool {
    file_of(folder, TASKS).is_some() && folder.join(GOLD).is_dir()
}

/// Names of the lakes that the conversations of `folder` are about.
///
/// # Errors
/// [`Error::Benchmark`] for an unreadable line.
pub fn lakes(folder: &Path) -> Result<Vec<String>> {
    let mut names: Vec<String> = tasks(folder)?.into_iter().map(|task| task.lake).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

fn tasks(folder: &Path) -> Result<Vec<Task>> {
    let path = folder.join(TASKS);
    let mut tasks = Vec::new();
    read_json(&path, |number, task: Task| {
        let is_plain = task.id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if !is_plain || task.turns.is_empty() {
            return Err(bad_line(&path, number, "a conversation needs turns, and an id of letters, digits, - and _"));
        }
        tasks.push(task);
        Ok(())
    })?;
    Ok(tasks)
}

/// Has the conversations of `folder` by the analyst of each lake.
///
/// # Errors
/// [`Error::Benchmark`] for an unreadable line and a gold table that is missing; [`Error::Usage`] for a lake without an analyst; those of
/// [`Analyst`].
pub fn score<A: Analyst>(
    folder: &Path,
    analysts: &mut BTreeMap<String, A>,
    produced: Produced,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<OutcomeReport> {
    let tasks = tasks(folder)?;
    monitor.begin("having conversations", Total::Steps(tasks.len() as u64));
    let mut outcomes = Vec::new();
    for task in &tasks {
        let Some(analyst) = analysts.get_mut(&task.lake) else {
            return Err(Error::usage(format!("nothing is known of the lake `{}`", task.lake)));
        };
        analyst.begin(task.start.as_deref())?;
        let mut after_right = true;
        for (number, turn) in (1..).zip(&task.turns) {
            if monitor.is_stopped() {
                return Err(Error::Interrupted);
            }
            let result = analyst.turn(&turn.text)?;
            let class = classified(folder, task, (number, turn), &result)?;
            outcomes.push(TurnOutcome {
                conversation: task.id.clone(),
                turn: number,
                turns: task.turns.len(),
                lake: task.lake.clone(),
                voice: task.voice.clone(),
                kind: turn.kind.clone(),
                finds: !turn.finds.is_empty(),
                after_right,
                class,
                warnings: result.warnings,
                likelihood: result.likelihood,
                said: result.said,
            });
            after_right &= class == TurnClass::Right;
        }
        monitor.advance(1);
    }
    Ok(OutcomeReport::of(name_of(folder), produced, seed, outcomes))
}

fn classified(folder: &Path, task: &Task, (number, turn): (usize, &Turn), result: &TurnResult) -> Result<TurnClass> {
    let Some(path) = &result.table else {
        return Ok(match (result.asked, turn.is_impossible() || (result.asked && turn.ask_ok)) {
            (_, true) => TurnClass::Right,
            (true, false) => TurnClass::Asked,
            (false, false) => TurnClass::Nothing,
        });
    };
    if turn.sql.is_some() {
        let stem = format!("{GOLD}/{}-{number}", task.id);
        let names = std::iter::once(format!("{stem}.csv"));
        let names = names.chain((1..=turn.accept.len()).map(|other| format!("{stem}.alt{other}.csv")));
        let gold = names.map(|name| gold_table(folder, &name)).collect::<Result<Vec<Table>>>()?;
        let most = gold.iter().map(|gold| gold.rows).max().unwrap_or(0);
        let found = Table::read(path, most)?;
        if gold.iter().any(|gold| gold.is_met_by(&found, &turn.equality(gold))) {
            return Ok(TurnClass::Right);
        }
    }
    Ok(if !result.warnings.is_empty() { TurnClass::Warned } else { TurnClass::Silent })
}

impl Turn {
    fn equality(&self, gold: &Table) -> Equality {
        let by = self.by.iter().map(|name| gold.names.iter().position(|own| own == name));
        Equality {
            extra_columns: self.columns == "extra ok",
            ordered: self.ordered,
            by: by.collect::<Option<Vec<usize>>>().unwrap_or_default(),
            tolerance: if self.rounded { ROUNDED } else { TOLERANCE },
        }
    }
}

fn gold_table(folder: &Path, name: &str) -> Result<Table> {
    let path = inside(folder, name).map_err(|reason| bad_line(&folder.join(TASKS), 0, &reason))?;
    let missing = || bad_file(&folder.join(name), "there is no such gold table");
    Table::read(&path.ok_or_else(missing)?, usize::MAX)
}
