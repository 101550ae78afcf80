//! Which datasets were used for which tasks: reads documents ([`papers`]) and builds a graph from them ([`task_graph`]).
//!
//! A leaf crate: the agent sees it only as [`lakeward_search::task_search::TaskSearch`].

pub mod papers;
pub mod task_graph;
