//! What a list divides among its shards: tables, and parts of giant ones.

use super::super::super::plan::{Read, Source};
use lakeward_lake::location::Location;
use lakeward_lake::reader::{self, ReadOptions};
use lakeward_lake::scan::{ColumnPart, DIVISIBLE_BYTES};

/// A file counts as so many bytes more than it has, for what its opening costs.
const FILE_BYTES: u64 = 32 << 10;
/// What one of `n` parts of a table costs, as a share of all of it: this, since all read the rows and sketch the key columns, …
const REPEATED: f64 = 0.45;
/// … and this divided by `n` (measured, see `eval/scale.md`).
const DIVIDED: f64 = 0.7;
/// A table is divided that is so many times the share of a shard: what is repeated takes as long as waiting for a smaller one.
const WORTH_IT: u64 = 2;
/// More parts are not worth what they repeat.
const MOST_PARTS: u64 = 8;

/// A table to be read, or some of its columns.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub read: &'a Read<'a>,
    pub part: Option<ColumnPart>,
}

impl Piece<'_> {
    /// Its bytes, of a part in proportion.
    pub fn bytes(&self) -> u64 {
        self.read.read_bytes() / self.part.map_or(1, |part| u64::from(part.of))
    }

    /// What reading it costs, in bytes of whole tables.
    fn cost(&self) -> u64 {
        self.part.map_or(self.read.read_bytes(), |part| cost_of_part(self.read, u64::from(part.of))) + FILE_BYTES
    }
}

fn cost_of_part(read: &Read<'_>, of: u64) -> u64 {
    (read.read_bytes() as f64 * (REPEATED + DIVIDED / of as f64)) as u64
}

/// The reads as pieces for `count` shards: a table that is much larger than the share of a shard is divided by its columns, where `may_divide`.
pub(super) fn pieces<'a>(reads: &[&'a Read<'a>], count: usize, may_divide: bool) -> Vec<Piece<'a>> {
    let whole = |read: &&'a Read<'a>| Piece { read, part: None };
    let share = reads.iter().map(|read| whole(read).cost()).sum::<u64>().div_ceil(count.max(1) as u64).max(1);
    let divided = |read: &&'a Read<'a>| {
        let most = if may_divide && whole(read).cost() > WORTH_IT * share {
            columns(read).min(MOST_PARTS).min(count as u64)
        } else {
            1
        };
        let is_enough = |of: &u64| *of == most || cost_of_part(read, *of) <= share;
        let parts = if most == 1 { 1 } else { (2..=most).find(is_enough).unwrap_or(1) as u32 };
        let part = move |number| ColumnPart { number, of: parts };
        let read: &'a Read<'a> = read;
        (0..parts).map(move |number| Piece { read, part: (parts > 1).then(|| part(number)) })
    };
    reads.iter().flat_map(divided).collect()
}

/// The columns of a table that can be divided by them; else 1. What cannot be opened is found again by who reads it.
fn columns(read: &Read<'_>) -> u64 {
    let Source::File(file, _) = &read.source else { return 1 };
    // Of a workbook or a database reading is most of the work.
    let is_alone = matches!(Location::of(&file.path), Location::File { .. } | Location::Files { .. });
    if file.read_bytes < DIVISIBLE_BYTES || !is_alone {
        return 1;
    }
    reader::open(file, &ReadOptions::default()).map_or(1, |reader| reader.columns().len().max(1) as u64)
}

/// Divides pieces into `count` runs of similar size.
pub(super) fn divided<'a, 'b>(pieces: &'a [Piece<'b>], count: usize) -> Vec<&'a [Piece<'b>]> {
    let mut left: u64 = pieces.iter().map(Piece::cost).sum();
    let mut rest = pieces;
    let mut shards = Vec::with_capacity(count);
    for shard in 0..count {
        let share = left.div_ceil((count - shard) as u64);
        let (mut taken, mut size) = (0, 0);
        // One that would lie across the border goes where more of it lies.
        while let Some(next) = rest.get(taken).map(Piece::cost).filter(|next| size + next / 2 <= share) {
            (taken, size) = (taken + 1, size + next);
        }
        if shard + 1 == count {
            taken = rest.len();
        }
        let (these, after) = rest.split_at(taken);
        shards.push(these);
        (rest, left) = (after, left - size.min(left));
    }
    shards
}
