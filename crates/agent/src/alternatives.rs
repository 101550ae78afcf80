//! Closed forms that relate the demands of a turn: `Kenya or Iceland` is one demand that either value meets, `any
//! format but CSV` avoids CSV, and `the format does not matter` takes back the demand on the format. Which values a
//! dataset can have together, the records say.

use lakeward_core::error::Result;
use lakeward_core::request::{Demand, Demanded};
use lakeward_core::respect::Respect;
use lakeward_core::text::{is_function_word, lower_words};
use lakeward_reading::reader::Revised;

/// Respects that a turn can name. A dataset has one of several values, but for years and subjects.
const RESPECTS: [(Respect, &[&str]); 8] = [
    (Respect::Place, &["place", "places", "region", "regions", "country", "countries"]),
    (Respect::Format, &["format", "formats"]),
    (Respect::Source, &["publisher", "publishers", "source", "sources", "made"]),
    (Respect::Institution, &["institution", "institutions", "made"]),
    (Respect::Licence, &["licence", "license"]),
    (Respect::Frequency, &["frequency", "rhythm"]),
    (Respect::Subject, &["subject", "discipline", "category"]),
    (Respect::Period, &["year", "years", "period", "dates"]),
];
/// Words for the date of publication.
const PUBLICATION: [&str; 3] = ["publication", "published", "release"];

fn has_alternatives(role: &Respect) -> bool {
    RESPECTS.iter().any(|(known, _)| known == role && !matches!(role, Respect::Period | Respect::Subject))
}

/// The demands of turn `turn` with alternatives as one demand, before they get the catalogue's values.
pub(super) fn joined(demands: &mut Vec<Demand>, text: &str, turn: usize) {
    let place = |said: &str| text.find(said).map(|at| at..at + said.len());
    let mut at = 0;
    while at < demands.len() {
        let known = &demands[at];
        let this =
            (known.turn == turn && !known.avoid && has_alternatives(&known.role)).then(|| place(&known.said)).flatten();
        let Some(this) = this else {
            at += 1;
            continue;
        };
        let follows = |other: &Demand| {
            let same = other.turn == turn && other.role == known.role && !other.avoid;
            let next = place(&other.said).filter(|next| same && next.start >= this.end)?;
            is_or(&text[this.end..next.start]).then_some(next)
        };
        let next = demands.iter().enumerate().find_map(|(other, demand)| Some((other, follows(demand)?)));
        let begins = is_or(&text[..this.start]);
        let earlier = demands.iter().rposition(|other| other.turn < turn && other.role == known.role && !other.avoid);
        match (next, earlier.filter(|_| begins)) {
            (Some((other, next)), _) => {
                demands[at].said = text[this.start..next.end].to_string();
                demands.remove(other);
                // The place may have moved, and a third may follow.
                at = at.saturating_sub(usize::from(other < at));
            }
            (None, Some(earlier)) => {
                demands[at].said = format!("{} or {}", demands[earlier].said, demands[at].said);
                demands.remove(earlier);
                // What is joined is no longer in the text.
            }
            (None, None) => at += 1,
        }
    }
    for demand in demands.iter_mut().filter(|demand| demand.turn == turn && has_alternatives(&demand.role)) {
        demand.avoid |= place(&demand.said).is_some_and(|at| is_excepted(&text[..at.start]));
    }
}

/// Whether only `or` stands here, beside what says nothing.
fn is_or(between: &str) -> bool {
    let words: Vec<String> = lower_words(between).collect();
    words.iter().any(|word| word == "or")
        && words
            .iter()
            .all(|word| is_function_word(word) || matches!(word.as_str(), "else" | "also" | "from" | "maybe"))
}

/// `any format but`, `everything except`.
fn is_excepted(before: &str) -> bool {
    const ALL: [&str; 6] = ["any", "anything", "all", "every", "everything", "anywhere"];
    let words: Vec<String> = lower_words(before).collect();
    let [rest @ .., last] = &words[..] else { return false };
    last == "but" && rest.iter().rev().take(2).any(|word| ALL.contains(&word.as_str()))
}

/// Whether a record has all of some values, each in one of its ways.
pub(super) type Together<'a> = dyn Fn(&Respect, &[Vec<String>]) -> Result<bool> + 'a;

/// Of values that no record has together, by `together`, only one can be wanted: those of one turn are alternatives, and so is what `text` adds to an
/// earlier one (`also GeoTIFF`); else the later takes the place of the earlier.
pub(super) fn parted(after: &mut Revised, text: &str, turn: usize, together: &Together<'_>) -> Result<()> {
    let things = |demand: &Demand| {
        let things = demand.value.things();
        (!things.is_empty() && !demand.avoid && has_alternatives(&demand.role)).then(|| things.to_vec())
    };
    // What is not said side by side is neither a list of alternatives nor known to be wanted.
    let is_apart = |first: &Demand, second: &Demand| {
        let ends = text.find(&first.said).map(|at| at + first.said.len());
        let between = ends.zip(text.find(&second.said)).and_then(|(from, to)| text.get(from..to));
        first.turn == turn && between.is_some_and(|between| !is_list(between, &[]))
    };
    let Revised { demands, gone, .. } = after;
    let mut at = 0;
    while at < demands.len() {
        let Some(mut now) = things(&demands[at]).filter(|_| demands[at].turn == turn) else {
            at += 1;
            continue;
        };
        let role = demands[at].role.clone();
        if now.len() > 1 && !together(&role, &now)? {
            if is_list(&demands[at].said, &now) {
                now = vec![now.concat()];
                (demands[at].said, demands[at].value) = (now[0].join(" or "), Demanded::AnyOf(now[0].clone()));
            } else {
                demands[at].doubtful = true;
            }
        }
        let mut parted = None;
        for other in 0..at {
            let Some(before) = things(&demands[other]).filter(|_| demands[other].role == role) else { continue };
            let both = [before, now.clone()].concat();
            if !together(&role, &both)? {
                if is_apart(&demands[other], &demands[at]) {
                    (demands[other].doubtful, demands[at].doubtful) = (true, true);
                    continue;
                }
                parted = Some((other, both.concat()));
                break;
            }
        }
        match parted {
            Some((other, any)) if demands[other].turn == turn || adds(text) => {
                demands[at].said = format!("{} or {}", demands[other].said, demands[at].said);
                demands[at].value = Demanded::AnyOf(any);
                demands[at].doubtful |= demands[other].doubtful;
                demands.remove(other);
            }
            Some((other, _)) => gone.push(demands.remove(other)),
            None => {
                at += 1;
                continue;
            }
        }
        at -= 1;
    }
    Ok(())
}

/// Whether nothing but what joins a list stands in a text, beside the words of `names`.
fn is_list(text: &str, names: &[Vec<String>]) -> bool {
    let joins = |word: &str| matches!(word, "and" | "or" | "the" | "either" | "plus" | "in" | "from" | "of" | "as");
    let is_name = |word: &str| names.iter().flatten().any(|name| lower_words(name).any(|known| known == word));
    lower_words(text).all(|word| joins(&word) || is_name(&word))
}

/// Whether a turn adds to what was said before: `or Kenya`, `Kenya, too`, or begins with `and`.
pub(super) fn adds(text: &str) -> bool {
    lower_words(text).next().is_some_and(|word| word == "and") || adds_to_another(text)
}

/// Whether a turn says that it adds to something: `or Kenya`, `Kenya, too`.
pub(super) fn adds_to_another(text: &str) -> bool {
    let words: Vec<String> = lower_words(text).collect();
    let begins = words.first().is_some_and(|word| matches!(word.as_str(), "or" | "also" | "plus"));
    let also = |words: &[String]| words[0] == "also" || (words[0] == "as" && words[1] == "well");
    let too =
        text.split([',', '.', ';', '!', '?']).any(|part| lower_words(part).last().is_some_and(|word| word == "too"));
    begins || too || words.windows(2).any(also)
}

/// Reads from the words of a demand whether they name alternatives (`Kenya or Iceland`): then any of its values will do.
pub(super) fn read_alternatives(demand: &mut Demand) {
    let says_or = lower_words(&demand.said).any(|word| word == "or");
    if let (true, true, Demanded::Values(things)) = (says_or, has_alternatives(&demand.role), &mut demand.value) {
        let mut all: Vec<String> = Vec::new();
        for value in things.drain(..).flatten() {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        demand.value = Demanded::AnyOf(all);
    }
}

/// The respects that `text` names by their names; years beside a word of publication are of it.
pub(super) fn respects_named(text: &str) -> Vec<&'static Respect> {
    let has = |names: &[&str]| lower_words(text).any(|word| names.contains(&word.as_str()));
    let mut roles: Vec<&Respect> = RESPECTS.iter().filter(|(_, names)| has(names)).map(|(role, _)| role).collect();
    if has(&PUBLICATION) {
        roles.retain(|role| **role != Respect::Period);
        roles.push(&Respect::Published);
    }
    roles
}

/// Takes back what `text` takes back by the name of its respect alone, and nothing else of which it says no word.
pub(super) fn taken_back_by_name(after: &mut Revised, text: &str) {
    let (words, roles): (Vec<String>, _) = (lower_words(text).collect(), respects_named(text));
    if roles.is_empty() {
        return;
    }
    let is_named = |demand: &Demand| roles.contains(&&demand.role);
    let is_said =
        |demand: &Demand| lower_words(&demand.said).any(|word| !is_function_word(&word) && words.contains(&word));
    let mistaken: Vec<Demand> = after.gone.extract_if(.., |demand| !is_named(demand) && !is_said(demand)).collect();
    after.demands.extend(mistaken);
    if !after.gone.iter().any(is_named) {
        after.gone.extend(after.demands.extract_if(.., |demand| is_named(demand)));
    }
    if !after.gone.is_empty() {
        after.not_found.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(role: Respect, said: &str, turn: usize) -> Demand {
        Demand::in_words(role, said, turn)
    }

    #[test]
    fn alternatives_are_one_demand() {
        let merged = |demands: &[(&str, usize)], text: &str| {
            let mut demands: Vec<Demand> =
                demands.iter().map(|(said, turn)| demand(Respect::Place, said, *turn)).collect();
            joined(&mut demands, text, 2);
            demands.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(merged(&[("Kenya", 2), ("Iceland", 2)], "in Kenya or in Iceland"), ["Kenya or in Iceland"]);
        assert_eq!(merged(&[("Iceland", 2), ("Kenya", 2)], "in Kenya or Iceland"), ["Kenya or Iceland"]);
        assert_eq!(merged(&[("Kenya", 2), ("Iceland", 2)], "in Kenya and Iceland"), ["Kenya", "Iceland"]);
        assert_eq!(merged(&[("Kenya", 1), ("Iceland", 2)], "or Iceland"), ["Kenya or Iceland"]);
        assert_eq!(merged(&[("Kenya", 1), ("Iceland", 2)], "Iceland"), ["Kenya", "Iceland"]);
        assert_eq!(merged(&[("Kenya", 2)], "any place but Kenya"), ["not Kenya"]);
        assert_eq!(merged(&[("Kenya", 2)], "but Kenya"), ["Kenya"]);
    }

    #[test]
    fn of_values_that_no_record_has_together_one_is_wanted() {
        let values = |role: Respect, said: &str, turn| {
            let things = said.split(" and ").map(|value| vec![value.to_string()]).collect();
            Demand { value: Demanded::Values(things), hard: true, ..demand(role, said, turn) }
        };
        // Records have one format, and Kenya with Norway but with nothing else.
        let together = |role: &Respect, things: &[Vec<String>]| {
            let has_both = things.iter().flatten().all(|value| matches!(value.as_str(), "Kenya" | "Norway"));
            Ok(things.len() < 2 || (*role == Respect::Place && has_both))
        };
        for (role, before, now, text, expected, gone) in [
            (Respect::Format, "CSV", "ZIP", "also ZIP", "CSV or ZIP", 0),
            (Respect::Format, "CSV", "ZIP", "ZIP would do, too", "CSV or ZIP", 0),
            (Respect::Format, "CSV", "ZIP", "as ZIP", "ZIP", 1),
            (Respect::Place, "Kenya", "Norway", "in Norway", "Kenya, Norway", 0),
            (Respect::Place, "Kenya", "Iceland", "in Iceland", "Iceland", 1),
            (Respect::Place, "Iceland", "Kenya and Norway", "Kenya and Norway", "Kenya and Norway", 1),
            (Respect::Place, "Kenya", "Chad and Iceland", "Chad and Iceland", "Chad or Iceland", 1),
            (Respect::Format, "CSV", "ZIP", "ZIP too, I suppose", "CSV or ZIP", 0),
            (Respect::Subject, "rain", "snow", "snow", "rain, snow", 0),
        ] {
            let demands = vec![values(role.clone(), before, 1), values(role, now, 2)];
            let mut after = Revised { demands, ..Revised::default() };
            parted(&mut after, text, 2, &together).unwrap();
            let left: Vec<String> = after.demands.iter().map(ToString::to_string).collect();
            assert_eq!((left.join(", ").as_str(), after.gone.len()), (expected, gone), "{text}");
        }
        // Values of one turn that are not said side by side are no alternatives.
        for (text, is_doubted) in [("Chad or Iceland", false), ("for a student from Chad data of Iceland", true)] {
            let demands = vec![values(Respect::Place, "Chad", 2), values(Respect::Place, "Iceland", 2)];
            let mut after = Revised { demands, ..Revised::default() };
            parted(&mut after, text, 2, &together).unwrap();
            assert!(after.demands.iter().all(|demand| demand.doubtful == is_doubted), "{text}");
        }
    }

    #[test]
    fn a_respect_is_taken_back_by_its_name() {
        let taken_back = |gone: &[(Respect, &str)], text: &str| {
            let all = [
                (Respect::Format, "CSV"),
                (Respect::Published, "2020"),
                (Respect::Period, "1990"),
                (Respect::Place, "Kenya"),
            ];
            let of = |(role, said): &(Respect, &str)| demand(role.clone(), said, 1);
            let demands = all.iter().filter(|one| !gone.contains(one)).map(of).collect();
            let mut after = Revised { demands, gone: gone.iter().map(of).collect(), ..Revised::default() };
            taken_back_by_name(&mut after, text);
            after.gone.iter().map(|demand| demand.role.name().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(taken_back(&[], "the format does not matter"), ["format"]);
        assert_eq!(taken_back(&[], "forget the year of publication"), ["published"]);
        assert_eq!(taken_back(&[], "never mind"), [""; 0]);
        assert_eq!(taken_back(&[(Respect::Format, "CSV")], "the place is not important"), ["place"]);
        assert_eq!(
            taken_back(&[(Respect::Format, "CSV")], "no CSV, the place does not matter either"),
            ["format", "place"]
        );
    }
}
