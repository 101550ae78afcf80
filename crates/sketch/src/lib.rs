//! Small summaries of values: normalisation, value sketches and MinHash signatures.
//!
//! This crate knows no files and no tables: it turns cells into normal forms, 64-bit hashes and per-column summaries. Index and query use
//! the same functions, so equal values have equal hashes on both sides.

pub mod approximate;
pub mod column;
mod column_builder;
mod difference;
mod entries;
mod fold;
mod integer_hash;
pub mod minhash;
pub mod normalise;
pub mod number;
mod number_summary;
pub mod pattern;
pub mod signature;
pub mod stored;
pub mod temporal;
pub mod value_hash;
pub mod writing;

pub use approximate::{ApproximateForm, Variation};
pub use column::ColumnSketch;
pub use column_builder::{Cell, ColumnSketchBuilder, SketchLimits};
pub use difference::Difference;
pub use normalise::{Kind, Normaliser, Value};
pub use number_summary::NumberSummary;
pub use writing::Writing;
