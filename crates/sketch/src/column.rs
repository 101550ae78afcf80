//! The summary of a column's cells, made by a [`super::ColumnSketchBuilder`].

use super::normalise::{Kind, Normaliser, raw_hash};
use super::number_summary::NumberSummary;
use super::writing::Writing;

/// Number of most frequent cells reported.
pub(super) const TOP_VALUES: usize = 10;

/// The summary of a column's cells, in bounded space.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnSketch {
    /// Cells seen, missing ones included.
    pub rows: u64,
    /// Cells per [`Kind`], indexed by `kind as usize`.
    pub kinds: [u64; Kind::COUNT],
    /// Values with a hash up to this are kept; `u64::MAX` if none was dropped.
    pub bound: u64,
    /// Hashes of the normal forms kept, ascending; a value written in several ways occurs once for each way.
    pub hashes: Vec<u64>,
    /// Low 32 bits of the hash of the cell as written, parallel to `hashes`.
    pub variants: Vec<u32>,
    /// Distinct normal forms: exact, or an estimate when sampled (relative standard error about 1/√kept).
    pub distinct: u64,
    /// Cells per distinct value: 1 for a key, `rows` for a constant; 0 without values.
    pub multiplicity: f64,
    /// Cells of the most frequent value (among the kept ones).
    pub most_frequent: u64,
    /// Summary of the numbers, or of the days for dates.
    pub numbers: Option<NumberSummary>,
    /// Whether every number is greater than the one before.
    pub ascending: bool,
    /// Text cells that are digits with a leading zero.
    pub leading_zeros: u64,
    /// How its cells were read.
    pub writing: Writing,
    /// Cells with a mark of a gap in them, as written, with their counts, most frequent first. They count as missing unless
    /// [`ColumnSketch::keep_words`] says otherwise.
    pub markers: Vec<(String, u64)>,
    /// Longest cell in bytes.
    pub longest: u64,
    /// Mean length of the present cells in bytes.
    pub mean_length: f64,
    /// Formats of the first distinct values with their shares in 0..=1, most frequent first: `9{4}-9{2}`, `A{2}`, `Aa Aa`.
    pub patterns: Vec<(String, f64)>,
    /// Most frequent cells as written with their counts, most frequent first.
    pub top: Vec<(String, u64)>,
    /// Cells with the smallest hashes: (hash, as written), ascending.
    pub samples: Vec<(u64, String)>,
    /// Distinct cells as written in order of appearance, joined by newlines, up to the limit.
    pub text: String,
}

impl ColumnSketch {
    /// Cells that are not missing.
    pub fn present(&self) -> u64 {
        self.rows - self.kinds[Kind::Null as usize]
    }

    /// Whether no value was dropped; containments are then exact as far as this column is concerned.
    pub fn is_exact(&self) -> bool {
        self.bound == u64::MAX
    }

    /// Counts the cells that are one of `words`, upper and lower case aside, as values: Namibia among countries, `None` among treatments.
    pub fn keep_words(&mut self, words: Vec<String>) {
        self.writing.words.extend(words);
        let kept = |(marker, _): &(String, u64)| self.writing.keeps(marker);
        let (kept, markers) = std::mem::take(&mut self.markers).into_iter().partition(kept);
        self.markers = markers;
        let mut normaliser = Normaliser::new(self.writing.clone());
        for (word, cells) in kept {
            self.count_word(word.as_str(), cells, normaliser.value(&word).hash);
        }
    }

    fn count_word(&mut self, word: &str, cells: u64, hash: u64) {
        let before = self.present();
        self.kinds[Kind::Null as usize] -= cells;
        self.kinds[Kind::Text as usize] += cells;
        let place = self.hashes.partition_point(|kept| *kept < hash);
        let all_shown = self.samples.len() as u64 >= self.distinct;
        self.distinct += u64::from(self.hashes.get(place) != Some(&hash));
        if hash <= self.bound {
            self.hashes.insert(place, hash);
            self.variants.insert(place, raw_hash(word) as u32);
        }
        let distinct = self.distinct.max(1) as f64;
        self.multiplicity = self.present() as f64 / distinct;
        self.most_frequent = self.most_frequent.max(cells);
        self.mean_length =
            (self.mean_length * before as f64 + (word.len() as u64 * cells) as f64) / self.present() as f64;
        self.longest = self.longest.max(word.len() as u64);
        let place = self.top.partition_point(|(_, count)| *count >= cells);
        self.top.insert(place, (word.to_string(), cells));
        self.top.truncate(TOP_VALUES);
        let place = self.samples.partition_point(|(kept, _)| *kept < hash);
        let known = self.samples.get(place).is_some_and(|(kept, _)| *kept == hash);
        if !known && (place < self.samples.len() || all_shown) {
            self.samples.insert(place, (hash, word.to_string()));
            if !all_shown {
                self.samples.pop();
            }
        }
    }
}
