//! The words inside names: headers, file names and ids.

/// The lower-cased words of a name, split at separators and at camel-case and letter–digit boundaries:
/// `popByState_2019` → `pop`, `by`, `state`, `2019`; `IATACode` → `iata`, `code`.
pub fn name_words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut previous = Class::Other;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let class = Class::of(c);
        let next_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        let border = match (previous, class) {
            (Class::Lower, Class::Upper) => true,
            (Class::Upper, Class::Upper) => next_lower,
            (Class::Digit, Class::Lower | Class::Upper) | (Class::Lower | Class::Upper, Class::Digit) => true,
            _ => false,
        };
        if (border || class == Class::Other) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if class != Class::Other {
            word.extend(c.to_lowercase());
        }
        previous = class;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Whether a column name only numbers the column (`c1`, `column_7`, `Unnamed: 3`) and so does not describe its content.
pub fn is_placeholder(name: &str) -> bool {
    only_number(&name_words(name))
}

/// [`is_placeholder`] of a name's words.
pub(super) fn only_number(words: &[String]) -> bool {
    const COUNTED: [&str; 9] = ["c", "col", "column", "field", "v", "var", "variable", "attr", "attribute"];
    match words {
        [] => true,
        [word] => word == "unnamed",
        [word, number] => {
            (word == "unnamed" || COUNTED.contains(&word.as_str())) && number.chars().all(|c| c.is_ascii_digit())
        }
        _ => false,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Other,
}

impl Class {
    fn of(c: char) -> Self {
        if c.is_numeric() {
            Class::Digit
        } else if c.is_uppercase() {
            Class::Upper
        } else if c.is_alphabetic() {
            Class::Lower
        } else {
            Class::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_only_count_say_nothing() {
        for name in ["c1", "C12", "column_7", "Unnamed: 3", "unnamed", "V2", "_c0", "field 4", ""] {
            assert!(is_placeholder(name), "{name}");
        }
        for name in ["co2", "c", "1990", "field", "variable", "vitamin_c1", "f1", "column total"] {
            assert!(!is_placeholder(name), "{name}");
        }
    }

    #[test]
    fn names_come_apart_at_their_borders() {
        for (name, expected) in [
            ("popByState_2019", vec!["pop", "by", "state", "2019"]),
            ("IATACode", vec!["iata", "code"]),
            ("tbl_0423 exp", vec!["tbl", "0423", "exp"]),
            ("CO2 (Mt)", vec!["co", "2", "mt"]),
            ("", vec![]),
        ] {
            assert_eq!(name_words(name), expected, "{name}");
        }
    }
}
