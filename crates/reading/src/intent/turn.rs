//! One turn cut into words, what stands between them, and clauses.

/// More of a text is not read: a turn is a few sentences, and what is pasted beyond is not a wish.
const LONGEST_TEXT_BYTES: usize = 8_000;

/// Contractions that are no words: `'s` (of a possessive or of `is`), `'m`, `'re`, …
const CLITICS: [&str; 6] = ["s", "m", "re", "ll", "d", "ve"];

/// A run of letters and digits.
#[derive(Debug, Clone)]
pub(super) struct Word {
    /// First byte in the text.
    pub start: usize,
    /// Byte behind the last, without a possessive `'s`.
    pub end: usize,
    /// Lower-cased, and mended where it was misspelt. `isn't` is one word.
    pub low: String,
    /// Whether it begins with a capital.
    pub capital: bool,
}

/// What stands behind a word, up to the next one or the end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gap {
    /// Only blanks, or one hyphen, quote or apostrophe: the words can belong to one fixed phrase.
    pub joined: bool,
    /// A comma or a bracket.
    pub comma: bool,
    /// A colon.
    pub colon: bool,
    /// The end of a clause.
    pub stop: bool,
    /// A dash or slash directly between, as in `2015-17`.
    pub dash: bool,
}

/// A text and its words.
#[derive(Debug)]
pub(super) struct Turn<'t> {
    /// As it was said, cut to what is read.
    pub text: &'t str,
    /// In order.
    pub words: Vec<Word>,
    /// One behind each word.
    pub gaps: Vec<Gap>,
}

impl<'t> Turn<'t> {
    /// Cuts a text of any length; what is over 8,000 bytes is left out.
    pub fn new(text: &'t str) -> Self {
        let mut end = text.len().min(LONGEST_TEXT_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &text[..end];
        let (words, skipped) = cut(text);
        let mut turn = Turn { text, gaps: Vec::with_capacity(words.len()), words };
        for (at, from) in skipped.iter().enumerate() {
            let to = turn.words.get(at + 1).map_or(text.len(), |next| next.start);
            let between = &text[*from..to];
            let gap = Gap {
                joined: is_joined(between),
                comma: between.contains([',', '(', ')', '[', ']']),
                colon: between.contains(':'),
                stop: is_stop(between, to == text.len()) && !turn.is_abbreviation(at),
                dash: matches!(between.trim(), "-" | "–" | "—" | "/" | "‑"),
            };
            turn.gaps.push(gap);
        }
        turn
    }

    /// The lower-cased word at a place; empty outside.
    pub fn low(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &word.low)
    }

    /// What was said in the words `from..to`.
    pub fn said(&self, from: usize, to: usize) -> &'t str {
        match (self.words.get(from), self.words.get(to.wrapping_sub(1))) {
            (Some(first), Some(last)) if from < to => &self.text[first.start..last.end],
            _ => "",
        }
    }

    /// Bytes between the end of word `left` and the start of word `right`, which comes later.
    pub fn distance(&self, left: usize, right: usize) -> usize {
        match (self.words.get(left), self.words.get(right)) {
            (Some(left), Some(right)) => right.start.saturating_sub(left.end),
            _ => usize::MAX,
        }
    }

    /// The clause of each word, counted from 0: breaks inside one of `values` (words from..to) are none.
    pub fn clauses(&self, values: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
        let mut inside = vec![false; self.words.len()];
        for (from, to) in values {
            // Each value covers the gaps between its words.
            inside[from..to.saturating_sub(1).max(from)].fill(true);
        }
        let mut clause = 0;
        let mut clauses = Vec::with_capacity(self.words.len());
        for (gap, inside) in self.gaps.iter().zip(inside) {
            clauses.push(clause);
            clause += usize::from(gap.stop && !inside);
        }
        clauses
    }

    /// Whether the point behind the word belongs to it: `St. John's`, `No. 5`, `e.g. wheat`.
    fn is_abbreviation(&self, at: usize) -> bool {
        let word = &self.words[at];
        let before = at.checked_sub(1).map_or("", |before| self.low(before));
        let next = self.words.get(at + 1);
        if !self.text[word.end..].starts_with('.') {
            return false;
        }
        match &self.text[word.start..word.end] {
            "St" | "Ste" | "Mt" | "vs" => true,
            "No" | "Nos" => next.is_some_and(|next| next.low.starts_with(|c: char| c.is_ascii_digit())),
            "g" => before == "e",
            "e" => before == "i",
            "S" => before == "u",
            _ => false,
        }
    }
}

/// The words of a text, all of it.
pub(super) fn words(text: &str) -> Vec<Word> {
    cut(text).0
}

/// The words, and where what follows each begins: a dropped `'s` is in neither.
fn cut(text: &str) -> (Vec<Word>, Vec<usize>) {
    let mut words = Vec::new();
    let mut skipped = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find(char::is_alphanumeric) {
        let start = at + offset;
        let mut end = run_end(text, start);
        let mut from = end;
        if let Some(tail) = text[end..].strip_prefix(['\'', '’']) {
            let tail_start = text.len() - tail.len();
            let tail_end = run_end(text, tail_start);
            let clitic = text[tail_start..tail_end].to_lowercase();
            if clitic == "t" && text[start..end].ends_with(['n', 'N']) {
                (end, from) = (tail_end, tail_end);
            } else if CLITICS.contains(&clitic.as_str()) {
                from = tail_end;
            }
        }
        let said = &text[start..end];
        let low = said.to_lowercase().replace('’', "'");
        words.push(Word { start, end, low, capital: said.starts_with(char::is_uppercase) });
        skipped.push(from);
        at = from;
    }
    (words, skipped)
}

fn run_end(text: &str, start: usize) -> usize {
    text[start..].find(|c: char| !c.is_alphanumeric()).map_or(text.len(), |length| start + length)
}

fn is_joined(between: &str) -> bool {
    between.is_empty() || between.chars().all(|c| c.is_whitespace() && c != '\n') || {
        let trimmed = between.trim_matches(' ');
        let quote = |c: char| matches!(c, '\'' | '’' | '"' | '“' | '”' | '`');
        matches!(between, "-" | "‑") || (!trimmed.is_empty() && trimmed.chars().all(|c| quote(c) || c == ' '))
    }
}

/// Points end a clause before a blank or the end (not in `3.5` or `example.org`), a new line always does.
fn is_stop(between: &str, last: bool) -> bool {
    let mut chars = between.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\n' {
            return true;
        }
        if matches!(c, '.' | '!' | '?' | ';' | ':' | '。' | '！' | '？') {
            match chars.peek() {
                None => return last,
                Some(next) if next.is_whitespace() => return true,
                _ => {}
            }
        }
    }
    false
}
