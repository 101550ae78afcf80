//! What to do next, with which table, and why: the task specification behind an intention ([`task_spec`]) and the answer to a
//! turn ([`Recommendation`]).
//!
//! Computed from the evidence of the searches and from profiles: nothing here opens a file or runs SQL, and everything that
//! enters a score is kept beside it.

mod recommendation;
pub mod task_spec;

pub use recommendation::{
    Choice, Evidence, IntentionFit, Match, Precondition, Question, RankedOperation, RankedTable, Recommendation,
    Utility,
};
