//! Checks a model's answers against the document: names must occur in the given sentence, other words anywhere in the excerpt
//! that the model got.

use std::collections::HashSet;

use super::cues::{is_dataset_word, words};
use super::gazetteer::{Gazetteer, loose_key};
use super::known::KnownDatasets;
use super::lines::Lines;
use super::patterns;
use lakeward_core::text::{self, letters_and_digits};

/// Shorter words are not informative.
const MIN_LETTERS: usize = 4;
/// Length of the prefix by which words are compared: forms of one word differ in their endings.
const STEM_LETTERS: usize = 6;
/// Maximum number of short forms per document.
const MAX_FORMS: usize = 1_000;
/// Words that do not make a name together with a word for datasets.
const NO_NAMES: [&str; 18] = [
    "the",
    "a",
    "an",
    "our",
    "this",
    "these",
    "new",
    "own",
    "training",
    "test",
    "validation",
    "public",
    "large",
    "data",
    "set",
    "sets",
    "of",
    "and",
];

/// A name found in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroundedName {
    /// The name of the known record, otherwise the given name.
    pub name: String,
    /// The id of the known record, if exactly one has that name.
    pub record: Option<String>,
}

/// Long and short forms of names that a document defines.
#[derive(Debug, Default)]
pub struct ShortForms(Vec<(String, String)>);

impl ShortForms {
    /// The forms defined in `lines`.
    pub fn of(lines: &Lines<'_>) -> Self {
        let forms = lines.iter().flat_map(|(_, line)| patterns::short_forms(line.text));
        let pairs =
            forms.flat_map(|(short, long)| long.into_iter().map(move |long| (loose_key(short), loose_key(long))));
        Self(pairs.take(MAX_FORMS).collect())
    }

    /// Whether one is the short form of the other.
    fn are_one(&self, a: &str, b: &str) -> bool {
        self.0.iter().any(|(short, long)| (short == a && long == b) || (short == b && long == a))
    }

    /// The other forms of a name, by its key.
    fn others<'s>(&'s self, own: &'s str) -> impl Iterator<Item = &'s str> {
        self.0.iter().filter_map(move |(short, long)| match (short == own, long == own) {
            (true, _) => Some(long.as_str()),
            (_, true) => Some(short.as_str()),
            _ => None,
        })
    }
}

/// Finds `name` in `sentence`: letter by letter ignoring case, spaces and dashes, or by a known name or short form of the same
/// dataset. `None` if it is not a name or does not occur.
pub fn name_in(sentence: &str, name: &str, known: &KnownDatasets, forms: &ShortForms) -> Option<GroundedName> {
    let own = loose_key(name);
    if own.chars().count() < 2 || is_generic(name) {
        return None;
    }
    for hit in known.gazetteer().find(sentence) {
        let found = known.name(hit.value);
        let written = loose_key(&sentence[hit.start..hit.end]);
        if loose_key(&found.title) == own || written == own || forms.are_one(&written, &own) {
            return Some(GroundedName { name: found.title.clone(), record: found.record.clone() });
        }
    }
    let is_there = occurs_in(sentence, name) || forms.others(&own).any(|other| key_occurs_in(sentence, other));
    let record = known.named(name).and_then(|found| found.record.clone());
    is_there.then(|| GroundedName { name: name.to_string(), record })
}

/// Whether `name` is too generic to identify a dataset.
fn is_generic(name: &str) -> bool {
    let lower = name.to_lowercase();
    words(&lower).all(|word| is_dataset_word(word) || NO_NAMES.contains(&word))
}

fn occurs_in(sentence: &str, name: &str) -> bool {
    let mut names = Gazetteer::default();
    names.add(name, 0, true);
    if !names.find(sentence).is_empty() {
        return true;
    }
    // Names longer than the gazetteer's, or with punctuation inside; and scripts without spaces, which have no word boundaries.
    let is_unspaced = name.chars().any(is_unspaced);
    let at = sentence.to_lowercase().find(&name.to_lowercase());
    at.is_some_and(|at| is_unspaced || has_borders(&sentence.to_lowercase(), at, name.to_lowercase().len()))
}

fn has_borders(text: &str, at: usize, length: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + length..].chars().next();
    let is_word_char = |letter: char| letter.is_alphanumeric() && !is_unspaced(letter);
    !before.is_some_and(is_word_char) && !after.is_some_and(is_word_char)
}

/// Whether a letter belongs to a script without spaces between words.
fn is_unspaced(letter: char) -> bool {
    u32::from(letter) >= 0x2E80
}

/// Whether a run of whole words of `sentence` has this key.
fn key_occurs_in(sentence: &str, key: &str) -> bool {
    let mut names = Gazetteer::default();
    names.add(key, 0, true);
    !names.find(sentence).is_empty()
}

/// The words of the excerpt that a model got.
#[derive(Debug)]
pub struct Excerpted {
    stems: HashSet<String>,
    text: String,
}

impl Excerpted {
    /// The words of `text`.
    pub fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        Self { stems: informative(&lower).map(stem).collect(), text: letters_and_digits(&lower) }
    }

    /// The share of the informative words of `text` in the excerpt; without such words, 1 if the excerpt contains all of `text`, else 0.
    pub fn share(&self, text: &str) -> f64 {
        let lower = text.to_lowercase();
        let (mut total, mut found) = (0u32, 0u32);
        for word in informative(&lower) {
            total += 1;
            found += u32::from(self.stems.contains(&stem(word)));
        }
        match total {
            0 => {
                let letters = letters_and_digits(&lower);
                f64::from(u8::from(!letters.is_empty() && self.text.contains(&letters)))
            }
            total => f64::from(found) / f64::from(total),
        }
    }
}

fn informative(lower: &str) -> impl Iterator<Item = &str> {
    // In scripts without spaces, whole sentences would be words: those are searched for as a whole.
    text::words(lower).filter(|word| word.chars().count() >= MIN_LETTERS && !word.chars().any(is_unspaced))
}

fn stem(word: &str) -> String {
    word.strip_suffix('s').unwrap_or(word).chars().take(STEM_LETTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::extract::KnownRecord;

    #[test]
    fn a_name_must_occur_in_its_sentence() {
        let record = KnownRecord { id: "cat/lanes", title: "Lane Atlas", description: "videos of roads with lanes" };
        let known = KnownDatasets::new([record].into_iter(), [("LA-9", "Lane Atlas")].into_iter());
        let forms = ShortForms(vec![("orsc".into(), "openroadsigncollection".into())]);
        let found = |sentence: &str, name: &str| name_in(sentence, name, &known, &forms);
        let atlas = found("We train on Lane-Atlas.", "LaneAtlas").unwrap();
        assert_eq!((atlas.name.as_str(), atlas.record.as_deref()), ("Lane Atlas", Some("cat/lanes")));
        assert_eq!(found("We train on LA-9.", "Lane Atlas"), Some(atlas));
        assert_eq!(found("Tested on ORSC.", "Open Road Sign Collection").unwrap().record, None);
        assert_eq!(found("Tested on FlockSet.", "flock set").unwrap().name, "flock set");
        assert!(found("数据集CLUE包含九个任务。", "CLUE").is_some());
        for (sentence, name) in [
            ("We train on roads.", "Lane Atlas"),
            ("On the dataset.", "the dataset"),
            ("FlockSetX", "FlockSet"),
            ("x", ""),
        ] {
            assert_eq!(found(sentence, name), None, "{name}");
        }
    }

    #[test]
    fn words_must_occur_in_the_excerpt() {
        let excerpt = Excerpted::of("We detect lanes from one camera. 我们识别图像。");
        assert_eq!(excerpt.share("detecting lanes from cameras"), 1.0);
        assert!(excerpt.share("buying cheap lanes") < 0.5);
        assert_eq!((excerpt.share("识别图像"), excerpt.share("翻译"), excerpt.share("")), (1.0, 0.0, 0.0));
    }
}
