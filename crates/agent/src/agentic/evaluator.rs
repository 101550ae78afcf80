//! Evaluation by rules: numbers that can be measured of the candidates, and thresholds on them.

use std::collections::BTreeSet;

use super::agents::{Evaluator, Fault};
use super::artifact::Artifact;
use super::candidate_set::{CandidateSet, FoundTable};
use super::key_of;
use super::plan::{CONSTRAINT_CHARS, QueryPlan};
use super::report::{EvaluationReport, MOST_MISSING, Signals};
use super::search_goal::SearchGoal;
use super::shortened;
use lakeward_core::error::Result;
use lakeward_core::text::name_words;
use lakeward_index::LakeIndex;
use lakeward_index::lexical::WordRarity;
use lakeward_search::weights::SufficiencyWeights;

/// "The first" of a list.
const FIRST: usize = 10;
/// Words of a request that are looked at.
const MOST_WORDS: usize = 64;

/// The rules.
pub struct RuleEvaluator<'a> {
    index: &'a LakeIndex,
    weights: SufficiencyWeights,
}

impl<'a> RuleEvaluator<'a> {
    /// Judges candidates of a lake.
    pub fn new(index: &'a LakeIndex, weights: SufficiencyWeights) -> Self {
        Self { index, weights }
    }

    /// The report on `candidates`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
    pub fn report(&self, goal: &SearchGoal, plan: &QueryPlan, candidates: &CandidateSet) -> Result<EvaluationReport> {
        let words = self.index.lexical().informative_words(&goal.words, MOST_WORDS)?;
        let first = &candidates.candidates[..candidates.candidates.len().min(FIRST)];
        let unmet: Vec<&String> =
            plan.must_have.iter().filter(|constraint| !first.iter().any(|found| meets(found, constraint))).collect();
        let mut signals = of_lists(goal, candidates);
        signals.candidates = candidates.candidates.len();
        signals.diversity = diversity(first);
        of_words(&words, first, &mut signals);
        let constraints = plan.must_have.len().max(1) as f64;
        signals.constraints_met = 1.0 - unmet.len() as f64 / constraints;
        signals.relevance = goal.likely;
        // What very likely serves need not say the request's own words.
        let serves = goal.likely.is_some_and(|likely| likely >= self.weights.likely);
        let uncovered = words.iter().filter(|(word, rarity)| {
            let telling = !serves && rarity.tables > 0 && rarity.rarity >= self.weights.telling;
            telling && !first.iter().any(|found| found.matched.contains(word))
        });
        let missing = unmet.into_iter().chain(uncovered.map(|(word, _)| word)).filter(|text| !text.trim().is_empty());
        let mut missing: Vec<String> = missing.map(|text| shortened(text, CONSTRAINT_CHARS)).collect();
        missing.truncate(MOST_MISSING);
        let (sufficient, reason) = verdict(&signals, &missing, &self.weights);
        Ok(EvaluationReport { sufficient, missing, reason, signals })
    }
}

impl Evaluator for RuleEvaluator<'_> {
    fn version(&self) -> String {
        "rules@2".into()
    }

    fn evaluate(&self, goal: &SearchGoal, plan: &QueryPlan, candidates: &CandidateSet) -> Result<String, Fault> {
        Ok(self.report(goal, plan, candidates)?.to_json())
    }
}

fn verdict(signals: &Signals, missing: &[String], weights: &SufficiencyWeights) -> (bool, String) {
    if signals.candidates == 0 {
        return (false, "nothing was found".into());
    }
    if !missing.is_empty() {
        let shown: Vec<&str> = missing.iter().take(5).map(String::as_str).collect();
        return (false, shortened(&format!("no good candidate holds {}", shown.join(", ")), 400));
    }
    if let Some(relevance) = signals.relevance {
        return (relevance >= weights.likely, format!("the best answer serves with a likelihood of {relevance:.2}"));
    }
    if signals.best_coverage < weights.coverage {
        let share = 100.0 * signals.best_coverage;
        return (false, format!("no candidate holds more than {share:.0}% of what was asked"));
    }
    if signals.agreement < weights.agreement {
        return (false, format!("the channels share {:.0}% of their first tables", 100.0 * signals.agreement));
    }
    (true, format!("a candidate holds {:.0}% of what was asked", 100.0 * signals.best_coverage))
}

/// What the lists of the request itself say.
fn of_lists(goal: &SearchGoal, candidates: &CandidateSet) -> Signals {
    let own = key_of(&goal.words);
    let lists: Vec<&[(String, f64)]> = candidates
        .channels
        .iter()
        .filter(|list| key_of(&list.query) == own && list.problem.is_none())
        .map(|list| list.hits.as_slice())
        .collect();
    let mut signals = Signals::default();
    let scored: Vec<&&[(String, f64)]> =
        lists.iter().filter(|list| list.first().is_some_and(|best| best.1 > 0.0)).collect();
    for list in &scored {
        let best = list[0].1;
        let last = list[list.len().min(FIRST) - 1].1;
        let mean = list.iter().map(|(_, score)| score).sum::<f64>() / list.len() as f64;
        signals.drop += ((best - last) / best).clamp(0.0, 1.0) / scored.len() as f64;
        signals.gap += ((best - mean) / best).clamp(0.0, 1.0) / scored.len() as f64;
    }
    signals.drop = signals.drop.min(1.0);
    signals.gap = signals.gap.min(1.0);
    let first: Vec<BTreeSet<&str>> =
        lists.iter().map(|list| list.iter().take(FIRST).map(|(id, _)| id.as_str()).collect()).collect();
    let mut best: f64 = if first.len() < 2 { 1.0 } else { 0.0 };
    for (place, one) in first.iter().enumerate() {
        for other in &first[place + 1..] {
            let most = one.len().min(other.len()).max(1);
            best = best.max(one.intersection(other).count() as f64 / most as f64);
        }
    }
    signals.agreement = best;
    signals
}

fn of_words(words: &[(String, WordRarity)], first: &[FoundTable], signals: &mut Signals) {
    let weight = |(_, rarity): &(String, WordRarity)| rarity.rarity;
    let total: f64 = words.iter().map(weight).sum();
    let share = |held: &dyn Fn(&str) -> bool| {
        let sum: f64 = words.iter().filter(|(word, _)| held(word)).map(weight).sum();
        if total > 0.0 { (sum / total).min(1.0) } else { 0.0 }
    };
    let holds = |found: &FoundTable, word: &str| found.matched.iter().any(|matched| matched == word);
    signals.coverage = share(&|word| first.iter().any(|found| holds(found, word)));
    signals.best_coverage = first.iter().map(|found| share(&|word| holds(found, word))).fold(0.0, f64::max);
    let held: Vec<f64> =
        words.iter().filter(|(word, _)| first.iter().any(|found| holds(found, word))).map(weight).collect();
    signals.genericity = match held.len() {
        0 => 1.0,
        count => (1.0 - held.iter().sum::<f64>() / count as f64).clamp(0.0, 1.0),
    };
    let unknown = words.iter().filter(|(_, rarity)| rarity.tables == 0).count();
    signals.unknown = unknown as f64 / words.len().max(1) as f64;
}

/// Whether title, column names and matched words of a table hold all words of a constraint.
fn meets(found: &FoundTable, constraint: &str) -> bool {
    let said = || found.columns.iter().chain(&found.matched).chain([&found.title]);
    let held: BTreeSet<String> = said().flat_map(|text| name_words(text)).collect();
    name_words(constraint).iter().all(|word| held.contains(word))
}

/// 1 - mean Jaccard likeness of the words of title and columns, over all pairs.
fn diversity(first: &[FoundTable]) -> f64 {
    let words: Vec<BTreeSet<String>> = first
        .iter()
        .map(|found| found.columns.iter().chain([&found.title]).flat_map(|text| name_words(text)).collect())
        .collect();
    let (mut sum, mut pairs) = (0.0, 0usize);
    for (place, one) in words.iter().enumerate() {
        for other in &words[place + 1..] {
            let shared = one.intersection(other).count();
            let either = one.len() + other.len() - shared;
            sum += shared as f64 / either.max(1) as f64;
            pairs += 1;
        }
    }
    if pairs == 0 { 1.0 } else { (1.0 - sum / pairs as f64).clamp(0.0, 1.0) }
}
