//! Task graphs of made-up documents.

mod named_examples;
mod task_graph;
