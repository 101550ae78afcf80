//! Output of conversations: explanations of an answer, sessions.

use super::{list, narrate, out, right_align};
use lakeward::documents::ModelCost;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::transcript::{constraint_lines, input_name, understood};
use lakeward_agent::session::{Choice, Memory, Session, SessionState, SessionSummary, Step};
use lakeward_core::request::{Input, Label};
use lakeward_core::text::{counted, shown};
use lakeward_models::llm::Spent;

/// Characters of a request in a list.
const REQUEST: usize = 200;
/// Unusable sessions that are listed individually.
const LISTED_SESSIONS: usize = 10;

/// The cost of a model: `3 calls, 2345 tokens of m@host, 1.2 s`.
pub fn model_cost(cost: &ModelCost) -> String {
    let Spent { calls, usage, refused, elapsed_ms, money } = cost.spent;
    let mut parts = vec![format!("{}, {} tokens of {}", counted(calls as u64, "call"), usage.tokens(), cost.id)];
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
        out(&format!(
            "   {}",
            understood(&turn.signals, turn.recommendation.as_ref().is_some_and(Recommendation::is_of_records))
        ));
        if !turn.tables.is_empty() {
            out(&format!("   {}", shown(&turn.tables.join(", "), 600)));
        }
    }
}

/// The state that the next answer depends on: working table, constraints with the turn that set each, choices, steps.
pub fn memory(session: &Session) {
    let working = session.working().map_or("none; `/use TABLE` sets one".into(), |input| name(&input));
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
    demands(&session.memory);
    choices("accepted", &session.accepted);
    choices("rejected", &session.rejected);
    for step in &session.steps {
        out(&step_line(step));
    }
}

/// The demands on catalogue records, each with the turn that set it.
fn demands(memory: &Memory) {
    let Memory { intent, open, retrievals } = memory;
    if !intent.is_empty() {
        out("demands on the catalogue:");
    }
    let line = |what: &str, text: &str, turn: usize| out(&format!("  {what}: {}  (turn {turn})", shown(text, 300)));
    for topic in &intent.topics {
        line("topic", &topic.text, topic.turn);
    }
    let data = &intent.data;
    let single = [
        ("task", &intent.task),
        ("modality", &data.modality),
        ("annotation", &data.annotation),
        ("entity", &data.entity),
    ];
    for (what, element) in single.into_iter().filter_map(|(what, element)| Some((what, element.as_ref()?))) {
        line(what, &element.text, element.turn);
    }
    for (demands, must) in [(&intent.demands, "must"), (&intent.refused, "must not")] {
        for demand in demands {
            let how = if demand.hard { must } else { "inferred" };
            line(&format!("{} ({how})", demand.role), &demand.value.to_string(), demand.turn);
        }
    }
    let lists =
        [("measure", &intent.measures), ("column", &intent.columns_wanted), ("no column", &intent.columns_excluded)];
    for (what, list) in lists {
        list.iter().for_each(|element| line(what, &element.text, element.turn));
    }
    if let Some(answers) = intent.answers {
        out(&format!("  answers: {answers}"));
    }
    if let Some(conflict) = open {
        out(&format!("open question: {}", shown(&conflict.question(), 300)));
    }
    if let Some(latest) = retrievals.last() {
        let (turn, met) = (latest.turn, counted(latest.met as u64, "record"));
        out(&format!("found in turn {turn}: {met} matching all stated demands"));
    }
}

fn choices(what: &str, choices: &[Choice]) {
    for choice in choices {
        out(&format!("{what}: {}  (turn {})", shown(&choice.table, 200), choice.turn));
    }
}

/// A step in one line.
pub fn step_line(step: &Step) -> String {
    let inputs: Vec<String> = step.plan.inputs().into_iter().map(name).collect();
    let undone = if step.undone { ", undone" } else { "" };
    let (number, kind, columns) = (step.number, step.plan.kind().name(), step.columns.len());
    let size = format!("{}, {}", counted(step.rows, "row"), counted(columns as u64, "column"));
    format!("step {number}: {kind} of {}: {size}{undone}", inputs.join(", "))
}

fn name(input: &Input) -> String {
    shown(&input_name(input), 200)
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
        signals.operation.all.iter().map(|(kind, p)| format!("{} {}", kind.name(), percent(*p))).collect();
    let intentions: Vec<String> =
        signals.intention.all.iter().map(|(intention, p)| format!("{} {}", intention.name(), percent(*p))).collect();
    out(&format!("operation: {}", kinds.join(", ")));
    out(&format!("intention: {}", intentions.join(", ")));
    for (text, turn) in constraint_lines(&signals.constraints) {
        let turn = turn.map(|turn| format!("  (turn {turn})")).unwrap_or_default();
        out(&format!("constraint: {}{turn}", shown(&text, 300)));
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
        table.add_row([format!("{name} {arguments}"), does.to_string()]);
    });
    out(&table.trim_fmt());
}
