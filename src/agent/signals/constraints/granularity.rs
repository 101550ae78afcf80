//! What one row stands for: `per county and year`, `each patient`, `one row per stay`, `monthly`, `single incidents`,
//! `turbines, not parks`; and how it combines with what was said before (`route`, then `monthly`: `route-month`).

use super::lexicon::{Class, Cue, Hit, is, says};
use super::phrase::{Phrase, Reach, phrase};
use super::words::{Claim, Sentence, singular, stems};

/// Things that together name a row.
const MOST_PARTS: usize = 4;

/// What a sentence says about rows.
#[derive(Debug, Clone, Default)]
struct Said {
    /// Named parts, `county`, `year`.
    parts: Vec<String>,
    /// A unit of time from an adjective: `monthly`.
    rhythm: Option<String>,
    /// Whether it is only taken if nothing is in force.
    weak: bool,
}

/// The unit of `monthly`.
fn rhythm(word: &str) -> Option<&'static str> {
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

fn is_time(part: &str) -> bool {
    part.split(' ').next_back().is_some_and(|last| is(last, Class::Time))
}

fn is_unit(word: &str) -> bool {
    is(&singular(word), Class::Unit)
}

/// The name of a part: the phrase with its last word in the singular.
fn part(sentence: &Sentence, phrase: Phrase) -> String {
    let text = phrase.text(sentence);
    let text = text.trim_matches(['\'', '"']);
    match text.rsplit_once(' ') {
        Some((before, last)) => format!("{} {}", before.to_lowercase(), singular(&last.to_lowercase())),
        None => singular(&text.to_lowercase()),
    }
}

/// A phrase of at most three words that can be what rows stand for.
fn unit_phrase(sentence: &Sentence, at: usize) -> Option<Phrase> {
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
fn parts(sentence: &Sentence, at: usize) -> (Vec<String>, usize) {
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
        found.push(part(sentence, item));
        end = item.to;
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

/// Whether `by` at `at` groups: not the agent of a passive, not a key, not the manner.
fn groups(sentence: &Sentence, at: usize) -> bool {
    let before = sentence.before(at);
    const GROUPING: [&str; 18] = [
        "grouped",
        "split",
        "broken",
        "down",
        "summed",
        "aggregated",
        "averaged",
        "counted",
        "totalled",
        "totaled",
        "separated",
        "up",
        "tabulated",
        "group",
        "aggregate",
        "sum",
        "arranged",
        "collapsed",
    ];
    let passive = (before.ends_with("ed")
        || matches!(
            before,
            "made" | "run" | "held" | "given" | "sent" | "built" | "written" | "kept" | "put" | "done" | "drawn"
        ))
        && !GROUPING.contains(&before);
    let next = sentence.low(at + 1);
    !passive
        && !(next.ends_with("ing") && next != "building")
        && !matches!(next, "the" | "which" | "its" | "their" | "my" | "our" | "a" | "an" | "that" | "this")
}

/// The parts that stand beside word `at`, where it is a sign of rows.
fn told(sentence: &Sentence, at: usize) -> Option<(Vec<String>, usize, bool)> {
    let word = sentence.low(at);
    let with = |from: usize, weak: bool| {
        let (parts, end) = parts(sentence, from);
        (!parts.is_empty()).then_some((parts, end, weak))
    };
    match word {
        "per" => with(at + 1, false),
        // `average delay for route and hour`.
        "for" => with(at + 1, false).filter(|(parts, ..)| {
            let units = |part: &String| part.split(' ').next_back().is_some_and(|last| is(last, Class::Unit));
            parts.len() > 1 && parts.iter().all(units) && parts.last().is_some_and(|last| is_time(last))
        }),
        "by" if groups(sentence, at) => {
            if sentence.before(at) == sentence.low(at + 1) {
                return with(at + 1, false);
            }
            let (found, end) = parts(sentence, at + 1);
            let unit = found.first().is_some_and(|first| stems(first).last().is_some_and(|last| is(last, Class::Unit)));
            let summed = (0..at).any(|at| {
                sentence.words[at].is(Class::Measure)
                    || sentence.words[at].is(Class::Verb)
                        && matches!(
                            sentence.low(at),
                            "grouped" | "split" | "broken" | "group" | "aggregate" | "aggregated" | "sum" | "redo"
                        )
            });
            let starts = at <= 2 || sentence.low(at - 1) == ",";
            (!found.is_empty() && (unit || summed || starts)).then_some((found, end, false))
        }
        "each" if sentence.is_edge(at + 1) => {
            let unit = (0..at)
                .rev()
                .map(|place| sentence.low(place))
                .find(|word| is_unit(word) && singular(word) != **word && !is_time(&singular(word)))?;
            Some((vec![singular(unit)], at + 1, false))
        }
        "each" | "every" => {
            let before = sentence.before(at);
            let strong = before == "for" || before == "of" && word == "each";
            let target = matches!(
                before,
                "on" | "onto" | "to" | "of" | "against" | "beside" | "with" | "in" | "at" | "from" | "into"
            );
            let from =
                at + 1 + usize::from(sentence.low(at + 1) == "of") + usize::from(sentence.stands(at + 1, "of the"));
            with(from, target || !strong)
        }
        "row" | "line" | "record" | "entry" | "rows" | "lines" | "records" | "observation" | "figure" => {
            // `one stay per row`, `one voucher a row`.
            let per = matches!(sentence.before(at), "per" | "a" | "each");
            let one = per.then(|| {
                (at.saturating_sub(5)..at).find(|place| matches!(sentence.low(*place), "one" | "1" | "single"))
            });
            if let Some(item) =
                one.flatten().and_then(|one| unit_phrase(sentence, one + 1)).filter(|item| item.to + 1 == at)
            {
                return Some((vec![part(sentence, item)], at + 1, false));
            }
            let next = sentence.low(at + 1);
            match next {
                "per" => with(at + 2, false),
                "for" if matches!(sentence.low(at + 2), "each" | "every" | "a" | "any" | "one") => with(at + 3, false),
                "a" | "an" | "each" if matches!(sentence.before(at), "one" | "a" | "single") => with(at + 2, false),
                "=" | "is" | "for" if sentence.low(at + 2) == "1" => with(at + 3, false),
                "=" | "is" if matches!(sentence.before(at), "one" | "a" | "each" | "every") => with(at + 2, false),
                _ => None,
            }
        }
        "single" | "individual" | "raw" | "separate" => {
            let item = unit_phrase(sentence, at + 1)?;
            let last = sentence.low(item.to - 1);
            let plural = singular(last) != last;
            (plural && item.to - item.from <= 2 && !is(last, Class::Data))
                .then(|| (vec![part(sentence, item)], item.to, false))
        }
        "level" => {
            if matches!(sentence.low(at + 1), "of") {
                let from = at + 2 + usize::from(matches!(sentence.low(at + 2), "the" | "each"));
                return with(from, false).filter(|(parts, ..)| parts.iter().any(|part| is_unit(part)));
            }
            let unit = at.checked_sub(1).filter(|before| is_unit(sentence.low(*before)))?;
            let led = unit
                .checked_sub(1)
                .is_some_and(|before| matches!(sentence.low(before), "at" | "to" | "on" | "the" | "of" | "for" | ","));
            (led || unit == 0).then(|| (vec![singular(sentence.low(unit))], at + 1, false))
        }
        _ => {
            let unit = word
                .strip_suffix("-level")
                .or_else(|| word.strip_suffix("-wise"))
                .or_else(|| word.strip_suffix("-by").map(|_| ""))?;
            (!unit.is_empty() && unit != "other" && unit != "like").then(|| (vec![singular(unit)], at + 1, false))
        }
    }
}

/// `route-month` as its parts.
fn parts_of(grain: &str) -> Vec<String> {
    grain.split('-').map(str::to_string).collect()
}

/// The part in force that was refused and the one named in its stead: `turbines, not parks`, `not facilities, districts`,
/// `per county rather than district`, `instead of wards, zones`.
fn exchanged(sentence: &Sentence, in_force: &str) -> Option<(String, String)> {
    let old = parts_of(in_force);
    let is_old = |phrase: Phrase| {
        let stems = stems(&phrase.text(sentence));
        old.iter().find(|part| stems.last().is_some_and(|last| part.split(' ').any(|word| word == last))).cloned()
    };
    (0..sentence.words.len()).find_map(|at| {
        let to = if sentence.low(at) == "not" {
            at + 1
        } else if sentence.stands(at, "rather than") || sentence.stands(at, "instead of") {
            at + 2
        } else {
            return None;
        };
        let refused = phrase(sentence, to, Reach::Thing)?;
        let old = is_old(refused)?;
        // The other stands before, `X, not Y`; else after, `not Y, X`.
        let before = (0..at).rev().find(|place| sentence.words[*place].is_content());
        let new = match before {
            Some(last) => {
                let first =
                    (0..last).rev().find(|place| !sentence.words[*place].is_content()).map_or(0, |place| place + 1);
                Phrase { from: first, to: last + 1 }
            }
            None => {
                let mut from = refused.to;
                while sentence.words.get(from).is_some_and(|word| !word.is_content() || word.is(Class::Data)) {
                    from += 1;
                }
                unit_phrase(sentence, from)?
            }
        };
        let named = part(sentence, new);
        (stems(&named).last().is_some_and(|last| is(last, Class::Unit)) && named != old).then_some((old, named))
    })
}

/// `Turbines, not parks` where nothing is in force: the unit named, and where the other ends.
fn contrasted(sentence: &Sentence) -> Option<(String, usize)> {
    let named = unit_phrase(sentence, 0).filter(|named| named.to <= 2)?;
    let at = named.to + usize::from(sentence.low(named.to) == ",");
    let other = (sentence.low(at) == "not").then(|| unit_phrase(sentence, at + 1)).flatten()?;
    let unit = |phrase: Phrase| is_unit(sentence.low(phrase.to - 1));
    (unit(named) && unit(other)).then(|| (part(sentence, named), other.to))
}

/// Reads what `sentence` says about rows into `in_force`.
pub fn read(sentence: &mut Sentence, hits: &[Hit], first_turn: bool, in_force: &mut Option<String>) {
    if let Some((old, new)) = in_force.as_ref().and_then(|grain| exchanged(sentence, grain)) {
        let parts: Vec<String> = parts_of(in_force.as_deref().unwrap_or_default());
        let parts = parts.into_iter().map(|part| if part == old { new.clone() } else { part });
        *in_force = Some(parts.collect::<Vec<_>>().join("-"));
        return;
    }
    if in_force.is_none()
        && let Some((new, old)) = contrasted(sentence)
    {
        *in_force = Some(new);
        sentence.claim(0, old, Claim::Grain);
        return;
    }
    let said = said(sentence, hits, first_turn);
    let time = |grain: &str| parts_of(grain).last().is_some_and(|last| is_time(last));
    let whole = |parts: &[String]| Some(parts.join("-")).filter(|text| !text.is_empty());
    match (&*in_force, said.parts.is_empty(), &said.rhythm) {
        (_, true, None) => {}
        (Some(_), ..) if said.weak => {}
        (Some(grain), true, Some(rhythm)) => {
            // `route`, then `monthly`: months of routes. A rhythm before is replaced.
            let mut parts = parts_of(grain);
            if time(grain) {
                parts.pop();
            }
            parts.push(rhythm.clone());
            *in_force = whole(&parts);
        }
        (Some(grain), false, None)
            if time(grain) && grain.contains('-') && said.parts.len() == 1 && is_time(&said.parts[0]) =>
        {
            let mut parts = parts_of(grain);
            parts.pop();
            parts.extend(said.parts);
            *in_force = whole(&parts);
        }
        (_, _, Some(rhythm)) if !said.parts.iter().any(|part| is_time(part)) => {
            let mut parts = said.parts.clone();
            parts.push(rhythm.clone());
            *in_force = whole(&parts);
        }
        _ => *in_force = whole(&said.parts),
    }
}

fn said(sentence: &mut Sentence, hits: &[Hit], first_turn: bool) -> Said {
    let mut said = Said { weak: true, ..Said::default() };
    let mut at = 0;
    let mut reached = 0;
    while at < sentence.words.len() {
        if sentence.words[at].claim.is_some() {
            at += 1;
            continue;
        }
        if let Some((parts, end, weak)) = told(sentence, at) {
            let by_itself = !weak;
            let negated = sentence.before(at) == "not" || (at > 1 && sentence.stands(at - 2, "not for"));
            if !negated && (said.parts.is_empty() || (said.weak && by_itself)) {
                said.parts = parts;
                said.weak = weak;
            } else if !negated
                && by_itself
                && sentence.low(at) == "per"
                && reached == at
                && said.parts.len() < MOST_PARTS
            {
                said.parts.extend(parts);
            }
            if by_itself {
                sentence.claim(at, end, Claim::Grain);
                reached = end;
            }
            at = end.max(at + 1);
            continue;
        }
        if let Some(unit) = rhythm(sentence.low(at)) {
            let table = sentence.words.get(at + 1).is_some_and(|next| {
                next.is(Class::Data) || next.low == "one" || next.low == "ones" || !next.is_content()
            });
            // `daily totals from gauges`: days of gauges.
            let of = (at + 1..at + 5).find(|place| matches!(sentence.low(*place), "from" | "of" | "at" | "by"));
            let source = of.and_then(|of| unit_phrase(sentence, of + 1)).filter(|item| {
                let last = sentence.low(item.to - 1);
                is_unit(last) && singular(last) != last
            });
            if let Some(item) = source.filter(|_| said.parts.is_empty()) {
                said.parts = vec![singular(sentence.low(item.to - 1))];
                said.weak = false;
            }
            let narrow = says(hits, Cue::Narrow);
            let fresh = said.rhythm.is_none();
            if fresh {
                said.rhythm = Some(unit.to_string());
            } else if let Some(both) = said.rhythm.as_mut().filter(|_| sentence.before(at) == "or") {
                *both = format!("{both} or {unit}");
            }
            said.weak &= !(table || narrow || first_turn || source.is_some() || sentence.is_edge(at + 1));
            sentence.claim(at, at + 1, Claim::Grain);
        }
        at += 1;
    }
    if said.parts.is_empty() {
        if let Some((from, to)) = fragment(sentence) {
            said.parts = vec![part(sentence, Phrase { from, to })];
            said.weak = false;
            sentence.claim(from, to, Claim::Grain);
        } else if let Some(unit) = alone(sentence) {
            said.parts = vec![unit];
            said.weak = false;
        }
    }
    if said.rhythm.is_some() && said.parts.is_empty() && first_turn {
        said.weak = false;
    }
    said
}

/// A unit alone between commas: `Yields, Kenya, counties, 2012 to 2022`.
fn fragment(sentence: &Sentence) -> Option<(usize, usize)> {
    (0..sentence.words.len()).find_map(|at| {
        let word = &sentence.words[at];
        let plural = singular(&word.low) != word.low;
        let alone =
            sentence.is_edge(at + 1) && (at > 0 && sentence.low(at - 1) == ",") && at + 1 < sentence.words.len();
        (plural && alone && word.claim.is_none() && is_unit(&word.low) && !is_time(&word.low)).then_some((at, at + 1))
    })
}

/// `Suburb alone is fine`.
fn alone(sentence: &Sentence) -> Option<String> {
    let at = (1..sentence.words.len()).find(|at| sentence.low(*at) == "alone")?;
    let unit = singular(sentence.low(at - 1));
    (is(&unit, Class::Unit)).then_some(unit)
}

/// What rows of a table about `topic` mostly stand for: `building permits` have a row a permit.
pub fn usual(topic: &str) -> Option<String> {
    let head = [" of ", " in ", " on ", " for ", " by ", " with ", " at "]
        .iter()
        .fold(topic, |head, word| head.split(word).next().unwrap_or(head));
    let last = head.split_whitespace().last()?.to_lowercase();
    let unit = singular(&last);
    (unit != last && is(&unit, Class::Event)).then_some(unit)
}
