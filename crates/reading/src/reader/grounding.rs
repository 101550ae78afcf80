//! Columns and values that have the very words of a span as their name; they count whatever the model takes the words
//! for.

use std::collections::BTreeSet;

use lakeward_core::plan::DatePart;
use lakeward_core::text::{is_function_word, lower_words, name_key, stems};
use lakeward_sketch::writing::is_marker;

use super::input::Input;
use super::number::{number, weekday};
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

/// Gives a weekday that was taken for a longer text (`Sunday Matinee`) to the only date of the rows, and makes a condition of a value that was taken
/// for what is grouped by: `by bank transfer`, which a column of payments has. Who spells a column and no word for a gap looks for no gap in it.
pub(super) fn own_values(text: &str, spans: &mut [Span], schema: &Schema) {
    let mut dates = (0..schema.columns.len()).filter(|place| schema.columns[*place].kind == ColumnKind::Date);
    let date = dates.next().filter(|_| dates.next().is_none());
    for span in spans {
        let Some(column) = span.column().map(|place| &schema.columns[place]) else { continue };
        let said = name_key(&span.words);
        match span.role {
            Role::Value if is_weekday(&span.words) && column.kind == ColumnKind::Text => {
                let is_longer = span.value.as_ref().is_some_and(|value| name_key(value) != said);
                if let Some(date) = date.filter(|_| is_longer) {
                    span.columns = vec![date];
                    (span.value, span.part) = (None, Some(DatePart::Weekday));
                }
            }
            Role::Test if span.operator == Operator::Missing && said == name_key(&column.name) && !says_gap(text) => {
                span.role = Role::Column;
            }
            Role::Group if !said.is_empty() && !column.is_named(&span.words) => {
                let values = column.values.iter().map(|value| (value, value));
                let meanings = column.meanings.iter().map(|(meaning, code)| (meaning, code));
                if let Some((_, value)) = values.chain(meanings).find(|(known, _)| name_key(known) == said) {
                    span.role = Role::Value;
                    (span.operator, span.value, span.part) = (Operator::Equal, Some(value.clone()), None);
                }
            }
            _ => {}
        }
    }
}

/// Takes a column that is called like what a span says of another one: "region of their home port" where a table of ports was joined.
pub(super) fn attributes(spans: &mut [Span], schema: &Schema) {
    for span in spans {
        let Some(column) = span.column() else { continue };
        let Some(attribute) = attribute_of(span, &schema.columns[column]) else { continue };
        if let Some(called) = spelt(&attribute, schema) {
            span.columns = vec![called];
        }
    }
}

/// What a span says of its column, whose name it spells behind that: "region" of "region of their home port". That the column has a name is nothing.
pub(super) fn attribute_of(span: &Span, column: &SchemaColumn) -> Option<String> {
    let names = matches!(span.role, Role::Group | Role::Show | Role::Column);
    let (said, of) = span.words.rsplit_once(" of ").filter(|_| names && span.part.is_none())?;
    let said = lower_words(said)
        .last()
        .filter(|word| !matches!(word.as_str(), "name" | "names") && !is_function_word(word))?;
    let mut of: Vec<String> = lower_words(of).collect();
    while of
        .first()
        .is_some_and(|word| is_function_word(word) || matches!(word.as_str(), "its" | "our" | "his" | "her"))
    {
        of.remove(0);
    }
    let is_spelt = name_key(&of.join(" ")) == name_key(&column.name);
    (is_spelt && !column.is_named(&said)).then_some(said)
}

/// Whether a word of a text may speak of cells without a value.
fn says_gap(text: &str) -> bool {
    const GAPS: [&str; 8] = ["blank", "empty", "gap", "gaps", "lack", "lacks", "lacking", "null"];
    let says = |word: String| is_marker(&word) || GAPS.contains(&word.as_str()) || word.starts_with("un");
    says_no(text) || lower_words(text).any(says)
}

/// Whether a word is the name of a weekday, or of several of them: `Sundays`.
fn is_weekday(said: &str) -> bool {
    let said = said.trim().to_lowercase();
    said.trim_end_matches('s').ends_with("day") && weekday(&said).is_some()
}

/// A bound in time that a word before it negates is the other one: `not hired before 2019` is from 2019 on, `no later than 2015` up to it. The words decide,
/// whatever the model takes it for.
pub(super) fn negated_bounds(text: &str, spans: &mut [Span], input: &Input) {
    /// Words between what negates and the bound at most.
    const NEAR: usize = 4;
    let said = |word: &Word| text[word.bytes.clone()].to_lowercase();
    let negated = |word: &str| match word {
        "before" | "earlier" => Some(Operator::AtLeast),
        "after" | "later" => Some(Operator::AtMost),
        "until" | "till" => Some(Operator::Greater),
        "since" => Some(Operator::Less),
        _ => None,
    };
    for place in 0..spans.len() {
        let span = &spans[place];
        let is_bound = !matches!(span.operator, Operator::Different | Operator::Missing | Operator::Present);
        if span.role != Role::Value || !is_bound {
            continue;
        }
        // The last word for a bound up to the end of the span, and the words before it up to another span or clause.
        let until: Vec<&Word> = input.words.iter().take_while(|word| word.bytes.end <= span.bytes.end).collect();
        let bound = until.iter().rposition(|word| negated(&said(word)).is_some());
        let Some(bound) = bound.filter(|at| until[*at].bytes.end + NEAR >= span.bytes.start) else { continue };
        let is_free = |word: &Word| {
            let others = spans.iter().enumerate().filter(|(other, _)| *other != place);
            !others
                .into_iter()
                .any(|(_, other)| other.bytes.start < word.bytes.end && word.bytes.start < other.bytes.end)
        };
        let before = until[..bound].iter().rev().take(NEAR).take_while(|word| {
            is_free(word) && !matches!(said(word).as_str(), "," | ";" | "." | "and" | "or" | "but" | "only")
        });
        let negates = |word: &&&Word| matches!(said(word).as_str(), "not" | "no" | "never" | "t" | "nt");
        if before.clone().any(|word| negates(&word)) {
            spans[place].operator = negated(&said(until[bound])).unwrap_or(spans[place].operator);
        }
    }
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
