//! How alike the values of two columns are.

/// Overlap of the central ranges of two number columns in 0..=1: shared length of the spans from the 5th to the 95th
/// percentile over their joint length, on a scale that is linear near 0 and logarithmic beyond 1.
pub fn range_likeness(a: &[f32; 5], b: &[f32; 5]) -> f64 {
    ValueRange::of(a).likeness(&ValueRange::of(b))
}

/// The central range of a number column on the scale of [`range_likeness`].
#[derive(Debug, Clone, Copy)]
pub struct ValueRange {
    low: f64,
    high: f64,
    quantiles: [f64; 5],
}

impl ValueRange {
    /// From the 5th, 25th, 50th, 75th and 95th percentile; NaN without numbers.
    pub fn of(quantiles: &[f32; 5]) -> Self {
        let scaled = |number: f32| f64::from(number.signum()) * f64::from(number.abs()).ln_1p();
        let quantiles = quantiles.map(scaled);
        Self { low: quantiles[0], high: quantiles[4], quantiles }
    }

    /// How near the quantiles lie on that scale: e to the minus mean distance, 0..=1; 0 when one has no numbers.
    pub fn closeness(&self, other: &Self) -> f64 {
        let distance: f64 = self.quantiles.iter().zip(&other.quantiles).map(|(a, b)| (a - b).abs()).sum();
        if distance.is_nan() { 0.0 } else { (-distance / self.quantiles.len() as f64).exp() }
    }

    /// See [`range_likeness`]; 0 when one has no numbers.
    pub fn likeness(&self, other: &Self) -> f64 {
        if [self.low, self.high, other.low, other.high].iter().any(|bound| bound.is_nan()) {
            return 0.0;
        }
        // A constant column has no length of its own.
        const LEAST_SPAN: f64 = 0.05;
        let joint = (self.high.max(other.high) - self.low.min(other.low)).max(LEAST_SPAN);
        let shared = (self.high.min(other.high) - self.low.max(other.low)).max(0.0);
        let apart = self.low.max(other.low) - self.high.min(other.high);
        let slack = if apart <= 0.0 { LEAST_SPAN } else { 0.0 };
        ((shared + slack) / joint).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_quantiles_are_close() {
        let range = |numbers: [f32; 5]| ValueRange::of(&numbers);
        let years = range([1990.0, 1995.0, 2000.0, 2005.0, 2010.0]);
        assert!((years.closeness(&years) - 1.0).abs() < 1e-12);
        assert!(years.closeness(&range([1.0, 2.0, 3.0, 4.0, 5.0])) < 0.01);
        assert_eq!(years.closeness(&range([f32::NAN; 5])), 0.0);
    }

    #[test]
    fn ranges_overlap_or_not() {
        assert!(range_likeness(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 2.0, 3.0, 4.0, 5.0]) > 0.99);
        assert_eq!(range_likeness(&[1.0, 1.0, 1.0, 1.0, 2.0], &[1e6, 1e6, 1e6, 1e6, 2e6]), 0.0);
        assert_eq!(range_likeness(&[f32::NAN; 5], &[1.0; 5]), 0.0);
    }
}
