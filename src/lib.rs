//! Lakeward finds the tables for a task in an undocumented data lake, and the operation to run next.

pub mod error;

pub mod sketch;

pub mod lake;

pub mod index;

pub use error::{Error, Result};
