//! Where two runs part: the first stage at which they differ, and how ranks moved.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::candidate_set::{CandidateSet, ChannelList};
use super::trace::RunTrace;

/// Ranks compared: deeper ones move with every breath.
const COMPARED: usize = 100;

/// A stage of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "stage")]
pub enum Stage {
    /// Request, settings or versions: the runs were not asked the same.
    Asked {
        /// Which parts differ.
        parts: Vec<String>,
    },
    /// A plan, of this iteration from 1.
    Plan {
        /// The iteration.
        iteration: usize,
    },
    /// How a channel was searched: depth or weight.
    Parameters {
        /// The iteration.
        iteration: usize,
        /// The query.
        query: String,
        /// The channel.
        channel: String,
    },
    /// What a channel found.
    Hits {
        /// The iteration.
        iteration: usize,
        /// The query.
        query: String,
        /// The channel.
        channel: String,
    },
    /// The fusion.
    Fusion {
        /// The iteration.
        iteration: usize,
    },
    /// The verdict.
    Report {
        /// The iteration.
        iteration: usize,
    },
    /// Another iteration was ranked, or the run ended otherwise.
    End,
    /// The final order.
    Ranking,
}

/// A table that stands elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    /// The table.
    pub id: String,
    /// Its rank in the first run, from 1.
    pub from: Option<usize>,
    /// Its rank in the second.
    pub to: Option<usize>,
}

/// What differs between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Differences {
    /// The stages that differ, in the order of the run: the first is where they part. Empty for equal runs.
    pub stages: Vec<Stage>,
    /// Tables whose final rank differs, the highest first.
    pub moved: Vec<Moved>,
}

/// What differs between `a` and `b` but for their timings.
pub fn differences(a: &RunTrace, b: &RunTrace) -> Differences {
    let mut stages = Vec::new();
    let asked = [
        ("sought", a.sought != b.sought),
        ("settings", a.settings != b.settings),
        ("agents", a.agents != b.agents),
        ("index", a.lake.index != b.lake.index),
        ("weights", a.lake.weights != b.lake.weights),
        ("questions", a.lake.questions != b.lake.questions),
        ("channels", a.lake.channels != b.lake.channels),
    ];
    let parts: Vec<String> = asked.iter().filter(|(_, differ)| *differ).map(|(name, _)| (*name).to_string()).collect();
    if !parts.is_empty() {
        stages.push(Stage::Asked { parts });
    }
    let (mut lists_before_a, mut lists_before_b) = (0, 0);
    for at in 0..a.iterations.len().max(b.iterations.len()) {
        let iteration = at + 1;
        let (Some(one), Some(other)) = (a.iterations.get(at), b.iterations.get(at)) else {
            stages.push(Stage::Plan { iteration });
            break;
        };
        if one.plan != other.plan {
            stages.push(Stage::Plan { iteration });
        }
        let (new_a, new_b) = (new_lists(&one.candidates, lists_before_a), new_lists(&other.candidates, lists_before_b));
        compare_lists(iteration, new_a, new_b, &mut stages);
        (lists_before_a, lists_before_b) = (one.candidates.channels.len(), other.candidates.channels.len());
        if one.candidates.candidates != other.candidates.candidates {
            stages.push(Stage::Fusion { iteration });
        }
        if one.report != other.report {
            stages.push(Stage::Report { iteration });
        }
    }
    if (a.chosen, a.stopped, &a.degraded, a.over_at) != (b.chosen, b.stopped, &b.degraded, b.over_at) {
        stages.push(Stage::End);
    }
    if a.ranking != b.ranking {
        stages.push(Stage::Ranking);
    }
    Differences { stages, moved: moved(a, b) }
}

fn new_lists(set: &CandidateSet, before: usize) -> &[ChannelList] {
    set.channels.get(before..).unwrap_or_default()
}

fn compare_lists(iteration: usize, a: &[ChannelList], b: &[ChannelList], stages: &mut Vec<Stage>) {
    fn key(list: &ChannelList) -> (&str, &str) {
        (&list.query, &list.channel)
    }
    let others: BTreeMap<(&str, &str), &ChannelList> = b.iter().map(|list| (key(list), list)).collect();
    let known: BTreeSet<(&str, &str)> = a.iter().map(key).collect();
    for list in a {
        let (query, channel) = (list.query.clone(), list.channel.clone());
        match others.get(&key(list)) {
            Some(other) => {
                if (list.depth, list.weight.to_bits()) != (other.depth, other.weight.to_bits()) {
                    let (query, channel) = (query.clone(), channel.clone());
                    stages.push(Stage::Parameters { iteration, query, channel });
                }
                if (&list.hits, &list.problem) != (&other.hits, &other.problem) {
                    stages.push(Stage::Hits { iteration, query, channel });
                }
            }
            None => stages.push(Stage::Hits { iteration, query, channel }),
        }
    }
    for list in b.iter().filter(|list| !known.contains(&key(list))) {
        stages.push(Stage::Hits { iteration, query: list.query.clone(), channel: list.channel.clone() });
    }
}

fn moved(a: &RunTrace, b: &RunTrace) -> Vec<Moved> {
    fn ranks(trace: &RunTrace) -> BTreeMap<&str, usize> {
        trace.ranking.ranking.iter().take(COMPARED).zip(1..).map(|(ranked, rank)| (ranked.id.as_str(), rank)).collect()
    }
    let (from, to) = (ranks(a), ranks(b));
    let ids: BTreeSet<&str> = from.keys().chain(to.keys()).copied().collect();
    let mut moved: Vec<Moved> = ids
        .into_iter()
        .map(|id| Moved { id: id.to_string(), from: from.get(id).copied(), to: to.get(id).copied() })
        .filter(|moved| moved.from != moved.to)
        .collect();
    let or_last = |rank: Option<usize>| rank.unwrap_or(usize::MAX);
    moved.sort_by_key(|moved| (or_last(moved.from).min(or_last(moved.to)), or_last(moved.from)));
    moved
}
