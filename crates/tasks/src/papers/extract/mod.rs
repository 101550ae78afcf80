//! Which datasets were used for which tasks, read from a document in three steps, by rules or by a language model.
//!
//! [`gate`] decides whether the document uses datasets at all. `mentions` finds names of datasets, known ones
//! ([`KnownDatasets`]) and those that the text itself introduces, and `score` keeps those that the document works with and does
//! not merely cite. `tasks` finds the names of the document's tasks and assigns each dataset to the task named nearest to it.
//! [`extract`] runs all three; [`run`] runs it for all documents of a store. The rules count over sentences and their
//! sections, with one linear score; every dataset keeps the sentence that best shows its use.
//!
//! [`ExtractionModel`] asks a language model for the same three steps: `excerpt` is the text it gets, `ground` checks its
//! answers against that text. No dataset name is built in.

mod cues;
mod excerpt;
mod extraction_file;
mod gazetteer;
mod ground;
mod known;
mod languages;
mod lines;
mod mentions;
mod model;
mod patterns;
mod phrases;
mod relevance;
pub mod run;
mod score;
mod tasks;

pub use extraction_file::StoredExtraction;
pub use known::{KnownDatasets, KnownRecord};
pub use model::{ExtractionModel, NotExtracted};
pub use relevance::Relevance;

use super::document::Document;
use super::extraction::{DatasetMention, ExtractedTask, Extraction};
use lines::Lines;
use mentions::{Mention, Mentions};
use relevance::relevance;

/// The version of the rules: documents extracted by another version are extracted again.
pub const EXTRACTOR: &str = "rules@2";

/// The datasets and tasks of `document`; without tasks if it uses no datasets.
pub fn extract(document: &Document, known: &KnownDatasets) -> Extraction {
    let lines = Lines::of(document);
    let mentions = Mentions::of(&lines, known);
    let mut found = Extraction {
        document: document.id.clone(),
        title: document.title.clone(),
        year: document.year.map(i32::from),
        text: lines.summary(),
        tasks: Vec::new(),
        extractor: EXTRACTOR.into(),
    };
    if relevance(&lines, &mentions).uses_datasets {
        let kept = score::used(&mentions);
        found.tasks = tasks::tasks(&lines, &kept);
    }
    found.bounded()
}

/// Whether `document` uses datasets at all: the gate of [`extract`].
pub fn gate(document: &Document, known: &KnownDatasets) -> Relevance {
    let lines = Lines::of(document);
    relevance(&lines, &Mentions::of(&lines, known))
}

/// A mention in the graph's form, with the sentence that best shows its use.
fn dataset(mention: &Mention, lines: &Lines<'_>) -> DatasetMention {
    let best = mention.best();
    DatasetMention {
        name: mention.name.clone(),
        description: mention.described.map(|line| lines.text(line).to_string()),
        sentence: best.map(|line| lines.text(line).to_string()),
        section: best.map(|line| lines.heading(line).to_string()).filter(|heading| !heading.is_empty()),
        record: mention.record.clone(),
    }
}

/// A task with its datasets.
fn task(name: &str, text: String, keywords: Vec<String>, datasets: Vec<DatasetMention>) -> ExtractedTask {
    ExtractedTask { text, name: name.to_string(), keywords, datasets }
}
