//! Which data sets served which tasks, read from a document in three steps, by rules or by a language model.
//!
//! [`gate`] says whether the document uses data sets at all. `mentions` finds names of data sets, those that the caller knows
//! ([`KnownDatasets`]) and those that the text itself calls so, and `score` keeps the ones that the document works with and does
//! not merely cite. `tasks` finds what the document calls its tasks, and puts each data set to the task that is named nearest to
//! it. [`extract`] is all three; [`run`] does it for all documents of a store. The rules count over sentences and their
//! sections, with one linear score; every data set keeps the sentence that says best that it was used.
//!
//! [`ExtractionModel`] asks a language model for the same three steps: `excerpt` is what it is told, `ground` whether what it
//! answers stands there. Nothing here knows the name of a data set.

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

/// Which rules these are: what was extracted by others is extracted anew.
pub const EXTRACTOR: &str = "rules@2";

/// What `document` says of data sets and tasks; without tasks where it uses no data sets.
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

/// Whether `document` uses data sets at all: the gate that [`extract`] has.
pub fn gate(document: &Document, known: &KnownDatasets) -> Relevance {
    let lines = Lines::of(document);
    relevance(&lines, &Mentions::of(&lines, known))
}

/// A mention as the graph takes it, with the sentence that says best that it was used.
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

/// A task with its data sets.
fn task(name: &str, text: String, keywords: Vec<String>, datasets: Vec<DatasetMention>) -> ExtractedTask {
    ExtractedTask { text, name: name.to_string(), keywords, datasets }
}
