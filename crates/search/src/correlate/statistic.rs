//! How strongly two columns go together, and how sure that is.
//!
//! Numbers with numbers: Spearman's rank correlation ρ; artanh ρ has about the variance 1.06 / (n − 3) (Fieller, Hartley and Pearson,
//! Biometrika 1957). Anything with labels: the mutual information I of the cells of a contingency table, numbers in five bins of equal
//! ranks and labels of fewer than [`LEAST_OF_LABEL`] keys taken together, less its expected value for independent columns (Miller, 1955),
//! and as √(1 − exp(−2 I)), which for normal data is the correlation (Linfoot, Information and Control 1957). 2 n I is about χ².

use statrs::function::erf::erfc;
use statrs::function::gamma::checked_gamma_ur;

/// A correlation over fewer pairs is not computed.
pub const LEAST_PAIRS: usize = lakeward_lake::join_keys::LEAST_KEYS as usize;
/// Normal quantile of the one-sided 95% bound by which answers are ranked.
const ONE_SIDED: f64 = 1.645;
/// Normal quantile of the two-sided 95% interval.
const TWO_SIDED: f64 = 1.96;
/// Bins of numbers beside labels.
const BINS: usize = 5;
/// Labels of fewer keys are taken together.
const LEAST_OF_LABEL: u32 = 8;
/// Codes of a column: 0 is missing.
const CODES: usize = 256;

/// How strongly two columns go together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Association {
    /// ρ in −1..=1, or the strength of a mutual information in 0..=1.
    pub strength: f64,
    /// Mutual information in nats, where one of the columns has labels.
    pub information: Option<f64>,
    /// Degrees of freedom of the contingency table; 0 for ρ.
    freedom: f64,
    /// Pairs it was computed from.
    pub pairs: usize,
}

impl Association {
    /// A rank correlation of `pairs` pairs.
    pub fn of_ranks(rho: f64, pairs: usize) -> Self {
        Self { strength: rho, information: None, freedom: 0.0, pairs }
    }

    /// Bounds of the strength's magnitude at this normal quantile, each in 0..=1.
    fn bounds(&self, quantile: f64) -> [f64; 2] {
        let pairs = self.pairs as f64;
        match self.information {
            None => {
                let error = quantile * (1.06 / (pairs - 3.0).max(1.0)).sqrt();
                let middle = self.strength.abs().min(1.0 - 1e-12).atanh();
                [(middle - error).max(0.0).tanh(), (middle + error).tanh()]
            }
            Some(information) => {
                let excess = 2.0 * pairs * information;
                let error = quantile * (2.0 * self.freedom + 4.0 * excess).sqrt();
                [excess - error, excess + error].map(|excess| linfoot(excess / (2.0 * pairs)))
            }
        }
    }

    /// The lower 95% bound of the strength's magnitude, 0..=1: what answers are ranked by.
    pub fn lower_bound(&self) -> f64 {
        self.bounds(ONE_SIDED)[0]
    }

    /// The 95% interval of the strength.
    pub fn interval(&self) -> [f64; 2] {
        if self.information.is_some() {
            return self.bounds(TWO_SIDED);
        }
        let error = TWO_SIDED * (1.06 / (self.pairs as f64 - 3.0).max(1.0)).sqrt();
        let middle = self.strength.clamp(-1.0 + 1e-12, 1.0 - 1e-12).atanh();
        [(middle - error).tanh(), (middle + error).tanh()]
    }

    /// The probability of at least this strength if the columns were independent, 0..=1.
    pub fn p_value(&self) -> f64 {
        match self.information {
            None => {
                let middle = self.strength.abs().min(1.0 - 1e-12).atanh();
                erfc(middle * ((self.pairs as f64 - 3.0).max(1.0) / 1.06 / 2.0).sqrt())
            }
            // The regularised incomplete gamma function Q(k / 2, χ² / 2) is the tail of χ² with k degrees of freedom.
            Some(information) => {
                let chi_squared = (2.0 * self.pairs as f64 * information + self.freedom).max(0.0);
                checked_gamma_ur(self.freedom / 2.0, chi_squared / 2.0).unwrap_or(1.0)
            }
        }
    }
}

/// √(1 − exp(−2 I)).
fn linfoot(information: f64) -> f64 {
    (1.0 - (-2.0 * information.max(0.0)).exp()).max(0.0).sqrt()
}

/// Pearson's r of the pairs; `None` where one side is constant.
pub fn pearson(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let (mut n, mut mean_x, mut mean_y) = (0.0, 0.0, 0.0);
    for (x, y) in pairs.clone() {
        n += 1.0;
        mean_x += (x - mean_x) / n;
        mean_y += (y - mean_y) / n;
    }
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        let (dx, dy) = (x - mean_x, y - mean_y);
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    let r = xy / (xx * yy).sqrt();
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

/// The ranks of `values` from 1; equal values share their middle rank.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let middle = before as f64 + (equal.len() + 1) as f64 / 2.0;
        equal.iter().for_each(|place| ranks[*place] = middle);
        before += equal.len();
    }
    ranks
}

/// Spearman's ρ of pairs, if there are enough of them and neither side is constant.
pub fn spearman(x: &[f64], y: &[f64]) -> Option<Association> {
    if x.len() < LEAST_PAIRS {
        return None;
    }
    let (x_ranks, y_ranks) = (ranks(x), ranks(y));
    let rho = pearson(x_ranks.iter().copied().zip(y_ranks.iter().copied()))?;
    Some(Association::of_ranks(rho, x.len()))
}

/// The correlation of x and y without what either shares with `given`: ρ(xy·z) of ranks (Kendall, 1942), with its pairs less one.
pub fn partial(x: &[f64], y: &[f64], given: &[f64]) -> Option<Association> {
    let [xy, xz, yz] = [(x, y), (x, given), (y, given)].map(|(a, b)| spearman(a, b).map(|found| found.strength));
    let (xy, xz, yz) = (xy?, xz?, yz?);
    let rho = (xy - xz * yz) / ((1.0 - xz * xz) * (1.0 - yz * yz)).sqrt();
    rho.is_finite().then(|| Association::of_ranks(rho.clamp(-1.0, 1.0), x.len() - 1))
}

/// The association of two columns given by codes, the kind of each known; pairs where one is 0 are left out.
pub fn of_codes(pairs: &[(u8, u8)], x_labels: bool, y_labels: bool) -> Option<Association> {
    if x_labels || y_labels { information_of_codes(pairs, x_labels, y_labels) } else { spearman_of_codes(pairs) }
}

/// ρ of codes that are ranks, ranked anew among the pairs.
fn spearman_of_codes(pairs: &[(u8, u8)]) -> Option<Association> {
    let (mut of_x, mut of_y) = ([0u32; CODES], [0u32; CODES]);
    let mut count = 0;
    for (x, y) in pairs.iter().filter(|(x, y)| *x > 0 && *y > 0) {
        of_x[*x as usize] += 1;
        of_y[*y as usize] += 1;
        count += 1;
    }
    if count < LEAST_PAIRS {
        return None;
    }
    let (rank_x, rank_y) = (middle_ranks(&of_x), middle_ranks(&of_y));
    let known = pairs.iter().filter(|(x, y)| *x > 0 && *y > 0);
    let rho = pearson(known.map(|(x, y)| (rank_x[*x as usize], rank_y[*y as usize])))?;
    Some(Association::of_ranks(rho, count))
}

/// The middle rank of each code with these counts.
fn middle_ranks(counts: &[u32; CODES]) -> [f64; CODES] {
    let mut before = 0.0;
    counts.map(|count| {
        let rank = before + (f64::from(count) + 1.0) / 2.0;
        before += f64::from(count);
        rank
    })
}

/// From each code to a row or column of a contingency table, and how many of these there are: labels, or bins of equal ranks.
fn cells_of_codes(counts: &[u32; CODES], labels: bool) -> ([u8; CODES], usize) {
    let mut cell_of = [0u8; CODES];
    let mut cells = 0;
    if labels {
        let rare = counts.iter().any(|count| (1..LEAST_OF_LABEL).contains(count));
        cells = usize::from(rare);
        for (code, count) in counts.iter().enumerate().filter(|(_, count)| **count >= LEAST_OF_LABEL) {
            debug_assert!(*count > 0);
            cell_of[code] = cells as u8;
            cells += 1;
        }
        return (cell_of, cells);
    }
    let all: u32 = counts.iter().sum();
    let mut before = 0;
    let mut last = None;
    for (code, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let middle = f64::from(before) + f64::from(*count) / 2.0;
        let bin = ((middle / f64::from(all)) * BINS as f64) as usize;
        if last != Some(bin) {
            last = Some(bin);
            cells += 1;
        }
        cell_of[code] = (cells - 1) as u8;
        before += count;
    }
    (cell_of, cells)
}

fn information_of_codes(pairs: &[(u8, u8)], x_labels: bool, y_labels: bool) -> Option<Association> {
    let (mut of_x, mut of_y) = ([0u32; CODES], [0u32; CODES]);
    let known = || pairs.iter().filter(|(x, y)| *x > 0 && *y > 0);
    let mut count = 0;
    for (x, y) in known() {
        of_x[*x as usize] += 1;
        of_y[*y as usize] += 1;
        count += 1;
    }
    if count < LEAST_PAIRS {
        return None;
    }
    let ((row_of, rows), (column_of, columns)) = (cells_of_codes(&of_x, x_labels), cells_of_codes(&of_y, y_labels));
    if rows < 2 || columns < 2 {
        return None;
    }
    let mut cells = vec![0u32; rows * columns];
    for (x, y) in known() {
        cells[row_of[*x as usize] as usize * columns + column_of[*y as usize] as usize] += 1;
    }
    let all = count as f64;
    let row_sums: Vec<f64> = cells.chunks(columns).map(|row| row.iter().map(|cell| f64::from(*cell)).sum()).collect();
    let column_sums: Vec<f64> = (0..columns)
        .map(|column| cells.iter().skip(column).step_by(columns).map(|cell| f64::from(*cell)).sum())
        .collect();
    let mut information = 0.0;
    for (place, cell) in cells.iter().enumerate().filter(|(_, cell)| **cell > 0) {
        let cell = f64::from(*cell);
        information += cell / all * (cell * all / (row_sums[place / columns] * column_sums[place % columns])).ln();
    }
    let freedom = ((rows - 1) * (columns - 1)) as f64;
    let information = information - freedom / (2.0 * all);
    Some(Association { strength: linfoot(information), information: Some(information), freedom, pairs: count })
}

/// The tests of a search, for false discovery rates.
pub struct Tests {
    /// Ascending.
    p_values: Vec<f32>,
    /// For each, the rate at which it and all before are false (Benjamini and Hochberg, JRSS B 1995).
    rates: Vec<f32>,
}

impl Tests {
    /// All tests made, in any order.
    pub fn new(mut p_values: Vec<f32>) -> Self {
        p_values.sort_unstable_by(f32::total_cmp);
        let all = p_values.len() as f32;
        let mut rates: Vec<f32> =
            p_values.iter().zip(1u32..).map(|(p, rank)| (p * all / rank as f32).min(1.0)).collect();
        let mut least = 1.0f32;
        for rate in rates.iter_mut().rev() {
            least = least.min(*rate);
            *rate = least;
        }
        Self { p_values, rates }
    }

    /// Number of tests.
    pub fn len(&self) -> usize {
        self.p_values.len()
    }

    /// The false discovery rate of all tests with a p-value up to `p`: its q-value, 0..=1.
    pub fn rate(&self, p: f64) -> f64 {
        let place = self.p_values.partition_point(|other| f64::from(*other) < p);
        self.rates.get(place).map_or(1.0, |rate| f64::from(*rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in 0..1 that look independent.
    fn noise(seed: u64, count: usize) -> Vec<f64> {
        // No multiple of the step, so that no stream is another one shifted.
        let mut state = seed.wrapping_mul(0xD134_2543_DE82_EF95);
        let mut next = || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn values_agree_with_scipy() {
        // scipy.stats.spearmanr, on data with ties.
        let x: Vec<f64> = (0..30).map(|i| f64::from(i * i % 11)).collect();
        let y: Vec<f64> = (0..30).map(|i| f64::from(i * 7 % 13 + i * i % 11)).collect();
        let rho = spearman(&x, &y).unwrap().strength;
        assert!((rho - 0.513_181_915_987_735).abs() < 1e-9, "{rho}");
        // scipy.stats.chi2.sf, of 2 n I with its expected value for independent columns added again.
        for (value, freedom, expected) in
            [(10.0, 4.0, 0.040_427_681_994), (3.84, 1.0, 0.050_043_521_249), (40.0, 20.0, 4.995_412_308_811e-3)]
        {
            let information = Some((value - freedom) / 200.0);
            let found = Association { strength: 0.0, information, freedom, pairs: 100 }.p_value();
            assert!((found / expected - 1.0).abs() < 1e-8, "{value} {freedom} {found}");
        }
        let found = Association::of_ranks(0.3, 103).p_value();
        assert!((found / 0.002_644_304_218 - 1.0).abs() < 1e-8, "{found}");
    }

    #[test]
    fn what_is_independent_has_even_p_values_and_a_bound_of_about_nothing() {
        let (mut low, mut labelled_low, mut above) = (0, 0, 0);
        for seed in 0..400 {
            let codes = |seed: u64, most: f64| noise(seed, 200).into_iter().map(move |x| 1 + (x * most) as u8);
            let ranks: Vec<(u8, u8)> = codes(2 * seed + 1, 254.0).zip(codes(2 * seed + 2, 254.0)).collect();
            let labels: Vec<(u8, u8)> = codes(2 * seed + 1, 254.0).zip(codes(2 * seed + 2, 6.0)).collect();
            let found = of_codes(&ranks, false, false).unwrap();
            low += usize::from(found.p_value() < 0.1);
            above += usize::from(found.lower_bound() > 0.0);
            labelled_low += usize::from(of_codes(&labels, false, true).unwrap().p_value() < 0.1);
        }
        assert!((25..=55).contains(&low) && (25..=60).contains(&labelled_low), "{low} {labelled_low}");
        assert!((25..=55).contains(&above), "{above}");
    }

    #[test]
    fn a_trend_is_taken_out_and_a_relation_stays() {
        let (a, b): (Vec<f64>, Vec<f64>) = (noise(1, 80), noise(2, 80));
        let time: Vec<f64> = (0..80).map(f64::from).collect();
        let trend = |noise: &[f64]| time.iter().zip(noise).map(|(t, e)| t + 20.0 * e).collect::<Vec<f64>>();
        let (x, y) = (trend(&a), trend(&b));
        assert!(spearman(&x, &y).unwrap().lower_bound() > 0.8);
        assert!(partial(&x, &y, &time).unwrap().lower_bound() < 0.2);
        assert!(partial(&x, &trend(&a), &time).is_none_or(|found| found.strength > 0.99));
    }

    #[test]
    fn labels_that_tell_a_number_are_strong() {
        let numbers = noise(3, 300);
        let pairs: Vec<(u8, u8)> = numbers.iter().map(|x| (1 + (x * 254.0) as u8, 1 + (x * 4.0) as u8)).collect();
        let found = of_codes(&pairs, false, true).unwrap();
        assert!(found.lower_bound() > 0.85 && found.p_value() < 1e-9, "{found:?}");
        let [low, high] = found.interval();
        assert!(low < found.strength && found.strength < high && high <= 1.0);
        assert!(of_codes(&pairs[..20], false, true).is_none());
        assert!(of_codes(&[(3, 1); 100], false, true).is_none(), "a constant");
    }

    #[test]
    fn rates_are_those_of_benjamini_and_hochberg() {
        let tests = Tests::new(vec![0.5, 0.01, 0.02, 0.9, 0.03]);
        let rates = [0.01, 0.02, 0.03, 0.5, 0.9].map(|p: f32| (tests.rate(f64::from(p)) * 1000.0).round());
        assert_eq!(rates, [50.0, 50.0, 50.0, 625.0, 900.0]);
        assert_eq!(tests.len(), 5);
    }
}
