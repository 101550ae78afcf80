//! `lakeward search`, `join` and `union`

use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Answers, Arguments, JoinCommand, SearchCommand, UnionCommand};
use super::lake::{Place, embedder};
use super::{Status, printer};
use crate::error::Result;
use crate::retrieve::{JoinAnswer, JoinOptions, QueryTable, SearchAnswer, SearchOptions, UnionAnswer, UnionOptions};
use crate::retrieve::{join as join_search, search as text_search, union as union_search};

/// What `--json` prints for a search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document<A> {
    /// The program's version.
    pub lakeward: &'static str,
    /// The request: the text, or the query table.
    pub query: String,
    /// Best first.
    pub answers: Vec<A>,
    /// Time to answer with the index open, in milliseconds.
    pub elapsed_ms: f64,
}

/// `lakeward search TEXT`
pub fn text(arguments: &Arguments, command: &SearchCommand) -> Result<Status> {
    let index = Place::of(arguments, None)?.open(arguments)?;
    let text = command.text.join(" ");
    let started = Instant::now();
    let answers = text_search::search(&index, embedder(), &text, &SearchOptions::new(command.answers.k as usize))?;
    show(arguments, &command.answers, text, answers, started, printer::search_answer)
}

/// `lakeward join TABLE [--column C]`
pub fn join(arguments: &Arguments, command: &JoinCommand) -> Result<Status> {
    let place = Place::of(arguments, None)?;
    let index = place.open(arguments)?;
    let started = Instant::now();
    let query = QueryTable::resolve(&index, &place.lake, &command.table, embedder())?;
    let column = command.column.as_deref().map(|name| query.column(name)).transpose()?;
    let answers = join_search::search(&index, &query, &JoinOptions { k: command.answers.k as usize, column })?;
    show(arguments, &command.answers, command.table.clone(), answers, started, printer::join_answer)
}

/// `lakeward union TABLE`
pub fn union(arguments: &Arguments, command: &UnionCommand) -> Result<Status> {
    let place = Place::of(arguments, None)?;
    let index = place.open(arguments)?;
    let started = Instant::now();
    let query = QueryTable::resolve(&index, &place.lake, &command.table, embedder())?;
    let options = UnionOptions { k: command.answers.k as usize, count_rows: true };
    let answers = union_search::search(&index, &place.lake, &query, &options)?;
    show(arguments, &command.answers, command.table.clone(), answers, started, printer::union_answer)
}

fn show<A: Serialize + Listed>(
    arguments: &Arguments,
    options: &Answers,
    query: String,
    answers: Vec<A>,
    started: Instant,
    explain: impl Fn(&A) -> Vec<String>,
) -> Result<Status> {
    let status = if answers.is_empty() { Status::NothingFound } else { Status::Done };
    let elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
    if arguments.json {
        printer::json(&Document { lakeward: env!("CARGO_PKG_VERSION"), query, answers, elapsed_ms })?;
        return Ok(status);
    }
    printer::answers(&answers, options.explain.then_some(&explain));
    if !arguments.quiet {
        printer::after_answers(answers.len(), elapsed_ms, A::NEXT);
    }
    Ok(status)
}

/// An answer that fits one row of a list.
pub trait Listed {
    /// What to do next.
    const NEXT: &'static str;
    /// The table's id.
    fn table(&self) -> &str;
    /// Its score; greater is better.
    fn score(&self) -> f64;
    /// Its rows.
    fn rows(&self) -> u64;
    /// Why it was found.
    fn reason(&self) -> &str;
}

macro_rules! listed {
    ($answer:ty, $next:literal) => {
        impl Listed for $answer {
            const NEXT: &'static str = $next;
            fn table(&self) -> &str {
                &self.table
            }
            fn score(&self) -> f64 {
                self.score
            }
            fn rows(&self) -> u64 {
                self.rows
            }
            fn reason(&self) -> &str {
                &self.reason
            }
        }
    };
}

listed!(
    SearchAnswer,
    "look into one with `lakeward profile TABLE`, or find partners with `join TABLE` and `union TABLE`"
);
listed!(JoinAnswer, "`--explain` shows matching values and what each join adds");
listed!(UnionAnswer, "`--explain` shows which columns align");
