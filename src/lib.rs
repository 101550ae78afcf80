//! Lakeward finds the tables for a task in an undocumented data lake, and the operation to run next.
//!
//! [`Lakeward`] is an opened lake with all its searches; [`functions`] are the same searches in SQL. `examples/` has a program for
//! each kind of search. The parts are separate crates (ARCHITECTURE.md has the map).
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
pub mod usage;

pub use functions::register_all;
pub use lakeward::{Lakeward, Place};
pub use lakeward_agent::Request;
pub use lakeward_agent::session::{Session, SessionStore};
pub use lakeward_core::plan::Plan;
pub use lakeward_core::{Error, Result};
pub use lakeward_core::{Monitor, Silent};
pub use lakeward_index::build::{BuildOptions, BuildStats};
pub use lakeward_operate::{LakeContext, Limits};
pub use lakeward_search::QueryTable;

/// What searches, requests and operations answer. Every list is sorted with the best first.
pub mod answers {
    pub use crate::lakeward::{ModelOrder, TaskFound, TaskTrace};
    pub use lakeward_agent::recommend::{RankedOperation, RankedTable, Recommendation};
    pub use lakeward_operate::Outcome;
    pub use lakeward_search::cite::{Checked, Resolution};
    pub use lakeward_search::{CompositeAnswers, JoinAnswer, SearchAnswer, UnionAnswer};
}

/// The language model that a lake may have.
pub mod model {
    pub use crate::lakeward::{Model, model_options};
}

/// Searches that several processes answer together, each over its own segments of one index.
pub mod shards {
    pub use crate::lakeward::{ShardRound, ShardState, SharedQuestion};
}
