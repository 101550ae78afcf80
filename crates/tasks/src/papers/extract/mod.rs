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
pub use model::{ExtractionModel, NotExtracted, extract_by};
pub(crate) use patterns::is_roman;
pub use relevance::Relevance;

use super::document::Document;
use super::extraction::{DatasetMention, ExtractedTask, Extraction};
use lines::Lines;
use mentions::{Mention, Mentions};
use relevance::relevance;

/// The version of the rules: documents extracted by another version are extracted again.
pub const EXTRACTOR: &str = "rules@3";
/// Other names of a dataset that are kept.
const MOST_OTHER_NAMES: usize = 4;

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
    add_other_names(&mut found.tasks, &lines);
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
        also: Vec::new(),
        description: mention.described.map(|line| lines.text(line).to_string()),
        sentence: best.map(|line| lines.text(line).to_string()),
        section: best.map(|line| lines.heading(line).to_string()).filter(|heading| !heading.is_empty()),
        record: mention.record.clone(),
    }
}

/// Adds to each dataset the other name that the document gives for it: of a long one its short form, of a short one the long.
fn add_other_names(tasks: &mut [ExtractedTask], lines: &Lines<'_>) {
    let forms: Vec<(&str, Vec<&str>)> = lines.iter().flat_map(|(_, line)| patterns::short_forms(line.text)).collect();
    for mention in tasks.iter_mut().flat_map(|task| &mut task.datasets) {
        let own = gazetteer::loose_key(&mention.name);
        let is_own = |name: &&str| gazetteer::loose_key(name) == own;
        for (short, long) in &forms {
            let other = match (is_own(short), long.iter().any(&is_own)) {
                (true, _) => long.iter().rfind(|long| patterns::spells(long, short)),
                (_, true) => Some(short),
                _ => None,
            };
            let Some(other) = other.filter(|other| !is_own(other)) else { continue };
            if mention.also.len() < MOST_OTHER_NAMES && !mention.also.iter().any(|known| known == other) {
                mention.also.push((*other).to_string());
            }
        }
    }
}

/// A task with its datasets.
fn task(name: &str, text: String, keywords: Vec<String>, datasets: Vec<DatasetMention>) -> ExtractedTask {
    ExtractedTask { text, name: name.to_string(), keywords, datasets }
}
