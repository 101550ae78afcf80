//! Lists of papers, and one paper.

use super::listing::rows;
use super::{LINE_WIDTH, line, narrate, safe_line};
use crate::cli::papers::PaperLine;
use lakeward_core::listing::{ListCell, column};
use lakeward_core::text::{counted, shown};
use lakeward_tasks::papers::extraction::Extraction;
use lakeward_tasks::papers::{Document, FileFault, SectionKind};

/// Failed files that are listed individually.
const MOST_FAULTS: usize = 50;
const ID_WIDTH: usize = 48;
const TITLE_WIDTH: usize = 100;
const PATH_WIDTH: usize = 300;
const SENTENCE_WIDTH: usize = 600;

/// Documents, one per line.
pub fn documents(documents: &[PaperLine]) {
    let columns = [
        column("id", ListCell::Text(ID_WIDTH, |document: &PaperLine| document.id.as_str().into())),
        column("title", ListCell::Text(TITLE_WIDTH, |document| document.title.as_str().into())),
    ];
    rows(&columns, documents, false);
}

/// Files that failed, on stderr, even with `--quiet`.
pub fn faults(faults: &[FileFault], what: &str) {
    for fault in faults.iter().take(MOST_FAULTS) {
        narrate(&shown(&format!("{what}: `{}`: {}", shown(&fault.path, PATH_WIDTH), fault.reason), LINE_WIDTH));
    }
    if let Some(more) = faults.len().checked_sub(MOST_FAULTS).filter(|more| *more > 0) {
        narrate(&format!("{what}: {more} more (`lakeward papers list --json` lists all)"));
    }
}

/// A document: its metadata and its sections.
pub fn document(document: &Document) {
    safe_line(&document.title);
    let place = document.source.line.map(|line| format!(", line {line}")).unwrap_or_default();
    safe_line(&format!("  {} from {}{place}", document.id, document.source.path));
    let fields = [
        document.year.map(|year| format!("  year {year}")),
        document.doi.as_ref().map(|doi| format!("  DOI {doi}")),
        document.url.as_ref().map(|url| format!("  {url}")),
    ];
    fields.into_iter().flatten().for_each(|field| safe_line(&field));
    for section in &document.sections {
        line("");
        if !section.heading.is_empty() {
            safe_line(&format!("{} [{}]", section.heading, kind(section.kind)));
        }
        section.text.lines().for_each(safe_line);
    }
    if !document.references.is_empty() {
        line("");
        safe_line(&format!("References: {}", counted(document.references.lines().count() as u64, "line")));
    }
}

/// What was extracted from a document.
pub fn extraction(extraction: &Extraction) {
    line("");
    if extraction.tasks.is_empty() {
        safe_line(&format!("No datasets found ({})", extraction.extractor));
    } else {
        safe_line(&format!("Extracted by {}", extraction.extractor));
    }
    for task in &extraction.tasks {
        safe_line(&shown(
            &format!("Task: {}", if task.name.is_empty() { "(not named)" } else { &task.name }),
            LINE_WIDTH,
        ));
        if !task.text.is_empty() {
            safe_line(&format!("  {}", shown(&task.text, SENTENCE_WIDTH)));
        }
        if !task.keywords.is_empty() {
            safe_line(&format!("  also: {}", shown(&task.keywords.join(", "), SENTENCE_WIDTH)));
        }
        for dataset in &task.datasets {
            let record = dataset.record.as_ref().map(|id| format!(" (`{id}`)")).unwrap_or_default();
            safe_line(&shown(&format!("  - {}{record}", dataset.name), LINE_WIDTH));
            let section = dataset.section.as_ref().map(|section| format!(" [{section}]")).unwrap_or_default();
            if let Some(sentence) = &dataset.sentence {
                safe_line(&format!("      {}", shown(&format!("{sentence}{section}"), SENTENCE_WIDTH)));
            }
        }
    }
}

fn kind(kind: SectionKind) -> &'static str {
    match kind {
        SectionKind::Abstract => "abstract",
        SectionKind::Introduction => "introduction",
        SectionKind::Background => "background",
        SectionKind::Method => "method",
        SectionKind::Data => "data",
        SectionKind::Experiments => "experiments",
        SectionKind::Results => "results",
        SectionKind::Conclusion => "conclusion",
        SectionKind::Acknowledgements => "acknowledgements",
        SectionKind::Appendix => "appendix",
        SectionKind::Other => "other",
    }
}
