//! Exact for sets that fit; independent of order, repetition, splitting and merging; errors as computed.

use std::collections::BTreeSet;

use proptest::collection::{btree_set, vec};
use proptest::prelude::any;
use xxhash_rust::xxh3::xxh3_64;

use super::*;

fn hash(value: u64) -> u64 {
    xxh3_64(&value.to_le_bytes())
}

fn hashes(values: impl IntoIterator<Item = u64>) -> Vec<u64> {
    values.into_iter().map(hash).collect()
}

proptest::proptest! {
    #[test]
    fn sets_that_fit_are_compared_exactly(a in btree_set(0u64..60, 0..40), b in btree_set(0u64..60, 0..40)) {
        let of = |set: &BTreeSet<u64>| Signature::of(hashes(set.iter().copied()), 64);
        let (left, right) = (of(&a), of(&b));
        let both = a.intersection(&b).count() as f64;
        let all = a.union(&b).count() as f64;
        proptest::prop_assert!(left.is_exact());
        proptest::prop_assert_eq!(left.distinct(), a.len() as f64);
        proptest::prop_assert_eq!(left.jaccard(&right), (all > 0.0).then(|| both / all));
        proptest::prop_assert_eq!(left.containment_in(&right), (!a.is_empty()).then(|| both / a.len() as f64));
    }

    #[test]
    fn a_merge_is_the_signature_of_the_union(
        parts in vec(vec(0u64..4_000, 0..900), 0..6),
        capacity in 16usize..200,
        turn in any::<proptest::sample::Index>(),
    ) {
        let whole = Signature::of(hashes(parts.iter().flatten().copied()), capacity);
        let signatures: Vec<_> = parts.iter().map(|part| Signature::of(hashes(part.iter().copied()), capacity)).collect();
        let mut builder = SignatureBuilder::new(capacity);
        let start = if parts.is_empty() { 0 } else { turn.index(parts.len()) };
        for signature in signatures[start..].iter().chain(&signatures[..start]) {
            builder.merge(signature);
        }
        proptest::prop_assert_eq!(&builder.finish(), &whole);
        let nested = signatures.iter().rev().fold(Signature::of([], capacity), |sum, next| next.union(&sum));
        proptest::prop_assert_eq!(&nested, &whole);
        let mut repeated = hashes(parts.iter().flatten().rev().copied());
        repeated.extend_from_within(..);
        proptest::prop_assert_eq!(&Signature::of(repeated, capacity), &whole);
        let sorted = BTreeSet::from_iter(hashes(parts.iter().flatten().copied()));
        let kept: Vec<u64> = sorted.into_iter().take(capacity).collect();
        proptest::prop_assert_eq!(whole.hashes(), &kept[..]);
    }

    #[test]
    fn shares_are_shares(a in vec(0u64..3_000, 0..800), b in vec(0u64..3_000, 0..800), sizes in (16usize..99, 16usize..99)) {
        let (left, right) = (Signature::of(hashes(a), sizes.0), Signature::of(hashes(b), sizes.1));
        proptest::prop_assert_eq!(left.jaccard(&right), right.jaccard(&left));
        for share in [left.jaccard(&right), left.containment_in(&right)].into_iter().flatten() {
            proptest::prop_assert!((0.0..=1.0).contains(&share));
        }
        proptest::prop_assert_eq!(left.jaccard(&left).unwrap_or(1.0), 1.0);
    }

    #[test]
    fn bytes_hold_the_signature(a in vec(any::<u64>(), 0..300), capacity in 0usize..200, at in any::<proptest::sample::Index>()) {
        let signature = Signature::of(a, capacity);
        let mut bytes = signature.to_bytes();
        let (bits, last) = (bytes.len() * 8, bytes.len() - 1);
        proptest::prop_assert_eq!(Signature::parse(&bytes), Ok(signature.clone()));
        proptest::prop_assert!(Signature::parse(&bytes[..last]).is_err());
        bytes[at.index(bits) / 8] ^= 1 << (at.index(bits) % 8);
        if let Ok(other) = Signature::parse(&bytes) {
            proptest::prop_assert_ne!(other, signature);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(mut bytes in vec(any::<u8>(), 0..90), begins in any::<bool>()) {
        if begins {
            bytes.splice(..bytes.len().min(8), [b'L', b'W', b'S', b'G', 1, 0, 0, 0]);
        }
        let _ = Signature::parse(&bytes);
    }
}

#[test]
fn what_is_no_signature_is_named() {
    assert_eq!(Signature::parse(b""), Err(NoSignature::Foreign));
    assert_eq!(Signature::parse(b"Finland"), Err(NoSignature::Foreign));
    assert_eq!(Signature::parse(b"LWSG"), Err(NoSignature::Damaged("it is truncated")));
    let mut bytes = Signature::of([3, 5], 16).to_bytes();
    bytes[4] = 9;
    assert_eq!(Signature::parse(&bytes), Err(NoSignature::Version(9)));
    bytes[4] = VERSION;
    // A count that would take 32 GiB.
    bytes[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(Signature::parse(&bytes), Err(NoSignature::Damaged(_))));
}

#[test]
fn hashes_of_an_index_make_the_same_signature() {
    let mut all = hashes(0..50_000);
    all.sort_unstable();
    let whole = Signature::of(all.iter().copied(), 256);
    let bound = all[20_000];
    assert_eq!(Signature::from_hashes(&all[..=20_000], bound, 256), whole);
    assert_eq!(Signature::from_hashes(&all, u64::MAX, 256), whole);
    let sampled = Signature::from_hashes(&all[..100], all[99], 256);
    assert!(!sampled.is_exact() && sampled.hashes().len() == 100);
    assert_eq!(sampled.containment_in(&whole), Some(1.0));
}

#[test]
fn a_set_of_many_values_takes_bounded_memory() {
    let mut builder = SignatureBuilder::new(64);
    let mut grown = 0;
    for value in 0..100_000 {
        grown += builder.add(hash(value));
        assert_eq!(grown, builder.heap_bytes());
    }
    assert!(builder.heap_bytes() <= 64 * 8 * 8);
    let distinct = builder.finish().distinct();
    assert!((distinct / 100_000.0 - 1.0).abs() < 0.3, "{distinct}");
}

/// Mean absolute errors of containments; `cargo test --release --lib signature::tests::errors -- --ignored --nocapture`
/// prints the table of eval/functions.md, with all sizes.
#[test]
#[ignore = "a measurement"]
fn errors_of_all_sizes() {
    for capacity in [1_024, DEFAULT_CAPACITY, 8_192, 16_384] {
        for size in [1_000, 10_000, 100_000, 1_000_000] {
            let errors = [1, 2, 10, 100].map(|ratio| containment_error(size, ratio, capacity, 10));
            println!("| {capacity} | {size} | {errors:.4?}");
        }
    }
}

#[test]
fn errors_are_what_a_sample_of_that_size_has() {
    for ratio in [1, 2] {
        let (mean, _) = containment_error(50_000, ratio, DEFAULT_CAPACITY, 3);
        assert!(mean < 0.02, "{ratio}: {mean}");
    }
    let (mean, _) = containment_error(1_000, 10, DEFAULT_CAPACITY, 3);
    assert!(mean < 0.03, "{mean}");
}

/// Mean and maximum absolute error of the containment of A in B over containments .1, .2, …, 1 and `draws` draws; B has `size` values, A as
/// many or `ratio` times fewer.
fn containment_error(size: u64, ratio: u64, capacity: usize, draws: u64) -> (f64, f64) {
    let small = (size / ratio).max(1);
    let (mut sum, mut most, mut count) = (0.0, 0f64, 0.0);
    for draw in 0..draws {
        let base = draw << 40;
        let right = Signature::of(hashes(base..base + size), capacity);
        for tenths in 1..=10 {
            let inside = (small * tenths).div_ceil(10);
            let outside = base + size + (tenths << 32);
            let left = hashes((base..base + inside).chain(outside..outside + small - inside));
            let estimate = Signature::of(left, capacity).containment_in(&right);
            let error = estimate.map_or(1.0, |estimate| (estimate - inside as f64 / small as f64).abs());
            (sum, most, count) = (sum + error, most.max(error), count + 1.0);
        }
    }
    (sum / count, most)
}
