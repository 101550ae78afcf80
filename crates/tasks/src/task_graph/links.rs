//! Which tasks are similar: each task with its strongest neighbours.
//!
//! The weight of two tasks is the mean of two cosines, of their needs and of their documents' abstracts, if that mean is at least
//! θ_d; it is 1 if the tasks share at least θ_k of the keywords of the one with fewer keywords. Each task stores a bounded number
//! of neighbours, the strongest, ties by position, so memory is linear. A new task changes another's list only by being inserted:
//! adding tasks compares only the new ones with all, and gives the same result as comparing all.

use rayon::prelude::*;

use super::lists::{Link, Lists};
use lakeward_models::embed::dot;

/// Thresholds for linking tasks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkOptions {
    /// θ_d: the minimum mean of the cosines.
    pub cosine: f32,
    /// θ_k: the minimum share of common keywords.
    pub overlap: f32,
    /// Maximum number of neighbours per task.
    pub most: usize,
}

impl Default for LinkOptions {
    fn default() -> Self {
        Self { cosine: 0.6, overlap: 0.7, most: 32 }
    }
}

/// The features by which tasks are compared.
pub struct LinkTasks<'a> {
    /// Dimensions of a vector.
    pub dims: usize,
    /// One vector per task: its need.
    pub needs: &'a [f32],
    /// One vector per document: its abstract.
    pub texts: &'a [f32],
    /// The document of each task.
    pub documents: &'a [u32],
    /// The words of each task's name and keywords, by number, each once.
    pub keywords: &'a Lists<u32>,
}

/// The neighbours of each task, strongest first. `known` has, for each task of the old graph, its neighbours among the old tasks;
/// a task with `None` is compared with all.
pub fn link(tasks: &LinkTasks<'_>, known: Vec<Option<Vec<Link>>>, options: &LinkOptions) -> Lists<Link> {
    let by_keyword = by_keyword(tasks.keywords);
    let new: Vec<usize> = (0..known.len()).filter(|task| known[*task].is_none()).collect();
    let rows: Vec<Vec<Link>> = new.par_iter().map(|task| row(tasks, &by_keyword, *task, options)).collect();
    let mut lists: Vec<Vec<Link>> = Vec::with_capacity(known.len());
    let is_known: Vec<bool> = known.iter().map(Option::is_some).collect();
    lists.extend(known.into_iter().map(Option::unwrap_or_default));
    for (task, row) in new.iter().zip(rows) {
        for link in row.iter().filter(|link| is_known[link.to as usize]) {
            lists[link.to as usize].push(Link { to: *task as u32, weight: link.weight });
        }
        lists[*task] = row;
    }
    let mut links = Lists::default();
    for mut list in lists {
        // A task that is compared again may already be in a known list.
        list.sort_unstable_by(|a, b| b.weight.total_cmp(&a.weight).then(a.to.cmp(&b.to)));
        list.dedup_by_key(|link| link.to);
        list.truncate(options.most);
        links.push(list);
    }
    links
}

/// All neighbours of `task`, in order of their places.
fn row(tasks: &LinkTasks<'_>, by_keyword: &Lists<u32>, task: usize, options: &LinkOptions) -> Vec<Link> {
    let dims = tasks.dims;
    let need = &tasks.needs[task * dims..(task + 1) * dims];
    let text_of = |task: usize| {
        let start = tasks.documents[task] as usize * dims;
        &tasks.texts[start..start + dims]
    };
    let text = text_of(task);
    let own = tasks.keywords.get(task);
    let mut common = vec![0u32; tasks.documents.len()];
    for word in own {
        by_keyword.get(*word as usize).iter().for_each(|other| common[*other as usize] += 1);
    }
    // The cosine of abstracts is 1 at most, so needs less alike than this cannot reach the threshold.
    let least_need = 2.0 * options.cosine - 1.0;
    let mut links = Vec::new();
    for (other, other_need) in tasks.needs.chunks_exact(dims).enumerate().filter(|(other, _)| *other != task) {
        let fewest = own.len().min(tasks.keywords.get(other).len()).max(1);
        let weight = if common[other] as f32 / fewest as f32 >= options.overlap {
            1.0
        } else {
            let alike = dot(need, other_need);
            if alike < least_need {
                continue;
            }
            let mean = (alike + dot(text, text_of(other))) / 2.0;
            if mean >= options.cosine { mean.min(1.0) } else { 0.0 }
        };
        if weight > 0.0 {
            links.push(Link { to: other as u32, weight });
        }
    }
    links
}

/// The tasks that have each keyword.
fn by_keyword(keywords: &Lists<u32>) -> Lists<u32> {
    let words = keywords.items().iter().max().map_or(0, |most| *most as usize + 1);
    let mut tasks: Vec<Vec<u32>> = vec![Vec::new(); words];
    for (task, list) in keywords.iter().enumerate() {
        list.iter().for_each(|word| tasks[*word as usize].push(task as u32));
    }
    let mut lists = Lists::default();
    tasks.into_iter().for_each(|list| lists.push(list));
    lists
}

/// Every edge once: (one end, other end, weight). An edge exists if at least one of its ends stores it.
pub fn edges(links: &Lists<Link>) -> Vec<(u32, u32, f64)> {
    let mut edges = Vec::with_capacity(links.items().len());
    for (task, list) in links.iter().enumerate() {
        for link in list {
            let mirrored = links.get(link.to as usize).iter().any(|back| back.to as usize == task);
            if !mirrored || (task as u32) < link.to {
                edges.push((task as u32, link.to, f64::from(link.weight)));
            }
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_models::embed::normalise;

    /// Made-up tasks; the seed decides the vectors.
    fn vectors(count: usize, dims: usize) -> Vec<f32> {
        let mut state = 7u64;
        let mut rows = Vec::new();
        for _ in 0..count {
            let mut row: Vec<f32> = (0..dims)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 40) as f32 / (1u64 << 24) as f32
                })
                .collect();
            normalise(&mut row);
            rows.extend(row);
        }
        rows
    }

    #[test]
    fn adding_tasks_gives_what_comparing_all_gives() {
        const TASKS: usize = 60;
        let (needs, texts) = (vectors(TASKS, 6), vectors(TASKS, 6));
        let documents: Vec<u32> = (0..TASKS as u32).collect();
        let mut keywords = Lists::default();
        (0..TASKS as u32).for_each(|task| keywords.push([task % 7, 7 + task % 5]));
        let tasks = LinkTasks { dims: 6, needs: &needs, texts: &texts, documents: &documents, keywords: &keywords };
        for most in [3, 100] {
            let options = LinkOptions { cosine: 0.85, most, ..LinkOptions::default() };
            let all = link(&tasks, vec![None; TASKS], &options);
            assert!(all.iter().any(|list| list.len() > 1));
            let mut few_words = Lists::default();
            (0..40).for_each(|task| few_words.push(keywords.get(task).to_vec()));
            let few = LinkTasks {
                needs: &needs[..40 * 6],
                texts: &texts[..40 * 6],
                documents: &documents[..40],
                keywords: &few_words,
                ..tasks
            };
            let before = link(&few, vec![None; 40], &options);
            let kept = (0..TASKS).map(|task| (task < 40).then(|| before.get(task).to_vec())).collect();
            assert_eq!(link(&tasks, kept, &options), all);
            let edges = edges(&all);
            let mut once: Vec<(u32, u32)> = edges.iter().map(|(a, b, _)| ((*a).min(*b), (*a).max(*b))).collect();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), edges.len());
        }
    }
}
