//! The informative phrases of what publishers write: runs of content words, the way they stand in a sentence.
//!
//! The idea is that of RAKE (Rose et al., 2010): function words and punctuation part phrases. No statistics of the lake enter,
//! so that the questions of a table depend on the table alone.

use std::collections::HashSet;
use std::sync::LazyLock;

use lakeward_core::text::bare;

/// Words in one phrase.
const LONGEST_PHRASE: usize = 5;
/// Sentences looked at.
const MOST_SENTENCES: usize = 24;

/// Words that say nothing by themselves, and those that every description of data says.
const FUNCTION_WORDS: &str = " a about above according across after again against all almost along already also although always am \
among an and another any are aren around as at available back based be became because been before being below best between both but by \
came can cannot contains contain containing could couldn covering covers current currently did didn displays displaying do does doesn \
doing don due during each either else etc even ever every few find first five following follows for found four from further get given go had has have \
having he her here hers him his how however i ie if in include included includes including indicate indicates into is isn it its itself \
just know known last least less let like list listed lists located made make makes many may me might more most much must my near \
nor not now of off often on once one only onto or other others our out over own part per please possible provide provided provides \
providing published rather regarding related represent represents said same see seen second seven several shall six she should show showing shown shows \
since so some specific such taken than that the their them then there these they third this those through throughout thus to together too \
toward towards three two under until up upon us used uses using various very via view was we well were what when where whether which while \
who whom whose why will with within without would yes yet you your ";
/// Words about data as such.
const DATA_WORDS: &str = " column columns contact csv data database dataset datasets datei daten datensatz description download field \
fields file files format http https info information link metadata note notes org page portal record records row rows spreadsheet table \
tables update updated updates url visualization website www untitled ";

/// Whether a lower-cased word is none of content.
pub(super) fn is_function_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| FUNCTION_WORDS.split_whitespace().collect());
    WORDS.contains(word)
}

/// Whether a lower-cased word speaks of data as such.
pub(super) fn is_data_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| DATA_WORDS.split_whitespace().collect());
    WORDS.contains(word)
}

/// The lower-cased words of a text: runs of letters and digits, thousands without their commas.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, letter) in letters.iter().enumerate() {
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
            continue;
        }
        let digit = |place: Option<usize>| place.and_then(|place| letters.get(place)).is_some_and(char::is_ascii_digit);
        if *letter == ',' && digit(at.checked_sub(1)) && digit(Some(at + 1)) {
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The sentences of a text, the first of them.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next_is_gap = letters.peek().is_none_or(|(_, next)| next.is_whitespace());
        let ends = letter == '\n' || (matches!(letter, '.' | '!' | '?' | ';') && next_is_gap);
        if ends {
            push_sentence(&mut sentences, &text[start..at]);
            start = at + letter.len_utf8();
        }
        if sentences.len() >= MOST_SENTENCES {
            return sentences;
        }
    }
    push_sentence(&mut sentences, &text[start..]);
    sentences
}

fn push_sentence<'a>(sentences: &mut Vec<&'a str>, sentence: &'a str) {
    let sentence = sentence.trim();
    if sentence.chars().filter(|letter| letter.is_alphabetic()).count() > 2 {
        sentences.push(sentence);
    }
}

/// The phrases of one sentence, as written, in their order, each once.
pub(super) fn phrases(sentence: &str) -> Vec<String> {
    let mut phrases: Vec<String> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for piece in sentence.split_whitespace() {
        let is_address = piece.contains("://") || piece.contains('@') || piece.starts_with("www.");
        let bare = bare(piece);
        let lower = bare.to_lowercase();
        let parts = is_address || bare.is_empty() || is_function_word(&lower) || is_data_word(&lower);
        // `number of days` is one thing.
        if lower == "of" && !open.is_empty() && open.len() + 1 < LONGEST_PHRASE {
            open.push(bare);
            continue;
        }
        if parts || piece.starts_with(['(', '[', '"', '“', '–', '—']) {
            close(&mut open, &mut phrases);
        }
        if parts {
            continue;
        }
        open.push(bare);
        let ends = piece.ends_with([',', ':', ')', ']', '"', '”']) || open.len() >= LONGEST_PHRASE;
        if ends {
            close(&mut open, &mut phrases);
        }
    }
    close(&mut open, &mut phrases);
    phrases
}

fn close(open: &mut Vec<&str>, phrases: &mut Vec<String>) {
    while open.last().is_some_and(|word| word.eq_ignore_ascii_case("of")) {
        open.pop();
    }
    let phrase = open.join(" ");
    open.clear();
    let letters = phrase.chars().filter(|letter| letter.is_alphabetic()).count();
    // A participle or an adverb alone is what is left of a verb: `grouped by`.
    let is_verb = !phrase.contains(' ') && ["ed", "ing", "ly"].iter().any(|end| phrase.ends_with(end));
    if letters > 2 && !is_verb && !phrases.iter().any(|known| known.eq_ignore_ascii_case(&phrase)) {
        phrases.push(phrase);
    }
}

/// The content words of a text, lower-cased, each once.
pub(super) fn content_words(text: &str) -> HashSet<String> {
    words_of(text).into_iter().filter(|word| !is_function_word(word) && !is_data_word(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_words_and_punctuation_part_phrases() {
        let sentence =
            "This indicator includes the number of days hospitalized for Opioid Use Disorder (OUD), and lost wages";
        assert_eq!(
            phrases(sentence),
            ["indicator", "number of days hospitalized", "Opioid Use Disorder", "OUD", "lost wages"]
        );
        assert!(phrases("see https://example.org/data.csv or mail a@b.c").iter().all(|phrase| phrase == "mail"));
    }

    #[test]
    fn sentences_end_where_they_end() {
        assert_eq!(sentences("One two. Three 4.5 five\nsix; seven"), ["One two", "Three 4.5 five", "six", "seven"]);
        assert_eq!(words_of("In 1,234 U.S. towns, 2010-2015"), ["in", "1234", "u", "s", "towns", "2010", "2015"]);
    }
}
