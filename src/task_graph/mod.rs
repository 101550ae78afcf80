//! Which datasets served which tasks, as a graph.

pub mod pagerank;
