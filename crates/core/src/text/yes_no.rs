//! The words for yes and no that columns are read and asked by.

const YES: [&str; 6] = ["true", "yes", "y", "t", "on", "1"];
const NO: [&str; 6] = ["false", "no", "n", "f", "off", "0"];

/// The yes or no that a word is, in letters of either case; `None` for any other word.
pub fn yes_or_no(word: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 6]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    if is_one_of(YES) { Some(true) } else { is_one_of(NO).then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_yes_or_no_or_neither() {
        assert_eq!(["Yes", "T", "1"].map(yes_or_no), [Some(true); 3]);
        assert_eq!(["NO", "off", "0"].map(yes_or_no), [Some(false); 3]);
        assert_eq!(["", "maybe", " yes"].map(yes_or_no), [None; 3]);
    }
}
