//! Searches for names in a text: the longest match over runs of letters and of digits, so that spaces and dashes between
//! them do not matter, but case does.

use std::collections::HashMap;

use lakeward_core::text::letters_and_digits;

/// Maximum number of runs in a name.
const MAX_RUNS: usize = 9;
/// Maximum number of bytes between two runs of a name.
const WIDEST_GAP_BYTES: usize = 3;
/// Characters between runs that end a name.
const BORDERS: &str = ".;:()[]=<>";

/// A run of letters or of digits: its bytes.
pub type Run = (usize, usize);

/// The runs of letters and of digits of `text`.
pub fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut last_is_digit = None;
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        if !letter.is_alphanumeric() {
            last_is_digit = None;
            continue;
        }
        let is_digit = letter.is_numeric();
        match (last_is_digit, runs.last_mut()) {
            (Some(last), Some(run)) if last == is_digit => run.1 = end,
            _ => runs.push((at, end)),
        }
        last_is_digit = Some(is_digit);
    }
    runs
}

/// The case-folded letters and digits of a name: mentions with the same key are the same dataset.
pub fn loose_key(name: &str) -> String {
    letters_and_digits(name).to_lowercase()
}

/// A name found in a text.
pub struct Found<T> {
    /// Its start, in bytes.
    pub start: usize,
    /// Its end, in bytes.
    pub end: usize,
    /// Its value.
    pub value: T,
}

/// Names with their values.
#[derive(Debug, Default)]
pub struct Gazetteer {
    exact: HashMap<String, usize>,
    folded: HashMap<String, usize>,
    /// Whether digits may follow a name directly.
    before_digits: bool,
}

impl Gazetteer {
    /// A gazetteer whose names may be followed directly by digits, such as a year.
    pub fn before_digits() -> Self {
        Self { before_digits: true, ..Self::default() }
    }

    /// Adds a name with its value. With `any_case`, it matches in any case.
    pub fn add(&mut self, name: &str, value: usize, any_case: bool) {
        let key = letters_and_digits(name);
        if any_case {
            self.folded.entry(key.to_lowercase()).or_insert(value);
        }
        self.exact.entry(key).or_insert(value);
    }

    /// The value of a name, matched exactly.
    pub fn exact(&self, name: &str) -> Option<usize> {
        self.exact.get(&letters_and_digits(name)).copied()
    }

    /// The names in `text`, the longest at each position, from left to right without overlaps.
    pub fn find(&self, text: &str) -> Vec<Found<usize>> {
        let runs = runs(text);
        let mut found = Vec::new();
        let mut at = 0;
        while at < runs.len() {
            match self.longest(text, &runs[at..], at > 0 && runs[at - 1].1 == runs[at].0) {
                Some((length, value)) => {
                    found.push(Found { start: runs[at].0, end: runs[at + length - 1].1, value });
                    at += length;
                }
                None => at += 1,
            }
        }
        found
    }

    /// The longest name at the first of `runs`, in runs, and its value. `is_inside`: the first run continues a word.
    fn longest(&self, text: &str, runs: &[Run], is_inside: bool) -> Option<(usize, usize)> {
        if is_inside {
            return None;
        }
        let mut key = String::new();
        let mut longest = None;
        for (place, run) in runs.iter().take(MAX_RUNS).enumerate() {
            if place > 0 && !is_gap(&text[runs[place - 1].1..run.0]) {
                break;
            }
            key.push_str(&text[run.0..run.1]);
            let continues = |next: &Run| next.0 == run.1 && !(self.before_digits && is_number(&text[next.0..next.1]));
            let ends_inside = runs.get(place + 1).is_some_and(continues);
            if ends_inside {
                continue;
            }
            let value = self.exact.get(&key).or_else(|| self.folded.get(&key.to_lowercase()));
            longest = value.map(|value| (place + 1, *value)).or(longest);
        }
        longest
    }
}

fn is_number(run: &str) -> bool {
    run.starts_with(char::is_numeric)
}

fn is_gap(between: &str) -> bool {
    between == "." || between.len() <= WIDEST_GAP_BYTES && !between.contains(|letter| BORDERS.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_is_found_whatever_stands_between_its_runs() {
        let mut names = Gazetteer::default();
        names.add("Road Atlas", 0, false);
        names.add("Road Atlas 2", 1, false);
        names.add("Lane9", 2, true);
        let found = |text: &str| names.find(text).iter().map(|found| found.value).collect::<Vec<_>>();
        assert_eq!(found("on Road-Atlas and RoadAtlas-2, lane 9."), [0, 1, 2]);
        assert_eq!(found("on road atlas; Road: Atlas; Road AtlasX; xLane9"), [0usize; 0]);
        assert_eq!(runs("ab12-é"), [(0, 2), (2, 4), (5, 7)]);
    }
}
