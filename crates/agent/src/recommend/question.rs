//! The one question whose answers split the candidates most.
//!
//! Each property that candidates differ in (what is to be done, folder, grain, period, places, a column that some have) divides
//! their weight among its values; the property of greatest entropy is asked about.

use std::collections::BTreeMap;

use super::narrowing::{Narrowing, NarrowingValue};
use super::{Choice, Question};
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::request::{OperationKind, Ranked};
use lakeward_core::respect::Respect;
use lakeward_core::text::{is_function_word, lower_words};
use lakeward_lake::grain::GrainKind;
use lakeward_lake::semantic::SemanticType;
use lakeward_reading::reader::number_in_words;
use lakeward_search::Candidate;

/// Candidates that an answer should divide.
const LOOKED_AT: usize = 20;
/// Answers offered.
const MOST_CHOICES: usize = 5;
/// The answer that is none of those named.
const OTHER: &str = "another one";

/// The best question over the candidates, best first, if one is worth asking. A candidate weighs 1 / rank: utilities lie so
/// close together that the first would hardly count more than the last.
/// Of records there is nothing to be done: the field that divides them best is asked about. What `was_asked` is not asked again; where a table is at hand
/// it is not asked which one is meant.
pub fn best<'a>(
    candidates: impl IntoIterator<Item = &'a Candidate>,
    operation: &Ranked<OperationKind>,
    narrowings: &[Narrowing],
    (was_asked, is_at_hand): (impl Fn(&str) -> bool, bool),
    least_bits: f64,
) -> Option<Question> {
    if !narrowings.is_empty() {
        let narrowing = narrowings.iter().find(|narrowing| !was_asked(&asking_for(narrowing)))?;
        let choice =
            |value: &NarrowingValue| Choice { label: (&value.value).into(), operation: None, tables: Vec::new() };
        return Some(Question {
            text: asking_for(narrowing),
            computed: None,
            choices: narrowing.values.iter().map(choice).collect(),
            information: narrowing.information,
        });
    }
    let ranked = (1u32..).zip(candidates.into_iter().take(LOOKED_AT));
    let tables: Vec<(&Candidate, f64)> = ranked.map(|(rank, candidate)| (candidate, 1.0 / f64::from(rank))).collect();
    // Which table it is about is no question where one is at hand.
    let tables = if is_at_hand { &[] } else { tables.as_slice() };
    let mut questions: Vec<Question> = vec![about_operation(operation)];
    let parts = divide(message!("Which part of the lake is it about?"), tables, |candidate| {
        let id = candidate.dataset.id().as_str();
        id.split_once('/').map(|(folder, _)| folder.into())
    });
    // Folders of one table each are the tables themselves, which are listed already.
    questions.extend(
        parts.filter(|parts| parts.choices.iter().any(|choice| choice.label != OTHER && choice.tables.len() > 1)),
    );
    questions.extend(divide(message!("What should a row be?"), tables, |candidate| {
        Some(match candidate.dataset.table()?.profile.grain.kind {
            GrainKind::Instance => message!("one single thing or event"),
            GrainKind::Aggregate => message!("a figure over a group, such as a total per year"),
        })
    }));
    questions.extend(divide(message!("How recent must it be?"), tables, |candidate| {
        let (_, last) = candidate.dataset.table()?.profile.time.as_ref()?.years();
        let decade = last? / 10 * 10;
        Some(message!("the latest rows from the {}s", decade))
    }));
    questions.extend(divide(message!("Which places should it cover?"), tables, |candidate| {
        let places = candidate.dataset.table()?.profile.places.as_ref()?;
        Some(match (places.distinct, places.examples.first()) {
            (1, Some(only)) => only.into(),
            _ => match places.kind {
                SemanticType::UsState => message!("states of the USA"),
                _ => message!("several countries"),
            },
        })
    }));
    questions.extend(column_question(tables));
    let new = questions.into_iter().filter(|question| !was_asked(&question.text));
    let best = new.max_by(|a, b| a.information.total_cmp(&b.information))?;
    (best.information >= least_bits).then_some(best)
}

/// The question which value of a field a record should have.
pub fn asking_for(narrowing: &Narrowing) -> Message {
    match narrowing.role {
        Respect::Published => message!("In which year should it have been published?"),
        ref role => message!("Which {} should it be?", Message::name(role.to_string())),
    }
}

/// What to do, where the request does not say.
fn about_operation(asked: &Ranked<OperationKind>) -> Question {
    let label = |kind: OperationKind| match kind {
        OperationKind::Filter => message!("look at rows or columns of one table"),
        OperationKind::Join => message!("add columns of another table to mine"),
        OperationKind::Union => message!("add rows of other tables below mine"),
        OperationKind::Aggregate => message!("counts, totals or averages"),
        OperationKind::Clarify => message!("something else"),
    };
    let open: Vec<(OperationKind, f64)> =
        asked.all.iter().copied().filter(|(kind, _)| *kind != OperationKind::Clarify).collect();
    let choices = open
        .iter()
        .map(|(kind, _)| Choice { label: label(*kind), operation: Some(*kind), tables: Vec::new() })
        .collect();
    let weights: Vec<f64> = open.iter().map(|(_, probability)| *probability).collect();
    Question { text: message!("What do you want to do?"), computed: None, choices, information: entropy(&weights) }
}

/// A question that divides the candidates by a property; nothing where fewer than two values are known.
fn divide(
    text: Message,
    tables: &[(&Candidate, f64)],
    property: impl Fn(&Candidate) -> Option<Message>,
) -> Option<Question> {
    let mut groups: BTreeMap<String, (Message, f64, Vec<String>)> = BTreeMap::new();
    let mut known = 0;
    for (candidate, weight) in tables {
        let Some(value) = property(candidate) else { continue };
        known += 1;
        let group = groups.entry(value.to_string()).or_insert_with(|| (value, 0.0, Vec::new()));
        group.1 += weight;
        group.2.push(candidate.dataset.id().to_string());
    }
    // A property that half of them do not have divides nothing.
    if groups.len() < 2 || known * 2 < tables.len() {
        return None;
    }
    // Of equal weight in the order of their texts, as they stand.
    let mut groups: Vec<(Message, f64, Vec<String>)> = groups.into_values().collect();
    groups.sort_by(|a, b| b.1.total_cmp(&a.1));
    let rest = groups.split_off(groups.len().min(MOST_CHOICES));
    let mut weights: Vec<f64> = groups.iter().map(|(_, weight, _)| *weight).collect();
    weights.extend((!rest.is_empty()).then(|| rest.iter().map(|(_, weight, _)| weight).sum::<f64>()));
    let mut choices: Vec<Choice> =
        groups.into_iter().map(|(label, _, tables)| Choice { label, operation: None, tables }).collect();
    if !rest.is_empty() {
        let tables = rest.into_iter().flat_map(|(_, _, tables)| tables).collect();
        choices.push(Choice { label: Message::name(OTHER), operation: None, tables });
    }
    Some(Question { text, computed: None, choices, information: entropy(&weights) })
}

/// Whether a column is needed that about half of the candidates have.
fn column_question(tables: &[(&Candidate, f64)]) -> Option<Question> {
    let mut having: BTreeMap<String, f64> = BTreeMap::new();
    let total: f64 = tables.iter().map(|(_, weight)| weight).sum();
    for (candidate, weight) in tables {
        let mut names: Vec<String> =
            candidate.dataset.columns().iter().map(|column| column.name.to_lowercase()).collect();
        names.sort();
        names.dedup();
        for name in names {
            *having.entry(name).or_default() += weight;
        }
    }
    let (name, _) = having.into_iter().min_by(|a, b| {
        let distance = |weight: f64| (weight / total - 0.5).abs();
        distance(a.1).total_cmp(&distance(b.1)).then_with(|| a.0.cmp(&b.0))
    })?;
    divide(message!("Do you need the column `{}`?", &name), tables, |candidate| {
        let has = candidate.dataset.columns().iter().any(|column| column.name.to_lowercase() == name);
        Some(if has { message!("yes") } else { message!("no") })
    })
}

/// Shannon entropy in bits of weights, which need not sum to 1.
pub(super) fn entropy(weights: &[f64]) -> f64 {
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 {
        return 0.0;
    }
    weights.iter().filter(|weight| **weight > 0.0).map(|weight| weight / sum).map(|share| -share * share.log2()).sum()
}

/// The choice that an answer means: its number from 1 (`2`, `the second one`), or words of its label alone.
pub fn understood<'a>(question: &'a Question, answer: &str) -> Option<&'a Choice> {
    /// Words of an answer that choose nothing.
    const FILLERS: [&str; 9] = ["one", "ones", "please", "just", "okay", "ok", "then", "rather", "part"];
    const REFUSALS: [&str; 5] = ["not", "no", "none", "neither", "nor"];
    let means = |word: &String| {
        let word = word.as_str();
        REFUSALS.contains(&word) || !(is_function_word(word) || FILLERS.contains(&word))
    };
    let said: Vec<String> = lower_words(answer).filter(means).collect();
    let number = if let [word] = said.as_slice() { number_in_words(word) } else { None };
    let place = number.map(|number| number.value).filter(|place| *place >= 1.0);
    if let Some(choice) = place.and_then(|place| question.choices.get(place as usize - 1)) {
        return Some(choice);
    }
    // What says more than a label answers more than the question: it is read as a turn of its own.
    let says_no_more = |choice: &&Choice| {
        let label: Vec<String> = lower_words(&choice.label).collect();
        said.iter().all(|word| label.contains(word))
    };
    let mut chosen = question.choices.iter().filter(says_no_more);
    let whole = |choice: &&Choice| lower_words(&choice.label).eq(lower_words(answer));
    match (chosen.next(), chosen.next()) {
        _ if said.is_empty() => question.choices.iter().find(whole),
        (Some(one), None) => Some(one),
        _ => question.choices.iter().find(whole),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_greatest_for_even_splits() {
        assert!((entropy(&[1.0, 1.0]) - 1.0).abs() < 1e-12);
        assert!(entropy(&[3.0, 1.0]) < 1.0);
        assert_eq!(entropy(&[]), 0.0);
    }

    #[test]
    fn an_answer_is_understood_by_number_or_words() {
        let choice = |label: &str| Choice { label: label.into(), operation: None, tables: vec![] };
        let question =
            Question { text: "?".into(), computed: None, choices: vec![choice("yes"), choice("no")], information: 1.0 };
        assert_eq!(understood(&question, " 2. ").map(|choice| &*choice.label), Some("no"));
        assert_eq!(understood(&question, "Yes").map(|choice| &*choice.label), Some("yes"));
        assert_eq!(understood(&question, "0"), None);
        assert_eq!(understood(&question, "3"), None);
        assert_eq!(understood(&question, "perhaps"), None);
        assert_eq!(understood(&question, "the second one").map(|choice| &*choice.label), Some("no"));
        assert_eq!(understood(&question, "yes, by month"), None);
        let labels = ["energy", "the latest rows from the 1990s", "several countries", "counts, totals or averages"];
        let choices = labels.map(choice).into();
        let question = Question { choices, ..question };
        for (answer, expected) in [
            ("the energy part please", Some(0)),
            ("Energy for Norway", None),
            ("not energy", None),
            ("the 1990s", Some(1)),
            ("countries", Some(2)),
            ("totals", Some(3)),
            ("4", Some(3)),
            ("1990", None),
        ] {
            let expected = expected.map(|place: usize| labels[place]);
            assert_eq!(understood(&question, answer).map(|choice| &*choice.label), expected, "{answer}");
        }
    }
}
