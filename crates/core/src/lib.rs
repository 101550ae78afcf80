//! Nouns that every part of Lakeward shares: errors, guarded calls, words of names, plain types of a request.
//!
//! What it does not do: no file of a lake is opened here and nothing is searched.

pub mod answer;
pub mod error;
pub mod guard;
pub mod listing;
pub mod request;
pub mod role;
pub mod text;

pub use error::{Error, Result};
