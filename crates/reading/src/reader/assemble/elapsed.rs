//! How long something took: the time between the two dates of a row, where a figure is asked for in days or hours and no column counts them.

use lakeward_core::plan::{Arithmetic, Expression, Step, Value};

use super::Assembler;
use crate::reader::schema::ColumnKind;
use crate::reader::span::{Function, Role, Span};
use crate::reader::unit::{Unit, days_of};
use lakeward_core::text::lower_words;

impl Assembler<'_> {
    /// The name of the column of the time between the two dates of each row, where a measure asks for it: "how many days", "how long". It is computed
    /// from now on.
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
        let text = self.reading.text.get(span.bytes.clone()).unwrap_or_default();
        let behind = self.reading.text.get(span.bytes.end..).unwrap_or_default();
        let said: Vec<String> = lower_words(text).chain(lower_words(behind).take(1)).collect();
        let how_long = said.windows(2).any(|two| two == ["how", "long"]);
        let unit = said.iter().find_map(|word| Some((word.as_str(), days_of(word)?)));
        let (unit, days) = unit.or(how_long.then_some(("days", 1.0)))?;
        let asks = how_long || said.windows(2).any(|two| matches!(two[0].as_str(), "many" | "of") && two[1] == unit);
        let is_known = span.column().is_some_and(|column| {
            let column = &self.schema.columns[column];
            column.is_named(&span.words) || column.kind.is_number() && Unit::is_of_time(column)
        });
        let dates = self.schema.columns.iter().filter(|column| column.kind == ColumnKind::Date && !column.of_result);
        let [first, last] = dates.collect::<Vec<_>>()[..] else { return None };
        if !counts || !asks || is_known || self.schema.columns.iter().any(|column| column.is_named(unit)) {
            return None;
        }
        let column = |name: &str| Box::new(Expression::column(name));
        let between = Expression::Arithmetic {
            operator: Arithmetic::Minus,
            left: column(&last.name),
            right: column(&first.name),
        };
        let value = if days == 1.0 {
            between
        } else {
            let by = Box::new(Expression::Value(Value::Number(days)));
            Expression::Arithmetic { operator: Arithmetic::DividedBy, left: Box::new(between), right: by }
        };
        let derived = Step::Derive { name: unit.to_string(), value };
        let rows = &mut self.layout.last().rows;
        if !rows.contains(&derived) {
            rows.push(derived);
            self.remarks.push(format!("`{unit}` are those from {} to {}", first.name, last.name));
        }
        Some(unit.to_string())
    }

    /// Whether a count of days is wanted of each row: nothing is grouped and no mean asked for.
    pub(super) fn is_of_each_row(&self, function: Function) -> bool {
        const MEANS: [&str; 5] = ["average", "mean", "typical", "typically", "avg"];
        let says_mean = lower_words(&self.reading.text).any(|word| MEANS.contains(&word.as_str()));
        let counts = matches!(function, Function::Count | Function::CountDistinct | Function::Sum);
        counts && !says_mean && self.spans(Role::Group).is_empty()
    }
}
