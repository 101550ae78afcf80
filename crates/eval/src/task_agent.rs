//! The agent as a [`System`] for task search: a turn with and without a graph of papers. A query's own paper is excluded from the
//! graph.
//!
//! ```text
//! lakeward:agent    as shipped           lakeward:agent-0.25    tasks weigh 0.25 times the score of the best table's own match
//! lakeward:agent-0  without a graph
//! ```

use std::rc::Rc;

use super::benchmark::{BenchQuery, Task};
use super::lakeward_system::{LakeIndexOf, NAME};
use super::system::{Ranked, System};
use super::task_search::GraphOf;
use lakeward_agent::Request;
use lakeward_agent::session::Session;
use lakeward_core::error::Result;
use lakeward_tasks::task_graph::TaskSource;

/// After [`NAME`] and a colon.
const AGENT: &str = "agent";
/// The names included in `ablations`.
pub const NAMES: [&str; 2] = [AGENT, "agent-0"];

/// The weight of tasks of the agent `name`: the shipped one (inner `None`) or a number; `None` for another system.
pub fn weight_of(name: &str) -> Option<Option<f64>> {
    match name.strip_prefix(NAME)?.strip_prefix(':')?.strip_prefix(AGENT)? {
        "" => Some(None),
        rest => {
            let weight: f64 = rest.strip_prefix('-')?.parse().ok()?;
            (0.0..=100.0).contains(&weight).then_some(Some(weight))
        }
    }
}

/// The agent over an index and a graph.
pub struct TaskAgent<'a> {
    name: String,
    weight: Option<f64>,
    over: Rc<LakeIndexOf<'a>>,
    graph: Rc<GraphOf<'a>>,
}

impl<'a> TaskAgent<'a> {
    /// The agent with the weight `weight` of tasks; without it, the shipped one.
    pub fn new(name: &str, weight: Option<f64>, over: Rc<LakeIndexOf<'a>>, graph: Rc<GraphOf<'a>>) -> Self {
        Self { name: name.to_string(), weight, over, graph }
    }
}

impl System for TaskAgent<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn rank(&self, query: &BenchQuery, depth: usize) -> Result<Vec<Ranked>> {
        let mut weights = self.over.weights().clone();
        weights.turn.tasks = self.weight.unwrap_or(weights.turn.tasks);
        let agent = self.over.agent(&weights)?;
        let request = Request { text: query.text.clone().unwrap_or_default(), k: depth, ..Request::default() };
        let mut session = Session::new("eval", "lake");
        let answer = if self.weight == Some(0.0) {
            agent.turn(&mut session, &request)?
        } else {
            let exclude: Vec<String> = query.exclude_paper.iter().cloned().collect();
            let source = TaskSource::without(self.graph.folder(), self.over.embedder(), &exclude)?;
            agent.with_tasks(&source).turn(&mut session, &request)?
        };
        Ok(answer.into_inner().tables.into_iter().map(|table| Ranked::new(table.table, table.utility.total)).collect())
    }

    fn answers(&self, query: &BenchQuery) -> bool {
        query.task == Task::TaskSearch
    }

    fn index_bytes(&self) -> Option<u64> {
        Some(self.over.stats.index_bytes)
    }
}
