//! Which of the named datasets a document works with: a linear score of its mentions.
//!
//! score = n/max n + s(used) + .75·s(evaluating) + .5·\[a figure\] + .25·min(beside, 2) + .25·\[table\] + .25·\[first\] + .5·\[heading\]
//! − s(of others) − s(pretraining) − 2·s(against) − 1·\[only introduced here\] − .5·\[weak\] − .25·\[nested\], where n counts mentions
//! and s(x) is the share of them that are x. A dataset counts as used from 2 on, and the best of a document from 1 on. The weights
//! were set by hand on the papers that they were evaluated on, so their figure there is an upper bound.

use super::cues::is_technical;
use super::mentions::{Mention, Mentions, NameSource};

/// Minimum score of a used dataset.
const LEAST: f64 = 2.0;
/// Minimum score of the best dataset of a document.
const MIN_OF_BEST: f64 = 1.0;
/// Maximum number of datasets per document.
const MOST: usize = 200;

/// The datasets that the document works with, best first, ties by name.
pub fn used(mentions: &Mentions) -> Vec<&Mention> {
    let most = mentions.iter().map(|mention| mention.counts.mentions).max().unwrap_or(1);
    let mut scored: Vec<(f64, &Mention)> =
        mentions.iter().filter(|mention| is_possible(mention)).map(|mention| (score(mention, most), mention)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
    let best = scored.first().map(|(score, _)| *score).filter(|score| *score >= MIN_OF_BEST);
    let enough = |score: f64| score >= LEAST || best.is_some_and(|best| score >= best);
    scored.into_iter().filter(|(score, _)| enough(*score)).take(MOST).map(|(_, mention)| mention).collect()
}

fn is_possible(mention: &Mention) -> bool {
    let counts = &mention.counts;
    let is_supported = !mention.is_weak || counts.beside > 0;
    let is_distinct = mention.source != NameSource::Called || !mention.is_nested;
    is_supported && is_distinct && counts.against < counts.mentions && !is_technical(&mention.name)
}

/// The score of a mention, where the most frequent one is named `most` times.
fn score(mention: &Mention, most: u32) -> f64 {
    let counts = &mention.counts;
    let share = |count: u32| f64::from(count) / f64::from(counts.mentions.max(1));
    let holds = |holds: bool| f64::from(u8::from(holds));
    f64::from(counts.mentions) / f64::from(most.max(1))
        + share(counts.used)
        + 0.75 * share(counts.evaluating)
        + 0.5 * holds(counts.with_figure > 0)
        + 0.25 * f64::from(counts.beside.min(2))
        + 0.25 * holds(counts.of_table > 0)
        + 0.25 * holds(counts.first > 0)
        + 0.5 * holds(counts.in_heading > 0)
        - share(counts.of_others)
        - share(counts.pretraining)
        - 2.0 * share(counts.against)
        - holds(mention.source == NameSource::Called)
        - 0.5 * holds(mention.is_weak)
        - 0.25 * holds(mention.is_nested)
}
