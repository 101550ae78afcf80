//! The hash of an integer's decimal text, without building the text: a column of ten million numbers must be hashed in a few nanoseconds
//! each.
//!
//! Eight digits at a time are computed inside one word (Lemire, "Converting integers to fix-digit representations quickly"), and the hash
//! (64-bit XXH3 with the seed of numbers) is computed from words (Collet, xxHash, `XXH3_len_1to3_64b`, `XXH3_len_4to8_64b`,
//! `XXH3_len_9to16_64b`). Longer numbers use the library. A test compares both with the library's hash of the text.

use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::normalise::Tag;

/// Numbers from 0 whose hashes are cached: counts, years, codes.
const CACHED: usize = 4_096;
const EIGHT_DIGITS: u64 = 100_000_000;
const SIXTEEN_DIGITS: u64 = EIGHT_DIGITS * EIGHT_DIGITS;
/// With a minus sign, these still fit a word of 16 bytes.
const FIFTEEN_DIGITS: u64 = SIXTEEN_DIGITS / 10;
/// Eight digits `0`.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The hash of the text of `magnitude`, with a minus sign if `negative`.
#[inline]
pub(super) fn hash(magnitude: u64, negative: bool) -> u64 {
    static SMALL: LazyLock<Vec<u64>> =
        LazyLock::new(|| (0..CACHED as u64).map(|number| worked_out(number, false)).collect());
    if magnitude < CACHED as u64 && !negative {
        return SMALL[magnitude as usize];
    }
    worked_out(magnitude, negative)
}

fn worked_out(magnitude: u64, negative: bool) -> u64 {
    // Words contain texts in memory order: the first character in the lowest byte.
    let hash = if magnitude < EIGHT_DIGITS {
        let digits = eight_digits(magnitude);
        let spare = (digits.trailing_zeros() / 8).min(7);
        let text = u128::from((digits | ZEROS) >> (8 * spare));
        of_text(text, 8 - spare, negative)
    } else if magnitude < if negative { FIFTEEN_DIGITS } else { SIXTEEN_DIGITS } {
        let first = eight_digits(magnitude / EIGHT_DIGITS);
        let spare = first.trailing_zeros() / 8;
        let text = u128::from(eight_digits(magnitude % EIGHT_DIGITS) | ZEROS) << 64 | u128::from(first | ZEROS);
        of_text(text >> (8 * spare), 16 - spare, negative)
    } else {
        of_long(magnitude, negative)
    };
    // 0 is the hash of a missing value.
    hash.max(1)
}

/// The digits of a number below 10⁸ as values 0 to 9, the first one in the lowest byte.
#[inline]
fn eight_digits(number: u64) -> u64 {
    let (high, low) = (number / 10_000, number % 10_000);
    let fours = high | low << 32;
    let high = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = high | (fours - high * 100) << 16;
    let high = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    high | (pairs - high * 10) << 8
}

/// For at most sixteen characters, including the minus sign.
#[inline]
fn of_text(text: u128, len: u32, negative: bool) -> u64 {
    let (text, len) = if negative { (text << 8 | u128::from(b'-'), len + 1) } else { (text, len) };
    match len {
        0..=3 => up_to_3(text as u64, len),
        4..=8 => up_to_8(text as u64, len),
        _ => up_to_16(text, len),
    }
}

/// For at least sixteen digits.
#[cold]
#[inline(never)]
fn of_long(magnitude: u64, negative: bool) -> u64 {
    let (first, rest) = (magnitude / SIXTEEN_DIGITS, magnitude % SIXTEEN_DIGITS);
    let mut text = [b'-'; 32];
    let first = eight_digits(first);
    text[8..16].copy_from_slice(&(first | ZEROS).to_le_bytes());
    text[16..24].copy_from_slice(&(eight_digits(rest / EIGHT_DIGITS) | ZEROS).to_le_bytes());
    text[24..].copy_from_slice(&(eight_digits(rest % EIGHT_DIGITS) | ZEROS).to_le_bytes());
    let start = 8 + first.trailing_zeros().min(64) as usize / 8;
    if negative {
        text[start - 1] = b'-';
    }
    xxh3_64_with_seed(&text[start - usize::from(negative)..], SEED)
}

const SEED: u64 = Tag::Number as u64;
/// The first 64 bytes of XXH3's secret.
const SECRET: [u64; 8] = [
    0xbe4b_a423_396c_feb8,
    0x1cad_21f7_2c81_017c,
    0xdb97_9083_e96d_d4de,
    0x1f67_b3b7_a4a4_4072,
    0x78e5_c0cc_4ee6_79cb,
    0x2172_ffcc_7dd0_5a82,
    0x8e24_43f7_7446_08b8,
    0x4c26_3a81_e690_35e0,
];

#[inline]
fn up_to_3(text: u64, len: u32) -> u64 {
    const MASK: u64 = ((SECRET[0] as u32 ^ (SECRET[0] >> 32) as u32) as u64).wrapping_add(SEED);
    let byte = |place: u32| text >> (8 * place) & 0xff;
    let word = byte(0) << 16 | byte(len / 2) << 24 | byte(len - 1) | u64::from(len) << 8;
    let mut hash = word ^ MASK;
    hash = (hash ^ hash >> 33).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    hash = (hash ^ hash >> 29).wrapping_mul(0x1656_67B1_9E37_79F9);
    hash ^ hash >> 32
}

#[inline]
fn up_to_8(text: u64, len: u32) -> u64 {
    const MASK: u64 = (SECRET[1] ^ SECRET[2]).wrapping_sub(SEED ^ ((SEED as u32).swap_bytes() as u64) << 32);
    const FACTOR: u64 = 0x9FB2_1C65_1E98_DF25;
    let last = text >> (8 * (len - 4)) & 0xffff_ffff;
    let mut hash = last.wrapping_add(text << 32) ^ MASK;
    hash = (hash ^ hash.rotate_left(49) ^ hash.rotate_left(24)).wrapping_mul(FACTOR);
    hash = (hash ^ (hash >> 35).wrapping_add(u64::from(len))).wrapping_mul(FACTOR);
    hash ^ hash >> 28
}

#[inline]
fn up_to_16(text: u128, len: u32) -> u64 {
    const FIRST_MASK: u64 = (SECRET[3] ^ SECRET[4]).wrapping_add(SEED);
    const LAST_MASK: u64 = (SECRET[5] ^ SECRET[6]).wrapping_sub(SEED);
    let first = text as u64 ^ FIRST_MASK;
    let last = (text >> (8 * (len - 8))) as u64 ^ LAST_MASK;
    let product = u128::from(first) * u128::from(last);
    let folded = product as u64 ^ (product >> 64) as u64;
    let mut hash = u64::from(len).wrapping_add(first.swap_bytes()).wrapping_add(last).wrapping_add(folded);
    hash = (hash ^ hash >> 37).wrapping_mul(0x1656_6791_9E37_79F9);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_the_library(magnitude: u64, negative: bool) -> u64 {
        let text = if negative { format!("-{magnitude}") } else { magnitude.to_string() };
        xxh3_64_with_seed(text.as_bytes(), SEED).max(1)
    }

    #[test]
    fn numbers_of_every_length_have_the_hash_of_their_text() {
        let powers = (0..20).map(|power| 10u64.pow(power));
        let borders = powers.flat_map(|power| [power - 1, power, power + 1, power.saturating_mul(7)]);
        for magnitude in borders.chain(0..5_000).chain([u64::MAX, u64::MAX - 1, 1 << 63]) {
            for negative in [false, true] {
                assert_eq!(hash(magnitude, negative), by_the_library(magnitude, negative), "{magnitude} {negative}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn numbers_have_the_hash_of_their_text(number in proptest::num::u64::ANY, shift in 0u32..64, negative: bool) {
            let magnitude = number >> shift;
            proptest::prop_assert_eq!(hash(magnitude, negative), by_the_library(magnitude, negative));
        }
    }
}
