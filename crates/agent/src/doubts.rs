//! What a request rests on that is uncertain: earlier requests that were not carried out, and steps that were carried out in spite of a doubt.

use crate::session::{Session, Step};
use lakeward_core::request::Act;
use lakeward_core::text::shown;

/// Characters of an earlier request.
const SAID: usize = 60;

/// What the table at hand rests on that is uncertain, each in a clause.
pub(super) fn doubts(session: &Session) -> Vec<String> {
    not_carried_out(session).into_iter().chain(carried_out_in_doubt(session)).collect()
}

/// The latest request, where it wanted something of the table at hand that was not done.
fn not_carried_out(session: &Session) -> Option<String> {
    let latest = session.latest()?;
    let wanted = latest.recommendation.as_ref().is_some_and(|answer| !answer.operations.is_empty());
    let acts = &latest.signals.acts;
    let changes = acts.iter().any(|act| matches!(act, Act::Refine | Act::Correct | Act::Retract | Act::New));
    let done = session.steps.iter().any(|step| step.turn == latest.number);
    let before_table = match &session.table {
        Some(_) => session.turns_before_table,
        None => session.accepted.last().map_or(0, |choice| choice.turn),
    };
    let of_table = session.working().is_some() && latest.number > before_table;
    (wanted && changes && !done && of_table)
        .then(|| format!("“{}” was not carried out: this goes on without it", shown(&latest.text, SAID)))
}

/// The latest request whose step stands and was in doubt when it was carried out; one that began anew leaves all before it behind.
fn carried_out_in_doubt(session: &Session) -> Option<String> {
    let turn_of = |step: &Step| session.turns.iter().find(|turn| turn.number == step.turn);
    let standing = session.steps.iter().filter(|step| !step.undone && step.number > session.steps_before_table);
    let mut doubtful = None;
    for (step, turn) in standing.filter_map(|step| Some((step, turn_of(step)?))) {
        if turn.signals.acts.contains(&Act::New) {
            doubtful = None;
        }
        let mut operations = turn.recommendation.iter().flat_map(|answer| &answer.operations);
        let chosen = operations.find(|operation| operation.runnable.as_ref() == Some(&step.plan));
        if chosen.is_some_and(|operation| operation.preconditions.iter().any(|condition| !condition.met)) {
            doubtful = Some(turn);
        }
    }
    doubtful.map(|turn| format!("it rests on “{}”, which was in doubt", shown(&turn.text, SAID)))
}
