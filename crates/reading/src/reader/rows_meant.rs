//! Places and years that a table at hand has: over a table they are said of its rows.

use super::schema::{ColumnKind, Holds, Schema, SchemaColumn};
use super::span::{Operator, Role, Span, TurnReading};
use super::words::words;
use lakeward_core::plan::DatePart;

/// A value of a column counts as meant from this likeness on.
const ALIKE: f32 = 0.9;
/// Numbers that are years.
const YEARS: std::ops::RangeInclusive<f64> = 1500.0..=2200.0;

/// Makes conditions on rows of the places and periods that a turn wants where a column of the table has them.
pub fn rows_meant(text: &str, schema: &Schema, holds: Holds<'_>, turn: &mut TurnReading) {
    if !turn.spans.iter().any(|span| matches!(span.role, Role::Place | Role::Period)) {
        return;
    }
    let words = words(text);
    for found in schema.matches(text, holds).into_iter().filter(|found| found.likeness >= ALIKE) {
        let (Some(first), Some(last)) = (words.get(found.words.0), words.get(found.words.1)) else { continue };
        let bytes = first.bytes.start..last.bytes.end;
        let touches = |span: &Span| span.bytes.start < bytes.end && bytes.start < span.bytes.end;
        let Some(place) = turn.spans.iter().position(|span| span.role == Role::Place && touches(span)) else {
            continue;
        };
        let unwanted = turn.spans[place].unwanted;
        let confidence = turn.spans[place].confidence;
        turn.spans.retain(|span| !(touches(span) && span.role == Role::Place));
        let operator = if unwanted { Operator::Different } else { Operator::Equal };
        let said = text[bytes.clone()].to_string();
        turn.spans.push(Span {
            columns: vec![found.column],
            operator,
            value: Some(found.value),
            confidence,
            ..Span::new(bytes, said, Role::Value)
        });
    }
    if let Some(column) = year_column(schema) {
        let dated = schema.columns[column].kind == ColumnKind::Date;
        for span in turn.spans.iter_mut().filter(|span| span.role == Role::Period && !span.unwanted) {
            if super::period::years(&span.words, Operator::Equal, 0).is_some_and(|years| is_one_year(years.bounds())) {
                span.role = Role::Value;
                span.columns = vec![column];
                span.part = dated.then_some(DatePart::Year);
            }
        }
    }
    turn.spans.sort_by_key(|span| span.bytes.start);
}

fn is_one_year(bounds: (Option<i32>, Option<i32>)) -> bool {
    matches!(bounds, (Some(from), Some(to)) if from == to)
}

/// The column of years or dates, where there is one alone.
fn year_column(schema: &Schema) -> Option<usize> {
    let is_year = |column: &SchemaColumn| {
        let in_range = column.range.is_none_or(|(least, most)| YEARS.contains(&least) && YEARS.contains(&most));
        let named = column.name.to_lowercase().contains("year");
        !column.of_result
            && (column.kind == ColumnKind::Date || (column.kind == ColumnKind::Integer && named && in_range))
    };
    let mut found = (0..schema.columns.len()).filter(|place| is_year(&schema.columns[*place]));
    found.next().filter(|_| found.next().is_none())
}
