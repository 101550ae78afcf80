//! Requests and records in German, French, Spanish and Chinese, put into English word by word.
//!
//! Words and their inflected forms (Snowball stems, without accents) are looked up in `words.tsv` and `countries.tsv`, the longest run of
//! words first; German compounds are taken apart, Chinese is cut into the longest words there are. What is not known stays as it is: names,
//! numbers, identifiers. The words of grammar tell the language, against those that are English. It is no translation: order and sense of
//! ambiguous words are not looked at, which is enough to search with.

mod english;
mod names;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use frostem::{Algorithm, Stemmer};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

pub use english::{english_word_near, is_english_word};
pub use names::{short_forms, written_in_names};

use crate::embed::StaticModel;
use lakeward_core::text::{fold_into, is_function_word, lower_words, on_one_line, shown};

/// Words of catalogues, typed for this project.
const WORDS: &str = include_str!("words.tsv");
/// Names of countries, of the Unicode CLDR.
const COUNTRIES: &str = include_str!("countries.tsv");
/// English words that tell the language, beside the function words.
const ENGLISH: &str = "about all any can could do does each every find from get give has have how i me more my need over per please show \
    since some than under until want we were what when where which who would you";
/// Most words of one entry that are looked up together.
const LONGEST_RUN: usize = 4;
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

/// The words of one language, folded, several joined with a space.
struct Lexicon {
    language: Language,
    said: HashMap<String, Entry>,
    /// The same by their stems, built when a word is not known as it is said.
    stems: OnceLock<HashMap<String, Entry>>,
    longest: usize,
    /// The single words, in order, with their English.
    sorted: OnceLock<Vec<(String, &'static str)>>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    english: &'static str,
    is_grammar: bool,
}

/// A word of a request.
struct Word {
    lower: String,
    folded: String,
    stem: String,
}

struct Lexicons {
    of: Vec<(Language, Lexicon)>,
    /// Stems of the English words.
    english: HashSet<String>,
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
        let (_, lexicon) = Lexicons::builtin().of.iter().find(|(language, _)| *language == self)?;
        match self {
            Self::Chinese => chinese(text, self, lexicon),
            _ => by_words(text, self, lexicon).map(|(_, _, translated)| translated),
        }
    }

    fn stemmer(self) -> Option<Stemmer> {
        Some(Stemmer::new(match self {
            Self::German => Algorithm::German,
            Self::French => Algorithm::French,
            Self::Spanish => Algorithm::Spanish,
            Self::Chinese => return None,
        }))
    }
}

fn folded(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    word.chars().for_each(|letter| fold_into(letter, &mut folded));
    folded
}

fn stem(stemmer: &Stemmer, word: &str) -> String {
    folded(&stemmer.stem(&word.to_lowercase()))
}

/// Runs of letters and digits with their places.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        match words.last_mut() {
            _ if !letter.is_alphanumeric() => {}
            Some(word) if word.end == at => word.end = end,
            _ => words.push(at..end),
        }
    }
    words
}

/// The words of a text, each as `of` puts it, with a space between, and how many they are; none where there is none.
fn joined(text: &str, of: impl Fn(&str) -> String) -> Option<(String, usize)> {
    let parts = words(text);
    let joined = parts.iter().map(|part| of(&text[part.clone()])).collect::<Vec<_>>().join(" ");
    (!parts.is_empty()).then_some((joined, parts.len()))
}

fn is_han(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}')
}

/// What the lists say of each English word: it, and what it is in the languages, in their order.
fn entries() -> impl Iterator<Item = (Entry, std::str::Split<'static, char>)> {
    let lines = WORDS.lines().chain(COUNTRIES.lines()).filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let mut columns = line.split('\t');
        let first = columns.next().unwrap_or_default();
        (Entry { english: first.trim_start_matches('='), is_grammar: first.starts_with('=') }, columns)
    })
}

impl Lexicons {
    fn builtin() -> &'static Self {
        static READ: OnceLock<Lexicons> = OnceLock::new();
        READ.get_or_init(|| {
            // Side by side: a first answer waits for it.
            std::thread::scope(|scope| {
                let of = Language::ALL.map(|language| scope.spawn(move || (language, Lexicon::of(language))));
                let english = Self::english();
                let joined = of.map(|lexicon| lexicon.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
                let of = joined.into();
                Self { of, english }
            })
        })
    }

    fn english() -> HashSet<String> {
        let stemmer = Stemmer::new(Algorithm::English);
        let grammar = foreign_grammar();
        let own = ENGLISH.split_whitespace().map(str::to_string);
        let of_lists = entries().filter(|(entry, _)| !entry.is_grammar).flat_map(|(entry, _)| {
            let said: Vec<&str> = words(entry.english).into_iter().map(|word| &entry.english[word]).collect();
            // `la` of `La Paz` is no English word.
            let is_borrowed = |word: &str| said.len() > 1 && grammar.contains(&word.to_lowercase());
            let own: Vec<&str> = said.iter().copied().filter(|word| !is_borrowed(word)).collect();
            own.into_iter().map(|word| stem(&stemmer, word)).collect::<Vec<_>>()
        });
        own.chain(of_lists).collect()
    }
}

impl Lexicon {
    fn of(language: Language) -> Self {
        let (said, stems) = (HashMap::new(), OnceLock::new());
        let mut lexicon = Self { language, said, stems, longest: 0, sorted: OnceLock::new() };
        for (entry, text) in Self::texts(language) {
            if language == Language::Chinese {
                lexicon.longest = lexicon.longest.max(text.chars().count());
                lexicon.said.entry(text.to_string()).or_insert(entry);
                continue;
            }
            // Words of grammar are as they are written: `à` is no English `a`.
            let written = |part: &str| if entry.is_grammar { part.to_lowercase() } else { folded(part) };
            if let Some((joined, parts)) = joined(text, written) {
                lexicon.longest = lexicon.longest.max(parts.min(LONGEST_RUN));
                lexicon.said.entry(joined).or_insert(entry);
            }
        }
        lexicon
    }

    /// What the lists have in a language, in their order.
    fn texts(language: Language) -> impl Iterator<Item = (Entry, &'static str)> {
        let column = Language::ALL.iter().position(|other| *other == language).unwrap_or_default();
        entries().flat_map(move |(entry, mut columns)| {
            let texts = columns.nth(column).unwrap_or_default().split(',').filter(|text| !text.is_empty());
            texts.map(move |text| (entry, text))
        })
    }

    fn stems(&self) -> &HashMap<String, Entry> {
        self.stems.get_or_init(|| {
            let mut stems = HashMap::new();
            let Some(stemmer) = self.language.stemmer() else { return stems };
            for (entry, text) in Self::texts(self.language).filter(|(entry, _)| !entry.is_grammar) {
                if let Some((joined, _)) = joined(text, |part| stem(&stemmer, part)) {
                    stems.entry(joined).or_insert(entry);
                }
            }
            stems
        })
    }

    /// The entry of a run of words: of grammar as they are written, others as they are said or by their stems.
    fn run(&self, words: &[Word]) -> Option<Entry> {
        let joined = |of: fn(&Word) -> &str| words.iter().map(of).collect::<Vec<_>>().join(" ");
        let grammar = || self.said.get(&joined(|word| &word.lower)).filter(|entry| entry.is_grammar);
        let said = || self.said.get(&joined(|word| &word.folded)).filter(|entry| !entry.is_grammar);
        let stems = || self.stems().get(&joined(|word| &word.stem));
        let [first, ..] = words else { return None };
        let is_english = words.len() == 1 && is_function_word(&first.lower);
        // `aves`, `pays`: plurals that are stemmed otherwise than their singular.
        let singular = || {
            let singulars = ["s", "es"].into_iter().filter_map(|end| first.folded.strip_suffix(end));
            singulars.filter_map(|singular| self.said.get(singular)).find(|entry| !entry.is_grammar && words.len() == 1)
        };
        let other = || if is_english { None } else { said().or_else(stems).or_else(singular) };
        grammar().or_else(other).copied()
    }

    /// The parts of a German compound, each in English.
    fn compound(&self, word: &str, stemmer: &Stemmer) -> Option<Vec<&'static str>> {
        if word.chars().count() > LONGEST_COMPOUND {
            return None;
        }
        let whole = |word: &str| self.said.get(&folded(word)).or_else(|| self.stems().get(&stem(stemmer, word)));
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
    if (text.is_ascii() && words(text).is_empty()) || is_plainly_english(text) {
        return None;
    }
    let lexicons = Lexicons::builtin();
    if text.chars().any(is_han) {
        let (language, lexicon) = lexicons.of.iter().find(|(language, _)| *language == Language::Chinese)?;
        return chinese(text, *language, lexicon);
    }
    let stemmer = Stemmer::new(Algorithm::English);
    let is_english = |word: &str| {
        let word = word.to_lowercase();
        is_function_word(&word) || lexicons.english.contains(&word) || lexicons.english.contains(&stem(&stemmer, &word))
    };
    let (mut english, mut says) = (0, false);
    for word in words(text).into_iter().map(|word| &text[word]).filter(|word| is_english(word)) {
        (english, says) = (english + 1, says || !is_function_word(&word.to_lowercase()));
    }
    let best = lexicons.of.iter().filter_map(|(language, lexicon)| by_words(text, *language, lexicon));
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

/// Whether `text` is English beyond doubt: ASCII, with a word of English grammar and with none that is of another language's grammar alone. Much
/// cheaper than [`translated`], and false of much that is English.
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
        let run = (1..=longest).rev().find_map(|run| Some((run, lexicon.said.get(&text[end(at)..end(at + run)])?)));
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
