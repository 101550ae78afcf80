//! Sums over inverted lists, one for each column that is in any of them.

use std::cell::Cell;

use super::postings::{PostingList, Postings};
use lakeward_core::error::Result;

/// Tallies of all columns of a segment, all 0 between two uses, and a bit for each column met. Reused, because allocating an array of a
/// million columns takes longer than counting for most queries.
#[derive(Default)]
pub(super) struct Tallies {
    tallies: Vec<u64>,
    met: Vec<u64>,
    columns: usize,
}

thread_local! {
    static KEPT: Cell<Tallies> = Cell::default();
}

impl Tallies {
    /// Calls `fill` with tallies of so many columns; returns the columns that were met, ascending, each with its tally.
    pub(super) fn of(columns: usize, fill: impl FnOnce(&mut Self) -> Result<()>) -> Result<Vec<(u32, u64)>> {
        let mut kept = KEPT.take();
        if kept.tallies.len() < columns {
            kept.tallies.resize(columns, 0);
            kept.met.resize(columns.div_ceil(64), 0);
        }
        kept.columns = columns;
        let filled = fill(&mut kept);
        // Cleared even if reading failed.
        let mut found = Vec::new();
        for (word, bits) in kept.met.iter_mut().enumerate() {
            let mut left = std::mem::take(bits);
            while left != 0 {
                let column = word * 64 + left.trailing_zeros() as usize;
                found.push((column as u32, std::mem::take(&mut kept.tallies[column])));
                left &= left - 1;
            }
        }
        KEPT.set(kept);
        filled.map(|()| found)
    }

    /// Calls `add` with the tally of each column of `list`.
    #[inline]
    pub(super) fn add(&mut self, postings: &Postings, list: PostingList, add: impl Fn(&mut u64)) -> Result<()> {
        let tallies = &mut self.tallies[..self.columns];
        postings.for_each(list, |column| {
            if let Some(tally) = tallies.get_mut(column as usize) {
                add(tally);
                self.met[column as usize / 64] |= 1 << (column % 64);
            }
        })
    }

    /// As [`add`](Self::add), of the columns that were met already: few of them are quicker to tell than to count.
    #[inline]
    pub(super) fn add_to_met(&mut self, postings: &Postings, list: PostingList, add: impl Fn(&mut u64)) -> Result<()> {
        postings.for_each(list, |column| {
            let bits = self.met.get(column as usize / 64).copied().unwrap_or(0);
            if bits >> (column % 64) & 1 != 0 {
                add(&mut self.tallies[column as usize]);
            }
        })
    }

    /// Begins with these tallies.
    pub(super) fn meet(&mut self, tallies: &[(u32, u64)]) {
        for (column, tally) in tallies {
            self.tallies[*column as usize] = *tally;
            self.met[*column as usize / 64] |= 1 << (column % 64);
        }
    }
}

/// The columns that are in any of `lists`, ascending, each with the sum of the weights of its lists in their order. `columns` are those of
/// the segment.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn sums(postings: &Postings, columns: usize, lists: &[(PostingList, f64)]) -> Result<Vec<(u32, f64)>> {
    let sums = Tallies::of(columns, |tallies| {
        lists.iter().try_for_each(|(list, weight)| {
            // The bits of 0 are those of a sum of nothing.
            tallies.add(postings, *list, |sum| *sum = (f64::from_bits(*sum) + weight).to_bits())
        })
    })?;
    Ok(sums.into_iter().map(|(column, sum)| (column, f64::from_bits(sum))).collect())
}
