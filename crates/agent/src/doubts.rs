//! Uncertain things that a request builds on: earlier requests that were not carried out, and steps that were carried
//! out in spite of a doubt.

use crate::session::{Session, Step};
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::request::Act;
use lakeward_core::text::shown;

/// Characters of an earlier request.
const REQUEST_CHARS: usize = 60;

/// What the table at hand rests on that is uncertain, each in a clause.
pub(super) fn doubts(session: &Session) -> Vec<Message> {
    not_carried_out(session).into_iter().chain(carried_out_in_doubt(session).map(|doubt| doubt.what)).collect()
}

/// A step that stands in spite of a doubt.
pub(super) struct Doubt {
    /// Which, in a clause.
    pub what: Message,
    /// The probability that it was what was wanted, 0..=1.
    pub likelihood: f64,
}

/// The latest request, where it wanted something of the table at hand that was not done.
fn not_carried_out(session: &Session) -> Option<Message> {
    let latest = session.remembered().last()?;
    let has_operations = latest.recommendation.as_ref().is_some_and(|answer| !answer.operations.is_empty());
    let acts = &latest.signals.acts;
    let changes = acts.iter().any(|act| matches!(act, Act::Refine | Act::Correct | Act::Retract | Act::New));
    let first = latest.recommendation.as_ref().and_then(|answer| answer.operations.first());
    let opened = first.and_then(|first| first.runnable.as_ref()).filter(|plan| plan.relation.steps.is_empty());
    let is_open = opened.is_some_and(|plan| session.working().as_ref() == Some(&plan.relation.source));
    let done = is_open || session.steps.iter().any(|step| step.turn == latest.number) || latest.requested().is_some();
    let of_table = session.working().is_some() && latest.number > session.turns_before_working();
    (has_operations && changes && !done && of_table)
        .then(|| message!("“{}” was not carried out: this goes on without it", shown(&latest.text, REQUEST_CHARS)))
}

/// The latest request whose step stands, or is pending, and was in doubt; one that began anew leaves all before it behind.
pub(super) fn carried_out_in_doubt(session: &Session) -> Option<Doubt> {
    in_doubt_without(session, 0)
}

/// The same once the last `dropped` of what is pending are taken back.
pub(super) fn in_doubt_without(session: &Session, dropped: usize) -> Option<Doubt> {
    let turn_of = |step: &Step| session.turns.iter().find(|turn| turn.number == step.turn);
    let standing = session.steps.iter().filter(|step| !step.undone && step.number > session.steps_before_table);
    let carried_out = standing.filter_map(|step| Some((&step.plan, turn_of(step)?)));
    let mut pending = session.pending();
    pending.truncate(pending.len().saturating_sub(dropped));
    let pending = session.turns.iter().filter_map(|turn| {
        let plan = turn.requested()?;
        pending.contains(&plan).then_some((plan, turn))
    });
    let mut doubtful = None;
    for (plan, turn) in carried_out.chain(pending) {
        if turn.signals.acts.contains(&Act::New) {
            doubtful = None;
        }
        let mut operations = turn.recommendation.iter().flat_map(|answer| &answer.operations);
        let chosen = operations.find(|operation| operation.runnable.as_ref() == Some(plan));
        if let Some(operation) = chosen.filter(|operation| operation.preconditions.iter().any(|part| !part.met)) {
            doubtful = Some((turn, operation.score));
        }
    }
    doubtful.map(|(turn, likelihood)| {
        let what = message!("it rests on “{}”, which was in doubt", shown(&turn.text, REQUEST_CHARS));
        Doubt { what, likelihood }
    })
}
