//! The gate: whether a document uses data sets at all.

use super::super::document::SectionKind;
use super::lines::Lines;
use super::mentions::{Mention, Mentions, NameSource};

/// Sentences that speak of data sets in general, without a name that is known, which make a document one that uses some.
const LEAST_SENTENCES: u32 = 2;

/// What the gate found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relevance {
    /// Whether the document uses data sets.
    pub uses_datasets: bool,
    /// Sentences of its own work that speak of data sets and of evaluating, training or measuring.
    pub sentences: u32,
    /// Names of data sets that are known, or that the text calls so and says to be used; weak ones left out.
    pub names: u32,
    /// The first such sentence.
    pub sentence: Option<String>,
}

/// Looks whether `lines` tell of work with data: a known name outside of what is told of others, or sentences of that kind.
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
        uses_datasets: names > 0 || sentences >= LEAST_SENTENCES,
        sentences,
        names,
        sentence: first.map(str::to_string),
    }
}
