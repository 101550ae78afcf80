//! What one row stands for: `per county and year`, `each patient`, `one row per stay`, `monthly`, `single incidents`,
//! `turbines, not parks`; and how it combines with what was said before (`route`, then `monthly`: `route-month`).

mod frame;
mod sign;
mod unit;

use unit::{is_time, is_unit, part, rhythm, unit_phrase};

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

/// The part in force that was refused and the one named in its stead: `turbines, not parks`, `not facilities, districts`,
/// `per county rather than district`, `instead of wards, zones`.
fn exchanged(sentence: &Sentence, old: &[String]) -> Option<(String, String)> {
    let is_old = |phrase: Phrase| {
        let stems = stems(&phrase.text(sentence));
        old.iter().find(|part| stems.last().is_some_and(|last| part.split(' ').any(|word| word == last))).cloned()
    };
    let than = (1..sentence.words.len()).find_map(|at| {
        // `regions would be easier than tribunals`, `I'd rather see blocks than wells`.
        let refused = (sentence.low(at) == "than").then(|| phrase(sentence, at + 1, Reach::Thing)).flatten()?;
        let old = is_old(refused)?;
        let new = (0..at).find(|place| {
            let word = sentence.low(*place);
            is_unit(word) && singular(word) != word && !is_time(&singular(word))
        })?;
        Some((old, singular(sentence.low(new))))
    });
    if than.is_some() {
        return than;
    }
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
pub fn read(sentence: &mut Sentence, hits: &[Hit], first_turn: bool, in_force: &mut Vec<String>) {
    if let Some((old, new)) = exchanged(sentence, in_force) {
        in_force.iter_mut().filter(|part| **part == old).for_each(|part| part.clone_from(&new));
        return;
    }
    if in_force.is_empty()
        && let Some((new, old)) = contrasted(sentence)
    {
        *in_force = vec![new];
        sentence.claim(0, old, Claim::Grain);
        return;
    }
    if let Some(grain) = enough(sentence, in_force) {
        *in_force = grain;
        return;
    }
    let said = said(sentence, hits, first_turn);
    let in_time = in_force.last().is_some_and(|last| is_time(last));
    match (in_force.as_slice(), said.parts.is_empty(), said.rhythm) {
        (_, true, None) => {}
        ([_, ..], ..) if said.weak => {}
        (before @ [_, ..], true, Some(rhythm)) => {
            // `route`, then `monthly`: months of routes. A rhythm before is replaced.
            let replaced = in_time || matches!(before, [only] if is_occurrence(only));
            in_force.truncate(before.len() - usize::from(replaced));
            in_force.push(rhythm);
        }
        ([_, .., _], false, None) if in_time && matches!(said.parts.as_slice(), [only] if is_time(only)) => {
            in_force.pop();
            in_force.extend(said.parts);
        }
        (_, _, Some(rhythm)) if !said.parts.iter().any(|part| is_time(part)) => {
            *in_force = said.parts;
            in_force.push(rhythm);
        }
        _ => *in_force = said.parts,
    }
    in_force.retain(|part| !part.is_empty());
}

fn word_is_per(sentence: &Sentence, at: usize) -> bool {
    matches!(sentence.low(at), "per" | "by")
}

/// Whether what begins at `at` goes on what ended at `reached`: `per school per year`, `feeder by feeder and day by day`.
fn follows(sentence: &Sentence, reached: usize, at: usize) -> bool {
    reached == at && sentence.low(at) == "per"
        || reached < at
            && (reached..at).all(|place| matches!(sentence.low(place), "and" | "," | "&" | "+"))
            && sentence.low(at) != "each"
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
        let framed = frame::framed(sentence, at).map(|(parts, end)| (parts, end, false));
        if let Some((parts, end, weak)) = framed.or_else(|| sign::told(sentence, at, first_turn)) {
            let by_itself = !weak;
            // `not per site, per ward`: the second is meant.
            if sentence.before(at) == "not" && word_is_per(sentence, at) {
                at += 2;
                continue;
            }
            let negated = sentence.before(at) == "not" || (at > 1 && sentence.stands(at - 2, "not for"));
            if !negated && (said.parts.is_empty() || (said.weak && by_itself)) {
                said.parts = parts;
                said.weak = weak;
            } else if !negated
                && by_itself
                && (follows(sentence, reached, at)
                    || parts.iter().all(|part| is_time(part)) && !said.parts.iter().any(|part| is_time(part)))
                && said.parts.len() < MOST_PARTS
                && !parts.iter().any(|part| said.parts.contains(part))
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
    // `rents of Berlin districts, quarterly`; `revenue of Italian municipalities`.
    if said.parts.is_empty() && first_turn {
        const AREAS: [&str; 18] = [
            "districts",
            "municipalities",
            "counties",
            "states",
            "provinces",
            "regions",
            "communes",
            "cities",
            "towns",
            "villages",
            "countries",
            "wards",
            "parishes",
            "cantons",
            "boroughs",
            "neighbourhoods",
            "neighborhoods",
            "postcodes",
        ];
        let area = (1..sentence.words.len()).find(|at| {
            let before = &sentence.words[at - 1];
            let whole = before.claim == Some(Claim::Place)
                || matches!(before.low.as_str(), "of" | "across" | "all" | "for" | "between");
            let open = sentence
                .words
                .get(at + 1)
                .is_none_or(|next| !next.is_content() || rhythm(&next.low).is_some() || next.claim.is_some());
            whole && open && AREAS.contains(&sentence.low(*at)) && sentence.words[*at].claim.is_none()
        });
        if let Some(at) = area {
            said.parts = vec![singular(sentence.low(at))];
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

/// `Just municipalities`, `hours will do`: a unit of those in force, or of time.
fn enough(sentence: &Sentence, parts: &[String]) -> Option<Vec<String>> {
    if parts.is_empty() {
        return None;
    }
    (0..sentence.words.len()).find_map(|at| {
        let unit = singular(sentence.low(at));
        let taken = sentence.words[at].claim.is_some();
        if taken || unit == sentence.low(at) || !is(&unit, Class::Unit) {
            return None;
        }
        let before = matches!(sentence.before(at), "just" | "only") && at == 1 && sentence.is_edge(at + 1);
        let after = ["will do", "are enough", "are fine", "suffice", "would do", "are ok"]
            .iter()
            .any(|words| sentence.stands(at + 1, words));
        if before && parts.len() > 1 && parts.contains(&unit) {
            return Some(vec![unit]);
        }
        (after && is_time(&unit)).then(|| {
            let mut kept: Vec<String> = parts.iter().filter(|part| !is_time(part)).cloned().collect();
            kept.push(unit);
            kept
        })
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
    let head = [
        " of ",
        " in ",
        " on ",
        " for ",
        " by ",
        " with ",
        " at ",
        " about ",
        " against ",
        " from ",
        " under ",
        " to ",
        " above ",
    ]
    .iter()
    .fold(topic, |head, word| head.split(word).next().unwrap_or(head));
    let last = head.split_whitespace().last()?.to_lowercase();
    let unit = singular(&last);
    (unit != last && is(&unit, Class::Event)).then_some(unit)
}

/// Whether the unit happens rather than is, so that `weekly` sums it up: `crash`, but not `shop`.
fn is_occurrence(unit: &str) -> bool {
    const HAPPENING: [&str; 34] = [
        "crash",
        "accident",
        "incident",
        "complaint",
        "crime",
        "theft",
        "trip",
        "flight",
        "permit",
        "call",
        "callout",
        "claim",
        "fine",
        "case",
        "death",
        "birth",
        "order",
        "purchase",
        "request",
        "ticket",
        "arrest",
        "visit",
        "delivery",
        "outage",
        "fire",
        "strike",
        "sale",
        "event",
        "offence",
        "shipment",
        "injury",
        "robbery",
        "burglary",
        "landing",
    ];
    let last = unit.split(' ').next_back().unwrap_or_default();
    HAPPENING.contains(&last)
        || ["tion", "sion", "ment", "sighting"].iter().any(|ending| last.ends_with(ending) && last != "station")
}

/// Whether the rows in force stand for a unit of time alone.
pub fn is_rhythm(grain: &[String]) -> bool {
    matches!(grain, [only] if is_time(only))
}

/// Whether what the unit names takes readings over time, so that `hourly` means its hours.
pub fn measures(unit: &str) -> bool {
    const INSTRUMENTS: [&str; 16] = [
        "counter", "station", "gauge", "sensor", "meter", "buoy", "site", "monitor", "museum", "hotel", "shop",
        "store", "turbine", "plant", "detector", "camera",
    ];
    INSTRUMENTS.contains(&unit)
}
