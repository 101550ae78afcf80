//! A last row that repeats the sums of the rows above: it is known by its numbers, not by its words.

use super::header::HeadRow;

/// Rows with numbers above a row of totals: fewer add up by chance.
const LEAST_ROWS: u64 = 3;
/// By how much of a sum its cell may differ: sheets show rounded numbers.
const TOLERANCE: f64 = 1e-6;

/// Holds the last row back, and the sums of the rows before it.
#[derive(Default)]
pub(super) struct Totals {
    last: Option<HeadRow>,
    sums: Vec<(f64, u64)>,
}

impl Totals {
    /// Takes the next row; returns the one before.
    pub(super) fn push(&mut self, row: HeadRow) -> Option<HeadRow> {
        let before = self.last.replace(row);
        if let Some(before) = &before {
            self.sums.resize(self.sums.len().max(before.cells().count()), (0.0, 0));
            for (at, (sum, count)) in self.sums.iter_mut().enumerate() {
                if let Some(number) = before.number(at) {
                    *sum += number;
                    *count += 1;
                }
            }
        }
        before
    }

    /// The last row, and whether it is one of totals: a text, and at least two numbers, each the sum of at least three others
    /// above it (or their mean, in a row that has a sum); one number where there are no other columns of numbers.
    pub(super) fn finish(self) -> (Option<HeadRow>, bool) {
        let Some(last) = self.last else { return (None, false) };
        let near = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * b.abs().max(1e-9);
        let (mut equal, mut others) = (0, 0);
        for (at, (sum, count)) in self.sums.iter().enumerate().filter(|(_, (_, count))| *count >= LEAST_ROWS) {
            match last.number(at) {
                Some(number) if *sum != 0.0 && near(number, *sum) => equal += 1,
                Some(number) if near(number, sum / *count as f64) => {}
                Some(_) => others += 1,
                None => {}
            }
        }
        let columns = self.sums.iter().filter(|(_, count)| *count >= LEAST_ROWS).count();
        let labelled = (0..self.sums.len()).any(|at| last.is_text(at));
        let is_totals = labelled && others == 0 && (equal >= 2 || (equal == 1 && columns == 1));
        (Some(last), is_totals)
    }
}
