//! Folding of letters (case, accents and other marks), and name keys made from folded letters.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, decompose_compatible, is_combining_mark};

/// Whether `letter` belongs to a word of the word index: a letter, a digit, or a combining mark.
pub fn is_letter(letter: char) -> bool {
    if letter.is_ascii() {
        letter.is_ascii_alphanumeric()
    } else {
        letter.is_alphanumeric() || is_combining_mark(letter)
    }
}

/// Lower-cases `letter` and removes accents and width, so that `Zürich` and `Zurich` are one word. Marks that scripts other than Latin,
/// Greek and Cyrillic need are kept. The word index stores folded words: a change here makes existing indexes unusable.
pub fn fold_into(letter: char, folded: &mut String) {
    for lower in letter.to_lowercase() {
        match lower {
            '\u{0300}'..='\u{036F}' => {}
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'þ' => folded.push_str("th"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'ı' => folded.push('i'),
            '\u{00C0}'..='\u{052F}' | '\u{1E00}'..='\u{1FFF}' => decompose_canonical(lower, |part| {
                if !is_combining_mark(part) {
                    folded.push(part);
                }
            }),
            // Superscripts, circled numbers, ligatures, full-width forms.
            '\u{00B2}'..='\u{00BE}' | '\u{2070}'..='\u{24FF}' | '\u{FB00}'..='\u{FB06}' | '\u{FF00}'..='\u{FFEF}' => {
                decompose_compatible(lower, |part| folded.extend(part.to_lowercase().filter(|c| c.is_alphanumeric())));
            }
            other => folded.push(other),
        }
    }
}

/// Letters and digits of `text`, folded and concatenated: two names are the same if their keys are equal (`Food prices`, `food_prices` and
/// `foodPrices` are).
pub fn name_key(text: &str) -> String {
    let mut key = String::new();
    text.chars().filter(|letter| is_letter(*letter)).for_each(|letter| fold_into(letter, &mut key));
    key
}

/// Letters and digits of `text` as written, concatenated.
pub fn letters_and_digits(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// The letters of `text` in compatibility forms (NFKD), without combining marks; case is kept.
pub fn without_marks(text: &str) -> impl Iterator<Item = char> {
    text.nfkd().filter(|letter| !is_combining_mark(*letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_key_however_they_are_written() {
        for name in ["Food prices", "food_prices", "foodPrices", "FOOD-PRICES!", "ｆｏｏｄ prices"] {
            assert_eq!(name_key(name), "foodprices", "{name}");
        }
        assert_eq!(name_key("Łódź Straße"), "lodzstrasse");
        assert_eq!(letters_and_digits("Food-prices (2)"), "Foodprices2");
        assert_eq!(without_marks("Café ﬁn Ａ").collect::<String>(), "Cafe fin A");
    }
}
