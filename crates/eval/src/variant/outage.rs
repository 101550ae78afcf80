//! Components that fail at every query: what the drill puts in the place of those that work.
//!
//! An outage is whole: the rules that would stand in for a planner or an evaluator are out with it, so that the figures tell what the
//! part is worth and not what its copy is.

use super::Component;
use lakeward_agent::agentic::{
    self, Agents, CandidateSet, ChannelKind, Earlier, Fault, QueryPlan, SearchGoal, Settings,
};
use lakeward_core::error::{Error, Result};

/// What a part that is out answers.
pub fn error(part: &str) -> Error {
    Error::Internal(format!("{part} was made to fail"))
}

/// A channel that is out.
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

/// An agent that is out.
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

    fn plan(&self, _sought: &SearchGoal, _earlier: Option<&Earlier<'_>>) -> std::result::Result<Option<String>, Fault> {
        Err(self.fault())
    }
}

impl agentic::Evaluator for Agent {
    fn version(&self) -> String {
        self.name()
    }

    fn evaluate(
        &self,
        _sought: &SearchGoal,
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

    fn rerank(&self, _sought: &SearchGoal, _candidates: &CandidateSet) -> std::result::Result<String, Fault> {
        Err(self.fault())
    }
}

/// Takes the agent that is `component` out, where it is one: without a planner the request is searched as it is, without an evaluator
/// once, without a reranker the fused order stays.
pub fn of_agent<'a>(component: Component, agents: &mut Agents<'a>, settings: &mut Settings) {
    let out = Agent(component.name());
    match component {
        Component::Planner => {
            agents.planner = Box::new(out);
            settings.rules.decompose = false;
            settings.rules.rewrite = false;
            settings.rules.feedback = false;
        }
        Component::Evaluator => {
            agents.evaluator = Box::new(out);
            settings.iterations = 1;
        }
        Component::Reranker => agents.reranker = Some(Box::new(out)),
        Component::Words | Component::Meaning | Component::Questions => {}
    }
}
