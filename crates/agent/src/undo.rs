//! Turns that only take steps back, or make them again: nothing is searched for, and nothing else is proposed.

use super::Agent;
use super::doubts::in_doubt_without;
use super::reading::Reading;
use super::turn::Turned;
use crate::recommend::RankedOperation;
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::plan::Plan;
use lakeward_core::request::{Act, Input};
use lakeward_reading::reader::ALL_STEPS;

impl Agent<'_> {
    /// The answer to a turn that takes `steps` back, or makes as many again where `act` says so. What is asked for and not carried
    /// out goes before steps.
    ///
    /// # Errors
    /// What reading the tables' heads meets.
    pub(super) fn move_back(
        &self,
        session: &mut Session,
        reading: &Reading<'_>,
        act: Act,
        steps: usize,
    ) -> Result<Turned> {
        let mut notes: Vec<Message> = Vec::new();
        let pending = if act == Act::Undo { session.pending().len().min(steps) } else { 0 };
        if pending > 0 {
            notes.push(message!("what was asked for and not carried out is dropped"));
        }
        let before = (pending > 0 && pending == steps).then(|| session.plan_before(steps)).flatten();
        for _ in pending..steps {
            let (step, nothing) = match act {
                Act::Redo => (session.redo(), message!("there is nothing more to make again")),
                _ => (session.undo(), message!("there is nothing more to take back")),
            };
            let Some(step) = step else {
                if steps < ALL_STEPS || notes.is_empty() {
                    notes.push(nothing);
                }
                break;
            };
            notes.push(match act {
                Act::Redo => message!("step {} is made again", step.number),
                _ => message!("step {} is taken back", step.number),
            });
        }
        notes.extend(in_doubt_without(session, pending).map(|doubt| message!("warning: {}", doubt.what)));
        notes.extend(working_note(session));
        let operations = self.asked_before(session, before)?.into_iter().collect();
        self.answer_with_operations(session, reading, operations, notes)
    }

    /// The operation that makes the plan `before` of the working table's, where it is another one: it is asked for again.
    fn asked_before(&self, session: &Session, before: Option<Plan>) -> Result<Option<RankedOperation>> {
        let (Some(before), Some(current)) = (before, session.plan()) else { return Ok(None) };
        if before == current {
            return Ok(None);
        }
        let kind = before.kind();
        let operation = self.changed_plan(session, &current, before, kind, Vec::new())?;
        let plan = operation.runnable.as_ref();
        let answers = session.turns.iter().rev().filter_map(|turn| turn.recommendation.as_ref());
        let is_it = |known: &&RankedOperation| plan.is_some() && known.runnable.as_ref() == plan;
        let mut proposed = answers.flat_map(|answer| &answer.operations).filter(is_it);
        Ok(Some(match proposed.next() {
            // It is no surer than it was, nor are its doubts gone.
            Some(known) => RankedOperation { requested: true, reason: operation.reason, ..known.clone() },
            None => RankedOperation { score: 1.0, asked: 1.0, requested: true, ..operation },
        }))
    }
}

/// What is worked with now, in a clause.
fn working_note(session: &Session) -> Option<Message> {
    match session.working()? {
        Input::Step(number) => {
            let step = session.step(number)?;
            Some(message!("the working table is now step {}: {}", number, Message::counted(step.rows, "row")))
        }
        input => Some(message!("the working table is now {}", input.to_string())),
    }
}
