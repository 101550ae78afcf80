//! Output of `lakeward eval`: one list per group of queries, comparisons, signals, costs; problems of the benchmark on stderr.

use super::{bytes, list, narrate, out, right_align, turns, variants};
use lakeward_core::text::{counted, shown};
use lakeward_eval::benchmark::Problem;
use lakeward_eval::compare::PairedDifference;
use lakeward_eval::evaluate::IDEAL;

use lakeward_eval::extraction::ExtractionScores;
use lakeward_eval::left_out::{LeftOut, TOLERANCE, Unlearned};
use lakeward_eval::model_gain::{VoiceReport, VoiceScore};
use lakeward_eval::report::{EvalReport, GroupReport, SystemReport, title, unscored};
use lakeward_eval::simulation::ConversationReport;
use lakeward_eval::tune::{TuneReport, TunedRanker};
use lakeward_models::llm::{Spent, tokens_text};

/// The measures of every group, then comparisons, signals and costs.
pub fn report(report: &EvalReport) {
    turns::reader(&report.produced);
    if let Some(embedder) = &report.embedder {
        out(&format!("vectors of {embedder}\n"));
    }
    if let Some(subset) = &report.subset {
        variants::subset(subset);
    }
    for ((task, group), systems) in report.by_group() {
        let scored = systems.iter().map(|(_, group)| group.queries).max().unwrap_or(0);
        let name = format!("{} {}", report.benchmark, title(task, group));
        if let Some(what) = unscored(&systems) {
            out(&format!("{}: {what}\n", shown(&name, 200)));
            continue;
        }
        out(&format!("{} ({}, {scored} queries)", shown(&name, 200), report.form));
        measures(report.k, &systems);
        dialogues(&systems);
        names(&systems);
        variants::tables(report.k, &systems);
        for (system, group) in &systems {
            if group.failed > 0 {
                let why = group.failure.as_deref().unwrap_or_default();
                out(&format!("  {}: {} queries failed and score 0; {}", system.system, group.failed, shown(why, 300)));
            }
        }
        out("");
    }
    for system in report.systems.iter().filter(|system| system.groups.is_empty()) {
        out(&format!("{} cannot answer these queries", shown(&system.system, 100)));
    }
    variants::legend(report);
    comparisons(report);
    turns::signals(report);
    aliases(report);
    costs(report);
}

fn measures(k: usize, systems: &[(&SystemReport, &GroupReport)]) {
    let has_condensed = systems.iter().any(|(_, group)| group.raw != group.condensed);
    let mut table = list();
    let mut header = vec!["system".to_string(), format!("nDCG@{k}")];
    header.extend(has_condensed.then(|| "condensed".to_string()));
    header.extend(["MRR".to_string(), "MAP".to_string(), format!("P@{k}"), format!("R@{k}"), "hit@1".to_string()]);
    header.extend(["n", "p50 ms", "p95 ms"].map(str::to_string));
    let columns = header.len();
    table.set_header(header);
    for (system, group) in systems {
        let at = group.raw.at(k);
        let mut cells = vec![shown(&system.system, 40), three(at.ndcg)];
        cells.extend(has_condensed.then(|| three(group.condensed.at(k).ndcg)));
        cells.extend([group.raw.reciprocal_rank, group.raw.average_precision].map(three));
        cells.extend([at.precision, at.recall, group.raw.at(1).hit].map(three));
        cells.push(group.queries.to_string());
        cells.extend([group.p50_ms, group.p95_ms].map(|ms| ms.map_or("–".to_string(), |ms| format!("{ms:.1}"))));
        table.add_row(cells);
    }
    right_align(&mut table, &(1..columns).collect::<Vec<_>>());
    out(&table.trim_fmt());
}

/// Searches for the datasets of a task: hits by depth, and how well the first answer's name matches.
fn names(systems: &[(&SystemReport, &GroupReport)]) {
    if systems.iter().all(|(_, group)| group.names.is_none()) {
        return;
    }
    let mut table = list();
    table.set_header(["system", "hit@1", "hit@3", "hit@5", "hit@10", "EM", "token F1", "R@5"]);
    for (system, group) in systems {
        let Some(names) = group.names else { continue };
        let hits = [1, 3, 5, 10].map(|k| group.raw.at(k).hit);
        let figures = hits.into_iter().chain([names.exact_match, names.token_f1, group.raw.at(5).recall]).map(three);
        table.add_row(std::iter::once(shown(&system.system, 40)).chain(figures));
    }
    right_align(&mut table, &(1..8).collect::<Vec<_>>());
    out(&table.trim_fmt());
}

/// Further measures of conversations: whether and when the target record is found, and its cost.
fn dialogues(systems: &[(&SystemReport, &GroupReport)]) {
    if systems.iter().all(|(_, group)| group.average_turn.is_none()) {
        return;
    }
    let mut table = list();
    table.set_header([
        "system",
        "R@1",
        "R@3",
        "R@5",
        "MRR@10",
        "AT@1",
        "AT@3",
        "AT@5",
        "s/dialogue",
        "tokens/dialogue",
    ]);
    let or_dash =
        |value: Option<f64>, digits: usize| value.map_or("–".to_string(), |value| format!("{value:.digits$}"));
    for (system, group) in systems {
        let found = [group.raw.at(1).recall, group.raw.at(3).recall, group.raw.at(5).recall];
        let mut cells = vec![shown(&system.system, 40)];
        cells.extend(found.into_iter().chain([group.raw.at(10).reciprocal_rank]).map(three));
        let turns = |k: usize| or_dash(group.average_turn.as_ref().and_then(|turns| turns.get(&k)).copied(), 2);
        cells.extend([1, 3, 5].map(turns));
        cells.extend([or_dash(group.dialogue_seconds, 2), or_dash(group.dialogue_tokens, 0)]);
        table.add_row(cells);
    }
    right_align(&mut table, &(1..10).collect::<Vec<_>>());
    out(&table.trim_fmt());
}

/// The results of conversations with simulated users.
pub fn conversations(report: &ConversationReport) {
    turns::reader(&report.produced);
    out(&format!(
        "{} records; users look at the first {} and give up after {} turns; seed {}",
        report.records, report.looks_at, report.most_turns, report.seed
    ));
    let mut table = list();
    table.set_header([
        "users",
        "n",
        "accepted",
        "turns",
        "R@1",
        "R@5",
        "MRR",
        "AT@1",
        "AT@3",
        "AT@5",
        "s/dialogue",
        "tokens",
        "p50 ms",
        "p95 ms",
    ]);
    for group in &report.groups {
        let mut cells = vec![group.group.clone(), group.dialogues.to_string(), three(group.accepted)];
        cells.push(format!("{:.2}", group.turns));
        cells.extend([group.recall_at_1, group.recall_at_5, group.mrr].map(three));
        cells.extend(group.average_turn.map(|turn| format!("{turn:.2}")));
        // No tokens: nobody was asked.
        let tokens = Some(group.tokens).filter(|tokens| *tokens > 0.0);
        cells
            .extend([format!("{:.2}", group.seconds), tokens.map_or("–".to_string(), |tokens| format!("{tokens:.0}"))]);
        cells.extend([group.p50_ms, group.p95_ms].map(|ms| format!("{ms:.1}")));
        table.add_row(cells);
    }
    right_align(&mut table, &(1..14).collect::<Vec<_>>());
    out(&table.trim_fmt());
}

fn aliases(report: &EvalReport) {
    let Some(aliases) = &report.aliases else { return };
    out(&format!(
        "names of datasets: {} names, hit@1 {:.3}; {} merged by a rule, precision {:.3} ({:.3} by `dataset_ids` alone)",
        aliases.aliases, aliases.hit_at_1, aliases.merged, aliases.precision, aliases.precision_strict
    ));
    let rules: Vec<String> =
        aliases.by_rule.iter().map(|(rule, (joined, right))| format!("{rule} {right} of {joined}")).collect();
    out(&format!("  by rule: {}\n", rules.join(", ")));
}

/// Scores of the extraction of datasets from papers.
pub fn extraction(scores: &ExtractionScores) {
    out(&format!(
        "{} (extraction: {} papers, {} pairs of task and dataset, {} known names, {} datasets extracted, {:.1} s)",
        shown(&scores.benchmark, 200),
        scores.papers,
        scores.pairs,
        scores.known,
        scores.extracted,
        scores.elapsed_ms / 1000.0
    ));
    if scores.spent.calls > 0 {
        let Spent { calls, usage, estimated, .. } = scores.spent;
        let tokens = tokens_text(calls as f64, usage.tokens() as f64, estimated > 0);
        out(&format!("a model read {} of them: {}, {tokens} tokens", scores.by_model, counted(calls as u64, "call")));
    }
    let mut table = list();
    table.set_header(["datasets", "P", "R", "F1"]);
    for (what, measure) in [
        ("by name, once per paper", scores.datasets),
        ("by name, recall over pairs", scores.dataset_pairs),
        ("named in the text, any spelling", scores.named_pairs),
    ] {
        let figures = [measure.precision, measure.recall, measure.f1].map(three);
        table.add_row(std::iter::once(what.to_string()).chain(figures));
    }
    right_align(&mut table, &[1, 2, 3]);
    out(&table.trim_fmt());
    out(&format!(
        "papers with several tasks: share of dataset pairs grouped by task as in the gold standard: {:.3} of {}",
        scores.tasks_apart, scores.compared_pairs
    ));
}

pub(super) fn three(value: f64) -> String {
    format!("{value:.3}")
}

fn comparisons(report: &EvalReport) {
    if report.comparisons.is_empty() {
        return;
    }
    let mut table = list();
    table.set_header(["task", "measure", "system", "against", "difference", "95% interval", "p"]);
    for comparison in &report.comparisons {
        let PairedDifference { mean, low, high, p, .. } = comparison.difference;
        table.add_row([
            shown(&title(comparison.task, &comparison.group), 60),
            comparison.measure.clone(),
            shown(&comparison.system, 40),
            shown(&comparison.against, 40),
            format!("{mean:+.3}"),
            format!("{low:+.3} to {high:+.3}"),
            format!("{p:.4}"),
        ]);
    }
    right_align(&mut table, &[4, 6]);
    out(&table.trim_fmt());
    out("");
}

/// The weights that `lakeward tune` learned, and their scores on held-out queries.
pub fn tuned(report: &TuneReport) {
    for ranker in &report.rankers {
        out(&format!("{}: shares of the weights", ranker.ranker.name()));
        let mut table = list();
        table.set_header(["feature", "before", "learned"]);
        for weight in &ranker.weights {
            table.add_row([weight.feature.clone(), three(weight.before), three(weight.learned)]);
        }
        right_align(&mut table, &[1, 2]);
        out(&table.trim_fmt());
        let mut table = list();
        table.set_header(["nDCG@10", "n", "before", "cross-validated", "benchmark left out", "learned (optimistic)"]);
        for set in &ranker.sets {
            table.add_row([
                shown(&set.set, 60),
                set.queries.to_string(),
                three(set.before),
                three(set.cross_validated),
                set.left_out.as_ref().map_or("–".to_string(), |left_out| three(left_out.learned.ndcg)),
                three(set.learned),
            ]);
        }
        right_align(&mut table, &[1, 2, 3, 4, 5]);
        out(&table.trim_fmt());
        if ranker.ranker.is_compared() && ranker.sets.iter().any(|set| set.left_out.is_some()) {
            left_out(ranker);
        }
        out("");
    }
    out(&format!("weights {} (before: {}) written to `{}`", report.weights, report.started_from, report.out.display()));
}

/// How every benchmark is ranked by weights learned from the others, beside what needs no learning.
fn left_out(ranker: &TunedRanker) {
    let mut table = list();
    table.set_header(["left out", "nDCG@10", "condensed", "MAP@10", "best baseline", "best feature alone", "carries"]);
    for set in &ranker.sets {
        let Some(LeftOut { learned, baselines, channels, carries }) = &set.left_out else { continue };
        let best = |all: &[Unlearned]| match all.first() {
            Some(Unlearned { name, measures }) => {
                format!(
                    "{} / {} / {} {name}",
                    three(measures.ndcg),
                    three(measures.condensed),
                    three(measures.average_precision)
                )
            }
            None => "–".to_string(),
        };
        table.add_row([
            shown(&set.set, 60),
            three(learned.ndcg),
            three(learned.condensed),
            three(learned.average_precision),
            best(baselines),
            best(channels),
            if *carries { "yes" } else { "no" }.to_string(),
        ]);
    }
    right_align(&mut table, &[1, 2, 3]);
    out(&table.trim_fmt());
    if !ranker.accepted {
        out(&format!(
            "not accepted: left out, they lose more than {TOLERANCE} to the best without learning; the weights stay"
        ));
    }
}

fn costs(report: &EvalReport) {
    let costly: Vec<&SystemReport> = report.systems.iter().filter(|system| system.index_ms.is_some()).collect();
    if costly.is_empty() {
        return;
    }
    let mut table = list();
    table.set_header(["system", "index s", "index size", "peak memory"]);
    for system in costly.into_iter().filter(|system| system.system != IDEAL) {
        table.add_row([
            shown(&system.system, 40),
            system.index_ms.map_or("–".to_string(), |ms| format!("{:.1}", ms / 1000.0)),
            system.index_bytes.map_or("–".to_string(), bytes),
            system.peak_rss_bytes.map_or("–".to_string(), bytes),
        ]);
    }
    right_align(&mut table, &[1, 2, 3]);
    out(&table.trim_fmt());
}

/// Every query of every system, with its measures.
pub fn queries(report: &EvalReport) {
    let k = report.k;
    for system in report.systems.iter().filter(|system| !system.rows.is_empty()) {
        out("");
        out(&format!("{}, query by query", shown(&system.system, 100)));
        let mut table = list();
        table.set_header([
            "query",
            "task",
            &format!("nDCG@{k}"),
            "condensed",
            "RR",
            &format!("R@{k}"),
            "ms",
            "first answer",
        ]);
        for row in &system.rows {
            let figure = |value: Option<f64>| value.map_or("–".to_string(), three);
            let scores = row.scores.as_ref();
            let first = row.ranking.first().map(|(id, _)| id.as_str());
            table.add_row([
                shown(&row.query, 60),
                shown(&title(row.task, &row.group), 40),
                figure(scores.map(|both| both.raw.at(k).ndcg)),
                figure(scores.map(|both| both.condensed.at(k).ndcg)),
                figure(scores.map(|both| both.raw.reciprocal_rank)),
                figure(scores.map(|both| both.raw.at(k).recall)),
                row.latencies_ms.last().map_or("–".to_string(), |ms| format!("{ms:.1}")),
                shown(row.failure.as_deref().or(first).unwrap_or("–"), 60),
            ]);
        }
        right_align(&mut table, &[2, 3, 4, 5, 6]);
        out(&table.trim_fmt());
    }
}

/// The parts of the benchmark that could not be used, on stderr.
pub fn problems(report: &EvalReport) {
    for Problem { what, count, examples } in &report.problems {
        narrate(&format!("{count} {}; for example {}", shown(what, 200), shown(&examples.join(", "), 300)));
    }
}

/// How much a language model improves the results.
pub fn voice(report: &VoiceReport) {
    let Spent { calls, usage, estimated, refused, elapsed_ms, .. } = report.spent;
    out(&format!(
        "{} on {}: {}, {} tokens, longest prompt {} tokens, {} rejected, {:.1} s",
        report.model,
        report.benchmark,
        counted(calls as u64, "call"),
        tokens_text(calls as f64, usage.tokens() as f64, estimated > 0),
        report.longest_question,
        counted(refused as u64, "answer"),
        elapsed_ms / 1000.0
    ));
    if !report.orders.is_empty() {
        let mut table = list();
        table.set_header(["candidates reranked", "valid", "weight", &format!("nDCG@{}", report.k), "MRR"]);
        for orders in &report.orders {
            let valid = format!("{}/{}", orders.answered, orders.queries);
            let mut lead = [orders.group.clone(), valid];
            let mut row = |what: String, score: &VoiceScore| {
                let [group, valid] = std::mem::take(&mut lead);
                let (ndcg, rank) = (format!("{:.3}", score.ndcg), format!("{:.3}", score.reciprocal_rank));
                table.add_row([group, valid, what, ndcg, rank]);
            };
            for score in &orders.fixed {
                row(format!("{:.2}", score.voice), score);
            }
            let recovered =
                orders.recovered.map_or(String::new(), |share| format!(", {:.0}% of its gain", 100.0 * share));
            row(format!("{:.2} as trusted{recovered}", orders.trusted.voice), &orders.trusted);
            row(format!("{:.2} before it is measured", orders.unmeasured.voice), &orders.unmeasured);
        }
        right_align(&mut table, &[3, 4]);
        out(&table.trim_fmt());
    }
}
