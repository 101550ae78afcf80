//! Retrieval by rules: how deep each channel is searched, how much each list counts ([`Retrieval`]), and the fusion of all lists.

use std::collections::{BTreeMap, BTreeSet};

use super::agents::{Allowance, Fault, Retriever};
use super::artifact::Artifact;
use super::candidate_set::{
    CandidateSet, ChannelList, FoundTable, ListRank, MOST_CANDIDATES, MOST_COLUMNS, MOST_LISTS, MOST_MATCHED,
    NAME_CHARS,
};
use super::channel::ChannelKind;
use super::clock::Moment;
use super::plan::QueryPlan;
use super::search_goal::{Retrieval, SearchGoal};
use super::{key_of, shortened};
use lakeward_core::error::{Error, Result};
use lakeward_index::{LakeIndex, TableRef};
use lakeward_search::fuse::reciprocal_rank_fusion;
use lakeward_search::weights::FusionWeights;

/// Words of a query that are looked at.
const MOST_WORDS: usize = 64;

/// The rules.
pub struct RuleRetriever<'a> {
    index: &'a LakeIndex,
    settings: Retrieval,
}

impl<'a> RuleRetriever<'a> {
    /// Searches a lake.
    pub fn new(index: &'a LakeIndex, settings: Retrieval) -> Self {
        Self { index, settings }
    }

    /// How much words and meaning count for a query.
    fn weights(&self, query: &str) -> Result<(f64, f64)> {
        let Retrieval { words: by_words, meaning, by_query, .. } = self.settings;
        let words = if by_query { self.index.lexical().informative_words(query, MOST_WORDS)? } else { Vec::new() };
        if words.is_empty() {
            return Ok((by_words, meaning));
        }
        let share = |of: &dyn Fn(&(String, lakeward_index::lexical::WordRarity)) -> bool| {
            words.iter().filter(|word| of(word)).count() as f64 / words.len() as f64
        };
        let unknown = share(&|(_, word)| word.tables == 0);
        let codes = if query.contains('"') { 1.0 } else { share(&|(word, _)| is_code(word)) };
        Ok((by_words + codes, meaning + unknown))
    }

    /// The first `depth` of `hits`, if all of them are tables of the lake with a score, each once: a channel may be
    /// written by others.
    fn believed(&self, mut hits: Vec<(String, f64)>, depth: usize) -> Result<Vec<(String, f64)>> {
        hits.truncate(depth);
        let mut seen = BTreeSet::new();
        for (id, score) in &hits {
            if !score.is_finite() || !seen.insert(id.as_str()) {
                return Err(Error::Internal(format!("`{}` has no score or stands twice", shortened(id, 80))));
            }
            if self.index.get(id)?.is_none() {
                return Err(Error::UnknownTable { name: shortened(id, 80), nearest: Vec::new() });
            }
        }
        Ok(hits)
    }

    /// The fused candidates of `lists`, with what is known of them.
    fn fused(&self, goal: &SearchGoal, lists: Vec<ChannelList>) -> Result<CandidateSet> {
        let rankings: Vec<(f64, Vec<&str>)> =
            lists.iter().map(|list| (list.weight, list.hits.iter().map(|(id, _)| id.as_str()).collect())).collect();
        let constant = FusionWeights { rank_constant: self.settings.rank_constant };
        let mut fused = reciprocal_rank_fusion(&rankings, &constant);
        fused.truncate(MOST_CANDIDATES);
        let mut ranks: BTreeMap<&str, Vec<ListRank>> = BTreeMap::new();
        for (list, (_, ids)) in rankings.iter().enumerate() {
            for (id, rank) in ids.iter().zip(1..) {
                ranks.entry(id).or_default().push(ListRank { list, rank });
            }
        }
        let mut tables: Vec<TableRef> = Vec::with_capacity(fused.len());
        for (id, _) in &fused {
            tables.push(self.index.find(id)?);
        }
        let places: Vec<(u32, u32)> = tables.iter().map(|table| (table.segment, table.table)).collect();
        let evidence = self.index.lexical_query(&goal.words)?.evidence(&places)?;
        let mut candidates = Vec::with_capacity(fused.len());
        for (((id, score), table), evidence) in fused.iter().zip(tables).zip(evidence) {
            let dataset = self.index.dataset(table)?;
            let columns = dataset.columns().iter().take(MOST_COLUMNS);
            let words = evidence.matched.iter().filter(|matched| !matched.exact).flat_map(|matched| &matched.words);
            let matched: BTreeSet<String> = words.map(|word| shortened(word, NAME_CHARS)).collect();
            candidates.push(FoundTable {
                id: (*id).to_string(),
                title: shortened(&dataset.title(), NAME_CHARS),
                columns: columns.map(|column| shortened(&column.name, NAME_CHARS)).collect(),
                score: *score,
                ranks: ranks.remove(id).unwrap_or_default(),
                matched: matched.into_iter().take(MOST_MATCHED).collect(),
            });
        }
        Ok(CandidateSet { candidates, channels: lists })
    }
}

/// Whether a word is an identifier or a number: it has digits, or capitals behind its first letter.
fn is_code(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_digit()) || word.chars().skip(1).any(char::is_uppercase)
}

impl Retriever for RuleRetriever<'_> {
    fn version(&self) -> String {
        "rules@2".into()
    }

    fn retrieve(
        &self,
        goal: &SearchGoal,
        plan: &QueryPlan,
        before: Option<&CandidateSet>,
        allowance: &Allowance<'_>,
    ) -> Result<String, Fault> {
        let mut lists: Vec<ChannelList> = before.map(|set| set.channels.clone()).unwrap_or_default();
        let own = key_of(&goal.words);
        let (mut searched, mut first_error) = (0, None);
        'plan: for query in &plan.queries {
            let is_request = key_of(&query.text) == own;
            let (words, meaning) = self.weights(&query.text)?;
            let depth = if is_request { self.settings.depth } else { self.settings.depth_of_others };
            for channel in allowance.channels {
                let at = Moment { iteration: allowance.iteration, step: searched };
                let may_go_on = lists.is_empty() || !allowance.clock.is_over(at);
                if searched >= allowance.tool_calls || lists.len() >= MOST_LISTS || !may_go_on {
                    break 'plan;
                }
                searched += 1;
                let of_kind = if channel.kind() == ChannelKind::Words { words } else { meaning };
                let of_query = if is_request { 1.0 } else { self.settings.others };
                let found = channel.search(&query.text, depth);
                let (hits, problem) = match found.and_then(|hits| self.believed(hits, depth)) {
                    Ok(hits) => (hits, None),
                    Err(error) => {
                        let problem = shortened(&error.to_string(), 300);
                        first_error.get_or_insert(error);
                        (Vec::new(), Some(problem))
                    }
                };
                lists.push(ChannelList {
                    query: query.text.clone(),
                    channel: channel.name().to_string(),
                    depth,
                    weight: of_query * of_kind * channel.weight(),
                    hits,
                    problem,
                });
            }
        }
        if lists.iter().all(|list| list.problem.is_some()) {
            return Err(first_error.unwrap_or_else(|| Error::Internal("nothing was searched".into())).into());
        }
        Ok(self.fused(goal, lists)?.to_json())
    }
}
