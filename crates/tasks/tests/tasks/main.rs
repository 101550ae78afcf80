//! Task graphs of made-up documents.

mod task_graph;
