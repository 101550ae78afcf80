//! What the words of a turn leave in doubt though a column fits: a noun that the column is not called, and which marks are the best.

use std::collections::BTreeSet;

use lakeward_core::text::{is_function_word, lower_words, stems};

use super::Assembler;
use crate::reader::number::number;
use crate::reader::schema::SchemaColumn;
use crate::reader::span::{Operator, Role, Span};

impl Assembler<'_> {
    /// The noun that a bound is said of and that its column is not called: `bonus` of `whose bonus is above 5000`. What no article stands before and no
    /// verb behind may be a verb itself (`who earn over 5000`).
    pub(super) fn noun_of_bound(&self, span: &Span, column: &SchemaColumn) -> Option<String> {
        const BEFORE: [&str; 13] =
            ["whose", "a", "an", "the", "their", "its", "his", "her", "with", "any", "without", "having", "has"];
        const BEHIND: [&str; 5] = ["is", "are", "was", "were", "of"];
        const COMPARE: [&str; 28] = [
            "those",
            "these",
            "ones",
            "only",
            "just",
            "now",
            "above",
            "below",
            "over",
            "under",
            "more",
            "less",
            "than",
            "least",
            "most",
            "exceeding",
            "greater",
            "higher",
            "lower",
            "fewer",
            "bigger",
            "larger",
            "smaller",
            "beyond",
            "between",
            "up",
            "exceeds",
            "equal",
        ];
        let orders = !matches!(span.operator, Operator::Equal | Operator::Different);
        if span.role != Role::Value || !orders || !column.kind.is_number() || column.of_result {
            return None;
        }
        let is_compared = |word: &str| COMPARE.contains(&word) || BEHIND.contains(&word) || is_function_word(word);
        let inside: Vec<String> = lower_words(&span.words).take_while(|word| number(word).is_none()).collect();
        // What a comparison follows within the span: `overtime above four hours`.
        let compares = inside.iter().position(|word| COMPARE.contains(&word.as_str()));
        if let Some(noun) = compares.and_then(|at| inside[..at].iter().find(|word| !is_compared(word))) {
            return inside.iter().all(|word| !column.is_named(word)).then(|| noun.clone());
        }
        let before = self.reading.text.get(..span.bytes.start)?;
        let before: Vec<String> = lower_words(before).collect();
        let beside = before.iter().rposition(|word| !is_compared(word))?;
        let said = |at: Option<usize>| at.and_then(|at| before.get(at)).map_or("", String::as_str);
        let (noun, left, right) = (said(Some(beside)), said(beside.checked_sub(1)), said(Some(beside + 1)));
        let is_noun = BEHIND.contains(&right)
            || (BEFORE.contains(&left) && (right.is_empty() || COMPARE.contains(&right) || right == "at"));
        let is_read = self.reading.spans.iter().any(|other| lower_words(&other.words).any(|word| word == noun));
        (is_noun && !is_read && number(noun).is_none() && !column.is_named(noun)).then(|| noun.to_string())
    }

    /// Another column of numbers that the words of a figure name as well: `elec_kwh` beside `gas_kwh` for "total kwh".
    pub(super) fn named_alike(&self, span: &Span, column: &SchemaColumn) -> Option<&str> {
        let said = stems(&span.words);
        let is_computed = matches!(span.role, Role::Measure | Role::Order);
        let has_numbers = |column: &SchemaColumn| column.quantity && !column.of_result;
        if !is_computed || span.columns.len() > 1 || !has_numbers(column) {
            return None;
        }
        let named = |column: &SchemaColumn| -> (BTreeSet<String>, usize) {
            let name = stems(&column.name);
            // `dep` is short for departure.
            let is_said =
                |part: &&String| said.iter().any(|word| word == *part || part.len() > 1 && word.starts_with(&***part));
            (name.iter().filter(is_said).cloned().collect(), name.len())
        };
        let (own, length) = named(column);
        let others = self.schema.columns.iter().filter(|other| other.name != column.name && has_numbers(other));
        let is_named = |other: &&SchemaColumn| {
            let (words, long) = named(other);
            words == own && long <= length
        };
        if own.is_empty() || own.len() == length || !column.used.is_empty() {
            return None;
        }
        others.into_iter().find(is_named).map(|other| other.name.as_str())
    }

    /// Why "the best" cannot be told of a figure of marks: in some countries one is the best, in others the worst.
    pub(super) fn doubted_marks(&self, span: &Span) -> Option<String> {
        const LAST_MARK: f64 = 10.0;
        let is_judged = |word: String| matches!(word.as_str(), "best" | "worst" | "better" | "worse");
        if span.role != Role::Order || !lower_words(&span.words).any(is_judged) {
            return None;
        }
        let computed = self.reading.of(Role::Measure).filter_map(Span::column);
        let are_marks = |column: &SchemaColumn| {
            column.kind.is_number() && column.range.is_some_and(|(least, most)| least >= 0.0 && most <= LAST_MARK)
        };
        let column = span.column().into_iter().chain(computed).map(|place| &self.schema.columns[place]);
        let marks = column.into_iter().find(|column| are_marks(column))?;
        Some(format!("whether much or little of `{}` is better is not known", marks.name))
    }
}
