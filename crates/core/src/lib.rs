//! Nouns that every part of Lakeward shares: errors, guarded calls, who watches long work, words of names, plain types of a request.
//!
//! What it does not do: no file of a lake is opened here and nothing is searched.

pub mod answer;
pub mod error;
pub mod guard;
pub mod listing;
pub mod monitor;
pub mod request;
pub mod role;
pub mod store;
pub mod text;

pub use error::{Error, Result};
pub use monitor::{Monitor, Silent};
