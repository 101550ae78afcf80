//! Task phrases: names of activities in a text, `medical image segmentation`.
//!
//! A phrase is a noun that names an activity, with one to four words before it that say on what. The nouns are the usual names
//! of tasks in data-driven fields; their objects come from the text.

use std::collections::HashSet;
use std::sync::OnceLock;

use lakeward_core::text::bare;

/// Nouns that name an activity.
const ACTIVITIES: &str = "classification segmentation recognition detection retrieval translation answering generation prediction \
    estimation tracking parsing tagging summarization summarisation extraction identification reconstruction forecasting \
    recommendation captioning labeling labelling localization localisation matching ranking inference completion linking \
    clustering modeling modelling synthesis denoising inpainting deblurring disambiguation comprehension understanding \
    verification alignment registration diagnosis induction entailment navigation planning driving control compression \
    adaptation analysis search colorization super-resolution superresolution restoration removal imputation deduplication \
    monitoring grounding reasoning simplification correction chunking spotting grading hashing diarization separation \
    enhancement anonymization re-identification reidentification regression resolution counting screening mapping discovery \
    annotation categorization authentication attribution simulation scheduling routing pricing valuation auditing surveillance";
/// Words that no phrase contains: function words, and words that describe any method.
const NO_PART: &str = "a an and are as at be but by for if in into is it no not of on or such that the their then there these they \
    this to was will with we our us its his her all any some each both more most many new novel simple effective efficient better \
    best improved proposed existing previous recent first second various different several other same main final current popular \
    standard state-of-the-art accurate fast robust joint using use used via based from than which when where while can could may \
    might also only how what why perform performs performing improve improving achieve achieving propose propose present \
    introduce address study consider tackle challenging difficult important task tasks problem problems towards toward through \
    between over under about without within during after before against beyond per i.e e.g training testing test good high \
    large small scale large-scale end-to-end deep neural network networks learning convolutional recurrent approach approaches \
    method methods model models system systems technique techniques algorithm algorithms experiments experimental results our \
    applied subsequent following further general generic well has have had been being do does did were e g i et al reference \
    including include includes advance advances formulate dominated traditional conventional typical competitive performing";
/// Maximum number of words before an activity.
const MAX_BEFORE: usize = 4;
/// Longer runs are not words.
const LONGEST_WORD_BYTES: usize = 40;

/// A phrase in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// Its words in lower case, except words with inner capitals, joined by spaces.
    pub name: String,
    /// Whether the text calls it a task or problem.
    pub is_called_task: bool,
    /// Whether `for`, `of`, `to`, `on` or `in` precedes it.
    pub is_aim: bool,
}

/// The phrases of `text` in order.
pub fn phrases(text: &str) -> Vec<Phrase> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    for (place, piece) in words.iter().enumerate() {
        let activity = bare(piece);
        if !is_activity(&activity.to_lowercase()) {
            continue;
        }
        let mut start = place;
        while start > 0 && place - start < MAX_BEFORE && is_part(words[start - 1]) {
            start -= 1;
        }
        // `detection and tracking of` names two activities, the second without its object.
        if start == place {
            continue;
        }
        let name = words[start..=place].iter().map(|word| lowered(bare(word))).collect::<Vec<_>>().join(" ");
        let next = words.get(place + 1).map(|word| bare(word).to_lowercase()).unwrap_or_default();
        let before = start.checked_sub(1).map(|at| bare(words[at]).to_lowercase()).unwrap_or_default();
        let second = start.checked_sub(2).map(|at| bare(words[at]).to_lowercase()).unwrap_or_default();
        let is_task = |word: &str| matches!(word, "task" | "tasks" | "problem" | "problems" | "challenge");
        found.push(Phrase {
            name,
            is_called_task: !ends(piece) && is_task(&next) || before == "of" && is_task(&second),
            is_aim: matches!(before.as_str(), "for" | "of" | "to" | "on" | "in"),
        });
    }
    found
}

/// Whether every word of one of the two phrases is in the other: then they name the same task.
pub fn are_alike(a: &str, b: &str) -> bool {
    let has_all =
        |all: &str, few: &str| few.split(' ').all(|word| all.split(' ').any(|other| other.eq_ignore_ascii_case(word)));
    has_all(a, b) || has_all(b, a)
}

/// Whether punctuation ends the phrase after a word.
fn ends(word: &str) -> bool {
    word.ends_with(|letter: char| !letter.is_alphanumeric())
}

fn is_activity(word: &str) -> bool {
    static WORDS: OnceLock<HashSet<&str>> = OnceLock::new();
    WORDS.get_or_init(|| ACTIVITIES.split_whitespace().collect()).contains(word)
}

fn is_part(word: &str) -> bool {
    let text = bare(word);
    let begins_clean = word.starts_with(char::is_alphanumeric) || word.starts_with(['"', '“', '\'']);
    let is_word = text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '\'' | '/'))
        && text.chars().any(char::is_alphabetic)
        && text.len() <= LONGEST_WORD_BYTES;
    static WORDS: OnceLock<HashSet<&str>> = OnceLock::new();
    let no_part = || WORDS.get_or_init(|| NO_PART.split_whitespace().collect()).contains(text.to_lowercase().as_str());
    is_word && begins_clean && !ends(word) && !no_part()
}

/// In lower case, except for words with capitals after their first letter.
fn lowered(word: &str) -> String {
    match word.chars().skip(1).any(char::is_uppercase) {
        true => word.to_string(),
        false => word.to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_activities_with_their_objects() {
        let names = |text: &str| phrases(text).into_iter().map(|phrase| phrase.name).collect::<Vec<_>>();
        assert_eq!(
            names("A Network for Volumetric Medical Image Segmentation"),
            ["volumetric medical image segmentation"]
        );
        assert_eq!(names("We propose detection of sheep and, in fields, goat counting."), ["goat counting"]);
        assert_eq!(names("our novel segmentation; the state-of-the-art classification"), [""; 0]);
        let found = phrases("the task of lane detection, and the RGB-D pose estimation problem");
        assert!(found[0].is_called_task && found[1].is_called_task);
        assert_eq!(found[1].name, "RGB-D pose estimation");
        assert!(
            are_alike("image segmentation", "medical image segmentation")
                && !are_alike("lane detection", "sign detection")
        );
        assert!(names("日本 segmentation ( classification").len() <= 1);
    }
}
