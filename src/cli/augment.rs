//! `lakeward augment`

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Arguments, AugmentCommand};
use super::{Status, lake, printer, progress};
use lakeward::Lakeward;
use lakeward_core::error::{Error, Result};
use lakeward_core::text::{counted, shown};
use lakeward_index::LakeIndex;
use lakeward_index::build::BuildStats;
use lakeward_models::llm::RunLimits;
use lakeward_search::augment::audit::{self, Audit, AuditWarning, AuditedTable};
use lakeward_search::augment::{
    AugmentOptions, AugmentStats, FactKind, QuestionIndex, QuestionMaker, QuestionMode, QuestionStore,
};

/// What `--json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AugmentDocument {
    /// The questions.
    pub questions: AugmentStats,
    /// The file that stores them.
    pub file: PathBuf,
    /// The indexes over them.
    pub indexes: Vec<QuestionIndexReport>,
}

/// The result of building one index of questions.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QuestionIndexReport {
    /// How the questions are searched.
    pub mode: QuestionMode,
    /// Its folder.
    pub folder: PathBuf,
    /// Documents in it now.
    pub documents: u64,
    /// Documents added, changed or removed in this run.
    pub updated: u64,
    /// Its size.
    pub index_bytes: u64,
    /// Wall time in milliseconds.
    pub elapsed_ms: u64,
}

/// Makes questions and their indexes, or shows a sample of them.
pub fn run(arguments: &Arguments, command: &AugmentCommand) -> Result<Status> {
    let lakeward = if command.rules { lake::open(arguments)? } else { lake::open_with_model(arguments)? };
    let index = lakeward.index();
    if let Some(count) = command.audit {
        return show_audit(arguments, index, count as usize, command.seed);
    }
    if index.is_empty() {
        return Ok(Status::NothingFound);
    }
    make(arguments, command, &lakeward)
}

fn make(arguments: &Arguments, command: &AugmentCommand, lakeward: &Lakeward) -> Result<Status> {
    let (index, config) = (lakeward.index(), lakeward.config());
    let run = RunLimits { tokens: command.tokens, money: command.money };
    let maker = lakeward.model().map(|model| model.question_maker(config.llm.limits(), run));
    let concurrency = config.llm.manners().concurrency;
    let progress = progress::Bar::new(arguments.quiet)?;
    let mut store = QuestionStore::open_to_write(index.folder())?;
    let options = AugmentOptions { tables: command.table.clone(), replace: command.rules, concurrency };
    let maker = maker.as_ref().map(|maker| maker as &dyn QuestionMaker);
    let generated = lakeward_search::augment::make_questions(index, &mut store, maker, &options, &progress);
    let questions = generated.inspect_err(|_| progress.finish())?;
    if let Some(trouble) = questions.trouble.as_ref().filter(|_| !arguments.quiet) {
        let count = counted(questions.by_rules_instead, "table");
        printer::narrate(&shown(
            &format!("the model failed for {count}; rules generated their questions instead: {trouble}"),
            300,
        ));
    }
    let mut status = if questions.left > 0 { Status::Interrupted } else { Status::Done };
    let mut indexes = Vec::new();
    for mode in command.mode.modes() {
        if status == Status::Interrupted {
            break;
        }
        let built = QuestionIndex::build(index, &store, *mode, lakeward.embedder(), &progress);
        let stats = built.inspect_err(|_| progress.finish())?;
        status = match &stats {
            stats if stats.unread > 0 => Status::Interrupted,
            stats if stats.is_partial() => Status::InPart,
            _ => status,
        };
        indexes.push(report(index, *mode, &stats));
    }
    progress.finish();
    let document = AugmentDocument { questions, file: store.path().to_path_buf(), indexes };
    if arguments.json {
        printer::json(&document)?;
    } else if !arguments.quiet {
        summary(&document);
    }
    Ok(status)
}

fn report(index: &LakeIndex, mode: QuestionMode, stats: &BuildStats) -> QuestionIndexReport {
    QuestionIndexReport {
        mode,
        folder: mode.folder(index.folder()),
        documents: stats.records,
        updated: stats.added + stats.changed + stats.removed,
        index_bytes: stats.index_bytes,
        elapsed_ms: stats.elapsed_ms,
    }
}

fn summary(document: &AugmentDocument) {
    let AugmentStats { tables, questions, made, reused, removed, left, generator, elapsed_ms, .. } =
        &document.questions;
    let mut parts = vec![format!("{made} made by {generator}"), format!("{reused} reused")];
    let others =
        [(*removed, "removed"), (*left, "left for the next run"), (document.questions.ungrounded, "questions dropped")];
    parts.extend(others.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    let count = format!("{} of {}", counted(*questions, "question"), counted(*tables, "table"));
    printer::line(&format!("{count} ({}) in {:.1} s", parts.join(", "), *elapsed_ms as f64 / 1000.0));
    printer::line(&format!("  {}", shown(&document.file.to_string_lossy(), 300)));
    for index in &document.indexes {
        printer::line(&format!(
            "  {}: {}, {} updated, {}, {:.1} s",
            index.mode.name(),
            counted(index.documents, "document"),
            index.updated,
            printer::bytes(index.index_bytes),
            index.elapsed_ms as f64 / 1000.0
        ));
    }
}

fn show_audit(arguments: &Arguments, index: &LakeIndex, count: usize, seed: u64) -> Result<Status> {
    let store = QuestionStore::open(index.folder())?;
    if store.is_empty() {
        return Err(Error::NoQuestions { path: store.path().to_path_buf() });
    }
    let audit = audit::audit(index, &store, count, seed)?;
    let status = if audit.tables.is_empty() { Status::NothingFound } else { Status::Done };
    if arguments.json {
        printer::json(&audit)?;
        return Ok(status);
    }
    for table in &audit.tables {
        print_table(table);
    }
    audit_summary(&audit);
    Ok(status)
}

fn print_table(table: &AuditedTable) {
    let stale = if table.stale { " (the table has changed since)" } else { "" };
    printer::line(&format!("{}{stale}", shown(&table.table, 200)));
    let print_field = |what: &str, text: &str| {
        if !text.is_empty() {
            printer::line(&format!("  {what:9} {}", shown(text, 200)));
        }
    };
    print_field("title", table.title.as_deref().unwrap_or_default());
    print_field("columns", &table.columns.join(", "));
    print_field("unknown", &table.unknown.iter().map(|facet| FactKind::name(*facet)).collect::<Vec<_>>().join(", "));
    print_field("made by", &table.generator);
    for (number, question) in (1..).zip(&table.questions) {
        printer::line(&format!("  {number:2}. {}", shown(&question.question, 300)));
        printer::line(&format!("      support: {}", shown(&question.support.join(", "), 200)));
        for warning in &question.warnings {
            printer::line(&format!("      warning: {}", shown(&warning_text(warning), 200)));
        }
    }
    printer::line("");
}

fn warning_text(warning: &AuditWarning) -> String {
    match warning {
        AuditWarning::NotInRecord { words } => format!("not in the record: {}", words.join(", ")),
        AuditWarning::Unsupported => "nothing in the record supports it".into(),
        AuditWarning::Alike { question } => format!("nearly the same as question {question}"),
        AuditWarning::Short => "shorter than four words".into(),
    }
}

fn audit_summary(audit: &Audit) {
    printer::line(&format!(
        "{} of {} with questions (seed {}): {}, {} with a warning ({:.1}%)",
        audit.tables.len(),
        counted(audit.of_tables, "table"),
        audit.seed,
        counted(audit.questions, "question"),
        audit.warned,
        100.0 * audit.warned_share
    ));
}
