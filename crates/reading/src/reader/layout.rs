//! A plan in the slots that people speak of: tables, rows, groups, order, number of rows, columns.
//!
//! A plan is a list of steps in any order. A correction speaks of a slot ("by month instead", "ten of them"), so the steps are sorted
//! into levels, each of which has every slot at most once and in the order in which it is computed; a step that would come too early for
//! its level begins the next one. [`Layout::plan`] puts the same steps together again.

use lakeward_core::plan::{Comparison, Condition, DatePart, Expression, Grouping, Order, Plan, Step, Top};
use lakeward_core::request::Input;

/// What is done to one table, slot by slot in the order of computation.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Level {
    /// Joins, unions, unpivots and renamed columns.
    pub tables: Vec<Step>,
    /// Conditions and computed columns, in their order.
    pub rows: Vec<Step>,
    /// The grouping, or a pivot.
    pub group: Option<Step>,
    /// Conditions, computed columns and joins behind the grouping.
    pub after: Vec<Step>,
    /// Columns in which rows are different.
    pub distinct: Option<Vec<String>>,
    /// First rows of each group.
    pub top: Option<Top>,
    /// Order of rows.
    pub order: Vec<Order>,
    /// Rows kept, and skipped before.
    pub limit: Option<(u64, u64)>,
    /// The columns kept or left out.
    pub columns: Option<Step>,
}

/// A plan in levels, at least one; each computes on the result of the one before.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    pub source: Input,
    pub levels: Vec<Level>,
}

impl Level {
    /// The slot that has something, the last one: 0 where all are empty.
    fn reached(&self) -> usize {
        let filled = [
            !self.tables.is_empty(),
            !self.rows.is_empty(),
            self.group.is_some(),
            !self.after.is_empty(),
            self.distinct.is_some(),
            self.top.is_some(),
            !self.order.is_empty(),
            self.limit.is_some(),
            self.columns.is_some(),
        ];
        filled.iter().rposition(|filled| *filled).map_or(0, |place| place + 1)
    }

    /// The grouping, where it is no pivot.
    pub fn grouping(&mut self) -> Option<&mut Grouping> {
        match &mut self.group {
            Some(Step::Group(grouping)) => Some(grouping),
            _ => None,
        }
    }

    /// Adds a condition on rows, or behind the grouping, unless it is there.
    pub fn add_condition(&mut self, condition: Condition, after: bool) {
        let steps = if after { &mut self.after } else { &mut self.rows };
        match steps.last_mut() {
            Some(Step::Filter(known)) if known.parts().contains(&&condition) => {}
            Some(Step::Filter(known)) => {
                let old = std::mem::replace(known, Condition::All(Vec::new()));
                *known = old.and(condition);
            }
            _ => steps.push(Step::Filter(condition)),
        }
    }

    fn steps(self) -> Vec<Step> {
        let Level { tables, rows, group, after, distinct, top, order, limit, columns } = self;
        let mut steps = tables;
        steps.extend(rows);
        steps.extend(group);
        steps.extend(after);
        steps.extend(distinct.map(Step::Distinct));
        steps.extend(top.map(Step::Top));
        if !order.is_empty() {
            steps.push(Step::Sort(order));
        }
        steps.extend(limit.map(|(rows, skip)| Step::Limit { rows, skip }));
        steps.extend(columns);
        steps.retain(|step| !matches!(step, Step::Filter(Condition::All(parts)) if parts.is_empty()));
        steps
    }
}

impl Layout {
    pub fn of(plan: &Plan) -> Self {
        let mut levels = vec![Level::default()];
        for step in &plan.relation.steps {
            let last = levels.len() - 1;
            let level = &mut levels[last];
            let reached = level.reached();
            // Slots are numbered from 1 in the order of computation.
            let slot = match step {
                Step::Join(_) | Step::Filter(_) | Step::Derive { .. } if level.group.is_some() => 4,
                Step::Join(_) | Step::Union(_) | Step::Unpivot(_) | Step::Rename(_) => 1,
                Step::Filter(_) | Step::Derive { .. } => 2,
                Step::Group(_) | Step::Pivot(_) => 3,
                Step::Distinct(_) => 5,
                Step::Top(_) => 6,
                Step::Sort(_) => 7,
                Step::Limit { .. } => 8,
                Step::Select(_) | Step::Drop(_) => 9,
            };
            let several = matches!(slot, 1 | 2 | 4);
            if reached > slot || (reached == slot && !several) {
                levels.push(Level::default());
            }
            let last = levels.len() - 1;
            let level = &mut levels[last];
            match step.clone() {
                step @ (Step::Join(_) | Step::Filter(_) | Step::Derive { .. }) if level.group.is_some() => {
                    level.after.push(step);
                }
                step @ (Step::Join(_) | Step::Union(_) | Step::Unpivot(_) | Step::Rename(_)) => level.tables.push(step),
                step @ (Step::Filter(_) | Step::Derive { .. }) => level.rows.push(step),
                step @ (Step::Group(_) | Step::Pivot(_)) => level.group = Some(step),
                Step::Distinct(columns) => level.distinct = Some(columns),
                Step::Top(top) => level.top = Some(top),
                Step::Sort(order) => level.order = order,
                Step::Limit { rows, skip } => level.limit = Some((rows, skip)),
                step @ (Step::Select(_) | Step::Drop(_)) => level.columns = Some(step),
            }
        }
        Self { source: plan.relation.source.clone(), levels }
    }

    pub fn plan(self) -> Plan {
        let mut plan = Plan::of(self.source);
        plan.relation.steps = self.levels.into_iter().flat_map(Level::steps).collect();
        plan
    }

    /// The level that the next words speak of: the last.
    pub fn last(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    /// A new level on the result of the others.
    pub fn on_result(&mut self) -> &mut Level {
        if self.levels.last().is_some_and(|level| *level != Level::default()) {
            self.levels.push(Level::default());
        }
        self.last()
    }

    /// The last level that groups.
    pub fn grouped(&mut self) -> Option<&mut Level> {
        self.levels.iter_mut().rev().find(|level| level.group.is_some())
    }

    /// Whether some level groups.
    pub fn is_grouped(&self) -> bool {
        self.levels.iter().any(|level| level.group.is_some())
    }

    /// Leaves out what was computed of the last grouping's result.
    pub fn end_with_grouping(&mut self) {
        if let Some(place) = self.levels.iter().rposition(|level| level.group.is_some()) {
            self.levels.truncate(place + 1);
        }
    }

    /// What speaks of a measure of the last grouping speaks of it by its new name.
    pub fn rename(&mut self, renamed: &[(String, String)]) {
        let first = self.levels.iter().rposition(|level| level.group.is_some()).unwrap_or(0);
        for (place, level) in self.levels.iter_mut().enumerate().skip(first) {
            let rows = if place > first { level.rows.as_mut_slice() } else { &mut [] };
            let mut named: Vec<&mut String> =
                level.order.iter_mut().filter_map(|order| column_in(&mut order.by)).collect();
            for step in rows.iter_mut().chain(&mut level.after).chain(&mut level.columns) {
                match step {
                    Step::Filter(condition) => named.extend(compared_columns(condition)),
                    Step::Select(kept) => named.extend(kept.iter_mut().map(|kept| &mut kept.column)),
                    _ => {}
                }
            }
            for name in named {
                if let Some((_, new)) = renamed.iter().find(|(old, _)| old == name) {
                    name.clone_from(new);
                }
            }
        }
    }

    /// Every list of steps with conditions, the last first.
    pub fn conditions(&mut self) -> impl Iterator<Item = &mut Condition> {
        self.levels
            .iter_mut()
            .rev()
            .flat_map(|level| level.after.iter_mut().rev().chain(level.rows.iter_mut().rev()))
            .filter_map(|step| match step {
                Step::Filter(condition) => Some(condition),
                _ => None,
            })
    }

    /// Whether a condition keeps the rows of one year of a column of dates.
    pub fn is_of_one_year(&mut self, column: &str) -> bool {
        let is_year = |part: &Condition| {
            let Condition::Compare { left: Expression::Part { part, of }, comparison: Comparison::Equal, .. } = part
            else {
                return false;
            };
            *part == DatePart::Year && of.as_column().is_some_and(|of| of == column)
        };
        self.conditions().any(|condition| condition.parts().into_iter().any(is_year))
    }

    /// Whether only rows without a value in a column are kept.
    pub fn has_gap(&mut self, column: &str) -> bool {
        let is_gap = |part: &Condition| matches!(part, Condition::Missing(of) if of.as_column() == Some(column));
        self.conditions().any(|condition| condition.parts().into_iter().any(is_gap))
    }

    /// Whether anything is asked of its rows.
    pub fn has_conditions(mut self) -> bool {
        self.conditions().into_iter().any(|condition| !condition.parts().is_empty())
    }

    /// Takes the conditions out that speak of this column alone and that `goes` accepts; returns them.
    pub fn take_conditions(&mut self, column: &str, goes: impl Fn(&Condition) -> bool) -> Vec<Condition> {
        let mut taken = Vec::new();
        for condition in self.conditions() {
            let parts: Vec<Condition> = condition.parts().into_iter().cloned().collect();
            let is_on = |part: &Condition| {
                let columns = part.columns();
                !columns.is_empty() && columns.iter().all(|known| known.eq_ignore_ascii_case(column)) && goes(part)
            };
            let (out, kept): (Vec<Condition>, Vec<Condition>) = parts.into_iter().partition(is_on);
            if out.is_empty() {
                continue;
            }
            taken.extend(out);
            *condition = match <[Condition; 1]>::try_from(kept) {
                Ok([one]) => one,
                Err(several) => Condition::All(several),
            };
        }
        taken
    }
}

/// The name of the column that an order goes by.
pub(super) fn ordered_by(order: &Order) -> Option<&str> {
    match &order.by {
        Expression::Column(name) => Some(name),
        _ => None,
    }
}

fn column_in(expression: &mut Expression) -> Option<&mut String> {
    if let Expression::Column(name) = expression { Some(name) } else { None }
}

/// The columns that a condition puts to values.
fn compared_columns(condition: &mut Condition) -> Vec<&mut String> {
    match condition {
        Condition::Compare { left, right, .. } => [left, right].into_iter().filter_map(column_in).collect(),
        Condition::Between { value, .. } | Condition::OneOf { value, .. } | Condition::Text { value, .. } => {
            column_in(value).into_iter().collect()
        }
        Condition::Missing(value) | Condition::Holds(value) => column_in(value).into_iter().collect(),
        Condition::All(parts) | Condition::Any(parts) => parts.iter_mut().flat_map(compared_columns).collect(),
        Condition::Not(condition) => compared_columns(condition),
    }
}
