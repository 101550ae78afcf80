//! Ways of saying what one row is that need no list of units: `lot by lot`, `each loan its own row`, `one building, one row`,
//! `case level`, `authority x year`, `block averages`.

use super::super::lexicon::{Class, is};
use super::super::phrase::Phrase;
use super::super::words::{Sentence, singular};
use super::unit::{is_unit, part, unit_phrase};

/// The words of rows.
fn is_row(word: &str) -> bool {
    matches!(word, "row" | "line" | "record" | "entry" | "observation")
}

/// The part that begins at `at` by one of the frames, and the word after.
pub(super) fn framed(sentence: &Sentence, at: usize) -> Option<(Vec<String>, usize)> {
    repeated(sentence, at)
        .or_else(|| own_row(sentence, at))
        .or_else(|| level(sentence, at))
        .or_else(|| crossed(sentence, at))
        .or_else(|| averaged(sentence, at))
        .or_else(|| hyphened(sentence, at))
}

/// `district-year`: units with hyphens between.
fn hyphened(sentence: &Sentence, at: usize) -> Option<(Vec<String>, usize)> {
    let word = sentence.words.get(at).filter(|word| word.low.contains('-'))?;
    let parts: Vec<String> = word.low.split('-').map(singular).collect();
    let units = parts.len() == 2 && parts.iter().all(|part| is(part, Class::Unit));
    units.then(|| (parts, at + 1))
}

/// `lot by lot`, `kiosk per kiosk`.
fn repeated(sentence: &Sentence, at: usize) -> Option<(Vec<String>, usize)> {
    let word = sentence.words.get(at).filter(|word| !word.sign && word.low.len() > 2)?;
    if matches!(word.low.as_str(), "row" | "line" | "side" | "one" | "step" | "little" | "bit") {
        return None;
    }
    let again = matches!(sentence.low(at + 1), "by" | "per" | "for") && sentence.low(at + 2) == word.low;
    again.then(|| (vec![singular(&word.low)], at + 3))
}

/// `each loan its own row`, `each entry a row`, `one building, one row`, `every contract is a row`, `a row is a loan`.
fn own_row(sentence: &Sentence, at: usize) -> Option<(Vec<String>, usize)> {
    if !matches!(sentence.low(at), "each" | "every" | "one" | "a" | "an" | "1") {
        return None;
    }
    let item = unit_phrase(sentence, at + 1).filter(|item| item.from == at + 1)?;
    let mut to = item.to;
    while to < item.to + 6
        && (matches!(
            sentence.low(to),
            "," | "="
                | ":"
                | "-"
                | "its"
                | "own"
                | "a"
                | "an"
                | "one"
                | "1"
                | "single"
                | "separate"
                | "in"
                | "on"
                | "is"
                | "as"
                | "per"
                | "to"
                | "gets"
                | "should"
                | "be"
                | "must"
                | "having"
                | "with"
                | "the"
                | "his"
                | "their"
        ))
    {
        to += 1;
    }
    let named = part(sentence, item);
    if is_row(&named) {
        return None;
    }
    (to > item.to && is_row(sentence.low(to))).then(|| (vec![named], to + 1))
}

/// `case level` at the end of a clause, `at case level`.
fn level(sentence: &Sentence, at: usize) -> Option<(Vec<String>, usize)> {
    let word = sentence.words.get(at).filter(|word| word.is_content() && !word.is(Class::Data))?;
    let starts =
        at == 0 || sentence.is_edge(at - 1) || matches!(sentence.before(at), "at" | "on" | "to" | "the" | "same");
    let level = matches!(sentence.low(at + 1), "level" | "granularity" | "resolution");
    let plain = !matches!(
        word.low.as_str(),
        "water" | "sea" | "high" | "low" | "noise" | "sound" | "ground" | "pollution" | "income"
    );
    let ends = sentence.is_edge(at + 2) || !sentence.words[at + 2].is_content();
    (starts && level && plain && ends && !word.low.ends_with("er") || level && is_unit(&word.low) && starts)
        .then(|| (vec![singular(&word.low)], at + 2))
}

/// `local authority x financial year`: two units with a sign of multiplication between.
fn crossed(sentence: &Sentence, at: usize) -> Option<(Vec<String>, usize)> {
    let starts = at == 0 || sentence.is_edge(at - 1) || !sentence.words[at - 1].is_content();
    let one = unit_phrase(sentence, at).filter(|item| item.from == at && starts)?;
    let cut = (one.from + 1..one.to).find(|at| sentence.low(*at) == "x").unwrap_or(one.to);
    if !matches!(sentence.low(cut), "x" | "×" | "*") || cut == one.from {
        return None;
    }
    let other = unit_phrase(sentence, cut + 1)?;
    let named = |item: Phrase| {
        let text = part(sentence, item);
        if text.ends_with(" year") { "year".to_string() } else { text }
    };
    let fits = is_unit(sentence.low(other.to - 1)) || is_unit(sentence.low(cut - 1));
    fits.then(|| (vec![named(Phrase { from: one.from, to: cut }), named(other)], other.to))
}

/// `block averages`, `county totals`: a unit of areas or time before a figure in the plural.
fn averaged(sentence: &Sentence, at: usize) -> Option<(Vec<String>, usize)> {
    let word =
        sentence.words.get(at).filter(|word| !word.sign && is_unit(&word.low) && !is(&word.low, Class::Measure))?;
    let figure = matches!(sentence.low(at + 1), "averages" | "totals" | "means" | "sums" | "medians" | "aggregates");
    let starts = at == 0 || !sentence.words[at - 1].is_content();
    (figure && starts).then(|| (vec![singular(&word.low)], at + 2))
}
