//! A benchmark as plain types: the part of a query that a system sees, and separately the labels it is scored by.
//!
//! [`super::layout`] reads one from a folder; nothing here reads files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::request::{Intention, OperationKind};

/// The kind of answer that a query asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Tables that share key values with the query table.
    Join,
    /// Tables whose rows could be appended to the query table.
    Union,
    /// Tables or records that answer a text.
    Search,
    /// Datasets used for a research task given in a sentence.
    TaskSearch,
    /// The one table that a conversation is about; a list is returned after every turn.
    Dialogue,
    /// The operation and the intention of a request.
    Signals,
}

lakeward_core::names! { Task, "Its name in files and on the command line.":
    Join = "join",
    Union = "union",
    Search = "search",
    TaskSearch = "task-search",
    Dialogue = "dialogue",
    Signals = "signals",
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The part of a query that a system sees.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchQuery {
    /// Its id in judgments and runs.
    pub id: String,
    /// Its task.
    pub task: Task,
    /// The file of the query table, checked to lie in the benchmark's folder.
    pub table: Option<PathBuf>,
    /// The id of the query table in the lake, if it is there; never a valid answer.
    pub origin: Option<String>,
    /// The column to join on.
    pub column: Option<String>,
    /// The columns of a composite key; then `column` is empty.
    pub columns: Vec<String>,
    /// The request in words.
    pub text: Option<String>,
    /// The user's turns, for a dialogue. A system that answers after every turn is called once per turn, with the turns so far.
    pub turns: Vec<String>,
    /// A paper that must be excluded from the search.
    pub exclude_paper: Option<String>,
}

/// The operation and intention that a request was labelled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalLabels {
    /// The requested operation.
    pub operation: OperationKind,
    /// The intention.
    pub intention: Intention,
}

/// A query with its labels, which systems do not see.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledQuery {
    /// The part that a system sees.
    pub query: BenchQuery,
    /// Its set of judgments; sets are scored separately.
    pub labels: Option<String>,
    /// Its style (keywords, a question); styles are scored separately.
    pub style: Option<String>,
    /// How the user of a dialogue corrects himself: `same-turn`, `later-turn`, `none`; also scored separately.
    pub correction: Option<String>,
    /// The labels of its request, or of every turn; `None` if not labelled.
    pub signals: Vec<Option<SignalLabels>>,
}

impl LabelledQuery {
    /// The group it is scored in, besides its task: label set and style, separated by a space; may be empty.
    pub fn group(&self) -> String {
        let parts: Vec<&str> = [&self.labels, &self.style].into_iter().flatten().map(String::as_str).collect();
        parts.join(" ")
    }
}

/// Grades of documents for one query: above 0 relevant, 0 and below not relevant, absent: not judged.
pub type Grades = HashMap<String, i64>;

/// An unusable part of a benchmark's files, counted and reported with a few examples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// What is wrong, and how it was handled.
    pub what: String,
    /// How often.
    pub count: u64,
    /// The first few, as `file:line` or ids.
    pub examples: Vec<String>,
}

/// The problems of a benchmark by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems(BTreeMap<String, (u64, Vec<String>)>);

/// Examples stored per problem.
const EXAMPLES: usize = 3;
/// Characters stored of an example.
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

    /// How often `what` occurred.
    pub fn count(&self, what: &str) -> u64 {
        self.0.get(what).map_or(0, |(count, _)| *count)
    }

    /// Adds the counts of `other`.
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

/// The file layout that a benchmark was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutKind {
    /// `queries.jsonl` and `qrels.txt` next to `lake/` or `corpus.jsonl`.
    Trec,
    /// Labelled requests and dialogues: `requests.jsonl`, `dialogues.jsonl`.
    Requests,
    /// LakeBench: `*_query.csv` and `*_ground_truth.csv` next to a folder of tables.
    Lakebench,
    /// SANTOS, TUS and similar: pairs as CSV next to `query/` and `datalake/`.
    Pairs,
}

/// Queries, judgments and the location of the documents.
#[derive(Debug, Clone)]
pub struct Benchmark {
    /// The name of its folder.
    pub name: String,
    /// Its file layout.
    pub layout: LayoutKind,
    /// The queries, in the order of the files.
    pub queries: Vec<LabelledQuery>,
    /// Grades by query.
    pub qrels: HashMap<String, Grades>,
    /// By query, documents that look relevant but were not judged; the condensed score drops them from rankings.
    pub unjudged: HashMap<String, HashSet<String>>,
    /// The folder of the searchable tables.
    pub lake: Option<PathBuf>,
    /// Metadata records, JSON lines: the documents if there is no lake, otherwise titles and descriptions of its tables.
    pub corpus: Option<PathBuf>,
    /// Extractions of papers, JSON lines; for task search.
    pub papers: Vec<PathBuf>,
    /// The parts that could not be used.
    pub problems: Problems,
}
