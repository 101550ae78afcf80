//! Text analysis into terms: the same for documents and queries.
//!
//! Words are maximal runs of letters and digits, lower-cased, Latin, Greek and Cyrillic accents removed, English words stemmed (Snowball),
//! numbers kept as written (`02134` keeps its zero, `1,234` becomes `1234`). In addition to plain words:
//!
//! * a *part* is a piece of a run cut at camelCase and letter–digit boundaries (`popByState` → `popbystat`, parts `pop`,
//!   `by`, `state`); parts are indexed in ids and headers only, see [`Analyzer::terms`];
//! * a *code* such as `A-320` also gives its joined form `a320`, so both spellings find each other;
//! * scripts written without spaces (Han, kana, Thai, …) and Hangul produce overlapping pairs of characters.
//!
//! Synonyms and stemming of other languages are not supported.

use lakeward_core::text::{Stemmer, fold_into, is_letter};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Longer runs are cut to this many bytes: a hash or a base64 blob is still found by its beginning.
const LONGEST_TERM_BYTES: usize = 64;
/// A code's joined form is added up to this length …
const LONGEST_CODE_BYTES: usize = 12;
/// … and up to this many digits, which excludes time stamps.
const MOST_CODE_DIGITS: usize = 8;

/// The terms of one text, in order, in one allocation.
#[derive(Debug, Default, Clone)]
pub(super) struct Terms {
    text: String,
    ends: Vec<(u32, bool)>,
}

impl Terms {
    /// Each term with whether it is only a part of a longer run.
    pub fn iter(&self) -> impl Iterator<Item = (&str, bool)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(end, _)| *end));
        starts.zip(&self.ends).map(|(start, (end, part))| (&self.text[start as usize..*end as usize], *part))
    }

    fn push(&mut self, term: &str, part: bool) {
        if !term.is_empty() {
            self.text.push_str(term);
            self.ends.push((self.text.len() as u32, part));
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}

/// Splits text into terms. A clone has an empty stem cache.
pub(super) struct Analyzer {
    with_parts: bool,
    stemmer: Stemmer,
    run: Run,
    code: Code,
    terms: Terms,
}

impl Clone for Analyzer {
    fn clone(&self) -> Self {
        Analyzer::new(self.with_parts)
    }
}

impl Analyzer {
    /// `with_parts`: whether the pieces of camelCase and letter–digit runs are terms too.
    pub fn new(with_parts: bool) -> Self {
        Analyzer {
            with_parts,
            stemmer: Stemmer::default(),
            run: Run::default(),
            code: Code::default(),
            terms: Terms::default(),
        }
    }

    /// The terms of `text`; the parts of a run follow it directly.
    pub fn terms(&mut self, text: &str) -> &Terms {
        self.terms.clear();
        let mut at = 0;
        let mut after_apostrophe = false;
        while let Some(letter) = text[at..].chars().next() {
            if is_paired(letter) {
                self.end_run(after_apostrophe);
                self.end_code();
                at += self.add_pairs(&text[at..]);
                continue;
            }
            at += letter.len_utf8();
            if is_letter(letter) {
                self.run.push(letter);
                continue;
            }
            let rest = &text[at..];
            if letter == ',' && self.run.is_number() && starts_with_thousands(rest) {
                continue;
            }
            self.end_run(after_apostrophe);
            after_apostrophe = matches!(letter, '\'' | '’');
            if !(is_connector(letter) && rest.starts_with(char::is_alphanumeric)) {
                self.end_code();
            }
        }
        self.end_run(after_apostrophe);
        self.end_code();
        &self.terms
    }

    /// Emits the run collected so far. A lone `s` or `t` after an apostrophe is English grammar, not a word.
    fn end_run(&mut self, after_apostrophe: bool) {
        let run = &mut self.run;
        if run.folded.is_empty() || (after_apostrophe && matches!(run.folded.as_str(), "s" | "t")) {
            run.clear();
            return;
        }
        self.terms.push(stem(&mut self.stemmer, &run.folded), false);
        if self.with_parts && !run.cuts.is_empty() {
            let mut from = 0;
            for &to in run.cuts.iter().chain(std::iter::once(&run.folded.len())) {
                self.terms.push(stem(&mut self.stemmer, &run.folded[from..to]), true);
                from = to;
            }
        }
        self.code.add(&run.folded);
        run.clear();
    }

    fn end_code(&mut self) {
        if self.code.pieces > 1 && self.code.is_code() {
            self.terms.push(&self.code.joined, false);
        }
        self.code = Code { joined: std::mem::take(&mut self.code.joined), ..Code::default() };
        self.code.joined.clear();
    }

    /// Emits the overlapping character pairs at the beginning of `text`; returns their length in bytes.
    fn add_pairs(&mut self, text: &str) -> usize {
        let end = text.find(|letter| !is_paired(letter)).unwrap_or(text.len());
        let starts: Vec<usize> = text[..end].char_indices().map(|(at, _)| at).chain([end]).collect();
        if starts.len() == 2 {
            self.terms.push(&text[..end], false);
        }
        for pair in starts.windows(3) {
            self.terms.push(&text[pair[0]..pair[2]], false);
        }
        end
    }
}

/// A maximal run of letters and digits, folded while it is read.
#[derive(Default)]
struct Run {
    folded: String,
    /// Byte positions in `folded` where a part ends and the next begins.
    cuts: Vec<usize>,
    /// Class of the last letter and its position in the input.
    last: Option<(Class, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
}

impl Run {
    fn clear(&mut self) {
        self.folded.clear();
        self.cuts.clear();
        self.last = None;
    }

    fn is_number(&self) -> bool {
        !self.folded.is_empty() && self.folded.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn push(&mut self, letter: char) {
        let at = self.folded.len();
        if at >= LONGEST_TERM_BYTES {
            return;
        }
        if letter.is_ascii() {
            self.folded.push(letter.to_ascii_lowercase());
        } else {
            fold_into(letter, &mut self.folded);
        }
        let class = class_of(letter);
        match (self.last, class) {
            (Some((Class::Lower, _)), Class::Upper)
            | (Some((Class::Digit, _)), Class::Upper | Class::Lower)
            | (Some((Class::Upper | Class::Lower, _)), Class::Digit) => self.cut(at),
            // `XMLFile`: the last capital begins the new word.
            (Some((Class::Upper, before)), Class::Lower) => self.cut(before),
            _ => {}
        }
        self.last = Some((class, at));
    }

    fn cut(&mut self, at: usize) {
        if at > 0 && at < self.folded.len() && self.cuts.last() != Some(&at) {
            self.cuts.push(at);
        }
    }
}

/// Runs joined by `-`, `_`, `/` or `.`: a part number, a course code, a road.
#[derive(Default)]
struct Code {
    joined: String,
    pieces: usize,
    letters: usize,
    digits: usize,
}

impl Code {
    fn add(&mut self, run: &str) {
        self.pieces += 1;
        if self.joined.len() <= LONGEST_CODE_BYTES {
            self.joined.push_str(run);
            self.digits += run.bytes().filter(u8::is_ascii_digit).count();
            self.letters += run.bytes().filter(u8::is_ascii_lowercase).count();
        }
    }

    fn is_code(&self) -> bool {
        self.joined.len() <= LONGEST_CODE_BYTES && self.letters > 0 && (1..=MOST_CODE_DIGITS).contains(&self.digits)
    }
}

/// The stem of a folded run; numbers, codes and words of other scripts are kept as they are.
fn stem<'a>(stemmer: &'a mut Stemmer, run: &'a str) -> &'a str {
    const SHORTEST_STEMMED: usize = 3;
    let is_english = run.len() >= SHORTEST_STEMMED && run.bytes().all(|byte| byte.is_ascii_lowercase());
    if is_english { stemmer.stem(run) } else { run }
}

fn class_of(letter: char) -> Class {
    if letter.is_numeric() {
        Class::Digit
    } else if letter.is_uppercase() {
        Class::Upper
    } else {
        Class::Lower
    }
}

fn is_connector(letter: char) -> bool {
    matches!(letter, '-' | '_' | '/' | '.')
}

/// Whether `letter` belongs to a script that is indexed by pairs of characters.
fn is_paired(letter: char) -> bool {
    matches!(letter,
        '\u{0E00}'..='\u{0EFF}'   // Thai, Lao
        | '\u{1000}'..='\u{109F}' // Myanmar
        | '\u{1780}'..='\u{17FF}' // Khmer
        | '\u{3040}'..='\u{30FF}' // kana
        | '\u{3400}'..='\u{9FFF}' // Han
        | '\u{AC00}'..='\u{D7AF}' // Hangul
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
        && letter.is_alphanumeric()
}

/// Whether `text` begins with exactly three digits: the digits after a thousands comma.
fn starts_with_thousands(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 3
        && bytes[..3].iter().all(u8::is_ascii_digit)
        && bytes.get(3).is_none_or(|next| !next.is_ascii_alphanumeric())
}

impl Tokenizer for Analyzer {
    type TokenStream<'a> = AnalyzerStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> AnalyzerStream<'a> {
        self.terms(text);
        AnalyzerStream { terms: &self.terms, next: 0, position: 0, token: Token::default() }
    }
}

/// The analyser as tantivy reads it while indexing.
pub(super) struct AnalyzerStream<'a> {
    terms: &'a Terms,
    next: usize,
    /// Number of runs before; the parts of a run have its position.
    position: usize,
    token: Token,
}

impl TokenStream for AnalyzerStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(&(end, part)) = self.terms.ends.get(self.next) else { return false };
        let start = self.next.checked_sub(1).map_or(0, |before| self.terms.ends[before].0);
        self.token.text.clear();
        self.token.text.push_str(&self.terms.text[start as usize..end as usize]);
        self.position += usize::from(!part);
        self.token.position = self.position;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_core::text::name_key;

    fn whole(text: &str) -> Vec<String> {
        Analyzer::new(false).terms(text).iter().map(|(term, _)| term.to_string()).collect()
    }

    fn with_parts(text: &str) -> Vec<String> {
        Analyzer::new(true).terms(text).iter().map(|(term, _)| term.to_string()).collect()
    }

    #[test]
    fn words_are_folded_and_stemmed() {
        assert_eq!(
            whole("The Populations of Zürich, Łódź & Straße"),
            ["the", "popul", "of", "zurich", "lodz", "strass"]
        );
        assert_eq!(whole("driver's O'Brien don’t"), ["driver", "o", "brien", "don"]);
        assert_eq!(whole(""), Vec::<String>::new());
        assert_eq!(whole("— ?? \u{0} \u{301}"), Vec::<String>::new());
    }

    #[test]
    fn numbers_and_codes_keep_their_form() {
        assert_eq!(whole("02134 1,234,567 3.14 2020,2021"), ["02134", "1234567", "3", "14", "2020", "2021"]);
        assert_eq!(whole("A-320"), ["a", "320", "a320"]);
        assert_eq!(whole("A320"), ["a320"]);
        assert_eq!(whole("2021-03-04T12:30:00Z"), ["2021", "03", "04t12", "30", "00z"]);
    }

    #[test]
    fn names_give_their_parts_too() {
        assert_eq!(with_parts("tbl_0423_popByState"), ["tbl", "0423", "popbyst", "pop", "by", "state"]);
        assert_eq!(with_parts("XMLFile2"), ["xmlfile2", "xml", "file", "2"]);
        assert_eq!(with_parts("plain words"), ["plain", "word"]);
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        assert_eq!(whole("上海市人口2020"), ["上海", "海市", "市人", "人口", "2020"]);
        assert_eq!(whole("表"), ["表"]);
    }

    #[test]
    fn a_name_key_ignores_case_accents_and_separators() {
        for spelling in ["Food prices", "food_prices", "foodPrices", "FOOD-PRICES", "fóod  prices"] {
            assert_eq!(name_key(spelling), "foodprices");
        }
        assert_eq!(name_key("– ? –"), "");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_analysed(text in ".{0,200}") {
            for (term, _) in Analyzer::new(true).terms(&text).iter() {
                assert!(!term.is_empty() && term.len() <= LONGEST_TERM_BYTES + 16);
            }
            name_key(&text);
        }

        #[test]
        fn a_query_word_finds_itself_in_a_longer_text(word in "[a-zA-Z0-9À-ɏ]{1,20}") {
            let alone = whole(&word);
            let inside = whole(&format!("before {word} after"));
            assert!(alone.iter().all(|term| inside.contains(term)));
        }
    }
}
