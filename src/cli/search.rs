//! `lakeward search`, `join` and `union`

use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Answers, Arguments, JoinCommand, SearchCommand, UnionCommand};
use super::lake::{self, tell_of_trouble};
use super::{Status, printer};
use lakeward_core::error::Result;
use lakeward_lake::composite_key::{self, CompositeKey};
use lakeward_search::cite::Checked;
use lakeward_search::{CompositeAnswers, JoinAnswer, SearchAnswer, UnionAnswer};

/// What `--json` prints for a search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document<A> {
    /// The program's version.
    pub lakeward: &'static str,
    /// The request: the text, or the query table.
    pub query: String,
    /// Best first.
    pub answers: Checked<Vec<A>>,
    /// Time to answer with the index open, in milliseconds.
    pub elapsed_ms: f64,
}

/// What `--json` prints for a join.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JoinDocument {
    /// The answers.
    #[serde(flatten)]
    pub found: Document<JoinAnswer>,
    /// Columns that are a key of the query table together and worth a search of their own: where no column was named and
    /// none is a key alone.
    pub composite_keys: Vec<CompositeKey>,
    /// What could not be compared and why.
    pub notes: Vec<String>,
}

/// `lakeward search TEXT`
pub fn text(arguments: &Arguments, command: &SearchCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let text = command.text.join(" ");
    let started = Instant::now();
    let answers = lakeward.search(&text, command.answers.count())?;
    tell_of_trouble(lakeward.embedder());
    show(arguments, &command.answers, text, answers, started, printer::search_answer)
}

/// `lakeward join TABLE [--column C[,D…]]`
pub fn join(arguments: &Arguments, command: &JoinCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let started = Instant::now();
    let query = lakeward.query_table(&command.table)?;
    tell_of_trouble(lakeward.embedder());
    let columns = query.columns_named(&command.column)?;
    let CompositeAnswers { answers, notes, .. } = lakeward.join(&query, &columns, command.answers.count())?;
    let composite_keys = if columns.is_empty() && !composite_key::has_single_key(&query.entry.profile) {
        // A hint is worth no failure: whatever is wrong with the file was said when it was read for the search.
        composite_key::find(&query.path, &query.entry.profile).unwrap_or_default()
    } else {
        Vec::new()
    };
    let status = status_of(&answers);
    let found = Document::new(command.table.clone(), answers, started);
    if arguments.json {
        printer::json(&JoinDocument { found, composite_keys, notes })?;
        return Ok(status);
    }
    show_lists(arguments, &command.answers, &found, printer::join_answer);
    notes.iter().for_each(|note| printer::note(note));
    if !arguments.quiet {
        printer::worth_trying(&composite_keys);
    }
    Ok(status)
}

/// `lakeward union TABLE`
pub fn union(arguments: &Arguments, command: &UnionCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let started = Instant::now();
    let query = lakeward.query_table(&command.table)?;
    tell_of_trouble(lakeward.embedder());
    let answers = lakeward.union(&query, command.answers.count())?;
    show(arguments, &command.answers, command.table.clone(), answers, started, printer::union_answer)
}

impl<A> Document<A> {
    /// The answers to `query`, which came just now.
    pub fn new(query: String, answers: Checked<Vec<A>>, started: Instant) -> Self {
        let elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
        Self { lakeward: env!("CARGO_PKG_VERSION"), query, answers, elapsed_ms }
    }
}

/// Whether there are answers.
pub(super) fn status_of<A>(answers: &[A]) -> Status {
    if answers.is_empty() { Status::NothingFound } else { Status::Done }
}

fn show<A: Serialize + Listed>(
    arguments: &Arguments,
    options: &Answers,
    query: String,
    answers: Checked<Vec<A>>,
    started: Instant,
    explain: impl Fn(&A) -> Vec<String>,
) -> Result<Status> {
    let status = status_of(&answers);
    let document = Document::new(query, answers, started);
    if arguments.json {
        printer::json(&document)?;
    } else {
        show_lists(arguments, options, &document, explain);
    }
    Ok(status)
}

pub(super) fn show_lists<A: Listed>(
    arguments: &Arguments,
    options: &Answers,
    document: &Document<A>,
    explain: impl Fn(&A) -> Vec<String>,
) {
    printer::answers(&document.answers, options.explain.then_some(&explain));
    if !arguments.quiet {
        printer::after_answers(document.answers.len(), document.elapsed_ms, A::NEXT);
    }
}

/// An answer that fits one row of a list.
pub trait Listed {
    /// What to do next.
    const NEXT: &'static str;
    /// What it is.
    const WHAT: &'static str = "table";
    /// Whether it has rows.
    const HAS_ROWS: bool = true;
    /// The table's id.
    fn table(&self) -> &str;
    /// Its title, where the id says nothing to people.
    fn title(&self) -> Option<&str> {
        None
    }
    /// Its score; greater is better.
    fn score(&self) -> f64;
    /// Its rows, where they are known.
    fn rows(&self) -> Option<u64>;
    /// Why it was found.
    fn reason(&self) -> &str;
}

macro_rules! listed {
    ($answer:ty, $next:literal $(, $title:item)?) => {
        impl Listed for $answer {
            const NEXT: &'static str = $next;
            fn table(&self) -> &str {
                &self.table
            }
            $($title)?
            fn score(&self) -> f64 {
                self.score
            }
            fn rows(&self) -> Option<u64> {
                self.rows.into()
            }
            fn reason(&self) -> &str {
                &self.reason
            }
        }
    };
}

listed!(
    SearchAnswer,
    "look into one with `lakeward profile TABLE`, or find partners with `join TABLE` and `union TABLE`",
    fn title(&self) -> Option<&str> {
        self.record.then_some(self.title.as_str())
    }
);
listed!(JoinAnswer, "`--explain` shows matching values and what each join adds");
listed!(UnionAnswer, "`--explain` shows which columns align");
