//! A smaller benchmark of the same kind: N of its metadata records, sampled by stratum, with the queries that still have a relevant
//! record among them.
//!
//! Strata are what makes a record easy or hard to find: for how many queries it is relevant, how long its description is, and
//! whether it has tags. Each contributes its share of N (largest remainder), chosen by a hash of seed and id: the same seed selects
//! the same records whatever their order in the file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::benchmark::{Benchmark, Task};
use super::layout::lines::read_lines;
use super::metrics::is_scorable;
use lakeward_core::error::{Error, Result};

/// The sampled part of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subset {
    /// Records in the sample.
    pub records: u64,
    /// Records in total.
    pub of_records: u64,
    /// Judgments of sampled records, including grade 0.
    pub judgments: u64,
    /// Judgments in total.
    pub of_judgments: u64,
    /// Queries in the sample.
    pub queries: u64,
    /// Queries left out because none of their relevant records is in the sample.
    pub queries_left_out: u64,
    /// Seed of the sample.
    pub seed: u64,
    /// The strata, by name.
    pub strata: Vec<Stratum>,
}

/// A stratum of the sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stratum {
    /// `relevant to 2-3 queries, short description, tags`.
    pub name: String,
    /// Records in the sample.
    pub records: u64,
    /// Records in total.
    pub of_records: u64,
}

/// The properties by which a record is sampled.
struct Record {
    id: String,
    description_chars: usize,
    has_tags: bool,
}

/// Reduces `benchmark` to `size` records, written to a file below `place`, an empty folder, and to the queries with a relevant
/// record among them.
///
/// # Errors
/// [`Error::Usage`] for a benchmark whose documents are not records, or where no query would be left; [`Error::Io`] and
/// [`Error::Benchmark`] from its file.
pub fn take(benchmark: &mut Benchmark, size: u64, seed: u64, place: &Path) -> Result<Subset> {
    let corpus = match (&benchmark.corpus, &benchmark.lake) {
        (Some(corpus), None) => corpus.clone(),
        _ => {
            let what = format!("a subset is of records; the documents of `{}` are not `corpus.jsonl`", benchmark.name);
            return Err(Error::usage(what));
        }
    };
    let records = read(&corpus, benchmark)?;
    let (selected, strata) = draw(&records, benchmark, size, seed);
    let subset_file = place.join("corpus.jsonl");
    write(&corpus, &selected, &subset_file)?;
    let count = |benchmark: &Benchmark| benchmark.qrels.values().map(|grades| grades.len() as u64).sum();
    let of_judgments = count(benchmark);
    for grades in benchmark.qrels.values_mut() {
        grades.retain(|document, _| selected.contains(document));
    }
    for documents in benchmark.unjudged.values_mut() {
        documents.retain(|document| selected.contains(document));
    }
    let before = benchmark.queries.len();
    let qrels = &benchmark.qrels;
    let is_answered = |query: &str| qrels.get(query).is_some_and(is_scorable);
    benchmark.queries.retain(|labelled| labelled.query.task == Task::Signals || is_answered(&labelled.query.id));
    if benchmark.queries.is_empty() {
        let what = format!(
            "no query of `{}` has a relevant record among {} of {}",
            benchmark.name,
            selected.len(),
            records.len()
        );
        return Err(Error::usage(format!("{what}: ask for more `--records`")));
    }
    benchmark.corpus = Some(subset_file);
    Ok(Subset {
        records: selected.len() as u64,
        of_records: records.len() as u64,
        judgments: count(benchmark),
        of_judgments,
        queries: benchmark.queries.len() as u64,
        queries_left_out: (before - benchmark.queries.len()) as u64,
        seed,
        strata,
    })
}

/// The id and the record of a line of the corpus; `None` if it is not a record.
fn parsed(line: &str) -> Option<(String, Value)> {
    let record: Value = serde_json::from_str(line).ok()?;
    let id = record.get("id")?.as_str().filter(|id| !id.is_empty())?.to_string();
    Some((id, record))
}

fn read(corpus: &Path, benchmark: &mut Benchmark) -> Result<Vec<Record>> {
    let mut records = Vec::new();
    let mut seen = HashSet::new();
    read_lines(corpus, |line| {
        let Some((id, record)) = parsed(line.text) else {
            let place = format!("{}:{}", corpus.display(), line.number);
            benchmark.problems.add("lines of the corpus that are no record; not drawn from", &place);
            return Ok(());
        };
        if seen.insert(id.clone()) {
            let description = record.get("description").and_then(Value::as_str).unwrap_or_default();
            records.push(Record {
                id,
                description_chars: description.chars().count(),
                has_tags: record.get("tags").and_then(Value::as_array).is_some_and(|tags| !tags.is_empty()),
            });
        }
        Ok(())
    })?;
    Ok(records)
}

/// The sampled ids, and their strata.
fn draw(records: &[Record], benchmark: &Benchmark, size: u64, seed: u64) -> (HashSet<String>, Vec<Stratum>) {
    let mut relevant: HashMap<&str, usize> = HashMap::new();
    for grades in benchmark.qrels.values() {
        for (document, _) in grades.iter().filter(|(_, grade)| **grade > 0) {
            *relevant.entry(document).or_default() += 1;
        }
    }
    let mut lengths: Vec<usize> = records.iter().map(|record| record.description_chars).collect();
    lengths.sort_unstable();
    let bound = |share: usize| lengths.get(lengths.len() * share / 3).copied().unwrap_or_default();
    let (short, middle) = (bound(1), bound(2));
    let mut strata: BTreeMap<String, Vec<&Record>> = BTreeMap::new();
    for record in records {
        let relevance = match relevant.get(record.id.as_str()).copied().unwrap_or(0) {
            0 => "relevant to no query",
            1 => "relevant to 1 query",
            2..=3 => "relevant to 2-3 queries",
            _ => "relevant to 4 queries or more",
        };
        let length = match record.description_chars {
            chars if chars < short => "short",
            chars if chars < middle => "middling",
            _ => "long",
        };
        let tags = if record.has_tags { "tags" } else { "no tags" };
        strata.entry(format!("{relevance}, {length} description, {tags}")).or_default().push(record);
    }
    let sizes: Vec<u64> = strata.values().map(|records| records.len() as u64).collect();
    let shares = shares(&sizes, size);
    let mut selected = HashSet::new();
    let mut sampled = Vec::with_capacity(strata.len());
    for ((name, mut records), share) in strata.into_iter().zip(shares) {
        records.sort_by_cached_key(|record| (place(seed, &record.id), record.id.clone()));
        selected.extend(records.iter().take(share as usize).map(|record| record.id.clone()));
        sampled.push(Stratum { name, records: share, of_records: records.len() as u64 });
    }
    (selected, sampled)
}

/// The sort key of an id in the sample order.
fn place(seed: u64, id: &str) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes()).update(id.as_bytes());
    *hasher.finalize().as_bytes()
}

/// Divides `total_share` in proportion to `sizes`, by largest remainder, the first of equal ones first; never more than the sizes.
fn shares(sizes: &[u64], total_share: u64) -> Vec<u64> {
    let total: u64 = sizes.iter().sum();
    let total_share = total_share.min(total);
    if total == 0 {
        return vec![0; sizes.len()];
    }
    let exact = |size: u64| u128::from(total_share) * u128::from(size);
    let mut shares: Vec<u64> = sizes.iter().map(|size| (exact(*size) / u128::from(total)) as u64).collect();
    let mut by_remainder: Vec<usize> = (0..sizes.len()).collect();
    by_remainder.sort_by_key(|place| (std::cmp::Reverse(exact(sizes[*place]) % u128::from(total)), *place));
    let left = total_share - shares.iter().sum::<u64>();
    for place in by_remainder.into_iter().take(left as usize) {
        shares[place] += 1;
    }
    shares
}

/// Copies the first line of each sampled record.
fn write(corpus: &Path, selected: &HashSet<String>, target: &Path) -> Result<()> {
    let io = |error| Error::io("write", target, error);
    let mut out = BufWriter::new(File::create(target).map_err(io)?);
    let mut written = HashSet::new();
    read_lines(corpus, |line| match parsed(line.text) {
        Some((id, _)) if selected.contains(&id) && written.insert(id.clone()) => {
            writeln!(out, "{}", line.text).map_err(io)
        }
        _ => Ok(()),
    })?;
    out.flush().map_err(io)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_the_requested_size_and_exceed_no_stratum() {
        assert_eq!(shares(&[50, 30, 20], 10), [5, 3, 2]);
        assert_eq!(shares(&[1, 1, 1], 2), [1, 1, 0]);
        assert_eq!(shares(&[7, 0, 2], 100), [7, 0, 2]);
        assert_eq!(shares(&[], 3), Vec::<u64>::new());
        assert_eq!(shares(&[0, 0], 3), [0, 0]);
    }

    proptest::proptest! {
        #[test]
        fn a_share_is_within_one_of_its_proportion(sizes in proptest::collection::vec(0u64..1000, 1..12), wanted in 0u64..2000) {
            let total: u64 = sizes.iter().sum();
            let shares = shares(&sizes, wanted);
            proptest::prop_assert_eq!(shares.iter().sum::<u64>(), wanted.min(total));
            for (share, size) in shares.iter().zip(&sizes) {
                let exact = wanted.min(total) as f64 * *size as f64 / total.max(1) as f64;
                proptest::prop_assert!((*share as f64 - exact).abs() < 1.0 + 1e-9 && share <= size);
            }
        }
    }
}
