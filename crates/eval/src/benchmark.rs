//! A benchmark as plain types: what a system sees of a query, and apart from that what it is scored by.
//!
//! [`super::layout`] makes one from a folder; nothing here reads files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::request::{Intention, OperationKind};

/// Which kind of answer a query asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Tables that share key values with the query table.
    Join,
    /// Tables whose rows could be appended to the query table.
    Union,
    /// Tables or records that answer a text.
    Search,
    /// Data sets used for a research task told in a sentence.
    TaskSearch,
    /// The one table a conversation is after; a list is given after every turn.
    Dialogue,
    /// The operation and the intention of a request.
    Signals,
}

impl Task {
    /// All of them.
    pub const ALL: [Task; 6] = [Task::Join, Task::Union, Task::Search, Task::TaskSearch, Task::Dialogue, Task::Signals];

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Task::Join => "join",
            Task::Union => "union",
            Task::Search => "search",
            Task::TaskSearch => "task-search",
            Task::Dialogue => "dialogue",
            Task::Signals => "signals",
        }
    }

    /// The task of this name.
    pub fn named(name: &str) -> Option<Self> {
        Task::ALL.into_iter().find(|task| task.name() == name)
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// All that a system sees of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchQuery {
    /// Its id in judgments and runs.
    pub id: String,
    /// What is asked for.
    pub task: Task,
    /// The file of the query table, checked to lie in the benchmark's folder.
    pub table: Option<PathBuf>,
    /// The id under which the query table itself lies in the lake, where it does; never an answer.
    pub origin: Option<String>,
    /// The column to join on.
    pub column: Option<String>,
    /// Columns that are the key only together; `column` is empty then.
    pub columns: Vec<String>,
    /// The request in words.
    pub text: Option<String>,
    /// What the user says turn by turn, of a dialogue. A system that answers after every turn is asked once a turn, with the
    /// turns so far.
    pub turns: Vec<String>,
    /// A paper that must be left out of whatever is searched.
    pub exclude_paper: Option<String>,
}

/// The operation and intention that a request was labelled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalLabels {
    /// What it asks for.
    pub operation: OperationKind,
    /// What for.
    pub intention: Intention,
}

/// A query with what is kept from the systems.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledQuery {
    /// What a system sees.
    pub query: BenchQuery,
    /// Which set of judgments it belongs to; scored apart.
    pub labels: Option<String>,
    /// How it is put (keywords, a question); scored apart.
    pub style: Option<String>,
    /// How the user of a dialogue corrects himself: `same-turn`, `later-turn`, `none`; scored apart, too.
    pub correction: Option<String>,
    /// The labels of its request, or of every turn; none for what is not labelled.
    pub signals: Vec<Option<SignalLabels>>,
}

impl LabelledQuery {
    /// The group it is scored in, beside its task: label set and style, parted by a space; empty without both.
    pub fn group(&self) -> String {
        let parts: Vec<&str> = [&self.labels, &self.style].into_iter().flatten().map(String::as_str).collect();
        parts.join(" ")
    }
}

/// Grades of documents for one query: above 0 relevant, 0 and below judged and not relevant, absent not judged.
pub type Grades = HashMap<String, i64>;

/// Something in the files of a benchmark that could not be used as it stands, counted and shown with a few examples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// What is wrong, and what was done about it.
    pub what: String,
    /// How often.
    pub count: u64,
    /// The first few, as `file:line` or ids.
    pub examples: Vec<String>,
}

/// The problems of a benchmark by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems(BTreeMap<String, (u64, Vec<String>)>);

/// Examples kept of a problem.
const EXAMPLES: usize = 3;
/// Characters kept of an example.
const EXAMPLE_CHARS: usize = 120;

impl Problems {
    /// Counts one more `what`, seen at `example`.
    pub fn add(&mut self, what: &str, example: &str) {
        let (count, examples) = self.0.entry(what.to_string()).or_default();
        *count += 1;
        if examples.len() < EXAMPLES {
            examples.push(lakeward_core::text::shown(example, EXAMPLE_CHARS));
        }
    }

    /// How often `what` was met.
    pub fn count(&self, what: &str) -> u64 {
        self.0.get(what).map_or(0, |(count, _)| *count)
    }

    /// Adds what `other` counted.
    pub fn merge(&mut self, other: &Problems) {
        for (what, (count, examples)) in &other.0 {
            let own = self.0.entry(what.clone()).or_default();
            own.0 += count;
            own.1.extend(examples.iter().take(EXAMPLES.saturating_sub(own.1.len())).cloned());
        }
    }

    /// As a list, by kind.
    pub fn list(&self) -> Vec<Problem> {
        let problem = |(what, (count, examples)): (&String, &(u64, Vec<String>))| Problem {
            what: what.clone(),
            count: *count,
            examples: examples.clone(),
        };
        self.0.iter().map(problem).collect()
    }
}

/// Which files a benchmark was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutKind {
    /// `queries.jsonl` and `qrels.txt` beside `lake/` or `corpus.jsonl`.
    Trec,
    /// Labelled requests and dialogues: `requests.jsonl`, `dialogues.jsonl`.
    Requests,
    /// LakeBench: `*_query.csv` and `*_ground_truth.csv` beside a folder of tables.
    Lakebench,
    /// SANTOS, TUS and the like: pairs as CSV beside `query/` and `datalake/`.
    Pairs,
}

/// Queries, judgments and where the documents lie.
#[derive(Debug, Clone)]
pub struct Benchmark {
    /// The name of its folder.
    pub name: String,
    /// What it was read from.
    pub layout: LayoutKind,
    /// The queries, in the order of the files.
    pub queries: Vec<LabelledQuery>,
    /// Grades by query.
    pub qrels: HashMap<String, Grades>,
    /// Documents by query that look relevant and that nobody judged: dropped from a ranking by the condensed score.
    pub unjudged: HashMap<String, HashSet<String>>,
    /// The folder of the searchable tables.
    pub lake: Option<PathBuf>,
    /// Metadata records, JSON lines: the documents where there is no lake, else titles and more of its tables.
    pub corpus: Option<PathBuf>,
    /// What papers say, JSON lines: of searches for the datasets of a task.
    pub papers: Vec<PathBuf>,
    /// What could not be used.
    pub problems: Problems,
}
