//! Labelled requests and dialogues: `requests.jsonl`, `dialogues.jsonl`, for signals only.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Deserialize;

use super::lines::{bad_line, file_of, read_json};
use super::{inside, name_of};
use crate::benchmark::{BenchQuery, Benchmark, LabelledQuery, LayoutKind, Problems, SignalLabels, Task};
use lakeward_core::error::{Result, nearest_names};
use lakeward_core::request::{Intention, Label, OperationKind};

/// The optional labels of a request.
#[derive(Deserialize, Default)]
pub(super) struct SignalFields {
    operation: Option<String>,
    intention: Option<String>,
}

impl SignalFields {
    /// The labels, if both are given.
    ///
    /// # Errors
    /// The reason, for an unknown label.
    pub fn labels(&self) -> Result<Option<SignalLabels>, String> {
        let (Some(operation), Some(intention)) = (&self.operation, &self.intention) else { return Ok(None) };
        let labels = SignalLabels {
            operation: named::<OperationKind>("operation", operation)?,
            intention: named::<Intention>("intention", intention)?,
        };
        Ok(Some(labels))
    }
}

fn named<L: Label>(what: &str, name: &str) -> Result<L, String> {
    let found = L::ALL.iter().find(|label| label.name() == name);
    found.copied().ok_or_else(|| {
        let names = L::ALL.iter().map(|label| label.name());
        let all: Vec<&str> = names.clone().collect();
        match nearest_names(name, names, 1).first() {
            Some(nearest) => format!("unknown {what} `{name}`; did you mean `{nearest}`?"),
            None => format!("unknown {what} `{name}`: one of {}", all.join(", ")),
        }
    })
}

/// A user's turn.
#[derive(Deserialize)]
pub(super) struct Turn {
    pub text: String,
    #[serde(flatten)]
    pub signals: SignalFields,
}

#[derive(Deserialize)]
struct RequestLine {
    id: String,
    text: Option<String>,
    /// The query table, below the folder.
    table: Option<String>,
    #[serde(default)]
    turns: Vec<Turn>,
    labels: Option<String>,
    #[serde(flatten)]
    signals: SignalFields,
}

/// Reads the requests and dialogues in `folder`; each file is a separate group.
///
/// # Errors
/// As [`super::read`].
pub fn read(folder: &Path) -> Result<Benchmark> {
    let mut problems = Problems::default();
    let mut queries = Vec::new();
    let mut ids = HashSet::new();
    for group in ["requests", "dialogues"] {
        let Some(path) = file_of(folder, &format!("{group}.jsonl")) else { continue };
        read_json(&path, |number, line: RequestLine| {
            if !ids.insert(line.id.clone()) {
                problems.add("requests with a repeated id; left out", &format!("{}:{number}", line.id));
                return Ok(());
            }
            let query = labelled(folder, group, line).map_err(|reason| bad_line(&path, number, &reason))?;
            if query.signals.iter().all(Option::is_none) {
                problems.add("requests without `operation` and `intention`; not scored", &query.query.id);
            }
            queries.push(query);
            Ok(())
        })?;
    }
    Ok(Benchmark {
        name: name_of(folder),
        layout: LayoutKind::Requests,
        queries,
        qrels: HashMap::new(),
        unjudged: HashMap::new(),
        lake: Some(folder.join("lake")).filter(|lake| lake.is_dir()),
        corpus: None,
        papers: Vec::new(),
        problems,
    })
}

fn labelled(folder: &Path, group: &str, line: RequestLine) -> Result<LabelledQuery, String> {
    let table = line.table.as_deref().map(|relative| inside(folder, relative)).transpose()?.flatten();
    let (turns, signals): (Vec<String>, Vec<_>) = match (line.text, line.turns) {
        (Some(text), turns) if turns.is_empty() => (vec![text], vec![line.signals.labels()?]),
        (None, turns) if !turns.is_empty() => {
            let signals = turns.iter().map(|turn| turn.signals.labels()).collect::<Result<_, _>>()?;
            (turns.into_iter().map(|turn| turn.text).collect(), signals)
        }
        _ => return Err("it has neither or both of `text` and `turns`".into()),
    };
    let query = BenchQuery {
        id: line.id,
        task: Task::Signals,
        table,
        origin: None,
        column: None,
        columns: Vec::new(),
        text: turns.first().filter(|_| turns.len() == 1).cloned(),
        turns,
        exclude_paper: None,
    };
    Ok(LabelledQuery {
        query,
        labels: Some(line.labels.unwrap_or_else(|| group.to_string())),
        style: None,
        correction: None,
        signals,
    })
}
