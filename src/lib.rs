//! Lakeward finds the tables for a task in an undocumented data lake, and the operation to run next.
//!
//! Modules in reading order; each uses only those above it (`tests/layers.rs` checks):

pub mod error;

pub mod guard;

pub mod text;

pub mod sketch;

pub mod lake;

pub mod embed;

pub mod index;

pub mod retrieve;

pub mod operate;

pub mod cli;

pub use error::{Error, Result};
