//! What a turn takes back of a plan, or replaces by its name.

use lakeward_core::plan::{Expression, Plan, Step};
use lakeward_core::request::Act;

use super::Assembler;
use crate::reader::layout::{Layout, ordered_by};
use crate::reader::number::number;
use crate::reader::span::{Role, Span};

impl Assembler<'_> {
    /// What the turn replaces by name or takes back.
    pub(super) fn take_back(&mut self) {
        let retracts = self.reading.has(Act::Retract);
        for (place, span) in self.spans(Role::Old) {
            self.done[place] = true;
            let name = span.column().map(|column| self.name(column));
            let mut did = false;
            if let Some(name) = &name {
                // "By channel instead of by type" leaves the conditions on types.
                let groups = !self.spans(Role::Group).is_empty();
                let is_replaced_key = self.replaces && !retracts && groups && self.is_key(name);
                if !is_replaced_key {
                    did |= self.take_condition(name, span);
                }
                if let Some(level) = self.layout.grouped() {
                    let columns = level.group.clone();
                    if let (Some(grouping), Some(Step::Group(_))) = (level.grouping(), &columns) {
                        let keys = grouping.keys.len();
                        if retracts || self.replaces {
                            grouping.keys.retain(|key| key.of.as_column() != Some(name) && key.column_name() != *name);
                        }
                        did |= grouping.keys.len() != keys;
                        let measures = grouping.measures.len();
                        if retracts {
                            grouping.measures.retain(|measure| {
                                measure.column_name() != *name
                                    && measure.of.as_ref().and_then(Expression::as_column) != Some(name)
                            });
                        }
                        did |= grouping.measures.len() != measures;
                    }
                }
                let level = self.layout.last();
                let before = level.order.len();
                level.order.retain(|order| ordered_by(order) != Some(name));
                did |= level.order.len() != before;
            }
            if retracts && name.is_none() {
                did |= self.take_back_without_column(span);
            }
            if retracts && !did {
                self.refuse(place, "nothing like it is in the plan");
            }
        }
        if retracts && self.reading.of(Role::Old).next().is_none() {
            // "never mind the limit": the words of the slot itself.
            for (place, _) in self.spans(Role::Limit) {
                self.done[place] = true;
                self.layout.last().limit = None;
            }
            for (place, _) in self.spans(Role::Order) {
                self.done[place] = true;
                self.layout.last().order.clear();
            }
            for role in [Role::Value, Role::Test, Role::Compare] {
                for (place, span) in self.spans(role) {
                    let name = span.column().map(|column| self.name(column));
                    if name.is_some_and(|name| self.take_condition(&name, span)) {
                        self.done[place] = true;
                    }
                }
            }
        }
    }

    /// Takes back what has no column: the number of rows where a number is said, or the only step that stands.
    fn take_back_without_column(&mut self, span: &Span) -> bool {
        let says_number = span.number.is_some() || number(&span.words).is_some();
        if says_number && self.layout.last().limit.take().is_some() {
            return true;
        }
        let is_alone = self.layout.clone().plan().relation.steps.len() == 1;
        if is_alone {
            self.layout = Layout::of(&Plan::of(self.layout.source.clone()));
        }
        is_alone
    }
}
