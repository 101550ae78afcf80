//! Requests and records in German, French, Spanish and Chinese, put into English word by word.
//!
//! Words and their inflected forms (Snowball stems, without accents) are looked up in `words.tsv` and `countries.tsv`, the longest run of
//! words first; German compounds are taken apart, Chinese is cut into the longest words there are. What is not known stays as it is: names,
//! numbers, identifiers. The words of grammar tell the language, against those that are English. It is no translation: order and sense of
//! ambiguous words are not looked at, which is enough to search with.

mod english;
mod lexicon;
mod names;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use frostem::{Algorithm, Stemmer};
use serde::{Deserialize, Serialize};

pub use english::{english_word_near, is_english_word};
use lexicon::{Entry, Lexicon, Lexicons, WORDS, folded, stem, words};
pub use names::{short_forms, written_in_names};

use crate::embed::StaticModel;
use lakeward_core::text::{is_function_word, lower_words, on_one_line, shown};

/// English words that tell the language, beside the function words.
const ENGLISH: &str = "about all any can could do does each every find from get give has have how i me more my need over per please show \
    since some than under until want we were what when where which who would you";
/// Shortest part of a German compound, in letters.
const SHORTEST_PART: usize = 3;
/// Shortest compound, in letters, that alone tells a text to be German: `append` is not "app" and "end".
const TELLING_COMPOUND: usize = 8;
/// Words that a note lists.
const MOST_LISTED: usize = 12;
/// Longest German compound that is taken apart, in letters: each of its endings is tried.
const LONGEST_COMPOUND: usize = 80;
/// What stands between the parts of a German compound.
const LINKS: [&str; 6] = ["", "s", "es", "n", "en", "er"];

/// A language that requests are put into English from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// German.
    German,
    /// French.
    French,
    /// Spanish.
    Spanish,
    /// Chinese, simplified.
    Chinese,
}

/// A request in English words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translated {
    /// The language it was said in.
    pub language: Language,
    /// The request with the words that are known in English, the others as they were.
    pub text: String,
    /// The words that carry meaning, as said and in English.
    pub words: Vec<(String, String)>,
    /// Words that are not known.
    pub unknown: Vec<String>,
}

/// A word of a request.
struct Word {
    lower: String,
    folded: String,
    stem: String,
}

impl Language {
    const ALL: [Self; 4] = [Self::German, Self::French, Self::Spanish, Self::Chinese];

    /// Its English name.
    pub fn name(self) -> &'static str {
        match self {
            Self::German => "German",
            Self::French => "French",
            Self::Spanish => "Spanish",
            Self::Chinese => "Chinese",
        }
    }

    /// The one that `text` is in; none for English, and for what has no known word.
    pub fn of(text: &str) -> Option<Self> {
        translated(text).map(|translated| translated.language)
    }

    /// A text that is in this language in English words; none where no word is known.
    pub fn in_english(self, text: &str) -> Option<Translated> {
        let lexicon = Lexicons::builtin().of(self);
        match self {
            Self::Chinese => chinese(text, self, lexicon),
            _ => by_words(text, self, lexicon).map(|(_, _, translated)| translated),
        }
    }

    fn stemmer(self) -> Option<Stemmer> {
        self.algorithm().map(Stemmer::new)
    }

    fn algorithm(self) -> Option<Algorithm> {
        match self {
            Self::German => Some(Algorithm::German),
            Self::French => Some(Algorithm::French),
            Self::Spanish => Some(Algorithm::Spanish),
            Self::Chinese => None,
        }
    }
}

fn is_han(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}')
}

impl Lexicon {
    /// The entry of a run of words: of grammar as they are written, others as they are said or by their stems.
    fn run(&self, words: &[Word]) -> Option<Entry> {
        let joined = |of: fn(&Word) -> &str| words.iter().map(of).collect::<Vec<_>>().join(" ");
        let grammar = || self.said(&joined(|word| &word.lower)).filter(|entry| entry.is_grammar);
        let said = || self.said(&joined(|word| &word.folded)).filter(|entry| !entry.is_grammar);
        let stems = || self.stem(&joined(|word| &word.stem));
        let [first, ..] = words else { return None };
        let is_english = words.len() == 1 && is_function_word(&first.lower);
        // `aves`, `pays`: plurals that are stemmed otherwise than their singular.
        let singular = || {
            let singulars = ["s", "es"].into_iter().filter_map(|end| first.folded.strip_suffix(end));
            singulars.filter_map(|singular| self.said(singular)).find(|entry| !entry.is_grammar && words.len() == 1)
        };
        let other = || if is_english { None } else { said().or_else(stems).or_else(singular) };
        grammar().or_else(other)
    }

    /// The parts of a German compound, each in English.
    fn compound(&self, word: &str, stemmer: &Stemmer) -> Option<Vec<&'static str>> {
        if word.chars().count() > LONGEST_COMPOUND {
            return None;
        }
        let whole = |word: &str| self.said(&folded(word)).or_else(|| self.stem(&stem(stemmer, word)));
        let meant = |word: &str| whole(word).filter(|entry| !entry.is_grammar).map(|entry| entry.english);
        // The longest last part first: it says what the thing is.
        for (at, _) in word.char_indices().skip(SHORTEST_PART) {
            let (head, tail) = word.split_at(at);
            if tail.chars().count() < SHORTEST_PART {
                break;
            }
            let Some(last) = meant(tail) else { continue };
            for link in LINKS {
                let Some(head) = head.strip_suffix(link).filter(|head| head.chars().count() >= SHORTEST_PART) else {
                    continue;
                };
                let before = meant(head).map(|one| vec![one]).or_else(|| self.compound(head, stemmer));
                if let Some(mut parts) = before {
                    parts.push(last);
                    return Some(parts);
                }
            }
        }
        None
    }
}

impl Translated {
    /// What was made of the words, for who asked.
    pub fn note(&self) -> String {
        let said: Vec<String> = self
            .words
            .iter()
            .take(MOST_LISTED)
            .map(|(word, english)| format!("`{}` {english}", shown(word, 40)))
            .collect();
        let unknown: Vec<String> =
            self.unknown.iter().take(MOST_LISTED).map(|word| format!("`{}`", shown(word, 40))).collect();
        let unknown = if unknown.is_empty() { String::new() } else { format!("; as it is: {}", unknown.join(", ")) };
        format!("read word by word as {}: {}{unknown}", self.language.name(), said.join(", "))
    }
}

/// Whether an English reader can make something of a word: the embedding model has it whole, or in parts of several letters each. Numbers
/// and words of other alphabets are none.
pub fn is_readable(word: &str) -> bool {
    /// Letters of a part on average; of letters thrown together it is 1 to 2.5, of names of substances 3 and more.
    const LETTERS: usize = 3;
    let mut pieces = 0;
    StaticModel::builtin().tokens(word, |_| pieces += 1);
    word.is_ascii() && word.len() > 1 && pieces > 0 && (pieces == 1 || word.len() >= LETTERS * pieces)
}

/// A request in one of the other languages, in English words; none for English, and for what has no known word.
pub fn translated(text: &str) -> Option<Translated> {
    if is_plainly_english(text) || has_only_english_words(text) {
        return None;
    }
    let lexicons = Lexicons::builtin();
    if text.chars().any(is_han) {
        return chinese(text, Language::Chinese, lexicons.of(Language::Chinese));
    }
    let is_english = |word: &str| lexicons.is_english(&word.to_lowercase());
    let (mut english, mut says) = (0, false);
    for word in words(text).into_iter().map(|word| &text[word]).filter(|word| is_english(word)) {
        (english, says) = (english + 1, says || !is_function_word(&word.to_lowercase()));
    }
    let best = Language::ALL.iter().filter_map(|language| by_words(text, *language, lexicons.of(*language)));
    let (known, grammar, found) = best.max_by_key(|(known, _, found)| (*known, Reverse(found.unknown.len())))?;
    // A word of grammar in small letters is none of a name, as in `Los Angeles`.
    let tells = |word: &str| word.len() > 1 && !word.starts_with(char::is_uppercase) && !is_english(word);
    let is_foreign = |said: &str| words(said).iter().any(|word| !is_english_word(&said[word.clone()]));
    let is_compound = |said: &str, english: &str| !said.contains(' ') && english.contains(' ');
    let is_known = |(said, english): &(String, String)| {
        is_foreign(said) && (!is_compound(said, english) || said.chars().count() >= TELLING_COMPOUND)
    };
    let is_sure = grammar.iter().any(|word| tells(word)) || (!says && found.words.iter().any(is_known));
    let differs = found.words.iter().any(|(said, english)| folded(said) != folded(english));
    (known > english && is_sure && differs).then_some(found)
}

/// Whether `text` is English beyond doubt: ASCII, with a word of English grammar and with none that is of another language's grammar alone. False of
/// much that is English, and needs no list of words.
pub fn is_plainly_english(text: &str) -> bool {
    if !text.is_ascii() {
        return false;
    }
    let grammar = foreign_grammar();
    let mut is_english = false;
    for word in lower_words(text) {
        match (is_function_word(&word), word.len() > 1 && grammar.contains(&word)) {
            (false, true) => return false,
            // `in` and `an` are German, too.
            (function, other) => is_english |= function && !other && word.len() > 1,
        }
    }
    is_english
}

/// Whether every word of `text` is one that English has, and none is of another language's grammar: then none tells another language.
fn has_only_english_words(text: &str) -> bool {
    let is_english = |word: Range<usize>| {
        let word = text[word].to_lowercase();
        is_function_word(&word) || (is_english_word(&word) && !foreign_grammar().contains(&word))
    };
    text.is_ascii() && words(text).into_iter().all(is_english)
}

/// Words of grammar of all languages but English, in small letters.
fn foreign_grammar() -> &'static HashSet<String> {
    static READ: OnceLock<HashSet<String>> = OnceLock::new();
    READ.get_or_init(|| {
        let lines = WORDS.lines().filter(|line| line.starts_with('='));
        let said = lines.flat_map(|line| line.split('\t').skip(1)).flat_map(|column| column.split(','));
        said.map(str::to_lowercase).filter(|said| !said.is_empty() && !said.contains(' ')).collect()
    })
}

/// A text put into English word by word, how many of its words are known, and which are of grammar.
fn by_words<'t>(text: &'t str, language: Language, lexicon: &Lexicon) -> Option<(usize, Vec<&'t str>, Translated)> {
    let stemmer = language.stemmer()?;
    let places = words(text);
    let read = |place: &Range<usize>| {
        let word = &text[place.clone()];
        Word { lower: word.to_lowercase(), folded: folded(word), stem: stem(&stemmer, word) }
    };
    let read: Vec<Word> = places.iter().map(read).collect();
    let mut grammar = Vec::new();
    let mut found = Translated { language, text: String::new(), words: Vec::new(), unknown: Vec::new() };
    let (mut known, mut at, mut copied) = (0, 0, 0);
    while at < places.len() {
        let longest = lexicon.longest.min(places.len() - at);
        let run = (1..=longest).rev().find_map(|run| Some((run, lexicon.run(&read[at..at + run])?)));
        let word = &text[places[at].clone()];
        let parts = (run.is_none() && language == Language::German)
            .then(|| lexicon.compound(&word.to_lowercase(), &stemmer))
            .flatten();
        let (taken, english, is_grammar) = match (run, parts) {
            (Some((run, entry)), _) => (run, entry.english.to_string(), entry.is_grammar),
            (None, Some(parts)) => (1, parts.join(" "), false),
            (None, None) => {
                if word.chars().all(char::is_alphabetic) {
                    found.unknown.push(word.to_string());
                }
                at += 1;
                continue;
            }
        };
        let bytes = places[at].start..places[at + taken - 1].end;
        found.text.push_str(&text[copied..bytes.start]);
        found.text.push_str(&english);
        copied = bytes.end;
        known += taken;
        match is_grammar {
            true => grammar.push(&text[bytes]),
            false => found.words.push((text[bytes].to_string(), english)),
        }
        at += taken;
    }
    found.text.push_str(&text[copied..]);
    // What is left of `l'eau` and `¿qué`.
    let plain: String = found.text.chars().map(|c| if matches!(c, '\'' | '’' | '¿' | '¡') { ' ' } else { c }).collect();
    found.text = on_one_line(&plain);
    (known > 0).then_some((known, grammar, found))
}

/// Chinese has no spaces: the longest word that is known at each place.
fn chinese(text: &str, language: Language, lexicon: &Lexicon) -> Option<Translated> {
    let letters: Vec<(usize, char)> = text.char_indices().collect();
    let end = |at: usize| letters.get(at).map_or(text.len(), |(byte, _)| *byte);
    let mut found = Translated { language, text: String::new(), words: Vec::new(), unknown: Vec::new() };
    let mut unknown = String::new();
    let mut at = 0;
    while at <= letters.len() {
        let longest = lexicon.longest.min(letters.len() - at);
        let run = (1..=longest).rev().find_map(|run| Some((run, lexicon.said(&text[end(at)..end(at + run)])?)));
        let letter = letters.get(at).map(|(_, letter)| *letter);
        if !unknown.is_empty() && (run.is_some() || !letter.is_some_and(is_han)) {
            found.text.push(' ');
            found.unknown.push(std::mem::take(&mut unknown));
        }
        match (run, letter) {
            (Some((run, entry)), _) => {
                found.text.push_str(&format!(" {} ", entry.english));
                if !entry.is_grammar {
                    found.words.push((text[end(at)..end(at + run)].to_string(), entry.english.to_string()));
                }
                at += run;
                continue;
            }
            (None, Some(letter)) => {
                if is_han(letter) {
                    unknown.push(letter);
                }
                found.text.extend(
                    if matches!(letter, '，' | '、' | '；' | '：') { [',', ' '] } else { [letter, '\0'] }
                        .into_iter()
                        .filter(|c| *c != '\0'),
                );
            }
            (None, None) => {}
        }
        at += 1;
    }
    found.text = on_one_line(&found.text);
    (!found.words.is_empty()).then_some(found)
}
