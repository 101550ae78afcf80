//! A dictionary of dataset names: which record a name means, where that is certain.
//!
//! Precision comes first: a name that could mean several records means none, and similar spelling alone is never enough. The first
//! rule that matches exactly one record counts: (1) equal except for case, spaces and punctuation; (2) equal without words for a
//! part or a use (`test`, `4x`); (3) the same for the main name, before a dash or a parenthesis; (4) the same without the name of its
//! maker before either; (5) the initials of a long name are a title whose description spells the name out; (6) the name is in capitals
//! and is the initials of exactly one long title.

use std::collections::HashMap;

use memchr::memmem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::{first_parts, flat, folded, initials, main_name, parts, plain_runs, trimmed_key, without_maker};
use crate::papers::extract::is_roman;

/// Parts of a description that are searched for a name.
pub(super) const HEAD_PARTS: usize = 400;
/// Bytes at the start of a description within which a name must be spelled out.
const SPELLED_OUT_WITHIN: usize = 400;
/// Shorter keys are too ambiguous.
const MIN_KEY_BYTES: usize = 2;
/// Shorter initials are too ambiguous.
pub(super) const MIN_INITIALS: usize = 3;

/// Why a name means a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MergeRule {
    /// Equal except for case, spaces and punctuation.
    Name,
    /// Equal without words for a part or a use.
    Trim,
    /// The main names are equal without such words.
    Main,
    /// Equal without the name of the maker before one of them.
    Maker,
    /// The title is the initials of the name, and the description spells the name out.
    Acronym,
    /// The name is the initials of the title.
    Initials,
}

impl MergeRule {
    /// The rule as a clause of a sentence.
    pub fn says(self) -> &'static str {
        match self {
            MergeRule::Name => "the names are equal except for case, spaces and punctuation",
            MergeRule::Trim => "the names are equal without words for a part or a use, such as `test`",
            MergeRule::Main => "the main names, before a dash or a parenthesis, are equal",
            MergeRule::Maker => "the names are equal without the name of the maker before one of them",
            MergeRule::Acronym => "the title is the initials of the name, and the description spells the name out",
            MergeRule::Initials => "the name is the initials of this title and of no other",
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            MergeRule::Name => "name",
            MergeRule::Trim => "trim",
            MergeRule::Main => "main",
            MergeRule::Maker => "maker",
            MergeRule::Acronym => "acronym",
            MergeRule::Initials => "initials",
        }
    }
}

/// The dictionary's result for a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// This record, by this rule.
    One(usize, MergeRule),
    /// Several records have the same key, so the name is ambiguous.
    Several(Vec<usize>, MergeRule),
    /// No rule matches.
    Unknown,
}

/// The dictionary over the titles and texts of datasets.
pub struct Aliases {
    titles: Vec<String>,
    /// By concatenated parts.
    by_flat: HashMap<String, Vec<usize>>,
    /// By trimmed key.
    by_key: HashMap<String, Vec<usize>>,
    /// By trimmed key without the maker, of titles that begin with it.
    by_rest: HashMap<String, Vec<usize>>,
    /// By initials, of titles of three parts or more.
    by_initials: HashMap<String, Vec<usize>>,
    /// The first parts of each text, concatenated.
    heads: Vec<String>,
}

impl Aliases {
    /// Over `datasets`, given as (title, title with description).
    pub fn new<'a>(datasets: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let (mut titles, mut heads) = (Vec::new(), Vec::new());
        let mut by_flat: HashMap<String, Vec<usize>> = HashMap::new();
        let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
        let mut by_rest: HashMap<String, Vec<usize>> = HashMap::new();
        let mut by_initials: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, (title, text)) in datasets.enumerate() {
            let parts = parts(title);
            by_flat.entry(parts.concat()).or_default().push(place);
            let key = trimmed_key(title);
            if key.len() >= MIN_KEY_BYTES {
                by_key.entry(key).or_default().push(place);
            }
            if let Some(rest) = without_maker(title) {
                by_rest.entry(trimmed_key(rest)).or_default().push(place);
            }
            if parts.len() >= MIN_INITIALS {
                for form in initials(&plain_runs(&folded(title))) {
                    by_initials.entry(form).or_default().push(place);
                }
            }
            heads.push(first_parts(text, HEAD_PARTS).concat());
            titles.push(title.to_string());
        }
        by_flat.remove("");
        Self { titles, by_flat, by_key, by_rest, by_initials, heads }
    }

    /// The titles.
    pub fn titles(&self) -> &[String] {
        &self.titles
    }

    /// The first parts of a dataset's text, concatenated.
    pub fn head(&self, dataset: usize) -> &str {
        &self.heads[dataset]
    }

    /// Datasets whose title has the concatenated parts `flat`.
    pub fn of_flat(&self, flat: &str) -> &[usize] {
        self.by_flat.get(flat).map_or(&[], Vec::as_slice)
    }

    /// The dataset that `name` means.
    pub fn meaning(&self, name: &str) -> Meaning {
        let main = main_name(name);
        let keyed = |key: String| match key.len() >= MIN_KEY_BYTES {
            true => self.by_key.get(&key).map_or(&[][..], Vec::as_slice),
            false => &[],
        };
        for (rule, found) in [
            (MergeRule::Name, self.of_flat(&flat(name))),
            (MergeRule::Trim, keyed(trimmed_key(name))),
            (MergeRule::Main, keyed(trimmed_key(&main))),
            (MergeRule::Maker, without_maker(&main).map_or(&[][..], |rest| keyed(trimmed_key(rest)))),
            (MergeRule::Maker, self.by_rest.get(&trimmed_key(&main)).map_or(&[][..], Vec::as_slice)),
        ] {
            match found {
                [] => {}
                [one] => return Meaning::One(*one, rule),
                several => return self.spelled_alike(name, several, rule),
            }
        }
        self.by_initials(&main)
    }

    /// The other name of these that the name at `place` means, by its maker or its initials.
    pub(super) fn other(&self, place: usize) -> Option<(usize, MergeRule)> {
        let name = &self.titles[place];
        let rest = without_maker(name).and_then(|rest| self.by_key.get(&trimmed_key(rest)));
        if let Some([other]) = rest.map(Vec::as_slice) {
            return Some((*other, MergeRule::Maker));
        }
        match self.by_initials(name) {
            Meaning::One(other, rule) if other != place => Some((other, rule)),
            _ => None,
        }
    }

    /// Among several records with the same key, the one spelled like the name.
    fn spelled_alike(&self, name: &str, several: &[usize], rule: MergeRule) -> Meaning {
        let lower = name.to_lowercase();
        let alike: Vec<usize> =
            several.iter().copied().filter(|place| self.titles[*place].to_lowercase() == lower).collect();
        match alike[..] {
            [one] => Meaning::One(one, rule),
            _ => Meaning::Several(several.to_vec(), rule),
        }
    }

    fn by_initials(&self, main: &str) -> Meaning {
        let (folded, flat) = (folded(main), flat(main));
        let words = plain_runs(&folded);
        if words.len() >= MIN_INITIALS {
            let mut found: Vec<usize> = initials(&words)
                .iter()
                .filter(|form| form.len() >= MIN_INITIALS)
                .flat_map(|form| self.of_flat(form))
                .copied()
                .filter(|place| {
                    let at = memmem::find(self.heads[*place].as_bytes(), flat.as_bytes());
                    at.is_some_and(|at| at < SPELLED_OUT_WITHIN)
                })
                .collect();
            found.sort_unstable();
            found.dedup();
            if let [one] = found[..] {
                return Meaning::One(one, MergeRule::Acronym);
            }
        }
        let in_capitals = main.chars().any(char::is_uppercase) && !main.chars().any(char::is_lowercase);
        // `OFC`, `OFC-III`, `OFC 2`.
        let is_number = |word: &&str| is_roman(word) || word.bytes().all(|byte| byte.is_ascii_digit());
        if words.iter().skip(1).all(is_number) && flat.len() >= MIN_INITIALS && in_capitals {
            match self.by_initials.get(&flat).map_or(&[][..], Vec::as_slice) {
                [one] => return Meaning::One(*one, MergeRule::Initials),
                [] => {}
                several => return Meaning::Several(several.to_vec(), MergeRule::Initials),
            }
        }
        Meaning::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_says_one_record_or_none() {
        let datasets = [
            ("Road-Set", "Road-Set. Lanes"),
            ("ORSC", "ORSC. The Open Road Sign Collection has signs"),
            ("Large Scale Lane Atlas", "Large Scale Lane Atlas."),
            ("BIRD", "BIRD."),
            ("BiRD", "BiRD."),
        ];
        let aliases = Aliases::new(datasets.into_iter());
        for (name, expected) in [
            ("roadset", Meaning::One(0, MergeRule::Name)),
            ("The Road-Set test", Meaning::One(0, MergeRule::Trim)),
            ("Road-Set (hard) - 4x", Meaning::One(0, MergeRule::Main)),
            ("Open Road Sign Collection", Meaning::One(1, MergeRule::Acronym)),
            ("LSLA", Meaning::One(2, MergeRule::Initials)),
            ("bird", Meaning::Several(vec![3, 4], MergeRule::Name)),
            ("Road", Meaning::Unknown),
            ("", Meaning::Unknown),
            ("-", Meaning::Unknown),
        ] {
            assert_eq!(aliases.meaning(name), expected, "{name}");
        }
        assert_eq!(Aliases::new([("A B", "")].into_iter()).meaning("\u{0}"), Meaning::Unknown);
    }
}
