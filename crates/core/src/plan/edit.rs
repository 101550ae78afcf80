//! Changes to a plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Condition, Expression, Measure, MeasureFunction, Order, Plan, Step};
use crate::request::Input;

/// One change. Steps are counted from 1, as people see them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// A step at the end, or before another.
    Add {
        /// The step.
        step: Step,
        /// The step that it is put before; at the end by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<usize>,
    },
    /// Another step in place of one.
    Replace {
        /// Its number.
        step: usize,
        /// What stands there then.
        with: Step,
    },
    /// Takes a step out.
    Remove {
        /// Its number.
        step: usize,
    },
    /// One more condition: in the last filter before any grouping, else as a new one at its place.
    AddCondition(Condition),
    /// Another value for what is asked of a column: replaces all conditions on it by this one.
    ReplaceCondition {
        /// The column.
        column: String,
        /// The condition.
        with: Condition,
    },
    /// Takes all conditions on a column out.
    RemoveCondition {
        /// The column.
        column: String,
    },
    /// One more measure in the last grouping.
    AddMeasure(Measure),
    /// Takes a measure of the last grouping out, by its name or its column.
    RemoveMeasure {
        /// Its name or column.
        measure: String,
    },
    /// Another function for the measures of the last grouping.
    ReplaceFunction {
        /// The measure, by its name or its column; all by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        measure: Option<String>,
        /// The function.
        with: MeasureFunction,
    },
    /// Other keys for the last grouping.
    ReplaceKeys(Vec<super::Key>),
    /// The order of the result in place of the one it has; none: as it comes.
    SetOrder(Vec<Order>),
    /// How many rows the result has at most, in place of what was said before; none: all.
    SetLimit(Option<u64>),
    /// The same for another table.
    ChangeSource(Input),
    /// Takes the latest step out in which a table is joined or appended.
    RemoveTable(Input),
    /// Takes the steps after this one out; 0 leaves the source alone.
    BackTo {
        /// Its number.
        step: usize,
    },
    /// A new plan in place of this one.
    Start(Plan),
}

/// Why a change does not fit the plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// There is no step of that number.
    #[error("the plan has {steps} steps; there is no step {step}")]
    NoStep {
        /// The number.
        step: usize,
        /// Steps of the plan.
        steps: usize,
    },
    /// No condition on the column.
    #[error("the plan has no condition on `{0}`")]
    NoCondition(String),
    /// No grouping, so no measures.
    #[error("the plan groups nothing yet")]
    NoGrouping,
    /// No such measure.
    #[error("the grouping has no measure `{0}`")]
    NoMeasure(String),
    /// The table is not joined or appended.
    #[error("the plan does not join or append `{0}`")]
    NoTable(String),
}

impl Plan {
    /// This plan with a change.
    ///
    /// # Errors
    /// [`EditError`] where the change names what the plan does not have.
    pub fn edited(&self, edit: &Edit) -> Result<Plan, EditError> {
        let mut plan = self.clone();
        let steps = &mut plan.relation.steps;
        let count = steps.len();
        let known = |step: usize| match step {
            1.. if step <= count => Ok(step - 1),
            _ => Err(EditError::NoStep { step, steps: count }),
        };
        match edit {
            Edit::Add { step, before: None } => steps.push(step.clone()),
            Edit::Add { step, before: Some(before) } => steps.insert(known(*before)?, step.clone()),
            Edit::Replace { step, with } => steps[known(*step)?] = with.clone(),
            Edit::Remove { step } => {
                steps.remove(known(*step)?);
            }
            Edit::AddCondition(condition) => add_condition(steps, condition.clone()),
            Edit::ReplaceCondition { column, with } => {
                // Where it stood first; a condition on a column that has none is one more.
                match take_conditions(steps, column) {
                    Some(place) => insert_condition(steps, place, with.clone()),
                    None => add_condition(steps, with.clone()),
                }
                steps.retain(is_something);
            }
            Edit::RemoveCondition { column } => {
                take_conditions(steps, column).ok_or_else(|| EditError::NoCondition(column.clone()))?;
                steps.retain(is_something);
            }
            Edit::AddMeasure(measure) => last_grouping(steps)?.measures.push(measure.clone()),
            Edit::RemoveMeasure { measure } => {
                let measures = &mut last_grouping(steps)?.measures;
                let before = measures.len();
                measures.retain(|known| !is_called(known, measure));
                if measures.len() == before {
                    return Err(EditError::NoMeasure(measure.clone()));
                }
            }
            Edit::ReplaceFunction { measure, with } => replace_function(steps, measure.as_deref(), with)?,
            Edit::ReplaceKeys(keys) => last_grouping(steps)?.keys.clone_from(keys),
            Edit::SetOrder(by) => set_order(steps, by),
            Edit::SetLimit(rows) => set_limit(steps, *rows),
            Edit::ChangeSource(source) => plan.relation.source = source.clone(),
            Edit::RemoveTable(table) => remove_table(steps, table)?,
            Edit::BackTo { step } => {
                if *step > count {
                    return Err(EditError::NoStep { step: *step, steps: count });
                }
                steps.truncate(*step);
            }
            Edit::Start(new) => plan = new.clone(),
        }
        Ok(plan)
    }
}

/// Whether a step still does something: a filter whose conditions were all taken out does not.
fn is_something(step: &Step) -> bool {
    !matches!(step, Step::Filter(Condition::All(parts)) if parts.is_empty())
}

/// Puts a condition to the last filter before any grouping; a condition on a measure's name goes behind the grouping.
fn add_condition(steps: &mut Vec<Step>, condition: Condition) {
    let grouping = steps.iter().position(|step| matches!(step, Step::Group(_) | Step::Pivot(_)));
    let after = grouping.filter(|&at| is_about_result(&steps[at], &condition));
    let (from, end) = match (after, grouping) {
        (Some(at), _) => (at + 1, steps.len()),
        (None, Some(at)) => (0, at),
        (None, None) => (0, steps.len()),
    };
    // A filter on ordered or cut rows means something else than one before.
    let end = (from..end).find(|&at| matches!(steps[at], Step::Limit { .. } | Step::Top(_))).unwrap_or(end);
    match (from..end).rev().find(|&at| matches!(steps[at], Step::Filter(_))) {
        Some(at) => insert_condition(steps, at, condition),
        None => {
            let at = (from..end).find(|&at| matches!(steps[at], Step::Sort(_))).unwrap_or(end);
            steps.insert(at, Step::Filter(condition));
        }
    }
}

/// Adds a condition to the filter at a place, or puts one there.
fn insert_condition(steps: &mut Vec<Step>, place: usize, condition: Condition) {
    match steps.get_mut(place) {
        Some(Step::Filter(known)) => {
            let old = std::mem::replace(known, Condition::All(Vec::new()));
            *known = match old {
                Condition::All(parts) if parts.is_empty() => condition,
                old => old.and(condition),
            };
        }
        _ => steps.insert(place.min(steps.len()), Step::Filter(condition)),
    }
}

/// Whether a condition is on a name that only the grouping makes.
fn is_about_result(grouping: &Step, condition: &Condition) -> bool {
    let Step::Group(grouping) = grouping else { return false };
    let mut columns = Vec::new();
    columns_of(condition, &mut columns);
    columns.iter().any(|column| grouping.measures.iter().any(|measure| measure.column_name() == *column))
}

/// Takes every condition on a column out of the filters, and says where the first one stood. Filters that lose all their
/// conditions stay, empty.
fn take_conditions(steps: &mut [Step], column: &str) -> Option<usize> {
    let mut first = None;
    for (place, step) in steps.iter_mut().enumerate() {
        let Step::Filter(condition) = step else { continue };
        let parts: Vec<Condition> = condition.parts().into_iter().cloned().collect();
        let kept: Vec<Condition> = parts.iter().filter(|part| !is_only_on(part, column)).cloned().collect();
        if kept.len() == parts.len() {
            continue;
        }
        first = first.or(Some(place));
        *condition = match <[Condition; 1]>::try_from(kept) {
            Ok([one]) => one,
            Err(several) => Condition::All(several),
        };
    }
    first
}

/// Whether a condition speaks of this column and of no other.
fn is_only_on(condition: &Condition, column: &str) -> bool {
    let mut columns = Vec::new();
    columns_of(condition, &mut columns);
    !columns.is_empty() && columns.iter().all(|known| known.eq_ignore_ascii_case(column))
}

/// The columns that a condition compares.
fn columns_of<'a>(condition: &'a Condition, found: &mut Vec<&'a str>) {
    match condition {
        Condition::Compare { left, right, .. } => {
            left.columns(found);
            right.columns(found);
        }
        Condition::Between { value, .. }
        | Condition::OneOf { value, .. }
        | Condition::Text { value, .. }
        | Condition::Missing(value)
        | Condition::Holds(value) => value.columns(found),
        Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|part| columns_of(part, found)),
        Condition::Not(part) => columns_of(part, found),
    }
}

impl Condition {
    /// The columns that it speaks of, in the order of its parts; one that is named twice stands there twice.
    pub fn columns(&self) -> Vec<&str> {
        let mut found = Vec::new();
        columns_of(self, &mut found);
        found
    }
}

impl Expression {
    /// Adds the columns that it is computed from, those of groups and orders aside.
    pub fn columns<'a>(&'a self, found: &mut Vec<&'a str>) {
        match self {
            Expression::Column(name) => found.push(name),
            Expression::Value(_) | Expression::Rank { .. } => {}
            Expression::Arithmetic { left, right, .. } => {
                left.columns(found);
                right.columns(found);
            }
            Expression::Number { of, .. }
            | Expression::Text { of, .. }
            | Expression::Part { of, .. }
            | Expression::Bin { of, .. }
            | Expression::Convert { of, .. }
            | Expression::Share { of, .. }
            | Expression::Previous { of, .. }
            | Expression::RunningTotal { of, .. } => of.columns(found),
            Expression::Concat(parts) | Expression::FirstPresent(parts) => {
                parts.iter().for_each(|part| part.columns(found));
            }
            Expression::Case { branches, otherwise } => {
                for branch in branches {
                    columns_of(&branch.when, found);
                    branch.then.columns(found);
                }
                otherwise.iter().for_each(|value| value.columns(found));
            }
            Expression::Over { of, .. } => of.iter().for_each(|of| of.columns(found)),
        }
    }
}

fn last_grouping(steps: &mut [Step]) -> Result<&mut super::Grouping, EditError> {
    for step in steps.iter_mut().rev() {
        if let Step::Group(grouping) = step {
            return Ok(grouping);
        }
    }
    Err(EditError::NoGrouping)
}

/// Whether a measure goes by this name: its own, or that of what it is computed from.
fn is_called(measure: &Measure, name: &str) -> bool {
    let of = measure.of.as_ref().and_then(Expression::as_column);
    measure.column_name().eq_ignore_ascii_case(name) || of.is_some_and(|of| of.eq_ignore_ascii_case(name))
}

fn replace_function(steps: &mut [Step], name: Option<&str>, with: &MeasureFunction) -> Result<(), EditError> {
    let measures = &mut last_grouping(steps)?.measures;
    let mut found = false;
    for measure in measures.iter_mut().filter(|measure| name.is_none_or(|name| is_called(measure, name))) {
        found = true;
        measure.function = with.clone();
        // A name that told the old function would lie.
        measure.name = None;
    }
    match name {
        Some(name) if !found => Err(EditError::NoMeasure(name.to_string())),
        _ => Ok(()),
    }
}

/// The order of the result: that of its last sort, or a new one before a limit at the end.
fn set_order(steps: &mut Vec<Step>, by: &[Order]) {
    let at = steps.iter().rposition(|step| !matches!(step, Step::Limit { .. })).map_or(0, |at| at + 1);
    if at > 0 && matches!(steps[at - 1], Step::Sort(_)) {
        steps.remove(at - 1);
        if !by.is_empty() {
            steps.insert(at - 1, Step::Sort(by.to_vec()));
        }
    } else if !by.is_empty() {
        steps.insert(at, Step::Sort(by.to_vec()));
    }
}

/// The limit at the end.
fn set_limit(steps: &mut Vec<Step>, rows: Option<u64>) {
    if matches!(steps.last(), Some(Step::Limit { .. })) {
        steps.pop();
    }
    steps.extend(rows.map(|rows| Step::Limit { rows, skip: 0 }));
}

/// Takes the latest join or appended table with this source out.
fn remove_table(steps: &mut Vec<Step>, table: &Input) -> Result<(), EditError> {
    for at in (0..steps.len()).rev() {
        match &mut steps[at] {
            Step::Join(join) if join.with.source == *table => {
                steps.remove(at);
                return Ok(());
            }
            Step::Union(union) if union.others.iter().any(|part| part.with.source == *table) => {
                union.others.retain(|part| part.with.source != *table);
                if union.others.is_empty() {
                    steps.remove(at);
                }
                return Ok(());
            }
            _ => {}
        }
    }
    Err(EditError::NoTable(table.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan() -> Plan {
        let column = |name: &str| json!({"column": name});
        let plan = json!({"version": 1, "source": {"table": "sales"}, "steps": [
            {"filter": {"all": [
                {"compare": {"left": column("year"), "comparison": "at_least", "right": {"value": 2000}}},
                {"one_of": {"value": column("state"), "values": ["Texas", "Ohio"]}}]}},
            {"group": {"keys": [{"of": column("state")}], "measures": [{"function": "mean", "of": column("price")}, {"function": "count"}]}},
            {"sort": [{"by": column("count"), "direction": "descending"}]},
            {"limit": {"rows": 5}}]});
        Plan::from_json(&plan.to_string()).expect("a plan")
    }

    fn edit(text: serde_json::Value) -> Edit {
        serde_json::from_value(text).expect("an edit")
    }

    /// The steps after an edit, in words.
    fn words(text: serde_json::Value) -> Vec<String> {
        let plan = plan().edited(&edit(text)).expect("a plan");
        plan.relation.steps.iter().map(Step::to_string).collect()
    }

    #[test]
    fn conditions_are_added_where_they_mean_what_is_said() {
        let is = |column: &str, value: i64| json!({"compare": {"left": {"column": column}, "comparison": "greater", "right": {"value": value}}});
        let rows = words(json!({"add_condition": is("price", 3)}));
        assert_eq!(
            rows[0],
            "keeps the rows whose year is at least 2000 and state is Texas or Ohio and price is above 3"
        );
        let groups = words(json!({"add_condition": is("count", 3)}));
        assert_eq!(groups[2], "keeps the rows whose count is above 3", "behind the grouping and before the order");
        assert_eq!(groups.len(), 5);
        let other = words(json!({"replace_condition": {"column": "state", "with": {"missing": {"column": "state"}}}}));
        assert_eq!(other[0], "keeps the rows whose year is at least 2000 and state is missing");
        assert_eq!(
            words(json!({"remove_condition": {"column": "STATE"}}))[0],
            "keeps the rows whose year is at least 2000"
        );
        let none = plan().edited(&edit(json!({"remove_condition": {"column": "price"}})));
        assert_eq!(none, Err(EditError::NoCondition("price".into())));
    }

    #[test]
    fn measures_order_and_limit_are_replaced() {
        let median = words(json!({"replace_function": {"measure": "mean_price", "with": {"function": "median"}}}));
        assert_eq!(median[1], "computes the median of price and the number of rows for each state");
        let none = plan().edited(&edit(json!({"remove_measure": {"measure": "size"}})));
        assert_eq!(none, Err(EditError::NoMeasure("size".into())));
        assert_eq!(
            words(json!({"remove_measure": {"measure": "price"}}))[1],
            "computes the number of rows for each state"
        );
        let order = words(json!({"set_order": [{"by": {"column": "state"}}]}));
        assert_eq!(&order[2..], ["orders the rows by state", "keeps the first 5 rows"]);
        assert_eq!(words(json!({"set_order": []})).len(), 3);
        assert_eq!(words(json!({"set_limit": 9}))[3], "keeps the first 9 rows");
        assert_eq!(words(json!({"set_limit": null})).len(), 3);
        assert_eq!(words(json!({"back_to": {"step": 1}})).len(), 1);
        let none = plan().edited(&edit(json!({"remove": {"step": 5}})));
        assert_eq!(none, Err(EditError::NoStep { step: 5, steps: 4 }));
    }
}
