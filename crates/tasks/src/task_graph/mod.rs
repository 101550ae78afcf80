//! Which datasets were used for which tasks, as a graph of documents, datasets and tasks, and the search over it.
//!
//! [`build()`] makes one file from what documents say ([`crate::papers::extraction`]) and what the lake's index knows of datasets;
//! [`TaskGraph`] opens that file. Names of the same dataset are merged by [`aliases`] and, if there is one, a judge; [`verdicts`]
//! stores who decided. Similar tasks are linked ([`links`]); a search goes from the query to similar tasks and through their
//! documents to datasets ([`search`]).
//!
//! It reads no papers and calls no server by itself.

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
mod model_order;
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
pub use model_judge::{ModelJudge, decided};
pub use model_order::model_order;
pub use search::{TaskSearchOptions, Walk};
pub use source::TaskSource;
