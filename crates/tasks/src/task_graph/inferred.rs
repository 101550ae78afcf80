//! Datasets of which no document says what they served, attached to the most similar ones that served something.

use rayon::prelude::*;

use super::graph::TaskGraph;
use super::lists::{Link, Lists};
use lakeward_models::embed::dot;

/// Similar datasets kept of each.
pub(super) const MOST_SIMILAR: usize = 3;
/// The least cosine of two descriptions.
const LEAST_COSINE: f32 = 0.5;
/// What a similar dataset's tasks count for at the most; what a document says counts 1. It breaks ties and shows a way: with 0.1
/// rankings were worse on both shown benchmarks.
pub(super) const INFERRED_WEIGHT: f32 = 0.01;

/// What datasets are attached by.
pub(super) struct Attach<'a> {
    /// Values of a vector.
    pub dims: usize,
    /// One vector a dataset.
    pub vectors: &'a [f32],
    /// Whether a dataset served a task.
    pub served: &'a [bool],
    /// The number of each dataset in the old graph, where it is the same there.
    pub known: &'a [Option<usize>],
    /// The old graph, where its vectors are of the same weights.
    pub old: Option<&'a TaskGraph>,
}

/// For each dataset that served no task, the most similar ones that did, best first, ties by number.
pub(super) fn attach(attach: &Attach<'_>) -> Lists<Link> {
    let vector = |at: usize| &attach.vectors[at * attach.dims..(at + 1) * attach.dims];
    let served: Vec<usize> = (0..attach.served.len()).filter(|node| attach.served[*node]).collect();
    let before = attach.old.map(|old| Before::of(old, attach));
    let of = |node: usize| -> Vec<Link> {
        if attach.served[node] {
            return Vec::new();
        }
        let kept = before.as_ref().and_then(|before| before.kept(node, attach));
        let candidates = match (&kept, &before) {
            (Some(_), Some(before)) => &before.new,
            _ => &served,
        };
        let similar = candidates.iter().filter_map(|other| {
            let cosine = dot(vector(node), vector(*other));
            (cosine >= LEAST_COSINE).then_some(Link { to: *other as u32, weight: cosine.min(1.0) })
        });
        let mut list: Vec<Link> = kept.unwrap_or_default().into_iter().chain(similar).collect();
        list.sort_unstable_by(|a, b| b.weight.total_cmp(&a.weight).then(a.to.cmp(&b.to)));
        list.truncate(MOST_SIMILAR);
        list
    };
    let lists: Vec<Vec<Link>> = (0..attach.served.len()).into_par_iter().map(of).collect();
    let mut all = Lists::default();
    lists.into_iter().for_each(|list| all.push(list));
    all
}

/// What the old graph had.
struct Before<'a> {
    old: &'a TaskGraph,
    served: Vec<bool>,
    /// The number now of each old dataset that still served a task.
    places: Vec<Option<u32>>,
    /// Datasets that served no task before, or were not there.
    new: Vec<usize>,
}

impl<'a> Before<'a> {
    fn of(old: &'a TaskGraph, attach: &Attach<'_>) -> Self {
        let mut served = vec![false; old.meta().datasets];
        old.uses.items().iter().for_each(|edge| served[edge.dataset as usize] = true);
        let mut places = vec![None; served.len()];
        let mut new = Vec::new();
        for (node, known) in attach.known.iter().enumerate().filter(|(node, _)| attach.served[*node]) {
            match known.filter(|known| served[*known]) {
                Some(known) => places[known] = Some(node as u32),
                None => new.push(node),
            }
        }
        Self { old, served, places, new }
    }

    /// The old list of a dataset, numbered as now; none where it had none or one of it is gone.
    fn kept(&self, node: usize, attach: &Attach<'_>) -> Option<Vec<Link>> {
        let known = attach.known[node].filter(|known| !self.served[*known])?;
        let renumbered = |link: &Link| Some(Link { to: self.places[link.to as usize]?, weight: link.weight });
        self.old.inferred.get(known).iter().map(renumbered).collect()
    }
}
