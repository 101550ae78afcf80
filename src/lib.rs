//! Lakeward finds the tables for a task in an undocumented data lake, and the operation to run next.
//!
//! A lake is indexed once ([`index::build`]), opened as a snapshot ([`LakeIndex`]), and asked by words
//! ([`retrieve::search`]), by a key column ([`retrieve::join`]) or several ([`retrieve::composite`]), or by a whole table
//! ([`retrieve::union`]):
//!
//! ```no_run
//! use std::path::Path;
//!
//! use lakeward::embed::{Embedder, StaticModel};
//! use lakeward::index::build::{BuildOptions, Silent, build};
//! use lakeward::retrieve::join;
//! use lakeward::{JoinOptions, LakeIndex, QueryTable};
//!
//! # fn main() -> lakeward::Result<()> {
//! let (lake, folder) = (Path::new("lake"), Path::new("lake/.lakeward"));
//! let model = StaticModel::builtin();
//! build(lake, folder, model, &BuildOptions::default(), &Silent)?;
//! let index = LakeIndex::open(folder, model.id())?;
//! let query = QueryTable::resolve(&index, lake, "geo/countries", model)?;
//! let column = Some(query.column("currencycode")?);
//! for answer in join::search(&index, &query, &JoinOptions { column, ..JoinOptions::new(5) })? {
//!     assert!(answer.containment <= 1.0);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Modules in reading order; each uses only those above it (`tests/layers.rs` checks):

pub mod error;

pub mod guard;

pub mod text;

pub mod sketch;

pub mod lake;

pub mod request;

pub mod llm;

pub mod embed;

pub mod papers;

pub mod index;

pub mod cite;

pub mod retrieve;

pub mod augment;

pub mod task_graph;

pub mod recommend;

pub mod operate;

pub mod session;

pub mod agentic;

pub mod agent;

pub mod lakeward;

pub mod functions;

pub mod eval;

pub mod cli;

pub use error::{Error, Result};
pub use index::LakeIndex;
pub use lakeward::Lakeward;
pub use retrieve::{CompositeAnswers, CompositeOptions, JoinAnswer, JoinOptions, QueryTable};
pub use retrieve::{SearchAnswer, SearchOptions, UnionAnswer, UnionOptions};
