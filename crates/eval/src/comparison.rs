//! Comparisons of systems on the same queries: the first against the best of the others, and every variant against the variants
//! that it builds on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::benchmark::Task;
use super::compare::{PairedDifference, paired_bootstrap};
use super::evaluate::{IDEAL, QueryRow};
use super::report::{GroupReport, groups};
use super::variant::Variant;

/// Two systems on the same queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The task.
    pub task: Task,
    /// The group.
    pub group: String,
    /// The compared system.
    pub system: String,
    /// The other: the best one by raw nDCG@k, or the variant that this one builds on.
    pub against: String,
    /// `nDCG@10`, `nDCG@10 condensed`, `MRR`.
    pub measure: String,
    /// The difference.
    pub difference: PairedDifference,
}

/// A system's name with its rows.
pub type SystemRows = (String, Vec<QueryRow>);

/// A measure of a row at a depth.
type Measure = fn(&QueryRow, usize) -> Option<f64>;

/// The first of `systems` against the best other one, in every group they share; then [`variants`]. Ablations (names that extend
/// the first's) and [`IDEAL`] do not count as others; if the first is a variant, only [`variants`] is returned.
pub fn compare(systems: &[SystemRows], k: usize, seed: u64) -> Vec<Comparison> {
    let mut comparisons = match systems.first() {
        Some((name, _)) if Variant::named(name).is_none() => with_best(systems, k, seed),
        _ => Vec::new(),
    };
    comparisons.extend(variants(systems, k, seed));
    comparisons
}

fn with_best(systems: &[SystemRows], k: usize, seed: u64) -> Vec<Comparison> {
    let Some(first @ (name, ours)) = systems.first() else { return Vec::new() };
    let is_other = |other: &str| other != IDEAL && other != name && !other.starts_with(&format!("{name}-"));
    let others: Vec<(&SystemRows, Vec<GroupReport>)> =
        systems.iter().filter(|(other, _)| is_other(other)).map(|system| (system, groups(&system.1))).collect();
    let mut comparisons = Vec::new();
    for own in groups(ours) {
        let best = others
            .iter()
            .filter_map(|(other, groups)| {
                // Means over different queries are not comparable.
                let theirs = groups.iter().find(|group| is_same(group, &own))?;
                Some((theirs.raw.at(k).ndcg, *other))
            })
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        if let Some((_, against)) = best {
            add(&mut comparisons, &own, first, against, (k, seed));
        }
    }
    comparisons
}

/// Every variant of `systems` against the simpler ones of [`Variant::STEPS`] in `systems`.
fn variants(systems: &[SystemRows], k: usize, seed: u64) -> Vec<Comparison> {
    let find = |variant: Variant| systems.iter().find(|(name, _)| name == variant.name());
    let pairs: Vec<(&SystemRows, &SystemRows)> =
        Variant::STEPS.iter().filter_map(|(plainer, other)| Some((find(*plainer)?, find(*other)?))).collect();
    let mut comparisons = Vec::new();
    let Some((_, rows)) = pairs.first().map(|pair| pair.0) else { return comparisons };
    for own in groups(rows) {
        for (plainer, other) in &pairs {
            add(&mut comparisons, &own, other, plainer, (k, seed));
        }
    }
    comparisons
}

/// Whether both groups hold the same queries, some of them scored.
fn is_same(group: &GroupReport, own: &GroupReport) -> bool {
    let at = |group: &GroupReport| (group.task, group.queries);
    at(group) == at(own) && group.group == own.group && group.queries > 0
}

/// Adds `system` against `against` on the queries of the group `own`.
fn add(
    comparisons: &mut Vec<Comparison>,
    own: &GroupReport,
    system: &SystemRows,
    against: &SystemRows,
    (k, seed): (usize, u64),
) {
    let theirs: BTreeMap<&str, &QueryRow> = against.1.iter().map(|row| (row.query.as_str(), row)).collect();
    let measures: [(String, Measure); 3] = [
        (format!("nDCG@{k}"), |row, k| Some(row.scores.as_ref()?.raw.at(k).ndcg)),
        (format!("nDCG@{k} condensed"), |row, k| Some(row.scores.as_ref()?.condensed.at(k).ndcg)),
        ("MRR".to_string(), |row, _| Some(row.scores.as_ref()?.raw.reciprocal_rank)),
    ];
    let has_unjudged = own.raw != own.condensed;
    for (measure, value) in measures.into_iter().filter(|(name, _)| has_unjudged || !name.ends_with("condensed")) {
        let inside = system.1.iter().filter(|row| (row.task, &row.group) == (own.task, &own.group));
        let differences: Vec<f64> =
            inside.filter_map(|row| Some(value(row, k)? - value(theirs.get(row.query.as_str())?, k)?)).collect();
        if let Some(difference) = paired_bootstrap(&differences, seed) {
            comparisons.push(Comparison {
                task: own.task,
                group: own.group.clone(),
                system: system.0.clone(),
                against: against.0.clone(),
                measure,
                difference,
            });
        }
    }
}
