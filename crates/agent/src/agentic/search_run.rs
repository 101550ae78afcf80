//! What a run works with and what comes of it: tools, agents, and the answer.

use std::rc::Rc;

use super::agents::{Evaluator, Planner, Reranker, Retriever};
use super::cache::RunCache;
use super::channel::Channel;
use super::clock::Clock;
use super::evaluator::RuleEvaluator;
use super::model::{ModelEvaluator, ModelPlanner};
use super::planner::RulePlanner;
use super::reranker::{ModelReranker, RuleReranker};
use super::retriever::RuleRetriever;
use super::search_goal::{Settings, Style};
use super::single_agent::SingleAgent;
use super::trace::{AgentVersions, Degraded, RunTrace, Stopped};
use lakeward_index::LakeIndex;
use lakeward_models::embed::Embedder;
use lakeward_models::llm::LanguageModel;
use lakeward_models::llm::config::Share;
use lakeward_search::RankingWeights;

/// What a run works with.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    /// The lake.
    pub index: &'a LakeIndex,
    /// The model whose vectors are in it.
    pub embedder: &'a dyn Embedder,
    /// The weights of the final order.
    pub weights: &'a RankingWeights,
    /// What is searched, in this order.
    pub channels: &'a [&'a dyn Channel],
    /// Names the index of questions behind a channel; empty without one.
    pub questions: &'a str,
    /// Says when the time is over.
    pub clock: &'a dyn Clock,
    /// Where artifacts are kept from run to run, if anywhere.
    pub cache: Option<&'a RunCache>,
}

/// Who does the work.
pub struct Agents<'a> {
    /// Plans.
    pub planner: Box<dyn Planner + 'a>,
    /// Searches.
    pub retriever: Box<dyn Retriever + 'a>,
    /// Judges.
    pub evaluator: Box<dyn Evaluator + 'a>,
    /// Ranks; without one the fused order stays.
    pub reranker: Option<Box<dyn Reranker + 'a>>,
}

impl<'a> Agents<'a> {
    /// All four by rules.
    pub fn by_rules(tools: &Tools<'a>, settings: &Settings) -> Self {
        let reranker = RuleReranker::new(tools.index, tools.embedder, tools.weights);
        Self {
            planner: Box::new(RulePlanner::new(tools.index)),
            retriever: Box::new(RuleRetriever::new(tools.index, settings.retrieval)),
            evaluator: Box::new(RuleEvaluator::new(tools.index, tools.weights.sufficiency)),
            reranker: Some(Box::new(reranker)),
        }
    }

    /// With a model, as the style has it: the single agent is asked once a step for all; of several agents planner, evaluator and reranker
    /// ask each for itself. It sees `share` of the candidates, and its order counts `weight` beside that of the rules, 0..=1.
    pub fn with_model(
        tools: &Tools<'a>,
        settings: &Settings,
        model: &'a LanguageModel<'a>,
        (share, weight): (Share, f64),
    ) -> Self {
        let by_rules = Self::by_rules(tools, settings);
        let order = RuleReranker::new(tools.index, tools.embedder, tools.weights);
        match settings.style {
            Style::SingleAgent => {
                let rules = (RuleEvaluator::new(tools.index, tools.weights.sufficiency), order);
                let agent = SingleAgent::new(model, rules, settings.iterations, (share, weight));
                let (planner, evaluator) = (Box::new(Rc::clone(&agent)), Box::new(Rc::clone(&agent)));
                Self { planner, evaluator, reranker: Some(Box::new(agent)), ..by_rules }
            }
            Style::MultiAgent => Self {
                planner: Box::new(ModelPlanner::new(model)),
                evaluator: Box::new(ModelEvaluator::new(model, tools.index, tools.weights.sufficiency)),
                reranker: Some(Box::new(ModelReranker::new(model, order, (share, weight)))),
                ..by_rules
            },
        }
    }

    /// Who they are.
    pub(super) fn versions(&self) -> AgentVersions {
        AgentVersions {
            planner: self.planner.version(),
            retriever: self.retriever.version(),
            evaluator: self.evaluator.version(),
            reranker: self.reranker.as_ref().map_or("none".into(), |reranker| reranker.version()),
        }
    }
}

/// A table that a run found.
#[derive(Debug, Clone, PartialEq)]
pub struct RunTable {
    /// Its id.
    pub id: String,
    /// Greater is better; comparable within one run only.
    pub score: f64,
    /// Why, in a clause; empty where nobody said.
    pub reason: String,
}

/// A query that was searched.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchedQuery {
    /// Its words.
    pub text: String,
    /// How much it counted, in the channel where it counted most.
    pub weight: f64,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRun {
    /// The tables, best first.
    pub ranking: Vec<RunTable>,
    /// All that was searched for, the request itself first.
    pub queries: Vec<SearchedQuery>,
    /// Why it ended.
    pub stopped: Stopped,
    /// Whether a limit ended it before it was enough.
    pub partial: bool,
    /// What did not do its work, so that the rules or others did.
    pub degraded: Vec<Degraded>,
    /// Plans carried out.
    pub iterations: usize,
    /// Searches of a channel.
    pub tool_calls: usize,
    /// The whole course.
    pub trace: RunTrace,
}
