//! The first step in which two runs differ.

use super::candidate_set::ChannelList;
use super::trace::{IterationTrace, RunTrace};

/// The first step of the runs that differs but for timings, as its name and what differs there; `None` for equal runs.
///
/// Steps in their order: `search goal`, `search settings`, `agents`, `lake`; of each iteration, from 1, `plan N`, `channel NAME for QUERY`,
/// `fusion N` and `verdict N`; then `end of the search` and `ranking of the search`.
pub fn first_difference(a: &RunTrace, b: &RunTrace) -> Option<(String, String)> {
    let step = |name: &str, what: String| Some((name.to_string(), what));
    if a.sought != b.sought {
        return step("search goal", change(&a.sought.words, &b.sought.words));
    }
    if a.settings != b.settings {
        return step("search settings", "limits, depths or weights differ".into());
    }
    if a.agents != b.agents {
        let [one, other] = [a, b].map(|run| serde_json::to_string(&run.agents).unwrap_or_default());
        return step("agents", change(&one, &other));
    }
    if a.lake != b.lake {
        return step("lake", "the index, its weights, questions or channels differ".into());
    }
    let of_iterations = a.iterations.iter().zip(&b.iterations).zip(1..);
    if let Some(found) = of_iterations.filter_map(|((one, other), number)| in_iteration(one, other, number)).next() {
        return Some(found);
    }
    let (one, other) = (a.iterations.len(), b.iterations.len());
    if one != other {
        return step(&format!("plan {}", one.min(other) + 1), format!("{one} iterations, then {other}"));
    }
    if (a.chosen, a.stopped, &a.degraded, a.over_at) != (b.chosen, b.stopped, &b.degraded, b.over_at) {
        let ended = |run: &RunTrace| match run.degraded.first() {
            Some(failed) => format!("{:?}, without {}", run.stopped, failed.component),
            None => format!("{:?}", run.stopped),
        };
        return step("end of the search", change(&ended(a), &ended(b)));
    }
    let ids = |run: &RunTrace| run.ranking.ranking.iter().map(|ranked| ranked.id.clone()).collect::<Vec<_>>();
    if a.ranking != b.ranking {
        return step("ranking of the search", from_rank(&ids(a), &ids(b)));
    }
    None
}

fn in_iteration(a: &IterationTrace, b: &IterationTrace, number: usize) -> Option<(String, String)> {
    if a.plan != b.plan {
        let queries = |of: &IterationTrace| {
            let texts: Vec<String> = of.plan.queries.iter().map(|query| format!("`{}`", query.text)).collect();
            super::shortened(&texts.join(", "), 300)
        };
        return Some((format!("plan {number}"), change(&queries(a), &queries(b))));
    }
    let (one, other) = (&a.candidates.channels, &b.candidates.channels);
    if let Some(at) = (0..one.len().max(other.len())).find(|at| one.get(*at) != other.get(*at)) {
        let list = one.get(at).or(other.get(at))?;
        let name = format!("channel {} for `{}`", list.channel, super::shortened(&list.query, 80));
        return Some((name, in_lists(one.get(at), other.get(at))));
    }
    let ids = |of: &IterationTrace| of.candidates.ids().map(str::to_string).collect::<Vec<_>>();
    if a.candidates.candidates != b.candidates.candidates {
        return Some((format!("fusion {number}"), from_rank(&ids(a), &ids(b))));
    }
    (a.report != b.report).then(|| (format!("verdict {number}"), change(&a.report.reason, &b.report.reason)))
}

fn in_lists(a: Option<&ChannelList>, b: Option<&ChannelList>) -> String {
    let (Some(a), Some(b)) = (a, b) else { return "one of the runs did not search it".into() };
    if (&a.query, &a.channel) != (&b.query, &b.channel) {
        return format!("the other run searched {} for `{}`", b.channel, super::shortened(&b.query, 80));
    }
    if (a.depth, a.weight) != (b.depth, b.weight) {
        return format!("depth {} and weight {}, then {} and {}", a.depth, a.weight, b.depth, b.weight);
    }
    match (&a.problem, &b.problem) {
        (None, None) => from_rank(&a.hits, &b.hits),
        (one, other) => change(one.as_deref().unwrap_or("found"), other.as_deref().unwrap_or("found")),
    }
}

fn change(one: &str, other: &str) -> String {
    format!("{one}, then {other}")
}

/// The first place at which two lists differ.
fn from_rank<T: PartialEq + std::fmt::Debug>(a: &[T], b: &[T]) -> String {
    let at = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or_else(|| a.len().min(b.len()));
    let at_rank = |list: &[T]| list.get(at).map_or("nothing".to_string(), |item| format!("{item:?}"));
    format!("from rank {} on: {}", at + 1, change(&at_rank(a), &at_rank(b)))
}
