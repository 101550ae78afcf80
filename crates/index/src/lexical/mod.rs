//! Word search: which tables contain the words of a request, and in which fields.
//!
//! Each index segment has one immutable tantivy index, with all its files in one checksummed file ([`packed`]); several are searched
//! together and score as if they were one, because document frequencies and average lengths are summed over all of them. Six fields are
//! indexed (id, title, headers, description, tags, values), with frequencies and, except for ids and values, positions; no text is stored:
//! a hit refers to a table by its number in its segment. tantivy supplies the tokeniser interface, term dictionaries, compressed postings
//! and length norms; scoring is BM25F (Robertson, Zaragoza and Taylor, CIKM 2004), which tantivy does not have, computed one term at a time
//! over its postings. A query is words, never a query language, so no text fails to parse. A table whose id, name or title *is* the query
//! ranks before all others.
//!
//! No background threads, no locks and no writes while reading: a read-only folder can be searched.
//!
//! Reading order: [`LexicalDocument`] → [`LexicalBuilder`] → [`LexicalIndex`] → [`LexicalQuery`], which computes the evidence of chosen
//! tables for a text.

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

pub use among::{Greatest, TopTables, WordScore};
pub use build::{LexicalBuilder, LexicalDocument, LexicalStats};
pub use evidence::{LexicalEvidence, LexicalQuery, TypedWord};
pub use field::{Boosts, LexicalField};
pub use query::ABBREVIATED;
pub use score::TERM_LIMIT;
pub use search::{FieldMatch, LexicalHit, LexicalIndex, LexicalOptions};
pub use vocabulary::WordRarity;
pub use words::{TableWords, Words};
