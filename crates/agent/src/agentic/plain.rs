//! What a plain search found, as the first iteration of a run: its verdict says whether anything more is searched.

use super::candidate_set::{
    CandidateSet, ChannelList, FoundTable, ListRank, MOST_CANDIDATES, MOST_COLUMNS, MOST_MATCHED, NAME_CHARS,
};
use super::evaluator::RuleEvaluator;
use super::plan::{PlannedQuery, QueryPlan};
use super::search_goal::SearchGoal;
use super::shortened;
use super::trace::IterationTrace;
use lakeward_core::error::Result;
use lakeward_index::LakeIndex;
use lakeward_search::weights::SufficiencyWeights;
use lakeward_search::{SearchAnswer, SearchedText};

/// The plan, lists, order and verdict of a plain search for the words of `goal`, which asked each channel for `depth` tables. The lists
/// are what words and meaning found of its answers, with their scores; candidates are scored by all evidence, not by fused ranks.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn plain_search(
    index: &LakeIndex,
    goal: &SearchGoal,
    searched: &SearchedText,
    depth: usize,
    weights: SufficiencyWeights,
) -> Result<IterationTrace> {
    let goal = goal.bounded();
    let query = PlannedQuery::new(&goal.words, "the request as it is");
    let plan = QueryPlan { queries: vec![query], must_have: goal.must_have.clone() };
    let answers = &searched.answers[..searched.answers.len().min(MOST_CANDIDATES)];
    let list = |channel: &str, rank_of: &dyn Fn(&SearchAnswer) -> Option<(u32, f64)>| {
        let mut found: Vec<(u32, &str, f64)> = answers
            .iter()
            .filter_map(|answer| rank_of(answer).map(|(rank, score)| (rank, answer.table.as_str(), score)))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(b.1)));
        let hits = found.into_iter().map(|(_, id, score)| (id.to_string(), score)).collect();
        let (query, channel) = (goal.words.clone(), channel.to_string());
        ChannelList { query, channel, depth, weight: 1.0, hits, problem: None }
    };
    let by_words = list("words", &|answer| Some((answer.lexical_rank?, answer.lexical_score.unwrap_or_default())));
    let by_meaning = list("meaning", &|answer| Some((answer.dense_rank?, answer.cosine)));
    let channels = vec![by_words, by_meaning];
    let mut candidates: Vec<FoundTable> = answers
        .iter()
        .map(|answer| {
            let rank_in = |(list, of): (usize, &ChannelList)| {
                let place = of.hits.iter().position(|(id, _)| *id == answer.table)?;
                Some(ListRank { list, rank: place + 1 })
            };
            let words = answer.matched.iter().filter(|matched| !matched.exact).flat_map(|matched| &matched.words);
            let mut matched: Vec<String> = words.map(|word| shortened(word, NAME_CHARS)).collect();
            matched.sort();
            matched.dedup();
            matched.truncate(MOST_MATCHED);
            FoundTable {
                id: answer.table.clone(),
                title: shortened(&answer.title, NAME_CHARS),
                columns: answer.columns.iter().take(MOST_COLUMNS).map(|name| shortened(name, NAME_CHARS)).collect(),
                score: answer.score,
                ranks: channels.iter().enumerate().filter_map(rank_in).collect(),
                matched,
            }
        })
        .collect();
    // A table called exactly so stands first whatever it scores: scores never rise again.
    let mut least = f64::NEG_INFINITY;
    for found in candidates.iter_mut().rev() {
        least = least.max(found.score);
        found.score = least;
    }
    let candidates = CandidateSet { candidates, channels };
    let report = RuleEvaluator::new(index, weights).report(&goal, &plan, &candidates)?;
    Ok(IterationTrace { plan, candidates, report })
}
