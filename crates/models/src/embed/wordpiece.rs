//! Splits text into lower-cased words and the words into pieces of a vocabulary, as BERT's uncased tokeniser does.
//!
//! It follows the reference step by step: control characters and accents are dropped, white space separates, punctuation and CJK ideographs
//! are words of their own, everything else is decomposed and lower-cased; then each word is split from the left into the longest pieces in
//! the vocabulary. There is one difference: a word that the vocabulary cannot spell gives no token, where the reference gives `[UNK]`. It
//! does not detect languages and does not stem.
//!
//! The idea: the vocabulary is not copied from the model's bytes. An open-addressing table of token numbers with a part of the hash finds a
//! piece without building a string, and a word is assembled on the stack.

use std::borrow::Cow;

use unicode_normalization::char::decompose_canonical;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::unicode_ranges::{DROP, ISOLATE, SPACE};

/// Words of more characters give no tokens, as in the reference.
const MAX_WORD_CHARS: usize = 100;
const ID_BITS: u32 = 20;
const ID_MASK: u32 = (1 << ID_BITS) - 1;
const EMPTY: u32 = u32::MAX;

/// A vocabulary, borrowed or owned, with a hash table over it.
pub(super) struct Vocabulary {
    offsets: Cow<'static, [[u8; 4]]>,
    text: Cow<'static, str>,
    /// `id | part of the hash << ID_BITS`, or [`EMPTY`]; a power of two long and at most half full.
    slots: Vec<u32>,
    longest: usize,
}

impl Vocabulary {
    /// Indexes the pieces `text[offsets[i]..offsets[i + 1]]`; a piece that starts with `##` continues a word.
    ///
    /// `offsets` are little-endian `u32`. Errors name the first piece that is out of order, empty or duplicate.
    pub(super) fn new(
        offsets: impl Into<Cow<'static, [[u8; 4]]>>,
        text: impl Into<Cow<'static, str>>,
    ) -> Result<Self, String> {
        let (offsets, text) = (offsets.into(), text.into());
        let count = offsets.len().saturating_sub(1);
        if count == 0 || count >= ID_MASK as usize {
            return Err(format!("{count} pieces"));
        }
        let mut vocabulary = Self { offsets, text, slots: vec![EMPTY; (count * 2).next_power_of_two()], longest: 0 };
        for id in 0..count {
            let (start, end) = (vocabulary.offset(id), vocabulary.offset(id + 1));
            let piece = vocabulary
                .text
                .get(start..end)
                .filter(|p| !p.is_empty())
                .ok_or_else(|| format!("piece {id} at {start}..{end}"))?;
            let (continues, spelling) = parts(piece.as_bytes());
            let spelling_bytes = spelling.len();
            if vocabulary.find(spelling, continues).is_some() {
                return Err(format!("piece {id} is a duplicate"));
            }
            let (mut slot, tag) = vocabulary.place(spelling, continues);
            while vocabulary.slots[slot] != EMPTY {
                slot = (slot + 1) & (vocabulary.slots.len() - 1);
            }
            vocabulary.slots[slot] = id as u32 | tag;
            vocabulary.longest = vocabulary.longest.max(spelling_bytes);
        }
        Ok(vocabulary)
    }

    /// The vocabulary of a `vocab.txt`: one piece per line, numbered from 0. Errors as [`Vocabulary::new`].
    pub(super) fn of_lines(lines: &str) -> Result<Self, String> {
        let (mut offsets, mut text) = (vec![[0; 4]], String::with_capacity(lines.len()));
        for line in lines.lines() {
            text.push_str(line);
            let end = u32::try_from(text.len()).map_err(|_| "it is longer than 4 GB".to_string())?;
            offsets.push(end.to_le_bytes());
        }
        Self::new(offsets, text)
    }

    /// Number of pieces.
    pub(super) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of a piece, spelled as in the vocabulary.
    pub(super) fn id(&self, piece: &str) -> Option<u32> {
        let (continues, spelling) = parts(piece.as_bytes());
        self.find(spelling, continues)
    }

    /// The spelling of a piece, with `##` in front if it continues a word; empty for an unknown id.
    pub(super) fn piece(&self, id: u32) -> &str {
        let id = id as usize;
        if id + 1 >= self.offsets.len() {
            return "";
        }
        self.text.get(self.offset(id)..self.offset(id + 1)).unwrap_or("")
    }

    fn offset(&self, at: usize) -> usize {
        u32::from_le_bytes(self.offsets[at]) as usize
    }

    /// The first slot for a spelling and its tag bits.
    #[inline]
    fn place(&self, spelling: &[u8], continues: bool) -> (usize, u32) {
        let hash = xxh3_64_with_seed(spelling, u64::from(continues));
        // The top tag bit stays 0, so that no entry equals EMPTY.
        (hash as usize & (self.slots.len() - 1), ((hash >> 40) as u32 & 0x7FF) << ID_BITS)
    }

    #[inline]
    fn find(&self, spelling: &[u8], continues: bool) -> Option<u32> {
        let (mut slot, tag) = self.place(spelling, continues);
        loop {
            let entry = self.slots[slot];
            if entry == EMPTY {
                return None;
            }
            if entry & !ID_MASK == tag {
                let id = entry & ID_MASK;
                if parts(self.piece(id).as_bytes()) == (continues, spelling) {
                    return Some(id);
                }
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// Splits one normalised word (at most [`MAX_WORD_CHARS`] characters) into pieces; all of them or none.
    #[inline]
    fn cut(&self, word: &[u8], f: &mut impl FnMut(u32)) {
        if let Some(id) = self.find(word, false) {
            f(id);
            return;
        }
        let mut ids = [0u32; MAX_WORD_CHARS];
        let mut count = 0;
        let mut start = 0;
        while start < word.len() {
            let mut end = word.len().min(start + self.longest);
            let id = loop {
                if end <= start {
                    return;
                }
                let boundary = word.get(end).is_none_or(|&b| b & 0xC0 != 0x80);
                if boundary && let Some(id) = self.find(&word[start..end], start > 0) {
                    break id;
                }
                end -= 1;
            };
            ids[count] = id;
            count += 1;
            start = end;
        }
        ids[..count].iter().for_each(|&id| f(id));
    }

    /// Calls `f` with the id of every piece of `text`, in order.
    pub(super) fn tokens(&self, text: &str, mut f: impl FnMut(u32)) {
        let mut word = Word::new();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            if byte.is_ascii() {
                at += 1;
                match ASCII[usize::from(byte)] {
                    Class::Keep => word.push_byte(byte.to_ascii_lowercase()),
                    Class::Space => word.flush(self, &mut f),
                    Class::Isolate => {
                        word.flush(self, &mut f);
                        self.cut(&[byte], &mut f);
                    }
                    Class::Drop => {}
                }
                continue;
            }
            let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else {
                return;
            };
            at += c.len_utf8();
            match class(c) {
                Class::Drop => {}
                Class::Space => word.flush(self, &mut f),
                Class::Isolate => {
                    word.flush(self, &mut f);
                    word.push_folded(c, self, &mut f);
                    word.flush(self, &mut f);
                }
                Class::Keep => word.push_folded(c, self, &mut f),
            }
        }
        word.flush(self, &mut f);
    }
}

/// Whether a piece continues a word, and its spelling without the `##`. The piece `##` itself is two hash signs.
#[inline]
fn parts(piece: &[u8]) -> (bool, &[u8]) {
    match piece.strip_prefix(b"##") {
        Some(rest) if !rest.is_empty() => (true, rest),
        _ => (false, piece),
    }
}

/// How the tokeniser handles a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Keep,
    Drop,
    Space,
    Isolate,
}

const ASCII: [Class; 128] = {
    let mut table = [Class::Keep; 128];
    let mut i = 0;
    while i < 128 {
        let byte = i as u8;
        if byte == b' ' || byte == b'\t' || byte == b'\n' || byte == b'\r' {
            table[i] = Class::Space;
        } else if byte.is_ascii_control() {
            table[i] = Class::Drop;
        } else if byte.is_ascii_punctuation() {
            table[i] = Class::Isolate;
        }
        i += 1;
    }
    table
};

fn class(c: char) -> Class {
    if c.is_ascii() {
        return ASCII[c as usize];
    }
    // Latin letters with accents, by far the most frequent characters outside ASCII.
    if ('\u{C0}'..='\u{24F}').contains(&c) {
        return Class::Keep;
    }
    let c = c as u32;
    let inside = |ranges: &[(u32, u32)]| {
        let after = ranges.partition_point(|&(start, _)| start <= c);
        after > 0 && c <= ranges[after - 1].1
    };
    if inside(ISOLATE) {
        Class::Isolate
    } else if inside(DROP) {
        Class::Drop
    } else if inside(SPACE) {
        Class::Space
    } else {
        Class::Keep
    }
}

/// The word under construction: lower-cased, without accents, in UTF-8.
struct Word {
    bytes: [u8; MAX_WORD_CHARS * 4],
    len: usize,
    chars: usize,
}

impl Word {
    fn new() -> Self {
        Self { bytes: [0; MAX_WORD_CHARS * 4], len: 0, chars: 0 }
    }

    #[inline]
    fn push_byte(&mut self, byte: u8) {
        if self.chars < MAX_WORD_CHARS {
            self.bytes[self.len] = byte;
            self.len += 1;
        }
        self.chars = self.chars.saturating_add(1);
    }

    fn push_char(&mut self, c: char) {
        if self.chars < MAX_WORD_CHARS {
            self.len += c.encode_utf8(&mut self.bytes[self.len..]).len();
        }
        self.chars = self.chars.saturating_add(1);
    }

    /// Decomposes, drops accents and lower-cases one character that is not ASCII.
    fn push_folded(&mut self, c: char, vocabulary: &Vocabulary, f: &mut impl FnMut(u32)) {
        decompose_canonical(c, |part| match class(part) {
            Class::Drop => {}
            Class::Space => self.flush(vocabulary, f),
            Class::Isolate => {
                self.flush(vocabulary, f);
                self.push_char(part);
                self.flush(vocabulary, f);
            }
            Class::Keep => part.to_lowercase().for_each(|lower| self.push_char(lower)),
        });
    }

    #[inline]
    fn flush(&mut self, vocabulary: &Vocabulary, f: &mut impl FnMut(u32)) {
        if self.chars > 0 && self.chars <= MAX_WORD_CHARS {
            vocabulary.cut(&self.bytes[..self.len], f);
        }
        self.len = 0;
        self.chars = 0;
    }
}
