//! Bounds of numbers and dates, before they become conditions.

use lakeward_core::plan::{Comparison, Condition, Expression, Plan};
use lakeward_core::request::Act;

use crate::reader::layout::Layout;
use crate::reader::number::{month, number, scale};
use crate::reader::schema::{ColumnKind, Schema};
use crate::reader::span::{Operator, Role, Span, TurnReading};
use crate::reader::words::words;

/// Two bounds with hardly a word between them, one from below and one from above, are of one column: of the one that they name, else that has
/// both numbers, else that the reader is surer of.
pub(super) fn one_column_between(reading: &mut TurnReading, schema: &Schema) {
    /// Bytes of ` and `.
    const BETWEEN: usize = 5;
    let is_from = |operator: Operator| matches!(operator, Operator::AtLeast | Operator::Greater);
    let is_to = |operator: Operator| matches!(operator, Operator::AtMost | Operator::Less);
    for place in 1..reading.spans.len() {
        let (low, high) = (&reading.spans[place - 1], &reading.spans[place]);
        let are_bounds = low.role == Role::Value
            && high.role == Role::Value
            && is_from(low.operator)
            && is_to(high.operator)
            && high.bytes.start.saturating_sub(low.bytes.end) <= BETWEEN;
        let (Some(one), Some(other)) = (low.column(), high.column()) else { continue };
        if !are_bounds {
            continue;
        }
        if let Some(scale) = shared_scale(&low.words, &high.words) {
            let words = format!("{} {scale}", low.words);
            reading.spans[place - 1].words = words;
        }
        if reading.spans[place - 1].unit.is_none() {
            reading.spans[place - 1].unit = reading.spans[place].unit.clone();
        }
        let (low, high) = (&reading.spans[place - 1], &reading.spans[place]);
        if one == other {
            continue;
        }
        let numbers = [low, high].map(|span| number(&span.words).map_or(f64::NAN, |number| number.value));
        let score = |place: usize, sure: f32| {
            let column = &schema.columns[place];
            let named = [low, high].iter().any(|span| column.is_named(&span.words));
            let has =
                column.range.is_some_and(|(least, most)| numbers.iter().all(|number| (least..=most).contains(number)));
            (named, has, sure)
        };
        let is_first = score(one, low.confidence) >= score(other, high.confidence);
        let (columns, part) =
            if is_first { (low.columns.clone(), low.part) } else { (high.columns.clone(), high.part) };
        for span in &mut reading.spans[place - 1..=place] {
            (span.columns, span.part) = (columns.clone(), part);
        }
    }
}

/// `between March and May 2024`, `from March to May 2024` are the months of one condition, whichever of them the reader took for one.
pub(super) fn from_month_to_month(reading: &mut TurnReading, schema: &Schema) {
    let text = reading.text.clone();
    let words = words(&text);
    let said = |at: usize| words.get(at).map(|word| text[word.bytes.clone()].to_lowercase()).unwrap_or_default();
    let ends = (3..words.len()).find(|at| {
        let between = match said(at - 1).as_str() {
            "and" => said(at - 3) == "between",
            "to" | "until" | "till" | "through" => true,
            _ => false,
        };
        between && month(&said(at - 2)).is_some() && month(&said(*at)).is_some()
    });
    let Some(last) = ends else { return };
    let has_year = said(last + 1).len() == 4 && said(last + 1).parse::<u32>().is_ok();
    let end = words[if has_year { last + 1 } else { last }].bytes.end;
    let range = words[last - 2].bytes.start..end;
    let inside = |span: &Span| span.bytes.start < range.end && range.start < span.bytes.end;
    let is_date = |span: &Span| {
        let column = span.column().map(|column| schema.columns[column].kind);
        span.role == Role::Value && inside(span) && column == Some(ColumnKind::Date)
    };
    let Some(mut whole) = reading.spans.iter().find(|span| is_date(span)).cloned() else { return };
    let place = reading.spans.iter().position(is_date).unwrap_or_default();
    (whole.words, whole.bytes, whole.operator) = (text[range.clone()].to_string(), range.clone(), Operator::Equal);
    (whole.part, whole.value) = (None, None);
    reading.spans[place] = whole;
    let mut at = 0;
    reading.spans.retain(|span| {
        at += 1;
        at - 1 == place || !inside(span)
    });
}

/// Parts of one date, one right behind the other, are of one column: of the one that the reader is surer of.
pub(super) fn one_date(reading: &mut TurnReading, schema: &Schema) {
    /// Bytes of `, `.
    const BETWEEN: usize = 2;
    let is_date = |span: &Span| {
        let column = span.column().map(|column| schema.columns[column].kind);
        span.role == Role::Value && span.part.is_some() && column == Some(ColumnKind::Date)
    };
    for place in 1..reading.spans.len() {
        let (one, other) = (&reading.spans[place - 1], &reading.spans[place]);
        let gap = other.bytes.start.saturating_sub(one.bytes.end);
        if !is_date(one) || !is_date(other) || one.part == other.part || gap > BETWEEN {
            continue;
        }
        let surer = if one.likely_column >= other.likely_column { one } else { other };
        let columns = surer.columns.clone();
        reading.spans[place - 1..=place].iter_mut().for_each(|span| span.columns.clone_from(&columns));
    }
}

/// The word that scales both bounds and is said of the upper one: `hundred` of `two and three hundred`.
fn shared_scale<'w>(low: &str, high: &'w str) -> Option<&'w str> {
    let scale = high.split_whitespace().find(|word| scale(&word.to_lowercase()).is_some())?;
    let value = |said: &str| number(said).map(|number| number.value);
    let (own, most) = (value(low)?, value(high)?);
    let scaled = value(&format!("{low} {scale}"))?;
    (own < scaled && scaled < most).then_some(scale)
}

/// A bound that is corrected by nothing but another number stays one: `2012` after `hired before 2015`, not `in 2012`.
pub(super) fn corrected(reading: &mut TurnReading, schema: &Schema, base: &Plan) {
    const SAYS_EQUAL: [&str; 6] = ["in", "exactly", "equals", "equal", "is", "on"];
    let [span] = &reading.spans[..] else { return };
    let says_equal = SAYS_EQUAL.iter().any(|word| reading.says_before(span, word));
    if !reading.has(Act::Correct) || span.role != Role::Value || span.operator != Operator::Equal || says_equal {
        return;
    }
    let Some(column) = span.column().and_then(|column| schema.columns.get(column)) else { return };
    let standing = Layout::of(base).take_conditions(&column.name, |_| true);
    let bounds: Vec<Operator> = standing.iter().filter_map(bound_of).collect();
    if let ([operator], 1) = (&bounds[..], standing.len()) {
        reading.spans[0].operator = *operator;
    }
}

/// From where to where a condition is met, where it has one bound.
fn bound_of(condition: &Condition) -> Option<Operator> {
    let Condition::Compare { comparison, right: Expression::Value(_), .. } = condition else { return None };
    Some(match comparison {
        Comparison::Less => Operator::Less,
        Comparison::AtMost => Operator::AtMost,
        Comparison::Greater => Operator::Greater,
        Comparison::AtLeast => Operator::AtLeast,
        Comparison::Equal | Comparison::Different => return None,
    })
}
