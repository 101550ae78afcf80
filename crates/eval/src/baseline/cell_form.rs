//! When two cells are equal for a baseline: as written, folded, or folded with their words in any order.
//!
//! Plain string operations, deliberately separate from `sketch::normalise`: numbers and dates stay text, and columns are
//! not analysed.

use lakeward_core::text::without_marks;
use xxhash_rust::xxh3::xxh3_64;

/// The normal form in which cells are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CellForm {
    /// As written, without the spaces around it.
    #[default]
    Written,
    /// Lower case, without accents, footnote marks (`[1]`, `*`, `†`, `‡`, `§` at the end) and punctuation, which separates
    /// words.
    Folded,
    /// Folded, the words sorted.
    AnyOrder,
}

impl CellForm {
    /// A 64-bit hash of the form of `cell`; `None` for an empty cell.
    pub fn hash(self, cell: &str) -> Option<u64> {
        let cell = cell.trim();
        if cell.is_empty() {
            return None;
        }
        Some(match self {
            CellForm::Written => xxh3_64(cell.as_bytes()),
            CellForm::Folded => xxh3_64(folded(cell).as_bytes()),
            CellForm::AnyOrder => {
                let folded = folded(cell);
                let mut words: Vec<&str> = folded.split(' ').collect();
                words.sort_unstable();
                xxh3_64(words.join(" ").as_bytes())
            }
        })
    }

    /// The hashes of the distinct cells, ascending.
    pub fn hashes<S: AsRef<str>>(self, cells: &[S]) -> Vec<u64> {
        let mut hashes: Vec<u64> = cells.iter().filter_map(|cell| self.hash(cell.as_ref())).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }
}

/// The folded words of `cell`, separated by a space; a cell of marks only is kept unchanged.
fn folded(cell: &str) -> String {
    let mut words = String::with_capacity(cell.len());
    let without_notes = without_notes(cell);
    let letters = without_marks(&without_notes).flat_map(char::to_lowercase);
    let mut is_parted = false;
    for letter in letters {
        if !letter.is_alphanumeric() {
            is_parted = !words.is_empty();
            continue;
        }
        if is_parted {
            words.push(' ');
            is_parted = false;
        }
        words.push(letter);
    }
    if words.is_empty() { cell.to_string() } else { words }
}

/// `cell` without text in square brackets; an unclosed bracket is kept. Marks such as `*` at its end are removed later,
/// as punctuation.
fn without_notes(cell: &str) -> String {
    let mut kept = String::with_capacity(cell.len());
    let mut rest = cell;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((_, behind)) = after.split_once(']') else { break };
        kept.push_str(before);
        rest = behind;
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_forget_what_they_say() {
        let equal = |form: CellForm, a: &str, b: &str| form.hash(a) == form.hash(b);
        assert!(equal(CellForm::Written, " Oslo ", "Oslo") && !equal(CellForm::Written, "oslo", "Oslo"));
        assert!(equal(CellForm::Folded, "São_Paulo [3]*", "sao paulo"));
        assert!(!equal(CellForm::Folded, "Last, First", "First Last"));
        assert!(equal(CellForm::AnyOrder, "Last, First", "First Last"));
        assert!(!equal(CellForm::Folded, "***", "†"), "marks alone mean what they look like");
        assert_eq!(CellForm::Folded.hash("  "), None);
        assert_eq!(folded("a [b"), "a b");
    }

    #[test]
    fn sets_forget_order_and_repeats() {
        let written = CellForm::Written;
        assert_eq!(written.hashes(&["b", "a", "", "b"]), written.hashes(&["a", "b"]));
        assert!(written.hashes(&["", " "]).is_empty());
    }
}
