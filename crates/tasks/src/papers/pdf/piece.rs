//! Joins adjacent marks on a line to pieces of text: in many PDFs, spaces between words are gaps, not characters.

use super::direction::{by_place, is_right_to_left};

/// Gap between two marks that separates words, as a share of the type size. The narrowest space of justified text is about 0.2,
/// kerning at most 0.1.
const WORD_GAP: f64 = 0.15;
/// Gap that separates columns or cells of a table.
const COLUMN_GAP: f64 = 1.6;
/// How far a mark may overlap the one before.
const OVERLAP: f64 = 0.6;
/// A smaller mark that is higher by this share of its size is raised: a reference or an exponent.
const RAISED: f64 = 0.15;
const SMALLER: f64 = 0.85;

/// The text of a code and its position, in points along and across the line.
#[derive(Debug)]
pub struct Mark<'t> {
    /// One or more characters.
    pub text: &'t str,
    /// Its left edge.
    pub x: f64,
    /// Its baseline; greater is higher.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// The type size.
    pub size: f64,
    /// Whether its font is a bold one.
    pub is_bold: bool,
}

/// Marks of one line without a wide gap.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Its words.
    pub text: String,
    /// Its left edge, in points.
    pub left: f64,
    /// Its right edge.
    pub right: f64,
    /// Its baseline.
    pub y: f64,
    /// Its type size.
    pub size: f64,
    /// Whether all of it is bold.
    pub is_bold: bool,
}

/// Joins marks in the order of the content stream.
#[derive(Debug, Default)]
pub struct Pieces {
    done: Vec<Piece>,
    current: Option<Piece>,
    is_raised: bool,
    bytes: usize,
}

impl Piece {
    /// Prepends a mark to the left if it is the next one: some programs write right-to-left text in reading order. Returns
    /// whether it was taken.
    fn takes_before(&mut self, mark: &Mark<'_>) -> bool {
        let size = self.size.max(mark.size);
        let gap = self.left - (mark.x + mark.width);
        let is_turned = |text: &str| text.chars().any(is_right_to_left);
        let is_space = mark.text.trim().is_empty();
        let follows = mark.x < self.left && (-OVERLAP * size..=COLUMN_GAP * size).contains(&gap);
        if !follows || !is_turned(&self.text) || !(is_turned(mark.text) || is_space) {
            return false;
        }
        let parts = is_space || gap > WORD_GAP * size;
        let space = if parts && !self.text.starts_with(' ') { " " } else { "" };
        self.text.insert_str(0, space);
        if !is_space {
            self.text.insert_str(0, &by_place(mark.text));
        }
        self.left = mark.x;
        self.is_bold &= mark.is_bold;
        true
    }
}

impl Pieces {
    /// Bytes of text so far.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a mark.
    pub fn push(&mut self, mark: &Mark<'_>) {
        self.bytes += mark.text.len();
        let Some(piece) = &mut self.current else {
            self.begin(mark);
            return;
        };
        let size = piece.size.max(mark.size);
        let (up, gap) = (mark.y - piece.y, mark.x - piece.right);
        if up.abs() <= RAISED * size && piece.takes_before(mark) {
            return;
        }
        if up.abs() > 0.6 * size || gap < -OVERLAP * size || gap > COLUMN_GAP * size {
            self.begin(mark);
            return;
        }
        if mark.text.trim().is_empty() {
            // An explicit space; its width tells where the next mark is expected.
            if !piece.text.ends_with(' ') {
                piece.text.push(' ');
            }
            piece.right = piece.right.max(mark.x + mark.width);
            return;
        }
        let is_raised = mark.size < SMALLER * piece.size && up > RAISED * piece.size;
        // A footnote begins with its raised number.
        let follows_raised = piece.size < SMALLER * mark.size && up < -RAISED * mark.size;
        let parts = gap > WORD_GAP * size || is_raised != self.is_raised || follows_raised;
        self.is_raised = is_raised;
        if parts && !piece.text.ends_with(' ') {
            piece.text.push(' ');
        }
        piece.text.push_str(&by_place(mark.text));
        piece.right = piece.right.max(mark.x + mark.width);
        piece.is_bold &= mark.is_bold;
        if mark.size > piece.size {
            // A piece that began with a small mark, such as a footnote's number, takes size and baseline of what follows.
            (piece.size, piece.y) = (mark.size, mark.y);
        }
    }

    fn begin(&mut self, mark: &Mark<'_>) {
        self.finish_piece();
        self.is_raised = false;
        self.current = Some(Piece {
            text: if mark.text.trim().is_empty() { String::new() } else { by_place(mark.text) },
            left: mark.x,
            right: mark.x + mark.width,
            y: mark.y,
            size: mark.size,
            is_bold: mark.is_bold,
        });
    }

    fn finish_piece(&mut self) {
        self.done.extend(self.current.take().filter(|piece| !piece.text.trim().is_empty()));
    }

    /// The pieces in order.
    pub fn finish(mut self) -> Vec<Piece> {
        self.finish_piece();
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(marks: &[(&str, f64, f64, f64)]) -> Vec<String> {
        let mut pieces = Pieces::default();
        for (text, x, y, size) in marks {
            let width = 0.5 * size * text.chars().count() as f64;
            pieces.push(&Mark { text, x: *x, y: *y, width, size: *size, is_bold: false });
        }
        pieces.finish().into_iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn gaps_separate_words_and_columns() {
        assert_eq!(texts(&[("ab", 0.0, 0.0, 10.0), ("cd", 10.2, 0.0, 10.0)]), ["abcd"]);
        assert_eq!(texts(&[("ab", 0.0, 0.0, 10.0), ("cd", 13.0, 0.0, 10.0)]), ["ab cd"]);
        assert_eq!(texts(&[("ab", 0.0, 0.0, 10.0), ("cd", 40.0, 0.0, 10.0)]), ["ab", "cd"]);
        assert_eq!(texts(&[("ab", 0.0, 12.0, 10.0), ("cd", 0.0, 0.0, 10.0)]), ["ab", "cd"]);
    }

    #[test]
    fn a_raised_number_is_a_separate_word() {
        let marks = [("CIFAR-10", 0.0, 0.0, 10.0), ("1", 40.0, 3.6, 7.0), ("is", 44.0, 0.0, 10.0)];
        assert_eq!(texts(&marks), ["CIFAR-10 1 is"]);
    }
}
