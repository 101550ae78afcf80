//! Dot products of byte vectors: plain loops for any processor, and AVX2 instructions where the running one has them.
//!
//! The instructions are explicit: with plain loops the compiler kept the loop outside the function compiled for AVX2, which took five times
//! as long.

/// `products[i]` = row i · query, for contiguous rows of `query.len()` bytes.
pub(super) fn rows_by_query(rows: &[i8], query: &[i16], products: &mut [i32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature for which the function was compiled.
        return unsafe { avx2::rows_by_query(rows, query, products) };
    }
    rows_by_query_anywhere(rows, query, products);
}

/// One row · query.
pub(super) fn row_by_query(row: &[i8], query: &[i16]) -> i32 {
    let mut product = [0];
    rows_by_query(row, query, &mut product);
    product[0]
}

/// Row · row.
pub(super) fn rows(left: &[i8], right: &[i8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature for which the function was compiled.
        return unsafe { avx2::rows(left, right) };
    }
    rows_anywhere(left, right)
}

fn rows_by_query_anywhere(rows: &[i8], query: &[i16], products: &mut [i32]) {
    for (row, product) in rows.chunks_exact(query.len()).zip(products) {
        *product = row.iter().zip(query).map(|(byte, part)| i32::from(*byte) * i32::from(*part)).sum();
    }
}

fn rows_anywhere(left: &[i8], right: &[i8]) -> i32 {
    left.iter().zip(right).map(|(l, r)| i32::from(*l) * i32::from(*r)).sum()
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_setzero_si256, _mm256_storeu_si256,
    };

    /// Elements multiplied at a time.
    const LANES: usize = 16;

    #[target_feature(enable = "avx2")]
    pub(super) fn rows_by_query(rows: &[i8], query: &[i16], products: &mut [i32]) {
        for (row, product) in rows.chunks_exact(query.len()).zip(products) {
            let (mut even, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
            let (mut row, mut parts) = (row, query);
            while let (Some((row_head, row_rest)), Some((head, rest))) =
                (row.split_first_chunk::<{ 2 * LANES }>(), parts.split_first_chunk::<{ 2 * LANES }>())
            {
                let (row_low, row_high) = row_head.split_at(LANES);
                let (low, high) = head.split_at(LANES);
                even = _mm256_add_epi32(even, _mm256_madd_epi16(widened(row_low), loaded(low)));
                odd = _mm256_add_epi32(odd, _mm256_madd_epi16(widened(row_high), loaded(high)));
                (row, parts) = (row_rest, rest);
            }
            *product = sum(_mm256_add_epi32(even, odd))
                .wrapping_add(row.iter().zip(parts).map(|(byte, part)| i32::from(*byte) * i32::from(*part)).sum());
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn rows(left: &[i8], right: &[i8]) -> i32 {
        let mut total = _mm256_setzero_si256();
        let (mut left, mut right) = (left, right);
        while let (Some((left_head, left_rest)), Some((right_head, right_rest))) =
            (left.split_first_chunk::<LANES>(), right.split_first_chunk::<LANES>())
        {
            total = _mm256_add_epi32(total, _mm256_madd_epi16(widened(left_head), widened(right_head)));
            (left, right) = (left_rest, right_rest);
        }
        sum(total).wrapping_add(super::rows_anywhere(left, right))
    }

    /// [`LANES`] bytes as 16-bit numbers.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn widened(bytes: &[i8]) -> __m256i {
        assert!(bytes.len() == LANES);
        // SAFETY: there are 16 bytes; the load needs no alignment.
        _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    }

    /// [`LANES`] 16-bit numbers.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn loaded(parts: &[i16]) -> __m256i {
        assert!(parts.len() == LANES);
        // SAFETY: there are 16 numbers of two bytes; the load needs no alignment.
        unsafe { _mm256_loadu_si256(parts.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn sum(lanes: __m256i) -> i32 {
        let mut parts = [0i32; 8];
        // SAFETY: the array has the 32 bytes that are stored; the store needs no alignment.
        unsafe { _mm256_storeu_si256(parts.as_mut_ptr().cast(), lanes) };
        parts.iter().fold(0, |sum, part| sum.wrapping_add(*part))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_processor_gives_the_same_products(row: Vec<i8>, other: Vec<i8>, query: Vec<i16>) {
            let len = row.len().min(query.len()).min(other.len()).max(1);
            let (mut row, mut other, mut query) = (row, other, query);
            row.resize(len, -128);
            other.resize(len, -128);
            query.resize(len, 16_000);
            let mut plain = [0];
            rows_by_query_anywhere(&row, &query, &mut plain);
            prop_assert_eq!(row_by_query(&row, &query), plain[0]);
            prop_assert_eq!(rows(&row, &other), rows_anywhere(&row, &other));
        }
    }
}
