//! Normalises the text of all documents: NFC, ligatures as letters, no control, text-direction or invisible characters, one
//! space between words, words rejoined that a line break split.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization;

const SOFT_HYPHEN: char = '\u{AD}';

/// Normalises a line; a soft hyphen at its end is kept for [`Joiner`].
pub fn line(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let trimmed = text.trim_end();
    for (at, c) in trimmed.char_indices() {
        match c {
            SOFT_HYPHEN if at + c.len_utf8() == trimmed.len() => clean.push(c),
            'ﬀ' => clean.push_str("ff"),
            'ﬁ' => clean.push_str("fi"),
            'ﬂ' => clean.push_str("fl"),
            'ﬃ' => clean.push_str("ffi"),
            'ﬄ' => clean.push_str("ffl"),
            'ﬅ' | 'ﬆ' => clean.push_str("st"),
            // Positional forms of Arabic letters become the letters.
            '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' => clean.extend(std::iter::once(c).nfkc()),
            _ if is_invisible(c) => {}
            _ if c.is_whitespace() || c.is_control() => {
                if !clean.is_empty() && !clean.ends_with(' ') {
                    clean.push(' ');
                }
            }
            _ => clean.push(c),
        }
    }
    clean.truncate(clean.trim_end().len());
    clean.nfc().collect()
}

/// Characters that are invisible or change the text direction.
fn is_invisible(c: char) -> bool {
    matches!(c,
        SOFT_HYPHEN | '\u{061C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFD}' | '\u{E0000}'..='\u{E007F}'
        | '\u{E000}'..='\u{F8FF}')
}

/// Joins lines to paragraphs. A hyphen at a line's end is kept or dropped depending on how the document writes the word elsewhere.
#[derive(Debug, Default)]
pub struct Joiner {
    words: HashSet<String>,
}

impl Joiner {
    /// A joiner that knows the words of a document.
    pub fn new<'t>(lines: impl Iterator<Item = &'t str>) -> Self {
        const MAX_WORDS: usize = 200_000;
        let mut words = HashSet::new();
        for line in lines {
            let mut parts: Vec<&str> = line.split(' ').map(bare).collect();
            // The halves of a split word are not words.
            if ends_cut(line) {
                parts.pop();
            }
            words.extend(parts.into_iter().filter(|word| word.len() > 2).map(str::to_lowercase));
            if words.len() > MAX_WORDS {
                break;
            }
        }
        Self { words }
    }

    /// Appends `next` to `text`.
    pub fn append(&self, text: &mut String, next: &str) {
        if next.is_empty() {
            return;
        }
        if text.is_empty() || text.ends_with('\n') {
            text.push_str(next);
            return;
        }
        if text.ends_with(SOFT_HYPHEN) {
            text.pop();
            text.push_str(next);
            return;
        }
        if !ends_cut(text) {
            text.push(' ');
            text.push_str(next);
            return;
        }
        if !self.keeps_hyphen(text, next) {
            text.pop();
        }
        text.push_str(next);
    }

    fn keeps_hyphen(&self, text: &str, next: &str) -> bool {
        let first =
            bare(text.rsplit([' ', '\n']).next().unwrap_or_default()).trim_end_matches(['-', '‐']).to_lowercase();
        let second = bare(next.split(' ').next().unwrap_or_default()).to_lowercase();
        if self.words.contains(&format!("{first}-{second}")) {
            return true;
        }
        if self.words.contains(&format!("{first}{second}")) {
            return false;
        }
        // A name or a number continues (`CIFAR-10`, `Mask-RCNN`), or a compound with such a part (`x-ray-based`).
        let continues = next.chars().next().is_some_and(char::is_lowercase);
        !continues || first.contains('-') || first.chars().any(|c| c.is_numeric())
    }
}

/// Whether a line ends within a word: with a hyphen after a letter or digit.
fn ends_cut(line: &str) -> bool {
    let mut chars = line.chars().rev();
    match (chars.next(), chars.next()) {
        (Some(SOFT_HYPHEN), _) => true,
        (Some('-' | '‐'), Some(before)) => before.is_alphanumeric(),
        _ => false,
    }
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-' && c != '‐')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_one_form() {
        for (text, expected) in [
            ("  eﬃcient\u{a0} oﬃce\t ", "efficient office"),
            ("a\u{202e}b\u{0}c\u{1b}[31m", "ab c [31m"),
            ("e\u{301}te\u{301}", "été"),
            ("co\u{ad}operate and hyphen\u{ad}", "cooperate and hyphen\u{ad}"),
            ("\u{feff}", ""),
        ] {
            assert_eq!(line(text), expected, "{text:?}");
        }
    }

    #[test]
    fn cut_words_are_whole_again() {
        let lines = [
            "most approaches are two-dimensional and ap-",
            "proaches are two-",
            "dimensional on CIFAR-",
            "10 with state-of-the-",
            "art re\u{ad}",
            "sults and a coeffi-",
            "cient",
        ];
        let joiner = Joiner::new(lines.iter().copied());
        let mut text = String::new();
        lines.iter().for_each(|line| joiner.append(&mut text, line));
        assert_eq!(
            text,
            "most approaches are two-dimensional and approaches are two-dimensional on CIFAR-10 with state-of-the-art results \
             and a coefficient"
        );
    }
}
