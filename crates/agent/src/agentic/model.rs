//! Planner and evaluator that ask a language model. What it answers is checked here, where it can still be told what is wrong; the
//! boundary checks it again like any other artifact.

use serde::Deserialize;
use serde_json::{Value, json};

use super::agents::{Earlier, Evaluator, Fault, Planner};
use super::artifact::Artifact;
use super::candidate_set::CandidateSet;
use super::evaluator::RuleEvaluator;
use super::key_of;
use super::plan::{CONSTRAINT_CHARS, MOST_CONSTRAINTS, QueryPlan};
use super::report::{EvaluationReport, MOST_MISSING, REASON_CHARS, Signals};
use super::search_goal::SearchGoal;
use lakeward_index::LakeIndex;
use lakeward_models::llm::quote::clean;
use lakeward_models::llm::{AnswerShape, LanguageModel, PromptUse, Refusal};
use lakeward_search::cite::without_identifiers;
use lakeward_search::weights::SufficiencyWeights;

/// Queries that a model may write.
pub(super) const MOST_WRITTEN: usize = 4;
/// Candidates that a model is shown.
const SHOWN: usize = 8;
/// Characters of a title and a description.
const TITLE: usize = 90;
const DESCRIPTION: usize = 160;
/// Matched words of the request that it is shown of each.
const MATCHED_WORDS: usize = 16;
/// Tokens of a plan.
const PLAN_TOKENS: u32 = 400;
/// Tokens of a verdict.
const VERDICT_TOKENS: u32 = 250;

/// A planner that asks a model: it knows what it planned and what is said to be missing, not what was found.
pub struct ModelPlanner<'a> {
    model: &'a LanguageModel<'a>,
}

impl<'a> ModelPlanner<'a> {
    /// A planner that asks `model`.
    pub fn new(model: &'a LanguageModel<'a>) -> Self {
        Self { model }
    }
}

fn previous(earlier: &Earlier<'_>) -> Value {
    let queries: Vec<&str> =
        earlier.plans.iter().flat_map(|plan| &plan.queries).map(|query| query.text.as_str()).collect();
    let EvaluationReport { missing, reason, .. } = earlier.report;
    json!({"queries": queries, "report": {"missing": missing, "reason": reason}})
}

impl Planner for ModelPlanner<'_> {
    fn version(&self) -> String {
        format!("{} {}", self.model.id(), self.model.prompt_id(PromptUse::Plan))
    }

    fn plan(&self, goal: &SearchGoal, earlier: Option<&Earlier<'_>>) -> Result<Option<String>, Fault> {
        let values = [
            ("request", json!(goal.request)),
            ("memory", goal.memory.clone()),
            ("previous", earlier.map_or(Value::Null, previous)),
            ("most_queries", json!(MOST_WRITTEN)),
        ];
        let shape = AnswerShape { name: "query_plan", schema: plan_schema(), max_tokens: PLAN_TOKENS };
        let plan = self.model.ask(PromptUse::Plan, &values, shape, |plan: QueryPlan| sound_plan(goal, plan))?;
        Ok(Some(plan.to_json()))
    }
}

/// A plan of a model without what nobody asked for, and with all that is demanded.
pub(super) fn sound_plan(goal: &SearchGoal, mut plan: QueryPlan) -> Result<QueryPlan, Refusal> {
    if plan.queries.len() > MOST_WRITTEN {
        return Err(Refusal::new(format!("{} queries; at most {MOST_WRITTEN} are valid", plan.queries.len())));
    }
    // A query said twice is one query.
    let mut seen = std::collections::BTreeSet::new();
    plan.queries.retain(|query| !query.text.trim().is_empty() && seen.insert(key_of(&query.text)));
    // Data that nobody named is an invention, too.
    let memory = goal.memory.to_string();
    let invented = |text: &str| without_identifiers(text, &[&goal.request, &memory], &|_| false).1 > 0;
    plan.queries.retain(|query| !invented(&query.text) && !invented(&query.aim));
    // A constraint that nobody named is an invention; those that were named hold anyway.
    let known = [key_of(&goal.request), key_of(&memory)];
    plan.must_have.retain(|constraint| {
        let words = key_of(constraint);
        let named = |text: &String| format!(" {text} ").contains(&format!(" {words} "));
        !words.is_empty() && known.iter().any(named)
    });
    for constraint in &goal.must_have {
        if !plan.must_have.iter().any(|known| key_of(known) == key_of(constraint)) {
            plan.must_have.push(constraint.clone());
        }
    }
    plan.must_have.truncate(MOST_CONSTRAINTS);
    plan.check().map_err(|malformed| Refusal::new(malformed.problem))?;
    Ok(plan)
}

/// The JSON Schema of a query.
pub(super) fn query_schema() -> Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "properties": {"text": text, "aim": text},
        "required": ["text", "aim"],
        "additionalProperties": false,
    })
}

fn plan_schema() -> Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "properties": {
            "queries": {"type": "array", "minItems": 1, "maxItems": MOST_WRITTEN, "items": query_schema()},
            "must_have": {"type": "array", "maxItems": MOST_CONSTRAINTS, "items": text},
        },
        "required": ["queries", "must_have"],
        "additionalProperties": false,
    })
}

/// An evaluator that asks a model; what is measured is measured as ever.
pub struct ModelEvaluator<'a> {
    model: &'a LanguageModel<'a>,
    index: &'a LakeIndex,
    rules: RuleEvaluator<'a>,
}

/// What a model says of candidates.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Verdict {
    sufficient: bool,
    missing: Vec<String>,
    reason: String,
}

impl<'a> ModelEvaluator<'a> {
    /// Judges candidates of a lake.
    pub fn new(model: &'a LanguageModel<'a>, index: &'a LakeIndex, weights: SufficiencyWeights) -> Self {
        Self { model, index, rules: RuleEvaluator::new(index, weights) }
    }

    /// What the publishers of the best candidates say of them, quoted, and which words of the request they have.
    fn quoted(&self, candidates: &CandidateSet) -> Result<Value, Fault> {
        let quoted = (1..).zip(candidates.candidates.iter().take(SHOWN)).map(|(rank, found)| {
            let dataset = self.index.dataset(self.index.find(&found.id)?)?;
            let metadata = dataset.metadata();
            let first = |texts: &[String], most: usize, chars: usize| -> Vec<String> {
                texts.iter().take(most).map(|text| clean(text, chars)).collect()
            };
            Ok(json!({
                "rank": rank,
                "title": clean(&found.title, TITLE),
                "description": clean(metadata.and_then(|metadata| metadata.description.as_deref()).unwrap_or(""), DESCRIPTION),
                "tags": first(metadata.map_or(&[], |metadata| metadata.tags.as_slice()), 4, 30),
                "columns": first(&found.columns, 8, 24),
                "matched": first(&found.matched, MATCHED_WORDS, 30),
                "found_by": found.ranks.len(),
            }))
        });
        quoted.collect::<Result<Vec<Value>, Fault>>().map(Value::Array)
    }
}

impl Evaluator for ModelEvaluator<'_> {
    fn version(&self) -> String {
        format!("{} {} over {}", self.model.id(), self.model.prompt_id(PromptUse::Evaluate), self.rules.version())
    }

    fn evaluate(&self, goal: &SearchGoal, plan: &QueryPlan, candidates: &CandidateSet) -> Result<String, Fault> {
        let measured = self.rules.report(goal, plan, candidates)?;
        // Nothing to judge: no model is needed to see that.
        if candidates.candidates.is_empty() {
            return Ok(measured.to_json());
        }
        let values = [
            ("memory", goal.memory.clone()),
            ("request", json!(goal.request)),
            ("plan", json!(plan)),
            ("candidates", self.quoted(candidates)?),
        ];
        let shape = AnswerShape { name: "verdict", schema: verdict_schema(), max_tokens: VERDICT_TOKENS };
        let report = self.model.ask(PromptUse::Evaluate, &values, shape, |verdict: Verdict| {
            let Verdict { sufficient, missing, reason } = verdict;
            sound_report(goal, plan, (sufficient, missing, reason), &measured.signals)
        })?;
        Ok(report.to_json())
    }
}

/// A model's verdict (sufficient, missing, reason) with what was measured, without what nobody asked for.
pub(super) fn sound_report(
    goal: &SearchGoal,
    plan: &QueryPlan,
    (sufficient, mut missing, reason): (bool, Vec<String>, String),
    signals: &Signals,
) -> Result<EvaluationReport, Refusal> {
    if sufficient && !missing.is_empty() {
        return Err(Refusal::new("sufficient is true and something is missing"));
    }
    if missing.len() > MOST_MISSING || missing.iter().any(|text| text.chars().count() > CONSTRAINT_CHARS) {
        return Err(Refusal::new(format!("missing may list {MOST_MISSING} phrases of {CONSTRAINT_CHARS} characters")));
    }
    if reason.trim().is_empty() || reason.chars().count() > REASON_CHARS {
        return Err(Refusal::new("reason must be one sentence"));
    }
    // What the request does not ask for is not missing.
    let asked = format!(" {} {} ", key_of(&goal.request), key_of(&plan.must_have.join(" ")));
    missing.retain(|text| key_of(text).split(' ').any(|word| asked.contains(&format!(" {word} "))));
    let invented = |text: &str| without_identifiers(text, &[&goal.request], &|_| false);
    missing.retain(|text| invented(text).1 == 0);
    let reason = invented(&reason).0.chars().take(REASON_CHARS).collect();
    Ok(EvaluationReport { sufficient, missing, reason, signals: signals.clone() })
}

fn verdict_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "sufficient": {"type": "boolean"},
            "missing": {"type": "array", "maxItems": MOST_MISSING, "items": {"type": "string"}},
            "reason": {"type": "string"},
        },
        "required": ["sufficient", "missing", "reason"],
        "additionalProperties": false,
    })
}
