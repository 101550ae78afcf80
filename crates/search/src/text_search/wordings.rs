//! Wordings of a text: as it is said, with each synonym of the lake's users, and as the lake spells its words. Each is searched, and the best answer
//! of a table stays.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::message::{Message, PARTS};
use lakeward_core::text::stems;
use lakeward_index::LakeIndex;
use lakeward_models::languages::{english_word_near, is_english_word};

/// Words of a text that are looked at one by one.
const MOST_WORDS: usize = 64;
/// Words that are respelt, at most.
const MOST_RESPELT: usize = 4;

/// An answer that a text finds in one of its wordings.
pub(crate) trait Worded {
    /// What it is, whatever found it.
    type Key: PartialEq;
    fn key(&self) -> Self::Key;
    /// Whether it is called what was asked for; its score.
    fn rank(&self) -> (bool, f64);
    fn reason(&mut self) -> &mut Message;
}

/// The best `k` answers of `search` to `text` in all of its wordings; of an answer in several the best one.
pub(crate) fn in_all_wordings<A: Worded>(
    index: &LakeIndex,
    text: &str,
    k: usize,
    search: impl Fn(&str) -> Result<Vec<A>>,
) -> Result<Vec<A>> {
    let mut answers = search(text)?;
    let synonyms = index.synonyms().wordings(text).into_iter();
    let synonyms = synonyms.map(|(wording, synonym)| (wording, message!("your synonym `{}`", synonym)));
    let respelt = respelt(index, text)?.map(|respelt| (respelt.text.clone(), respelt.message()));
    for (wording, why) in synonyms.chain(respelt) {
        for mut answer in search(&wording)? {
            let reason = answer.reason();
            *reason = message!("{}: {}", &why, std::mem::take(reason));
            match answers.iter_mut().find(|known| known.key() == answer.key()) {
                Some(known) if known.rank() < answer.rank() => *known = answer,
                Some(_) => {}
                None => answers.push(answer),
            }
        }
    }
    answers.sort_by(|a, b| {
        let ((left, a_score), (right, b_score)) = (a.rank(), b.rank());
        right.cmp(&left).then(b_score.total_cmp(&a_score))
    });
    answers.truncate(k);
    Ok(answers)
}

/// A word of the lake that is spelt nearly like another: how far it is, how many tables have it, and the word.
type Near = (usize, u64, String);

/// A text with words of the lake in place of misspelt ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Respelt {
    /// The text.
    pub text: String,
    /// Each misspelt word, and what it is read as.
    read: Vec<(String, String)>,
}

impl Respelt {
    /// What each misspelt word is read as.
    pub fn message(&self) -> Message {
        Message::list(PARTS, self.read.iter().map(|(said, other)| message!("`{}` read as `{}`", said, other)))
    }
}

/// `text` with words of the lake, else common English ones, in place of those that no table has, that are no English words, and that are spelt nearly
/// like them; none where it has no such word. Cells are not looked at: a name in a request that no cell has is missing, not misspelt.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where the word index is damaged.
pub fn respelt(index: &LakeIndex, text: &str) -> Result<Option<Respelt>> {
    let words = index.lexical().informative_words(text, MOST_WORDS)?;
    // Of each word how many tables have it and, where none has, its neighbours.
    let own = || -> Result<Vec<(u64, Vec<Near>)>> {
        let near = words.iter().map(|(word, rarity)| {
            let is_misspelt = rarity.tables == 0 && !is_english_word(word);
            let near = if is_misspelt { index.lexical().nearest_words(word)? } else { Vec::new() };
            Ok((rarity.tables, near))
        });
        near.collect()
    };
    let of_shards = index.gather(&format!("spelling of {text}"), own, |of_words| of_words.len() == words.len())?;
    // "Rename" is no misspelt "renamed".
    let is_other = |one: &str, other: &str| stems(one) != stems(other);
    let mut others: BTreeMap<String, String> = BTreeMap::new();
    for (at, (word, _)) in words.iter().enumerate() {
        if others.len() == MOST_RESPELT || of_shards.iter().any(|of_words| of_words[at].0 > 0) {
            continue;
        }
        let mut near: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
        for (distance, tables, other) in of_shards.iter().flat_map(|of_words| &of_words[at].1) {
            near.entry(other).or_insert((*distance, 0)).1 += tables;
        }
        let nearest = near.into_iter().min_by_key(|(other, (distance, tables))| (*distance, Reverse(*tables), *other));
        let nearest = nearest.map(|(other, _)| other.to_string());
        let nearest = nearest.or_else(|| {
            english_word_near(word).filter(|_| !is_english_word(word)).filter(|other| is_other(other, word))
        });
        others.extend(nearest.map(|other| (word.to_lowercase(), other)));
    }
    if others.is_empty() {
        return Ok(None);
    }
    let mut wording = String::with_capacity(text.len());
    for part in text.split_inclusive(|letter: char| !letter.is_alphanumeric()) {
        let word = part.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        wording.push_str(others.get(&word.to_lowercase()).map_or(word, String::as_str));
        wording.push_str(&part[word.len()..]);
    }
    Ok(Some(Respelt { text: wording, read: others.into_iter().collect() }))
}
