//! Words that stand side by side in what was said and in a record: whoever copies or remembers a piece of its text says it in its order.
//!
//! score(d) = Σ ln(1 + (N − n(p) + ½) / (n(p) + ½)) over the pairs p of neighbouring words of what was said that d has as well, with n(p) of
//! the N records that are compared: BM25's idf of the pair among the best, so nothing is stored for it.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use lakeward_core::error::Result;
use lakeward_core::text::{Stemmer, is_function_word, lower_words};
use lakeward_index::{LakeIndex, TableRef};

/// Bytes of a text that are looked at.
const MOST_BYTES: usize = 20_000;

/// The pairs of neighbouring words of what was said; words are numbered by their stems.
pub(super) struct Neighbours {
    words: HashMap<String, u32>,
    pairs: HashSet<(u32, u32)>,
}

impl Neighbours {
    /// Those of `texts`, each on its own.
    pub fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut neighbours = Self { words: HashMap::new(), pairs: HashSet::new() };
        let mut stemmer = Stemmer::default();
        for text in texts {
            let mut before = None;
            for word in lower_words(text).filter(|word| !is_function_word(word)) {
                let next = neighbours.words.len() as u32;
                let number = *neighbours.words.entry(stemmer.stem(&word).to_string()).or_insert(next);
                neighbours.pairs.extend(before.map(|before| (before, number)));
                before = Some(number);
            }
        }
        neighbours
    }

    /// The score of each of `tables`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn scores(&self, index: &LakeIndex, tables: &[TableRef]) -> Result<Vec<f64>> {
        if self.pairs.is_empty() {
            return Ok(vec![0.0; tables.len()]);
        }
        let shared = tables.par_iter().map_init(Stemmer::default, |stemmer, table| self.shared(index, *table, stemmer));
        let shared: Vec<HashSet<(u32, u32)>> = shared.collect::<Result<_>>()?;
        let mut having: HashMap<(u32, u32), usize> = HashMap::new();
        shared.iter().flatten().for_each(|pair| *having.entry(*pair).or_default() += 1);
        let rarity = |pair: &(u32, u32)| {
            let (all, having) = (tables.len() as f64, having.get(pair).map_or(0.0, |having| *having as f64));
            (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
        };
        Ok(shared.iter().map(|pairs| pairs.iter().map(rarity).sum()).collect())
    }

    /// The pairs that the texts of a record have, too.
    fn shared(&self, index: &LakeIndex, table: TableRef, stemmer: &mut Stemmer) -> Result<HashSet<(u32, u32)>> {
        let dataset = index.dataset(table)?;
        let mut found = HashSet::new();
        let Some(metadata) = dataset.metadata() else { return Ok(found) };
        let texts = [&metadata.title, &metadata.description, &metadata.method, &metadata.publisher];
        let texts = texts.into_iter().flatten().chain(&metadata.tags).chain(metadata.words_beside());
        for line in texts.flat_map(|text| text[..text.floor_char_boundary(MOST_BYTES)].lines()) {
            let mut before = None;
            for word in lower_words(line).filter(|word| !is_function_word(word)) {
                let number = self.words.get(stemmer.stem(&word)).copied();
                found.extend(before.zip(number).filter(|pair| self.pairs.contains(pair)));
                before = number;
            }
        }
        Ok(found)
    }
}
