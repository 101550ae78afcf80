//! What the columns of a segment are found by besides their values: hashes of their names, and signatures of those value
//! sets that the inverted lists may miss.

use rayon::prelude::*;

use super::columns::ColumnsWriter;
use super::header_hashes;
use super::lsh::{LshBuilder, LshParams};
use super::overlap::may_be_missed;
use lakeward_core::error::Result;
use lakeward_sketch::minhash::MinHash;

/// Columns with fewer distinct values are found by their lists alone.
const LSH_LEAST_VALUES: u64 = 10;

/// The hashes of the names of some columns, which are numbered from 0.
#[derive(Default)]
pub(super) struct HeaderKeys {
    /// (hash of the name or of a word of it, column).
    pub pairs: Vec<(u64, u32)>,
}

impl HeaderKeys {
    /// Adds column `column`, called `name`.
    pub fn add(&mut self, column: u32, name: &str) {
        self.pairs.extend(header_hashes(name).map(|hash| (hash, column)));
    }

    /// Adds the columns of `part`, the first of which is number `first` here.
    pub fn append(&mut self, part: &HeaderKeys, first: u32) {
        self.pairs.extend(part.pairs.iter().map(|(hash, column)| (*hash, first + column)));
    }
}

/// Signatures of the columns that share so common values that their inverted lists may be left unread; `list_bytes` are the
/// bytes of the lists that each column is in. Few of a lake's columns are: those of years, counters, yes and no. Sampled
/// columns, whose lists do not hold all their values, are among them.
pub(super) fn domains(columns: &ColumnsWriter, list_bytes: &[u64]) -> Result<LshBuilder> {
    let missable: Vec<u32> = (0..columns.len() as u32)
        .filter(|column| {
            let (record, _) = columns.column(*column);
            let bytes = list_bytes.get(*column as usize).copied().unwrap_or(0);
            record.distinct >= LSH_LEAST_VALUES && (may_be_missed(bytes) || !record.is_exact())
        })
        .collect();
    let signed: Vec<(u32, u64, MinHash)> = missable
        .par_iter()
        .map(|column| {
            let (record, hashes) = columns.column(*column);
            (*column, record.distinct, MinHash::of(hashes))
        })
        .collect();
    let mut domains = LshBuilder::new(LshParams::default())?;
    for (column, distinct, signature) in &signed {
        domains.add(*column, *distinct, signature);
    }
    Ok(domains)
}
