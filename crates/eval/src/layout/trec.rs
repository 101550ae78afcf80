//! `queries.jsonl` and `qrels.txt` next to `lake/`, `corpus.jsonl` and `queries/`.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::documents::{documents, record_ids};
use super::judgments::{read_qrels, read_unjudged};
use super::lines::{bad_file, bad_line, file_of, read_json};
use super::requests::{SignalFields, Turn};
use super::{inside, name_of};
use crate::benchmark::{BenchQuery, Benchmark, Grades, LabelledQuery, LayoutKind, Problems, Task};
use lakeward_core::error::{Error, Result, nearest_names};

/// The version of `benchmark.json` that this program reads.
const SETTINGS_VERSION: u32 = 1;
/// Maximum size of `benchmark.json`, in bytes.
const MAX_SETTINGS_BYTES: u64 = 1 << 16;

#[derive(Deserialize)]
struct QueryLine {
    id: String,
    task: Option<String>,
    table: Option<String>,
    column: Option<String>,
    /// The columns of a composite key.
    #[serde(default)]
    columns: Vec<String>,
    text: Option<String>,
    #[serde(default)]
    turns: Vec<Turn>,
    labels: Option<String>,
    style: Option<String>,
    correction: Option<String>,
    exclude_paper: Option<String>,
    #[serde(flatten)]
    signals: SignalFields,
}

/// Reads the benchmark in `folder`.
///
/// # Errors
/// As [`super::read`].
pub fn read(folder: &Path) -> Result<Benchmark> {
    let mut problems = Problems::default();
    let path = file_of(folder, "queries.jsonl").ok_or_else(|| bad_file(folder, "no queries.jsonl"))?;
    let mut queries: Vec<LabelledQuery> = Vec::new();
    let mut ids = HashSet::new();
    read_json(&path, |number, line: QueryLine| {
        if !ids.insert(line.id.clone()) {
            problems.add("queries with a repeated id; left out", &format!("{}:{number}", line.id));
            return Ok(());
        }
        if let Some(query) = labelled(folder, line, &mut problems).map_err(|reason| bad_line(&path, number, &reason))? {
            queries.push(query);
        }
        Ok(())
    })?;
    let qrels = match file_of(folder, "qrels.txt") {
        Some(path) => read_qrels(&path, &mut problems)?,
        None => HashMap::new(),
    };
    let unjudged = match file_of(folder, "unjudged.txt") {
        Some(path) => read_unjudged(&path)?,
        None => HashMap::new(),
    };
    let lake = lake_of(folder)?;
    let corpus = file_of(folder, "corpus.jsonl");
    let known = match (&lake, &corpus) {
        (Some(lake), _) => Some(documents(lake)?.into_iter().map(|document| document.id).collect()),
        (None, Some(corpus)) => Some(record_ids(corpus)?.into_iter().collect()),
        (None, None) => None,
    };
    check(&qrels, &ids, known.as_ref(), &mut problems);
    let name = name_of(folder);
    let papers = file_of(folder, "papers.jsonl").into_iter().collect();
    Ok(Benchmark { name, layout: LayoutKind::Trec, queries, qrels, unjudged, lake, corpus, papers, problems })
}

/// The optional file `benchmark.json`.
#[derive(Deserialize)]
struct Settings {
    version: u32,
    /// The folder of the tables, relative to this one, for a benchmark over a lake elsewhere. The only path that may lead out of
    /// the folder; never absolute.
    lake: Option<String>,
}

/// The folder given in `benchmark.json`, otherwise `lake/` if it exists.
fn lake_of(folder: &Path) -> Result<Option<PathBuf>> {
    let path = folder.join("benchmark.json");
    let own = Some(folder.join("lake")).filter(|lake| lake.is_dir());
    let Ok(found) = fs::metadata(&path) else { return Ok(own) };
    if found.len() > MAX_SETTINGS_BYTES {
        return Err(bad_file(&path, format!("larger than {MAX_SETTINGS_BYTES} bytes")));
    }
    let text = fs::read_to_string(&path).map_err(|error| Error::io("read", &path, error))?;
    let settings: Settings = serde_json::from_str(&text).map_err(|error| bad_file(&path, error.to_string()))?;
    if settings.version != SETTINGS_VERSION {
        let reason = format!("version {}; this program reads version {SETTINGS_VERSION}", settings.version);
        return Err(bad_file(&path, reason));
    }
    let Some(named) = settings.lake else { return Ok(own) };
    if Path::new(&named).has_root() {
        return Err(bad_file(&path, format!("`lake` is `{named}`; it has to be a path from the benchmark's folder")));
    }
    let lake = folder.join(&named);
    match lake.is_dir() {
        true => Ok(Some(lake)),
        false => Err(bad_file(&path, format!("`lake` names no folder: `{}`", lake.display()))),
    }
}

/// Counts judgments of missing queries or documents. They are kept, as in trec_eval: a missing document is never found.
fn check(
    qrels: &HashMap<String, Grades>,
    queries: &HashSet<String>,
    documents: Option<&HashSet<String>>,
    problems: &mut Problems,
) {
    let mut judged: Vec<&String> = qrels.keys().collect();
    judged.sort();
    for query in judged {
        if !queries.contains(query) {
            problems.add("queries with judgments that queries.jsonl does not have; not used", query);
            continue;
        }
        let Some(documents) = documents else { continue };
        let mut missing: Vec<&String> = qrels[query].keys().filter(|id| !documents.contains(*id)).collect();
        missing.sort();
        for id in missing {
            let what = if qrels[query][id] > 0 { "relevant" } else { "not relevant" };
            problems.add(
                &format!("judged documents ({what}) that are not in the benchmark; they count as never found"),
                &format!("{query} {id}"),
            );
        }
    }
}

/// The query of a line; `None` if its table is missing.
fn labelled(folder: &Path, line: QueryLine, problems: &mut Problems) -> Result<Option<LabelledQuery>, String> {
    if line.id.trim().is_empty() {
        return Err("the query has an empty `id`".into());
    }
    let task = match line.task.as_deref() {
        Some(name) => Task::named(name).ok_or_else(|| unknown_task(name))?,
        None if !line.turns.is_empty() => Task::Dialogue,
        None => return Err(format!("the query has no `task`: {}", task_names())),
    };
    let table = match &line.table {
        Some(relative) => match inside(folder, relative)? {
            Some(path) => Some(path),
            None => {
                problems.add("queries whose table is missing; left out", &format!("{}: {relative}", line.id));
                return Ok(None);
            }
        },
        None => None,
    };
    let lacks = |what: &str| Err(format!("a query of task `{task}` needs `{what}`"));
    match task {
        Task::Join | Task::Union if table.is_none() => return lacks("table"),
        Task::Search | Task::TaskSearch | Task::Signals if line.text.is_none() => return lacks("text"),
        Task::Dialogue if line.turns.is_empty() => return lacks("turns"),
        _ => {}
    }
    let signals = match line.turns.is_empty() {
        true => vec![line.signals.labels()?],
        false => line.turns.iter().map(|turn| turn.signals.labels()).collect::<Result<_, _>>()?,
    };
    let query = BenchQuery {
        id: line.id,
        task,
        table,
        origin: None,
        column: line.column.filter(|_| line.columns.is_empty()),
        columns: line.columns,
        text: line.text,
        turns: line.turns.into_iter().map(|turn| turn.text).collect(),
        exclude_paper: line.exclude_paper,
    };
    Ok(Some(LabelledQuery { query, labels: line.labels, style: line.style, correction: line.correction, signals }))
}

fn unknown_task(name: &str) -> String {
    match nearest_names(name, Task::ALL.map(Task::name), 1).first() {
        Some(nearest) => format!("unknown task `{name}`; did you mean `{nearest}`?"),
        None => format!("unknown task `{name}`: {}", task_names()),
    }
}

fn task_names() -> String {
    format!("one of {}", Task::ALL.map(|task| format!("`{task}`")).join(", "))
}
