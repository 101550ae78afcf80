//! A conversation as one JSON document: plain state, no behaviour of the agent.

mod document;

pub use document::{Choice, Session, Step, StepInput, Turn, VERSION};
