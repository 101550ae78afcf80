//! Normal forms of dataset names, in which two spellings of one name are equal.

use crate::papers::extract::is_roman;
use lakeward_core::text::without_marks;

/// Longer names are cut here, in bytes, before any processing.
const LONGEST_NAME_BYTES: usize = 512;

/// Words at the end of a name that say which part of the dataset is used.
const SPLITS: &str = "test tests testing test-dev test-std test-other test-clean testdev val valid validation dev develop train \
    training trainval eval evaluation full all labeled unlabeled labelled detected easy hard medium std mini minival split splits \
    subset set dataset datasets data corpus database benchmark the anonymized filtered";
/// Words at the end of a name that say how it was used.
const SETTINGS: &str = "upscaling scale shot way labels classes samples random partition";
/// The same, if they follow a number.
const COUNTED: &str = "shot way hour hours classes labels epochs k";
/// Words that initials may leave out.
const SMALL: &str = "dataset data set corpus the database benchmark v version challenge test val dev train a of for and in on to \
    with by from";

/// `text` without accents and compatibility forms.
pub fn folded(text: &str) -> String {
    without_marks(&text[..text.floor_char_boundary(LONGEST_NAME_BYTES)]).collect()
}

/// The parts of a name in lower case: runs of capitals, words, digits, other letters, and each `+`. `FB15k-237` has the parts
/// `fb`, `15`, `k`, `237`.
pub fn parts(text: &str) -> Vec<String> {
    parts_of(&folded(text), usize::MAX)
}

/// The first `most` parts of a longer text.
pub fn first_parts(text: &str, most: usize) -> Vec<String> {
    // A part has about eight letters; the rest of a long text is not normalised.
    let bytes = text.floor_char_boundary(most.saturating_mul(24));
    parts_of(&without_marks(&text[..bytes]).collect::<String>(), most)
}

fn parts_of(folded: &str, most: usize) -> Vec<String> {
    let letters: Vec<char> = folded.chars().filter(|letter| !matches!(letter, '\'' | '’')).collect();
    let run = |from: usize, is: fn(char) -> bool| letters[from..].iter().take_while(|letter| is(**letter)).count();
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < letters.len() && parts.len() < most {
        let length = match letters[at] {
            '+' => 1,
            letter if letter.is_ascii_uppercase() => {
                let capitals = run(at, |letter| letter.is_ascii_uppercase());
                let small = run(at + capitals, |letter| letter.is_ascii_lowercase());
                match (capitals, small) {
                    (_, 0) => capitals,
                    (1, small) => 1 + small,
                    // The last capital begins the next word.
                    _ => capitals - 1,
                }
            }
            letter if letter.is_ascii_lowercase() => run(at, |letter| letter.is_ascii_lowercase()),
            letter if letter.is_numeric() => run(at, char::is_numeric),
            letter if is_other_letter(letter) => run(at, is_other_letter),
            _ => 0,
        };
        if length > 0 {
            parts.push(letters[at..at + length].iter().collect::<String>().to_lowercase());
        }
        at += length.max(1);
    }
    parts
}

fn is_other_letter(letter: char) -> bool {
    letter.is_alphabetic() && !letter.is_ascii()
}

/// The parts of a name, concatenated.
pub fn flat(text: &str) -> String {
    parts(text).concat()
}

/// A name without text in parentheses, up to a dash, a colon, a comma or a semicolon; the whole name if nothing is left.
pub fn main_name(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(LONGEST_NAME_BYTES)];
    let bare = without_parentheses(text);
    let mut end = bare.len();
    let mut before_is_space = false;
    for (at, letter) in bare.char_indices() {
        let rest = &bare[at + letter.len_utf8()..];
        let space_follows = rest.starts_with(char::is_whitespace);
        let dashes_follow = rest.starts_with(['-', '–']);
        let ends = match letter {
            ',' | ';' => true,
            '-' | '–' => before_is_space && (space_follows || dashes_follow),
            ':' => before_is_space && space_follows,
            _ => false,
        };
        if ends {
            end = at;
            break;
        }
        before_is_space = letter.is_whitespace();
    }
    let main = bare[..end].trim();
    if main.is_empty() { text.to_string() } else { main.to_string() }
}

fn without_parentheses(text: &str) -> String {
    let mut bare = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('(') {
        let Some(close) = rest[open..].find(')') else { break };
        bare.push_str(&rest[..open]);
        rest = &rest[open + close + 1..];
    }
    bare.push_str(rest);
    bare.trim().to_string()
}

/// The key shared by names for other parts or uses of the same dataset: without words such as `test`, `dataset`, `5-shot` at the
/// end and `the` at the start.
pub fn trimmed_key(text: &str) -> String {
    let lower = folded(text).to_lowercase();
    let is_border = |letter: char| letter.is_whitespace() || "()[]_/:,;".contains(letter);
    let mut words: Vec<&str> = lower.split(is_border).filter(|word| !word.is_empty()).collect();
    while words.len() > 1 && words.last().is_some_and(|word| is_one_of(SPLITS, word) || is_setting(word)) {
        words.pop();
    }
    while words.len() > 1 && words[0] == "the" {
        words.remove(0);
    }
    flat(&words.join(" "))
}

fn is_one_of(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// `4x`, `x4`, `32x32`, `sigma50`, `5-shot`, `100hours`; a bare number and `10k` are part of a name.
fn is_setting(word: &str) -> bool {
    if is_one_of(SETTINGS, word) {
        return true;
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if word.strip_prefix("sigma").is_some_and(is_number) {
        return true;
    }
    if let Some((before, after)) = word.split_once('x') {
        return (is_number(before) || before.is_empty()) && (is_number(after) || after.is_empty()) && word != "x";
    }
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = word.split_at(digits);
    let counted = rest.strip_prefix('-').unwrap_or(rest);
    !number.is_empty() && is_one_of(COUNTED, counted) && rest != "k"
}

/// Words of letters `A` to `Z` and numbers.
pub fn plain_runs(folded: &str) -> Vec<&str> {
    let mut runs = Vec::new();
    for piece in folded.split(|letter: char| !letter.is_ascii_alphanumeric()) {
        let mut from = 0;
        let bytes = piece.as_bytes();
        for at in 1..=bytes.len() {
            if at == bytes.len() || bytes[at].is_ascii_digit() != bytes[from].is_ascii_digit() {
                runs.push(&piece[from..at]);
                from = at;
            }
        }
    }
    runs
}

/// Makers of datasets as names begin with them.
const MAKERS: &str = "ms microsoft google facebook meta ibm amazon yahoo apple baidu tencent alibaba nvidia openai deepmind stanford \
    mit cmu nist nasa noaa";

/// The rest of a name that begins with its maker's, where that is written in capitals as names are: `COCO` of `MS-COCO`.
pub fn without_maker(text: &str) -> Option<&str> {
    const MIN_LETTERS: usize = 4;
    let (maker, rest) = text.trim().split_once([' ', '-', '_'])?;
    let rest = rest.trim();
    let is_name = rest.len() >= MIN_LETTERS && rest.chars().filter(|letter| letter.is_uppercase()).count() >= 2;
    (is_name && is_one_of(MAKERS, &maker.to_lowercase())).then_some(rest)
}

/// The initials of `words` in lower case: of all words, without small words, and their capitals only; numbers, Roman ones too, are kept whole.
pub fn initials(words: &[&str]) -> Vec<String> {
    let is_number = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit()) || is_roman(word);
    let initial = |word: &&str| if is_number(word) { (*word).to_string() } else { word[..1].to_string() };
    let capitals = |word: &&str| match is_number(word) {
        true => (*word).to_string(),
        false => word.chars().filter(char::is_ascii_uppercase).collect(),
    };
    let is_informative = |word: &&&str| !is_one_of(SMALL, &word.to_lowercase());
    let mut forms: Vec<String> = vec![
        words.iter().map(initial).collect(),
        words.iter().filter(is_informative).map(initial).collect(),
        words.iter().map(capitals).collect(),
    ];
    forms.iter_mut().for_each(|form| form.make_ascii_lowercase());
    forms.sort_unstable();
    forms.dedup();
    forms.retain(|form| !form.is_empty());
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_at_their_borders() {
        assert_eq!(parts("FB15k-237"), ["fb", "15", "k", "237"]);
        assert_eq!(parts("MSCoco's Café++"), ["ms", "cocos", "cafe", "+", "+"]);
        assert_eq!(flat("ImageNet A"), "imageneta");
        assert_eq!(main_name("Open Road Set (ORS) - 4x upscaling"), "Open Road Set");
        assert_eq!(main_name("(odd)"), "(odd)");
        assert_eq!(trimmed_key("The Road-Set test 5-shot"), "roadset");
        assert_eq!(trimmed_key("Roads 32x32 sigma50"), "roads");
        assert_eq!(trimmed_key("Roads 100"), "roads100");
        assert_eq!(trimmed_key("test"), "test");
        assert_eq!(
            (without_maker("MS-ORSC"), without_maker("OK-ORSC"), without_maker("MS roads")),
            (Some("ORSC"), None, None)
        );
        assert!(initials(&plain_runs("Open Market for Intensive Flocks III")).contains(&"omifiii".to_string()));
        assert_eq!(initials(&plain_runs("Open Road Set of 2012")), ["or2012", "ors2012", "orso2012"]);
    }

    #[test]
    fn nothing_breaks_on_odd_names() {
        for name in ["", "(", ")(", "x", "-", "ﬁ́", "日本語データ", " - ", "a - - b", "\u{0}"] {
            let _ = (parts(name), main_name(name), trimmed_key(name), initials(&plain_runs(&folded(name))));
        }
        assert!(parts(&"A".repeat(10_000_000)).concat().len() <= LONGEST_NAME_BYTES);
    }
}
