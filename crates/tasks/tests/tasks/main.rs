//! Task graphs of made-up documents.

mod named_examples;
mod reads_texts;
mod task_graph;
