//! Dot products of byte vectors, and of bits with a query: plain loops for any processor, and AVX2 instructions (x86) or NEON (64-bit ARM) where the
//! running one has them.
//!
//! The instructions are explicit: with plain loops the compiler kept the loop outside the function compiled for AVX2, which took five times
//! as long.

/// Rows of bits that are stored together: of each eight dimensions a byte a row.
pub(super) const BLOCK_ROWS: usize = 32;

/// Asks for bytes that are read soon, so that the processor waits for several rows at once and not for one after the other.
pub(super) fn ask_for(bytes: &[i8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(64) {
        // SAFETY: every processor of this kind has the instruction, which reads nothing.
        unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.as_ptr()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

/// `products[i]` = row i · query, for contiguous rows of `query.len()` bytes.
pub(super) fn rows_by_query(rows: &[i8], query: &[i16], products: &mut [i32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature for which the function was compiled.
        return unsafe { avx2::rows_by_query(rows, query, products) };
    }
    #[cfg(target_arch = "aarch64")]
    if std::arch::is_aarch64_feature_detected!("neon") {
        // SAFETY: the processor has the feature for which the function was compiled.
        return unsafe { neon::rows_by_query(rows, query, products) };
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
    #[cfg(target_arch = "aarch64")]
    if std::arch::is_aarch64_feature_detected!("neon") {
        // SAFETY: the processor has the feature for which the function was compiled.
        return unsafe { neon::rows(left, right) };
    }
    rows_anywhere(left, right)
}

/// `sums[i]` = what `tables` say of row i of a block: the sum of one entry, at most 60, for each four bits, the low ones of a byte first. No
/// more than 1,024 tables, two a byte of a row.
pub(super) fn table_sums(block: &[u8], tables: &[[u8; 16]], sums: &mut [u16; BLOCK_ROWS]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature for which the function was compiled.
        return unsafe { avx2::table_sums(block, tables, sums) };
    }
    #[cfg(target_arch = "aarch64")]
    if std::arch::is_aarch64_feature_detected!("neon") {
        // SAFETY: the processor has the feature for which the function was compiled.
        return unsafe { neon::table_sums(block, tables, sums) };
    }
    table_sums_anywhere(block, tables, sums);
}

fn table_sums_anywhere(block: &[u8], tables: &[[u8; 16]], sums: &mut [u16; BLOCK_ROWS]) {
    sums.fill(0);
    for (bytes, [low, high]) in block.chunks_exact(BLOCK_ROWS).zip(tables.as_chunks().0) {
        for (sum, byte) in sums.iter_mut().zip(bytes) {
            *sum += u16::from(low[usize::from(byte & 15)]) + u16::from(high[usize::from(byte >> 4)]);
        }
    }
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
        __m256i, _mm_loadu_si128, _mm256_add_epi8, _mm256_add_epi16, _mm256_add_epi32, _mm256_and_si256,
        _mm256_broadcastsi128_si256, _mm256_cvtepi8_epi16, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_set1_epi8,
        _mm256_set1_epi16, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_storeu_si256,
    };

    use super::BLOCK_ROWS;

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

    #[target_feature(enable = "avx2")]
    pub(super) fn table_sums(block: &[u8], tables: &[[u8; 16]], sums: &mut [u16; BLOCK_ROWS]) {
        let (four, byte) = (_mm256_set1_epi8(15), _mm256_set1_epi16(255));
        let (mut even, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        let (mut block, mut tables) = (block, tables);
        // Four entries fit a byte.
        while let (Some((bytes, more_bytes)), Some((entries, more_tables))) =
            (block.split_first_chunk::<{ 2 * BLOCK_ROWS }>(), tables.split_first_chunk::<4>())
        {
            let (first, second) = bytes.split_at(BLOCK_ROWS);
            let first = looked_up(first, &entries[0], &entries[1], four);
            let added = _mm256_add_epi8(first, looked_up(second, &entries[2], &entries[3], four));
            even = _mm256_add_epi16(even, _mm256_and_si256(added, byte));
            odd = _mm256_add_epi16(odd, _mm256_srli_epi16::<8>(added));
            (block, tables) = (more_bytes, more_tables);
        }
        let mut halves = [[0u16; BLOCK_ROWS / 2]; 2];
        // SAFETY: each array has the 32 bytes that are stored; the store needs no alignment.
        unsafe {
            _mm256_storeu_si256(halves[0].as_mut_ptr().cast(), even);
            _mm256_storeu_si256(halves[1].as_mut_ptr().cast(), odd);
        }
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum = halves[at % 2][at / 2];
        }
    }

    /// The sums of two entries for each of 32 bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn looked_up(bytes: &[u8], low: &[u8; 16], high: &[u8; 16], four: __m256i) -> __m256i {
        assert!(bytes.len() == BLOCK_ROWS);
        // SAFETY: there are 32 bytes; the load needs no alignment.
        let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        let of_low = _mm256_shuffle_epi8(twice(low), _mm256_and_si256(bytes, four));
        let of_high = _mm256_shuffle_epi8(twice(high), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), four));
        _mm256_add_epi8(of_low, of_high)
    }

    /// A table in both halves.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn twice(table: &[u8; 16]) -> __m256i {
        // SAFETY: there are 16 bytes; the load needs no alignment.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
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

#[cfg(target_arch = "aarch64")]
mod neon {
    use std::arch::aarch64::{
        int16x8_t, int32x4_t, uint8x16_t, vaddq_s32, vaddq_u8, vaddvq_s32, vaddw_high_u8, vaddw_u8, vandq_u8,
        vdupq_n_s32, vdupq_n_u8, vdupq_n_u16, vget_low_s8, vget_low_s16, vget_low_u8, vld1q_s8, vld1q_s16, vld1q_u8,
        vmlal_high_s16, vmlal_s16, vmovl_high_s8, vmovl_s8, vmull_high_s8, vmull_s8, vpadalq_s16, vqtbl1q_u8,
        vshrq_n_u8, vst1q_u16,
    };

    use super::BLOCK_ROWS;

    /// Bytes of a register.
    const LANES: usize = 16;
    /// 16-bit numbers of a register.
    const WIDE: usize = LANES / 2;

    #[target_feature(enable = "neon")]
    pub(super) fn rows_by_query(rows: &[i8], query: &[i16], products: &mut [i32]) {
        for (row, product) in rows.chunks_exact(query.len()).zip(products) {
            let mut sums = [vdupq_n_s32(0); 2];
            let (mut row, mut parts) = (row, query);
            while let (Some((bytes, row_rest)), Some((numbers, rest))) =
                (row.split_first_chunk::<LANES>(), parts.split_first_chunk::<LANES>())
            {
                // SAFETY: there are 16 bytes and 16 numbers; the loads need no alignment.
                let (bytes, low, high) = unsafe {
                    let second = numbers.as_ptr().add(WIDE);
                    (vld1q_s8(bytes.as_ptr()), vld1q_s16(numbers.as_ptr()), vld1q_s16(second))
                };
                add_products(&mut sums, vmovl_s8(vget_low_s8(bytes)), low);
                add_products(&mut sums, vmovl_high_s8(bytes), high);
                (row, parts) = (row_rest, rest);
            }
            *product = vaddvq_s32(vaddq_s32(sums[0], sums[1]))
                .wrapping_add(row.iter().zip(parts).map(|(byte, part)| i32::from(*byte) * i32::from(*part)).sum());
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn add_products(sums: &mut [int32x4_t; 2], left: int16x8_t, right: int16x8_t) {
        sums[0] = vmlal_s16(sums[0], vget_low_s16(left), vget_low_s16(right));
        sums[1] = vmlal_high_s16(sums[1], left, right);
    }

    #[target_feature(enable = "neon")]
    pub(super) fn rows(left: &[i8], right: &[i8]) -> i32 {
        let (mut even, mut odd) = (vdupq_n_s32(0), vdupq_n_s32(0));
        let (mut left, mut right) = (left, right);
        while let (Some((left_head, left_rest)), Some((right_head, right_rest))) =
            (left.split_first_chunk::<LANES>(), right.split_first_chunk::<LANES>())
        {
            // SAFETY: there are 16 bytes of each; the loads need no alignment.
            let (l, r) = unsafe { (vld1q_s8(left_head.as_ptr()), vld1q_s8(right_head.as_ptr())) };
            even = vpadalq_s16(even, vmull_s8(vget_low_s8(l), vget_low_s8(r)));
            odd = vpadalq_s16(odd, vmull_high_s8(l, r));
            (left, right) = (left_rest, right_rest);
        }
        vaddvq_s32(vaddq_s32(even, odd)).wrapping_add(super::rows_anywhere(left, right))
    }

    #[target_feature(enable = "neon")]
    pub(super) fn table_sums(block: &[u8], tables: &[[u8; 16]], sums: &mut [u16; BLOCK_ROWS]) {
        let mut wide = [vdupq_n_u16(0); BLOCK_ROWS / WIDE];
        let (mut block, mut tables) = (block, tables);
        // Four entries fit a byte.
        while let (Some((bytes, more_bytes)), Some((entries, more_tables))) =
            (block.split_first_chunk::<{ 2 * BLOCK_ROWS }>(), tables.split_first_chunk::<4>())
        {
            let (first, second) = (bytes.as_chunks().0, &bytes.as_chunks().0[BLOCK_ROWS / LANES..]);
            for (half, wide) in wide.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                let one = looked_up(&first[half], &entries[0], &entries[1]);
                let added = vaddq_u8(one, looked_up(&second[half], &entries[2], &entries[3]));
                wide[0] = vaddw_u8(wide[0], vget_low_u8(added));
                wide[1] = vaddw_high_u8(wide[1], added);
            }
            (block, tables) = (more_bytes, more_tables);
        }
        for (wide, sums) in wide.into_iter().zip(sums.as_chunks_mut::<WIDE>().0) {
            // SAFETY: there are eight numbers; the store needs no alignment.
            unsafe { vst1q_u16(sums.as_mut_ptr(), wide) };
        }
    }

    /// The sums of two entries for each byte.
    #[inline]
    #[target_feature(enable = "neon")]
    fn looked_up(bytes: &[u8; LANES], low: &[u8; 16], high: &[u8; 16]) -> uint8x16_t {
        // SAFETY: there are 16 bytes of each; the loads need no alignment.
        let (bytes, low, high) = unsafe { (vld1q_u8(bytes.as_ptr()), vld1q_u8(low.as_ptr()), vld1q_u8(high.as_ptr())) };
        let of_low = vqtbl1q_u8(low, vandq_u8(bytes, vdupq_n_u8(15)));
        vaddq_u8(of_low, vqtbl1q_u8(high, vshrq_n_u8::<4>(bytes)))
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

        #[test]
        fn every_processor_gives_the_same_sums(bytes: Vec<u8>, entries: Vec<[u8; 16]>, words in 1usize..64) {
            // The greatest entries, wherever there are no others.
            let byte = |at: usize| bytes.get(at % (bytes.len() + 1)).copied().unwrap_or(255);
            let table = |at: usize| match entries.get(at % (entries.len() + 1)) {
                Some(table) => table.map(|entry| entry % 61),
                None => [60; 16],
            };
            let block: Vec<u8> = (0..words * 8 * BLOCK_ROWS).map(byte).collect();
            let tables: Vec<[u8; 16]> = (0..words * 16).map(table).collect();
            let (mut sums, mut plain) = ([1; BLOCK_ROWS], [2; BLOCK_ROWS]);
            table_sums(&block, &tables, &mut sums);
            table_sums_anywhere(&block, &tables, &mut plain);
            prop_assert_eq!(sums, plain);
            let last = (0..words * 8).map(|at| (&tables[2 * at..], block[(at + 1) * BLOCK_ROWS - 1]));
            let right: u32 = last.map(|(tables, byte)| u32::from(tables[0][usize::from(byte & 15)]) + u32::from(tables[1][usize::from(byte >> 4)])).sum();
            prop_assert_eq!(u32::from(sums[BLOCK_ROWS - 1]), right);
        }
    }
}
