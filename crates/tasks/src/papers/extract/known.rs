//! Known datasets and the names by which documents may call them.

use std::collections::{HashMap, HashSet};

use super::cues::is_dataset_word;
use super::gazetteer::Gazetteer;
use super::patterns;
use lakeward_core::text::{letters_and_digits, runs, years};

/// Shorter names, counted in letters and digits, are too ambiguous.
const MIN_LETTERS: usize = 3;
/// Names with fewer count only if the text calls them a dataset.
const STRONG_LETTERS: usize = 4;
/// Bytes used of a title.
const TITLE_BYTES: usize = 512;
/// Maximum number of ordinary words that are stored.
const MAX_WORDS: usize = 1 << 20;

/// A known dataset.
#[derive(Debug, Clone, Copy)]
pub struct KnownRecord<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Its description; lower-case words in it count as ordinary words.
    pub description: &'a str,
}

/// A name of a known dataset.
#[derive(Debug, Clone)]
pub(super) struct KnownName {
    /// Its record's title.
    pub title: String,
    /// Its record's id; none if several records have this name.
    pub record: Option<String>,
    /// Whether it is ambiguous: all its words are ordinary, or it is very short.
    pub is_weak: bool,
}

/// Names to search for.
#[derive(Debug, Default)]
pub struct KnownDatasets {
    names: Vec<KnownName>,
    gazetteer: Gazetteer,
    /// Names with a year, stored without it: `Road Challenge` of `Road Challenge 2012`.
    editions: Gazetteer,
    edition_names: Vec<String>,
    ordinary: HashSet<String>,
    fingerprint: u64,
}

impl KnownDatasets {
    /// The titles of `records`, also without parentheses, short forms in them, and `aliases` (a name and the title it means).
    pub fn new<'a>(
        records: impl Iterator<Item = KnownRecord<'a>>,
        aliases: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let records: Vec<KnownRecord<'a>> = records.collect();
        let mut known = Self { ordinary: ordinary(&records), editions: Gazetteer::before_digits(), ..Self::default() };
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        let mut by_key: HashMap<String, usize> = HashMap::new();
        let mut titles: HashMap<&str, &str> = HashMap::new();
        for record in &records {
            titles.entry(record.title).or_insert(record.id);
            for text in [record.id, record.title, record.description] {
                hash.update(text.as_bytes());
                hash.update(&[0]);
            }
            known.add(record.title, record.title, record.id, &mut by_key);
            if let Some(bare) = without_parentheses(record.title) {
                known.add(&bare, record.title, record.id, &mut by_key);
            }
            for (short, _) in patterns::short_forms(record.title) {
                known.add(short, record.title, record.id, &mut by_key);
            }
        }
        for (alias, title) in aliases {
            hash.update(alias.as_bytes());
            hash.update(&[1]);
            if let Some(id) = titles.get(title) {
                known.add(alias, title, id, &mut by_key);
            }
        }
        known.fingerprint = hash.digest();
        known
    }

    /// A hash that changes with these names.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Number of known names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    fn add(&mut self, name: &str, title: &str, id: &str, by_key: &mut HashMap<String, usize>) {
        let name = name[..name.floor_char_boundary(TITLE_BYTES)].trim();
        let key = letters_and_digits(name);
        let has_figure = name.chars().any(char::is_numeric);
        if key.chars().count() < MIN_LETTERS
            || words(name).all(|word| is_dataset_word(&word.to_lowercase())) && !has_figure
        {
            return;
        }
        if let Some(place) = by_key.get(&key) {
            let same = &mut self.names[*place];
            if same.record.as_deref() != Some(id) {
                same.record = None;
            }
            return;
        }
        let is_weak = self.is_weak(name);
        let is_distinctive = has_figure || words(name).any(|word| !self.is_ordinary(word));
        let any_case = !is_weak && key.chars().count() >= STRONG_LETTERS && is_distinctive;
        by_key.insert(key, self.names.len());
        self.gazetteer.add(name, self.names.len(), any_case);
        self.names.push(KnownName { title: title.to_string(), record: Some(id.to_string()), is_weak });
        self.add_edition(name);
    }

    fn add_edition(&mut self, name: &str) {
        let Some(base) = without_year(name) else { return };
        let has_capitals = base.as_bytes().windows(2).any(|pair| pair.iter().all(u8::is_ascii_uppercase));
        if letters_and_digits(base).len() < MIN_LETTERS || !has_capitals {
            return;
        }
        let place = self.edition_names.len();
        self.edition_names.push(base.to_string());
        self.editions.add(base, place, false);
        let last = base.rsplit(' ').next().unwrap_or_default();
        if last.len() >= MIN_LETTERS && last.bytes().all(|byte| byte.is_ascii_uppercase()) {
            self.editions.add(last, place, false);
        }
    }

    /// Whether a name counts only if the text calls it a dataset, e.g. because all its words are ordinary.
    fn is_weak(&self, name: &str) -> bool {
        if letters_and_digits(name).chars().count() < STRONG_LETTERS {
            return true;
        }
        let bytes = name.as_bytes();
        let is_camel = bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
        let has_lower = bytes.iter().any(u8::is_ascii_lowercase);
        let has_run = bytes.windows(3).any(|run| run.iter().all(u8::is_ascii_uppercase));
        if name.chars().any(char::is_numeric) || is_camel || has_run && has_lower {
            return false;
        }
        words(name).all(|word| self.is_ordinary(word))
    }

    /// Like [`KnownDatasets::is_ordinary`], but every word is ordinary if there are no descriptions.
    pub(super) fn is_ordinary_here(&self, word: &str) -> bool {
        self.ordinary.is_empty() || self.is_ordinary(word)
    }

    /// Whether a word occurs in lower case in the descriptions.
    pub(super) fn is_ordinary(&self, word: &str) -> bool {
        self.ordinary.contains(&word.to_lowercase())
    }

    pub(super) fn gazetteer(&self) -> &Gazetteer {
        &self.gazetteer
    }

    pub(super) fn editions(&self) -> &Gazetteer {
        &self.editions
    }

    pub(super) fn edition(&self, place: usize) -> &str {
        &self.edition_names[place]
    }

    pub(super) fn name(&self, place: usize) -> &KnownName {
        &self.names[place]
    }

    /// The known name with this spelling.
    pub(super) fn named(&self, name: &str) -> Option<&KnownName> {
        self.gazetteer.exact(name).map(|place| &self.names[place])
    }
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty())
}

fn ordinary(records: &[KnownRecord<'_>]) -> HashSet<String> {
    let mut ordinary = HashSet::new();
    for record in records {
        // URLs are in lower case whatever their parts mean.
        let is_prose = |piece: &&str| !piece.contains("://") && !piece.contains("www.") && !piece.contains('@');
        let pieces = record.description.split_whitespace().filter(is_prose);
        for word in pieces.flat_map(|piece| runs(piece, |letter| letter == '_')) {
            let is_lower = word.chars().any(char::is_lowercase) && !word.chars().any(char::is_uppercase);
            if is_lower && !ordinary.contains(word) && ordinary.len() < MAX_WORDS {
                ordinary.insert(word.to_string());
            }
        }
    }
    ordinary
}

fn without_parentheses(title: &str) -> Option<String> {
    let open = title.find('(')?;
    let close = open + title[open..].find(')')?;
    Some(format!("{}{}", title[..open].trim_end(), &title[close + 1..]))
}

/// The part of a name before a year at its end.
fn without_year(name: &str) -> Option<&str> {
    let at = name.len().checked_sub(4)?;
    let year = name.get(at..)?;
    let base = name[..at].trim_end_matches([' ', '_', '-']);
    (years::year(year, years::RECENT).is_some() && base.ends_with(char::is_alphabetic)).then_some(base)
}
