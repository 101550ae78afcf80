//! Names of tables and columns in another language: which one a lake has, what a name is in English, and what an English word is in it.
//!
//! Names are short and without grammar, and write `ä` as `ae`: a language is told from how many words of them it has and English has not.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use frostem::{Algorithm, Stemmer};

use super::lexicon::texts_in;
use super::{Language, Lexicon, Lexicons, folded, is_english_word, is_han, stem, words};
use lakeward_core::text::{abbreviations, name_words};

/// Words of names that a language has alone, at least, and their share of those that it or English has.
const LEAST_WORDS: usize = 2;
const LEAST_SHARE: f64 = 0.25;
/// Words of a name, at most.
const LONGEST_NAME: usize = 5;
/// Letters of a word of a name, at least.
const SHORTEST_WORD: usize = 3;
/// Letters of a beginning that stands for a word.
const BEGINNING: usize = 4;
/// What an English word is in another language, at most.
const MOST_WORDS: usize = 8;

/// A language and what English words are in it, by their stems.
type InLanguage = HashMap<String, Vec<&'static str>>;

impl Language {
    /// The language of `names`, which are those of columns and tables; none for English, and where too few are known.
    pub fn of_names<'n>(names: impl Iterator<Item = &'n str>) -> Option<Self> {
        // A sentence is no name, whoever put it there.
        let said: BTreeSet<String> =
            names.map(name_words).filter(|words| words.len() <= LONGEST_NAME).flatten().collect();
        let said = || said.iter().filter(|word| word.chars().count() >= SHORTEST_WORD || word.chars().all(is_han));
        // `precipitation` and `min` are English, whatever else they are.
        let mut others: Vec<&String> = said().filter(|word| !is_english_word(word)).collect();
        if others.len() < LEAST_WORDS {
            return None;
        }
        let lexicons = Lexicons::builtin();
        others.retain(|word| !lexicons.is_english(word));
        let of_one = |language: &Self| {
            let lexicon = lexicons.of(*language);
            (others.iter().filter(|word| lexicon.has(word, *language)).count(), *language)
        };
        let english = said().count() - others.len();
        let (known, language) = Self::ALL.iter().map(of_one).max_by_key(|(known, _)| *known)?;
        let share = known as f64 / (known + english).max(1) as f64;
        (known >= LEAST_WORDS && share >= LEAST_SHARE).then_some(language)
    }

    /// A name in English words; none where no word of it is known, or it is English.
    pub fn name_in_english(self, name: &str) -> Option<String> {
        let lexicons = Lexicons::builtin();
        let lexicon = lexicons.of(self);
        let mut is_known = false;
        let mut put = |word: String| {
            let english = if lexicons.is_english(&word) { None } else { lexicon.name(&word, self) };
            is_known |= english.is_some();
            english.unwrap_or(word)
        };
        let english = name_words(name).into_iter().map(&mut put).collect::<Vec<_>>().join(" ");
        is_known.then_some(english)
    }

    /// What two `values` mean that are this language's yes and no, or the letters that begin them; nothing of others.
    pub fn yes_and_no(self, values: &[String]) -> Vec<(String, String)> {
        let find = |english: &str| {
            let said: Vec<String> = self.words_for(english).iter().map(|word| folded(word)).collect();
            let is_it = |value: &&String| {
                let value = folded(value);
                let is_letter = value.chars().count() == 1;
                said.iter().any(|word| *word == value || (is_letter && word.starts_with(&value)))
            };
            values.iter().find(is_it)
        };
        match (values, find("yes"), find("no")) {
            ([_, _], Some(yes), Some(no)) if yes != no => {
                vec![("yes".into(), yes.clone()), ("no".into(), no.clone())]
            }
            _ => Vec::new(),
        }
    }

    /// What an English word or short term is in this language, as names write it, in small letters.
    pub fn words_for(self, english: &str) -> &'static [&'static str] {
        static BUILT: [OnceLock<InLanguage>; 4] = [const { OnceLock::new() }; 4];
        let built = BUILT[self as usize].get_or_init(|| self.words_by_english());
        built.get(&english_key(english)).map_or(&[], |words| &words[..words.len().min(MOST_WORDS)])
    }

    fn words_by_english(self) -> InLanguage {
        let mut from = InLanguage::new();
        for (entry, text) in texts_in(self) {
            from.entry(english_key(entry.english)).or_default().push(text);
        }
        from
    }
}

impl Lexicon {
    /// Whether a word of a name is one of the language as it is said.
    fn has(&self, word: &str, language: Language) -> bool {
        let has = |word: &str| self.said(word).is_some_and(|entry| !entry.is_grammar);
        let plain = folded(word);
        has(&plain) || (language == Language::German && has(&without_umlauts(&plain)))
    }

    /// A word of a name in English: as it is said, in its parts, or by how it begins where that is no other word.
    fn name(&self, word: &str, language: Language) -> Option<String> {
        // `von`, `seit`: in names words of grammar say what they are.
        let whole = |word: &str| {
            let english = self.said(word).map(|entry| entry.english.to_string());
            english.filter(|english| !english.is_empty())
        };
        let plain = folded(word);
        let umlauts = (language == Language::German).then(|| without_umlauts(&plain));
        let stemmer = language.stemmer();
        let by_stem = |word: &str| {
            let entry = self.stem(&stem(stemmer.as_ref()?, word))?;
            Some(entry.english.to_string())
        };
        let forms: Vec<&str> = std::iter::once(plain.as_str()).chain(umlauts.as_deref()).collect();
        let found = forms.iter().find_map(|form| whole(form).or_else(|| by_stem(form)));
        let parts = || {
            let stemmer = stemmer.as_ref().filter(|_| language == Language::German)?;
            forms.iter().find_map(|form| self.compound(form, stemmer)).map(|parts| parts.join(" "))
        };
        let begun = || self.begun(&plain).filter(|_| plain.chars().count() >= BEGINNING).map(str::to_string);
        found.or_else(parts).or_else(begun)
    }
}

/// `ä` written as `ae` is `a`, as everywhere here.
fn without_umlauts(word: &str) -> String {
    word.replace("ae", "a").replace("oe", "o").replace("ue", "u")
}

fn english_key(english: &str) -> String {
    let stemmer = Stemmer::new(Algorithm::English);
    words(english).into_iter().map(|word| stem(&stemmer, &english[word])).collect::<Vec<_>>().join(" ")
}

/// How names may write an English word short: its own abbreviations, and those of what it is in the `language` of the names, beside that itself.
pub fn short_forms(english: &str, language: Option<Language>) -> Vec<String> {
    /// Letters of a beginning, at least and at most.
    const BEGINNINGS: std::ops::RangeInclusive<usize> = 3..=7;
    let mut forms = abbreviations(english);
    for written in
        language.iter().flat_map(|language| language.words_for(english)).flat_map(|word| written_in_names(word))
    {
        forms.extend(
            BEGINNINGS.filter_map(|letters| Some(written[..written.char_indices().nth(letters)?.0].to_string())),
        );
        forms.extend(abbreviations(&written));
        forms.push(written);
    }
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// The ways in which names write a word in small letters: as it is, without accents, and with `ae` for `ä`.
pub fn written_in_names(word: &str) -> Vec<String> {
    let lower = word.to_lowercase();
    let mut spelt = String::with_capacity(lower.len());
    for letter in lower.chars() {
        match letter {
            'ä' => spelt.push_str("ae"),
            'ö' => spelt.push_str("oe"),
            'ü' => spelt.push_str("ue"),
            'ß' => spelt.push_str("ss"),
            other => spelt.push(other),
        }
    }
    let mut ways = vec![folded(&lower), folded(&spelt), lower];
    ways.dedup();
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_language() {
        let of = |names: &[&str]| Language::of_names(names.iter().copied());
        assert_eq!(of(&["datum", "menge_t", "preis", "kunde", "gueltig_ab"]), Some(Language::German));
        assert_eq!(of(&["annee", "commune", "montant_total", "date"]), Some(Language::French));
        assert_eq!(of(&["fecha", "municipio", "importe"]), Some(Language::Spanish));
        assert_eq!(of(&["date", "amount", "price", "customer_id", "valid_from", "country", "name"]), None);
        assert_eq!(of(&["st", "dat", "pax"]), None);
        assert_eq!(of(&["date", "precipitation", "temp_max", "temp_min", "wind", "weather"]), None);
    }

    #[test]
    fn names_are_put_into_english_and_words_into_the_language_of_names() {
        let name = |name: &str| Language::German.name_in_english(name);
        assert_eq!(name("preis").as_deref(), Some("price"));
        assert_eq!(name("nachn").as_deref(), Some("surname"));
        assert_eq!(name("status"), None);
        assert!(Language::German.words_for("customers").contains(&"Kunde"));
        let values = ["N", "J"].map(String::from);
        let meant = [("yes", "J"), ("no", "N")].map(|(said, value)| (said.to_string(), value.to_string()));
        assert_eq!(Language::German.yes_and_no(&values), meant);
        assert_eq!(Language::Spanish.yes_and_no(&values), []);
        assert_eq!(written_in_names("Verspätung"), ["verspatung", "verspaetung", "verspätung"]);
    }
}
