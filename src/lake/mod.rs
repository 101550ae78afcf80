//! Which tables exist and what is in them.

pub mod metadata;
pub mod reader;
pub mod source;
