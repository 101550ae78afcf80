//! Fixed phrases of requests, written as patterns over words and found in one pass.
//!
//! A pattern is its words with single blanks between. Words of a match follow each other with nothing but a blank, a
//! hyphen or a quote between. Written:
//!
//! | element | meets |
//! |---|---|
//! | `still` | the word |
//! | `archiv*` | a word that begins so, or is it |
//! | `a\|an\|the` | one of these |
//! | `the?` | the word or nothing; after a list `a\|an?` all of it |
//! | `_`, `_2` | any word; none to two of any |
//! | `#` | a number, `3` or `three`, that the match keeps |
//! | `@` | a unit of time, `year` or `years`, that the match keeps |
//! | `,` `:` | a comma or bracket, a colon, where else a blank would do; `,?` may be one |
//! | `<a\|b` | at the beginning: not after one of these words |
//! | `>a\|b` | at the end: not before one of these words |

use std::collections::HashMap;

use super::turn::{Gap, Turn};

/// Where a pattern stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match<T> {
    /// First word.
    pub from: usize,
    /// Behind the last word.
    pub to: usize,
    /// What the pattern means.
    pub means: T,
    /// The number that stands in it.
    pub number: Option<u32>,
    /// The unit of time that stands in it.
    pub unit: Option<Unit>,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Hour,
    Day,
    Week,
    Fortnight,
    Month,
    Quarter,
    Year,
    Decade,
}

impl Unit {
    /// Of `year` or `years`.
    pub fn named(word: &str) -> Option<Self> {
        Some(match word.strip_suffix('s').unwrap_or(word) {
            "hour" => Self::Hour,
            "day" => Self::Day,
            "week" => Self::Week,
            "fortnight" => Self::Fortnight,
            "month" => Self::Month,
            "quarter" => Self::Quarter,
            "year" | "yr" => Self::Year,
            "decade" => Self::Decade,
            _ => return None,
        })
    }
}

/// A small number in digits or as a word.
pub(super) fn number(word: &str) -> Option<u32> {
    const WORDS: [&str; 13] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let digits = || word.parse().ok().filter(|_| word.len() <= 3 && word.bytes().all(|byte| byte.is_ascii_digit()));
    WORDS.iter().position(|known| *known == word).map(|value| value as u32).or_else(digits)
}

/// Patterns, each with what it means.
pub(super) struct Phrases<T> {
    patterns: Vec<Pattern<T>>,
    /// Patterns that begin with one of some words, by these.
    by_first: HashMap<&'static str, Vec<usize>>,
    /// The others.
    open: Vec<usize>,
}

struct Pattern<T> {
    elements: Vec<Element>,
    not_after: Vec<&'static str>,
    not_before: Vec<&'static str>,
    means: T,
}

struct Element {
    choices: Vec<Choice>,
    least: usize,
    most: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Any,
    Is(&'static str),
    Begins(&'static str),
    Number,
    Unit,
    Comma,
    Colon,
}

#[derive(Clone, Copy, Default)]
struct Kept {
    number: Option<u32>,
    unit: Option<Unit>,
}

impl<T: Copy> Phrases<T> {
    /// Of lists of patterns, separated by `;`, each list with what it means. Earlier patterns are preferred.
    pub fn new(lists: impl IntoIterator<Item = (T, &'static str)>) -> Self {
        let mut phrases = Phrases { patterns: Vec::new(), by_first: HashMap::new(), open: Vec::new() };
        for (means, list) in lists {
            for text in list.split(';').map(str::trim).filter(|text| !text.is_empty()) {
                phrases.add(Pattern::parse(text, means));
            }
        }
        phrases
    }

    fn add(&mut self, pattern: Pattern<T>) {
        let at = self.patterns.len();
        let first = pattern.elements.first().filter(|first| first.least > 0);
        let words: Option<Vec<&'static str>> = first.and_then(|first| {
            let word = |choice: &Choice| if let Choice::Is(word) = choice { Some(*word) } else { None };
            first.choices.iter().map(word).collect()
        });
        match words {
            Some(words) => words.into_iter().for_each(|word| self.by_first.entry(word).or_default().push(at)),
            None => self.open.push(at),
        }
        self.patterns.push(pattern);
    }

    /// All matches in the words `from..to`, none over another; from left to right, at each place that of the earliest
    /// pattern.
    pub fn find(&self, turn: &Turn, from: usize, to: usize) -> Vec<Match<T>> {
        let mut found = Vec::new();
        let mut at = from;
        while at < to {
            match self.at(turn, at, to) {
                Some(hit) => {
                    at = hit.to.max(at + 1);
                    found.push(hit);
                }
                None => at += 1,
            }
        }
        found
    }

    /// The match that begins at a word, within the words up to `to`.
    pub fn at(&self, turn: &Turn, at: usize, to: usize) -> Option<Match<T>> {
        let named = self.by_first.get(turn.low(at)).map(Vec::as_slice).unwrap_or_default();
        let earliest = |places: &[usize]| {
            places.iter().find_map(|place| self.patterns[*place].at(turn, at, to).map(|hit| (*place, hit)))
        };
        let (named, open) = (earliest(named), earliest(&self.open));
        let first = match (named, open) {
            (Some(named), Some(open)) => Some(if named.0 < open.0 { named } else { open }),
            (named, open) => named.or(open),
        };
        first.map(|(_, hit)| hit)
    }

    /// Whether any stands in the words `from..to`.
    pub fn any(&self, turn: &Turn, from: usize, to: usize) -> bool {
        (from..to).any(|at| self.at(turn, at, to).is_some())
    }
}

impl<T: Copy> Pattern<T> {
    fn parse(text: &'static str, means: T) -> Self {
        let mut pattern = Pattern { elements: Vec::new(), not_after: Vec::new(), not_before: Vec::new(), means };
        for part in text.split_whitespace() {
            if let Some(words) = part.strip_prefix('<') {
                pattern.not_after = words.split('|').collect();
            } else if let Some(words) = part.strip_prefix('>') {
                pattern.not_before = words.split('|').collect();
            } else {
                pattern.elements.push(Element::parse(part));
            }
        }
        pattern
    }

    fn at(&self, turn: &Turn, at: usize, to: usize) -> Option<Match<T>> {
        let before = at.checked_sub(1).filter(|before| turn.gaps[*before].joined).map_or("", |before| turn.low(before));
        if self.not_after.contains(&before) {
            return None;
        }
        let (end, kept) = meets(&self.elements, turn, Place { start: at, at, to, separated: false }, Kept::default())?;
        let next = if end > at && turn.gaps[end - 1].joined { turn.low(end) } else { "" };
        if end == at || self.not_before.contains(&next) {
            return None;
        }
        Some(Match { from: at, to: end, means: self.means, number: kept.number, unit: kept.unit })
    }
}

impl Element {
    fn parse(part: &'static str) -> Self {
        let (part, least) = match part.strip_suffix('?') {
            Some(rest) if !rest.is_empty() => (rest, 0),
            _ => (part, 1),
        };
        if let Some(most) = part.strip_prefix('_').and_then(|count| count.parse().ok()) {
            return Element { choices: vec![Choice::Any], least: 0, most };
        }
        Element { choices: part.split('|').map(Choice::parse).collect(), least, most: 1 }
    }

    fn is_mark(&self) -> bool {
        self.choices.iter().all(|choice| matches!(choice, Choice::Comma | Choice::Colon))
    }
}

impl Choice {
    fn parse(text: &'static str) -> Self {
        match text {
            "_" => Self::Any,
            "#" => Self::Number,
            "@" => Self::Unit,
            "," => Self::Comma,
            ":" => Self::Colon,
            _ => text.strip_suffix('*').map_or(Self::Is(text), Self::Begins),
        }
    }

    fn meets_word(self, word: &str, kept: &mut Kept) -> bool {
        match self {
            Self::Any => true,
            Self::Is(known) => known == word,
            Self::Begins(known) => word.starts_with(known),
            Self::Number => number(word).map(|value| kept.number = Some(value)).is_some(),
            Self::Unit => Unit::named(word).map(|unit| kept.unit = Some(unit)).is_some(),
            Self::Comma | Self::Colon => false,
        }
    }

    fn meets_gap(self, gap: &Gap) -> bool {
        match self {
            Self::Comma => gap.comma,
            Self::Colon => gap.colon,
            _ => false,
        }
    }
}

#[derive(Clone, Copy)]
struct Place {
    start: usize,
    at: usize,
    to: usize,
    /// Whether a mark of the pattern stands before the next word.
    separated: bool,
}

/// Where the elements end if they can be met from a place on. Repeats are as short as possible for `_n`, options are
/// taken where they can be. The depth is that of the pattern, and a pattern has few options, so the work per place is
/// bounded.
fn meets(elements: &[Element], turn: &Turn, place: Place, kept: Kept) -> Option<(usize, Kept)> {
    let Some((element, rest)) = elements.split_first() else { return Some((place.at, kept)) };
    if element.is_mark() {
        let gap =
            place.at.checked_sub(1).filter(|before| *before >= place.start).and_then(|before| turn.gaps.get(before));
        let met = gap.is_some_and(|gap| element.choices.iter().any(|choice| choice.meets_gap(gap)));
        return match (met, element.least) {
            (true, _) => meets(rest, turn, Place { separated: true, ..place }, kept),
            (false, 0) => meets(rest, turn, place, kept),
            (false, _) => None,
        };
    }
    let next = |place: Place, kept: &mut Kept| {
        let follows = place.at == place.start || place.separated || turn.gaps[place.at - 1].joined;
        let word = turn.words.get(place.at).filter(|_| place.at < place.to && follows)?;
        element.choices.iter().any(|choice| choice.meets_word(&word.low, kept)).then_some(())
    };
    let lazy = element.most > 1 || element.choices == [Choice::Any];
    if lazy {
        let (mut here, mut so_far) = (place, kept);
        for count in 0..=element.most {
            if count >= element.least
                && let Some(found) = meets(rest, turn, here, so_far)
            {
                return Some(found);
            }
            next(here, &mut so_far)?;
            here = Place { at: here.at + 1, separated: false, ..here };
        }
        return None;
    }
    let mut taken = kept;
    if next(place, &mut taken).is_some()
        && let Some(found) = meets(rest, turn, Place { at: place.at + 1, separated: false, ..place }, taken)
    {
        return Some(found);
    }
    if element.least == 0 { meets(rest, turn, place, kept) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &'static str, text: &str) -> Vec<String> {
        let turn = Turn::new(text);
        let phrases = Phrases::new([((), pattern)]);
        phrases.find(&turn, 0, turn.words.len()).iter().map(|hit| turn.said(hit.from, hit.to).to_string()).collect()
    }

    #[test]
    fn patterns_meet_words_options_gaps_and_marks() {
        for (pattern, text, expected) in [
            ("no longer|never _2 updated", "It is no longer being updated.", vec!["no longer being updated"]),
            ("no longer|never _2 updated", "It is no longer. Updated", vec![]),
            ("archiv*", "An archived one, the archive", vec!["archived", "archive"]),
            ("every|each # @", "every 2 years and every three months", vec!["every 2 years", "every three months"]),
            ("no ,? wait", "No, wait. no wait", vec!["No, wait", "no wait"]),
            ("wait ,", "wait, wait for it", vec!["wait"]),
            ("alive|live >in", "I live in X, a live series", vec!["live"]),
            ("<back to", "back to to", vec!["to"]),
            ("semi? annual", "semi-annual annual", vec!["semi-annual", "annual"]),
            ("isn't _1 current", "It isn’t quite current", vec!["isn’t quite current"]),
        ] {
            assert_eq!(found(pattern, text), expected, "{pattern}: {text}");
        }
    }
}
