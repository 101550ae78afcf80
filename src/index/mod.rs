//! Immutable search structures.

pub mod lexical;
pub mod lsh;
pub mod segment;
pub mod vectors;
