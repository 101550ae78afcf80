//! How many decimals the figures of a result get. This changes how it looks, not which rows it has.

use lakeward_core::plan::{Expression, Measure, MeasureFunction, NumberFunction, Step};

use super::{Assembler, NotApplied};

impl Assembler<'_> {
    /// Rounds the figures of the grouping that stands.
    pub(super) fn round(&mut self, words: &str, decimals: i32) {
        let is_fraction = |measure: &&Measure| {
            let whole = matches!(measure.function, MeasureFunction::Count | MeasureFunction::CountDistinct);
            !whole && !matches!(measure.function, MeasureFunction::First { .. })
        };
        let level = self.layout.grouped();
        let names: Vec<String> = level
            .and_then(|level| level.grouping())
            .map(|grouping| grouping.measures.iter().filter(is_fraction).map(Measure::column_name).collect())
            .unwrap_or_default();
        if names.is_empty() {
            self.not_applied.push(NotApplied::left_out(words, "no figure is computed that could be rounded"));
        }
        for name in names {
            let of = Box::new(Expression::column(name.clone()));
            let value = Expression::Number { function: NumberFunction::Round(decimals), of };
            if let Some(level) = self.layout.grouped() {
                level.after.push(Step::Derive { name, value });
            }
        }
    }
}
