//! Additional runs: identical ones, and ones in which a component fails.

use std::collections::{BTreeMap, HashSet};

use super::Component;
use super::work::{FaultEffect, Stability};
use crate::compare::paired_bootstrap;
use crate::evaluate::QueryRow;
use crate::report::GroupReport;

/// A ranking's first `k` documents.
fn first(row: &QueryRow, k: usize) -> Vec<&str> {
    row.ranking.iter().take(k).map(|(id, _)| id.as_str()).collect()
}

/// |A ∩ B| / |A ∪ B|; 1 for two empty lists.
fn jaccard(a: &[&str], b: &[&str]) -> f64 {
    let a: HashSet<&str> = a.iter().copied().collect();
    let b: HashSet<&str> = b.iter().copied().collect();
    match a.union(&b).count() {
        0 => 1.0,
        either => a.intersection(&b).count() as f64 / either as f64,
    }
}

/// How similar the first `k` documents of `runs` are; each run holds the same queries in the same order. `None` for fewer than two
/// runs, or without queries.
pub fn stability(runs: &[Vec<&QueryRow>], k: usize) -> Option<Stability> {
    let queries = runs.iter().map(Vec::len).min().filter(|queries| *queries > 0)?;
    if runs.len() < 2 {
        return None;
    }
    let (mut sum, mut pairs, mut identical) = (0.0, 0usize, 0usize);
    for query in 0..queries {
        let lists: Vec<Vec<&str>> = runs.iter().map(|run| first(run[query], k)).collect();
        for (place, list) in lists.iter().enumerate() {
            for other in &lists[place + 1..] {
                sum += jaccard(list, other);
                pairs += 1;
            }
        }
        identical += usize::from(lists.iter().all(|list| *list == lists[0]));
    }
    Some(Stability {
        runs: runs.len() as u64,
        k,
        jaccard: sum / pairs as f64,
        identical: identical as f64 / queries as f64,
    })
}

/// The effect of `component`'s failure on the queries of a group: `failing` are their rows with it, `sound` those without.
pub fn effect(component: Component, sound: &[&QueryRow], failing: &[&QueryRow], k: usize, seed: u64) -> FaultEffect {
    let ndcg = |row: &QueryRow| Some(row.scores.as_ref()?.raw.at(k).ndcg);
    let before: BTreeMap<&str, &QueryRow> = sound.iter().map(|row| (row.query.as_str(), *row)).collect();
    let differences: Vec<f64> =
        failing.iter().filter_map(|row| Some(ndcg(row)? - ndcg(before.get(row.query.as_str())?)?)).collect();
    let scores: Vec<f64> = failing.iter().filter_map(|row| ndcg(row)).collect();
    let share =
        |holds: fn(&&&QueryRow) -> bool| failing.iter().filter(holds).count() as f64 / failing.len().max(1) as f64;
    FaultEffect {
        component,
        // The sum of an empty list is -0.
        ndcg: (scores.iter().sum::<f64>() / scores.len().max(1) as f64).abs(),
        difference: paired_bootstrap(&differences, seed),
        answered: share(|row| row.failure.is_none() && !row.ranking.is_empty()),
        partial: share(|row| !row.ranking.is_empty() && row.work.is_some_and(|work| work.partial)),
    }
}

/// Adds the results of additional runs to `groups`: `repeats` are identical to `rows`, each of `failing` lacks a component.
pub fn add_drills(
    groups: &mut [GroupReport],
    rows: &[QueryRow],
    repeats: &[Vec<QueryRow>],
    failing: &[(Component, Vec<QueryRow>)],
    (k, seed): (usize, u64),
) {
    for group in groups {
        let inside = |rows: &'_ [QueryRow]| -> Vec<usize> {
            let is = |row: &QueryRow| (row.task, &row.group) == (group.task, &group.group);
            (0..rows.len()).filter(|place| is(&rows[*place])).collect()
        };
        let own = |rows| -> Vec<&QueryRow> { pick(rows, &inside(rows)) };
        let runs: Vec<Vec<&QueryRow>> =
            std::iter::once(rows).chain(repeats.iter().map(Vec::as_slice)).map(own).collect();
        let stable = stability(&runs, k);
        let sound = &runs[0];
        let faults =
            failing.iter().map(|(component, rows)| effect(*component, sound, &own(rows.as_slice()), k, seed)).collect();
        if let Some(work) = &mut group.work {
            work.stability = stable;
            work.faults = faults;
        }
    }
}

fn pick<'a>(rows: &'a [QueryRow], places: &[usize]) -> Vec<&'a QueryRow> {
    places.iter().map(|place| &rows[*place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Task;
    use crate::metrics::score_both;
    use crate::variant::work::Work;

    fn row(query: &str, ranking: &[&str], partial: bool) -> QueryRow {
        let grades = [("a".to_string(), 1i64)].into_iter().collect();
        QueryRow {
            query: query.to_string(),
            task: Task::Search,
            group: String::new(),
            ranking: ranking.iter().map(|id| (id.to_string(), 1.0)).collect(),
            scores: Some(score_both(ranking, &grades, None, 10)),
            turn_of_success: None,
            latencies_ms: Vec::new(),
            failure: None,
            correction: None,
            tokens: None,
            work: Some(Work { partial, ..Work::default() }),
        }
    }

    #[test]
    fn stability_is_the_mean_overlap_of_pairs_of_runs() {
        let (one, other) = (row("q", &["a", "b"], false), row("q", &["b", "c"], false));
        // Two equal runs, one different: pairs 1, 1/3, 1/3.
        let found = stability(&[vec![&one], vec![&one], vec![&other]], 2).unwrap();
        assert!((found.jaccard - (1.0 + 2.0 / 3.0) / 3.0).abs() < 1e-12, "{found:?}");
        assert_eq!((found.runs, found.identical), (3, 0.0));
        // The first document alone: a, a, b.
        assert!((stability(&[vec![&one], vec![&one], vec![&other]], 1).unwrap().jaccard - 1.0 / 3.0).abs() < 1e-12);
        let none = row("q", &[], false);
        assert_eq!(stability(&[vec![&none], vec![&none]], 5).unwrap().jaccard, 1.0);
        assert_eq!(stability(&[vec![&one]], 5), None);
        assert_eq!(stability(&[Vec::new(), Vec::new()], 5), None);
    }

    #[test]
    fn a_failure_is_reported_with_its_cost() {
        let sound = [row("q1", &["a"], false), row("q2", &["a"], false)];
        let failing = [row("q1", &["b", "a"], true), row("q2", &[], false)];
        let found =
            effect(Component::Words, &sound.iter().collect::<Vec<_>>(), &failing.iter().collect::<Vec<_>>(), 10, 5);
        // nDCG of a relevant document at the second place: 1 / log2(3).
        let second = 1.0 / 3f64.log2();
        assert!((found.ndcg - second / 2.0).abs() < 1e-12, "{found:?}");
        assert!((found.difference.unwrap().mean - (second / 2.0 - 1.0)).abs() < 1e-12);
        assert_eq!((found.answered, found.partial), (0.5, 0.5));
    }
}
