//! Columns that no table has and a turn speaks of: they are computed from then on.

use lakeward_core::plan::Step;
use lakeward_core::text::lower_words;

use super::{Assembler, NotApplied};
use crate::reader::schema::Schema;
use crate::reader::span::{Function, Role, Span, TurnReading};
use crate::reader::unit::Unit;
use crate::reader::words::words;

/// Words that tell what a column is computed of say nothing else: `the days between loan and return` groups by neither.
pub(super) fn not_of_parts(reading: &mut TurnReading, schema: &Schema) {
    const BEFORE: [&str; 5] = ["between", "from", "to", "and", "until"];
    let computed = schema.columns.iter().enumerate().find_map(|(place, column)| {
        let computed = column.computed.as_deref()?;
        let counts =
            |span: &Span| span.role == Role::Measure && lower_words(&span.words).any(|word| column.name == word);
        let speaks = |span: &Span| span.columns.contains(&place) || span.second == Some(place) || counts(span);
        reading.spans.iter().any(speaks).then_some(computed)
    });
    let Some(computed) = computed else { return };
    let is_part = |column: &usize| computed.of.contains(&schema.columns[*column].name);
    let text = reading.text.clone();
    let follows = |span: &Span| {
        let before = text.get(..span.bytes.start).unwrap_or_default();
        words(before).last().is_some_and(|word| BEFORE.contains(&before[word.bytes.clone()].to_lowercase().as_str()))
    };
    reading.spans.retain(|span| {
        let mut own = span.columns.iter().chain(&span.second);
        let is_of_parts = match span.role {
            Role::Group if span.part.is_some() => false,
            Role::Group | Role::Show | Role::Column | Role::Measure => follows(span) && own.all(is_part),
            Role::Derive => own.any(is_part),
            Role::Compare => own.all(is_part),
            _ => false,
        };
        !is_of_parts || span.columns.is_empty()
    });
}

impl Assembler<'_> {
    /// Computes the columns that the turn speaks of and no table has.
    pub(super) fn compute(&mut self) {
        for (place, span) in self.reading.spans.iter().enumerate() {
            for column in span.columns.iter().chain(&span.second) {
                if self.computed_column(*column).is_some() {
                    self.of_time.push(place);
                }
            }
        }
    }

    /// The name of a column that is computed, from now on.
    fn computed_column(&mut self, column: usize) -> Option<String> {
        let column = &self.schema.columns[column];
        let computed = column.computed.as_deref()?;
        let derived = Step::Derive { name: column.name.clone(), value: computed.value.clone() };
        let rows = &mut self.layout.last().rows;
        if !rows.contains(&derived) {
            rows.push(derived);
            self.remarks.push(computed.how.clone());
            if !computed.is_sure {
                let parts = computed.of.join("` and `");
                self.not_applied.push(NotApplied::left_out(
                    &column.name,
                    format!("it is computed of `{parts}`, and other columns may be meant"),
                ));
            }
        }
        Some(column.name.clone())
    }

    /// The name of the column of the time between two dates of each row, where a measure asks for it: "how many days", "how long".
    pub(super) fn elapsed(&mut self, span: &Span) -> Option<String> {
        let counts = matches!(
            span.function?,
            Function::Count
                | Function::CountDistinct
                | Function::Sum
                | Function::Mean
                | Function::Median
                | Function::Min
                | Function::Max
        );
        let is_of_time = |column: &usize| {
            let column = &self.schema.columns[*column];
            column.computed.is_some() && Unit::is_of_time(column)
        };
        let column = (0..self.schema.columns.len()).find(is_of_time).filter(|_| counts)?;
        let text = self.reading.text.get(span.bytes.clone()).unwrap_or_default();
        let behind = self.reading.text.get(span.bytes.end..).unwrap_or_default();
        let said: Vec<String> = lower_words(text).chain(lower_words(behind).take(1)).collect();
        let unit = &self.schema.columns[column].name;
        let how_long = said.windows(2).any(|two| two == ["how", "long"]);
        let asks = said.windows(2).any(|two| matches!(two[0].as_str(), "many" | "of") && two[1] == *unit);
        let is_known = span.column().is_some_and(|column| {
            let column = &self.schema.columns[column];
            column.computed.is_none() && column.is_named(&span.words)
        });
        let is_meant = span.column() == Some(column) || how_long || asks;
        if !is_meant || is_known { None } else { self.computed_column(column) }
    }

    /// Whether a count of days is wanted of each row: nothing is grouped and no mean asked for.
    pub(super) fn is_of_each_row(&self, function: Function) -> bool {
        const MEANS: [&str; 5] = ["average", "mean", "typical", "typically", "avg"];
        let says_mean = lower_words(&self.reading.text).any(|word| MEANS.contains(&word.as_str()));
        let counts = matches!(function, Function::Count | Function::CountDistinct | Function::Sum);
        counts && !says_mean && self.spans(Role::Group).is_empty()
    }
}
