//! Plans by rules: first the request and its parts; then, by what the report says, other words for it.

use std::collections::BTreeSet;

use super::agents::{Earlier, Fault, Planner};
use super::artifact::Artifact;
use super::key_of;
use super::plan::{MOST_QUERIES, PlannedQuery, QueryPlan};
use super::search_goal::{Rules, SearchGoal};
use lakeward_core::error::Result;
use lakeward_index::LakeIndex;
use lakeward_index::lexical::WordRarity;

/// Words of a request that are looked at one by one.
const MOST_WORDS: usize = 64;
/// Parts of a request that are searched by themselves.
const MOST_PARTS: usize = 3;
/// A part says at least so many words.
const WORDS_OF_A_PART: usize = 2;
/// What stands between the parts of a request.
const BETWEEN_PARTS: [&str; 9] =
    [" along with ", " together with ", " as well as ", " with their ", " and their ", " and ", " with ", "; ", ", "];
/// Words this much less rare than the rarest are left out of a shorter query.
const GENERIC: f64 = 0.55;
/// Shared words added to a query.
const MOST_SHARED: usize = 5;
/// Words are searched by their neighbour where no table has them, at most so many.
const MOST_CORRECTED: usize = 4;

/// The rules.
pub struct RulePlanner<'a> {
    index: &'a LakeIndex,
    rules: Rules,
}

impl<'a> RulePlanner<'a> {
    /// Plans searches of a lake.
    pub fn new(index: &'a LakeIndex, rules: Rules) -> Self {
        Self { index, rules }
    }

    fn first(&self, sought: &SearchGoal) -> Result<QueryPlan> {
        let mut queries = vec![PlannedQuery::new(&sought.words, "the request as it is")];
        if self.rules.decompose {
            let mut seen = BTreeSet::from([key_of(&sought.words)]);
            for part in self.parts(&sought.words)? {
                if seen.insert(key_of(&part)) {
                    queries.push(PlannedQuery::new(part, "a part of the request"));
                }
            }
        }
        queries.truncate(1 + MOST_PARTS);
        Ok(QueryPlan { queries, must_have: sought.must_have.clone() })
    }

    /// The parts of a text that name several things; none where it names one.
    fn parts(&self, text: &str) -> Result<Vec<String>> {
        let mut parts = vec![text.to_string()];
        for between in BETWEEN_PARTS {
            parts = parts.iter().flat_map(|part| part.split(between)).map(str::to_string).collect();
        }
        let mut informative = Vec::new();
        for part in parts {
            let words = self.index.lexical().informative_words(&part, MOST_WORDS)?;
            if words.len() >= WORDS_OF_A_PART && words.iter().any(|(_, word)| word.tables > 0) {
                informative.push(part.trim().to_string());
            }
        }
        Ok(if informative.len() > 1 { informative } else { Vec::new() })
    }

    fn revised(&self, sought: &SearchGoal, earlier: &Earlier<'_>) -> Result<Vec<PlannedQuery>> {
        let words = self.index.lexical().informative_words(&sought.words, MOST_WORDS)?;
        let signals = &earlier.report.signals;
        let mut queries = Vec::new();
        if self.rules.rewrite {
            queries.extend(self.corrected(&words)?);
            if !signals.expansions.is_empty() {
                let text = words.iter().map(|(word, _)| {
                    let known = signals.expansions.iter().find(|(short, _)| short == word);
                    known.map_or(word.as_str(), |(_, long)| long.as_str())
                });
                queries.push(PlannedQuery::new(joined(text), "abbreviations in full"));
            }
            if let Some(core) = core(&words) {
                queries.push(PlannedQuery::new(core, "the informative words alone"));
            }
            let missing: Vec<&str> = earlier.report.missing.iter().map(String::as_str).collect();
            if !missing.is_empty() {
                queries.push(PlannedQuery::new(missing.join(" "), "what no good candidate covers"));
            }
        }
        if self.rules.feedback && !signals.shared.is_empty() {
            let shared = signals.shared.iter().take(MOST_SHARED).map(String::as_str);
            let text = joined(words.iter().map(|(word, _)| word.as_str()).chain(shared));
            queries.push(PlannedQuery::new(text, "with words that the best tables share"));
        }
        Ok(queries)
    }

    /// The request with words of the lake in place of those that no table has.
    fn corrected(&self, words: &[(String, WordRarity)]) -> Result<Option<PlannedQuery>> {
        let mut text = Vec::new();
        let mut corrected = 0;
        for (word, rarity) in words {
            let near = if rarity.tables == 0 && corrected < MOST_CORRECTED {
                self.index.lexical().nearest_words(word, 1)?
            } else {
                Vec::new()
            };
            corrected += near.len();
            text.push(near.into_iter().next().unwrap_or_else(|| word.clone()));
        }
        let text = joined(text.iter().map(String::as_str));
        Ok((corrected > 0).then(|| PlannedQuery::new(text, "words that no table has, as the lake spells them")))
    }
}

/// The rare words among `words`, where there are common ones to leave out.
fn core(words: &[(String, WordRarity)]) -> Option<String> {
    let known = || words.iter().filter(|(_, word)| word.tables > 0);
    let rarest = known().map(|(_, word)| word.rarity).fold(0.0, f64::max);
    let core: Vec<&str> =
        known().filter(|(_, word)| word.rarity >= GENERIC * rarest).map(|(word, _)| word.as_str()).collect();
    (core.len() > 1 && core.len() < words.len()).then(|| core.join(" "))
}

fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    super::shortened(&words.collect::<Vec<_>>().join(" "), super::plan::QUERY_CHARS)
}

impl Planner for RulePlanner<'_> {
    fn version(&self) -> String {
        "rules@1".into()
    }

    fn plan(&self, sought: &SearchGoal, earlier: Option<&Earlier<'_>>) -> Result<Option<String>, Fault> {
        let Some(earlier) = earlier else { return Ok(Some(self.first(sought)?.to_json())) };
        let mut seen: BTreeSet<String> =
            earlier.plans.iter().flat_map(|plan| &plan.queries).map(|query| key_of(&query.text)).collect();
        let mut queries = self.revised(sought, earlier)?;
        queries.retain(|query| !query.text.trim().is_empty() && seen.insert(key_of(&query.text)));
        queries.truncate(MOST_QUERIES);
        let plan = QueryPlan { queries, must_have: sought.must_have.clone() };
        Ok((!plan.queries.is_empty()).then(|| plan.to_json()))
    }
}
