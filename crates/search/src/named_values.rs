//! Values that a request names: runs of its words that are whole cells somewhere in the lake.
//!
//! Each run is looked up in the inverted lists of values, so a column's every distinct value counts, and one in many columns
//! says little: its weight is ln((N + 1) / n), of N tables, n columns. In a table longer runs come first, and no word counts twice.

use hashbrown::HashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::error::Result;
use lakeward_index::lexical::TypedWord;
use lakeward_index::{ColumnRef, LakeIndex, TableRef};
use lakeward_sketch::normalise::{Kind, Normaliser};

/// Words of the longest run.
const LONGEST_RUN: usize = 6;
/// A value in more columns of a segment than this tells nothing apart; its list is not read.
const MOST_COLUMNS: usize = 4096;

/// A value that the request names, where a table holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedValue {
    /// As the request has it.
    pub value: String,
    /// A column that holds it.
    #[schemars(extend("x-sql" = "column_name"))]
    pub column: String,
}

/// The runs of one request and the tables that hold them.
pub(super) struct NamedValues {
    runs: Vec<Run>,
    /// In the order of the runs, then of the columns.
    held: HashMap<TableRef, Vec<(usize, ColumnRef)>>,
    /// Rarity of all words of the request together.
    total: f64,
}

struct Run {
    text: String,
    words: std::ops::Range<usize>,
    weight: f64,
}

impl NamedValues {
    /// Looks up the runs of `words` of `text`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged, as below, and those of [`LakeIndex::gather`].
    pub fn find(index: &LakeIndex, text: &str, words: &[TypedWord<'_>]) -> Result<Self> {
        let mut named = Self { runs: Vec::new(), held: HashMap::new(), total: 0.0 };
        named.total = words.iter().map(|word| f64::from(word.rarity)).sum();
        let mut normaliser = Normaliser::default();
        // Tables, then columns that hold each run.
        let mut counts = vec![index.len() as u64];
        for start in 0..words.len() {
            for end in start + 1..=words.len().min(start + LONGEST_RUN) {
                let run = &words[start..end];
                let informative = run.iter().any(|word| word.rarity > 0.0);
                if !informative
                    || run.last().is_some_and(|word| word.rarity == 0.0)
                    || (run.len() == 1 && run[0].text.len() < 2)
                {
                    continue;
                }
                let text = run.iter().map(|word| word.text).collect::<Vec<_>>().join(" ");
                let text = text.strip_suffix("'s").or(text.strip_suffix("’s")).unwrap_or(&text);
                let value = normaliser.value(text);
                if value.kind != Kind::Null {
                    counts.push(named.look_up(index, value.hash)?);
                    named.runs.push(Run { text: text.to_string(), words: start..end, weight: 0.0 });
                }
            }
        }
        let counts = index.sums(&format!("columns that hold words of {text}"), counts.len(), || Ok(counts))?;
        let tables = counts.first().map_or(0.0, |tables| *tables as f64);
        for (run, columns) in named.runs.iter_mut().zip(counts.iter().skip(1)) {
            run.weight = ((tables + 1.0) / (*columns).max(1) as f64).ln().max(0.0);
        }
        Ok(named)
    }

    /// Notes the tables that hold the next run; the number of columns that do.
    fn look_up(&mut self, index: &LakeIndex, hash: u64) -> Result<u64> {
        let mut columns = 0;
        let number = self.runs.len();
        for (place, segment) in index.segments().iter().enumerate() {
            let Some(list) = segment.join.values.find(hash)? else { continue };
            columns += list.count() as u64;
            if list.count() > MOST_COLUMNS {
                continue;
            }
            let mut found = Vec::with_capacity(list.count());
            segment.join.values.for_each(list, |column| found.push(column))?;
            let tables = segment.tables.tables_of(&found)?;
            for (column, table) in found.into_iter().zip(tables) {
                if !segment.is_live(table) {
                    continue;
                }
                let table = TableRef { segment: place as u32, table };
                self.held.entry(table).or_default().push((number, ColumnRef { segment: place as u32, column }));
            }
        }
        Ok(columns)
    }

    /// The runs that `table` holds, weightiest choice without overlap, and their weight as a share of the request's, 0..=1.
    pub fn of(&self, table: TableRef) -> (f64, Vec<(&str, ColumnRef)>) {
        self.held.get(&table).map_or((0.0, Vec::new()), |held| self.chosen(held))
    }

    /// The columns that hold a run, with the same of each.
    pub fn by_column(&self) -> HashMap<ColumnRef, (f64, Vec<&str>)> {
        let mut columns: HashMap<ColumnRef, Vec<(usize, ColumnRef)>> = HashMap::new();
        for held in self.held.values().flatten() {
            columns.entry(held.1).or_default().push(*held);
        }
        let chosen = |held: &[(usize, ColumnRef)]| {
            let (share, runs) = self.chosen(held);
            (share, runs.into_iter().map(|(text, _)| text).collect())
        };
        columns.into_iter().map(|(column, held)| (column, chosen(&held))).collect()
    }

    fn chosen(&self, held: &[(usize, ColumnRef)]) -> (f64, Vec<(&str, ColumnRef)>) {
        let mut held: Vec<(&Run, ColumnRef)> = held.iter().map(|(run, column)| (&self.runs[*run], *column)).collect();
        held.sort_by(|(a, _), (b, _)| {
            b.words
                .len()
                .cmp(&a.words.len())
                .then(b.weight.total_cmp(&a.weight))
                .then(a.words.start.cmp(&b.words.start))
        });
        let (mut taken, mut weight, mut chosen) = (0u64, 0.0, Vec::new());
        for (run, column) in held {
            let mask = run.words.clone().fold(0u64, |mask, word| mask | 1 << word.min(63));
            if taken & mask == 0 && run.weight > 0.0 {
                taken |= mask;
                weight += run.weight;
                chosen.push((run.text.as_str(), column));
            }
        }
        (if self.total > 0.0 { (weight / self.total).min(1.0) } else { 0.0 }, chosen)
    }

    /// The `k` tables of all shards that hold most of what `text` names, by their places in the whole index, ties by table.
    ///
    /// # Errors
    /// Those of [`LakeIndex::gather`].
    pub fn best(&self, index: &LakeIndex, text: &str, k: usize) -> Result<Vec<TableRef>> {
        type Bound = (f64, f64, TableRef);
        let order = |a: (f64, TableRef), b: (f64, TableRef)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        let by_bound = |a: &Bound, b: &Bound| order((a.0, a.2), (b.0, b.2));
        // What runs weigh together is at least what they weigh without overlap.
        let bound = |held: &[(usize, ColumnRef)]| -> f64 {
            held.chunk_by(|a, b| a.0 == b.0).map(|of_run| self.runs[of_run[0].0].weight).sum()
        };
        let keep = |tables: &mut Vec<Bound>| {
            let looked_at = 3 * k;
            if looked_at > 0 && looked_at < tables.len() {
                tables.select_nth_unstable_by(looked_at - 1, by_bound);
                tables.truncate(looked_at);
            }
        };
        let own = || {
            let mut tables: Vec<Bound> = self.held.iter().map(|(table, held)| (bound(held), 0.0, *table)).collect();
            keep(&mut tables);
            tables.iter_mut().for_each(|(_, weight, table)| *weight = self.of(*table).0);
            tables.iter_mut().for_each(|(.., table)| *table = index.in_index(*table));
            Ok(tables)
        };
        let mut tables = index.gather(&format!("tables that hold words of {text}"), own, |_| true)?.concat();
        keep(&mut tables);
        tables.sort_unstable_by(|a, b| order((a.1, a.2), (b.1, b.2)));
        Ok(tables.into_iter().take(k).map(|(.., table)| table).collect())
    }
}
