//! Dot products of byte vectors, written so that the compiler vectorises them, and compiled twice: for the baseline and for
//! AVX2, chosen when the program runs.

/// `products[i]` = row i · query, for rows of `query.len()` bytes lying one after the other.
pub(super) fn rows_by_query(rows: &[i8], query: &[i16], products: &mut [i32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature the function was compiled for.
        return unsafe { rows_by_query_avx2(rows, query, products) };
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
        // SAFETY: the processor has the feature the function was compiled for.
        return unsafe { rows_avx2(left, right) };
    }
    rows_anywhere(left, right)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn rows_by_query_avx2(rows: &[i8], query: &[i16], products: &mut [i32]) {
    rows_by_query_anywhere(rows, query, products);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn rows_avx2(left: &[i8], right: &[i8]) -> i32 {
    rows_anywhere(left, right)
}

#[inline(always)]
fn rows_by_query_anywhere(rows: &[i8], query: &[i16], products: &mut [i32]) {
    for (row, product) in rows.chunks_exact(query.len()).zip(products) {
        *product = row.iter().zip(query).map(|(byte, part)| i32::from(*byte) * i32::from(*part)).sum();
    }
}

#[inline(always)]
fn rows_anywhere(left: &[i8], right: &[i8]) -> i32 {
    left.iter().zip(right).map(|(l, r)| i32::from(*l) * i32::from(*r)).sum()
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
