//! A request cut into sentences of words: contractions opened (`don't` → `do not`), possessives apart, ranges of numbers
//! apart, names with hyphens whole; and the small tests on words that all readers share.

use super::lexicon::{Class, binds, is};

/// Characters of a request that are read.
pub const MOST_CHARS: usize = 20_000;

/// What a word is taken for, once a reader has understood it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// Part of a place.
    Place,
    /// Part of a period.
    Period,
    /// Part of what one row stands for.
    Grain,
    /// Part of a column wanted.
    Column,
    /// Part of something unwanted.
    Excluded,
}

/// A word, a number or a sign.
#[derive(Debug, Clone)]
pub struct Word {
    /// As written.
    pub text: String,
    /// In lower case; `is` for `'s` after a pronoun, `not` for `n't`.
    pub low: String,
    /// Whether it is a sign: no letter and no digit.
    pub sign: bool,
    /// Whether no space stands before it.
    pub glued: bool,
    /// Who has understood it.
    pub claim: Option<Claim>,
}

impl Word {
    fn new(text: String, glued: bool) -> Self {
        let low = text.to_lowercase();
        let sign = !text.chars().any(char::is_alphanumeric);
        Word { text, low, sign, glued, claim: None }
    }

    /// Whether it begins with a capital letter.
    pub fn is_capital(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }

    /// Whether it is of a class of the lexicon.
    pub fn is(&self, class: Class) -> bool {
        is(&self.low, class)
    }

    /// Whether it can stand in a noun phrase: neither a sign nor a word that only binds others.
    pub fn is_content(&self) -> bool {
        !self.sign && self.text != "'s" && !binds(&self.low)
    }
}

/// A sentence.
#[derive(Debug, Clone, Default)]
pub struct Sentence {
    /// Its words and signs, without the one that ends it.
    pub words: Vec<Word>,
    /// Whether it ends with a question mark.
    pub asks: bool,
}

impl Sentence {
    /// Word `at` in lower case; empty beyond either end.
    pub fn low(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &word.low)
    }

    /// The word before `at` in lower case; empty at the start.
    pub fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |at| self.low(at))
    }

    /// Whether the words from `at` are those of `phrase`, with single spaces between.
    pub fn stands(&self, at: usize, phrase: &str) -> bool {
        phrase.split(' ').enumerate().all(|(offset, word)| self.low(at + offset) == word)
    }

    /// Whether one of `phrases` occurs.
    pub fn has(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| (0..self.words.len()).any(|at| self.stands(at, phrase)))
    }

    /// The text of words `from..to`, single spaces where spaces were.
    pub fn text(&self, from: usize, to: usize) -> String {
        let mut text = String::new();
        for word in self.words.get(from..to).unwrap_or_default() {
            if !text.is_empty() && !word.glued {
                text.push(' ');
            }
            text.push_str(&word.text);
        }
        text
    }

    /// Whether nobody has understood any of `from..to`.
    pub fn is_free(&self, from: usize, to: usize) -> bool {
        self.words.get(from..to).unwrap_or_default().iter().all(|word| word.claim.is_none())
    }

    /// Says that `from..to` are understood.
    pub fn claim(&mut self, from: usize, to: usize, claim: Claim) {
        let to = to.min(self.words.len());
        for word in self.words.get_mut(from..to).unwrap_or_default() {
            word.claim.get_or_insert(claim);
        }
    }

    /// Whether a sign that parts clauses stands at `at`, or an end.
    pub fn is_edge(&self, at: usize) -> bool {
        self.words
            .get(at)
            .is_none_or(|word| word.sign && !matches!(word.low.as_str(), "'" | "\"" | "&" | "+" | "/" | "-"))
    }

    /// The clause that `at` stands in: from the sign before it to the sign after it.
    pub fn clause(&self, at: usize) -> (usize, usize) {
        let from = (0..at).rev().find(|place| self.is_edge(*place)).map_or(0, |place| place + 1);
        let to = (at..self.words.len()).find(|place| self.is_edge(*place)).unwrap_or(self.words.len());
        (from, to)
    }
}

/// The sentences of `text`, of its first [`MOST_CHARS`] characters.
pub fn sentences(text: &str) -> Vec<Sentence> {
    let chars: Vec<char> = text.chars().take(MOST_CHARS).map(plain).collect();
    let mut sentences = vec![Sentence::default()];
    let mut at = 0;
    let mut glued = false;
    while let Some(&c) = chars.get(at) {
        if c.is_alphanumeric() || c == '_' {
            let end = word_end(&chars, at);
            push(&mut sentences, chars[at..end].iter().collect(), glued);
            at = end;
            glued = true;
            continue;
        }
        let next = chars.get(at + 1);
        let ends = match c {
            '\n' | ';' | '!' | '?' => true,
            '.' => next.is_none_or(|next| !next.is_alphanumeric()),
            _ => false,
        };
        if ends {
            if let Some(last) = sentences.last_mut() {
                last.asks |= c == '?';
                if !last.words.is_empty() {
                    sentences.push(Sentence::default());
                }
            }
            glued = false;
        } else if c.is_whitespace() || c.is_control() {
            glued = false;
        } else {
            push(&mut sentences, c.to_string(), glued);
            glued = true;
        }
        at += 1;
    }
    sentences.retain(|sentence| !sentence.words.is_empty());
    sentences
}

/// Quotes and dashes of typesetters as those of typewriters.
fn plain(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{2bc}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' => '"',
        '\u{2010}'..='\u{2015}' => '-',
        _ => c,
    }
}

/// Where the word that begins at `from` ends.
fn word_end(chars: &[char], from: usize) -> usize {
    let mut at = from;
    while let Some(&c) = chars.get(at) {
        let before = at.checked_sub(1).filter(|before| *before >= from).and_then(|before| chars.get(before)).copied();
        let next = chars.get(at + 1).copied();
        let (Some(before), Some(next)) = (before.or(Some(' ')), next.or(Some(' '))) else { break };
        let digits = before.is_ascii_digit() && next.is_ascii_digit();
        let inside = match c {
            '\'' => before.is_alphanumeric() && next.is_alphanumeric(),
            '-' | '/' => before.is_alphanumeric() && next.is_alphanumeric() && !digits,
            ',' => digits && (1..=3).all(|ahead| chars.get(at + ahead).is_some_and(char::is_ascii_digit)),
            '.' => {
                digits
                    || (before.is_uppercase() && (next.is_uppercase() || chars.get(at.wrapping_sub(2)) == Some(&'.')))
            }
            '%' => before.is_alphanumeric(),
            _ => c.is_alphanumeric() || c == '_',
        };
        if !inside {
            break;
        }
        at += 1;
    }
    at.max(from + 1)
}

/// Appends a word, contractions opened.
fn push(sentences: &mut [Sentence], text: String, glued: bool) {
    let Some(sentence) = sentences.last_mut() else { return };
    let words = &mut sentence.words;
    let low = text.to_lowercase();
    if let Some((start, negated)) = negation(&low) {
        let cut = text.char_indices().nth(start.chars().count()).map_or(text.len(), |(at, _)| at);
        let mut word = Word::new(text[..cut].to_string(), glued);
        word.low = negated.to_string();
        let mut not = Word::new(text[cut..].to_string(), true);
        not.low = "not".into();
        not.sign = false;
        words.extend([word, not]);
        return;
    }
    // `June-August`, `pre-2010`: months and years are words of their own.
    if let Some((one, other)) = text.split_once('-') {
        let year = |part: &str| part.len() == 4 && part.bytes().all(|byte| byte.is_ascii_digit());
        let month = |part: &str| is(&part.to_lowercase(), Class::Month);
        if year(other) || month(other) && (month(one) || year(one)) {
            let parts = [(one, glued), ("-", true), (other, true)];
            words.extend(parts.map(|(part, glued)| Word::new(part.to_string(), glued)));
            return;
        }
    }
    let Some((stem, ending)) = text.rsplit_once('\'') else {
        words.push(Word::new(text, glued));
        return;
    };
    let short = ending.to_lowercase();
    if !matches!(short.as_str(), "s" | "d" | "ll" | "m" | "re" | "ve") {
        words.push(Word::new(text, glued));
        return;
    }
    const SUBJECTS: [&str; 13] =
        ["it", "that", "what", "there", "here", "he", "she", "who", "where", "this", "how", "which", "everything"];
    let subject = SUBJECTS.contains(&stem.to_lowercase().as_str());
    words.push(Word::new(stem.to_string(), glued));
    let mut tail = Word::new(format!("'{ending}"), true);
    tail.low = match short.as_str() {
        "s" if subject => "is".into(),
        "s" => "'s".into(),
        "d" => "would".into(),
        "ll" => "will".into(),
        "m" => "am".into(),
        "re" => "are".into(),
        _ => "have".into(),
    };
    words.push(tail);
}

/// The verb of a negated contraction as it begins and as it is meant: `don't` → (`do`, `do`), `won't` → (`wo`, `will`).
fn negation(low: &str) -> Option<(&'static str, &'static str)> {
    const VERBS: [(&str, &str); 20] = [
        ("do", "do"),
        ("does", "does"),
        ("did", "did"),
        ("is", "is"),
        ("are", "are"),
        ("was", "was"),
        ("were", "were"),
        ("ca", "can"),
        ("could", "could"),
        ("wo", "will"),
        ("would", "would"),
        ("should", "should"),
        ("need", "need"),
        ("must", "must"),
        ("has", "has"),
        ("have", "have"),
        ("had", "had"),
        ("might", "might"),
        ("sha", "shall"),
        ("ai", "is"),
    ];
    let start = low.strip_suffix("n't").or_else(|| low.strip_suffix("nt"))?;
    // `want`, `cant` of a hull and `went` are words of their own; `wont` and `cant` are mostly misspelt.
    VERBS.iter().copied().find(|(verb, _)| *verb == start && (low.contains('\'') || !matches!(low, "need" | "dont'")))
}

/// The singular of an English noun, or what comes near enough for comparing and naming.
pub fn singular(word: &str) -> String {
    const IRREGULAR: [(&str, &str); 12] = [
        ("people", "person"),
        ("children", "child"),
        ("men", "man"),
        ("women", "woman"),
        ("indices", "index"),
        ("series", "series"),
        ("species", "species"),
        ("maxima", "maximum"),
        ("minima", "minimum"),
        ("bus", "bus"),
        ("gas", "gas"),
        ("lives", "life"),
    ];
    if let Some((_, one)) = IRREGULAR.iter().find(|(many, _)| *many == word) {
        return (*one).to_string();
    }
    let cut = |ending: &str| word.strip_suffix(ending).filter(|stem| stem.chars().count() > 2);
    if let Some(stem) = cut("ies") {
        return format!("{stem}y");
    }
    for ending in ["sses", "xes", "ches", "shes", "zzes"] {
        if word.ends_with(ending) {
            return word.strip_suffix("es").unwrap_or(word).to_string();
        }
    }
    if ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending)) {
        return word.to_string();
    }
    cut("s").unwrap_or(word).to_string()
}

/// The words of a phrase that carry its meaning, in lower case and in the singular.
pub fn stems(phrase: &str) -> Vec<String> {
    const EMPTY: [&str; 22] = [
        "the", "a", "an", "of", "and", "or", "in", "to", "for", "by", "with", "table", "column", "one", "record",
        "row", "file", "data", "list", "only", "'s", "s",
    ];
    phrase
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| singular(&word.to_lowercase()))
        .filter(|word| !EMPTY.contains(&word.as_str()))
        .collect()
}

/// Whether two phrases name the same thing: the words of the shorter are all in the longer.
pub fn same_thing(one: &str, other: &str) -> bool {
    let (one, other) = (stems(one), stems(other));
    let (few, many) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    !few.is_empty() && few.iter().all(|word| many.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lows(text: &str) -> Vec<Vec<String>> {
        sentences(text).into_iter().map(|s| s.words.into_iter().map(|w| w.low).collect()).collect()
    }

    #[test]
    fn requests_are_cut_into_sentences_of_words() {
        assert_eq!(
            lows("Don't add fy2015-2023, it's 1,000 of PM2.5!"),
            [["do", "not", "add", "fy2015", "-", "2023", ",", "it", "is", "1,000", "of", "pm2.5"]]
        );
        assert_eq!(
            lows("Portland’s in the U.S. TRB% ok? 30-day: 2014/15"),
            vec![vec!["portland", "'s", "in", "the", "u.s.", "trb%", "ok"], vec!["30-day", ":", "2014", "/", "15"]]
        );
        assert!(lows(" \u{7}\n...").is_empty());
    }

    #[test]
    fn singulars_and_likeness() {
        assert_eq!(
            ["cities", "buses", "boxes", "census", "sales"].map(singular),
            ["city", "buse", "box", "census", "sale"]
        );
        assert!(same_thing("electricity", "July-August electricity use") && !same_thing("the", "the"));
    }
}
