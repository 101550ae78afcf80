//! Lakeward finds the tables for a task in an undocumented data lake, and the operation to run next.
//!
//! [`Lakeward`] is an opened lake and every question that can be put to it; [`functions`] are the same questions in SQL. The parts below
//! are crates of their own (ARCHITECTURE.md has the map).
//!
//! ```no_run
//! use std::path::Path;
//!
//! use lakeward::{BuildOptions, Lakeward, Place, Silent};
//!
//! # fn main() -> lakeward::Result<()> {
//! let (lake, _) = Lakeward::build(Place::new(Path::new("lake"), None)?, &BuildOptions::default(), &Silent)?;
//! let query = lake.query_table("geo/countries")?;
//! let column = query.column("currencycode")?;
//! for answer in lake.join(&query, &[column], 5)?.answers.iter() {
//!     assert!(answer.containment <= 1.0);
//! }
//! # Ok(())
//! # }
//! ```

pub mod documents;
pub mod functions;
mod lakeward;

pub use lakeward::Lakeward;
pub use lakeward::{INDEX_FOLDER, Kept, Model, ModelOrder, Place, RUNS, TaskFound, built_in, said};
pub use lakeward_core::monitor::{Monitor, Silent};
pub use lakeward_core::{Error, Result};
pub use lakeward_index::LakeIndex;
pub use lakeward_index::build::BuildOptions;
pub use lakeward_search::{CompositeAnswers, CompositeOptions, JoinAnswer, JoinOptions, QueryTable};
pub use lakeward_search::{SearchAnswer, SearchOptions, UnionAnswer, UnionOptions};
