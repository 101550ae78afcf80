//! A dictionary of the names of datasets: which record a name means, where that is plain.
//!
//! Precision comes first: a name that could be several records is none of them, and nothing is said to be equal because it looks
//! alike. The rules, of which the first that gives exactly one record counts: (1) equal but for case, spaces and punctuation; (2)
//! equal without words for a part or a use (`test`, `4x`); (3) the same of the main name, before a dash or a parenthesis; (4) the
//! initials of a long name are a title whose description spells the name out; (5) the name is in capitals and the initials of one
//! long title.

use std::collections::HashMap;

use memchr::memmem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::{first_parts, flat, folded, initials, main_name, parts, plain_runs, trimmed_key};

/// Parts of a description in which a name is looked for.
pub(super) const HEAD_PARTS: usize = 400;
/// Letters at the head of a description among which a name has to be spelled out.
const SPELLED_OUT_WITHIN: usize = 400;
/// Shorter keys say too little.
const LEAST_KEY_BYTES: usize = 2;
/// Shorter initials say too little.
pub(super) const LEAST_INITIALS: usize = 3;

/// Why a name means a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MergeRule {
    /// Equal but for case, spaces and punctuation.
    Name,
    /// Equal without words for a part or a use.
    Trim,
    /// The main name is equal without such words.
    Main,
    /// Its initials are the title, and the description spells it out.
    Acronym,
    /// It is the initials of the title.
    Initials,
}

impl MergeRule {
    /// The rule in a clause.
    pub fn says(self) -> &'static str {
        match self {
            MergeRule::Name => "the names are equal but for case, spaces and punctuation",
            MergeRule::Trim => "the names are equal without words for a part or a use, such as `test`",
            MergeRule::Main => "the main names, before a dash or a parenthesis, are equal",
            MergeRule::Acronym => "the title is the initials of the name, and the description spells the name out",
            MergeRule::Initials => "the name is the initials of the title, of no other one",
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            MergeRule::Name => "name",
            MergeRule::Trim => "trim",
            MergeRule::Main => "main",
            MergeRule::Acronym => "acronym",
            MergeRule::Initials => "initials",
        }
    }
}

/// What the dictionary makes of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// This record, by this rule.
    One(usize, MergeRule),
    /// Several records have the same key, so none is meant for sure.
    Several(Vec<usize>, MergeRule),
    /// No rule knows it.
    Unknown,
}

/// The dictionary over the titles and texts of datasets.
pub struct Aliases {
    titles: Vec<String>,
    /// By joined parts.
    by_flat: HashMap<String, Vec<usize>>,
    /// By trimmed key.
    by_key: HashMap<String, Vec<usize>>,
    /// By initials, of titles of three parts or more.
    by_initials: HashMap<String, Vec<usize>>,
    /// The first parts of each text, joined.
    heads: Vec<String>,
}

impl Aliases {
    /// Over `datasets`: title, and title with description.
    pub fn new<'a>(datasets: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let (mut titles, mut heads) = (Vec::new(), Vec::new());
        let mut by_flat: HashMap<String, Vec<usize>> = HashMap::new();
        let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
        let mut by_initials: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, (title, text)) in datasets.enumerate() {
            let parts = parts(title);
            by_flat.entry(parts.concat()).or_default().push(place);
            let key = trimmed_key(title);
            if key.len() >= LEAST_KEY_BYTES {
                by_key.entry(key).or_default().push(place);
            }
            if parts.len() >= LEAST_INITIALS {
                for form in initials(&plain_runs(&folded(title))) {
                    by_initials.entry(form).or_default().push(place);
                }
            }
            heads.push(first_parts(text, HEAD_PARTS).concat());
            titles.push(title.to_string());
        }
        by_flat.remove("");
        Self { titles, by_flat, by_key, by_initials, heads }
    }

    /// The titles.
    pub fn titles(&self) -> &[String] {
        &self.titles
    }

    /// The first parts of a dataset's text, joined.
    pub fn head(&self, dataset: usize) -> &str {
        &self.heads[dataset]
    }

    /// Datasets whose title is `flat` when its parts are joined.
    pub fn of_flat(&self, flat: &str) -> &[usize] {
        self.by_flat.get(flat).map_or(&[], Vec::as_slice)
    }

    /// The dataset that `name` means.
    pub fn meaning(&self, name: &str) -> Meaning {
        let main = main_name(name);
        let keyed = |key: String| match key.len() >= LEAST_KEY_BYTES {
            true => self.by_key.get(&key).map_or(&[][..], Vec::as_slice),
            false => &[],
        };
        for (rule, found) in [
            (MergeRule::Name, self.of_flat(&flat(name))),
            (MergeRule::Trim, keyed(trimmed_key(name))),
            (MergeRule::Main, keyed(trimmed_key(&main))),
        ] {
            match found {
                [] => {}
                [one] => return Meaning::One(*one, rule),
                several => return self.spelled_alike(name, several, rule),
            }
        }
        self.by_initials(&main)
    }

    /// Of several records with one key, the one that is spelled as the name is.
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
        if words.len() >= LEAST_INITIALS {
            let mut found: Vec<usize> = initials(&words)
                .iter()
                .filter(|form| form.len() >= LEAST_INITIALS)
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
        if words.len() == 1 && flat.len() >= LEAST_INITIALS && in_capitals {
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
