//! What people see of sessions: their list, and one of them.

use super::{list, narrate, out, right_align};
use crate::request::{Input, Label};
use crate::session::transcript::{constraint_lines, input_name, understood};
use crate::session::{Choice, Session, SessionState, SessionSummary, Step};
use crate::text::shown;

/// Characters of a request in a list.
const REQUEST: usize = 200;
/// Sessions named one by one when they cannot be used.
const NAMED: usize = 10;

/// The sessions as a list, those that can be resumed.
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
    for (file, reason) in damaged.iter().take(NAMED) {
        narrate(&format!("not usable: {}: {}", shown(&file.display().to_string(), 300), shown(reason, 300)));
    }
    if damaged.len() > NAMED {
        narrate(&format!("not usable: {} more (`--json` lists them)", damaged.len() - NAMED));
    }
}

/// The session with what is in force and what happened.
pub fn session(session: &Session) {
    out(&format!("{}  (begun {}, last written {})", session.id, minute(&session.created), minute(&session.updated)));
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

/// What the next answer depends on: working table, constraints with the turn that set each, choices, steps.
pub fn memory(session: &Session) {
    let working = session.working().map_or("none; `/use TABLE` names one".into(), |input| name(&input));
    out(&format!("working table: {working}"));
    let constraints = constraint_lines(&session.constraints);
    if constraints.is_empty() {
        out("constraints in force: none");
    } else {
        out("constraints in force:");
        for (text, turn) in constraints {
            let turn = turn.map(|turn| format!("  (turn {turn})")).unwrap_or_default();
            out(&format!("  {}{turn}", shown(&text, 300)));
        }
    }
    choices("accepted", &session.accepted);
    choices("rejected", &session.rejected);
    for step in &session.steps {
        out(&step_line(step));
    }
}

fn choices(what: &str, choices: &[Choice]) {
    for choice in choices {
        out(&format!("{what}: {}  (turn {})", shown(&choice.table, 200), choice.turn));
    }
}

/// A step in one line.
pub fn step_line(step: &Step) -> String {
    let inputs: Vec<String> = step.operation.inputs().into_iter().map(name).collect();
    let undone = if step.undone { ", taken back" } else { "" };
    let (number, kind, columns) = (step.number, step.operation.kind().name(), step.columns.len());
    format!("step {number}: {kind} of {}: {} rows, {columns} columns{undone}", inputs.join(", "), step.rows)
}

fn name(input: &Input) -> String {
    shown(&input_name(input), 200)
}

/// `2026-11-22T05:46:38.123Z` as `2026-11-22 05:46`.
fn minute(time: &str) -> String {
    shown(&time.replacen('T', " ", 1), 17).trim_end_matches([':', '…']).to_string()
}
