//! Builds the sketch of a column in one pass over its cells, in bounded memory.
//!
//! The builder stores the distinct cells as written, each with the hash of its normal form, its count and its number: a repeated cell costs
//! one hash and one probe, and only a new one is normalised. When there are more distinct values than fit, it halves the range of hashes it
//! keeps (adaptive sampling: Wegman; Flajolet, Computing 43, 1990). What remains is every value whose hash is at most
//! [`ColumnSketch::bound`], by the same rule in every column; so containment between two sampled columns is estimated on the range that
//! both kept, and is exact if neither dropped any. Kinds, missing cells, extremes and moments are counted over all cells, dropped ones
//! included.

use std::fmt::Write;

use hashbrown::hash_map::RawEntryMut;
use serde::{Deserialize, Serialize};

use super::column::{ColumnSketch, TOP_VALUES};
use super::entries::{Entries, Entry, records};
use super::normalise::{Kind, Normaliser, raw_hash, trimmed};
use super::number_summary::{Moments, Points, summarise};
use super::pattern::write_pattern;
use super::writing::{Point, Writing};

/// Bounds on what a builder keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SketchLimits {
    /// Distinct cells kept before sampling begins.
    pub exact_values: usize,
    /// Bytes of distinct cells kept as text, in order of appearance.
    pub text_bytes: usize,
    /// Cells kept as text for showing matches: those with the smallest hashes, so that two columns keep the same values.
    pub sample_values: usize,
}

impl Default for SketchLimits {
    fn default() -> Self {
        Self { exact_values: 1 << 17, text_bytes: 64 << 10, sample_values: 48 }
    }
}

/// Maximum bytes of a sample cell; longer ones are cut.
const LONGEST_SHOWN: usize = 120;
/// Distinct cells whose format is recorded.
const PATTERNED_VALUES: usize = 1024;
/// Maximum number of different formats.
const MOST_PATTERNS: usize = 32;
/// Marks of gaps that are counted, each way of writing one by itself.
const MOST_MARKERS: usize = 32;
/// A frequent cell that came after the text budget was used up is kept once it has occurred this often.
const FREQUENT: u32 = 16;
const NO_TEXT: u32 = u32::MAX;

/// One cell as its column's sketch knows it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Hash of the normal form; 0 if the cell is missing.
    pub hash: u64,
    /// The number, or the days of a date; NaN if there is none.
    pub number: f64,
}

impl Cell {
    /// A missing cell.
    pub const MISSING: Self = Self { hash: 0, number: f64::NAN };
}

/// Builds a [`ColumnSketch`] from cells in row order. One that was written down and read goes on as if it had not been.
#[derive(Clone, Serialize, Deserialize)]
pub struct ColumnSketchBuilder {
    limits: SketchLimits,
    normaliser: Normaliser,
    #[serde(with = "records")]
    entries: Entries,
    bound: u64,
    rows: u64,
    kinds: [u64; Kind::COUNT],
    text: String,
    /// Ascending by hash.
    samples: Vec<(u64, String)>,
    patterns: Vec<(String, u32)>,
    patterned: u32,
    #[serde(skip)]
    pattern: String,
    /// Of the numbers, then of the days; dates are separate so that a stray year among them does not count as a day.
    moments: [Moments; 2],
    previous: f64,
    ascending: bool,
    leading_zeros: u64,
    markers: Vec<(String, u64)>,
    points: Points,
    longest: u64,
    length_sum: u64,
}

impl ColumnSketchBuilder {
    /// A builder for a column that writes its values like this as far as is known.
    pub fn new(limits: SketchLimits, writing: impl Into<Writing>) -> Self {
        Self {
            limits,
            normaliser: Normaliser::new(writing),
            entries: Entries::default(),
            bound: u64::MAX,
            rows: 0,
            kinds: [0; Kind::COUNT],
            text: String::new(),
            samples: Vec::new(),
            patterns: Vec::new(),
            patterned: 0,
            pattern: String::new(),
            moments: Default::default(),
            previous: f64::NEG_INFINITY,
            ascending: true,
            leading_zeros: 0,
            markers: Vec::new(),
            points: Points::default(),
            longest: 0,
            length_sum: 0,
        }
    }

    /// Makes room for the distinct cells of about `rows` more rows.
    pub fn expect(&mut self, rows: usize) {
        const MOST: usize = 128;
        self.entries.reserve(rows.min(MOST));
    }

    /// Number of distinct cells currently stored.
    pub fn held_values(&self) -> usize {
        self.entries.len()
    }

    /// Adds `count` missing cells.
    pub fn push_missing(&mut self, count: u64) {
        self.rows += count;
        self.kinds[Kind::Null as usize] += count;
    }

    /// Adds the next cell, and returns what it is as far as the writing of the column is known.
    pub fn push(&mut self, raw: &str) -> Cell {
        let cell = trimmed(raw);
        if cell.is_empty() {
            self.push_missing(1);
            return Cell::MISSING;
        }
        let key = raw_hash(cell);
        let (kind, hash, number, fresh) = match self.entries.raw_entry_mut().from_key_hashed_nocheck(key, &key) {
            RawEntryMut::Occupied(mut occupied) => {
                let entry = occupied.get_mut();
                entry.count = entry.count.saturating_add(1);
                if entry.count == FREQUENT && entry.text == NO_TEXT {
                    entry.text = keep_text(&mut self.text, cell, self.limits.text_bytes * 5 / 4);
                }
                (entry.kind, entry.hash, entry.number, false)
            }
            RawEntryMut::Vacant(vacant) => {
                let value = self.normaliser.value(cell);
                if value.hash <= self.bound {
                    let text = keep_text(&mut self.text, cell, self.limits.text_bytes);
                    let entry = Entry { hash: value.hash, number: value.number, count: 1, text, kind: value.kind };
                    vacant.insert_hashed_nocheck(key, key, entry);
                }
                if value.kind != Kind::Null {
                    keep_sample(&mut self.samples, value.hash, cell, self.limits.sample_values);
                }
                (value.kind, value.hash, value.number, true)
            }
        };
        self.rows += 1;
        self.kinds[kind as usize] += 1;
        if kind == Kind::Null {
            self.note_marker(cell);
            return Cell::MISSING;
        }
        self.longest = self.longest.max(cell.len() as u64);
        self.length_sum += cell.len() as u64;
        if !number.is_nan() {
            self.ascending &= number > self.previous;
            self.previous = number;
            self.moments[usize::from(!kind.is_number())].add(number);
        } else if cell.as_bytes()[0] == b'0' && cell.len() > 1 && cell.bytes().all(|byte| byte.is_ascii_digit()) {
            self.leading_zeros += 1;
        }
        if fresh {
            self.note_pattern(cell);
            if kind.is_number() {
                self.points.note(cell, kind, number);
            }
            if self.entries.len() > self.limits.exact_values {
                self.halve();
            }
        }
        Cell { hash, number }
    }

    /// How the column writes its values as far as is known before [`ColumnSketchBuilder::finish`].
    pub fn writing(&self) -> &Writing {
        self.normaliser.writing()
    }

    /// Drops the upper half of the values kept, by hash.
    pub fn halve(&mut self) {
        let mut hashes: Vec<u64> = self.entries.values().map(|entry| entry.hash).collect();
        if hashes.len() < 2 {
            return;
        }
        let middle = hashes.len() / 2;
        let (_, median, _) = hashes.select_nth_unstable(middle);
        let bound = *median;
        self.bound = bound.min(self.bound.saturating_sub(1));
        let bound = self.bound;
        self.entries.retain(|_, entry| entry.hash <= bound);
    }

    fn note_marker(&mut self, cell: &str) {
        if let Some((_, count)) = self.markers.iter_mut().find(|(known, _)| known == cell) {
            *count += 1;
        } else if self.markers.len() < MOST_MARKERS {
            self.markers.push((cell.to_string(), 1));
        }
    }

    /// Reads the numbers again where their points part thousands. Of a sampled column some values are gone, and it stays as it is.
    fn read_points(&mut self) {
        if self.writing().point != Point::AsWritten || self.bound != u64::MAX || !self.points.part_thousands() {
            return;
        }
        self.normaliser = Normaliser::new(Writing { point: Point::Thousands, ..self.writing().clone() });
        let mut digits = String::new();
        let mut numbers = Moments::default();
        let mut entries: Vec<(&u64, &mut Entry)> = self.entries.iter_mut().collect();
        // Sums of numbers depend on their order, and that of a map on its history.
        entries.sort_unstable_by_key(|(key, _)| **key);
        for (_, entry) in entries.into_iter().filter(|(_, entry)| entry.kind.is_number()) {
            if entry.kind != Kind::Integer {
                // A group of three digits is exact in thousandths.
                digits.clear();
                let _ = write!(digits, "{}", (entry.number * 1000.0).round());
                let value = self.normaliser.value(&digits);
                self.kinds[entry.kind as usize] -= u64::from(entry.count);
                self.kinds[Kind::Integer as usize] += u64::from(entry.count);
                (entry.hash, entry.number, entry.kind) = (value.hash, value.number, value.kind);
            }
            numbers.add_times(entry.number, entry.count);
        }
        self.moments[0] = numbers;
        // The order of the rows is not known any more.
        self.ascending = false;
        for (hash, cell) in &mut self.samples {
            *hash = self.normaliser.value(cell).hash;
        }
        self.samples.sort_unstable();
    }

    fn note_pattern(&mut self, cell: &str) {
        if self.patterned as usize >= PATTERNED_VALUES {
            return;
        }
        self.patterned += 1;
        write_pattern(cell, &mut self.pattern);
        if let Some((_, count)) = self.patterns.iter_mut().find(|(known, _)| *known == self.pattern) {
            *count += 1;
        } else if self.patterns.len() < MOST_PATTERNS {
            self.patterns.push((self.pattern.clone(), 1));
        }
    }

    /// The summary of all cells pushed.
    pub fn finish(mut self) -> ColumnSketch {
        self.read_points();
        self.markers.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut present: Vec<(u64, u32, u32)> = Vec::with_capacity(self.entries.len());
        let mut numbers: Vec<(f64, u32)> = Vec::new();
        let dated = self.moments[1].count > self.moments[0].count;
        let moments = &self.moments[usize::from(dated)];
        for (key, entry) in &self.entries {
            if entry.kind != Kind::Null {
                present.push((entry.hash, *key as u32, entry.count));
            }
            if !entry.number.is_nan() && entry.kind.is_number() != dated {
                numbers.push((entry.number, entry.count));
            }
        }
        present.sort_unstable();
        let (kept_distinct, most_frequent) = distinct_values(&present);
        let kept_cells: u64 = present.iter().map(|(_, _, count)| u64::from(*count)).sum();
        let share = self.bound as f64 / u64::MAX as f64;
        let distinct =
            if self.bound == u64::MAX { kept_distinct } else { (kept_distinct as f64 / share).round() as u64 };
        let cells = self.rows - self.kinds[Kind::Null as usize];
        let top = self.top_values();
        ColumnSketch {
            rows: self.rows,
            kinds: self.kinds,
            bound: self.bound,
            distinct: distinct.min(cells),
            multiplicity: if kept_distinct == 0 { 0.0 } else { kept_cells as f64 / kept_distinct as f64 },
            most_frequent,
            numbers: summarise(moments, &mut numbers),
            ascending: self.ascending && moments.count > 1,
            leading_zeros: self.leading_zeros,
            writing: self.normaliser.writing().clone(),
            markers: self.markers,
            longest: self.longest,
            mean_length: if cells == 0 { 0.0 } else { self.length_sum as f64 / cells as f64 },
            patterns: shares(self.patterns, self.patterned),
            top,
            samples: self.samples,
            text: self.text,
            variants: present.iter().map(|(_, variant, _)| *variant).collect(),
            hashes: present.into_iter().map(|(hash, _, _)| hash).collect(),
        }
    }

    fn top_values(&self) -> Vec<(String, u64)> {
        let mut top: Vec<(u64, u32)> = self
            .entries
            .values()
            .filter(|entry| entry.kind != Kind::Null && entry.text != NO_TEXT)
            .map(|entry| (u64::from(entry.count), entry.text))
            .collect();
        let by_count = |a: &(u64, u32), b: &(u64, u32)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
        if top.len() > TOP_VALUES {
            top.select_nth_unstable_by(TOP_VALUES, by_count);
            top.truncate(TOP_VALUES);
        }
        top.sort_unstable_by(by_count);
        let shown = |offset: u32| {
            let rest = &self.text[offset as usize..];
            rest[..rest.find('\n').unwrap_or(rest.len())].to_string()
        };
        top.into_iter().map(|(count, offset)| (shown(offset), count)).collect()
    }
}

/// Number of distinct hashes in a list sorted by hash, and the cells of the most frequent one.
fn distinct_values(present: &[(u64, u32, u32)]) -> (u64, u64) {
    let (mut distinct, mut most_frequent) = (0, 0);
    for group in present.chunk_by(|a, b| a.0 == b.0) {
        distinct += 1;
        most_frequent = most_frequent.max(group.iter().map(|(_, _, count)| u64::from(*count)).sum());
    }
    (distinct, most_frequent)
}

/// Appends a cell to the stored text, one line each; returns its offset, or [`NO_TEXT`] if the limit is reached.
fn keep_text(text: &mut String, cell: &str, limit: usize) -> u32 {
    let shown = shortened(cell);
    if text.len() + shown.len() + 1 > limit {
        return NO_TEXT;
    }
    let offset = text.len() as u32;
    if memchr::memchr2(b'\n', b'\r', shown.as_bytes()).is_none() {
        text.push_str(shown);
        text.push('\n');
        return offset;
    }
    for (place, line) in shown.split(['\n', '\r']).filter(|line| !line.is_empty()).enumerate() {
        if place > 0 {
            text.push(' ');
        }
        text.push_str(line);
    }
    text.push('\n');
    offset
}

fn keep_sample(samples: &mut Vec<(u64, String)>, hash: u64, cell: &str, limit: usize) {
    let full = samples.len() >= limit;
    if full && samples.last().is_none_or(|(greatest, _)| hash >= *greatest) {
        return;
    }
    let Err(place) = samples.binary_search_by_key(&hash, |(kept, _)| *kept) else { return };
    if full {
        samples.pop();
    }
    samples.insert(place, (hash, shortened(cell).to_string()));
}

fn shortened(cell: &str) -> &str {
    &cell[..cell.floor_char_boundary(LONGEST_SHOWN)]
}

fn shares(patterns: Vec<(String, u32)>, total: u32) -> Vec<(String, f64)> {
    let share = |count: u32| f64::from(count) / f64::from(total.max(1));
    let mut shares: Vec<(String, f64)> = patterns.into_iter().map(|(pattern, count)| (pattern, share(count))).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    shares.truncate(5);
    shares
}

#[cfg(test)]
mod tests;
