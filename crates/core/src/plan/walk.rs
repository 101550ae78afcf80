//! Goes through all parts of a plan: how large it is, and which tables it reads.

use super::{
    Condition, Expression, Join, MOST_DEPTH, MOST_PARTS, MOST_STEPS, Measure, MeasureFunction, Order, Relation, Step,
};
use crate::error::{Error, Result};
use crate::request::Input;

/// What has been counted so far.
#[derive(Default)]
struct Size {
    steps: usize,
    parts: usize,
}

/// Whether a relation is of a size that can be carried out.
pub(super) fn check(relation: &Relation) -> Result<()> {
    Size::default().relation(relation, 0)
}

/// The tables that a relation reads, its source first, each once.
pub(super) fn inputs(relation: &Relation) -> Vec<&Input> {
    let mut found = Vec::new();
    collect(relation, &mut found);
    found
}

fn collect<'a>(relation: &'a Relation, found: &mut Vec<&'a Input>) {
    if !found.contains(&&relation.source) {
        found.push(&relation.source);
    }
    relation.steps.iter().flat_map(Step::others).for_each(|other| collect(other, found));
}

impl Size {
    fn step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(Error::usage(format!(
                "a plan has at most {MOST_STEPS} steps, those of its other tables included"
            )));
        }
        Ok(())
    }

    /// Counts one part at a depth.
    fn part(&mut self, depth: usize) -> Result<()> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return Err(Error::usage(format!("a plan has at most {MOST_PARTS} conditions, values and measures")));
        }
        if depth > MOST_DEPTH {
            return Err(Error::usage(format!("a plan's parts lie at most {MOST_DEPTH} deep in each other")));
        }
        Ok(())
    }

    fn relation(&mut self, relation: &Relation, depth: usize) -> Result<()> {
        self.part(depth)?;
        relation.steps.iter().try_for_each(|step| {
            self.step()?;
            self.in_step(step, depth + 1)
        })
    }

    fn in_step(&mut self, step: &Step, depth: usize) -> Result<()> {
        match step {
            Step::Filter(condition) => self.condition(condition, depth),
            Step::Derive { value, .. } => self.expression(value, depth),
            Step::Group(grouping) => {
                grouping.keys.iter().try_for_each(|key| self.expression(&key.of, depth))?;
                grouping.measures.iter().try_for_each(|measure| self.measure(measure, depth))
            }
            Step::Sort(by) => self.order(by, depth),
            Step::Top(top) => self.order(&top.by, depth),
            Step::Join(Join { with, .. }) => self.relation(with, depth),
            Step::Union(union) => union.others.iter().try_for_each(|part| self.relation(&part.with, depth)),
            Step::Pivot(pivot) => {
                self.parts += pivot.values.len();
                self.measure(&pivot.measure, depth)
            }
            Step::Select(_)
            | Step::Drop(_)
            | Step::Rename(_)
            | Step::Distinct(_)
            | Step::Limit { .. }
            | Step::Unpivot(_) => self.part(depth),
        }
    }

    fn order(&mut self, by: &[Order], depth: usize) -> Result<()> {
        by.iter().try_for_each(|order| self.expression(&order.by, depth))
    }

    fn measure(&mut self, measure: &Measure, depth: usize) -> Result<()> {
        self.part(depth)?;
        self.function(&measure.function, depth)?;
        measure.of.iter().try_for_each(|of| self.expression(of, depth + 1))?;
        measure.condition.iter().try_for_each(|condition| self.condition(condition, depth + 1))
    }

    fn function(&mut self, function: &MeasureFunction, depth: usize) -> Result<()> {
        match function {
            MeasureFunction::First { by } => self.order(by, depth + 1),
            MeasureFunction::Correlation { with } => self.expression(with, depth + 1),
            _ => Ok(()),
        }
    }

    fn condition(&mut self, condition: &Condition, depth: usize) -> Result<()> {
        self.part(depth)?;
        let depth = depth + 1;
        match condition {
            Condition::Compare { left, right, .. } => {
                self.expression(left, depth)?;
                self.expression(right, depth)
            }
            Condition::OneOf { value, values } => {
                self.parts += values.len();
                self.expression(value, depth)
            }
            Condition::Between { value, .. }
            | Condition::Text { value, .. }
            | Condition::Missing(value)
            | Condition::Holds(value) => self.expression(value, depth),
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().try_for_each(|part| self.condition(part, depth))
            }
            Condition::Not(part) => self.condition(part, depth),
        }
    }

    fn expression(&mut self, expression: &Expression, depth: usize) -> Result<()> {
        self.part(depth)?;
        let depth = depth + 1;
        match expression {
            Expression::Column(_) | Expression::Value(_) => Ok(()),
            Expression::Arithmetic { left, right, .. } => {
                self.expression(left, depth)?;
                self.expression(right, depth)
            }
            Expression::Number { of, .. }
            | Expression::Text { of, .. }
            | Expression::Part { of, .. }
            | Expression::Bin { of, .. }
            | Expression::Convert { of, .. }
            | Expression::Share { of, .. } => self.expression(of, depth),
            Expression::Concat(parts) | Expression::FirstPresent(parts) => {
                parts.iter().try_for_each(|part| self.expression(part, depth))
            }
            Expression::Case { branches, otherwise } => {
                branches.iter().try_for_each(|branch| {
                    self.condition(&branch.when, depth)?;
                    self.expression(&branch.then, depth)
                })?;
                otherwise.iter().try_for_each(|value| self.expression(value, depth))
            }
            Expression::Over { function, of, .. } => {
                self.function(function, depth)?;
                of.iter().try_for_each(|of| self.expression(of, depth))
            }
            Expression::Previous { of, by, .. } | Expression::RunningTotal { of, by, .. } => {
                self.expression(of, depth)?;
                self.order(by, depth)
            }
            Expression::Rank { by, .. } => self.order(by, depth),
        }
    }
}
