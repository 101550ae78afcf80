//! Output of an answer: what was understood, the tables, the operations; and their explanation.

use super::listing::rows;
use super::{join_answer, nothing_found, out, search_answer, task_path, union_answer};
use crate::messages::{self, count, demand_line, fill, in_language, narrowing_line, say, understood};
use lakeward_agent::recommend::{
    About, Match, Note, RankedOperation, RankedTable, Recommendation, RecordFact, Sentence,
};
use lakeward_core::listing::Listed;
use lakeward_core::request::{Input, Label, OperationKind, Signals};
use lakeward_core::text::shown;

/// Characters of a reason.
const REASON: usize = 400;

/// The screen after a turn.
pub fn screen(answer: &Recommendation) {
    out(&understood(&answer.signals));
    gone(&answer.signals);
    if !answer.tables.is_empty() {
        out("");
        // What is said below anyway is not said twice.
        let news = |sentence: &&Sentence| sentence.by_model || sentence.about != About::Next && !answer.nothing_found;
        answer.summary.iter().filter(news).for_each(|sentence| out(&shown(&in_language(&sentence.cited()), REASON)));
        if answer.nothing_found {
            nothing_found();
        }
        let near = listed_count(answer);
        match answer.tables[..near].iter().all(|ranked| ranked.record) {
            true => {
                rows(RankedTable::RECORD_COLUMNS, &answer.tables[..near], true);
                out(say("their data is not in the lake; `lakeward cite ID` shows the source"));
            }
            false => {
                rows(RankedTable::COLUMNS, &answer.tables[..near], true);
                if answer.tables[..near].iter().any(|ranked| ranked.record) {
                    out(say(
                        "`?` is a catalogue record: its data is not in the lake; `lakeward cite ID` shows the source",
                    ));
                }
            }
        }
        if near < answer.tables.len() {
            let more = answer.tables.len() - near;
            let of_less = "{} more with less than half the best utility (`--json` lists them)";
            let more_text =
                if changes_rows_at_hand(answer) { "{} more beside it (`--json` lists them)" } else { of_less };
            out(&fill(more_text, &[&more.to_string()]));
        }
    }
    if !answer.narrowings.is_empty() {
        out("");
        out(say("narrow by"));
        answer.narrowings.iter().for_each(|narrowing| out(&shown(&format!("  {}", narrowing_line(narrowing)), REASON)));
    }
    if answer.worth_showing().next().is_some() {
        out("");
        out(say("next:"));
    }
    for (place, operation) in answer.worth_showing().enumerate() {
        out(&format!("  {}", operation_line(place + 1, operation)));
    }
    question(answer);
    let tabled = comparison(&answer.facts);
    for note in answer.typed_notes().filter(|note| !(tabled && matches!(note, Note::Fact(_)))) {
        out(&shown(&messages::note(note), REASON));
    }
}

/// Prints what records say side by side; false where lines say it.
fn comparison(facts: &[RecordFact]) -> bool {
    let Some((records, respects)) = RecordFact::table(facts) else { return false };
    out("");
    for (place, record) in records.iter().enumerate() {
        out(&format!("{}. {}  {}", place + 1, shown(&record.title, 160), shown(&record.cited(), 200)));
    }
    let mut table = comfy_table::Table::new();
    table.load_preset(comfy_table::presets::NOTHING).set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    let head = (1..=records.len()).map(|number| number.to_string());
    table.set_header(std::iter::once(String::new()).chain(head));
    for (about, values) in respects {
        let cells = values.iter().map(|value| shown(&in_language(value), 240));
        table.add_row(std::iter::once(in_language(&about).into_owned()).chain(cells));
    }
    table.to_string().lines().for_each(|line| out(line.trim_end()));
    true
}

/// How many tables to list: those with at least half the best utility. Records are all listed: there are few, and
/// each comes from its own search stage.
/// Beside a change of the rows at hand only a few are: it is what was asked for.
fn listed_count(answer: &Recommendation) -> usize {
    const BESIDE: usize = 2;
    let tables = &answer.tables;
    if tables.first().is_some_and(|first| first.record) {
        return tables.len();
    }
    let best = tables.first().map_or(0.0, |best| best.utility.total);
    let near = tables.iter().take_while(|table| table.utility.total >= best / 2.0).count();
    if changes_rows_at_hand(answer) { near.min(BESIDE) } else { near }
}

/// Whether an answer first of all changes rows of none of the tables that it lists.
fn changes_rows_at_hand(answer: &Recommendation) -> bool {
    let Some(first) = answer.operations.first().filter(|first| first.requested && !first.kind.combines()) else {
        return false;
    };
    let inputs = first.runnable.as_ref().map(|plan| plan.inputs()).unwrap_or_default();
    let is_listed =
        |input: &&Input| matches!(input, Input::Table(id) if answer.tables.iter().any(|table| table.table == *id));
    !inputs.is_empty() && !inputs.iter().any(is_listed)
}

fn operation_line(number: usize, operation: &RankedOperation) -> String {
    let unmet = operation.preconditions.iter().find(|precondition| !precondition.met);
    let but = unmet.map(|unmet| fill("; but {}", &[&in_language(&unmet.what)])).unwrap_or_default();
    let what = format!("{}{but}", in_language(&operation.reason));
    format!("{number} {} ({:.0} %): {}", say(operation.kind.name()), 100.0 * operation.score, shown(&what, REASON))
}

/// The question with its choices, if the first operation is to ask one.
fn question(answer: &Recommendation) {
    let Some(first) = answer.operations.first().filter(|first| first.kind == OperationKind::Clarify) else { return };
    let Some(question) = &first.question else { return };
    out("");
    out(&shown(&in_language(&question.text), REASON));
    for (place, choice) in question.choices.iter().enumerate() {
        let tables = match choice.tables.len() {
            0 => String::new(),
            tables => format!("  ({})", count(tables as u64, "table")),
        };
        out(&format!("  {} {}{tables}", place + 1, shown(&in_language(&choice.label), 100)));
    }
}

/// What was wanted before this turn and is no longer.
fn gone(signals: &Signals) {
    for demand in &signals.gone {
        out(&shown(&fill("no longer wanted: {} (turn {})", &[&demand_line(demand), &demand.turn.to_string()]), REASON));
    }
}

/// Every term of a table's rank.
pub fn why_table(number: usize, ranked: &RankedTable) {
    let utility = &ranked.utility;
    let (size, operation) = match ranked.record {
        true => ("a record: its data is not in the lake".to_string(), String::new()),
        false => (
            format!("{} rows, {} columns", ranked.rows, ranked.columns),
            format!(" for {}", ranked.operation.name().to_lowercase()),
        ),
    };
    out(&format!("{number}. {}  ({size})", shown(&ranked.table, 200)));
    out(&format!(
        "   utility {:.3}{operation}: relevance {:.3}, intention {:.3}, operation {:.3}",
        utility.total, utility.relevance, utility.intention, utility.operation
    ));
    let fit = &ranked.fit;
    out(&format!("   meets the task specification: {:.2} graded, {:.2} as 0 or 1", fit.graded, fit.paper));
    let checks =
        [("granularity", &fit.granularity), ("richness", &fit.richness), ("compatibility", &fit.compatibility)];
    let constraints = fit.constraints.iter().map(|(name, check)| (name.as_str(), check));
    for (name, check) in checks.into_iter().chain(constraints) {
        out(&format!("     {}", check_line(name, check)));
    }
    let evidence = &ranked.evidence;
    let parts = [
        ("words and meaning", evidence.search.as_ref().map(search_answer)),
        ("shared keys", evidence.join.as_ref().map(join_answer)),
        ("like columns", evidence.union.as_ref().map(union_answer)),
        ("tasks it was used for", evidence.task.as_ref().map(|task| task_path::lines(&task.path))),
    ];
    for (name, lines) in parts {
        let Some(lines) = lines else { continue };
        out(&format!("   {name}:"));
        lines.iter().for_each(|line| out(&format!("     {line}")));
    }
}

fn check_line(name: &str, check: &Match) -> String {
    let met = if check.met { "met" } else { "not met" };
    format!("{name} {:.2} ({met}): {}", check.grade, shown(&check.evidence, REASON))
}

/// Every term of the operations' ranks.
pub fn why_operations(answer: &Recommendation) {
    for (place, operation) in answer.worth_showing().enumerate() {
        out(&format!("  {}", operation_line(place + 1, operation)));
        out(&format!("     requested with probability {:.3}", operation.asked));
        for precondition in &operation.preconditions {
            let sign = if precondition.met { "holds" } else { "does not hold" };
            out(&format!("     {sign}: {}", shown(&precondition.what, REASON)));
        }
    }
    for adjusted in &answer.spec.adjusted {
        out(&format!("  {}", shown(adjusted, REASON)));
    }
}

/// Every term of the whole answer.
pub fn why(answer: &Recommendation) {
    out("");
    for (place, ranked) in answer.tables.iter().enumerate() {
        why_table(place + 1, ranked);
        out("");
    }
    why_operations(answer);
}
