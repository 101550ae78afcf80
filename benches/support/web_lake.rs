//! A made-up lake of web tables with known containments: 8 columns a table, about 14 rows in the median and tens of thousands
//! in the tail, values from domains of many sizes.
//!
//! Domains are chosen by a Zipf law, and so are the values of a domain, so popular values stand in many columns and large
//! columns contain small ones. Among them are years, counters and measurements. Everything follows from a table's number:
//! nothing is kept, and truth can be computed again at any time.

#![allow(dead_code)]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use rayon::prelude::*;

/// Columns a table.
pub const PLACES: usize = 8;
/// Tables in one folder.
const FOLDER_TABLES: u32 = 5_000;
const MOST_ROWS: f64 = 30_000.0;

/// A lake of `tables` tables.
#[derive(Debug, Clone, Copy)]
pub struct WebLake {
    pub tables: u32,
}

/// Where the values of a column come from; those of different domains are never equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Domain {
    Text(u32),
    Years,
    Counter,
    /// Fractions, hardly any twice.
    Measure,
}

/// One column: its domain and its different values, as numbers in the domain.
pub struct Column {
    pub domain: Domain,
    pub values: Vec<u32>,
}

/// A column of the lake by table and place.
pub type ColumnId = (u32, u8);

/// Columns that hold at least `least` of a query's values: (column, share).
pub type Truth = Vec<(ColumnId, f64)>;

impl WebLake {
    /// One domain a hundred columns.
    fn domains(self) -> f64 {
        (f64::from(self.tables) * PLACES as f64 / 100.0).max(10.0)
    }

    pub fn name(table: u32) -> String {
        format!("p{:03}/t{table:06}", table / FOLDER_TABLES)
    }

    fn rows(table: u32) -> usize {
        let mut random = Random::of(table, 1_000);
        (14.0 * (1.25 * random.normal()).exp()).clamp(3.0, MOST_ROWS) as usize
    }

    pub fn column(self, (table, place): ColumnId) -> Column {
        let rows = Self::rows(table) as u32;
        let mut random = Random::of(table, u64::from(place));
        let domain = match place {
            0..5 => Domain::Text(self.zipf_domain(&mut random)),
            5 if random.uniform() < 0.3 => Domain::Years,
            5 => Domain::Text(self.zipf_domain(&mut random)),
            6 if random.uniform() < 0.3 => Domain::Counter,
            _ => Domain::Measure,
        };
        let values = match domain {
            Domain::Text(number) => {
                // A column of keys, or one in which values repeat.
                let share = if random.uniform() < 0.5 { 1.0 } else { random.uniform() };
                let size = Random::of(number, 2_000).log_normal(400.0, 1.8, 150_000.0);
                draw(&mut random, (f64::from(rows) * share).ceil().min(size * 0.9) as u32, size as u32)
            }
            Domain::Years => {
                let count = rows.min(5 + (random.uniform() * 40.0) as u32);
                let last = 2024 - (random.uniform().powi(2) * 80.0) as u32;
                (last - count..last).collect()
            }
            Domain::Counter => (1..=rows).collect(),
            Domain::Measure => (0..rows).map(|_| random.next() as u32 % 10_000_000).collect(),
        };
        Column { domain, values }
    }

    fn zipf_domain(self, random: &mut Random) -> u32 {
        self.domains().powf(random.uniform()) as u32
    }

    /// Writes the tables as CSV below `folder`.
    pub fn write(self, folder: &Path) {
        for first in (0..self.tables).step_by(FOLDER_TABLES as usize) {
            fs::create_dir_all(folder.join(Self::name(first)).parent().unwrap()).unwrap();
        }
        (0..self.tables).into_par_iter().for_each(|table| self.write_table(folder, table));
    }

    fn write_table(self, folder: &Path, table: u32) {
        let columns: Vec<Column> = (0..PLACES as u8).map(|place| self.column((table, place))).collect();
        let path = folder.join(Self::name(table) + ".csv");
        let mut file = BufWriter::new(fs::File::create(path).unwrap());
        let mut random = Random::of(table, 3_000);
        for (place, column) in columns.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(file, "{comma}{}", column_name(column.domain, place, &mut random)).unwrap();
        }
        file.write_all(b"\n").unwrap();
        for row in 0..Self::rows(table) {
            for (place, column) in columns.iter().enumerate() {
                if place > 0 {
                    file.write_all(b",").unwrap();
                }
                // Each value once, then any again.
                let mut again = || random.next() as usize % column.values.len();
                let at = if row < column.values.len() { row } else { again() };
                write_value(&mut file, column.domain, column.values[at]);
            }
            file.write_all(b"\n").unwrap();
        }
    }

    /// `count` columns spread over the lake, of every domain but measurements.
    pub fn queries(self, count: u32) -> Vec<ColumnId> {
        let step = (self.tables / count).max(1);
        let mut queries = Vec::new();
        for table in (0..self.tables).step_by(step as usize).take(count as usize) {
            let mut random = Random::of(table, 4_000);
            let mut columns = std::iter::repeat_with(|| (table, (random.next() % PLACES as u64) as u8));
            queries.extend(columns.by_ref().take(50).find(|id| self.column(*id).domain != Domain::Measure));
        }
        queries
    }

    /// For each query, every column of another table that holds at least `least` of its values, by comparing all of them.
    pub fn truth(self, queries: &[ColumnId], least: f64) -> Vec<Truth> {
        let mut by_domain: BTreeMap<Domain, Vec<(usize, HashSet<u32>)>> = BTreeMap::new();
        for (number, query) in queries.iter().enumerate() {
            let column = self.column(*query);
            by_domain.entry(column.domain).or_default().push((number, column.values.into_iter().collect()));
        }
        let found: Vec<(usize, ColumnId, f64)> = (0..self.tables)
            .into_par_iter()
            .flat_map_iter(|table| {
                let mut found = Vec::new();
                for id in (0..PLACES as u8).map(|place| (table, place)) {
                    let column = self.column(id);
                    for (number, wanted) in by_domain.get(&column.domain).into_iter().flatten() {
                        let shared = column.values.iter().filter(|value| wanted.contains(value)).count();
                        let share = shared as f64 / wanted.len() as f64;
                        if share >= least && queries[*number].0 != table {
                            found.push((*number, id, share));
                        }
                    }
                }
                found
            })
            .collect();
        let mut truth = vec![Truth::new(); queries.len()];
        for (number, id, share) in found {
            truth[number].push((id, share));
        }
        truth
    }
}

/// `count` different numbers below `size`, small ones likelier by a Zipf law.
fn draw(random: &mut Random, count: u32, size: u32) -> Vec<u32> {
    let (count, size) = (count.max(1), size.max(2));
    let mut taken = HashSet::new();
    let mut values = Vec::new();
    for _ in 0..4 * count {
        let value = (f64::from(size).powf(random.uniform()) as u32 - 1).min(size - 1);
        if values.len() < count as usize && taken.insert(value) {
            values.push(value);
        }
    }
    let rest = (0..size).filter(|value| !taken.contains(value));
    values.extend(rest.take(count as usize - values.len()).collect::<Vec<u32>>());
    values
}

fn column_name(domain: Domain, place: usize, random: &mut Random) -> String {
    match domain {
        Domain::Text(number) => {
            let mut name = word((u64::from(number) << 8) | (random.next() % 3));
            name.push_str(["", " name", " code"][random.next() as usize % 3]);
            format!("{name} {place}")
        }
        Domain::Years => ["year", "season", "Year"][random.next() as usize % 3].to_string(),
        Domain::Counter => ["rank", "no", "#"][random.next() as usize % 3].to_string(),
        Domain::Measure => format!("{} {place}", word(random.next() % 1_000)),
    }
}

fn write_value(file: &mut impl Write, domain: Domain, value: u32) {
    match domain {
        Domain::Text(number) => {
            let first = word(mix(u64::from(number) << 32 | u64::from(value) >> 4) % 4_096);
            write!(file, "{first} {}", word(u64::from(number) << 20 | u64::from(value)))
        }
        Domain::Years | Domain::Counter => write!(file, "{value}"),
        Domain::Measure => write!(file, "{}.{:03}", value / 1_000, value % 1_000),
    }
    .unwrap();
}

/// A pronounceable word, another one for each number.
fn word(mut number: u64) -> String {
    const CONSONANTS: [char; 16] = ['b', 'd', 'f', 'g', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'r', 't', 'v', 'w', 'z'];
    const VOWELS: [char; 4] = ['a', 'e', 'i', 'o'];
    let mut word = String::new();
    loop {
        word.push(CONSONANTS[(number & 15) as usize]);
        word.push(VOWELS[(number >> 4 & 3) as usize]);
        number >>= 6;
        if number == 0 {
            return word;
        }
    }
}

fn mix(value: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64(&value.to_le_bytes())
}

struct Random(u64);

impl Random {
    fn of(number: u32, what: u64) -> Self {
        Random(mix(u64::from(number) << 16 ^ what))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// 0..1.
    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Close to a standard normal: the sum of twelve uniforms.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn log_normal(&mut self, median: f64, spread: f64, most: f64) -> f64 {
        (median * (spread * self.normal()).exp()).clamp(20.0, most)
    }
}
