//! Pairs of languages: data of a yearly shared task is another set for each pair.
//!
//! Training, development and test data are published by pair, and whoever looks for texts from English to German cannot use those from
//! English to French; so a pair named beside a shared task with a year is a data set in its own right: its name has the pair, and
//! it means the record of the pair where the lake has one, else that of the year. A sentence that names no pair means the year: to
//! take the commonest pair of the document for it was measured, too, and is a guess that no sentence supports.
//!
//! `eval/task_search.md` says what the rule is worth.

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

/// Whether what stands between two languages makes them a pair.
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
