//! The numbers of a column summed up, and what they show of its points.

use serde::{Deserialize, Serialize};

use super::normalise::Kind;
use super::writing::has_one_group;

/// Order statistics and moments of a column's numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumberSummary {
    /// Smallest.
    pub min: f64,
    /// Greatest.
    pub max: f64,
    /// Arithmetic mean over cells.
    pub mean: f64,
    /// Population standard deviation over cells.
    pub deviation: f64,
    /// The 5th, 25th, 50th, 75th and 95th percentile over the kept cells.
    pub quantiles: [f64; 5],
}

/// Sums of numbers, shifted by the first one for precision.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Moments {
    pub(super) count: u64,
    shift: f64,
    sum: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl Moments {
    pub(super) fn add(&mut self, number: f64) {
        self.add_times(number, 1);
    }

    pub(super) fn add_times(&mut self, number: f64, times: u32) {
        if self.count == 0 {
            (self.shift, self.min, self.max) = (number, number, number);
        }
        let offset = number - self.shift;
        self.count += u64::from(times);
        self.sum += offset * f64::from(times);
        self.squares += offset * offset * f64::from(times);
        self.min = self.min.min(number);
        self.max = self.max.max(number);
    }
}

pub(super) fn summarise(moments: &Moments, numbers: &mut [(f64, u32)]) -> Option<NumberSummary> {
    if moments.count == 0 {
        return None;
    }
    numbers.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = numbers.iter().map(|(_, count)| f64::from(*count)).sum();
    let mut quantiles = [moments.min; 5];
    let mut place = 0;
    let mut cumulative = 0.0;
    for (quantile, share) in quantiles.iter_mut().zip([0.05, 0.25, 0.5, 0.75, 0.95]) {
        while place < numbers.len() && cumulative + f64::from(numbers[place].1) < share * total {
            cumulative += f64::from(numbers[place].1);
            place += 1;
        }
        *quantile = numbers.get(place).or(numbers.last()).map_or(moments.min, |(number, _)| *number);
    }
    let count = moments.count as f64;
    let offset = moments.sum / count;
    let variance = (moments.squares / count - offset * offset).max(0.0);
    Some(NumberSummary {
        min: moments.min,
        max: moments.max,
        mean: moments.shift + offset,
        deviation: variance.sqrt(),
        quantiles,
    })
}

/// What the numbers of a column show of its points, counted over distinct cells.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Points {
    /// `645.705`: thousands or a fraction.
    one_group: u32,
    /// `12.294.193`.
    groups: u32,
    /// Other numbers with a sign, a fraction or an exponent.
    others: u32,
    /// Whole numbers below a thousand, and others without a point.
    small: u32,
    large: u32,
    /// The largest of the cells with one group, in thousands, and the least of the whole numbers of a thousand and more.
    most: f64,
    least: f64,
}

impl Points {
    pub(super) fn note(&mut self, cell: &str, kind: Kind, number: f64) {
        if has_one_group(cell) {
            self.one_group += 1;
            self.most = self.most.max(number.abs() * 1000.0);
        } else if kind != Kind::Integer {
            self.others += 1;
        } else if cell.contains('.') {
            self.groups += 1;
        } else if number.abs() < 1000.0 {
            self.small += u32::from(number != 0.0);
        } else {
            self.least = if self.large == 0 { number.abs() } else { self.least.min(number.abs()) };
            self.large += 1;
        }
    }

    /// Whether `645.705` is 645,705: beside `12.294.193`; or beside whole numbers of a thousand and more, which it would be far below as a
    /// fraction and not as thousands.
    pub(super) fn part_thousands(&self) -> bool {
        let far_below = self.small == 0 && self.large > 0 && self.most * 10.0 >= self.least;
        self.one_group > 0 && self.others == 0 && (self.groups > 0 || far_below)
    }
}
