//! Output of `lakeward eval` of turns: signals, what is wanted in dialogues, acts and their effects, conversations by their end tables.

use super::evaluation::three;
use super::{list, out, right_align};
use lakeward_core::request::Label;
use lakeward_core::text::{counted, shown};
use lakeward_eval::acts::{ActScores, Counted, EffectPart, EffectScores};
use lakeward_eval::constraints::{ConstraintScores, ItemScores};
use lakeward_eval::labels::LabelScores;
use lakeward_eval::outcomes::{Grouping, OutcomeReport, OutcomeScores, TurnClass};
use lakeward_eval::provenance::Produced;
use lakeward_eval::report::EvalReport;
use lakeward_eval::share::Share;

/// Who read what was said.
pub fn reader(produced: &Produced) {
    if let Some(reader) = &produced.reader {
        out(&format!("read by {}\n", shown(reader, 300)));
    }
}

/// Scores of signals and of what is wanted.
pub fn signals(report: &EvalReport) {
    for signals in &report.signals {
        out(&format!("signals {} ({} turns)", shown(&signals.group, 100), signals.turns));
        confusion("operation", &signals.operation);
        confusion("intention", &signals.intention);
        let hits = &signals.operation_hits;
        out(&format!("operation hit@1 {:.3}, hit@2 {:.3}", hits.first, hits.within_two));
        if let Some(hits) = &signals.next_operation {
            let (first, two) = (hits.first, hits.within_two);
            if signals.failed > 0 {
                out(&format!("{} requests failed and count as not found", signals.failed));
            }
            out(&format!("next operation of {} requests: hit@1 {first:.3}, hit@2 {two:.3}", hits.cases));
        }
        out("");
    }
    if let Some(scores) = &report.constraints {
        constraints(scores);
    }
}

fn constraints(scores: &ConstraintScores) {
    out(&format!("what is wanted after each turn ({} dialogues, {} turns)", scores.dialogues, scores.turns));
    let mut table = list();
    table.set_header(["", "P", "R", "F1", "right", "predicted", "gold"]);
    let mut row = |name: String, scores: &ItemScores| {
        let figures = [scores.precision, scores.recall, scores.f1].map(three);
        let counts = [scores.right, scores.predicted, scores.gold].map(|count| count.to_string());
        table.add_row(std::iter::once(name).chain(figures).chain(counts));
    };
    scores.fields.iter().for_each(|field| row(field.field.name().to_string(), &field.in_force));
    row("overrides".into(), &scores.overrides);
    scores.fields.iter().for_each(|field| row(format!("  {}", field.field.name()), &field.overrides));
    right_align(&mut table, &(1..7).collect::<Vec<_>>());
    out(&table.trim_fmt());
    out("");
}

/// Where what is wanted differs, turn by turn.
pub fn disagreements(scores: &ConstraintScores) {
    for wrong in &scores.wrong {
        let texts = |texts: &[String]| shown(&texts.join("; "), 200);
        let (gold, predicted) = (texts(&wrong.gold), texts(&wrong.predicted));
        out(&format!(
            "{} turn {}, {}: `{predicted}`, gold `{gold}`",
            shown(&wrong.dialogue, 60),
            wrong.turn,
            wrong.field.name()
        ));
    }
}

/// Scores of the acts of utterances, and of their effects.
pub fn acts(scores: &ActScores, each: bool) {
    reader(&scores.produced);
    confusion(&format!("acts of {} turns", scores.turns), &scores.acts);
    let wrong: Vec<String> = scores.wrong.iter().map(|(id, read)| format!("{id} as {}", read.name())).collect();
    out(&format!("otherwise read: {}", shown(&wrong.join(", "), 4000)));
    if let Some(effects) = &scores.effects {
        out("");
        self::effects(effects, each);
    }
}

fn effects(scores: &EffectScores, each: bool) {
    out(&format!("effects of {} turns: right {:.3}", scores.turns, scores.right));
    for (what, all) in [("by act", &scores.by_act), ("by part", &scores.by_part)] {
        let count = |Counted { name, right, cases }: &Counted| format!("{name} {right} of {cases}");
        out(&format!("  {what}: {}", all.iter().map(count).collect::<Vec<_>>().join(", ")));
    }
    for (id, parts) in scores.wrong.iter().filter(|_| each) {
        let parts: Vec<&str> = parts.iter().copied().map(EffectPart::name).collect();
        out(&format!("{}: {}", shown(id, 60), parts.join(", ")));
    }
}

/// What conversations came to; with `each`, also by who speaks and turn by turn.
pub fn outcomes(report: &OutcomeReport, each: bool) {
    reader(&report.produced);
    let conversations = report.groups.first().map_or(0, |all| all.conversations);
    let name = shown(&report.benchmark, 200);
    out(&format!(
        "{name} ({}, {}; % with 95% intervals over conversations, seed {})",
        counted(conversations, "conversation"),
        counted(report.turns.len() as u64, "turn"),
        report.seed
    ));
    let mut table = list();
    table.set_header(["", "turns", "right", "silent", "warned", "asked", "nothing", "right, warned", "wholly right"]);
    let with_interval =
        |Share { share, low, high }: Share| format!("{:.1} [{:.0}, {:.0}]", 100.0 * share, 100.0 * low, 100.0 * high);
    for (place, group) in report.groups.iter().enumerate() {
        if group.by == Grouping::Voice && !each {
            continue;
        }
        let begins = place > 0 && report.groups[place - 1].by != group.by;
        if begins {
            table.add_row(vec![String::new()]);
        }
        let OutcomeScores { right, silent, warned, asked, nothing, right_warned, wholly_right, .. } = group;
        let mut cells = vec![shown(&group.group, 40), group.turns.to_string()];
        cells.extend([right, silent].map(|share| with_interval(*share)));
        cells.extend([warned, asked, nothing].map(|share| format!("{:.1}", 100.0 * share.share)));
        cells.push(right_warned.map_or("–".to_string(), |share| format!("{:.1}", 100.0 * share.share)));
        cells.push(with_interval(*wholly_right));
        table.add_row(cells);
    }
    right_align(&mut table, &(1..9).collect::<Vec<_>>());
    out(&table.trim_fmt());
    out(
        "silent: wrong without a warning; warned: wrong with one; asked: where an answer was due; right, warned: of the right turns",
    );
    for turn in report.turns.iter().filter(|_| each) {
        let class = match turn.class {
            TurnClass::Right => "right",
            TurnClass::Silent => "silent",
            TurnClass::Warned => "warned",
            TurnClass::Asked => "asked",
            TurnClass::Nothing => "nothing",
        };
        let warned = if !turn.warnings.is_empty() && turn.class == TurnClass::Right { ", warned" } else { "" };
        let name = format!("{}-{} {}: {class}{warned}", turn.conversation, turn.turn, turn.kind);
        out(&format!("{}; {}", shown(&name, 100), shown(&turn.said, 200)));
    }
}

fn confusion(what: &str, scores: &LabelScores) {
    out(&format!(
        "{what}: macro-F1 {:.3}, accuracy {:.3}; rows: true labels, columns: predicted labels",
        scores.macro_f1, scores.accuracy
    ));
    let mut table = list();
    let headers = std::iter::once("").chain(scores.labels.iter().map(String::as_str)).chain(["F1"]);
    table.set_header(headers);
    for ((label, row), f1) in scores.labels.iter().zip(&scores.confusion).zip(&scores.f1) {
        let counts = row.iter().map(u64::to_string);
        table.add_row(std::iter::once(label.clone()).chain(counts).chain([three(*f1)]));
    }
    right_align(&mut table, &(1..scores.labels.len() + 2).collect::<Vec<_>>());
    out(&table.trim_fmt());
}
