//! The gate: whether a document uses datasets at all.

use super::super::document::SectionKind;
use super::lines::Lines;
use super::mentions::{Mention, Mentions, NameSource};

/// Number of sentences about datasets in general that suffices if no dataset is named.
const MIN_SENTENCES: u32 = 2;

/// The result of the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relevance {
    /// Whether the document uses datasets.
    pub uses_datasets: bool,
    /// Number of sentences, outside sections on others' work, about datasets with evaluation or figures.
    pub sentences: u32,
    /// Number of dataset names that are known, or that the text introduces and uses; not counting weak ones.
    pub names: u32,
    /// The first such sentence.
    pub sentence: Option<String>,
}

/// Decides whether `lines` report work with datasets: by a known name outside sections on others' work, or by such sentences.
pub fn relevance(lines: &Lines<'_>, mentions: &Mentions) -> Relevance {
    let (mut sentences, mut first) = (0, None);
    for (_, line) in lines.iter().filter(|(_, line)| !line.is_heading) {
        if matches!(line.kind, SectionKind::Background | SectionKind::Acknowledgements) {
            continue;
        }
        let cues = line.cues;
        if cues.names_data && (cues.evaluates || cues.has_figure) {
            sentences += 1;
            first.get_or_insert(line.text);
        }
    }
    let is_own = |mention: &&Mention| {
        let counts = &mention.counts;
        let is_own = counts.of_others + counts.against < counts.mentions;
        let is_used = counts.used > 0 && counts.evaluating > 0 && counts.beside > 0;
        is_own && !mention.is_weak && (mention.source != NameSource::Called || is_used)
    };
    let names = mentions.iter().filter(is_own).count() as u32;
    Relevance {
        uses_datasets: names > 0 || sentences >= MIN_SENTENCES,
        sentences,
        names,
        sentence: first.map(str::to_string),
    }
}
