//! Words and phrases that tell an operation or a purpose, in groups: a group says the same whichever of its phrases stands
//! there, so that rare words share what is learned of frequent ones.
//!
//! A phrase is words in sequence; a word that ends in `*` stands for all that begin so; `0` stands for any number. What a
//! group means is learned from labelled requests, not stated here.

use std::sync::OnceLock;

/// Groups in `cues.tsv`: a line a group, its name, a tab, and its phrases with commas between. The order is the model's:
/// after a change of it, train again.
pub const GROUPS: usize = 27;

type Group = (&'static str, Vec<Vec<&'static str>>);

/// The groups: names, and phrases as words.
fn groups() -> &'static [Group] {
    static CUES: OnceLock<Vec<Group>> = OnceLock::new();
    CUES.get_or_init(|| {
        let line = |line: &'static str| {
            let (name, phrases) = line.split_once('\t').unwrap_or((line, ""));
            (name, phrases.split(", ").map(|phrase| phrase.split(' ').collect()).collect())
        };
        include_str!("cues.tsv").lines().map(line).collect()
    })
}

/// How often phrases of each group occur in `words`, in the order of the groups.
pub fn count(words: &[&str]) -> [u32; GROUPS] {
    let mut counts = [0; GROUPS];
    for (count, (_, phrases)) in counts.iter_mut().zip(groups()) {
        *count = phrases.iter().map(|phrase| occurrences(phrase, words)).sum();
    }
    counts
}

fn occurrences(phrase: &[&str], words: &[&str]) -> u32 {
    let fits = |part: &str, word: &str| match part.strip_suffix('*') {
        Some(start) => word.starts_with(start),
        None => word == part,
    };
    let is_match = |window: &&[&str]| phrase.iter().zip(window.iter()).all(|(part, word)| fits(part, word));
    words.windows(phrase.len()).filter(is_match).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_counted_where_they_stand() {
        assert_eq!(groups().len(), GROUPS);
        assert!(groups().iter().all(|(_, phrases)| phrases.iter().flatten().all(|word| !word.is_empty())));
        let count_of = |name: &str, text: &str| {
            let words: Vec<&str> = text.split(' ').collect();
            count(&words)[groups().iter().position(|(group, _)| *group == name).unwrap()]
        };
        assert_eq!(count_of("predict", "predicting what the forecast predicted"), 3);
        assert_eq!(count_of("how many", "how many and how much"), 2);
        assert_eq!(count_of("model", "a modest remodel"), 0);
        assert_eq!(count_of("bound", "older than 0 or 0 or more"), 3);
    }
}
