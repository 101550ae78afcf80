//! Parses the user's text into weighted terms.
//!
//! Everything is words: punctuation, quotes, `AND`, `-` and `*` have no meaning. English stop words are removed if other words remain,
//! except words in capitals among other letters (`WHO`, `IT` and `US` are names).

use hashbrown::HashMap;

use super::analysis::Analyzer;
use super::field::LexicalField;
use lakeward_core::text::{bare, name_key};
use lakeward_models::languages::{Language, short_forms};

/// At most this many distinct terms are searched; a pasted document is truncated.
const MOST_TERMS: usize = 512;
/// Maximum bytes of the user's text that are read.
const LONGEST_TEXT_BYTES: usize = 64 * 1024;

/// Words that do not describe a table: function words and question words.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by",
    "can", "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i", "if",
    "in", "into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "s", "she", "should", "so",
    "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "us",
    "was", "we", "were", "what", "when", "where", "which", "who", "whom", "whose", "why", "will", "with", "would",
    "you", "your",
];

/// Extensions that users type after a table's name.
const EXTENSIONS: &[&str] = &[
    ".arrow", ".avro", ".csv", ".feather", ".gz", ".ipc", ".json", ".jsonl", ".ndjson", ".parquet", ".psv", ".tsv",
    ".txt", ".xlsx", ".zip", ".zst",
];

/// How much a word counts that a name abbreviates, of one that it spells out.
pub const ABBREVIATED: f32 = 0.7;

/// One term to search for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QueryTerm {
    pub term: String,
    /// Whether it is only a part of a camelCase word.
    pub part: bool,
    /// Whether it abbreviates a word that no table spells out, as a part of names.
    pub short: bool,
    /// Number of its occurrences in the query, or the caller's weight.
    pub weight: f32,
    /// Index of the first of [`Query::words`] that produced it.
    pub word: usize,
}

impl QueryTerm {
    /// Whether it is searched in `field`: abbreviations in names alone, parts not in cells.
    pub fn is_in(&self, field: LexicalField) -> bool {
        if self.short { field.has_parts() } else { !self.part || field.takes_parts() }
    }
}

/// A parsed query.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Query {
    /// The user's words as typed, without surrounding punctuation.
    pub words: Vec<String>,
    pub terms: Vec<QueryTerm>,
    /// The whole words in order, as indexes into `terms`; `None` for a stop word.
    pub sequence: Vec<Option<usize>>,
}

impl Query {
    /// Parses a text typed by a user.
    pub fn from_text(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(LONGEST_TEXT_BYTES)];
        let shouted = !text.chars().any(char::is_lowercase);
        let words = text.split_whitespace().map(|word| (word, 1.0, is_stop_word(word, shouted)));
        let query = Query::from_sequence(words);
        if query.terms.is_empty() { Query::from_words(text.split_whitespace().map(|word| (word, 1.0))) } else { query }
    }

    /// The words of weighted texts without duplicates, each with the greatest weight of its texts.
    pub fn from_texts(texts: &[(&str, f32)]) -> Self {
        let mut query = Query::default();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (text, weight) in texts.iter().filter(|(_, weight)| *weight > 0.0 && weight.is_finite()) {
            for term in Query::from_text(text).terms {
                match known.get(&term.term) {
                    Some(at) => {
                        let existing: &mut QueryTerm = &mut query.terms[*at];
                        existing.weight = existing.weight.max(*weight);
                        existing.part &= term.part;
                    }
                    None if query.terms.len() < MOST_TERMS => {
                        known.insert(term.term.clone(), query.terms.len());
                        query.terms.push(QueryTerm { weight: *weight, word: 0, ..term });
                    }
                    None => {}
                }
            }
        }
        query
    }

    /// Words with weights; words whose weight is not positive and finite are left out. No word is a stop word here.
    pub fn from_words<'a>(words: impl IntoIterator<Item = (&'a str, f32)>) -> Self {
        Query::from_sequence(words.into_iter().map(|(word, weight)| (word, weight, false)))
    }

    /// Words with weights, and whether each is a stop word.
    fn from_sequence<'a>(words: impl IntoIterator<Item = (&'a str, f32, bool)>) -> Self {
        let mut analyzer = Analyzer::new(true);
        let mut query = Query::default();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (word, weight, is_stop) in words {
            if is_stop {
                query.sequence.push(None);
                continue;
            }
            if !(weight > 0.0 && weight.is_finite()) {
                continue;
            }
            let mut is_new = false;
            for (term, part) in analyzer.terms(word).iter() {
                let at = known.get(term).copied();
                if !part && query.sequence.len() < MOST_TERMS {
                    query.sequence.push(at.or((query.terms.len() < MOST_TERMS).then_some(query.terms.len())));
                }
                if let Some(at) = at {
                    query.terms[at].weight += weight;
                    query.terms[at].part &= part;
                } else if query.terms.len() < MOST_TERMS {
                    known.insert(term.to_string(), query.terms.len());
                    query.terms.push(QueryTerm {
                        term: term.into(),
                        part,
                        short: false,
                        weight,
                        word: query.words.len(),
                    });
                    is_new = true;
                }
            }
            if is_new {
                query.words.push(bare(word).to_string());
            }
        }
        query
    }

    /// Adds what may abbreviate the words of the terms for which `is_unsaid`, in names in `language`, too; whether there is any.
    pub fn abbreviate(&mut self, language: Option<Language>, is_unsaid: impl Fn(usize) -> bool) -> bool {
        let mut analyzer = Analyzer::new(true);
        let unsaid: Vec<usize> = (0..self.terms.len()).filter(|at| !self.terms[*at].part && is_unsaid(*at)).collect();
        let before = self.terms.len();
        for at in unsaid {
            let QueryTerm { weight, word, .. } = self.terms[at];
            for short in short_forms(&self.words[word].to_lowercase(), language) {
                let terms = analyzer.terms(&short);
                let new = terms
                    .iter()
                    .map(|(term, _)| term)
                    .filter(|term| self.terms.iter().all(|known| known.term != *term));
                let new: Vec<String> = new.map(str::to_string).collect();
                for term in new.into_iter().take(MOST_TERMS.saturating_sub(self.terms.len())) {
                    self.terms.push(QueryTerm { term, part: true, short: true, weight: ABBREVIATED * weight, word });
                }
            }
        }
        self.terms.len() > before
    }
}

/// The keys by which a text names a table exactly: the whole text, and the text without a file extension.
pub(super) fn keys_of(text: &str) -> Vec<String> {
    let text = bare(&text[..text.floor_char_boundary(LONGEST_TEXT_BYTES)]);
    let mut keys = vec![name_key(text)];
    let mut rest = text.to_lowercase();
    while let Some(shorter) = EXTENSIONS.iter().find_map(|extension| rest.strip_suffix(extension)) {
        rest = shorter.to_string();
        keys.push(name_key(&rest));
    }
    keys.retain(|key| !key.is_empty());
    keys
}

/// Whether `word` does not describe a table; a name in capitals does, unless the whole text is `shouted`.
pub(super) fn is_stop_word(word: &str, shouted: bool) -> bool {
    let bare = bare(word);
    let is_name = !shouted && bare.len() > 1 && bare.chars().all(char::is_uppercase);
    !is_name && STOP_WORDS.binary_search(&bare.to_lowercase().as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        Query::from_text(text).terms.into_iter().map(|term| term.term).collect()
    }

    #[test]
    fn stop_words_are_sorted_for_the_search() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn stop_words_go_only_when_others_stay() {
        assert_eq!(terms("Which of the airports is in Niger?"), ["airport", "niger"]);
        assert_eq!(terms("To be or not to be"), ["to", "be", "or", "not"]);
        assert_eq!(
            terms("deaths reported by WHO"),
            ["death", "report", "by", "who"].map(String::from).into_iter().filter(|t| t != "by").collect::<Vec<_>>()
        );
        assert_eq!(terms("WHO IS WHO IN NIGER"), ["niger"]);
    }

    #[test]
    fn repeated_words_weigh_more_and_syntax_is_nothing() {
        let query = Query::from_text("+prices AND (\"price\"~2 OR title:prices*) [a TO");
        let price = query.terms.iter().find(|term| term.term == "price").expect("price is a term");
        assert_eq!(price.weight, 3.0);
        assert_eq!(query.words[price.word], "prices");
    }

    #[test]
    fn a_file_name_has_the_key_of_its_table() {
        assert_eq!(
            keys_of("`energy/food_prices.csv.gz`"),
            ["energyfoodpricescsvgz", "energyfoodpricescsv", "energyfoodprices"]
        );
        assert!(keys_of(" ?! ").is_empty());
    }
}
