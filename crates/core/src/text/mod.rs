//! Splitting, comparing and displaying text: the one set of text tools in Lakeward.
//!
//! | to get | call |
//! |---|---|
//! | the words of a text: runs of letters and digits | [`words()`], [`lower_words`]; with further letters inside: [`runs`] |
//! | one word without the punctuation around it | [`bare`] |
//! | the words inside a name (`popByState_2019`) | [`name_words`] |
//! | one key for several spellings of a name | [`name_key`] (folded), [`letters_and_digits`] (as written) |
//! | how alike two names of columns are, 0..=1 | [`name_likeness`]; one name compared with many: [`NameParts`] |
//! | a text on one line, separated by single spaces | [`on_one_line`] |
//! | letters without accents | [`fold_into`] (lower case, the word index's folding), [`without_marks`] (case kept) |
//! | the stem of an English word, those of a text | [`Stemmer`], [`stems`] |
//! | years in a text, and which numbers may be years | [`years`] |
//! | untrusted text, safe to show | [`shown()`] |
//! | the yes or no that a word is | [`yes_or_no`] |
//! | bytes as hexadecimal digits | [`hex()`] |
//!
//! It does not contain the terms of the word index (they build on these, in `lakeward-index`), the normal form of cells (in
//! `lakeward-sketch`) or the pieces of the embedding models; each of these is part of a file format or a model.

mod fold;
mod hex;
mod likeness;
mod names;
mod shown;
mod stem;
mod words;
pub mod years;
mod yes_no;

pub use fold::{fold_into, is_letter, letters_and_digits, name_key, without_marks};
pub use hex::hex;
pub use likeness::{NameParts, abbreviations, name_likeness};
pub use names::{is_placeholder, name_words};
pub use shown::{counted, shown};
pub use stem::{Stemmer, stems};
pub use words::{bare, content_words, is_function_word, lower_words, on_one_line, runs, words};
pub use yes_no::yes_or_no;
