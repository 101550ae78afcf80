//! Conditions for yes and no, as the column writes them.

use lakeward_core::plan::{Comparison, Condition, Expression, Value};

use crate::reader::schema::{ColumnKind, SchemaColumn};
use crate::reader::span::{Operator, Span};
use lakeward_core::text::{lower_words, yes_or_no};
use lakeward_sketch::writing::is_marker;

/// Yes in a column of yes and no, or of numbers and words that say so.
pub(super) fn yes(column: &SchemaColumn, of: Expression) -> Condition {
    if let Some(condition) = among_others(column, &of, true) {
        return condition;
    }
    match written(column, true) {
        Some(value) => Condition::Compare { left: of, comparison: Comparison::Equal, right: Expression::Value(value) },
        None => Condition::Holds(of),
    }
}

pub(super) fn no(column: &SchemaColumn, of: Expression) -> Condition {
    if let Some(condition) = among_others(column, &of, false) {
        return condition;
    }
    match written(column, false) {
        Some(value) => Condition::Compare { left: of, comparison: Comparison::Equal, right: Expression::Value(value) },
        None => Condition::Not(Box::new(Condition::Holds(of))),
    }
}

/// How a column of text writes yes or no, where it is not one of the words that every query knows: `yea` and `nay`.
fn written(column: &SchemaColumn, yes: bool) -> Option<Value> {
    let begins = |letter: &str| column.values.iter().find(|value| value.to_lowercase().starts_with(letter));
    if column.kind != ColumnKind::Text || says_yes_or_no(column) {
        return None;
    }
    // Yea, ja, oui, sí.
    let says_yes = |letter: &&str| *letter == "y" || column.complete && column.values.len() == 2;
    let yes_word = ["y", "j", "o", "s"].iter().filter(|letter| says_yes(letter)).find_map(|letter| begins(letter))?;
    let no_word = begins("n")?;
    Some(Value::Text(if yes { yes_word } else { no_word }.clone()))
}

/// The condition for yes or no in a column of text that has a word for one of them among other values: `No`, `Knife`, `Firearm`.
fn among_others(column: &SchemaColumn, of: &Expression, yes: bool) -> Option<Condition> {
    let says = |yes: bool| column.values.iter().find(|value| yes_or_no(value) == Some(yes));
    let is_other = |value: &String| yes_or_no(value).is_none();
    if column.kind != ColumnKind::Text || !column.values.iter().any(is_other) {
        return None;
    }
    let (value, comparison) = match (says(yes), says(!yes)) {
        (Some(value), _) => (value, Comparison::Equal),
        (None, value) => (value?, Comparison::Different),
    };
    Some(Condition::Compare { left: of.clone(), comparison, right: Expression::Value(Value::Text(value.clone())) })
}

/// Whether some of the values of a column are yes and no as every query takes them.
pub(super) fn says_yes_or_no(column: &SchemaColumn) -> bool {
    let is_one = |value: &String| yes_or_no(value).is_some();
    match column.kind {
        ColumnKind::Boolean => true,
        ColumnKind::Text => column.values.iter().any(is_one),
        ColumnKind::Integer => column.range == Some((0.0, 1.0)),
        _ => false,
    }
}

/// Whether a column can be asked for yes and no: of numbers, those that are not zero; of dates, those that are there, as what is not finished
/// has no date of its end.
pub(super) fn may_say_yes(column: &SchemaColumn) -> bool {
    if column.kind == ColumnKind::Date {
        return true;
    }
    let unknown = column.kind == ColumnKind::Text && column.values.is_empty();
    unknown || column.kind.is_number() || says_yes_or_no(column) || written(column, true).is_some()
}

pub(super) fn tells_present(operator: Operator) -> bool {
    matches!(operator, Operator::Missing | Operator::Present)
}

/// Whether the words of a test are about cells without a value: a mark of gaps, or what was not done to a cell ("not recorded").
pub(super) fn speaks_of_gaps(column: &SchemaColumn, span: &Span) -> bool {
    let is_gap = |word: &str| {
        is_marker(word) || word.ends_with("ed") || matches!(word, "known" | "unknown" | "blank" | "empty" | "given")
    };
    lower_words(&span.words).any(|word| word != "none" && is_gap(&word) && !column.is_named(&word))
}
