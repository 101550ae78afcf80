//! The columns that are shown, and rows that differ in them.

use lakeward_core::plan::{Expression, Kept, Measure, Step};

use super::Assembler;
use crate::reader::layout::Level;
use crate::reader::span::Role;

impl Assembler<'_> {
    pub(super) fn columns(&mut self) {
        let shows = self.spans(Role::Show);
        if !shows.is_empty() {
            let mut kept: Vec<Kept> = Vec::new();
            for (place, span) in shows {
                if self.done[place] {
                    continue;
                }
                if span.columns.is_empty() {
                    self.refuse(place, "there is no such column");
                    continue;
                }
                self.done[place] = true;
                for name in self.names(span) {
                    if !kept.iter().any(|known| known.column == name) {
                        kept.push(Kept { column: name, name: None });
                    }
                }
            }
            let level = self.layout.last();
            if !kept.is_empty() && level.group.is_none() {
                level.columns = Some(Step::Select(kept));
            } else if !kept.is_empty() {
                let columns = shown_of_result(level, &kept);
                if !columns.is_empty() {
                    level.columns = Some(Step::Select(columns));
                }
            }
        }
        let mut hidden: Vec<String> = Vec::new();
        for (place, span) in self.spans(Role::Hide) {
            if span.columns.is_empty() {
                self.refuse(place, "there is no such column");
                continue;
            }
            self.done[place] = true;
            hidden.extend(self.names(span));
        }
        if hidden.is_empty() {
            return;
        }
        let level = self.layout.last();
        match &mut level.columns {
            Some(Step::Select(kept)) => kept.retain(|kept| !hidden.contains(&kept.column)),
            Some(Step::Drop(names)) => names.extend(hidden),
            _ => level.columns = Some(Step::Drop(hidden)),
        }
    }

    pub(super) fn distinct(&mut self) {
        let spans = self.spans(Role::Distinct);
        if spans.is_empty() {
            return;
        }
        let names: Vec<String> = spans.iter().flat_map(|(_, span)| self.names(span)).collect();
        spans.iter().for_each(|(place, _)| self.done[*place] = true);
        let level = self.layout.last();
        if level.group.is_none() && !names.is_empty() && level.columns.is_none() {
            level.columns =
                Some(Step::Select(names.iter().map(|name| Kept { column: name.clone(), name: None }).collect()));
        }
        level.distinct = Some(names);
    }
}

/// Columns of a grouped result by the names that rows have: a measure is also called by its column.
pub(super) fn shown_of_result(level: &mut Level, kept: &[Kept]) -> Vec<Kept> {
    let Some(grouping) = level.grouping() else { return kept.to_vec() };
    let names: Vec<String> = grouping
        .keys
        .iter()
        .map(|key| key.column_name())
        .chain(grouping.measures.iter().map(Measure::column_name))
        .collect();
    let of = |name: &str| {
        let measure =
            grouping.measures.iter().find(|measure| measure.of.as_ref().and_then(Expression::as_column) == Some(name));
        measure.map(Measure::column_name)
    };
    kept.iter()
        .filter_map(|kept| {
            let own = names.contains(&kept.column).then(|| kept.column.clone());
            Some(Kept { column: own.or_else(|| of(&kept.column))?, name: None })
        })
        .collect()
}
