//! `lakeward search`, `columns`, `join`, `union` and `correlate`

use std::time::Instant;

use serde::Serialize;

use super::args::{Answers, Arguments, CorrelateCommand, JoinCommand, SearchCommand, UnionCommand};
use super::lake::{self, warn_without_vectors};
use super::{Status, printer};
use lakeward::Lakeward;
use lakeward::documents::{CorrelationDocument, Document, JoinDocument};
use lakeward_core::error::Result;
use lakeward_core::listing::Listed;

/// `lakeward search TEXT`
pub fn text(arguments: &Arguments, command: &SearchCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let text = command.text.join(" ");
    let started = Instant::now();
    let answers = lakeward.search(&text, command.answers.count())?;
    tell_reading(&lakeward, &text)?;
    warn_without_vectors(&lakeward);
    let next = "inspect one with `lakeward profile TABLE`, or find related tables with `join TABLE` and `union TABLE`";
    let mut document = Document::new(text, answers, started);
    let calibration = &lakeward.config().ranking.calibration;
    document.nothing_found = !document.answers.iter().any(|answer| answer.may_serve(calibration));
    if document.nothing_found && !document.answers.is_empty() && !arguments.json {
        printer::nothing_found();
    }
    show(arguments, &command.answers, document, printer::search_answer, next)
}

/// `lakeward columns TEXT`
pub fn columns(arguments: &Arguments, command: &SearchCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let text = command.text.join(" ");
    let started = Instant::now();
    let answers = lakeward.columns(&text, command.answers.count())?;
    tell_reading(&lakeward, &text)?;
    warn_without_vectors(&lakeward);
    let document = Document::new(text, answers, started);
    show(
        arguments,
        &command.answers,
        document,
        printer::column_answer,
        "see one in its table with `lakeward profile TABLE`",
    )
}

/// Says how a text in another language was read.
fn tell_reading(lakeward: &Lakeward, text: &str) -> Result<()> {
    if let Some(translated) = lakeward.in_english(text)? {
        printer::note(&translated.note());
    }
    Ok(())
}

/// `lakeward join TABLE [--column C[,D…]]`
pub fn join(arguments: &Arguments, command: &JoinCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let started = Instant::now();
    let query = lakeward.query_table(&command.table)?;
    warn_without_vectors(&lakeward);
    let columns = query.columns_named(&command.column)?;
    let found = lakeward.join(&query, &columns, command.answers.count())?;
    let document = JoinDocument::new(command.table.clone(), &query, &columns, found, started);
    if arguments.json {
        printer::json(&document)?;
    } else {
        let next = "`--explain` shows matching values and what each join adds";
        show_lists(arguments, &command.answers, &document.found, printer::join_answer, next);
        document.notes.iter().for_each(|note| printer::note(note));
        if !arguments.quiet {
            printer::suggest_key(&document.composite_keys);
        }
    }
    Ok(status_of(&document.found.answers))
}

/// `lakeward union TABLE`
pub fn union(arguments: &Arguments, command: &UnionCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let started = Instant::now();
    let query = lakeward.query_table(&command.table)?;
    warn_without_vectors(&lakeward);
    let answers = lakeward.union(&query, command.answers.count())?;
    let document = Document::new(command.table.clone(), answers, started);
    show(arguments, &command.answers, document, printer::union_answer, "`--explain` shows which columns align")
}

/// `lakeward correlate TABLE --target C [--key C[,D]]`
pub fn correlate(arguments: &Arguments, command: &CorrelateCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let started = Instant::now();
    let query = lakeward.query_table(&command.table)?;
    let (target, key) = (query.column(&command.target)?, query.columns_named(&command.key)?);
    let found = lakeward.correlate(&query, target, &key, command.answers.count())?;
    let document = CorrelationDocument::new(command.table.clone(), found, started);
    if arguments.json {
        printer::json(&document)?;
    } else {
        let next = format!("{} columns were tested; `--explain` shows the evidence", document.tested);
        show_lists(arguments, &command.answers, &document.found, printer::correlation_answer, &next);
        document.notes.iter().for_each(|note| printer::note(note));
    }
    Ok(status_of(&document.found.answers))
}

/// `Done` if there are answers, else `NothingFound`.
pub(super) fn status_of<A>(answers: &[A]) -> Status {
    if answers.is_empty() { Status::NothingFound } else { Status::Done }
}

fn show<A: Serialize + Listed>(
    arguments: &Arguments,
    options: &Answers,
    document: Document<A>,
    explain: impl Fn(&A) -> Vec<String>,
    next: &str,
) -> Result<Status> {
    if arguments.json {
        printer::json(&document)?;
    } else {
        show_lists(arguments, options, &document, explain, next);
    }
    Ok(if document.nothing_found { Status::NothingFound } else { Status::Done })
}

/// Prints the answers as a list or with their evidence, and the `next` step on stderr.
pub(super) fn show_lists<A: Listed>(
    arguments: &Arguments,
    options: &Answers,
    document: &Document<A>,
    explain: impl Fn(&A) -> Vec<String>,
    next: &str,
) {
    printer::listing::answers(&document.answers, options.explain.then_some(&explain));
    if !arguments.quiet {
        printer::after_answers(document.answers.len(), document.elapsed_ms, next);
    }
}
