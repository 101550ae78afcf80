//! Quantises f32 vectors to integers: rows to 8 bits, queries to up to 16.

/// Largest magnitude of a row's bytes; −128 is unused.
const ROW_LIMIT: f32 = 127.0;

/// Writes `vector` into `bytes` (at least as long; excess bytes stay zero) and returns the scale that makes them a unit vector: 1 / the
/// norm of the bytes. For a zero vector or one with a component that is not finite, all bytes and the result are 0.
pub(super) fn quantise_row(vector: &[f32], bytes: &mut [i8]) -> f32 {
    let Some(greatest) = greatest_magnitude(vector) else { return 0.0 };
    let factor = f64::from(ROW_LIMIT) / f64::from(greatest);
    for (byte, part) in bytes.iter_mut().zip(vector) {
        *byte = (f64::from(*part) * factor).round() as i8;
    }
    let squares: i32 = bytes.iter().map(|byte| i32::from(*byte) * i32::from(*byte)).sum();
    1.0 / (squares as f32).sqrt()
}

/// A query scaled to 16-bit integers, padded with zeros to the stride of the rows.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) parts: Vec<i16>,
    /// 1 / the norm of `parts`: row · parts × the row's scale × this is the cosine.
    pub(super) scale: f32,
}

impl Query {
    /// `None` for a zero query or one with a component that is not finite.
    pub(super) fn new(query: &[f32], stride: usize) -> Option<Self> {
        let greatest = greatest_magnitude(query)?;
        // So that no sum of `stride` products with bytes exceeds 32 bits: 16 bits up to 512 dimensions, 12 at 8192.
        let limit = (i32::MAX / (128 * stride as i32)).min(i32::from(i16::MAX));
        let factor = f64::from(limit) / f64::from(greatest);
        let mut parts: Vec<i16> = query.iter().map(|part| (f64::from(*part) * factor).round() as i16).collect();
        parts.resize(stride, 0);
        let squares: f64 = parts.iter().map(|part| f64::from(*part).powi(2)).sum();
        Some(Query { parts, scale: (1.0 / squares.sqrt()) as f32 })
    }
}

/// `None` if the vector is zero or has a component that is not finite.
fn greatest_magnitude(vector: &[f32]) -> Option<f32> {
    let finite = vector.iter().all(|part| part.is_finite());
    let greatest = vector.iter().fold(0f32, |greatest, part| greatest.max(part.abs()));
    (finite && greatest > 0.0).then_some(greatest)
}
