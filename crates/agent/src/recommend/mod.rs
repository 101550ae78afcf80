//! What to do next, with which table, and why: the task specification behind an intention ([`task_spec`]), how well a table
//! meets it ([`fit`]), the utility of table and operation together ([`utility`]), the operations with what has to hold for
//! each ([`next_operations`]), and the question that is asked when a request leaves too much open ([`question`]).
//!
//! Computed from the evidence of the searches and from profiles: nothing here opens a file or runs SQL, and everything that
//! enters a score is kept beside it.

pub mod fit;
pub(crate) mod likelihood;
pub(crate) mod mentions;
mod narrowing;
pub mod next_operations;
pub mod question;
mod recommendation;
mod record_fact;
pub mod summary;
pub mod task_spec;
pub mod utility;

pub use narrowing::{Narrowing, NarrowingValue};
pub use recommendation::{
    Choice, Evidence, IntentionFit, Match, Note, Precondition, Question, RankedOperation, RankedTable, Recommendation,
    TaskEvidence, Utility,
};
pub use record_fact::RecordFact;
pub use summary::{About, Sentence};
