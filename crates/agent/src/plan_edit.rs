//! A change of the working table's plan as an operation that can be proposed: checked against the tables it names, and
//! nothing is run.

use super::Agent;
use crate::recommend::next_operations::{met, proposal, unmet};
use crate::recommend::{Precondition, RankedOperation};
use crate::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::plan::{Condition, Edit, Plan, Relation, Step};
use lakeward_core::request::OperationKind;

impl Agent<'_> {
    /// The operation that changes the plan of the session's working table by `edit`. Its preconditions are that the change fits
    /// the plan and that tables and columns are there; where one fails, there is no plan to run and its text says why, with
    /// the nearest names. Its score and the probability that it is asked for are 0: the caller knows them.
    ///
    /// # Errors
    /// [`Error::Usage`] without a working table, unless the change starts anew; what reading the tables' heads meets.
    pub fn edit_proposal(&self, session: &Session, edit: &Edit) -> Result<RankedOperation> {
        let before = match (session.plan(), edit) {
            (Some(plan), _) => plan,
            (None, Edit::Start(plan)) => Plan::of(plan.relation.source.clone()),
            (None, _) => return Err(Error::usage("there is no working table whose plan could be changed")),
        };
        let plan = match before.edited(edit) {
            Ok(plan) => plan,
            Err(error) => return Ok(proposal(before.kind(), vec![unmet(error.to_string())], error.to_string())),
        };
        let added = steps_beside(&plan, &before);
        let kind = match added.last() {
            Some(step) => Plan::from(Relation::of(plan.relation.source.clone()).then((*step).clone())).kind(),
            None => plan.kind(),
        };
        let table = added_table(&before, &plan);
        let operation = self.changed_plan(session, &before, plan, kind, Vec::new())?;
        Ok(RankedOperation { table, ..operation })
    }

    /// The operation that makes `plan` of `before`, with its SQL; a plan that is the same, or that names what is not there, is none that
    /// can be run, and a further precondition says why.
    ///
    /// # Errors
    /// What reading the tables' heads meets.
    pub(crate) fn changed_plan(
        &self,
        session: &Session,
        before: &Plan,
        plan: Plan,
        kind: OperationKind,
        mut preconditions: Vec<Precondition>,
    ) -> Result<RankedOperation> {
        let reason = reason(before, &plan);
        if plan == *before {
            return Ok(proposal(kind, preconditions, reason));
        }
        match self.sql(session, &plan) {
            Ok(sql) => {
                if preconditions.is_empty() {
                    preconditions.push(met(message!("its tables and columns are there")));
                }
                Ok(RankedOperation { sql: Some(sql), runnable: Some(plan), ..proposal(kind, preconditions, reason) })
            }
            Err(error @ (Error::Usage(_) | Error::UnknownTable { .. } | Error::UnknownColumn { .. })) => {
                preconditions.push(unmet(with_hint(&error)));
                Ok(proposal(kind, preconditions, reason))
            }
            Err(error) => Err(error),
        }
    }
}

/// The first input of `after` that `before` does not read, where that is a table of the lake.
pub(super) fn added_table(before: &Plan, after: &Plan) -> Option<String> {
    let known = before.inputs();
    let new = after.inputs().into_iter().find(|input| !known.contains(input))?;
    new.table().map(str::to_string)
}

/// A plan with its first `count` steps.
pub(super) fn first_steps(plan: &Plan, count: usize) -> Plan {
    let Relation { source, steps } = &plan.relation;
    Relation { source: source.clone(), steps: steps.iter().take(count).cloned().collect() }.into()
}

/// The steps of `plan` that `other` does not have.
fn steps_beside<'p>(plan: &'p Plan, other: &Plan) -> Vec<&'p Step> {
    plan.relation.steps.iter().filter(|step| !other.relation.steps.contains(step)).collect()
}

/// What a change does, in a line.
fn reason(before: &Plan, after: &Plan) -> Message {
    let listed = |steps: Vec<&Step>| Message::list(", then ", steps.into_iter().map(Step::message));
    let (mut gone, added) = (steps_beside(before, after), steps_beside(after, before));
    // A condition that goes on as a part of another one is not gone.
    let conditions = |steps: &[&'_ Step]| -> Vec<Condition> {
        let filters =
            steps.iter().filter_map(|step| if let Step::Filter(condition) = step { Some(condition) } else { None });
        filters.flat_map(Condition::parts).cloned().collect()
    };
    let still = conditions(&added);
    gone.retain(|step| {
        let parts = conditions(&[step]);
        parts.is_empty() || !parts.iter().all(|part| still.contains(part))
    });
    let (gone, added) = (listed(gone), listed(added));
    let what = match (gone.is_empty(), added.is_empty()) {
        (true, true) => message!("the same plan"),
        (true, false) => added,
        (false, true) => message!("no longer {}", gone),
        (false, false) => message!("{}, and no longer {}", added, gone),
    };
    match before.relation.source == after.relation.source {
        true => what,
        false => message!("of {}: {}", after.relation.source.to_string(), what),
    }
}

/// An error with what to do about it.
fn with_hint(error: &Error) -> String {
    error.hint().map_or_else(|| error.to_string(), |hint| format!("{error}; {hint}"))
}
