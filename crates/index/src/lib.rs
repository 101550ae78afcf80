//! Immutable search structures over the tables of a lake, and how they are built, committed and opened.
//!
//! An index is a folder: a [`manifest`] that names the live segments, and one folder a segment with its catalogue, its
//! columns, the inverted lists and MinHash LSH of its values, its vectors and its word index. Segments are written once and
//! memory-mapped; an update adds segments, strikes tables out of old ones and merges what has become small. This module knows what is stored and finds
//! candidates; ranking them is `retrieve`'s work.

pub mod build;
pub mod catalog;
pub mod columns;
pub mod encode;
mod entries;
pub mod facets;
pub mod join;
pub mod lexical;
pub mod lsh;
pub mod manifest;
mod merge;
pub mod open;
pub mod overlap;
mod plan;
pub mod postings;
pub mod segment;
mod segment_builder;
pub mod structure;
pub mod structures;
mod table_draft;
pub mod table_set;
pub mod table_vectors;
pub mod token_vectors;
pub mod tokens;
pub mod vectors;
pub mod verify;
pub mod watch;

pub use facets::FacetIndex;
pub use join::header_hashes;
pub use open::{ColumnRef, LakeIndex, TableRef};
pub use structures::Segment;
pub use table_set::TableSet;
