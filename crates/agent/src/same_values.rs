//! Values that are written differently but mean the same count as one: the note that says which, and how a turn undoes
//! it: `only Québec`, `they are not the same`. These are closed forms, which are looked for only while such values are
//! in force.

use super::alternatives::adds;
use crate::session::Session;
use lakeward_core::message;
use lakeward_core::message::{Message, PARTS};
use lakeward_core::request::{Demand, Demanded};
use lakeward_core::text::{is_function_word, lower_words, shown};

/// Values that a note names.
const NAMED: usize = 5;
/// Words of a turn that does nothing but set values apart.
const MOST_WORDS: usize = 12;
/// Words that say that values are one, which a turn denies.
const SAME: [&str; 6] = ["same", "merge", "merged", "together", "identical", "combine"];
const DENYING: [&str; 8] = ["not", "t", "never", "no", "isn", "aren", "don", "cannot"];
/// Words that say that they are not, beside one of those that say of what.
const APART: [&str; 5] = ["different", "distinct", "separate", "separately", "apart"];
const OF_SEVERAL: [&str; 6] = ["are", "re", "were", "keep", "take", "treat"];
/// What may stand beside these.
const BESIDE: [&str; 20] = [
    "i",
    "them",
    "those",
    "these",
    "it",
    "that",
    "two",
    "three",
    "things",
    "names",
    "values",
    "mean",
    "meant",
    "please",
    "places",
    "publishers",
    "institutions",
    "keep",
    "take",
    "treat",
];
/// Words before the one value that is meant.
const ONLY: [&str; 5] = ["only", "just", "exactly", "alone", "precisely"];

/// The demand whose values mean the same, with them.
fn merged(demand: &Demand) -> Option<&Vec<String>> {
    let Demanded::Values(things) = &demand.value else { return None };
    things.iter().find(|thing| thing.len() > 1)
}

/// What the values of this turn's demands were taken together with, as they mean the same.
pub(super) fn merged_values(demands: &[Demand], session: &Session) -> Vec<Message> {
    let is_new = |demand: &&Demand| demand.turn == session.next_turn() && !session.demands.contains(demand);
    let remark = |demand: &Demand| {
        let values = merged(demand)?;
        let others =
            Message::list(PARTS, values[1..].iter().take(NAMED).map(|value| message!("`{}`", shown(value, 80))));
        let (role, first) = (Message::name(demand.role.to_string()), shown(&values[0], 80));
        let same = "{} `{}` is taken for the same as {}; say `only {}` to take it alone";
        Some(Message::of(same, vec![role, (&first).into(), others, first.into()]))
    };
    demands.iter().filter(is_new).filter_map(remark).collect()
}

/// The demands in force with only one of the values that were taken together, where `text` does nothing but say so.
pub(super) fn set_apart(demands: &[Demand], text: &str) -> Option<(Vec<Demand>, Message)> {
    let place = demands.iter().rposition(|demand| !demand.avoid && merged(demand).is_some())?;
    let values = merged(&demands[place])?;
    let words: Vec<String> = lower_words(text).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let lower = text.to_lowercase();
    let named = values.iter().filter(|value| lower.contains(&value.to_lowercase())).max_by_key(|value| value.len());
    let is_only = has(&ONLY) && named.is_some_and(|value| words.len() == lower_words(value).count() + 1);
    let of_values: Vec<String> = values.iter().flat_map(|value| lower_words(value)).collect();
    let closed = [&SAME[..], &DENYING, &APART, &BESIDE].concat();
    let is_closed =
        |word: &String| is_function_word(word) || closed.contains(&word.as_str()) || of_values.contains(word);
    let says_apart = (has(&SAME) && has(&DENYING)) || (has(&APART) && has(&OF_SEVERAL));
    let is_apart = says_apart && words.iter().all(is_closed);
    if words.len() > MOST_WORDS || adds(text) || !(is_only || is_apart) {
        return None;
    }
    let said = values.iter().find(|value| **value == demands[place].said);
    let one = named.or(said).unwrap_or(&values[0]).clone();
    let mut after = demands.to_vec();
    // It was stated twice now.
    after[place] = Demand {
        value: Demanded::Values(vec![vec![one.clone()]]),
        said: one.clone(),
        hard: true,
        doubtful: false,
        filters: true,
        ..after[place].clone()
    };
    let note = message!("{} is `{}` alone from now on", Message::name(after[place].role.to_string()), shown(&one, 80));
    Some((after, note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_core::respect::Respect;

    #[test]
    fn values_are_set_apart_in_words() {
        let thing = ["Quebec", "Québec"].map(str::to_string).to_vec();
        let merged = Demand { value: Demanded::Values(vec![thing]), ..Demand::in_words(Respect::Place, "Quebec", 1) };
        let any = ["Kenya", "Iceland"].map(str::to_string).to_vec();
        let either = Demand { value: Demanded::AnyOf(any), ..Demand::in_words(Respect::Place, "Kenya or Iceland", 1) };
        let apart = |demand: &Demand, text: &str| {
            let after = set_apart(std::slice::from_ref(demand), text);
            after.map_or(String::new(), |(demands, _)| demands[0].to_string())
        };
        for (text, expected) in [
            ("only Québec", "Québec"),
            ("exactly Quebec!", "Quebec"),
            ("Québec alone, please", ""),
            ("Québec alone", "Québec"),
            ("they are not the same", "Quebec"),
            ("don't merge them", "Quebec"),
            ("those are two different places", "Quebec"),
            ("Quebec and Québec aren't the same, I mean Québec", "Québec"),
            ("only quebec", "Quebec"),
            ("something different, please", ""),
            ("those are different topics: wheat instead", ""),
            ("not the same as last year", ""),
            ("only Ontario", ""),
            ("only Quebec since 1990", ""),
            ("also the same for Ontario, not only there", ""),
            ("show me another one", ""),
        ] {
            assert_eq!(apart(&merged, text), expected, "{text}");
        }
        assert_eq!(apart(&either, "they are not the same"), "");
    }
}
