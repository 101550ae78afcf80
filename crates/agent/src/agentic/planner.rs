//! Plans by rules: the request as it is; then, where no model reads whole texts, the request as the lake spells its words.
//!
//! Parts of a request, common words left out, words that the best tables share: by rules each of them moved nDCG@10 by at most .003
//! (eval/variants.md), so none is searched.

use super::agents::{Earlier, Fault, Planner};
use super::artifact::Artifact;
use super::key_of;
use super::plan::{PlannedQuery, QUERY_CHARS, QueryPlan};
use super::search_goal::SearchGoal;
use lakeward_core::error::Result;
use lakeward_index::LakeIndex;

/// Words of a request that are looked at one by one.
const MOST_WORDS: usize = 64;
/// Words are searched by their neighbour where no table has them, at most so many.
const MOST_CORRECTED: usize = 4;

/// The rules.
pub struct RulePlanner<'a> {
    index: &'a LakeIndex,
}

impl<'a> RulePlanner<'a> {
    /// Plans searches of a lake.
    pub fn new(index: &'a LakeIndex) -> Self {
        Self { index }
    }

    /// The request with words of the lake in place of those that no table has.
    fn corrected(&self, words: &str) -> Result<Option<PlannedQuery>> {
        let mut text = Vec::new();
        let mut corrected = 0;
        for (word, rarity) in self.index.lexical().informative_words(words, MOST_WORDS)? {
            let near = if rarity.tables == 0 && corrected < MOST_CORRECTED {
                self.index.lexical().nearest_words(&word)?.into_iter().next()
            } else {
                None
            };
            corrected += usize::from(near.is_some());
            text.push(near.map_or(word, |(.., near)| near));
        }
        let text = super::shortened(&text.join(" "), QUERY_CHARS);
        Ok((corrected > 0).then(|| PlannedQuery::new(text, "words that no table has, as the lake spells them")))
    }
}

impl Planner for RulePlanner<'_> {
    fn version(&self) -> String {
        "rules@2".into()
    }

    fn plan(&self, goal: &SearchGoal, earlier: Option<&Earlier<'_>>) -> Result<Option<String>, Fault> {
        let query = match earlier {
            None => Some(PlannedQuery::new(&goal.words, "the request as it is")),
            // Who reads whole texts takes misspelt words as they are meant.
            Some(_) if goal.likely.is_some() => None,
            Some(_) => self.corrected(&goal.words)?,
        };
        let searched = |query: &PlannedQuery| {
            let mut queries = earlier.iter().flat_map(|earlier| earlier.plans).flat_map(|plan| &plan.queries);
            queries.any(|known| key_of(&known.text) == key_of(&query.text))
        };
        let plan = |query| QueryPlan { queries: vec![query], must_have: goal.must_have.clone() }.to_json();
        Ok(query.filter(|query| !searched(query)).map(plan))
    }
}
