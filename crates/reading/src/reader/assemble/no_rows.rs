//! Conditions that no row can meet: they are in the plan, and that is said.

use lakeward_core::plan::{Comparison, Condition, Expression, Step, Value};

use super::{Assembler, NotApplied};
use crate::reader::span::Role;

impl Assembler<'_> {
    /// Says which conditions of the turn leave no row: a gap where every row has a value, and two of one column that exclude each other.
    pub(super) fn in_vain(&mut self) {
        let mut told: Vec<usize> = Vec::new();
        for (place, span) in self.reading.spans.iter().enumerate() {
            let Some(column) = span.column().filter(|_| matches!(span.role, Role::Value | Role::Test)) else {
                continue;
            };
            let known = &self.schema.columns[column];
            if !self.done[place] || known.of_result || told.contains(&column) {
                continue;
            }
            let rows = self.layout.levels.iter().flat_map(|level| &level.rows);
            let conditions =
                rows.filter_map(|step| if let Step::Filter(condition) = step { Some(condition) } else { None });
            let is_of_column =
                |part: &&Condition| part.columns().iter().all(|name| name.eq_ignore_ascii_case(&known.name));
            let parts: Vec<&Condition> = conditions.flat_map(Condition::parts).filter(is_of_column).collect();
            let wants_gap = parts.iter().any(|part| matches!(part, Condition::Missing(_)));
            let reason = if wants_gap && known.is_filled {
                format!("every row has a `{}`", known.name)
            } else if wants_gap && parts.iter().any(|part| needs_value(part)) {
                format!("where `{}` is missing it has no value", known.name)
            } else if exclude_each_other(&parts) {
                format!("the conditions on `{}` exclude each other", known.name)
            } else {
                continue;
            };
            told.push(column);
            self.not_applied.push(NotApplied::no_rows(&span.words, reason));
        }
    }
}

/// Whether only a row with a value can meet a condition on one column.
fn needs_value(condition: &Condition) -> bool {
    match condition {
        Condition::Missing(_) | Condition::All(_) | Condition::Any(_) => false,
        Condition::Not(of) => matches!(&**of, Condition::Missing(_)),
        _ => true,
    }
}

/// Whether bounds of a number leave none between them.
fn exclude_each_other(parts: &[&Condition]) -> bool {
    let number = |value: &Value| match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        _ => None,
    };
    let bounds = parts.iter().filter_map(|part| match part {
        Condition::Compare { left: Expression::Column(_), comparison, right: Expression::Value(value) } => {
            Some((*comparison, number(value)?))
        }
        _ => None,
    });
    let (mut least, mut most) = ((f64::NEG_INFINITY, false), (f64::INFINITY, false));
    for (comparison, bound) in bounds {
        let is_open = matches!(comparison, Comparison::Greater | Comparison::Less);
        if matches!(comparison, Comparison::Greater | Comparison::AtLeast | Comparison::Equal) && bound >= least.0 {
            least = (bound, is_open || (bound == least.0 && least.1));
        }
        if matches!(comparison, Comparison::Less | Comparison::AtMost | Comparison::Equal) && bound <= most.0 {
            most = (bound, is_open || (bound == most.0 && most.1));
        }
    }
    least.0 > most.0 || (least.0 == most.0 && (least.1 || most.1))
}
