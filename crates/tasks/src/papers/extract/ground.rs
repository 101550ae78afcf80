//! Whether what a model says of a document stands there: names in the sentence that it gives, other words anywhere in what it
//! was told.

use std::collections::HashSet;

use super::cues::{is_dataset_word, words};
use super::gazetteer::{Gazetteer, loose_key};
use super::known::KnownDatasets;
use super::lines::Lines;
use super::patterns;
use lakeward_core::text::{self, letters_and_digits};

/// Shorter words say nothing of what a text is about.
const LEAST_LETTERS: usize = 4;
/// Words are the same where they begin so: forms of one word differ in their ends.
const STEM_LETTERS: usize = 6;
/// Short forms of one document that are looked at.
const MOST_FORMS: usize = 1_000;
/// Words beside which a word for data sets is still no name.
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
    /// The name of the known record, else as it was given.
    pub name: String,
    /// The known record, where exactly one has that name.
    pub record: Option<String>,
}

/// Long and short forms that a document gives to names.
#[derive(Debug, Default)]
pub struct ShortForms(Vec<(String, String)>);

impl ShortForms {
    /// Those of `lines`.
    pub fn of(lines: &Lines<'_>) -> Self {
        let forms = lines.iter().flat_map(|(_, line)| patterns::short_forms(line.text));
        let pairs =
            forms.flat_map(|(short, long)| long.into_iter().map(move |long| (loose_key(short), loose_key(long))));
        Self(pairs.take(MOST_FORMS).collect())
    }

    /// Whether one is a form of the other.
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

/// `name` as `sentence` has it: letter by letter but for case, spaces and dashes, or by a name or short form that is known to
/// mean the same. None where it is no name, or not there.
pub fn name_in(sentence: &str, name: &str, known: &KnownDatasets, forms: &ShortForms) -> Option<GroundedName> {
    let own = loose_key(name);
    if own.chars().count() < 2 || is_no_name(name) {
        return None;
    }
    for hit in known.gazetteer().find(sentence) {
        let found = known.name(hit.value);
        let written = loose_key(&sentence[hit.start..hit.end]);
        if loose_key(&found.title) == own || written == own || forms.are_one(&written, &own) {
            return Some(GroundedName { name: found.title.clone(), record: found.record.clone() });
        }
    }
    let is_there = stands_in(sentence, name) || forms.others(&own).any(|other| key_stands_in(sentence, other));
    let record = known.named(name).and_then(|found| found.record.clone());
    is_there.then(|| GroundedName { name: name.to_string(), record })
}

/// Whether nothing in `name` tells one data set from another.
fn is_no_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    words(&lower).all(|word| is_dataset_word(word) || NO_NAMES.contains(&word))
}

fn stands_in(sentence: &str, name: &str) -> bool {
    let mut names = Gazetteer::default();
    names.add(name, 0, true);
    if !names.find(sentence).is_empty() {
        return true;
    }
    // Longer than the names that are looked for, or with a border inside; and scripts without spaces have no borders of words.
    let is_unspaced = name.chars().any(is_unspaced);
    let at = sentence.to_lowercase().find(&name.to_lowercase());
    at.is_some_and(|at| is_unspaced || has_borders(&sentence.to_lowercase(), at, name.to_lowercase().len()))
}

fn has_borders(text: &str, at: usize, length: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + length..].chars().next();
    let goes_on = |letter: char| letter.is_alphanumeric() && !is_unspaced(letter);
    !before.is_some_and(goes_on) && !after.is_some_and(goes_on)
}

/// Whether a letter is of a script that sets no spaces between words.
fn is_unspaced(letter: char) -> bool {
    u32::from(letter) >= 0x2E80
}

/// Whether a run of whole words of `sentence` has this key.
fn key_stands_in(sentence: &str, wanted: &str) -> bool {
    let mut names = Gazetteer::default();
    names.add(wanted, 0, true);
    !names.find(sentence).is_empty()
}

/// The words of what a model was told.
#[derive(Debug)]
pub struct Excerpted {
    stems: HashSet<String>,
    text: String,
}

impl Excerpted {
    /// Of a text.
    pub fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        Self { stems: informative(&lower).map(stem).collect(), text: letters_and_digits(&lower) }
    }

    /// The share of the informative words of `text` that stand there; of a text without such words, whether it stands there whole.
    pub fn share(&self, text: &str) -> f64 {
        let lower = text.to_lowercase();
        let (mut all, mut there) = (0u32, 0u32);
        for word in informative(&lower) {
            all += 1;
            there += u32::from(self.stems.contains(&stem(word)));
        }
        match all {
            0 => {
                let letters = letters_and_digits(&lower);
                f64::from(u8::from(!letters.is_empty() && self.text.contains(&letters)))
            }
            all => f64::from(there) / f64::from(all),
        }
    }
}

fn informative(lower: &str) -> impl Iterator<Item = &str> {
    // Scripts without spaces have sentences for words: those are looked for whole.
    text::words(lower).filter(|word| word.chars().count() >= LEAST_LETTERS && !word.chars().any(is_unspaced))
}

fn stem(word: &str) -> String {
    word.strip_suffix('s').unwrap_or(word).chars().take(STEM_LETTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::extract::KnownRecord;

    #[test]
    fn a_name_has_to_stand_in_its_sentence() {
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
    fn words_have_to_stand_in_what_was_told() {
        let told = Excerpted::of("We detect lanes from one camera. 我们识别图像。");
        assert_eq!(told.share("detecting lanes from cameras"), 1.0);
        assert!(told.share("buying cheap lanes") < 0.5);
        assert_eq!((told.share("识别图像"), told.share("翻译"), told.share("")), (1.0, 0.0, 0.0));
    }
}
