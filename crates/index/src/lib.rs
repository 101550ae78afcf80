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
mod keys;
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
mod table_draft;
pub mod table_set;
pub mod token_vectors;
pub mod tokens;
pub mod vectors;
pub mod verify;
pub mod watch;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use lakeward_core::text::name_words;
use postings::PostingTags;
use segment::SegmentKind;
use vectors::TagPrefix;

pub use facets::FacetIndex;
pub use open::{ColumnRef, LakeIndex, TableRef};
pub use table_set::TableSet;

const CATALOG_FILE: &str = "catalog.seg";
const COLUMNS_FILE: &str = "columns.seg";
const FACETS_FILE: &str = "facets.seg";
const TOKENS_FILE: &str = "tokens.seg";
const TOKEN_VECTORS_FILE: &str = "token-vectors.seg";
const JOIN_FILE: &str = "join.seg";
const VECTORS_FILE: &str = "vectors.seg";
const WORDS_FILE: &str = "words.seg";
const JOIN_KIND: SegmentKind = SegmentKind(*b"JOIN");
const JOIN_VERSION: u32 = 3;
const VECTORS_KIND: SegmentKind = SegmentKind(*b"VECT");
const VECTORS_VERSION: u32 = 2;
const COLUMN_VECTORS: TagPrefix = *b"COL";
const CONTENT_VECTORS: TagPrefix = *b"CNT";
const TOPIC_VECTORS: TagPrefix = *b"TPC";
const TITLE_VECTORS: TagPrefix = *b"TTL";
const VALUE_TAGS: PostingTags =
    PostingTags { directory: *b"VDIR", hashes: *b"VHSH", offsets: *b"VOFF", lists: *b"VLST" };
const HEADER_TAGS: PostingTags =
    PostingTags { directory: *b"HDIR", hashes: *b"HHSH", offsets: *b"HOFF", lists: *b"HLST" };

const VARIANT_TAGS: PostingTags =
    PostingTags { directory: *b"ADIR", hashes: *b"AHSH", offsets: *b"AOFF", lists: *b"ALST" };

/// The hashes under which a column is found by its name: that of the whole name, then one a word.
pub fn header_hashes(name: &str) -> impl Iterator<Item = u64> + use<> {
    const WHOLE: u64 = 1;
    const WORD: u64 = 2;
    let words = name_words(name);
    let whole = xxh3_64_with_seed(words.join(" ").as_bytes(), WHOLE);
    std::iter::once(whole).chain(words.into_iter().map(|word| xxh3_64_with_seed(word.as_bytes(), WORD)))
}
