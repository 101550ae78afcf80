//! Word search: which tables say the words of a request, and where they say them.
//!
//! One immutable tantivy index lies in each index segment, all its files in one checked file ([`packed`]); several are searched together and score as if they were one,
//! because document frequencies and average lengths are summed over all of them. Six fields are kept (id, title, headers,
//! description, tags, values), postings with frequencies and, but for ids and values, positions, and no text is stored: a hit names a
//! table by its ordinal in its segment. tantivy supplies the tokeniser interface, term dictionaries, compressed postings
//! and length norms; scoring is BM25F (Robertson, Zaragoza and Taylor, CIKM 2004), which tantivy does not have, computed
//! a term at a time over its postings. A query is words, never a query language, so no text fails to parse. A table whose id, name or
//! title *is* the query ranks before all others.
//!
//! No background threads, no locks and no writes while reading: a read-only folder can be searched.
//!
//! Reading order: [`LexicalDocument`] → [`LexicalBuilder`] → [`LexicalIndex`] → [`LexicalQuery`], which says of chosen tables what
//! they have of a text.

mod among;
mod analysis;
mod build;
mod evidence;
mod field;
mod matched;
mod packed;
mod query;
mod score;
mod search;
mod segment;
mod vocabulary;
mod words;

#[cfg(test)]
mod measure;
#[cfg(test)]
mod tests;

pub use among::WordScore;
pub use build::{LexicalBuilder, LexicalDocument, LexicalStats};
pub use evidence::{LexicalEvidence, LexicalQuery, TypedWord};
pub use field::{Boosts, LexicalField};
pub use search::{FieldMatch, LexicalHit, LexicalIndex, LexicalOptions};
pub use vocabulary::WordRarity;
pub use words::{TableWords, Words};
