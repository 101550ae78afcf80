//! Marks beside each other on a line, put together to pieces of text: spaces between words are places, not characters, in
//! many PDFs.

use super::direction::{by_place, is_right_to_left};

/// Room between two marks that parts words, as a share of the type size. The narrowest space of justified text is about 0.2,
/// kerning at most 0.1.
const WORD_GAP: f64 = 0.15;
/// Room that parts columns or cells of a table.
const COLUMN_GAP: f64 = 1.6;
/// How far a mark may stand back over the one before.
const OVERLAP: f64 = 0.6;
/// A mark that stands higher by so much of its size, and is smaller, is a raised one: a reference or an exponent.
const RAISED: f64 = 0.15;
const SMALLER: f64 = 0.85;

/// What a code showed and where, in points along and across the line.
#[derive(Debug)]
pub struct Mark<'t> {
    /// One or more characters.
    pub text: &'t str,
    /// Where it begins.
    pub x: f64,
    /// Its baseline; greater is higher.
    pub y: f64,
    /// How wide it is.
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
    /// Where it begins, in points.
    pub left: f64,
    /// Where it ends.
    pub right: f64,
    /// Its baseline.
    pub y: f64,
    /// Its type size.
    pub size: f64,
    /// Whether all of it is bold.
    pub is_bold: bool,
}

/// Puts marks together in the order in which they come.
#[derive(Debug, Default)]
pub struct Pieces {
    done: Vec<Piece>,
    current: Option<Piece>,
    is_raised: bool,
    bytes: usize,
}

impl Piece {
    /// Takes a mark that stands to the left of it, where that is the next one: some programs write what is read from right to
    /// left as it is read. Whether it was taken.
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
            // A space of the text; its width says where the next mark is expected.
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
            // What began with something small, a footnote's number say, stands on the line of what follows.
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

    /// The pieces, in the order in which they came.
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
    fn gaps_part_words_and_columns() {
        assert_eq!(texts(&[("ab", 0.0, 0.0, 10.0), ("cd", 10.2, 0.0, 10.0)]), ["abcd"]);
        assert_eq!(texts(&[("ab", 0.0, 0.0, 10.0), ("cd", 13.0, 0.0, 10.0)]), ["ab cd"]);
        assert_eq!(texts(&[("ab", 0.0, 0.0, 10.0), ("cd", 40.0, 0.0, 10.0)]), ["ab", "cd"]);
        assert_eq!(texts(&[("ab", 0.0, 12.0, 10.0), ("cd", 0.0, 0.0, 10.0)]), ["ab", "cd"]);
    }

    #[test]
    fn a_raised_number_is_a_word_of_its_own() {
        let marks = [("CIFAR-10", 0.0, 0.0, 10.0), ("1", 40.0, 3.6, 7.0), ("is", 44.0, 0.0, 10.0)];
        assert_eq!(texts(&marks), ["CIFAR-10 1 is"]);
    }
}
