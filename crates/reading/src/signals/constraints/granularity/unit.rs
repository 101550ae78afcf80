//! Names of what rows stand for: `county`, `postal district`, `county and year`, the unit of `monthly`.

use super::super::lexicon::{Class, is};
use super::super::phrase::{Phrase, Reach, phrase};
use super::super::words::{Claim, Sentence, singular};
use super::MOST_PARTS;

/// The unit of `monthly`.
pub(super) fn rhythm(word: &str) -> Option<&'static str> {
    Some(match word {
        "yearly" | "annual" | "annually" => "year",
        "quarterly" => "quarter",
        "monthly" => "month",
        "weekly" => "week",
        "daily" | "nightly" => "day",
        "hourly" => "hour",
        "half-hourly" => "half hour",
        "quarter-hourly" | "15-minute" => "quarter hour",
        "minutely" => "minute",
        _ => return None,
    })
}

/// Whether a part is a unit of time.
pub(super) fn is_time(part: &str) -> bool {
    part.split(' ').next_back().is_some_and(|last| is(last, Class::Time))
}

/// Whether rows can stand for what the word names.
pub(super) fn is_unit(word: &str) -> bool {
    is(&singular(word), Class::Unit)
}

/// The name of a part: the phrase with its last word in the singular.
pub(super) fn part(sentence: &Sentence, phrase: Phrase) -> String {
    let mut phrase = phrase;
    // `each Swedish municipality`: the place is told elsewhere.
    while phrase.from + 1 < phrase.to && sentence.words[phrase.from].claim == Some(Claim::Place) {
        phrase.from += 1;
    }
    let text = phrase.text(sentence);
    let text = text.trim_matches(['\'', '"']);
    match text.rsplit_once(' ') {
        Some((before, last)) => format!("{} {}", before.to_lowercase(), singular(&last.to_lowercase())),
        None => singular(&text.to_lowercase()),
    }
}

/// A phrase of at most three words that can be what rows stand for.
pub(super) fn unit_phrase(sentence: &Sentence, at: usize) -> Option<Phrase> {
    let mut from = at;
    while from < at + 3 && sentence.words.get(from).is_some_and(|word| word.is(Class::Determiner)) {
        from += 1;
    }
    // `per stay`, `each match`: units that are verbs elsewhere.
    let verb = sentence.words.get(from).is_some_and(|word| word.is(Class::Verb) && is_unit(&word.low));
    let found = if verb { Phrase { from, to: from + 1 } } else { phrase(sentence, at, Reach::Thing)? };
    let to =
        (found.from..found.to).find(|at| matches!(sentence.low(*at), "of" | "per" | "in" | "to")).unwrap_or(found.to);
    let mut found = Phrase { to, ..found };
    while found.to > found.from + 1
        && matches!(sentence.low(found.to - 1), "separate" | "level" | "basis" | "separately" | "total" | "totals")
    {
        found.to -= 1;
    }
    const RATES: [&str; 14] = [
        "capita",
        "cent",
        "head",
        "se",
        "mille",
        "inhabitant",
        "annum",
        "default",
        "hand",
        "mistake",
        "name",
        "law",
        "email",
        "way",
    ];
    let words = sentence.words.get(found.from..found.to)?;
    let bad = words.is_empty()
        || words.iter().any(|word| matches!(word.low.as_str(), "row" | "line" | "record"))
        || words.len() > 3
        || words.iter().any(|word| word.low.starts_with(|c: char| c.is_ascii_digit()))
        || words.last().is_some_and(|last| RATES.contains(&last.low.as_str()) || last.is(Class::Data))
        || (words.len() == 1 && words[0].is_capital() && found.from > 0 && !is_unit(&words[0].low));
    (!bad).then_some(found)
}

/// The parts of `X and Y` or `X, Y and Z` that begin at `at`; the word after.
pub(super) fn parts(sentence: &Sentence, at: usize) -> (Vec<String>, usize) {
    let mut found = Vec::new();
    let mut end = at;
    let mut next = at;
    let mut joined = false;
    while let Some(item) = unit_phrase(sentence, next).filter(|_| found.len() < MOST_PARTS) {
        // `by species and gear`: joined and at the end of its clause, any noun will do.
        let short =
            item.to - item.from == 1 && sentence.is_edge(item.to) && !sentence.words[item.from].is(Class::Measure);
        let unit = is_unit(sentence.low(item.to - 1)) || joined && short;
        if !found.is_empty() && !unit {
            break;
        }
        // `country of origin and year`.
        let of = sentence.low(item.to) == "of"
            && sentence.words.get(item.to + 1).is_some_and(|word| {
                word.is_content() && !word.is_capital() && !word.low.starts_with(|c: char| c.is_ascii_digit())
            })
            && (sentence.is_edge(item.to + 2) || sentence.low(item.to + 2) == "and");
        found.push(part(sentence, Phrase { to: item.to + 2 * usize::from(of), ..item }));
        end = item.to + 2 * usize::from(of);
        next = end;
        let comma = sentence.low(next) == ",";
        next += usize::from(comma);
        joined = matches!(sentence.low(next), "and" | "&" | "per" | "by" | "×" | "x" | "+");
        next += usize::from(joined);
        // `by owner, top 20`: after a bare comma only a unit goes on.
        let goes_on = joined
            || comma
                && unit_phrase(sentence, next)
                    .is_some_and(|item| is_unit(sentence.low(item.to - 1)) && item.to - item.from == 1);
        if !goes_on || (matches!(sentence.low(next), "the") && !is_unit(sentence.low(next + 1))) {
            break;
        }
    }
    (found, end)
}
