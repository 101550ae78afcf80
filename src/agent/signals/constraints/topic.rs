//! What the data are about: the first noun phrase of a request that no other constraint has taken; later turns replace it
//! when the first was vague, or when they correct a word of it.

use super::lexicon::Class;
use super::words::{Claim, Sentence, Word, singular, stems};

/// Words of a topic.
const MOST_WORDS: usize = 8;
/// Sentences of a turn in which it is looked for.
const MOST_SENTENCES: usize = 3;

/// The topic that a turn names first.
pub fn named(sentences: &[Sentence]) -> Option<String> {
    // What rows stand for may be all that was named: `individual flight delays`.
    let first = |rows: bool| sentences.iter().take(MOST_SENTENCES).find_map(|sentence| first_phrase(sentence, rows));
    first(false).or_else(|| first(true))
}

/// Whether the word can be part of a topic; `rows`: also if it tells what rows stand for.
fn open(word: &Word, rows: bool) -> bool {
    (word.claim.is_none() || rows && word.claim == Some(Claim::Grain)) && word.is_content() && word.low != "×"
}

/// The first noun phrase that says more than `data`.
fn first_phrase(sentence: &Sentence, rows: bool) -> Option<String> {
    let mut at = 0;
    while at < sentence.words.len() {
        if !open(&sentence.words[at], rows) {
            at += 1;
            continue;
        }
        let mut to = at + 1;
        while to < sentence.words.len() && to - at < MOST_WORDS * 2 {
            let word = &sentence.words[to];
            let binds = matches!(word.low.as_str(), "of" | "on" | "per" | "above" | "below" | "under" | "over" | "'s");
            let mut next = to + 1;
            while sentence.words.get(next).is_some_and(|word| word.is(Class::Determiner)) {
                next += 1;
            }
            if open(word, rows) {
                to += 1;
            } else if binds && word.claim.is_none() && sentence.words.get(next).is_some_and(|word| open(word, rows)) {
                to = next + 1;
            } else {
                break;
            }
        }
        let words = &sentence.words[at..to];
        if let Some(text) = told(sentence, at, words, rows) {
            return Some(text);
        }
        at = to;
    }
    None
}

/// The phrase without words for any data at its ends; nothing if nothing is left.
fn told(sentence: &Sentence, at: usize, words: &[Word], rows: bool) -> Option<String> {
    let idle = |word: &Word| word.is(Class::Data) || word.is(Class::Measure) || !open(word, rows);
    let from = words.iter().position(|word| !idle(word))?;
    let to = words.iter().rposition(|word| open(word, rows) && !word.is(Class::Data))? + 1;
    let plain = words[from..to].iter().all(|word| word.low.starts_with(|c: char| c.is_ascii_digit()));
    let keep = (to > from && !plain).then(|| sentence.text(at + from, (at + to).min(at + from + MOST_WORDS)))?;
    Some(keep)
}

/// The topic after a later turn. `vague`: whether nothing else was in force yet.
pub fn revised(sentences: &[Sentence], before: &str, vague: bool) -> Option<String> {
    if let Some(corrected) = sentences.iter().find_map(|sentence| corrected(sentence, before)) {
        return Some(corrected);
    }
    if let Some(kind) = sentences.iter().find_map(|sentence| kind_of(sentence, before)) {
        return Some(kind);
    }
    if !vague {
        return None;
    }
    let new = named(sentences)?;
    let (old, said) = (stems(before), stems(&new));
    if old.iter().all(|word| said.contains(word)) {
        return Some(new);
    }
    // `maize`, then `yields`: maize yields.
    let short = old.len() == 1 && said.len() <= 2;
    Some(if short { format!("{} {}", before, new.to_lowercase()) } else { new })
}

/// `35, not 30`; `not fatal, injured`: a word of the topic for another.
fn corrected(sentence: &Sentence, before: &str) -> Option<String> {
    let has = |word: &Word| open_word(word) && before.split_whitespace().any(|part| part.to_lowercase() == word.low);
    (0..sentence.words.len()).find_map(|at| {
        let after = match sentence.low(at) {
            "not" => at + 1,
            "rather" if sentence.low(at + 1) == "than" => at + 2,
            "instead" if sentence.low(at + 1) == "of" => at + 2,
            _ => return None,
        };
        let old = sentence.words.get(after).filter(|word| has(word))?;
        let new = sentence.words[..at]
            .iter()
            .rev()
            .find(|word| !word.sign)
            .or_else(|| sentence.words.get(after + 1..)?.iter().find(|word| !word.sign))
            .filter(|word| open_word(word) && word.low != old.low)?;
        let words =
            before.split_whitespace().map(|part| if part.to_lowercase() == old.low { new.text.as_str() } else { part });
        Some(words.collect::<Vec<_>>().join(" "))
    })
}

fn open_word(word: &Word) -> bool {
    !word.sign && (word.is_content() || word.low.starts_with(|c: char| c.is_ascii_digit()))
}

/// `fatal ones per county`: a kind of what the topic names.
fn kind_of(sentence: &Sentence, before: &str) -> Option<String> {
    let head = before.split_whitespace().last()?;
    let at = (1..sentence.words.len()).find(|at| sentence.low(*at) == "ones")?;
    let kind = &sentence.words[at - 1];
    let counted = singular(&head.to_lowercase()) != head.to_lowercase();
    let narrows = at == 1 || !sentence.words[..at - 1].iter().any(|word| word.is(Class::Verb) || word.claim.is_some());
    (counted
        && narrows
        && sentence.low(at + 1) != "as"
        && open(kind, false)
        && !before.to_lowercase().contains(&kind.low))
    .then(|| format!("{} {before}", kind.low))
}
