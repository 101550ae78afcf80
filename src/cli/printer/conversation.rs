//! Output of conversations: explanations of an answer, sessions.

use super::{list, narrate, out, right_align};
use crate::messages::{self, count, demand_line, fill, in_language, say, understood};
use lakeward::documents::ModelCost;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::transcript::input_name;
use lakeward_agent::session::{Choice, Session, SessionState, SessionSummary, Step};
use lakeward_core::request::{Input, Label};
use lakeward_core::text::{counted, shown};
use lakeward_models::llm::{Spent, tokens_text};

/// Characters of a request in a list.
const REQUEST: usize = 200;
/// Unusable sessions that are listed individually.
const LISTED_SESSIONS: usize = 10;

/// The cost of a model: `3 calls, 2345 tokens of m@host, 1.2 s`.
pub fn model_cost(cost: &ModelCost) -> String {
    let Spent { calls, usage, estimated, refused, elapsed_ms, money } = cost.spent;
    if calls == 0 {
        return format!("{} was not asked", cost.id);
    }
    let tokens = tokens_text(calls as f64, usage.tokens() as f64, estimated > 0);
    let mut parts = vec![format!("{}, {tokens} tokens of {}", counted(calls as u64, "call"), cost.id)];
    if refused > 0 {
        parts.push(format!("{} rejected", counted(refused as u64, "answer")));
    }
    if money > 0.0 {
        parts.push(format!("{money:.4} spent"));
    }
    parts.push(format!("{:.1} s", elapsed_ms / 1000.0));
    parts.join(", ")
}

/// The sessions that can be resumed, as a list.
pub fn sessions(sessions: &[SessionSummary]) {
    let mut table = list();
    table.set_header(["session", "last written", "turns", "steps", "first request"]);
    let mut count = 0;
    for session in sessions {
        if let SessionState::Readable { updated, turns, steps, first_request, .. } = &session.state {
            let first = first_request.as_deref().unwrap_or("–");
            let (turns, steps) = (turns.to_string(), steps.to_string());
            table.add_row([session.id.clone(), minute(updated), turns, steps, shown(first, REQUEST)]);
            count += 1;
        }
    }
    right_align(&mut table, &[2, 3]);
    if count > 0 {
        out(&table.trim_fmt());
    }
}

/// Sessions that cannot be used, on stderr.
pub fn damaged_sessions(sessions: &[SessionSummary]) {
    let damaged = sessions.iter().filter_map(|session| match &session.state {
        SessionState::Damaged { file, reason } => Some((file, reason)),
        SessionState::Readable { .. } => None,
    });
    let damaged: Vec<_> = damaged.collect();
    for (file, reason) in damaged.iter().take(LISTED_SESSIONS) {
        narrate(&format!("not usable: {}: {}", shown(&file.display().to_string(), 300), shown(reason, 300)));
    }
    if damaged.len() > LISTED_SESSIONS {
        narrate(&format!("not usable: {} more (`--json` lists them)", damaged.len() - LISTED_SESSIONS));
    }
}

/// The session with its state and its turns.
pub fn session(session: &Session) {
    out(&format!("{}  (created {}, last written {})", session.id, minute(&session.created), minute(&session.updated)));
    out(&format!("lake: {}", shown(&session.lake, 300)));
    memory(session);
    for turn in &session.turns {
        out("");
        out(&format!("{}. {}", turn.number, shown(turn.text.trim(), REQUEST)));
        out(&format!("   {}", understood(&turn.signals)));
        if !turn.tables.is_empty() {
            out(&format!("   {}", shown(&turn.tables.join(", "), 600)));
        }
    }
}

/// The state that the next answer depends on: working table, demands with the turn that set each, choices, steps.
pub fn memory(session: &Session) {
    let working = session.working().map_or(say("none; `/use TABLE` sets one").into(), |input| name(&input));
    out(&fill("working table: {}", &[&working]));
    for plan in session.pending() {
        out(&fill("proposed, not carried out: {}", &[&shown(&in_language(&plan.relation.message()), 300)]));
    }
    demands(session);
    choices("accepted: {}  (turn {})", &session.accepted);
    choices("rejected: {}  (turn {})", &session.rejected);
    for step in &session.steps {
        out(&step_line(step));
    }
}

/// What is wanted of datasets, each demand with the turn that set it, and what was found.
fn demands(session: &Session) {
    if session.demands.is_empty() {
        out(say("wanted: nothing yet"));
    } else {
        out(say("wanted:"));
    }
    for demand in &session.demands {
        let (line, turn) = (shown(&demand_line(demand), 300), demand.turn.to_string());
        let form = if demand.is_held_to() { "  {}  (turn {}, filters)" } else { "  {}  (turn {})" };
        out(&fill(form, &[&line, &turn]));
    }
    if let Some(latest) = session.retrievals.last() {
        let (turn, met) = (latest.turn.to_string(), count(latest.met as u64, "record"));
        out(&fill("found in turn {}: {} matching all stated demands", &[&turn, &met]));
    }
}

fn choices(form: &'static str, choices: &[Choice]) {
    choices.iter().for_each(|choice| out(&fill(form, &[&shown(&choice.table, 200), &choice.turn.to_string()])));
}

pub fn step_line(step: &Step) -> String {
    let inputs: Vec<String> = step.plan.inputs().into_iter().map(name).collect();
    let (number, kind) = (step.number.to_string(), say(step.plan.kind().name()));
    let (rows, columns) = (count(step.rows, "row"), count(step.columns.len() as u64, "column"));
    let line = fill("step {}: {} of {}: {}, {}", &[&number, kind, &inputs.join(", "), &rows, &columns]);
    if step.undone { line + say(", undone") } else { line }
}

fn name(input: &Input) -> String {
    shown(&in_language(&input_name(input)), 200)
}

/// `2026-11-22T05:46:38.123Z` as `2026-11-22 05:46`.
fn minute(time: &str) -> String {
    shown(&time.replacen('T', " ", 1), 17).trim_end_matches([':', '…']).to_string()
}

/// Explains the latest answer: all probabilities, the table specification, the preconditions of every operation.
pub fn why_answer(answer: &Recommendation) {
    let Recommendation { signals, spec, .. } = answer;
    let percent = |probability: f64| format!("{:.0} %", probability * 100.0);
    let kinds: Vec<String> =
        signals.operation.all.iter().map(|(kind, p)| format!("{} {}", say(kind.name()), percent(*p))).collect();
    let intentions: Vec<String> = signals
        .intention
        .all
        .iter()
        .map(|(intention, p)| format!("{} {}", say(intention.name()), percent(*p)))
        .collect();
    out(&fill("operation: {}", &[&kinds.join(", ")]));
    out(&fill("intention: {}", &[&intentions.join(", ")]));
    for demand in &signals.demands {
        out(&fill("wanted: {}  (turn {})", &[&shown(&demand_line(demand), 300), &demand.turn.to_string()]));
    }
    let [granularity, richness, compatibility] =
        [super::name_of(spec.granularity), super::name_of(spec.richness), super::name_of(spec.compatibility)];
    out(&format!("a table should have: granularity {granularity}, columns {richness}, compatibility {compatibility}"));
    super::recommendation::why_operations(answer);
}

/// The commands of the REPL: name, arguments, description.
pub fn commands<'a>(commands: impl Iterator<Item = (&'a str, &'a str, &'a str)>) {
    let mut table = list();
    commands.for_each(|(name, arguments, does)| {
        table.add_row([format!("{name} {arguments}"), messages::name(does)]);
    });
    out(&table.trim_fmt());
}
