//! A variant as a [`System`]: the channels asked, fused and ranked as it says, with an account of what each answer took.

use std::collections::HashSet;
use std::rc::Rc;

use super::work::Work;
use super::{Component, Variant};
use crate::error::{Error, Result};
use crate::eval::benchmark::{BenchQuery, Task};
use crate::eval::lakeward::LakeIndexOf;
use crate::eval::system::{Ranked, System};
use crate::retrieve::channels;
use crate::retrieve::fuse::reciprocal_rank_fusion;

/// A variant over the documents of a benchmark.
pub struct VariantSystem<'a> {
    variant: Variant,
    over: Rc<LakeIndexOf<'a>>,
    failing: Option<Component>,
}

impl<'a> VariantSystem<'a> {
    /// `variant` over an index; `failing` fails at every query.
    pub fn new(variant: Variant, over: Rc<LakeIndexOf<'a>>, failing: Option<Component>) -> Self {
        Self { variant, over, failing }
    }

    /// The documents that one channel finds, best first.
    fn channel(&self, channel: Component, text: &str, depth: usize) -> Result<Vec<Ranked>> {
        if self.failing == Some(channel) {
            return Err(Error::Internal(format!("the component `{}` was made to fail", channel.name())));
        }
        let index = self.over.index();
        let hits = match channel {
            Component::Meaning => channels::by_meaning(index, self.over.embedder(), text, depth)?,
            _ => channels::by_words(index, text, depth)?,
        };
        hits.into_iter().map(|(table, score)| Ok(Ranked::new(index.id(table)?.to_string(), score))).collect()
    }

    /// The channels of the variant by themselves or fused; a channel that fails is left out as long as one is left.
    fn plain(&self, text: &str, depth: usize) -> Result<(Vec<Ranked>, Work)> {
        let channels = match self.variant {
            Variant::V1 => vec![Component::Words],
            Variant::V2 => vec![Component::Meaning],
            _ => vec![Component::Words, Component::Meaning],
        };
        let mut lists = Vec::with_capacity(channels.len());
        let mut failure = None;
        for channel in &channels {
            match self.channel(*channel, text, depth) {
                Ok(list) => lists.push(list),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => failure = Some(error),
            }
        }
        let partial = failure.is_some();
        if let (Some(error), true) = (failure, lists.is_empty()) {
            return Err(error);
        }
        let ranking = if channels.len() == 1 { lists.concat() } else { fused(&lists) };
        let work = Work {
            iterations: 1,
            tool_calls: channels.len() as u32,
            partial,
            provenance_complete: stands_in(&ranking, &lists),
            ..Work::default()
        };
        Ok((ranking, work))
    }
}

/// Reciprocal rank fusion with equal weights, ties by id.
fn fused(lists: &[Vec<Ranked>]) -> Vec<Ranked> {
    let ids = |list| Vec::from_iter(<[Ranked]>::iter(list).map(|ranked| ranked.id.as_str()));
    let lists: Vec<(f64, Vec<&str>)> = lists.iter().map(|list| (1.0, ids(list))).collect();
    reciprocal_rank_fusion(&lists).into_iter().map(|(id, score)| Ranked::new(id, score)).collect()
}

/// Whether every document of `ranking` stands in one of `lists`.
fn stands_in(ranking: &[Ranked], lists: &[Vec<Ranked>]) -> bool {
    let found: HashSet<&str> = lists.iter().flatten().map(|ranked| ranked.id.as_str()).collect();
    ranking.iter().all(|ranked| found.contains(ranked.id.as_str()))
}

impl System for VariantSystem<'_> {
    fn name(&self) -> &str {
        self.variant.name()
    }

    fn rank(&self, query: &BenchQuery, depth: usize) -> Result<Vec<Ranked>> {
        Ok(self.rank_with_work(query, depth)?.0)
    }

    fn rank_with_work(&self, query: &BenchQuery, depth: usize) -> Result<(Vec<Ranked>, Option<Work>)> {
        let text = query.text.as_deref().unwrap_or_default();
        // One more, for the query's own table where it lies in the lake.
        let wanted = depth.saturating_add(usize::from(query.origin.is_some()));
        let (mut ranking, work) = self.plain(text, wanted)?;
        ranking.retain(|ranked| query.origin.as_ref() != Some(&ranked.id));
        ranking.truncate(depth);
        Ok((ranking, Some(work)))
    }

    fn answers(&self, query: &BenchQuery) -> bool {
        answers(query)
    }

    fn index_bytes(&self) -> Option<u64> {
        Some(self.over.stats.index_bytes)
    }
}

/// Whether the variants have a way to answer `query`: they search by text and do not look at a table at hand.
pub fn answers(query: &BenchQuery) -> bool {
    query.task == Task::Search && query.text.is_some()
}
