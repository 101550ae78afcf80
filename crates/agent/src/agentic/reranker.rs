//! The final order by rules: Lakeward's own linear ranker for the request itself, with the fused ranks as a prior.

use std::collections::BTreeMap;

use super::agents::{Fault, Reranker};
use super::artifact::Artifact;
use super::candidate_set::CandidateSet;
use super::ranking::{FinalRanking, RankedId};
use super::report::REASON_CHARS;
use super::search_goal::SearchGoal;
use super::shortened;
use lakeward_index::{LakeIndex, TableRef};
use lakeward_models::embed::Embedder;
use lakeward_search::RankingWeights;
use lakeward_search::text_search::rank;

/// How much the fused score, as a share of the best, counts beside the ranker's for a request of one word …
const PRIOR: f64 = 0.2;
/// … and how soon that fades, as a power of the number of words: what other queries found tells much of a request that says little.
/// The same weight for all requests gained on keywords (ACORDAR) and cost .02 on questions about cells (FeTaQA, OTT-QA).
const FADING: f64 = 1.5;
/// Words of a request that are counted.
const MOST_WORDS: usize = 64;

/// The rules.
pub struct RuleReranker<'a> {
    index: &'a LakeIndex,
    embedder: &'a dyn Embedder,
    weights: &'a RankingWeights,
}

impl<'a> RuleReranker<'a> {
    /// Ranks tables of a lake.
    pub fn new(index: &'a LakeIndex, embedder: &'a dyn Embedder, weights: &'a RankingWeights) -> Self {
        Self { index, embedder, weights }
    }
}

impl Reranker for RuleReranker<'_> {
    fn version(&self) -> String {
        "rules@1".into()
    }

    fn rerank(&self, sought: &SearchGoal, candidates: &CandidateSet) -> Result<String, Fault> {
        let mut tables: Vec<TableRef> = Vec::with_capacity(candidates.candidates.len());
        let mut prior: BTreeMap<&str, f64> = BTreeMap::new();
        let best = candidates.candidates.first().map_or(1.0, |found| found.score).max(f64::MIN_POSITIVE);
        for found in &candidates.candidates {
            tables.push(self.index.find(&found.id)?);
            prior.insert(&found.id, found.score / best);
        }
        let answers = rank(self.index, self.embedder, &sought.words, &tables, self.weights)?;
        let words = self.index.lexical().informative_words(&sought.words, MOST_WORDS)?.len().max(1);
        let weight = PRIOR / (words as f64).powf(FADING);
        let mut ranked: Vec<(bool, f64, String, String)> = answers
            .into_iter()
            .map(|answer| {
                let exact = answer.matched.iter().any(|matched| matched.exact);
                let prior = prior.get(answer.table.as_str()).copied().unwrap_or_default();
                (exact, answer.score + weight * prior, answer.table, answer.reason)
            })
            .collect();
        ranked.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then_with(|| a.2.cmp(&b.2)));
        let mut ranking = FinalRanking::default();
        // A table called exactly so stands first whatever it scores: scores never rise again.
        let mut least = f64::NEG_INFINITY;
        for (_, score, id, reason) in ranked.into_iter().rev() {
            least = least.max(score);
            ranking.reasons.insert(id.clone(), shortened(&reason, REASON_CHARS));
            ranking.ranking.push(RankedId { id, score: least });
        }
        ranking.ranking.reverse();
        Ok(ranking.to_json())
    }
}
