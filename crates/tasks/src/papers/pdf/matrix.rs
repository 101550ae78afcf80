//! Affine maps of the plane, as PDF writes them.

/// x' = a·x + c·y + e, y' = b·x + d·y + f, as `[a, b, c, d, e, f]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matrix(pub [f64; 6]);

impl Matrix {
    /// The identity map.
    pub const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// Applies `self` first, then `next`.
    pub fn then(&self, next: &Self) -> Self {
        let [a, b, c, d, e, f] = self.0;
        let [na, nb, nc, nd, ne, nf] = next.0;
        Self([
            a * na + b * nc,
            a * nb + b * nd,
            c * na + d * nc,
            c * nb + d * nd,
            e * na + f * nc + ne,
            e * nb + f * nd + nf,
        ])
    }

    /// The image of a point.
    pub fn apply(&self, x: f64, y: f64) -> (f64, f64) {
        let [a, b, c, d, e, f] = self.0;
        (a * x + c * y + e, b * x + d * y + f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_follow_each_other() {
        let double = Matrix([2.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
        let shift = Matrix([1.0, 0.0, 0.0, 1.0, 10.0, 5.0]);
        assert_eq!(double.then(&shift).apply(1.0, 1.0), (12.0, 7.0));
        assert_eq!(shift.then(&double).apply(1.0, 1.0), (22.0, 12.0));
    }
}
