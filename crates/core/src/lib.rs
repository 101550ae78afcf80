//! Types shared by all of Lakeward: errors, guarded calls, progress monitors, words of names, plain types of a request.
//!
//! It opens no lake file and searches nothing.

pub mod answer;
pub mod error;
pub mod guard;
pub mod listing;
pub mod message;
pub mod monitor;
mod names;
pub mod plan;
pub mod request;
pub mod respect;
pub mod store;
pub mod text;

pub use error::{Error, Result};
pub use monitor::{Monitor, Silent};
