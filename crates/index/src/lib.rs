//! Immutable search structures over the tables of a lake: building, committing and opening them.
//!
//! An index is a folder: a [`manifest`] that names the live segments, and one folder per segment with its catalogue, its columns, the
//! inverted lists and MinHash LSH of its values, its vectors and its word index. Segments are written once and memory-mapped; an update
//! adds segments, marks tables in old ones as removed and merges small ones. This crate stores data and finds candidates; ranking them is
//! the task of `retrieve`.

pub mod build;
pub mod columns;
pub mod correlations;
pub mod encode;
mod entries;
pub mod exchange;
pub mod facets;
mod in_english;
pub mod index_store;
pub mod join;
pub mod lexical;
pub mod lsh;
pub mod manifest;
pub mod meanings;
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
pub mod table_store;
pub mod table_vectors;
pub mod tallies;
pub mod token_vectors;
pub mod tokens;
mod unread_texts;
mod varint;
pub mod vectors;
pub mod verify;
pub mod watch;

pub use exchange::{AllFigures, OwnFigures, SearchShard};
pub use facets::FacetIndex;
pub use join::header_hashes;
pub use open::{ColumnRef, LakeIndex, TableRef};
pub use structures::Segment;
pub use table_set::TableSet;
