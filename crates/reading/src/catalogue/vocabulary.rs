//! What a catalogue says by field: which values occur in which role.
//!
//! Values that are written alike (the same stems: `Trading Partners`, `Trading partner`) are one *thing*. A request
//! that names a thing finds it by its stems, one that paraphrases it by the words that both share. Frequency and
//! status are asked for in other words than those of the catalogue, so its values in these respects are read in the
//! same way as requests.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::frequency::{self, Frequency};
use super::spelling::Spelling;
use super::status::{self, Status};
use lakeward_core::error::Result;
use lakeward_core::respect::Respect;
use lakeward_core::text::{Stemmer, is_function_word, lower_words};
use lakeward_index::LakeIndex;

/// Values of more words are sentences, which nobody quotes.
const LONGEST_VALUE_WORDS: usize = 32;
/// A shorter name is no abbreviation of a value, a longer one neither.
const ABBREVIATION: std::ops::RangeInclusive<usize> = 2..=5;

/// A stem that occurs in the catalogue.
pub(super) type Stem = u32;
/// A role's place in [`Vocabulary::roles`].
pub(super) type RoleAt = u16;
/// A thing's place in [`Vocabulary::things`].
pub(super) type ThingAt = u32;

/// What the reader knows of a catalogue. Immutable; readers share it.
pub struct Vocabulary {
    roles: Vec<RoleValues>,
    stems: HashMap<Box<str>, Stem>,
    things: Vec<Thing>,
    values: Vec<Value>,
    /// Stems of all things, one after the other.
    keys: Vec<Stem>,
    /// Hash of a key and its thing; sorted.
    by_key: Vec<(u64, ThingAt)>,
    /// Stem (no grammar), role, thing; sorted.
    postings: Vec<(Stem, RoleAt, ThingAt)>,
    frequencies: Vec<(Frequency, Vec<String>)>,
    statuses: Vec<(Status, Vec<String>)>,
    spelling: Spelling,
    has_years: bool,
}

struct RoleValues {
    role: Respect,
    things: usize,
}

/// Values of one role that are written alike.
struct Thing {
    role: RoleAt,
    key: Range<u32>,
    /// The most frequent value first.
    values: Range<u32>,
    /// Of its distinct stems that are no grammar, the weights summed: see [`Vocabulary::nearest`].
    weight: f32,
}

struct Value {
    text: Box<str>,
    records: u32,
}

impl Vocabulary {
    /// Of all values with their role and the number of records that have them (a value may come more than once), the
    /// words of the titles with counts, and whether the records say which years they cover.
    ///
    /// Roles with fewer than two distinct values tell nothing apart and are left out.
    pub fn new(
        values: impl Iterator<Item = (Respect, String, u32)>,
        title_words: impl Iterator<Item = (String, u32)>,
        has_years: bool,
    ) -> Self {
        let by_role = distinct(values);
        let mut builder = Builder::default();
        for (word, count) in title_words {
            builder.title_word(word.to_lowercase(), count);
        }
        for (role, values) in by_role {
            builder.role(role, values);
        }
        builder.finish(has_years)
    }

    /// What can be asked of the catalogue that `index` holds; `None` where it says nothing by field.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn of_index(index: &LakeIndex) -> Result<Option<Self>> {
        let facets = index.facets()?;
        let values = facets.values().map(|(role, value, count)| (role.clone(), value.to_string(), count));
        let words = facets.title_words().map(|(word, count)| (word.to_string(), count));
        let vocabulary = Self::new(values, words, facets.has_years());
        Ok((!vocabulary.roles.is_empty() || vocabulary.has_years).then_some(vocabulary))
    }

    /// Whether requests can ask for something in this role.
    pub fn has(&self, role: &Respect) -> bool {
        self.roles.iter().any(|known| known.role == *role)
    }

    /// The roles that can be asked for.
    pub fn roles(&self) -> impl Iterator<Item = &Respect> + Clone {
        self.roles.iter().map(|known| &known.role)
    }

    /// The values that can be asked for in a role.
    pub fn values_of<'s>(&'s self, role: &Respect) -> impl Iterator<Item = &'s str> + 's {
        let at = self.role_at(role);
        let things = self.things.iter().filter(move |thing| Some(thing.role) == at);
        things
            .flat_map(|thing| &self.values[thing.values.start as usize..thing.values.end as usize])
            .map(|value| &*value.text)
    }

    pub(super) fn spelling(&self) -> &Spelling {
        &self.spelling
    }

    pub(super) fn stem(&self, stem: &str) -> Option<Stem> {
        self.stems.get(stem).copied()
    }

    pub(super) fn role_at(&self, role: &Respect) -> Option<RoleAt> {
        self.roles.iter().position(|known| known.role == *role).map(|at| at as RoleAt)
    }

    pub(super) fn role_of(&self, thing: ThingAt) -> RoleAt {
        self.things[thing as usize].role
    }

    /// The things of a role that are named in a run of stems, the longest first and none over another, in their order; and whether no other
    /// content word is left.
    pub(super) fn named(
        &self,
        role: RoleAt,
        stems: &[Option<Stem>],
        content: &[bool],
    ) -> (Vec<(usize, usize, ThingAt)>, bool) {
        let mut taken = vec![false; stems.len()];
        let mut found: Vec<(usize, usize, ThingAt)> = Vec::new();
        for length in (1..=stems.len().min(LONGEST_VALUE_WORDS)).rev() {
            for from in 0..=stems.len() - length {
                let words = from..from + length;
                if taken[words.clone()].contains(&true) || !content[words.clone()].contains(&true) {
                    continue;
                }
                let Some(key) = stems[words.clone()].iter().copied().collect::<Option<Vec<Stem>>>() else { continue };
                if let Some(thing) = self.things(&key).find(|thing| self.role_of(*thing) == role) {
                    taken[words].fill(true);
                    found.push((from, from + length, thing));
                }
            }
        }
        found.sort_unstable();
        let whole = taken.iter().zip(content).all(|(taken, content)| *taken || !content);
        (found, whole)
    }

    /// The one thing of a role whose first letters are these: `PEI`.
    pub(super) fn abbreviated(&self, role: RoleAt, letters: &str) -> Option<ThingAt> {
        if !ABBREVIATION.contains(&letters.len()) || !letters.chars().all(|c| c.is_ascii_alphabetic()) {
            return None;
        }
        let initials = |thing: &Thing| {
            let text = &self.values[thing.values.start as usize].text;
            lower_words(text)
                .filter(|word| !is_function_word(word))
                .filter_map(|word| word.chars().next())
                .collect::<String>()
        };
        let wanted = letters.to_lowercase();
        let of_role = self.things.iter().enumerate().filter(|(_, thing)| thing.role == role);
        let mut fits = of_role.filter(|(_, thing)| initials(thing) == wanted).map(|(at, _)| at as ThingAt);
        fits.next().filter(|_| fits.next().is_none())
    }

    /// The things whose stems these are.
    fn things<'k>(&'k self, key: &'k [Stem]) -> impl Iterator<Item = ThingAt> + 'k {
        let hash = hash_of(key);
        let first = self.by_key.partition_point(|(known, _)| *known < hash);
        let same = self.by_key[first..].iter().take_while(move |(known, _)| *known == hash).map(|(_, thing)| *thing);
        same.filter(move |thing| self.key(*thing) == key)
    }

    fn key(&self, thing: ThingAt) -> &[Stem] {
        let key = &self.things[thing as usize].key;
        &self.keys[key.start as usize..key.end as usize]
    }

    /// The values of a thing, that which was said first: the same text, the same but for case, the most frequent.
    pub(super) fn values(&self, thing: ThingAt, said: &str) -> Vec<String> {
        let low = said.to_lowercase();
        let mut values: Vec<&Value> = self.thing_values(thing).iter().collect();
        values.sort_by_key(|value| Reverse((*value.text == *said, value.text.to_lowercase() == low)));
        values.into_iter().map(|value| value.text.to_string()).collect()
    }

    fn thing_values(&self, thing: ThingAt) -> &[Value] {
        let range = &self.things[thing as usize].values;
        &self.values[range.start as usize..range.end as usize]
    }

    /// All values that mean this frequency.
    pub(super) fn of_frequency(&self, frequency: Frequency) -> Option<&[String]> {
        self.frequencies.iter().find(|(known, _)| *known == frequency).map(|(_, values)| values.as_slice())
    }

    /// All values that mean this status.
    pub(super) fn of_status(&self, status: Status) -> Option<&[String]> {
        self.statuses.iter().find(|(known, _)| *known == status).map(|(_, values)| values.as_slice())
    }

    /// The thing of a role that shares the most with some stems (`None`: a content word that the catalogue does not
    /// have): Dice's coefficient 2·w(q ∩ v) / (w(q) + w(v)), at least `floor`, over distinct stems with w(t) = ln(1 +
    /// n/(1 + n_t)), n things in the role, n_t of them with the stem. Ties: the more frequent, then the last of the
    /// alphabet.
    pub(super) fn nearest(&self, role: RoleAt, query: &[Option<Stem>], floor: f32) -> Option<ThingAt> {
        let things = self.roles[usize::from(role)].things;
        let mut known: Vec<(f32, Stem)> = Vec::new();
        let mut asked = 0.0;
        for (at, stem) in query.iter().enumerate() {
            if query[..at].contains(stem) && stem.is_some() {
                continue;
            }
            let found = stem.map_or(0, |stem| self.posted(stem, role).len());
            let weight = weight(things, found);
            asked += weight;
            known.extend(stem.map(|stem| (weight, stem)));
        }
        known.sort_by(|a, b| b.0.total_cmp(&a.0));
        // A thing weighs at least what it shares, so one that reaches the floor shares floor/(2 − floor) of what is
        // asked; one that begins among the lighter stems cannot. What is common is hence hardly looked through.
        let least = floor / (2.0 - floor) * asked;
        let mut left: f32 = known.iter().map(|(weight, _)| weight).sum();
        let mut seen = HashSet::new();
        let mut best: Option<(f32, u32, &str, ThingAt)> = None;
        for (weight, stem) in &known {
            if left < least {
                break;
            }
            left -= weight;
            for (_, _, at) in self.posted(*stem, role) {
                if !seen.insert(*at) {
                    continue;
                }
                let key = self.key(*at);
                let shared: f32 = known.iter().filter(|(_, stem)| key.contains(stem)).map(|(weight, _)| weight).sum();
                let dice = 2.0 * shared / (asked + self.things[*at as usize].weight);
                let value = &self.thing_values(*at)[0];
                let found = (dice, value.records, value.text.as_ref(), *at);
                let better = best.is_none_or(|best| (found.0, found.1, found.2) > (best.0, best.1, best.2));
                if dice >= floor && better {
                    best = Some(found);
                }
            }
        }
        best.map(|(_, _, _, at)| at)
    }

    fn posted(&self, stem: Stem, role: RoleAt) -> &[(Stem, RoleAt, ThingAt)] {
        let first = self.postings.partition_point(|(s, r, _)| (*s, *r) < (stem, role));
        let length = self.postings[first..].partition_point(|(s, r, _)| (*s, *r) == (stem, role));
        &self.postings[first..first + length]
    }
}

fn weight(things: usize, with_stem: usize) -> f32 {
    (1.0 + things as f32 / (1.0 + with_stem as f32)).ln()
}

fn hash_of(key: &[Stem]) -> u64 {
    key.iter().fold(key.len() as u64, |hash, stem| xxh3_64_with_seed(&stem.to_le_bytes(), hash))
}

/// Values by role in the order of the roles' names, each once with its records summed, the most frequent first; without
/// roles of one value.
fn distinct(values: impl Iterator<Item = (Respect, String, u32)>) -> Vec<(Respect, Vec<(String, u32)>)> {
    let mut counts: HashMap<Respect, HashMap<String, u32>> = HashMap::new();
    for (role, value, records) in values {
        let count = counts.entry(role).or_default().entry(value).or_default();
        *count = count.saturating_add(records);
    }
    let mut roles: Vec<(Respect, Vec<(String, u32)>)> = counts
        .into_iter()
        .filter(|(_, values)| values.len() >= 2)
        .map(|(role, values)| {
            let mut values: Vec<(String, u32)> = values.into_iter().collect();
            values.sort_by(|a, b| (b.1, &b.0).cmp(&(a.1, &a.0)));
            (role, values)
        })
        .collect();
    roles.sort_by(|a, b| a.0.name().cmp(b.0.name()));
    roles.truncate(usize::from(RoleAt::MAX));
    roles
}

#[derive(Default)]
struct Builder {
    stemmer: Stemmer,
    /// By lower-cased word.
    word_stems: HashMap<String, Stem>,
    /// By lower-cased word.
    word_counts: HashMap<String, u32>,
    stems: HashMap<Box<str>, Stem>,
    grammar: Vec<bool>,
    roles: Vec<RoleValues>,
    things: Vec<Thing>,
    values: Vec<Value>,
    keys: Vec<Stem>,
    frequencies: Vec<(Frequency, Vec<String>)>,
    statuses: Vec<(Status, Vec<String>)>,
}

impl Builder {
    fn word_stem(&mut self, word: &str) -> Stem {
        if let Some(stem) = self.word_stems.get(word) {
            return *stem;
        }
        let stem = self.stemmer.stem(word).to_string();
        let next = self.stems.len() as Stem;
        let at = *self.stems.entry(stem.into_boxed_str()).or_insert(next);
        if at == next {
            self.grammar.push(is_function_word(word));
        }
        self.word_stems.insert(word.to_string(), at);
        at
    }

    fn title_word(&mut self, word: String, count: u32) {
        *self.word_counts.entry(word).or_default() += count;
    }

    fn role(&mut self, role: Respect, values: Vec<(String, u32)>) {
        if role == Respect::Frequency {
            group(&mut self.frequencies, &values, frequency::meant_by);
        }
        if role == Respect::Status {
            group(&mut self.statuses, &values, status::meant_by);
        }
        let at = self.roles.len() as RoleAt;
        let closed = matches!(role, Respect::Frequency | Respect::Status);
        self.roles.push(RoleValues { role, things: 0 });
        // By key; what is more frequent comes first, and `sort` is stable.
        let mut keyed: Vec<(Vec<Stem>, String, u32)> = Vec::with_capacity(values.len());
        for (text, records) in values {
            let mut key = Vec::new();
            for word in lower_words(&text) {
                key.push(self.word_stem(&word));
                *self.word_counts.entry(word).or_default() += 1;
            }
            if !closed && !key.is_empty() && key.len() <= LONGEST_VALUE_WORDS {
                keyed.push((key, text, records));
            }
        }
        keyed.sort_by(|a, b| a.0.cmp(&b.0));
        for same in keyed.chunk_by(|a, b| a.0 == b.0) {
            let (key_from, value_from) = (self.keys.len() as u32, self.values.len() as u32);
            self.keys.extend(&same[0].0);
            let value =
                |(_, text, records): &(Vec<Stem>, String, u32)| Value { text: text.as_str().into(), records: *records };
            self.values.extend(same.iter().map(value));
            let (key, values) = (key_from..self.keys.len() as u32, value_from..self.values.len() as u32);
            self.roles[usize::from(at)].things += 1;
            self.things.push(Thing { role: at, key, values, weight: 0.0 });
        }
    }

    fn finish(mut self, has_years: bool) -> Vocabulary {
        let mut by_key = Vec::with_capacity(self.things.len());
        let mut postings = Vec::new();
        for (at, thing) in self.things.iter().enumerate() {
            let key = &self.keys[thing.key.start as usize..thing.key.end as usize];
            by_key.push((hash_of(key), at as ThingAt));
            let named = key.iter().filter(|stem| !self.grammar[**stem as usize]);
            postings.extend(named.map(|stem| (*stem, thing.role, at as ThingAt)));
        }
        by_key.sort_unstable();
        postings.sort_unstable();
        postings.dedup();
        postings.shrink_to_fit();
        for same in postings.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let weight = weight(self.roles[usize::from(same[0].1)].things, same.len());
            for (_, _, thing) in same {
                self.things[*thing as usize].weight += weight;
            }
        }
        self.keys.shrink_to_fit();
        self.values.shrink_to_fit();
        self.things.shrink_to_fit();
        Vocabulary {
            roles: self.roles,
            stems: self.stems,
            things: self.things,
            values: self.values,
            keys: self.keys,
            by_key,
            postings,
            frequencies: self.frequencies,
            statuses: self.statuses,
            spelling: Spelling::new(self.word_counts.into_iter()),
            has_years,
        }
    }
}

/// Gathers the values of each meaning; what means nothing known is left out.
fn group<M: PartialEq>(groups: &mut Vec<(M, Vec<String>)>, values: &[(String, u32)], meant: fn(&str) -> Option<M>) {
    for (value, _) in values {
        let Some(meaning) = meant(value) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == meaning) {
            Some((_, group)) => group.push(value.clone()),
            None => groups.push((meaning, vec![value.clone()])),
        }
    }
}
