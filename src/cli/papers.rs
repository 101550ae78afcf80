//! `lakeward papers`

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Arguments, PapersCommand, PapersWhat};
use super::{Status, lake, printer, progress};
use lakeward::Lakeward;
use lakeward_core::error::{Error, Result};
use lakeward_core::text::{counted, shown};
use lakeward_models::llm::{ModelRole, RunLimits};
use lakeward_tasks::papers::extract::KnownDatasets;
use lakeward_tasks::papers::extract::run::{self, ExtractOptions, ExtractStats};
use lakeward_tasks::papers::extraction::Extraction;
use lakeward_tasks::papers::{
    AddOptions, AddStats, Document, DocumentEntry, FileFault, FileRecord, FileStatus, PdfReader, Store, add, isolated,
};
use lakeward_tasks::task_graph::verdicts::Verdicts;
use lakeward_tasks::task_graph::{DatasetRecord, known_datasets};

/// What `papers list --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PaperList {
    /// The program's version.
    pub lakeward: &'static str,
    /// The folder that stores them.
    pub folder: String,
    /// The documents, each listed once.
    pub documents: Vec<PaperLine>,
    /// Files that could not be read, or only in part.
    pub faults: Vec<FileFault>,
}

/// What `papers show --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PaperShown {
    /// The document.
    #[serde(flatten)]
    pub document: Document,
    /// What was extracted from it, if extraction has run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extraction: Option<Extraction>,
}

/// A document in the list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PaperLine {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The first file that contains it.
    pub path: String,
    /// SHA-256 of its content.
    pub fingerprint: String,
}

/// Adds, lists, shows, extracts from or removes documents.
pub fn run(arguments: &Arguments, command: &PapersCommand) -> Result<Status> {
    let index = lake::place(arguments, None)?.index;
    match &command.what {
        PapersWhat::Add { paths, again } => add_paths(arguments, &index, paths, *again),
        PapersWhat::List { containing } => list(arguments, &index, containing.as_deref()),
        PapersWhat::Show { id } => show(arguments, &index, id),
        PapersWhat::Extract { again, rules, tokens, money } => {
            let run = RunLimits { tokens: *tokens, money: *money };
            extract(arguments, &index, (*again, *rules), run)
        }
        PapersWhat::Remove { ids } => remove(arguments, &index, ids),
    }
}

/// The child process that reads one PDF and sends the result to its parent over stdout.
pub fn read_pdf(path: &Path) -> Result<Status> {
    isolated::serve(path, &mut std::io::stdout().lock()).map_err(|error| Error::io("write", path, error))?;
    Ok(Status::Done)
}

fn add_paths(arguments: &Arguments, index: &Path, paths: &[PathBuf], again: bool) -> Result<Status> {
    let progress = progress::Bar::new(arguments.quiet)?;
    let options = AddOptions { again, pdf: PdfReader::of_this_program() };
    let added = add::add(index, paths, &options, &progress);
    progress.finish();
    let stats = added?;
    let status = match &stats {
        AddStats { left: 1.., .. } => Status::Interrupted,
        AddStats { files: 0, .. } => Status::NothingFound,
        AddStats { failed, partial, .. } if !failed.is_empty() || !partial.is_empty() => Status::InPart,
        _ => Status::Done,
    };
    if arguments.json {
        printer::json(&stats)?;
        return Ok(status);
    }
    printer::papers::faults(&stats.failed, "not read");
    printer::papers::faults(&stats.partial, "read in part");
    if !arguments.quiet {
        summary(&stats);
    }
    Ok(status)
}

fn summary(stats: &AddStats) {
    if stats.files == 0 {
        printer::narrate("no document found");
        return;
    }
    let mut parts = vec![format!("{} read", stats.read), format!("{} unchanged", stats.unchanged)];
    let others = [
        (stats.failed.len() as u64, "failed"),
        (stats.partial.len() as u64, "in part"),
        (stats.left, "left for the next run"),
        (stats.passed_over, "skipped (other formats)"),
    ];
    parts.extend(others.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    let duplicates = match stats.duplicates {
        0 => String::new(),
        count => format!(", {count} with content already stored"),
    };
    printer::line(&format!(
        "{} ({}): {}{duplicates}; {} in all; {} in {:.1} s",
        counted(stats.files, "file"),
        parts.join(", "),
        counted(stats.documents, "document"),
        counted(stats.stored, "document"),
        printer::bytes(stats.read_bytes),
        stats.elapsed_ms as f64 / 1000.0
    ));
}

fn list(arguments: &Arguments, index: &Path, containing: Option<&str>) -> Result<Status> {
    let store = Store::open(index)?;
    let part = containing.unwrap_or_default().to_lowercase();
    let matches =
        |entry: &DocumentEntry| entry.id.to_lowercase().contains(&part) || entry.title.to_lowercase().contains(&part);
    let line = |entry: &DocumentEntry, file: &FileRecord| PaperLine {
        id: entry.id.clone(),
        title: entry.title.clone(),
        path: file.path.clone(),
        fingerprint: entry.fingerprint.as_str().to_string(),
    };
    let documents: Vec<PaperLine> =
        store.entries().filter(|(entry, _)| matches(entry)).map(|(entry, file)| line(entry, file)).collect();
    let faults_of = |status: FileStatus| -> Vec<FileFault> {
        let faulty = store.files().filter(|file| file.status() == status);
        let fault =
            |file: &FileRecord| FileFault { path: file.path.clone(), reason: file.reason.clone().unwrap_or_default() };
        faulty.map(fault).collect()
    };
    let (failed, partial) = (faults_of(FileStatus::Failed), faults_of(FileStatus::InPart));
    let status = match (documents.is_empty(), failed.is_empty() && partial.is_empty()) {
        (true, _) => Status::NothingFound,
        (false, false) => Status::InPart,
        (false, true) => Status::Done,
    };
    if arguments.json {
        let folder = store.folder().display().to_string();
        let faults = failed.into_iter().chain(partial).collect();
        printer::json(&PaperList { lakeward: env!("CARGO_PKG_VERSION"), folder, documents, faults })?;
        return Ok(status);
    }
    printer::papers::documents(&documents);
    printer::papers::faults(&failed, "not read");
    printer::papers::faults(&partial, "read in part");
    if store.is_empty() && !arguments.quiet {
        printer::narrate("there are no papers yet; add some with `lakeward papers add PATH`");
    }
    Ok(status)
}

fn show(arguments: &Arguments, index: &Path, id: &str) -> Result<Status> {
    let document = Store::open(index)?.document(id)?;
    let stored = run::of_document(index, &document.fingerprint)?;
    let extraction = stored.map(|stored| stored.extraction);
    if arguments.json {
        printer::json(&PaperShown { document, extraction })?;
        return Ok(Status::Done);
    }
    printer::papers::document(&document);
    if let Some(extraction) = &extraction {
        printer::papers::extraction(extraction);
    }
    Ok(Status::Done)
}

/// The known dataset names are those of the index, if there is one.
fn extract(arguments: &Arguments, index: &Path, (again, rules): (bool, bool), run: RunLimits) -> Result<Status> {
    let place = lake::place(arguments, None)?;
    let config = place.config()?;
    let mut model = if rules { None } else { lake::model(arguments, &place, &config)? };
    let trust = match (config.llm.extraction, &model) {
        (None, Some(model)) => model.measured(&place, ModelRole::Extraction)?.map(|measured| measured.trust),
        (set, _) => set,
    };
    if trust == Some(0.0) && model.take().is_some() && !arguments.quiet {
        printer::narrate(
            "the model reads papers no better than the rules, as measured or set (`llm.extraction`): the rules read them",
        );
    }
    if trust.is_none() && model.is_some() && !arguments.quiet {
        printer::narrate("how well the model reads papers was not measured: `lakeward model check` does");
    }
    let known = match Lakeward::open_at(place) {
        Ok(lakeward) => known_names(&lakeward)?,
        Err(Error::NoIndex { .. }) => KnownDatasets::default(),
        Err(error) => return Err(error),
    };
    if known.is_empty() && !arguments.quiet {
        printer::narrate("no dataset names are known, because the lake has no index; `lakeward index` builds it");
    }
    let model = model.as_ref().map(|model| model.extractor(config.llm.limits(), run));
    let concurrency = config.llm.manners().concurrency;
    let progress = progress::Bar::new(arguments.quiet)?;
    let options = ExtractOptions { again, rules, model: model.as_ref(), concurrency };
    let extracted = run::extract_all(index, &known, &options, &progress);
    progress.finish();
    let stats = extracted?;
    let status = match &stats {
        ExtractStats { left: 1.., .. } => Status::Interrupted,
        ExtractStats { documents: 0, .. } => Status::NothingFound,
        ExtractStats { problems, .. } if !problems.is_empty() => Status::InPart,
        _ => Status::Done,
    };
    if let Some(trouble) = stats.trouble.as_ref().filter(|_| !arguments.quiet) {
        let count = counted(stats.by_rules_instead, "document");
        printer::narrate(&shown(
            &format!("the model failed for {count}, which rules extracted instead: {trouble}"),
            300,
        ));
    }
    if arguments.json {
        printer::json(&stats)?;
        return Ok(status);
    }
    stats.problems.iter().for_each(|problem| printer::note(problem));
    if !arguments.quiet {
        extracted_summary(&stats);
    }
    Ok(status)
}

/// Titles of tables and records, and the names that the user or a model has merged with them.
fn known_names(lakeward: &Lakeward) -> Result<KnownDatasets> {
    let verdicts = Verdicts::read(&lakeward.task_graph_folder())?;
    Ok(known_datasets(&DatasetRecord::all(lakeward.index())?, &verdicts))
}

fn extracted_summary(stats: &ExtractStats) {
    if stats.documents == 0 {
        printer::narrate("there are no papers yet; add some with `lakeward papers add PATH`");
        return;
    }
    let left = match stats.left {
        0 => String::new(),
        left => format!(", {left} left for the next run"),
    };
    printer::line(&format!(
        "{} ({} extracted, {} unchanged{left}): {} with datasets, {}, {} in {:.1} s",
        counted(stats.documents, "document"),
        stats.extracted,
        stats.unchanged,
        stats.relevant,
        counted(stats.tasks, "task"),
        counted(stats.datasets, "dataset"),
        stats.elapsed_ms / 1000.0
    ));
    if stats.by_model + stats.by_rules_instead > 0 {
        printer::safe_line(&format!(
            "  {} by {}, {} by rules instead; {}, {}",
            stats.by_model,
            stats.extractor,
            stats.by_rules_instead,
            counted(stats.calls, "call"),
            counted(stats.tokens, "token")
        ));
    }
    printer::safe_line(&format!("  {}", stats.path.display()));
}

fn remove(arguments: &Arguments, index: &Path, ids: &[String]) -> Result<Status> {
    let removed = Store::remove(index, ids)?;
    if arguments.json {
        printer::json(&removed)?;
    } else if !arguments.quiet {
        for entry in &removed {
            printer::note(&format!("removed `{}`: {}", entry.id, shown(&entry.title, 120)));
        }
    }
    Ok(Status::Done)
}
