//! Values of a field that mean the same, by how they are written: `Quebec` and `Québec`, `Air Quality Team (GLA)` and `Air Quality Team at
//! the GLA`.
//!
//! Two values mean the same if they have the same words in the same order, without letter case, accents, punctuation and the words that join
//! names. `not`, numbers and single letters count as words: `Stated` is not `Not stated`.

use std::collections::HashMap;

use super::FacetIndex;
use lakeward_core::respect::Respect;
use lakeward_core::text::{fold_into, lower_words, runs};

/// Words between names that say nothing.
const JOINING: [&str; 21] = [
    "the", "of", "at", "in", "for", "and", "an", "de", "la", "le", "les", "du", "des", "der", "die", "das", "und",
    "et", "del", "di", "von",
];

/// The values of roles by their keys.
pub(super) type Alike = HashMap<Respect, HashMap<String, Vec<Box<str>>>>;

/// What values that mean the same have in common; empty for a value without words.
pub fn key_of(value: &str) -> String {
    let mut key = String::new();
    for word in lower_words(value).filter(|word| !JOINING.contains(&word.as_str())) {
        if !key.is_empty() {
            key.push(' ');
        }
        word.chars().for_each(|letter| fold_into(letter, &mut key));
    }
    key
}

/// The same where values of a field have forms of their own: media types of formats, addresses and names of licences.
fn key_in(role: &Respect, value: &str) -> String {
    let own = match role {
        Respect::Licence => creative_commons(value),
        Respect::Format => {
            mime_guess::get_mime_extensions_str(value.trim()).and_then(|all| all.first()).map(|first| key_of(first))
        }
        _ => None,
    };
    own.unwrap_or_else(|| key_of(value))
}

/// A licence of Creative Commons, as `cc by nc 4.0`, by its address, its name or its short form.
fn creative_commons(value: &str) -> Option<String> {
    const PARTS: [(&str, &str); 5] = [
        ("attribution", "by"),
        ("noncommercial", "nc"),
        ("sharealike", "sa"),
        ("noderivatives", "nd"),
        ("noderivs", "nd"),
    ];
    let lower = value.to_lowercase();
    let is_one =
        lower.contains("creativecommons.org/") || lower.contains("creative commons") || lower.starts_with("cc");
    let plain = lower.replace("non-commercial", "noncommercial").replace("share-alike", "sharealike");
    let is_zero =
        plain.contains("publicdomain/zero") || plain.starts_with("cc0") || plain.contains("creative commons zero");
    let mut words: Vec<&str> = runs(&plain, |letter| letter == '.').collect();
    let version = words.iter().find(|word| word.starts_with(|letter: char| letter.is_ascii_digit())).copied();
    words
        .iter_mut()
        .for_each(|word| *word = PARTS.iter().find(|(long, _)| long == word).map_or(*word, |(_, short)| short));
    let terms: Vec<&str> = ["by", "nc", "nd", "sa"].into_iter().filter(|term| words.contains(term)).collect();
    match is_zero {
        true => Some("cc 0".into()),
        false => {
            (is_one && !terms.is_empty()).then(|| format!("cc {} {}", terms.join(" "), version.unwrap_or_default()))
        }
    }
}

impl FacetIndex {
    /// The values of `role` that mean the same as `value`, `value` itself first where it is one, the others by their text; none where no
    /// value does. Cost: the first call reads all values of all roles.
    pub fn alike(&self, role: &Respect, value: &str) -> Vec<&str> {
        let by_key = self.alike.get_or_init(|| self.by_key());
        let key = key_in(role, value);
        let Some(same) = by_key.get(role).and_then(|keys| keys.get(&key)).filter(|_| !key.is_empty()) else {
            return Vec::new();
        };
        let mut same: Vec<&str> = same.iter().map(|text| &**text).collect();
        same.sort_by_key(|text| (*text != value, *text));
        same
    }

    fn by_key(&self) -> Alike {
        let mut by_key = Alike::new();
        for (role, value, _) in self.values() {
            let keys = by_key.entry(role.clone()).or_default();
            keys.entry(key_in(role, value)).or_default().push(value.into());
        }
        by_key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_mean_the_same_have_one_key() {
        for (one, other) in [
            ("Quebec", "Québec"),
            ("Air Quality Team (GLA)", "Air Quality Team at the GLA"),
            ("University of Tromsø", "university of tromso"),
            ("Trinidad and Tobago", "Trinidad & Tobago"),
            ("Department of Health", "Department for Health"),
        ] {
            assert_eq!(key_of(one), key_of(other));
        }
        for (one, other) in [
            ("Not stated", "Stated"),
            ("Bank of England", "England Bank"),
            ("Census 2011", "Census 2021"),
            ("Guinea", "Guinea-Bissau"),
            ("Vitamin A", "Vitamin B"),
        ] {
            assert_ne!(key_of(one), key_of(other));
        }
        assert_eq!(key_of("…"), "");
    }

    #[test]
    fn licences_and_formats_are_one_in_all_their_forms() {
        let licence = |value: &str| key_in(&Respect::Licence, value);
        for form in [
            "https://creativecommons.org/licenses/by/4.0/",
            "CC BY 4.0",
            "cc-by-4.0",
            "Creative Commons Attribution 4.0 International",
        ] {
            assert_eq!(licence(form), "cc by 4.0");
        }
        assert_eq!(licence("CC BY-NC 4.0"), licence("http://creativecommons.org/licenses/by-nc/4.0/legalcode"));
        assert_eq!(licence("CC0 1.0"), licence("https://creativecommons.org/publicdomain/zero/1.0/"));
        assert_eq!(licence("Creative Commons Attribution-NonCommercial 4.0"), "cc by nc 4.0");
        assert_eq!(licence("CCAFS data policy"), "ccafs data policy");
        assert_eq!(key_in(&Respect::Format, "text/csv"), key_in(&Respect::Format, "CSV"));
        assert_eq!(
            key_in(&Respect::Format, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
            "xlsx"
        );
    }
}
