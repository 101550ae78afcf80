//! A language model with tools, as a baseline of conversations, after InteRecAgent (Huang et al., 2023): the model plans calls that look up
//! words, filter by a field, rank by text and read a record, all over one list of candidates, sees what they left, and plans again or
//! answers. Nothing of Lakeward's reading, memory or ranking is in it, and no memory beyond the turns themselves.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::benchmark::BenchQuery;
use super::llm_rag::{Records, turns_of, work_of};
use super::system::{Ranked, System};
use super::variant::system::VariantModel;
use super::variant::work::Work;
use lakeward_core::error::Result;
use lakeward_core::text::lower_words;
use lakeward_models::llm::quote::clean;
use lakeward_models::llm::{AnswerShape, LanguageModel, PromptUse, Refusal};

/// Its name.
pub const NAME: &str = "interec";
/// Plans of a turn, and calls of a plan.
const ROUNDS: usize = 3;
const CALLS: usize = 6;
/// Candidates that the model is shown of a call.
const SHOWN: usize = 15;
/// Values of a field that it is shown, and their characters.
const VALUES: usize = 5;
const VALUE: usize = 40;
/// Tokens of an answer.
const ANSWER_TOKENS: u32 = 700;

/// What the model asks for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    calls: Vec<Call>,
    ranking: Vec<String>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: Tool,
    field: String,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Tool {
    LookUp,
    Filter,
    Rank,
    Detail,
}

/// A model with tools over records.
pub struct InteRec<'a> {
    bm25: Box<dyn System + 'a>,
    records: Records,
    /// Words of each record.
    words: BTreeMap<String, Vec<String>>,
    /// Each field with some values.
    fields: Value,
    model: VariantModel<'a>,
}

impl<'a> InteRec<'a> {
    /// `model` with tools over `records`, which `bm25` ranks.
    pub fn new(bm25: Box<dyn System + 'a>, records: Records, model: VariantModel<'a>) -> Self {
        let mut words = BTreeMap::new();
        let mut shown: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (id, fields) in records.iter() {
            let mut said: Vec<String> = fields.values().flat_map(|text| lower_words(text)).collect();
            said.sort_unstable();
            said.dedup();
            words.insert(id.clone(), said);
            for (field, text) in fields {
                let values = shown.entry(field).or_default();
                let value = clean(text, VALUE);
                if values.len() < VALUES && !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        let fields = json!(shown);
        Self { bm25, words, fields, records, model }
    }

    /// Carries out `calls` over the whole catalogue: what each left, and the candidates after the last.
    fn carry_out(&self, query: &BenchQuery, calls: &[Call]) -> Result<(Vec<Value>, Vec<String>)> {
        let mut left: Vec<String> = self.words.keys().cloned().collect();
        let mut results = Vec::with_capacity(calls.len());
        for call in calls {
            let Call { tool, field, text } = call;
            match tool {
                Tool::LookUp => {
                    let wanted: Vec<String> = lower_words(text).collect();
                    left.retain(|id| wanted.iter().all(|word| self.words[id].binary_search(word).is_ok()));
                }
                Tool::Filter => {
                    let wanted = text.to_lowercase();
                    let has = |id: &String| {
                        self.records.field(id, field).is_some_and(|value| value.to_lowercase().contains(&wanted))
                    };
                    left.retain(has);
                }
                Tool::Rank => {
                    let query = BenchQuery { text: None, turns: vec![text.clone()], ..query.clone() };
                    let ranked = self.bm25.rank(&query, self.words.len())?;
                    let places: HashMap<&str, usize> =
                        ranked.iter().enumerate().map(|(place, ranked)| (ranked.id.as_str(), place)).collect();
                    left.sort_by_key(|id| places.get(id.as_str()).copied().unwrap_or(usize::MAX));
                }
                Tool::Detail => {
                    results.push(json!({"call": call, "record": self.records.card(text)}));
                    continue;
                }
            }
            let first = left.iter().take(SHOWN).map(|id| json!({"id": id, "title": self.records.title(id)}));
            results.push(json!({"call": call, "left": left.len(), "first": first.collect::<Value>()}));
        }
        // What nothing was asked of is in no order.
        if calls.iter().all(|call| call.tool == Tool::Detail) {
            left.clear();
        }
        Ok((results, left))
    }

    /// The model's next plan and order, where each id of the order stands in `results`.
    fn ask(
        &self,
        model: &LanguageModel<'_>,
        (earlier, request): (&[String], &str),
        results: &[Value],
        rounds_left: usize,
    ) -> Option<Answer> {
        let listed = results.iter().flat_map(|result| result["first"].as_array().into_iter().flatten());
        let known: Vec<&str> = listed.filter_map(|record| record["id"].as_str()).collect();
        let values = [
            ("earlier", json!(earlier)),
            ("request", json!(request)),
            ("fields", self.fields.clone()),
            ("results", json!(results)),
            ("rounds_left", json!(rounds_left)),
        ];
        let shape = AnswerShape { name: "plan_of_calls", schema: schema(), max_tokens: ANSWER_TOKENS };
        let accept = |answer: Answer| {
            let unknown = answer.ranking.iter().find(|id| !known.contains(&id.as_str()));
            let refused = match unknown {
                Some(id) => Some(format!("`{}` is not in results", clean(id, VALUE))),
                None if answer.calls.len() > CALLS => Some(format!("a plan has at most {CALLS} calls")),
                None => None,
            };
            refused.map_or(Ok(answer), |problem| Err(Refusal::new(problem)))
        };
        model.ask(PromptUse::Tools, &values, shape, accept).ok()
    }
}

impl System for InteRec<'_> {
    fn name(&self) -> &str {
        NAME
    }

    fn rank(&self, query: &BenchQuery, depth: usize) -> Result<Vec<Ranked>> {
        Ok(self.rank_with_work(query, depth)?.0)
    }

    /// The model's order before the candidates that its last plan left. Where it does not answer, that is all; [`Work::partial`] counts it.
    fn rank_with_work(&self, query: &BenchQuery, depth: usize) -> Result<(Vec<Ranked>, Option<Work>)> {
        let turns = turns_of(query);
        let Some((request, earlier)) = turns.split_last() else { return Ok((Vec::new(), None)) };
        let VariantModel { access, limits, .. } = self.model;
        let model = LanguageModel::new(access.chat, access.prompts, limits, access.cache);
        let (mut results, mut left, mut order) = (Vec::new(), Vec::new(), Vec::new());
        let (mut rounds, mut calls, mut partial) = (0, 0, false);
        for rounds_left in (0..=ROUNDS).rev() {
            let answer = self.ask(&model, (earlier, request), &results, rounds_left);
            partial = answer.is_none();
            let Some(answer) = answer else { break };
            order = answer.ranking;
            if answer.calls.is_empty() || rounds_left == 0 {
                break;
            }
            (results, left) = self.carry_out(query, &answer.calls)?;
            rounds += 1;
            calls += answer.calls.len();
        }
        let mut ids: Vec<String> = Vec::new();
        for id in order.into_iter().chain(left) {
            if ids.len() < depth && !ids.contains(&id) {
                ids.push(id);
            }
        }
        let ranked = ids.into_iter().enumerate().map(|(rank, id)| Ranked::new(id, 1.0 / (rank + 1) as f64)).collect();
        let work = Work { iterations: rounds, tool_calls: calls as u32, ..work_of(&model.spent(), partial) };
        Ok((ranked, Some(work)))
    }

    fn answers(&self, query: &BenchQuery) -> bool {
        self.bm25.answers(query)
    }
}

fn schema() -> Value {
    let text = json!({"type": "string"});
    let call = json!({
        "type": "object",
        "properties": {"tool": {"type": "string", "enum": ["look_up", "filter", "rank", "detail"]}, "field": text, "text": text},
        "required": ["tool", "field", "text"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {
            "calls": {"type": "array", "maxItems": CALLS, "items": call},
            "ranking": {"type": "array", "items": text},
        },
        "required": ["calls", "ranking"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm_rag::tests::answered;

    #[test]
    fn a_model_plans_calls_sees_what_they_leave_and_answers() {
        let texts = [("a", "hourly"), ("b", "daily"), ("c", "daily, and hourly before 1990")];
        let call = |tool: &str, field: &str, text: &str| json!({"tool": tool, "field": field, "text": text});
        let calls = json!([call("look_up", "", "Daily"), call("filter", "text", "HOURLY"), call("detail", "", "c")]);
        // The first prompt shows values of fields, the second what a call told of the record.
        let plans = |shown: &str| match shown.contains("description") {
            true => Some(json!({"calls": [], "ranking": ["c"]})),
            false => Some(json!({"calls": calls, "ranking": []})),
        };
        let (ids, work) = answered(&texts, plans, |bm25, records, model| Box::new(InteRec::new(bm25, records, model)));
        assert_eq!(ids, ["c"]);
        assert_eq!((work.iterations, work.tool_calls, work.model_calls, work.partial), (1, 3, 2, false));
        // What it was not shown it cannot put in order.
        let (ids, work) = answered(
            &texts,
            |_| Some(json!({"calls": [], "ranking": ["a"]})),
            |bm25, records, model| Box::new(InteRec::new(bm25, records, model)),
        );
        assert!(ids.is_empty() && work.partial);
    }
}
