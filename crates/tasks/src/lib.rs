//! Which datasets served which tasks: documents in ([`papers`]), the graph that they make ([`task_graph`]).
//!
//! A leaf: the agent knows it only as [`lakeward_search::task_search::TaskSearch`].

pub mod papers;
pub mod task_graph;
