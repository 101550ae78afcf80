//! The final order: Lakeward's own linear ranker for the request itself, with the fused ranks as a prior; and a model's order of the first
//! of them, listwise.

use std::collections::BTreeMap;

use super::agents::{Fault, Reranker};
use super::artifact::Artifact;
use super::candidate_set::CandidateSet;
use super::card::{Card, Found};
use super::listwise::{self, OrderRequest};
use super::ranking::{FinalRanking, RankedId};
use super::report::REASON_CHARS;
use super::search_goal::SearchGoal;
use super::shortened;
use lakeward_core::error::Result;
use lakeward_core::request::{Intention, Label, OperationKind};
use lakeward_index::{LakeIndex, TableRef};
use lakeward_models::embed::Embedder;
use lakeward_models::llm::config::Share;
use lakeward_models::llm::listwise::Order;
use lakeward_models::llm::{LanguageModel, PromptUse};
use lakeward_search::text_search::rank;
use lakeward_search::weights::RerankWeights;
use lakeward_search::{RankingWeights, SearchAnswer};

/// Words of a request that are counted.
const MOST_WORDS: usize = 64;

/// Candidates that a model puts in order: a bound of its work.
const LISTED: usize = 30;

/// A candidate as the rules rank it.
pub(super) struct Ranked {
    exact: bool,
    score: f64,
    answer: SearchAnswer,
}

/// The rules.
#[derive(Clone, Copy)]
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

    /// The candidates, best first; one called exactly as the request says stands first whatever it scores.
    pub(super) fn ranked(&self, goal: &SearchGoal, candidates: &CandidateSet) -> Result<Vec<Ranked>> {
        let mut tables: Vec<TableRef> = Vec::with_capacity(candidates.candidates.len());
        let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
        let best = candidates.candidates.first().map_or(1.0, |found| found.score).max(f64::MIN_POSITIVE);
        for found in &candidates.candidates {
            tables.push(self.index.find(&found.id)?);
            shares.insert(&found.id, found.score / best);
        }
        let answers = rank(self.index, self.embedder, &goal.words, &tables, self.weights)?;
        let words = self.index.lexical().informative_words(&goal.words, MOST_WORDS)?.len().max(1);
        let RerankWeights { prior, fading } = self.weights.rerank;
        let weight = prior / (words as f64).powf(fading);
        let of_rules = |answer: SearchAnswer| {
            let share = shares.get(answer.table.as_str()).copied().unwrap_or_default();
            let exact = answer.matched.iter().any(|matched| matched.exact);
            Ranked { exact, score: answer.score + weight * share, answer }
        };
        let mut ranked: Vec<Ranked> = answers.into_iter().map(of_rules).collect();
        ranked.sort_by(|a, b| {
            let by_score = b.exact.cmp(&a.exact).then(b.score.total_cmp(&a.score));
            by_score.then_with(|| a.answer.table.cmp(&b.answer.table))
        });
        Ok(ranked)
    }

    /// What a model is told of a candidate.
    pub(super) fn card(&self, ranked: &Ranked, share: Share) -> Result<Card> {
        let dataset = self.index.dataset(self.index.find(&ranked.answer.table)?)?;
        Ok(Card::of(&dataset, Found { search: Some(&ranked.answer), ..Found::default() }, share))
    }

    /// `ranked`, its first in a model's `order` as far as that weighs, 0..=1.
    pub(super) fn fused(&self, ranked: &[Ranked], order: &Order, weight: f64) -> FinalRanking {
        let scores: Vec<f64> = ranked.iter().take(order.places.len()).map(|ranked| ranked.score).collect();
        let first = order.fused(&scores, weight);
        let all = first.iter().map(|place| &ranked[*place]).chain(&ranked[first.len()..]);
        in_order(all)
    }
}

/// These candidates in this order: their scores never rise again.
fn in_order<'r>(ranked: impl DoubleEndedIterator<Item = &'r Ranked>) -> FinalRanking {
    let mut ranking = FinalRanking::default();
    let mut least = f64::NEG_INFINITY;
    for Ranked { score, answer, .. } in ranked.rev() {
        least = least.max(*score);
        ranking.reasons.insert(answer.table.clone(), shortened(&answer.reason, REASON_CHARS));
        ranking.ranking.push(RankedId { id: answer.table.clone(), score: least });
    }
    ranking.ranking.reverse();
    ranking
}

impl Reranker for RuleReranker<'_> {
    fn version(&self) -> String {
        "rules@1".into()
    }

    fn rerank(&self, goal: &SearchGoal, candidates: &CandidateSet) -> Result<String, Fault> {
        Ok(in_order(self.ranked(goal, candidates)?.iter()).to_json())
    }
}

/// A model that puts the first candidates of the rules in order.
pub struct ModelReranker<'a> {
    model: &'a LanguageModel<'a>,
    rules: RuleReranker<'a>,
    share: Share,
    weight: f64,
}

impl<'a> ModelReranker<'a> {
    /// A model that sees `share` of the candidates, and whose order counts `weight` beside that of `rules`, 0..=1.
    pub fn new(model: &'a LanguageModel<'a>, rules: RuleReranker<'a>, (share, weight): (Share, f64)) -> Self {
        Self { model, rules, share, weight }
    }
}

impl Reranker for ModelReranker<'_> {
    fn version(&self) -> String {
        let (id, prompt) = (self.model.id(), self.model.prompt_id(PromptUse::Rerank));
        format!("{id} {prompt} weighing {} over {}", self.weight, self.rules.version())
    }

    fn rerank(&self, goal: &SearchGoal, candidates: &CandidateSet) -> Result<String, Fault> {
        let ranked = self.rules.ranked(goal, candidates)?;
        let first = &ranked[..ranked.len().min(LISTED)];
        if first.len() < 2 || self.weight <= 0.0 {
            return Ok(in_order(ranked.iter()).to_json());
        }
        let cards: Vec<Card> = first.iter().map(|ranked| self.rules.card(ranked, self.share)).collect::<Result<_>>()?;
        let asked = OrderRequest {
            request: &goal.request,
            earlier: &[],
            operation: OperationKind::Filter.name(),
            intention: Intention::Exploration.name(),
            specification: serde_json::json!({}),
            table: serde_json::Value::Null,
        };
        let order = listwise::order(self.model, &asked, &cards)?;
        Ok(self.rules.fused(&ranked, &order, self.weight).to_json())
    }
}
