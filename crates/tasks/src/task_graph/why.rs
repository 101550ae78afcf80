//! Why two names are the same dataset, or are not; and the user's own verdicts.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::dataset::DatasetRecord;
use super::graph::TaskGraph;
use super::nodes::mention_record;
use super::resolution::Resolution;
use super::verdicts::{Decision, Named, Stage, VERSION, Verdict, Verdicts};
use lakeward_core::error::{Error, Result, nearest_names};

/// Everything with a dataset name: records and tables of the index, and names in documents.
pub struct NameBook {
    records: Vec<DatasetRecord>,
    names: Vec<String>,
}

/// Why two names are the same dataset, or are not.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Why {
    /// One of them.
    pub a: Named,
    /// The other.
    pub b: Named,
    /// Whether they are one dataset.
    pub joined: bool,
    /// The verdicts that join them, as a chain from one to the other.
    pub way: Vec<Verdict>,
    /// If they are not joined: the verdicts about either one, those about both first.
    pub others: Vec<Verdict>,
}

/// Maximum number of verdicts listed for two names that are not joined.
const MAX_OTHERS: usize = 20;

impl NameBook {
    /// From `graph` and the `records` of the index, sorted by id.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`].
    pub fn new(graph: &TaskGraph, records: Vec<DatasetRecord>) -> Result<Self> {
        let mut names = BTreeSet::new();
        for document in graph.extractions()? {
            for mention in document.tasks.iter().flat_map(|task| &task.datasets) {
                names.extend(mention.also.iter().cloned());
                if mention_record(&records, mention).is_none() {
                    names.insert(mention.name.clone());
                }
            }
        }
        Ok(Self { records, names: names.into_iter().collect() })
    }

    /// Resolves `text`: a record by id, then by title, then a name in documents; then the same three ignoring case.
    ///
    /// # Errors
    /// [`Error::Usage`] with the nearest names.
    pub fn find(&self, text: &str) -> Result<Named> {
        let record = |record: &DatasetRecord| Named::Record(record.id.clone());
        let name = |name: &String| Named::Name(name.clone());
        let lower = text.to_lowercase();
        let found = self.records.iter().find(|record| record.id == text).map(record);
        let found = found.or_else(|| self.records.iter().find(|record| record.title == text).map(record));
        let found = found.or_else(|| self.names.iter().find(|name| *name == text).map(name));
        let found = found.or_else(|| self.records.iter().find(|record| record.id.to_lowercase() == lower).map(record));
        let found =
            found.or_else(|| self.records.iter().find(|record| record.title.to_lowercase() == lower).map(record));
        let found = found.or_else(|| self.names.iter().find(|name| name.to_lowercase() == lower).map(name));
        found.ok_or_else(|| {
            let known = self.records.iter().flat_map(|record| [record.id.as_str(), record.title.as_str()]);
            let mut near = nearest_names(text, known.chain(self.names.iter().map(String::as_str)), 8);
            near.dedup();
            let near: Vec<String> = near.iter().take(5).map(|name| format!("`{name}`")).collect();
            let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
            Error::usage(format!("neither a record nor a name in documents is called `{text}`{hint}"))
        })
    }

    /// Why the two are the same dataset or not, according to `verdicts`.
    pub fn why(&self, a: &Named, b: &Named, verdicts: &Verdicts, resolved: bool) -> Why {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let resolution = Resolution::of_verdicts(&self.records, &names, verdicts.clone(), resolved);
        let way = verdicts.way(a, b, |verdict| resolution.is_joined(&self.records, verdict));
        let mut others: Vec<Verdict> = Vec::new();
        if way.is_none() {
            let is_of = |verdict: &&Verdict, one: &Named| verdict.a == *one || verdict.b == *one;
            others.extend(verdicts.iter().filter(|verdict| is_of(verdict, a) || is_of(verdict, b)).cloned());
            others.sort_by_key(|verdict| !(is_of(&verdict, a) && is_of(&verdict, b)));
            others.truncate(MAX_OTHERS);
        }
        let joined = way.is_some();
        Why { a: a.clone(), b: b.clone(), joined, way: way.into_iter().flatten().cloned().collect(), others }
    }
}

/// The user's verdict that two names are the same dataset, or are not.
pub fn users_word(a: &Named, b: &Named, same: bool) -> Verdict {
    let (decision, sentence) = match same {
        true => (Decision::Same, "the user says that they are one dataset"),
        false => (Decision::Different, "the user says that they are two datasets"),
    };
    let by = "user".to_string();
    Verdict {
        version: VERSION,
        a: a.clone(),
        b: b.clone(),
        stage: Stage::User,
        decision,
        by,
        sentence: sentence.into(),
    }
}
