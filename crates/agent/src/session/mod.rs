//! A conversation as one JSON document: plain state, no behaviour of the agent.
//!
//! [`Session`] is the document and its few changes of state, [`SessionStore`] the folder of them, [`transcript`] what people
//! read. Whoever opens a session has all that the next answer depends on besides the lake: saving keeps nothing in memory
//! that is not in the file, so that another process answers alike.

mod check;
mod compress;
mod document;
pub mod feedback;
mod layout;
mod memory;
mod older;
mod older_operation;
mod state;
mod store;
pub mod transcript;

pub use compress::{GREATEST_RECOMMENDATION, GREATEST_TURNS};
pub use document::{Choice, Session, Step, StepInput, Turn, VERSION, schema};
pub use feedback::{FeedbackStore, RequestFeedback, TableUse, requests_with_feedback};
pub use memory::Retrieval;
pub use state::NewStep;
pub use store::{GREATEST_FILE, SessionState, SessionStore, SessionSummary, check_name};
