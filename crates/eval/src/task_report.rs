//! The report of task searches: names of first answers, and costs of graph and answers, in the rows of KATS' cost table
//! (Wei et al., PVLDB 19(5), 2026): build time, storage, time of a query. No model is asked, so there are no tokens to count.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::benchmark::Task;
use super::report::{GroupReport, SystemReport, plain, title};

/// The costs of a task graph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphCost {
    /// Documents in it.
    pub documents: u64,
    /// Their tasks.
    pub tasks: u64,
    /// Datasets, including those that only documents name.
    pub datasets: u64,
    /// Time to build it, without the index of the records, in milliseconds.
    pub build_ms: f64,
    /// Size of its file, in bytes.
    pub bytes: u64,
}

/// The costs of all `systems` that search a task graph, in one table; nothing if none does.
pub(super) fn write_costs(out: &mut String, systems: &[SystemReport]) -> std::fmt::Result {
    let with_graph = || systems.iter().filter_map(|system| Some((system, system.graph.as_ref()?)));
    if with_graph().next().is_none() {
        return Ok(());
    }
    writeln!(
        out,
        "## Costs of searches by task\n\nGraph and queries beside each other, as in the cost table of KATS; the index of the records \
         is built before the graph and counts for itself.\n\n\
         | system | queries | tasks | datasets | build s | graph MB | index s | index and graph MB | p50 ms | \
         p95 ms |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    )?;
    let figure =
        |value: Option<f64>, digits: usize| value.map_or("–".to_string(), |value| format!("{value:.digits$}"));
    for (system, cost) in with_graph() {
        let index_ms = system.index_ms.map(|ms| (ms - cost.build_ms).max(0.0) / 1000.0);
        for group in system.groups.iter().filter(|group| group.task == Task::TaskSearch) {
            writeln!(
                out,
                "| {} | {} | {} | {} | {:.2} | {:.1} | {} | {} | {} | {} |",
                plain(&system.system),
                plain(&title(group.task, &group.group)),
                cost.tasks,
                cost.datasets,
                cost.build_ms / 1000.0,
                cost.bytes as f64 / 1e6,
                figure(index_ms, 2),
                figure(system.index_bytes.map(|bytes| bytes as f64 / 1e6), 1),
                figure(group.p50_ms, 1),
                figure(group.p95_ms, 1)
            )?;
        }
    }
    writeln!(out)
}

/// Hits by depth and names of first answers, for task searches.
pub(super) fn write_names(out: &mut String, systems: &[(&SystemReport, &GroupReport)]) -> std::fmt::Result {
    if systems.iter().all(|(_, group)| group.names.is_none()) {
        return Ok(());
    }
    writeln!(
        out,
        "| system | hit@1 | hit@3 | hit@5 | hit@10 | EM | token F1 | R@5 |\n|---|---:|---:|---:|---:|---:|---:|---:|"
    )?;
    for (system, group) in systems {
        let Some(names) = group.names else { continue };
        let hit = |k: usize| group.raw.at(k).hit;
        writeln!(
            out,
            "| {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} |",
            plain(&system.system),
            hit(1),
            hit(3),
            hit(5),
            hit(10),
            names.exact_match,
            names.token_f1,
            group.raw.at(5).recall
        )?;
    }
    writeln!(out)
}
