//! Task graphs of made-up documents.

mod task_graph;
mod named_examples;
