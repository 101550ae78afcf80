//! The artifact of the retriever: the tables found so far, and the lists that they come from.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::artifact::{Artifact, Malformed, at_most, read, short};
use super::plan::QUERY_CHARS;

/// Candidates at the most.
pub const MOST_CANDIDATES: usize = 100;
/// Tables of one channel's list at the most.
pub const MOST_HITS: usize = 100;
/// Lists at the most: of all queries and channels of a run.
pub const MOST_LISTS: usize = 128;
/// Columns told of a candidate at the most.
pub const MOST_COLUMNS: usize = 60;
/// Characters of a title or a column's name at the most.
pub const NAME_CHARS: usize = 200;
/// Words told as matched at the most.
pub const MOST_MATCHED: usize = 64;

/// The tables found so far, and the lists that they come from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CandidateSet {
    /// Best first, by reciprocal rank fusion of `channels`, ties by id.
    pub candidates: Vec<FoundTable>,
    /// What each channel found for each query, in the order of the searches.
    pub channels: Vec<ChannelList>,
}

/// A table found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FoundTable {
    /// Its id.
    pub id: String,
    /// Its title, cut to [`NAME_CHARS`].
    pub title: String,
    /// Its first columns' names.
    pub columns: Vec<String>,
    /// Sum of weight / (60 + rank) over the lists that have it.
    pub score: f64,
    /// Where it stands in them.
    pub ranks: Vec<ListRank>,
    /// Words of the request that it holds anywhere.
    pub matched: Vec<String>,
}

/// A place in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRank {
    /// The list, as a place in [`CandidateSet::channels`].
    pub list: usize,
    /// The rank in it, from 1.
    pub rank: usize,
}

/// What one channel found for one query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelList {
    /// The query.
    pub query: String,
    /// The channel's name.
    pub channel: String,
    /// Tables asked for.
    pub depth: usize,
    /// How much the list counts in the fusion.
    pub weight: f64,
    /// Tables with the channel's own scores, best first.
    pub hits: Vec<(String, f64)>,
    /// Why it has none, where the channel failed.
    pub problem: Option<String>,
}

impl CandidateSet {
    /// The set that `text` is; `is_table` says whether a table of an id is in the catalogue.
    ///
    /// # Errors
    /// [`Malformed`], also for unknown ids, a table that stands twice, and numbers that are none.
    pub fn accept(text: &str, is_table: &dyn Fn(&str) -> bool) -> Result<Self, Malformed> {
        let set: Self = read(text)?;
        set.check(is_table)?;
        Ok(set)
    }

    fn check(&self, is_table: &dyn Fn(&str) -> bool) -> Result<(), Malformed> {
        at_most::<Self>("candidates", self.candidates.len(), MOST_CANDIDATES)?;
        at_most::<Self>("lists", self.channels.len(), MOST_LISTS)?;
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for list in &self.channels {
            at_most::<Self>("tables in a list", list.hits.len(), MOST_HITS)?;
            short::<Self>("a query", &list.query, QUERY_CHARS)?;
            short::<Self>("a channel's name", &list.channel, NAME_CHARS)?;
            if !(list.weight.is_finite() && list.weight >= 0.0) {
                return Err(Self::malformed(format!("a list weighs {}", list.weight)));
            }
            let mut seen = BTreeSet::new();
            for (id, score) in &list.hits {
                if !score.is_finite() {
                    return Err(Self::malformed("a score is no number"));
                }
                if !seen.insert(id.as_str()) {
                    return Err(Self::malformed(format!("`{}` stands twice in a list", super::shortened(id, 80))));
                }
                if known.insert(id) && !is_table(id) {
                    return Err(Self::malformed(format!("there is no table `{}`", super::shortened(id, 80))));
                }
            }
        }
        let mut seen = BTreeSet::new();
        for found in &self.candidates {
            let shown = super::shortened(&found.id, 80);
            if !seen.insert(found.id.as_str()) {
                return Err(Self::malformed(format!("`{shown}` stands twice")));
            }
            if !known.contains(found.id.as_str()) {
                return Err(Self::malformed(format!("no list has `{shown}`")));
            }
            if !found.score.is_finite() {
                return Err(Self::malformed("a score is no number"));
            }
            at_most::<Self>("columns", found.columns.len(), MOST_COLUMNS)?;
            at_most::<Self>("matched words", found.matched.len(), MOST_MATCHED)?;
            short::<Self>("a title", &found.title, NAME_CHARS)?;
            for name in found.columns.iter().chain(&found.matched) {
                short::<Self>("a name", name, NAME_CHARS)?;
            }
            for ListRank { list, rank } in &found.ranks {
                let there = self.channels.get(*list).and_then(|list| list.hits.get(rank.checked_sub(1)?));
                if there.is_none_or(|(id, _)| *id != found.id) {
                    return Err(Self::malformed(format!("`{shown}` does not stand where it says")));
                }
            }
        }
        if !self.candidates.is_sorted_by(|a, b| a.score >= b.score) {
            return Err(Self::malformed("its candidates are not in the order of their scores"));
        }
        Ok(())
    }

    /// The ids in their order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.candidates.iter().map(|found| found.id.as_str())
    }
}
