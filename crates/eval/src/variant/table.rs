//! Variants as Markdown: small tables in addition to those of all systems.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Variant;
use super::work::{FaultEffect, GroupWork};
use crate::benchmark::Task;
use crate::metrics::AtDepth;
use crate::report::{GroupReport, SystemReport};
use crate::subset::Subset;
use lakeward_models::llm::tokens_text;

/// A measure: its name and its value.
pub type Measure = (&'static str, fn(&AtDepth) -> f64);

/// Depths that the paper reports.
pub const CUTS: [usize; 3] = [5, 10, 20];
/// The paper's measures, two to a table.
pub const MEASURES: [[Measure; 2]; 2] = [
    [("nDCG", |at| at.ndcg), ("MAP", |at| at.average_precision)],
    [("R", |at| at.recall), ("MRR", |at| at.reciprocal_rank)],
];

/// The settings of the variants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VariantSettings {
    /// Documents requested from each channel.
    pub depth: usize,
    /// Number of identical runs of each.
    pub runs: u64,
    /// How pseudo-queries were indexed: `concatenated` or `dedicated`; absent if no variant uses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<String>,
    /// The language model that planned, evaluated and ranked, by name and server; absent for rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Writes the subset of a benchmark that was used.
pub fn write_subset(out: &mut String, subset: &Subset) -> std::fmt::Result {
    writeln!(out, "{}\n", subset_sentence(subset))?;
    writeln!(out, "| stratum | taken | of |\n|---|---:|---:|")?;
    for stratum in &subset.strata {
        writeln!(out, "| {} | {} | {} |", stratum.name, stratum.records, stratum.of_records)?;
    }
    writeln!(out)
}

/// Writes the variants' settings and the meaning of the columns.
pub fn write_settings(out: &mut String, settings: &VariantSettings) -> std::fmt::Result {
    let questions = settings.questions.as_ref().map(|how| format!(" Pseudo-queries: {how}.")).unwrap_or_default();
    let model = settings.model.as_ref().map_or("rules".to_string(), |model| lakeward_core::text::shown(model, 200));
    let (depth, runs) = (settings.depth, lakeward_core::text::counted(settings.runs, "run"));
    writeln!(out, "Variants: {depth} documents per channel, {runs}, planned by {model}.{questions} {WORK_LEGEND}\n")
}

/// A subset as a sentence.
pub fn subset_sentence(subset: &Subset) -> String {
    format!(
        "A subset: {} of {} records, drawn by stratum with seed {}; {} of {} judgments and {} queries are left, {} queries have no \
         relevant record among them.",
        subset.records,
        subset.of_records,
        subset.seed,
        subset.judgments,
        subset.of_judgments,
        subset.queries,
        subset.queries_left_out
    )
}

/// The systems of a group that report their work; a plain search only beside variants.
pub fn accounted<'a>(
    systems: &[(&'a SystemReport, &'a GroupReport)],
) -> Vec<(&'a str, &'a GroupReport, &'a GroupWork)> {
    let is_variant = |system: &SystemReport| Variant::named(&system.system).is_some();
    let beside = systems.iter().any(|(system, _)| is_variant(system));
    let reporting = systems.iter().filter(|(_, group)| beside || group.task != Task::Search);
    let with_work = |(system, group): &(&'a SystemReport, &'a GroupReport)| {
        Some((system.system.as_str(), *group, group.work.as_ref()?))
    };
    reporting.filter_map(with_work).collect()
}

/// The paper's measures of a group, the work for the answers, and the effects of failures; nothing for a group without variants.
pub fn write_group(out: &mut String, k: usize, systems: &[(&SystemReport, &GroupReport)]) -> std::fmt::Result {
    let variants = accounted(systems);
    if variants.is_empty() {
        return Ok(());
    }
    for pair in MEASURES {
        write!(out, "| variant |")?;
        for (name, cut) in pair.iter().flat_map(|(name, _)| CUTS.map(|cut| (name, cut))) {
            write!(out, " {name}@{cut} |")?;
        }
        writeln!(out, "\n|---|{}", "---:|".repeat(2 * CUTS.len()))?;
        for (name, group, _) in &variants {
            write!(out, "| {name} |")?;
            for (measure, cut) in pair.iter().flat_map(|(_, measure)| CUTS.map(|cut| (measure, cut))) {
                write!(out, " {:.3} |", measure(&group.raw.at(cut)))?;
            }
            writeln!(out)?;
        }
        writeln!(out)?;
    }
    write_work(out, &variants)?;
    let faults: Vec<(&str, &FaultEffect)> =
        variants.iter().flat_map(|(name, _, work)| work.faults.iter().map(move |fault| (*name, fault))).collect();
    if !faults.is_empty() {
        writeln!(out, "| variant | fails | nDCG@{k} | difference | 95% interval | answered | partial |")?;
        writeln!(out, "|---|---|---:|---:|---|---:|---:|")?;
    }
    for (name, fault) in &faults {
        let (mean, interval) = difference(fault);
        let component = fault.component.name();
        let (ndcg, answered, partial) = (fault.ndcg, fault.answered, fault.partial);
        writeln!(out, "| {name} | {component} | {ndcg:.3} | {mean} | {interval} | {answered:.2} | {partial:.2} |")?;
    }
    if faults.is_empty() { Ok(()) } else { writeln!(out) }
}

fn write_work(out: &mut String, variants: &[(&str, &GroupReport, &GroupWork)]) -> std::fmt::Result {
    write!(out, "| variant |")?;
    for column in WORK_COLUMNS {
        write!(out, " {column} |")?;
    }
    writeln!(out, "\n|---|{}", "---:|".repeat(WORK_COLUMNS.len()))?;
    for (name, _, work) in variants {
        writeln!(out, "| {name} | {} |", work_cells(work).join(" | "))?;
    }
    writeln!(out)
}

/// The columns of the work table.
pub const WORK_COLUMNS: [&str; 9] =
    ["rounds", "calls", "tokens", "broken", "partial", "limited", "traced", "sourced", "stable"];

/// The cells below [`WORK_COLUMNS`].
pub fn work_cells(work: &GroupWork) -> [String; 9] {
    let or_none = |value: Option<f64>| value.map_or("–".to_string(), |value| format!("{value:.3}"));
    [
        format!("{:.2}", work.iterations),
        format!("{:.2}", work.tool_calls),
        tokens_text(work.model_calls, work.tokens.unwrap_or_default(), work.tokens_estimated),
        work.schema_failures.to_string(),
        format!("{:.3}", work.partial),
        format!("{:.3}", work.limited),
        or_none(work.trace_complete),
        format!("{:.3}", work.provenance_complete),
        or_none(work.stability.map(|stability| stability.jaccard)),
    ]
}

/// The difference caused by a failure, and its interval.
pub fn difference(fault: &FaultEffect) -> (String, String) {
    match fault.difference {
        Some(found) => (format!("{:+.3}", found.mean), format!("{:+.3} to {:+.3}", found.low, found.high)),
        None => ("–".to_string(), "–".to_string()),
    }
}

/// The meaning of [`WORK_COLUMNS`].
pub const WORK_LEGEND: &str = "rounds: of planning, searching, evaluating; calls: searches of a channel; tokens: of the model, prompts \
and answers, as its server counts them, else about; all three per query. broken: invalid artifacts and answers of the model, in total. Shares of queries: partial, \
a component failed; limited, a limit ended the search; traced, the trace has every stage; sourced, every document was found by a channel. \
stable: mean Jaccard of the first k over identical runs.";
