//! What the columns of a segment are found by, besides their values: hashes of their names, signatures of their value sets.

use super::header_hashes;
use super::lsh::{LshBuilder, LshParams};
use crate::error::Result;
use crate::sketch::minhash::MinHash;

/// Columns with fewer distinct values are found by their lists alone.
const LSH_LEAST_VALUES: u64 = 10;

/// The keys of some columns, which are numbered from 0.
pub(super) struct ColumnKeys {
    /// (hash of the name or of a word of it, column).
    pub headers: Vec<(u64, u32)>,
    /// Signatures of the columns with enough values.
    pub domains: LshBuilder,
}

impl ColumnKeys {
    pub fn new() -> Result<ColumnKeys> {
        Ok(ColumnKeys { headers: Vec::new(), domains: LshBuilder::new(LshParams::default())? })
    }

    /// Adds column `column`, called `name`, which has `distinct` values; `hashes` are those kept.
    pub fn add(&mut self, column: u32, name: &str, distinct: u64, hashes: &[u64]) {
        self.headers.extend(header_hashes(name).map(|hash| (hash, column)));
        if distinct >= LSH_LEAST_VALUES && !hashes.is_empty() {
            self.domains.add(column, distinct, &MinHash::of(hashes));
        }
    }

    /// Adds the columns of `part`, the first of which is number `first` here.
    pub fn append(&mut self, part: &ColumnKeys, first: u32) {
        self.headers.extend(part.headers.iter().map(|(hash, column)| (*hash, first + column)));
        self.domains.append(&part.domains, first);
    }
}
