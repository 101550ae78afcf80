//! `lakeward task` and `lakeward graph`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Arguments, GraphCommand, GraphWhat, TaskCommand};
use super::lake::{self, warn_without_vectors};
use super::search::{show_lists, status_of};
use super::{Status, graph_feedback, printer, replay};
use lakeward::Lakeward;
use lakeward::answers::{ModelOrder, TaskFound};
use lakeward::documents::Document;
use lakeward_core::error::{Error, Result};
use lakeward_core::text::{counted, shown};
use lakeward_models::llm::{LanguageModel, Limits};
use lakeward_search::cite::without_identifiers;
use lakeward_tasks::papers::extract::run;
use lakeward_tasks::papers::extraction::{Extraction, read_extractions};
use lakeward_tasks::task_graph::audit::{self, AuditedMerge};
use lakeward_tasks::task_graph::resolution::Judge;
use lakeward_tasks::task_graph::verdicts::{Decision, Named, Verdict, Verdicts};
use lakeward_tasks::task_graph::why::{NameBook, users_word};
use lakeward_tasks::task_graph::{
    DatasetRecord, GraphOptions, GraphStats, ModelJudge, TaskAnswer, TaskGraph, TaskSearchOptions, Walk,
};

/// What `graph build`, `merge`, `split` and `stats` print with `--json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GraphReport {
    /// The program's version.
    pub lakeward: &'static str,
    /// The folder of the graph.
    pub folder: PathBuf,
    /// Its size; times and new documents only if it was built by this command.
    #[serde(flatten)]
    pub stats: GraphStats,
}

/// Characters of a text shown below an answer.
const SHOWN_CHARS: usize = 600;

/// `lakeward task TEXT`
pub fn search(arguments: &Arguments, command: &TaskCommand) -> Result<Status> {
    let is_published = command.seeds.is_some() || command.no_rerank;
    // Comparisons with published results use no model.
    let lakeward = if is_published { lake::open(arguments)? } else { lake::open_with_model(arguments)? };
    let graph = lakeward.task_graph()?;
    let text = command.text.join(" ");
    let started = Instant::now();
    let shipped = TaskSearchOptions::new(command.answers.count());
    let options = TaskSearchOptions {
        alpha: command.alpha,
        walk: if command.seeds.is_some() { Walk::Published } else { shipped.walk },
        seeds: command.seeds.map_or(shipped.seeds, |seeds| seeds as usize),
        pagerank: !command.no_pagerank,
        rerank: !command.no_rerank,
        named: !command.in_lake,
        exclude: excluded(&lakeward, &graph, &command.exclude)?,
        ..shipped
    };
    let trace_file = command.trace.as_deref().map(replay::create).transpose()?;
    let TaskFound { answers, order } = match trace_file {
        None => lakeward.datasets_for(&graph, &text, &options)?,
        Some(file) => {
            let (found, trace) = lakeward.trace_datasets(&graph, &text, &options)?;
            replay::write(&trace, file)?;
            found
        }
    };
    warn_without_vectors(&lakeward);
    if let Some(trouble) = order.as_ref().and_then(|order| order.trouble.as_ref()) {
        printer::note(&format!("in computed order: the language model did not rerank the datasets: {trouble}"));
    }
    let status = status_of(&answers);
    let document = TaskDocument { found: Document::new(text, answers, started), order };
    if arguments.json {
        printer::json(&document)?;
    } else {
        let next = "`--explain` shows the path to each: task, paper, sentence, tables";
        show_lists(arguments, &command.answers, &document.found, explanation, next);
    }
    Ok(status)
}

/// The documents to exclude: the given papers, and those learned from sessions unless the settings enable learning.
fn excluded(lakeward: &Lakeward, graph: &TaskGraph, exclude: &[String]) -> Result<Vec<String>> {
    let mut all = exclude.to_vec();
    if !lakeward.config().learning.record {
        all.extend(graph.learned_documents()?);
    }
    Ok(all)
}

/// What `--json` prints for a search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskDocument {
    /// The answers.
    #[serde(flatten)]
    pub found: Document<TaskAnswer>,
    /// How the language model reranked them, if one was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<ModelOrder>,
}

/// The explanation of an answer: its path, one line per step, and the parts of its score.
pub(super) fn explanation(answer: &TaskAnswer) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(answer.path.as_ref().map(printer::task_path::lines).unwrap_or_default());
    match (answer.tables.is_empty(), answer.in_index) {
        (false, _) => lines.push(format!("tables of the lake: {}", shown(&answer.tables.join(", "), SHOWN_CHARS))),
        (true, true) => lines.push("a record of the catalogue; its data is not in the lake".into()),
        (true, false) => lines.push("only named in papers; it is not in the lake".into()),
    }
    lines.extend(answer.citation.as_deref().map(printer::cited_as));
    let parts = &answer.parts;
    lines.push(format!(
        "score: tasks {:.3} (weight {:.2}), words of the description {:.3}, its vector {:.3}, popularity {:.3}",
        parts.tasks, parts.gate, parts.description_words, parts.description_meaning, parts.popularity
    ));
    lines
}

/// `lakeward graph …`
pub fn graph(arguments: &Arguments, command: &GraphCommand) -> Result<Status> {
    match &command.what {
        GraphWhat::Build { papers, no_extractions, anew, no_resolution, calls } => {
            let lakeward = lake::open_with_model(arguments)?;
            let mut files = papers.clone();
            let extracted = run::path_of(&lakeward.place().index);
            if !no_extractions && extracted.is_file() {
                // First, because a later document replaces an earlier one: named files take precedence.
                files.insert(0, extracted);
            }
            let (documents, in_part) = documents(&lakeward, &files, *anew)?;
            build(arguments, &lakeward, &documents, (*no_resolution, *calls))?;
            Ok(if in_part { Status::InPart } else { Status::Done })
        }
        GraphWhat::Stats => stats(arguments),
        GraphWhat::Learned(command) => graph_feedback::run(arguments, command),
        GraphWhat::Why { a, b } => why(arguments, a, b),
        GraphWhat::Audit { count, seed } => audit_sample(arguments, *count as usize, *seed),
        GraphWhat::Merge { a, b } => decide(arguments, (a, b), true),
        GraphWhat::Split { a, b } => decide(arguments, (a, b), false),
    }
}

/// The documents of the existing graph and of the files, and whether lines were left out.
fn documents(lakeward: &Lakeward, papers: &[PathBuf], anew: bool) -> Result<(Vec<Extraction>, bool)> {
    let mut documents = match TaskGraph::open_any(&lakeward.task_graph_folder()) {
        _ if anew && papers.is_empty() => {
            let what = "`--anew` discards all papers, and there are no others: none were given, and `papers extract` found none";
            return Err(Error::usage(what));
        }
        _ if anew => Vec::new(),
        Ok(graph) => graph.extractions()?,
        Err(Error::NoTaskGraph { path }) if papers.is_empty() && !has_learned(lakeward)? => {
            return Err(Error::NoTaskGraph { path });
        }
        Err(Error::NoTaskGraph { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut in_part = false;
    for path in papers {
        let file = read_extractions(path)?;
        if file.left_out > 0 {
            in_part = true;
            let lines = counted(file.left_out, "line");
            printer::note(&format!("{lines} of `{}` left out: {}", path.display(), file.problems.join("; ")));
        }
        documents.extend(file.extractions);
    }
    Ok((documents, in_part))
}

/// Whether learning is enabled and something was learned, so that a graph can be built without papers.
fn has_learned(lakeward: &Lakeward) -> Result<bool> {
    Ok(lakeward.config().learning.record && !lakeward.learned().uses()?.0.is_empty())
}

/// Builds the graph and prints its size.
pub(super) fn build(
    arguments: &Arguments,
    lakeward: &Lakeward,
    documents: &[Extraction],
    (no_resolution, calls): (bool, u32),
) -> Result<()> {
    let options = GraphOptions { resolve: !no_resolution, ..GraphOptions::default() };
    let config = lakeward.config().llm.limits();
    let limits = Limits { calls: calls as usize, tokens: u64::MAX, time: Duration::from_secs(24 * 3600), ..config };
    // A wrong merge spoils every answer about both: who was not measured, or was measured to guess, decides nothing.
    let trust = lakeward.config().llm.same_dataset;
    if lakeward.model().is_some() && trust.is_none() && calls > 0 && !arguments.quiet {
        printer::narrate(
            "names are compared by rules alone until `lakeward model check` has measured how the model compares them",
        );
    }
    let judge = lakeward.model().filter(|_| trust.is_some_and(|trust| trust > 0.0)).map(|model| {
        let access = model.access();
        ModelJudge::new(LanguageModel::new(access.chat, access.prompts, limits, access.cache))
    });
    let stats = lakeward.build_task_graph(documents, judge.as_ref().map(|judge| judge as &dyn Judge), &options)?;
    if let Some((_, trouble)) = judge.as_ref().and_then(|judge| judge.model().trouble()) {
        let (trouble, _) = without_identifiers(&trouble.to_string(), &[], &|_| false);
        printer::note(&format!("the model did not decide about all names: {trouble}"));
    }
    report(arguments, lakeward, stats)
}

fn report(arguments: &Arguments, lakeward: &Lakeward, stats: GraphStats) -> Result<()> {
    let folder = lakeward.task_graph_folder();
    if arguments.json {
        return printer::json(&GraphReport { lakeward: env!("CARGO_PKG_VERSION"), folder, stats });
    }
    let count = |number: usize, what: &str| counted(number as u64, what);
    printer::line(&format!(
        "{}, {}, {} ({} named by papers only), {} to datasets, {} between tasks, {}",
        count(stats.documents, "paper"),
        count(stats.tasks, "task"),
        count(stats.datasets, "dataset"),
        stats.named_datasets,
        count(stats.uses, "edge"),
        count(stats.links, "edge"),
        printer::bytes(stats.bytes)
    ));
    printer::line(&format!(
        "  {} about names; {} attached by description only",
        count(stats.verdicts, "verdict"),
        count(stats.inferred, "dataset")
    ));
    if stats.elapsed_ms > 0.0 && !arguments.quiet {
        printer::narrate(&format!("{} new, {:.1} s", count(stats.new_documents, "paper"), stats.elapsed_ms / 1000.0));
    }
    Ok(())
}

fn stats(arguments: &Arguments) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let graph = TaskGraph::open_any(&lakeward.task_graph_folder())?;
    let meta = graph.meta();
    let stats = GraphStats {
        documents: meta.documents,
        tasks: meta.tasks,
        datasets: meta.datasets,
        named_datasets: meta.datasets - meta.records,
        uses: graph.use_count(),
        links: graph.link_count(),
        inferred: graph.inferred_datasets(),
        verdicts: Verdicts::read(graph.folder())?.len(),
        bytes: graph.bytes(),
        ..GraphStats::default()
    };
    report(arguments, &lakeward, stats)?;
    Ok(Status::Done)
}

fn why(arguments: &Arguments, a: &str, b: &str) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let graph = TaskGraph::open_any(&lakeward.task_graph_folder())?;
    let resolved = graph.meta().resolved;
    let book = NameBook::new(&graph, DatasetRecord::all(lakeward.index())?)?;
    let (a, b) = (book.find(a)?, book.find(b)?);
    let why = book.why(&a, &b, &Verdicts::read(graph.folder())?, resolved);
    if arguments.json {
        printer::json(&why)?;
    } else {
        let (first, second) = (named(&why.a), named(&why.b));
        if why.joined {
            printer::safe_line(&format!("{first} and {second} are one dataset"));
        } else if why.others.is_empty() {
            printer::safe_line(&format!("{first} and {second} are two datasets: there is no verdict about them"));
        } else {
            printer::safe_line(&format!("{first} and {second} are two datasets; the verdicts about them:"));
        }
        why.way.iter().chain(&why.others).for_each(|verdict| printer::safe_line(&verdict_line(verdict)));
    }
    Ok(if why.joined { Status::Done } else { Status::NothingFound })
}

fn audit_sample(arguments: &Arguments, count: usize, seed: u64) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let graph = TaskGraph::open_any(&lakeward.task_graph_folder())?;
    let records = DatasetRecord::all(lakeward.index())?;
    let sample = audit::audit(&Verdicts::read(graph.folder())?, &records, count, seed);
    let status = if sample.merges.is_empty() { Status::NothingFound } else { Status::Done };
    if arguments.json {
        printer::json(&sample)?;
        return Ok(status);
    }
    for (number, AuditedMerge { a, b, by, sentence }) in (1..).zip(&sample.merges) {
        printer::safe_line(&format!("{number}. {by}: {sentence}"));
        for name in [a, b] {
            let record =
                name.record.as_ref().map_or_else(String::new, |id| format!(" (record `{id}`) {}", name.described));
            printer::safe_line(&format!("   “{}”{record}", name.name));
        }
    }
    printer::line(&format!("{} of {} (seed {seed})", sample.merges.len(), counted(sample.of_merges, "merge")));
    Ok(status)
}

fn named(named: &Named) -> String {
    match named {
        Named::Record(id) => format!("record `{id}`"),
        Named::Name(name) => format!("name “{name}”"),
    }
}

fn verdict_line(verdict: &Verdict) -> String {
    let sign = match verdict.decision {
        Decision::Same => "=",
        Decision::Different => "≠",
        Decision::Unsure => "?",
    };
    format!("  {} {sign} {}: {} ({})", named(&verdict.a), named(&verdict.b), verdict.sentence, verdict.by)
}

/// Stores the user's decision and rebuilds the graph with it.
fn decide(arguments: &Arguments, (a, b): (&str, &str), same: bool) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let graph = TaskGraph::open_any(&lakeward.task_graph_folder())?;
    let book = NameBook::new(&graph, DatasetRecord::all(lakeward.index())?)?;
    let (a, b) = (book.find(a)?, book.find(b)?);
    if a == b {
        return Err(Error::usage(format!("both are the {}", named(&a))));
    }
    let mut verdicts = Verdicts::read(graph.folder())?;
    verdicts.put(users_word(&a, &b, same));
    verdicts.write(graph.folder())?;
    let (documents, resolved) = (graph.extractions()?, graph.meta().resolved);
    build(arguments, &lakeward, &documents, (!resolved, 0))?;
    Ok(Status::Done)
}
