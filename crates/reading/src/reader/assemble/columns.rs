//! Which columns a plan keeps, and whether equal rows of them become one.

use lakeward_core::plan::{Expression, Kept, Measure, Step};

use super::{Assembler, NotApplied};
use crate::reader::schema::SchemaColumn;
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
            self.show(kept);
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

    /// Shows these columns. Behind groups a measure is also called by its column; a column that the groups do not have is told of.
    fn show(&mut self, kept: Vec<Kept>) {
        let Some(grouping) = self.layout.last().grouping() else {
            if !kept.is_empty() {
                self.layout.last().columns = Some(Step::Select(kept));
            }
            return;
        };
        let of_groups: Vec<String> = grouping
            .keys
            .iter()
            .map(|key| key.column_name())
            .chain(grouping.measures.iter().map(Measure::column_name))
            .collect();
        let measure_of = |name: &str| {
            let is_of = |measure: &&Measure| measure.of.as_ref().and_then(Expression::as_column) == Some(name);
            grouping.measures.iter().find(is_of).map(Measure::column_name)
        };
        let is_beside = |column: &SchemaColumn| column.of_result && column.stand_in.is_none();
        let mut shown = Vec::new();
        for Kept { column, .. } in kept {
            let is_known = of_groups.contains(&column)
                || self.schema.place(&column).is_some_and(|place| is_beside(&self.schema.columns[place]));
            match if is_known { Some(column.clone()) } else { measure_of(&column) } {
                Some(column) => shown.push(Kept { column, name: None }),
                None => {
                    let reason = "the result of the groups does not have this column";
                    self.not_applied.push(NotApplied::left_out(column, reason));
                }
            }
        }
        if !shown.is_empty() {
            self.layout.last().columns = Some(Step::Select(shown));
        }
    }
}
