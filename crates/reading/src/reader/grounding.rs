//! Columns and values that have the very words of a span as their name; they count whatever the model takes the words
//! for.

use std::collections::BTreeSet;

use lakeward_core::text::{is_function_word, name_key, stems};

use super::input::Input;
use super::number::number;
use super::schema::{ColumnKind, Schema, SchemaColumn};
use super::span::{Operator, Role, Span, says_no};
use super::value_match::ValueMatch;
use super::words::Word;

/// The column whose name the words are, where one alone is called so.
pub(super) fn spelt(said: &str, schema: &Schema) -> Option<usize> {
    let called = |key: String| {
        let is_it = |column: &SchemaColumn| {
            column.stand_in.is_none()
                && std::iter::once(&column.name).chain(&column.also).any(|name| name_key(name) == key)
        };
        let mut places = (0..schema.columns.len()).filter(|place| is_it(&schema.columns[*place]));
        match (places.next(), places.next()) {
            (Some(place), None) if !key.is_empty() => Some(place),
            _ => None,
        }
    };
    let bare = said.split_once(' ').filter(|(first, _)| is_function_word(&first.to_lowercase()));
    called(name_key(said)).or_else(|| called(name_key(bare?.1)))
}

/// The columns of text that have all words of a span, counted in the text's words, as a value.
pub(super) fn with_value(words: std::ops::Range<usize>, matches: &[ValueMatch]) -> impl Iterator<Item = &ValueMatch> {
    let is_it = move |found: &&ValueMatch| {
        found.likeness >= 1.0 && found.words.0 <= words.start && found.words.1 + 1 >= words.end
    };
    matches.iter().filter(is_it)
}

/// Which side of a number rows must be on.
fn direction(operator: Operator) -> Option<bool> {
    match operator {
        Operator::AtLeast | Operator::Greater => Some(true),
        Operator::AtMost | Operator::Less => Some(false),
        _ => None,
    }
}

/// Whether a column can have a condition: not one that every row meets or none, no order of words without digits.
fn is_possible(span: &Span, column: &SchemaColumn) -> bool {
    let Some(said) = number(&span.words).filter(|said| !said.percent) else { return true };
    let ordered = direction(span.operator);
    match (column.kind, column.range) {
        (ColumnKind::Text, _) => ordered.is_none() || column.may_have_numbers(),
        (ColumnKind::Integer | ColumnKind::Number, Some((least, most))) => match ordered {
            Some(true) => said.value > least && said.value <= most,
            Some(false) => said.value >= least && said.value < most,
            None => (least..=most).contains(&said.value),
        },
        _ => true,
    }
}

/// Gives conditions on numbers whose column cannot have them, or has one of their direction already, to the next likeliest column that can,
/// unless the reader is very sure of the first. The span is as sure as that column is likely.
pub(super) fn settle(spans: &mut [Span], schema: &Schema) {
    const SURE: f32 = 0.9;
    const LEAST: f32 = 0.02;
    let compares = |span: &Span| span.role == Role::Value && span.part.is_none() && span.unit.is_none();
    // The name of a column is none of its values: `2023` where each year has a column.
    for span in spans.iter_mut().filter(|span| compares(span) && span.operator == Operator::Equal) {
        let Some(column) = span.column().map(|place| &schema.columns[place]) else { continue };
        let is_value = span.value.is_some() || column.kind.is_number() && is_possible(span, column);
        if !is_value && name_key(&column.name) == name_key(&span.words) {
            span.role = Role::Column;
        }
    }
    for place in 0..spans.len() {
        let span = &spans[place];
        let Some(column) = span.column().filter(|_| compares(span)) else { continue };
        let is_twice = |(other, known): (usize, &Span)| {
            other != place
                && compares(known)
                && known.column() == Some(column)
                && direction(span.operator).is_some()
                && direction(known.operator) == direction(span.operator)
                && known.likely_column.total_cmp(&span.likely_column).then(place.cmp(&other)).is_gt()
        };
        let twice = spans.iter().enumerate().any(is_twice);
        let is_free = |place: usize| place != column && is_possible(span, &schema.columns[place]);
        if !twice && (is_possible(span, &schema.columns[column]) || span.likely_column >= SURE) {
            continue;
        }
        let next = span.others.iter().find(|(place, likely)| *likely >= LEAST && is_free(*place)).copied();
        if let Some((next, likely)) = next {
            let span = &mut spans[place];
            span.columns = vec![next];
            span.value = None;
            span.confidence = span.confidence.min(likely);
        }
    }
}

/// Takes a value that is spelt for one that rows must have where no other word of the text can negate it, whatever the model takes it for: each is
/// an article, a quantifier, the name of a column or in a span of its own ("all hut sites"). Of 1,941 values to be left out in labels/turns one is
/// said so.
pub(super) fn not_negated(text: &str, spans: &mut [Span], input: &Input, schema: &Schema) {
    const QUANTIFIERS: [&str; 4] = ["all", "any", "each", "every"];
    let is_left_out = |span: &Span| span.role == Role::Value && span.operator == Operator::Different;
    if !spans.iter().any(is_left_out) || says_no(text) {
        return;
    }
    let names: BTreeSet<String> = schema.columns.iter().flat_map(|column| stems(&column.name)).collect();
    let affirms = |word: &Word| {
        let said = text[word.bytes.clone()].to_lowercase();
        if !word.is_word {
            return matches!(said.as_str(), "," | "." | "?" | "'" | "’");
        }
        // "And the cabins" goes on from what was said before.
        let goes_on = matches!(said.as_str(), "and" | "or");
        let is_plain = is_function_word(&said) && !goes_on;
        is_plain || QUANTIFIERS.contains(&said.as_str()) || (!goes_on && stems(&said).is_subset(&names))
    };
    let is_in = |word: &Word, span: &Span| span.bytes.start <= word.bytes.start && word.bytes.end <= span.bytes.end;
    let is_meant = |place: usize| {
        let span = &spans[place];
        let value = span.value.as_deref().map(stems).filter(|value| !value.is_empty());
        let is_said = |word: &Word| {
            let others = spans.iter().enumerate().filter(|(other, _)| *other != place);
            let is_of_value = |value: &BTreeSet<String>| stems(&text[word.bytes.clone()]).is_subset(value);
            affirms(word)
                || is_in(word, span) && value.as_ref().is_some_and(is_of_value)
                || others.clone().any(|(_, other)| !is_left_out(other) && is_in(word, other))
        };
        let spells = |value: &BTreeSet<String>| value.is_subset(&stems(&span.words));
        is_left_out(span) && value.as_ref().is_some_and(spells) && input.words.iter().all(is_said)
    };
    let meant: Vec<usize> = (0..spans.len()).filter(|place| is_meant(*place)).collect();
    meant.into_iter().for_each(|place| spans[place].operator = Operator::Equal);
}

/// Takes words that are a part of several values of a column for all of these: "after dark" where there is `Dark - lit` and `Dark - no lighting`.
/// Words that are in all values are said of what the values are of, and are no condition: "the libraries" where each is called so.
pub(super) fn parts_of_values(spans: &mut Vec<Span>, schema: &Schema) {
    const LEAST_VALUES: usize = 3;
    let mut place = 0;
    while place < spans.len() {
        let span = &spans[place];
        place += 1;
        let compares = matches!(span.operator, Operator::Equal | Operator::Different) && span.part.is_none();
        let (Role::Value, Some(value), Some(column)) = (span.role, &span.value, span.column()) else { continue };
        let column = &schema.columns[column];
        let said = stems(&span.words);
        if !compares || !column.has_words() || said.is_empty() || stems(value) == said {
            continue;
        }
        // What stands for a code is looked at once.
        let mut codes: Vec<&str> = Vec::new();
        let meanings = column.meanings.iter().map(|(meaning, code)| (meaning, code));
        let own = column.values.iter().filter(|_| column.complete).map(|value| (value, value));
        let (mut all, mut with): (usize, Vec<&String>) = (0, Vec::new());
        for (text, code) in meanings.chain(own) {
            if codes.contains(&code.as_str()) {
                continue;
            }
            codes.push(code);
            all += 1;
            with.extend(said.is_subset(&stems(text)).then_some(text));
        }
        if all < LEAST_VALUES || !with.contains(&value) {
            continue;
        }
        if with.len() == all && span.operator == Operator::Equal {
            place -= 1;
            spans.remove(place);
            continue;
        }
        let others = with.into_iter().filter(|other| *other != value);
        let others: Vec<Span> = others.map(|other| Span { value: Some(other.clone()), ..span.clone() }).collect();
        let added = others.len();
        spans.splice(place..place, others);
        place += added;
    }
}

/// Makes one condition of the spans that are parts of one value that the text spells ("Bosnia and Herzegovina").
pub(super) fn whole_values(text: &str, spans: &mut Vec<Span>, input: &Input, matches: &[ValueMatch]) {
    for found in matches.iter().filter(|found| found.likeness >= 1.0 && found.words.1 > found.words.0) {
        let (from, to) = (input.words[found.words.0].bytes.start, input.words[found.words.1].bytes.end);
        let is_part = |span: &Span| {
            span.role == Role::Value
                && span.column() == Some(found.column)
                && from <= span.bytes.start
                && span.bytes.end <= to
        };
        let parts: Vec<usize> = (0..spans.len()).filter(|place| is_part(&spans[*place])).collect();
        let [first, rest @ ..] = parts.as_slice() else { continue };
        if rest.is_empty() {
            continue;
        }
        let span = &mut spans[*first];
        (span.bytes, span.words, span.value) = (from..to, text[from..to].to_string(), Some(found.value.clone()));
        let mut place = 0;
        spans.retain(|_| {
            place += 1;
            !rest.contains(&(place - 1))
        });
    }
}
