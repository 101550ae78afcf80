//! Splitting a text into words.

use std::collections::HashSet;
use std::sync::OnceLock;

/// English function words: the 33 stop words of Lucene's `EnglishAnalyzer`.
const FUNCTION_WORDS: &str = "a an and are as at be but by for if in into is it no not of on or such that the their then there \
    these they this to was will with";

/// The words of `text` as written: maximal runs of letters and digits.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    runs(text, |_| false)
}

/// The [`words`] of `text` in lower case.
pub fn lower_words(text: &str) -> impl Iterator<Item = String> {
    words(text).map(str::to_lowercase)
}

/// Maximal runs of letters, digits and other characters that `inside` accepts, such as `_` in identifiers.
pub fn runs(text: &str, inside: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    text.split(move |letter: char| !(letter.is_alphanumeric() || inside(letter))).filter(|run| !run.is_empty())
}

/// `word` without leading and trailing punctuation: `"towns,"` is `towns`, `don't` stays.
pub fn bare(word: &str) -> &str {
    word.trim_matches(|letter: char| !letter.is_alphanumeric())
}

/// `text` trimmed, with each run of white space replaced by one space.
pub fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for piece in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(piece);
    }
    line
}

/// Whether a lower-case word is one of the English function words that searches ignore.
pub fn is_function_word(word: &str) -> bool {
    static WORDS: OnceLock<HashSet<&str>> = OnceLock::new();
    WORDS.get_or_init(|| FUNCTION_WORDS.split_whitespace().collect()).contains(word)
}

/// The words of a text that say something, as written: without function words; all of it where nothing is left.
pub fn content_words(text: &str) -> String {
    let says = |word: &&str| {
        let bare = bare(word).to_lowercase();
        !bare.is_empty() && !is_function_word(&bare)
    };
    let words: Vec<&str> = text.split_whitespace().filter(says).collect();
    if words.is_empty() { text.to_string() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        let text = "A U.S. state's pop_2020 (Élan, 02134) 表";
        assert_eq!(
            words(text).collect::<Vec<_>>(),
            ["A", "U", "S", "state", "s", "pop", "2020", "Élan", "02134", "表"]
        );
        assert_eq!(lower_words("Élan VITAL").collect::<Vec<_>>(), ["élan", "vital"]);
        assert_eq!(runs("pop_2020-x", |letter| letter == '_').collect::<Vec<_>>(), ["pop_2020", "x"]);
        assert_eq!(words(" — ?!").count(), 0);
    }

    #[test]
    fn punctuation_and_white_space_go() {
        assert_eq!(["(towns),", "don't", "--", ""].map(bare), ["towns", "don't", "", ""]);
        assert_eq!(on_one_line(" a\n\t b  c "), "a b c");
        assert!(is_function_word("the") && !is_function_word("towns") && !is_function_word(""));
    }
}
