//! Datasets not used in any document, linked to the most similar datasets that are.

use rayon::prelude::*;

use super::graph::TaskGraph;
use super::lists::{Link, Lists};
use lakeward_models::embed::dot;

/// Similar datasets stored per dataset.
pub(super) const MAX_SIMILAR: usize = 3;
/// Minimum cosine of two descriptions.
const MIN_COSINE: f32 = 0.5;
/// Maximum weight of a similar dataset's tasks, where tasks stated in a document have 1. It only breaks ties and shows a path:
/// with 0.1, rankings were worse on the development halves of both benchmarks.
pub(super) const INFERRED_WEIGHT: f32 = 0.01;

/// Input of [`attach`].
pub(super) struct Attach<'a> {
    /// Dimensions of a vector.
    pub dims: usize,
    /// One vector per dataset.
    pub vectors: &'a [f32],
    /// Whether each dataset was used for a task.
    pub has_task: &'a [bool],
    /// The number of each dataset in the old graph, where it is the same there.
    pub known: &'a [Option<usize>],
    /// The old graph, if its vectors were made with the same weights.
    pub old: Option<&'a TaskGraph>,
}

/// For each dataset without a task, the most similar datasets with one, best first, ties by number.
pub(super) fn attach(attach: &Attach<'_>) -> Lists<Link> {
    let vector = |at: usize| &attach.vectors[at * attach.dims..(at + 1) * attach.dims];
    let with_task: Vec<usize> = (0..attach.has_task.len()).filter(|node| attach.has_task[*node]).collect();
    let before = attach.old.map(|old| OldGraph::of(old, attach));
    let of = |node: usize| -> Vec<Link> {
        if attach.has_task[node] {
            return Vec::new();
        }
        let old_list = before.as_ref().and_then(|before| before.old_list(node, attach));
        let candidates = match (&old_list, &before) {
            (Some(_), Some(before)) => &before.new,
            _ => &with_task,
        };
        let similar = candidates.iter().filter_map(|other| {
            let cosine = dot(vector(node), vector(*other));
            (cosine >= MIN_COSINE).then_some(Link { to: *other as u32, weight: cosine.min(1.0) })
        });
        let mut list: Vec<Link> = old_list.unwrap_or_default().into_iter().chain(similar).collect();
        list.sort_unstable_by(|a, b| b.weight.total_cmp(&a.weight).then(a.to.cmp(&b.to)));
        list.truncate(MAX_SIMILAR);
        list
    };
    let lists: Vec<Vec<Link>> = (0..attach.has_task.len()).into_par_iter().map(of).collect();
    let mut all = Lists::default();
    lists.into_iter().for_each(|list| all.push(list));
    all
}

/// The old graph and its datasets' new numbers.
struct OldGraph<'a> {
    old: &'a TaskGraph,
    has_task: Vec<bool>,
    /// The new number of each old dataset that was and is used for a task.
    places: Vec<Option<u32>>,
    /// Datasets that are newly used for a task.
    new: Vec<usize>,
}

impl<'a> OldGraph<'a> {
    fn of(old: &'a TaskGraph, attach: &Attach<'_>) -> Self {
        let mut has_task = vec![false; old.meta().datasets];
        old.uses.items().iter().for_each(|edge| has_task[edge.dataset as usize] = true);
        let mut places = vec![None; has_task.len()];
        let mut new = Vec::new();
        for (node, known) in attach.known.iter().enumerate().filter(|(node, _)| attach.has_task[*node]) {
            match known.filter(|known| has_task[*known]) {
                Some(known) => places[known] = Some(node as u32),
                None => new.push(node),
            }
        }
        Self { old, has_task, places, new }
    }

    /// The old list of a dataset, renumbered; `None` if it had none or one of its entries is gone.
    fn old_list(&self, node: usize, attach: &Attach<'_>) -> Option<Vec<Link>> {
        let known = attach.known[node].filter(|known| !self.has_task[*known])?;
        let renumbered = |link: &Link| Some(Link { to: self.places[link.to as usize]?, weight: link.weight });
        self.old.inferred.get(known).iter().map(renumbered).collect()
    }
}
