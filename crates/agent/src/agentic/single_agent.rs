//! One agent that does all of it (V4 and V5 of Terrenzi et al. 2026): in each step the model is asked once, sees what its searches have
//! found, and says whether that is enough, what to search next and in which order the candidates serve.

use std::cell::RefCell;
use std::rc::Rc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::agents::{Earlier, Evaluator, Fault, Planner, Reranker};
use super::artifact::Artifact;
use super::candidate_set::CandidateSet;
use super::card::{self, Card};
use super::evaluator::RuleEvaluator;
use super::model::{MOST_WRITTEN, query_schema, sound_plan, sound_report};
use super::plan::{PlannedQuery, QueryPlan};
use super::report::{EvaluationReport, MOST_MISSING};
use super::reranker::{Ranked, RuleReranker};
use super::search_goal::SearchGoal;
use lakeward_models::llm::config::Share;
use lakeward_models::llm::listwise::{Listed, Order};
use lakeward_models::llm::quote::clean;
use lakeward_models::llm::{AnswerShape, LanguageModel, PromptUse, Refusal, Unanswered};

/// Candidates that it sees in a step, and bytes of their cards.
const SHOWN: usize = 20;
const CARD_BYTES: usize = 8_000;
/// Characters of a request.
const REQUEST: usize = 1_500;
/// Tokens of an answer.
const ANSWER_TOKENS: u32 = 700;

/// The agent, shared by the roles that it plays.
pub struct SingleAgent<'a> {
    model: &'a LanguageModel<'a>,
    rules: RuleEvaluator<'a>,
    order: RuleReranker<'a>,
    /// What a model may see of the candidates.
    share: Share,
    /// How much its order counts, 0..=1.
    weight: f64,
    /// Plans it may still make; what it wants to be searched next; its last order of which candidates.
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    rounds_left: usize,
    queries: Vec<PlannedQuery>,
    searched: Vec<String>,
    ordered: Option<(CandidateSet, Vec<Ranked>, Order)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    sufficient: bool,
    missing: Vec<String>,
    reason: String,
    queries: Vec<PlannedQuery>,
    ranking: Vec<String>,
}

impl<'a> SingleAgent<'a> {
    /// An agent that may plan `rounds` times; its order counts `weight` beside that of `order`.
    pub fn new(
        model: &'a LanguageModel<'a>,
        (rules, order): (RuleEvaluator<'a>, RuleReranker<'a>),
        rounds: usize,
        (share, weight): (Share, f64),
    ) -> Rc<Self> {
        let state = RefCell::new(State { rounds_left: rounds, ..State::default() });
        Rc::new(Self { model, rules, order, share, weight, state })
    }

    fn version(&self) -> String {
        let (id, prompt) = (self.model.id(), self.model.prompt_id(PromptUse::Agent));
        format!("{id} {prompt} weighing {} over {}", self.weight, self.order.version())
    }

    /// Asks for one step: the ids of `listed` name the candidates that `cards` tells of.
    fn step<T>(
        &self,
        goal: &SearchGoal,
        searched: &[String],
        (ids, cards): (&[&str], Value),
        accept: impl Fn(Step) -> Result<T, Refusal>,
    ) -> Result<T, Unanswered> {
        let previous = if searched.is_empty() { Value::Null } else { json!({"searched": searched}) };
        let values = [
            ("most_queries", json!(MOST_WRITTEN)),
            ("rounds_left", json!(self.state.borrow().rounds_left)),
            ("memory", goal.memory.clone()),
            ("previous", previous),
            ("request", json!(clean(&goal.request, REQUEST))),
            ("candidates", cards),
        ];
        let shape = AnswerShape { name: "step", schema: step_schema(ids), max_tokens: ANSWER_TOKENS };
        self.model.ask(PromptUse::Agent, &values, shape, accept)
    }

    /// The step that looks at what `plan` and those before it found: the verdict, and what is kept of it for the next plan and the order.
    fn look(
        &self,
        goal: &SearchGoal,
        plan: &QueryPlan,
        candidates: &CandidateSet,
        searched: &[String],
    ) -> Result<EvaluationReport, Fault> {
        let measured = self.rules.report(goal, plan, candidates)?;
        let ranked = self.order.ranked(goal, candidates)?;
        let first = &ranked[..ranked.len().min(SHOWN)];
        let listed = Listed::of(&goal.request, first.len());
        let cards: Vec<Card> =
            first.iter().map(|ranked| self.order.card(ranked, self.share)).collect::<Result<_, _>>()?;
        let shown: Vec<(&str, &Card)> = listed.iter().map(|(id, place)| (id, &cards[place])).collect();
        let ids: Vec<&str> = shown.iter().map(|(id, _)| *id).collect();
        let shown = (ids.as_slice(), card::to_json(&shown, CARD_BYTES));
        let (report, queries, order) = self.step(goal, searched, shown, |step| {
            let Step { sufficient, missing, reason, queries, ranking } = step;
            let order = listed.read(&ranking)?;
            let report = sound_report(goal, plan, (sufficient, missing, reason), &measured.signals)?;
            let next = QueryPlan { queries, must_have: Vec::new() };
            let next = if sufficient || next.queries.is_empty() { next } else { sound_plan(goal, next)? };
            Ok((report, next.queries, order))
        })?;
        let mut state = self.state.borrow_mut();
        state.queries = if report.sufficient { Vec::new() } else { queries };
        state.ordered = Some((candidates.clone(), ranked, order));
        Ok(report)
    }
}

impl Planner for Rc<SingleAgent<'_>> {
    fn version(&self) -> String {
        SingleAgent::version(self)
    }

    fn plan(&self, goal: &SearchGoal, earlier: Option<&Earlier<'_>>) -> Result<Option<String>, Fault> {
        let looked = self.state.borrow().ordered.is_some();
        match earlier {
            None => {
                let must_have = || goal.must_have.clone();
                let plan = self.step(goal, &[], (&[], json!([])), |step| {
                    sound_plan(goal, QueryPlan { queries: step.queries, must_have: must_have() })
                })?;
                self.state.borrow_mut().queries = plan.queries;
            }
            // A plain search came first, which it has not seen.
            Some(Earlier { plans: [.., plan], candidates, .. }) if !looked => {
                self.look(goal, plan, candidates, std::slice::from_ref(&goal.words))?;
            }
            Some(_) => {}
        }
        let mut state = self.state.borrow_mut();
        let queries = std::mem::take(&mut state.queries);
        state.rounds_left = state.rounds_left.saturating_sub(1);
        state.searched.extend(queries.iter().map(|query| query.text.clone()));
        let plan = QueryPlan { queries, must_have: goal.must_have.clone() };
        Ok((!plan.queries.is_empty()).then(|| plan.to_json()))
    }
}

impl Evaluator for Rc<SingleAgent<'_>> {
    fn version(&self) -> String {
        SingleAgent::version(self)
    }

    fn evaluate(&self, goal: &SearchGoal, plan: &QueryPlan, candidates: &CandidateSet) -> Result<String, Fault> {
        let searched = self.state.borrow().searched.clone();
        Ok(self.look(goal, plan, candidates, &searched)?.to_json())
    }
}

impl Reranker for Rc<SingleAgent<'_>> {
    fn version(&self) -> String {
        SingleAgent::version(self)
    }

    /// In the order of its last step, where that was about these candidates; else as the rules rank them.
    fn rerank(&self, goal: &SearchGoal, candidates: &CandidateSet) -> Result<String, Fault> {
        match &self.state.borrow().ordered {
            Some((of, ranked, order)) if of == candidates => Ok(self.order.fused(ranked, order, self.weight).to_json()),
            _ => Reranker::rerank(&self.order, goal, candidates),
        }
    }
}

fn step_schema(ids: &[&str]) -> Value {
    let text = json!({"type": "string"});
    // A closed set of nothing is no schema.
    let id = if ids.is_empty() { text.clone() } else { json!({"type": "string", "enum": ids}) };
    json!({
        "type": "object",
        "properties": {
            "sufficient": {"type": "boolean"},
            "missing": {"type": "array", "maxItems": MOST_MISSING, "items": text},
            "reason": text,
            "queries": {"type": "array", "maxItems": MOST_WRITTEN, "items": query_schema()},
            "ranking": {"type": "array", "maxItems": ids.len(), "items": id},
        },
        "required": ["sufficient", "missing", "reason", "queries", "ranking"],
        "additionalProperties": false,
    })
}
