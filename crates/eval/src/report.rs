//! The result of an evaluation, as one versioned document and as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::benchmark::{Benchmark, LayoutKind, Problem, Task};
use super::compare::{PairedDifference, paired_bootstrap};
use super::comparison::Comparison;
use super::constraints::ConstraintScores;
use super::evaluate::{IDEAL, QueryRow};
use super::metrics::{Scores, mean};
use super::provenance::Produced;
use super::signals::SignalScores;
use super::subset::Subset;
use super::task_report::{self, GraphCost};
use super::task_search::{AliasScores, NameScores, name_scores};
use super::variant::table;
use super::variant::work::GroupWork;
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{Purpose, write_atomic};
use lakeward_core::text::counted;

/// Version of the document.
pub const VERSION: u32 = 2;

/// The result of an evaluation; `report.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EvalReport {
    /// [`VERSION`].
    pub version: u32,
    /// What was measured.
    #[serde(flatten)]
    pub produced: Produced,
    /// The benchmark: the name of its folder.
    pub benchmark: String,
    /// Its file layout.
    pub layout: LayoutKind,
    /// `titles`, `cells` or `masked`.
    pub form: String,
    /// The default depth of P@k, R@k and nDCG@k.
    pub k: usize,
    /// Documents requested per query.
    pub depth: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Hash of the weights that Lakeward ranked with.
    pub weights: String,
    /// The model that made Lakeward's vectors, if it is not the built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedder: Option<String>,
    /// The subset of the benchmark, if it is not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subset: Option<Subset>,
    /// The settings of the variants, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variants: Option<table::VariantSettings>,
    /// Number of queries of the benchmark.
    pub queries: u64,
    /// Number of relevant pairs of query and document.
    pub relevant: u64,
    /// The unusable parts of the benchmark.
    pub problems: Vec<Problem>,
    /// The systems, in the requested order; [`IDEAL`] last.
    pub systems: Vec<SystemReport>,
    /// Lakeward, or the first system, against the best other; variants against the variants that they build on.
    pub comparisons: Vec<Comparison>,
    /// Signals of labelled requests.
    pub signals: Vec<SignalScores>,
    /// What is wanted after each turn of dialogues, if the benchmark says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<ConstraintScores>,
    /// Scores of the resolution of dataset names, if the benchmark has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aliases: Option<AliasScores>,
}

/// A system: its costs, and its scores in each group of queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemReport {
    /// Its name.
    pub system: String,
    /// Time to read the documents and index them, in milliseconds; systems that share an index share the figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_ms: Option<f64>,
    /// Size of its files on disk, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_bytes: Option<u64>,
    /// Peak memory of the process while the system was built and run, if the operating system reports it (Linux).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,
    /// The costs of the task graph that it searches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphCost>,
    /// By task and group.
    pub groups: Vec<GroupReport>,
    /// The results per query, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<QueryRow>,
}

/// A system on the queries of one task and group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupReport {
    /// The task.
    pub task: Task,
    /// Label set and style; empty if the benchmark has none.
    pub group: String,
    /// Queries scored: those with a relevant document.
    pub queries: u64,
    /// Queries left out because no document is relevant.
    pub unscored: u64,
    /// Queries with at least one answer, including those that are not scored.
    pub answered: u64,
    /// Queries that failed; they score 0.
    pub failed: u64,
    /// One of the failures, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Means that count unjudged documents as not relevant.
    pub raw: Scores,
    /// Means without unjudged documents.
    pub condensed: Scores,
    /// Ends of the 95% interval of raw nDCG at the main depth: bootstrap over the queries; absent without queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ndcg_interval: Option<(f64, f64)>,
    /// Scores of the names of first answers; for task search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<NameScores>,
    /// Mean turn of success by k; for dialogues. Smaller is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average_turn: Option<BTreeMap<usize, f64>>,
    /// Mean time of a dialogue over all its turns, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialogue_seconds: Option<f64>,
    /// Mean tokens of a language model per dialogue, if the system reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialogue_tokens: Option<f64>,
    /// Median time of an answer, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    /// 95th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_ms: Option<f64>,
    /// The work for the answers, if the system reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<GroupWork>,
}

/// The value at `share` of sorted `values`, by nearest rank.
fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let place = (values.len() as f64 * share).ceil() as usize;
    values.get(place.saturating_sub(1)).copied()
}

/// Means by task and group, sorted by task and by the groups' names; dialogues with known user corrections are also grouped by the
/// kind of correction.
pub fn groups(rows: &[QueryRow]) -> Vec<GroupReport> {
    let mut grouped: BTreeMap<(Task, String), Vec<&QueryRow>> = BTreeMap::new();
    for row in rows {
        grouped.entry((row.task, row.group.clone())).or_default().push(row);
        if let Some(correction) = row.correction.as_deref().filter(|_| row.task == Task::Dialogue) {
            let separator = if row.group.is_empty() { "" } else { ", " };
            let part = format!("{}{separator}correction: {correction}", row.group);
            grouped.entry((row.task, part)).or_default().push(row);
        }
    }
    grouped.into_iter().map(|((task, group), rows)| group_of(task, &group, &rows)).collect()
}

/// Adds to each group the interval of its nDCG@k, by the bootstrap of [`super::compare`].
pub fn add_intervals(groups: &mut [GroupReport], rows: &[QueryRow], k: usize, seed: u64) {
    for group in groups {
        let own = rows.iter().filter(|row| (row.task, &row.group) == (group.task, &group.group));
        let values: Vec<f64> = own.filter_map(|row| Some(row.scores.as_ref()?.raw.at(k).ndcg)).collect();
        group.ndcg_interval = paired_bootstrap(&values, seed).map(|mean| (mean.low, mean.high));
    }
}

/// Adds the name scores of first answers to each group of task searches.
pub fn add_names(groups: &mut [GroupReport], rows: &[QueryRow], benchmark: &Benchmark) {
    for group in groups {
        let own: Vec<&QueryRow> =
            rows.iter().filter(|row| (row.task, &row.group) == (group.task, &group.group)).collect();
        group.names = name_scores(&own, benchmark);
    }
}

fn group_of(task: Task, group: &str, rows: &[&QueryRow]) -> GroupReport {
    let scored: Vec<&QueryRow> = rows.iter().filter(|row| row.scores.is_some()).copied().collect();
    let scores: Vec<_> = scored.iter().filter_map(|row| row.scores.as_ref()).collect();
    let mut latencies: Vec<f64> = rows.iter().flat_map(|row| row.latencies_ms.iter().copied()).collect();
    latencies.sort_by(f64::total_cmp);
    let turns: Vec<_> = scored.iter().filter_map(|row| row.turn_of_success.as_ref()).collect();
    let average = |k: usize| {
        let sum: usize = turns.iter().filter_map(|turns| turns.get(&k)).sum();
        (k, sum as f64 / turns.len() as f64)
    };
    GroupReport {
        task,
        group: group.to_string(),
        queries: scored.len() as u64,
        unscored: (rows.len() - scored.len()) as u64,
        answered: rows.iter().filter(|row| !row.ranking.is_empty()).count() as u64,
        failed: rows.iter().filter(|row| row.failure.is_some()).count() as u64,
        failure: rows.iter().find_map(|row| Some(format!("{}: {}", row.query, row.failure.as_ref()?))),
        raw: mean(scores.iter().map(|both| &both.raw)).unwrap_or_default(),
        condensed: mean(scores.iter().map(|both| &both.condensed)).unwrap_or_default(),
        ndcg_interval: None,
        names: None,
        average_turn: turns.first().map(|first| first.keys().map(|k| average(*k)).collect()),
        dialogue_seconds: (task == Task::Dialogue && !latencies.is_empty())
            .then(|| latencies.iter().sum::<f64>() / 1000.0 / rows.len() as f64),
        dialogue_tokens: rows
            .iter()
            .filter_map(|row| row.tokens)
            .reduce(|a, b| a + b)
            .map(|sum| sum as f64 / rows.len() as f64),
        p50_ms: percentile(&latencies, 0.5),
        p95_ms: percentile(&latencies, 0.95),
        work: GroupWork::of(rows.iter().filter_map(|row| row.work.as_ref())),
    }
}

impl EvalReport {
    /// Every group with each system's results, in the order of [`EvalReport::systems`].
    pub fn by_group(&self) -> BTreeMap<(Task, &str), Vec<(&SystemReport, &GroupReport)>> {
        let mut groups: BTreeMap<(Task, &str), Vec<(&SystemReport, &GroupReport)>> = BTreeMap::new();
        for system in &self.systems {
            for group in &system.groups {
                groups.entry((group.task, &group.group)).or_default().push((system, group));
            }
        }
        groups
    }

    /// The report as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_markdown(&mut out);
        out
    }

    fn write_markdown(&self, out: &mut String) -> std::fmt::Result {
        let k = self.k;
        writeln!(out, "# {} ({})\n", plain(&self.benchmark), self.form)?;
        let Produced { lakeward, commit, reader, .. } = &self.produced;
        let commit = commit.as_deref().map(|commit| format!(", commit {commit}")).unwrap_or_default();
        let vectors = self.embedder.as_deref().map(|embedder| format!(", vectors of {embedder}")).unwrap_or_default();
        let reader = reader.as_deref().map(|reader| format!(", read by {}", plain(reader))).unwrap_or_default();
        writeln!(
            out,
            "{} queries, {} relevant pairs. lakeward {lakeward}{commit}, weights {}{vectors}{reader}; {} documents requested per query; seed {}.\n",
            self.queries, self.relevant, self.weights, self.depth, self.seed
        )?;
        writeln!(
            out,
            "nDCG, P and R at {k}; MRR and MAP over the whole ranking. Condensed: unjudged documents are dropped first. \
             Queries run one after the other.\n"
        )?;
        if let Some(subset) = &self.subset {
            table::write_subset(out, subset)?;
        }
        for ((task, group), systems) in self.by_group() {
            writeln!(out, "## {}\n", plain(&title(task, group)))?;
            if let Some(what) = unscored(&systems) {
                writeln!(out, "{what}\n")?;
                continue;
            }
            let is_dialogue = systems.iter().any(|(_, group)| group.average_turn.is_some());
            let extra = if is_dialogue { " AT@1 | AT@3 | AT@5 |" } else { "" };
            let extra_line = if is_dialogue { "---:|---:|---:|" } else { "" };
            writeln!(
                out,
                "| system | queries | nDCG | condensed | MRR | MAP | P | R | hit@1 |{extra} p50 ms | p95 ms |\n\
                 |---|---:|---:|---:|---:|---:|---:|---:|---:|{extra_line}---:|---:|"
            )?;
            for (system, group) in &systems {
                let at = group.raw.at(k);
                let time = |value: Option<f64>| value.map_or("–".to_string(), |value| format!("{value:.1}"));
                let turns = group
                    .average_turn
                    .as_ref()
                    .map_or(String::new(), |turns| turns.values().map(|turn| format!(" {turn:.2} |")).collect());
                let turns = if is_dialogue && turns.is_empty() { " – | – | – |".to_string() } else { turns };
                writeln!(
                    out,
                    "| {} | {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} |{turns} {} | {} |",
                    plain(&system.system),
                    group.queries,
                    at.ndcg,
                    group.condensed.at(k).ndcg,
                    group.raw.reciprocal_rank,
                    group.raw.average_precision,
                    at.precision,
                    at.recall,
                    group.raw.at(1).hit,
                    time(group.p50_ms),
                    time(group.p95_ms)
                )?;
            }
            writeln!(out)?;
            task_report::write_names(out, &systems)?;
            table::write_group(out, k, &systems)?;
        }
        if let Some(settings) = &self.variants {
            table::write_settings(out, settings)?;
        }
        self.write_rest(out)
    }

    fn write_rest(&self, out: &mut String) -> std::fmt::Result {
        if !self.comparisons.is_empty() {
            writeln!(
                out,
                "## Against other systems\n\nPaired bootstrap over queries, {} resamples.\n\n\
                 | task | measure | system | against | difference | 95% interval | p |\n|---|---|---|---|---:|---|---:|",
                super::compare::RESAMPLES
            )?;
            for comparison in &self.comparisons {
                let PairedDifference { mean, low, high, p, .. } = comparison.difference;
                let task = plain(&title(comparison.task, &comparison.group));
                writeln!(
                    out,
                    "| {} | {} | {} | {} | {mean:+.3} | {low:+.3} to {high:+.3} | {p:.4} |",
                    task,
                    comparison.measure,
                    plain(&comparison.system),
                    plain(&comparison.against)
                )?;
            }
            writeln!(out)?;
        }
        for signals in &self.signals {
            write_signals(out, signals)?;
        }
        if let Some(aliases) = &self.aliases {
            writeln!(
                out,
                "## Names of datasets\n\n{} names: hit@1 {:.3}; {} joined by a rule, {:.3} of them correctly ({:.3} if a name of \
                 several datasets means only one).\n\n| rule | joined | correct |\n|---|---:|---:|",
                aliases.aliases, aliases.hit_at_1, aliases.merged, aliases.precision, aliases.precision_strict
            )?;
            for (rule, (joined, right)) in &aliases.by_rule {
                writeln!(out, "| {rule} | {joined} | {right} |")?;
            }
            writeln!(out)?;
        }
        task_report::write_costs(out, &self.systems)?;
        writeln!(out, "## Costs\n\n| system | index s | index MB | peak memory MB |\n|---|---:|---:|---:|")?;
        for system in self.systems.iter().filter(|system| system.system != IDEAL) {
            let figure = |value: Option<f64>| value.map_or("–".to_string(), |value| format!("{value:.1}"));
            writeln!(
                out,
                "| {} | {} | {} | {} |",
                plain(&system.system),
                figure(system.index_ms.map(|ms| ms / 1000.0)),
                figure(system.index_bytes.map(|bytes| bytes as f64 / 1e6)),
                figure(system.peak_rss_bytes.map(|bytes| bytes as f64 / 1e6))
            )?;
        }
        if !self.problems.is_empty() {
            writeln!(out, "\n## Left out\n\n| what | how often | for example |\n|---|---:|---|")?;
            for problem in &self.problems {
                writeln!(
                    out,
                    "| {} | {} | {} |",
                    plain(&problem.what),
                    problem.count,
                    plain(&problem.examples.join("; "))
                )?;
            }
        }
        Ok(())
    }

    /// Writes `report.json` and `report.md` into `folder`, which is created if missing.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).map_err(|error| Error::io("make", folder, error))?;
        let json = serde_json::to_string_pretty(self).map_err(|error| Error::Internal(error.to_string()))?;
        for (name, text) in [("report.json", json + "\n"), ("report.md", self.to_markdown())] {
            write_atomic(&folder.join(name), Purpose::Output, text.as_bytes())?;
        }
        Ok(())
    }
}

/// Task and group as one title, without repetition.
pub fn title(task: Task, group: &str) -> String {
    match group {
        "" => task.to_string(),
        group if group.split(' ').next() == Some(task.name()) => group.to_string(),
        group => format!("{task} {group}"),
    }
}

/// A note for a group in which no query has a relevant document; `None` for other groups.
pub fn unscored(systems: &[(&SystemReport, &GroupReport)]) -> Option<String> {
    let (_, first) = systems.first()?;
    if systems.iter().any(|(_, group)| group.queries > 0) {
        return None;
    }
    let answers = systems.iter().filter(|(system, _)| system.system != IDEAL);
    let answers: Vec<String> =
        answers.map(|(system, group)| format!("{} answers {}", plain(&system.system), group.answered)).collect();
    let unscored = counted(first.unscored, "query");
    Some(format!("{unscored} without a relevant document, not scored; {}.", answers.join(", ")))
}

fn write_signals(out: &mut String, signals: &SignalScores) -> std::fmt::Result {
    writeln!(out, "## Signals: {} ({} turns)\n", plain(&signals.group), signals.turns)?;
    for (what, scores) in [("operation", &signals.operation), ("intention", &signals.intention)] {
        writeln!(out, "{what}: macro-F1 {:.3}, accuracy {:.3}\n", scores.macro_f1, scores.accuracy)?;
        writeln!(out, "| true \\ predicted | {} |", scores.labels.join(" | "))?;
        writeln!(out, "|---|{}", "---:|".repeat(scores.labels.len()))?;
        for (label, row) in scores.labels.iter().zip(&scores.confusion) {
            let counts: Vec<String> = row.iter().map(u64::to_string).collect();
            writeln!(out, "| {label} | {} |", counts.join(" | "))?;
        }
        writeln!(out)?;
    }
    let hits = &signals.operation_hits;
    writeln!(out, "operation hit@1 {:.3}, hit@2 {:.3}", hits.first, hits.within_two)?;
    if let Some(hits) = &signals.next_operation {
        writeln!(
            out,
            "\nnext operation ({} requests) hit@1 {:.3}, hit@2 {:.3}",
            hits.cases, hits.first, hits.within_two
        )?;
    }
    writeln!(out)
}

/// `text` escaped for a cell of a Markdown table.
pub(super) fn plain(text: &str) -> String {
    lakeward_core::text::shown(text, 300).replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;")
}
