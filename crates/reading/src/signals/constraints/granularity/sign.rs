//! Words that say what rows stand for, and the parts beside them: `per`, `by`, `each`, `one row per`, `individual`, `level`.

use super::super::lexicon::{Class, is};
use super::super::phrase::{Reach, phrase};
use super::super::words::{Sentence, singular, stems};
use super::unit::{is_time, is_unit, part, parts, unit_phrase};

/// The parts that stand beside word `at`, where it is a sign of rows.
pub(super) fn told(sentence: &Sentence, at: usize, first_turn: bool) -> Option<(Vec<String>, usize, bool)> {
    let word = sentence.low(at);
    let with = |from: usize, weak: bool| {
        let (parts, end) = parts(sentence, from);
        (!parts.is_empty()).then_some((parts, end, weak))
    };
    match word {
        "per" => with(at + 1, false),
        // `roll it up to postal code`.
        "to" if (at.saturating_sub(7)..at).any(|place| {
            matches!(
                sentence.low(place),
                "aggregate"
                    | "aggregated"
                    | "roll"
                    | "rolled"
                    | "collapse"
                    | "collapsed"
                    | "sum"
                    | "summed"
                    | "condense"
                    | "group"
            )
        }) && !sentence
            .words
            .get(at + 1)
            .is_some_and(|word| word.is(Class::Pronoun) || word.is(Class::Verb))
            && sentence.low(at.saturating_sub(1)) != "next" =>
        {
            with(at + 1, false).filter(|(parts, ..)| {
                parts.iter().any(|part| part.split(' ').next_back().is_some_and(is_unit) || part.ends_with("code"))
            })
        }
        // `average delay for route and hour`.
        "for" => with(at + 1, false).filter(|(parts, end, _)| {
            let grouped = (at..*end).any(|at| matches!(sentence.low(at), "by" | "per"));
            let units = |part: &String| part.split(' ').next_back().is_some_and(|last| is(last, Class::Unit));
            !grouped && parts.len() > 1 && parts.iter().all(units) && parts.last().is_some_and(|last| is_time(last))
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
            let starts =
                matches!(sentence.before(at), "down" | "up" | "it" | "that" | "them" | "this" | "grouped" | "split")
                    || at <= 2
                    || sentence.low(at - 1) == ",";
            // A first request that says `by buyer` and nothing else means it of rows, if one buyer is said.
            const MEANS: [&str; 24] = [
                "hand",
                "train",
                "bus",
                "car",
                "law",
                "default",
                "mistake",
                "police",
                "email",
                "phone",
                "post",
                "mail",
                "sea",
                "air",
                "road",
                "rail",
                "foot",
                "weight",
                "volume",
                "name",
                "chance",
                "accident",
                "nature",
                "definition",
            ];
            let one = first_turn
                && found.first().is_some_and(|first| {
                    singular(sentence.low(at + 1)) == sentence.low(at + 1) && !MEANS.contains(&first.as_str())
                })
                && sentence.words.get(at + 1).is_some_and(|next| !next.is_capital() || next.text.len() < 4);
            (!found.is_empty() && (unit || summed || starts || one)).then_some((found, end, false))
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
            let summed = matches!(before, "for" | "in")
                && sentence.has(&[
                    "how many", "how much", "average", "mean", "median", "collapse", "total", "rate for", "sum",
                    "share", "count", "counts",
                ]);
            let strong = summed
                || before == "for" && sentence.before(at - 1) != "," && !sentence.has(&["also", "want"])
                || before == "of" && word == "each";
            let target = matches!(
                before,
                "on" | "onto" | "to" | "of" | "against" | "beside" | "with" | "in" | "at" | "from" | "into"
            ) && !(before == "in" && summed);
            let from =
                at + 1 + usize::from(sentence.low(at + 1) == "of") + usize::from(sentence.stands(at + 1, "of the"));
            let row = (at..at + 5).any(|at| sentence.is_edge(at + 1))
                && !matches!(before, "to" | "onto" | "on" | "with" | "against");
            let (parts, end, weak) = with(from, (target || !strong) && !(first_turn && row))?;
            Some((parts, end, weak && !matches!(sentence.low(end), "separately" | "separate")))
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
                "for" if matches!(sentence.low(at + 2), "each" | "every" | "any" | "one") => with(at + 3, false),
                "for" if sentence.low(at + 2) == "a" && matches!(sentence.before(at), "one" | "a" | "single") => {
                    with(at + 3, false)
                }
                "a" | "an" | "each" if matches!(sentence.before(at), "one" | "a" | "single") => with(at + 2, false),
                "=" | "is" | "for" if sentence.low(at + 2) == "1" => with(at + 3, false),
                "=" | "is" if matches!(sentence.before(at), "one" | "a" | "each" | "every") => with(at + 2, false),
                _ => None,
            }
        }
        // `the register of charities`, `a list of museums`.
        "register" | "list" | "directory" | "inventory" | "registry" | "catalogue" | "roster"
            if first_turn && sentence.low(at + 1) == "of" =>
        {
            let item = phrase(sentence, at + 2, Reach::Thing)?;
            let head = (item.from..item.to).find(|at| sentence.low(*at) == "of").unwrap_or(item.to);
            let last = sentence.low(head - 1);
            (singular(last) != last && !is(last, Class::Data)).then(|| (vec![singular(last)], at + 1, true))
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
    let gerund = next.ends_with("ing") && next != "building" && !is_unit(sentence.low(at + 2));
    !passive
        && !gerund
        && !matches!(next, "the" | "which" | "its" | "their" | "my" | "our" | "a" | "an" | "that" | "this")
}
