//! Components that fail at every query: the drill's replacements for working ones.
//!
//! An outage is complete: the rules that would replace a planner or an evaluator fail as well, so that the figures measure the
//! component itself and not its fallback.

use super::Component;
use lakeward_agent::agentic::{
    self, Agents, CandidateSet, ChannelKind, Earlier, Fault, QueryPlan, SearchGoal, Settings,
};
use lakeward_core::error::{Error, Result};

/// The error of a failing component.
pub fn error(part: &str) -> Error {
    Error::Internal(format!("{part} was made to fail"))
}

/// A channel that fails.
pub struct Channel<'a>(pub Box<dyn agentic::Channel + 'a>);

impl agentic::Channel for Channel<'_> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn kind(&self) -> ChannelKind {
        self.0.kind()
    }

    fn weight(&self) -> f64 {
        self.0.weight()
    }

    fn search(&self, _text: &str, _depth: usize) -> Result<Vec<(String, f64)>> {
        Err(error(&format!("search by {}", self.0.name())))
    }
}

/// An agent that fails.
struct Agent(&'static str);

impl Agent {
    fn fault(&self) -> Fault {
        Fault::Other(format!("the {} was made to fail", self.0))
    }

    fn name(&self) -> String {
        format!("no-{}", self.0)
    }
}

impl agentic::Planner for Agent {
    fn version(&self) -> String {
        self.name()
    }

    fn plan(&self, _goal: &SearchGoal, _earlier: Option<&Earlier<'_>>) -> std::result::Result<Option<String>, Fault> {
        Err(self.fault())
    }
}

impl agentic::Evaluator for Agent {
    fn version(&self) -> String {
        self.name()
    }

    fn evaluate(
        &self,
        _goal: &SearchGoal,
        _plan: &QueryPlan,
        _candidates: &CandidateSet,
    ) -> std::result::Result<String, Fault> {
        Err(self.fault())
    }
}

impl agentic::Reranker for Agent {
    fn version(&self) -> String {
        self.name()
    }

    fn rerank(&self, _goal: &SearchGoal, _candidates: &CandidateSet) -> std::result::Result<String, Fault> {
        Err(self.fault())
    }
}

/// Replaces the agent `component`, if it is one, by a failing one: without planner or evaluator the request is searched once and
/// unchanged, without a reranker the fused order is kept.
pub fn of_agent<'a>(component: Component, agents: &mut Agents<'a>, settings: &mut Settings) {
    let failing = Agent(component.name());
    match component {
        Component::Planner => {
            agents.planner = Box::new(failing);
            settings.iterations = 1;
        }
        Component::Evaluator => {
            agents.evaluator = Box::new(failing);
            settings.iterations = 1;
        }
        Component::Reranker => agents.reranker = Some(Box::new(failing)),
        Component::Words | Component::Meaning | Component::Questions => {}
    }
}
