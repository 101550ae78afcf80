//! What a run works with and what comes of it: tools, agents, and the answer.

use super::agents::{Evaluator, Planner, Reranker, Retriever};
use super::cache::RunCache;
use super::channel::Channel;
use super::clock::Clock;
use super::evaluator::RuleEvaluator;
use super::model::{ModelEvaluator, ModelPlanner};
use super::planner::RulePlanner;
use super::reranker::RuleReranker;
use super::retriever::RuleRetriever;
use super::search_goal::{Settings, Style};
use super::trace::{AgentVersions, Degraded, RunTrace, Stopped};
use lakeward_index::LakeIndex;
use lakeward_models::embed::Embedder;
use lakeward_models::llm::LanguageModel;
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
        let rules = settings.rules;
        let reranker = RuleReranker::new(tools.index, tools.embedder, tools.weights);
        Self {
            planner: Box::new(RulePlanner::new(tools.index, rules)),
            retriever: Box::new(RuleRetriever::new(tools.index, rules, tools.weights.fusion)),
            evaluator: Box::new(RuleEvaluator::new(tools.index)),
            reranker: rules.rerank.then(|| Box::new(reranker) as Box<dyn Reranker + 'a>),
        }
    }

    /// With a model where the style asks one: the single agent plans by it; of several agents planner and evaluator ask it each.
    /// Ranking stays with the rules until somebody puts another reranker here.
    pub fn with_model(tools: &Tools<'a>, settings: &Settings, model: &'a LanguageModel<'a>) -> Self {
        let mut agents = Self::by_rules(tools, settings);
        match settings.style {
            Style::SingleAgent => agents.planner = Box::new(ModelPlanner::looking(model)),
            Style::MultiAgent => {
                agents.planner = Box::new(ModelPlanner::new(model));
                agents.evaluator = Box::new(ModelEvaluator::new(model, tools.index));
            }
        }
        agents
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
