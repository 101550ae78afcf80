//! Words around a name that tell what it is and whether it was used. They are common in papers; no dataset and no subject is
//! among them.

use std::collections::HashSet;
use std::sync::OnceLock;

use lakeward_core::text::runs;

/// Words for datasets.
const DATASET_WORDS: [&str; 14] = [
    "dataset",
    "datasets",
    "data-set",
    "data-sets",
    "corpus",
    "corpora",
    "benchmark",
    "benchmarks",
    "database",
    "databases",
    "treebank",
    "challenge",
    "leaderboard",
    "collection",
];
/// Stems of words in sentences that report results.
const EVALUATION_STEMS: [&str; 7] = ["evaluat", "experiment", "accurac", "perform", "outperform", "report", "compar"];
/// Whole words of such sentences.
const EVALUATION_WORDS: [&str; 17] = [
    "result",
    "results",
    "test",
    "tested",
    "testing",
    "score",
    "scores",
    "benchmark",
    "benchmarks",
    "table",
    "error",
    "map",
    "bleu",
    "f1",
    "auc",
    "train",
    "trained",
];
/// Words before data that was used.
const USED_WITH: [&str; 7] = ["on", "for", "of", "from", "using", "and", "with"];
/// Phrases before data that was not used.
const AGAINST: [&str; 9] = [
    "unlike",
    "in contrast to",
    "contrary to",
    "instead of",
    "rather than",
    "other than",
    "as opposed to",
    "not use",
    "not rely on",
];
/// Bytes before a name within which such a phrase counts.
const AGAINST_BYTES: usize = 48;
/// Bytes around a name within which a word for datasets counts.
const BESIDE_BYTES: usize = 50;
/// Maximum number of words between a name and a word for datasets.
const BETWEEN: usize = 2;
/// Acronyms of methods, measures, hardware or fields, never of datasets.
const TECHNICAL: &str = "ner pos sgd adam map auc gfr nlp nli gec rte cnn rnn lstm gru gan vae mlp svm crf bleu rouge iou gpu cpu \
    qa vqa nmt smt lm asr ocr reid api sota rgb rgbd lidar hmm mle rl dqn ctc amr bert elmo resnet vgg vgg16 resnet50 \
    resnet101 relu pca tsne knn fid psnr ssim wer cer f1 3d 2d ai ml dl";

/// Cues of a sentence, independent of any name in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SentenceCues {
    /// It has words about evaluation.
    pub evaluates: bool,
    /// It is about pretraining or initialising from a trained model.
    pub pretrains: bool,
    /// It mentions a table.
    pub is_of_table: bool,
    /// It has a decimal number or a percentage.
    pub has_figure: bool,
    /// It has a word for datasets.
    pub names_data: bool,
}

/// The words of `text` in lower case, with inner hyphens.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    runs(text, |letter| letter == '-').map(|word| word.trim_matches('-')).filter(|word| !word.is_empty())
}

/// Whether `word`, in lower case, is a word for datasets.
pub fn is_dataset_word(word: &str) -> bool {
    DATASET_WORDS.contains(&word)
}

/// Whether `name` is an acronym of something other than data.
pub fn is_technical(name: &str) -> bool {
    static WORDS: OnceLock<HashSet<&str>> = OnceLock::new();
    WORDS.get_or_init(|| TECHNICAL.split_whitespace().collect()).contains(name.to_lowercase().as_str())
}

impl SentenceCues {
    /// The cues of `sentence`.
    pub fn of(sentence: &str) -> Self {
        let lower = sentence.to_lowercase();
        let mut cues = Self { has_figure: has_figure(sentence), ..Self::default() };
        for word in words(&lower) {
            cues.names_data |= is_dataset_word(word);
            cues.is_of_table |= matches!(word, "table" | "tables" | "tab");
            cues.evaluates |= EVALUATION_WORDS.contains(&word)
                || word.starts_with("training")
                || word == "state-of-the-art"
                || EVALUATION_STEMS.iter().any(|stem| word.starts_with(stem));
            cues.pretrains |=
                ["pretrain", "pre-train", "initiali", "finetun", "fine-tun"].iter().any(|stem| word.starts_with(stem));
        }
        cues.evaluates |= lower.contains("state of the art");
        cues
    }
}

fn has_figure(sentence: &str) -> bool {
    let bytes = sentence.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_percent = |at: usize| bytes.get(at) == Some(&b'%');
    (0..bytes.len()).any(|at| {
        is_digit(at)
            && (bytes.get(at + 1) == Some(&b'.') && is_digit(at + 2)
                || is_percent(at + 1)
                || bytes.get(at + 1) == Some(&b' ') && is_percent(at + 2))
    })
}

/// Cues of the words around one name in a sentence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NameCues {
    /// A word for datasets follows.
    pub followed: bool,
    /// A word for datasets precedes it.
    pub preceded: bool,
    /// A word such as `on` or `with` precedes it.
    pub used: bool,
    /// It is named as a contrast, such as after `unlike`.
    pub against: bool,
    /// The sentence goes on to describe it.
    pub described: bool,
}

impl NameCues {
    /// The cues of the name at `start..end` of `sentence`.
    pub fn of(sentence: &str, start: usize, end: usize) -> Self {
        let before = before(sentence, start, BESIDE_BYTES).to_lowercase();
        let after = &sentence[end..sentence.floor_char_boundary(end + BESIDE_BYTES)];
        let after = without_brackets(after).to_lowercase();
        let last: Vec<&str> = words(&before).collect();
        let nearest = last.iter().rev().find(|word| !matches!(**word, "the" | "both")).copied().unwrap_or_default();
        let against = tail(&before, AGAINST_BYTES);
        let clause = against.rsplit([',', ';', ':', '.']).next().unwrap_or_default();
        Self {
            followed: starts_near(&after) && words(&after).take(BETWEEN + 1).any(is_dataset_word),
            preceded: last.iter().rev().take(BETWEEN + 2).any(|word| is_dataset_word(word)),
            used: USED_WITH.contains(&nearest),
            against: AGAINST.iter().any(|phrase| clause.contains(phrase)),
            described: describes(&after),
        }
    }
}

/// Whether the clause goes on: no full stop or comma follows immediately.
fn starts_near(after: &str) -> bool {
    !after.trim_start().starts_with(['.', ';', ',', ':', '?'])
}

fn describes(after: &str) -> bool {
    let rest = after.trim_start();
    let rest = ["dataset", "data set", "corpus", "benchmark"]
        .iter()
        .find_map(|word| rest.strip_prefix(word))
        .unwrap_or(rest)
        .trim_start();
    const WAYS: [&str; 14] = [
        "is a ",
        "is an ",
        "is the ",
        "are ",
        "consists of",
        "contains",
        "comprises",
        "includes",
        "provides",
        "has ",
        ", a ",
        ", an ",
        "which contains",
        "is composed of",
    ];
    WAYS.iter().any(|way| rest.starts_with(way))
}

/// `text` without a reference or short parenthesis at its beginning.
fn without_brackets(text: &str) -> &str {
    let trimmed = text.trim_start();
    let close = match trimmed.chars().next() {
        Some('[') => trimmed.find(']'),
        Some('(') => trimmed.find(')'),
        _ => None,
    };
    close.map_or(text, |at| &trimmed[at + 1..])
}

fn before(text: &str, at: usize, bytes: usize) -> &str {
    tail(&text[..at], bytes)
}

/// The last `bytes` of `text`.
fn tail(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_beside_a_name_say_how_it_is_meant() {
        let cues = |sentence: &str| {
            let start = sentence.find("Flock").unwrap();
            NameCues::of(sentence, start, start + 5)
        };
        let used = cues("We evaluate on the Flock [3] sheep dataset.");
        assert!(used.used && used.followed && !used.against && !used.preceded);
        assert!(cues("Unlike Flock, we count goats.").against);
        assert!(!cues("Unlike others, we count Flock.").against);
        assert!(cues("The corpus called Flock is new.").preceded);
        assert!(cues("Flock consists of sheep.").described);
        let sentence = SentenceCues::of("Table 2 reports 91.2 % after pre-training.");
        assert!(sentence.evaluates && sentence.pretrains && sentence.is_of_table && sentence.has_figure);
        assert_eq!(SentenceCues::of("Sheep graze."), SentenceCues::default());
    }
}
