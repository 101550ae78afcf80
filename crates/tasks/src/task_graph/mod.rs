//! Which datasets served which tasks, as a graph of documents, datasets and tasks, and searching it.
//!
//! [`build()`] makes one file from what documents say ([`crate::papers::extraction`]) and what the lake's index knows of datasets;
//! [`TaskGraph`] is that file opened. Names that mean one dataset are joined by [`aliases`] and, where there is one, a
//! judge; [`verdicts`] keeps who said so. Tasks are joined by likeness ([`links`]), and a search goes from the request to like
//! tasks, over the documents to the datasets ([`search`]).
//!
//! What it does not do: it reads no papers and asks no server by itself.

pub mod aliases;
mod answer;
pub mod audit;
pub mod build;
pub mod dataset;
mod draft;
mod encoder;
mod graph;
mod inferred;
mod known;
pub mod learned;
pub mod links;
mod lists;
mod model_judge;
pub mod names;
pub mod nearest;
mod nodes;
pub mod pagerank;
pub mod resolution;
pub mod search;
mod search_index;
mod source;
mod term_index;
pub mod verdicts;
pub mod why;
mod words;

pub use answer::{TaskAnswer, TaskScore};
pub use build::{GraphInputs, GraphOptions, GraphStats, build};
pub use dataset::DatasetRecord;
pub use draft::{DatasetNode, GraphMeta, VERSION};
pub use graph::{FOLDER, TaskGraph};
pub use known::known_datasets;
pub use model_judge::ModelJudge;
pub use search::{TaskSearchOptions, Walk};
pub use source::TaskSource;
