//! Columns that are figures: what a model is to learn (`label = defaulted`) and what is computed of groups (`mean price by
//! grade`, `how many grants per county`, `sum the order value per supplier`).

use super::super::lexicon::{Class, is};
use super::super::phrase::{Phrase, Reach, list, list_before};
use super::super::words::{Sentence, Word, singular, stems};
use super::wish::{Subject, is_attribute};

/// `label = defaulted`, `target stays the yield`, `my y is B`: what a model is to learn.
pub(super) fn learned(sentence: &Sentence) -> Vec<Phrase> {
    const ROLES: [&str; 10] =
        ["label", "target", "outcome", "y", "response", "labels", "targets", "regressand", "dependent", "predictand"];
    const IS: [&str; 9] = ["=", ":", "is", "are", "stays", "remains", "being", "will", "should"];
    for at in 0..sentence.words.len() {
        if !ROLES.contains(&sentence.low(at)) || sentence.before(at) == "no" {
            continue;
        }
        let mut to = at + 1 + usize::from(sentence.low(at + 1) == "variable");
        if !IS.contains(&sentence.low(to)) || sentence.low(to + 1) == "not" {
            continue;
        }
        to += 1;
        while matches!(sentence.low(to), "be" | "stay" | "whether" | "if") {
            to += 1;
        }
        let words = sentence.words.get(to);
        // `defaulted yes/no`: participles name labels as well.
        if words.is_some_and(|word| word.is(Class::Verb) && word.low.ends_with("ed")) {
            return vec![Phrase { from: to, to: to + 1 }];
        }
        let (mut items, _) = list(sentence, to, Reach::Thing);
        items.truncate(1);
        for item in &mut items {
            while item.to > item.from + 1 && sentence.low(item.to - 1).contains("yes") {
                item.to -= 1;
            }
        }
        return items;
    }
    Vec::new()
}

/// `mean hammer price by grade and week`, `count + median price per parish`, `how many grants per county`, `sum the order
/// value per supplier`: what is computed of groups.
pub(super) fn computed(sentence: &Sentence, subject: Subject<'_>, later: bool) -> Vec<Phrase> {
    if !groups(sentence) {
        return Vec::new();
    }
    const SUMMING: [&str; 9] =
        ["sum", "average", "total", "tally", "compute", "calculate", "count", "add", "aggregate"];
    let figure =
        |word: &Word| word.is(Class::Measure) && !matches!(word.low.as_str(), "number" | "how" | "totals" | "numbers");
    let known = |item: &Phrase| {
        let head = singular(sentence.low(item.to - 1));
        stems(subject.topic).contains(&head) || stems(subject.grain).contains(&head)
    };
    for at in 0..sentence.words.len() {
        let word = &sentence.words[at];
        if word.claim.is_some() {
            continue;
        }
        if sentence.stands(at, "how many") || sentence.stands(at, "number of") || sentence.stands(at, "how much") {
            let (items, _) = list(sentence, at + 2, Reach::Thing);
            let items: Vec<Phrase> = before_groups(sentence, items).into_iter().filter(|item| !known(item)).collect();
            if !items.is_empty() {
                return items;
            }
        }
        let verb = SUMMING.contains(&word.low.as_str())
            && sentence
                .words
                .get(at + 1)
                .is_some_and(|next| next.is(Class::Determiner) && next.low != "that" && next.low != "this");
        if verb {
            let (items, _) = list(sentence, at + 1, Reach::Thing);
            let items = before_groups(sentence, items).into_iter();
            return items.filter(|item| is_attribute(sentence, *item, subject)).collect();
        }
        if figure(word) && !matches!(sentence.before(at), "per" | "by" | "each") {
            let (items, end) = list(sentence, at, Reach::Thing);
            let cut = items.last().is_some_and(|item| ungrouped(sentence, *item) != *item);
            let fits = cut
                || matches!(sentence.low(end), "per" | "by" | "for" | "in" | "over" | "of" | "at" | "," | "then" | "")
                || sentence.words.get(end).is_some_and(|word| word.is(Class::Determiner) || word.is(Class::Adverb));
            if fits && items.first().is_some_and(|item| item.from == at) {
                return before_groups(sentence, items);
            }
        }
    }
    // `births and deaths per district`; later also `vacancies per district`.
    if sentence.has(&["how did", "how does", "how do", "how has", "how have"]) {
        return Vec::new();
    }
    let Some(per) = (1..sentence.words.len()).find(|at| sentence.low(*at) == "per" || sentence.stands(*at, "for each"))
    else {
        return Vec::new();
    };
    if sentence.words[per - 1].is(Class::Data)
        || matches!(sentence.before(per), "row" | "line" | "record" | "figure" | "number" | "one")
    {
        return Vec::new();
    }
    let items: Vec<Phrase> = list_before(sentence, per, Reach::Thing)
        .into_iter()
        .map(|item| Phrase { to: item.to.min(per), ..item })
        .collect();
    let items: Vec<Phrase> = items.into_iter().filter(|item| item.from < item.to).collect();
    let fits = items.len() > 1 || later && !sentence.words[..per].iter().any(|word| word.is(Class::Pronoun));
    let named = |item: &Phrase| {
        is_attribute(sentence, *item, subject)
            && !is(&singular(sentence.low(item.to - 1)), Class::Time)
            && !sentence.words[item.to - 1].is(Class::Data)
            && (item.to - item.from > 1 || !sentence.words[item.from].is(Class::Measure))
            && !known(item)
    };
    if fits { items.into_iter().filter(named).collect() } else { Vec::new() }
}

/// The phrases up to the first that goes on with `per` and a unit; what follows that tells of rows.
fn before_groups(sentence: &Sentence, items: Vec<Phrase>) -> Vec<Phrase> {
    let mut kept = Vec::new();
    for item in items {
        let cut = ungrouped(sentence, item);
        kept.push(cut);
        if cut != item {
            break;
        }
    }
    kept
}

/// The phrase before `per` and a unit, which tells of rows.
pub(super) fn ungrouped(sentence: &Sentence, item: Phrase) -> Phrase {
    let per = (item.from + 1..item.to)
        .find(|at| sentence.low(*at) == "per" && is(&singular(sentence.low(at + 1)), Class::Unit));
    Phrase { to: per.unwrap_or(item.to), ..item }
}

/// Whether the sentence groups rows: `per`, `by`, `for each`, `in each`.
fn groups(sentence: &Sentence) -> bool {
    sentence.has(&["per", "by", "for each", "in each", "for every", "each", "a year", "at each"])
        || sentence.words.iter().any(|word| word.low.ends_with("-wise") || word.low.ends_with("-level"))
}
