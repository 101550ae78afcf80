//! Values of a field that mean the same, by how they are written: `Quebec` and `Québec`, `Air Quality Team (GLA)` and `Air Quality Team at
//! the GLA`.
//!
//! Two values mean the same if they have the same words in the same order, without letter case, accents, punctuation and the words that join
//! names. `not`, numbers and single letters count as words: `Stated` is not `Not stated`.

use std::collections::HashMap;

use super::FacetIndex;
use lakeward_core::role::Role;
use lakeward_core::text::{fold_into, lower_words};

/// Words between names that say nothing.
const JOINING: [&str; 21] = [
    "the", "of", "at", "in", "for", "and", "an", "de", "la", "le", "les", "du", "des", "der", "die", "das", "und",
    "et", "del", "di", "von",
];

/// The values of roles by their keys.
pub(super) type Alike = HashMap<Role, HashMap<String, Vec<Box<str>>>>;

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

impl FacetIndex {
    /// The values of `role` that mean the same as `value`, `value` itself first where it is one, the others by their text; none where no
    /// value does. Cost: the first call reads all values of all roles.
    pub fn alike(&self, role: &Role, value: &str) -> Vec<&str> {
        let by_key = self.alike.get_or_init(|| self.by_key());
        let key = key_of(value);
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
            keys.entry(key_of(value)).or_default().push(value.into());
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
}
