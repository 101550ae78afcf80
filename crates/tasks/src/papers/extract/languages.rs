//! Language pairs: for a yearly shared task, the data of each pair is a dataset of its own.
//!
//! Training, development and test data are published per pair, and texts from English to German cannot replace those from English to
//! French; so a pair named next to a shared task with a year is a separate dataset: its name includes the pair, and it means the
//! record of the pair if the lake has one, otherwise that of the year. A sentence without a pair means the year: assuming the
//! document's most frequent pair was evaluated too, but no sentence supports that guess.
//!
//! `eval/task_search.md` reports the effect of the rule.

/// Names of languages.
const LANGUAGES: [&str; 40] = [
    "English",
    "German",
    "French",
    "Romanian",
    "Czech",
    "Russian",
    "Chinese",
    "Japanese",
    "Finnish",
    "Turkish",
    "Spanish",
    "Italian",
    "Arabic",
    "Vietnamese",
    "Thai",
    "Dutch",
    "Portuguese",
    "Hindi",
    "Latvian",
    "Estonian",
    "Korean",
    "Polish",
    "Swedish",
    "Danish",
    "Norwegian",
    "Greek",
    "Hebrew",
    "Hungarian",
    "Indonesian",
    "Lithuanian",
    "Bulgarian",
    "Ukrainian",
    "Persian",
    "Urdu",
    "Bengali",
    "Tamil",
    "Nepali",
    "Slovak",
    "Slovenian",
    "Swahili",
];

/// The pairs that `text` names: `English-German`, `English to German`, `English → German`.
pub fn pairs(text: &str) -> Vec<(&'static str, &'static str)> {
    let mut named: Vec<(usize, usize, &'static str)> = Vec::new();
    for language in LANGUAGES {
        named.extend(text.match_indices(language).map(|(at, name)| (at, at + name.len(), language)));
    }
    named.sort_unstable();
    let joined = |pair: &[(usize, usize, &'static str)]| {
        let (first, second) = (pair[0], pair[1]);
        let between = text.get(first.1..second.0)?;
        (first.2 != second.2 && joins(between)).then_some((first.2, second.2))
    };
    named.windows(2).filter_map(joined).collect()
}

/// Whether the text between two languages makes them a pair.
fn joins(between: &str) -> bool {
    let letters: String = between.chars().filter(|letter| !letter.is_whitespace()).collect();
    const JOINTS: [&str; 6] = ["→", "⇒", "↔", "to", "into", "/"];
    let bare = letters.trim_matches(['-', '–']);
    match bare.is_empty() {
        true => !letters.is_empty() && letters.chars().count() <= 3,
        false => JOINTS.contains(&bare),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_told_from_lists() {
        assert_eq!(pairs("English-German and French → Czech"), [("English", "German"), ("French", "Czech")]);
        assert_eq!(pairs("from English to German"), [("English", "German")]);
        assert!(pairs("English and German, French").is_empty());
        assert!(pairs("EnglishGerman").is_empty());
    }
}
