//! MinHash signatures: estimate the Jaccard similarity of two value sets from 1 KiB per set, whatever their sizes.
//!
//! Lane i of a signature is the smallest value that permutation i gives to any element of the set. Two sets agree in a lane with
//! probability equal to their Jaccard similarity (Broder 1997), so the share of equal lanes estimates it with standard error √(J(1−J)/256)
//! ≤ 3.2%. Signatures of parts merge by lane-wise minimum into the signature of their union.
//!
//! Elements are 64-bit hashes that are already well mixed (xxh3 of a normalised value). Permutation i is the vector multiply-shift
//! (aᵢ·low + bᵢ·high + cᵢ) mod 2³² with odd aᵢ, bᵢ: pairwise independent, which with inputs of that much entropy behaves like full independence
//! (Mitzenmacher and Vadhan, SODA 2008). Cheaper families such as h + i·b do not: the tests measure bias and variance from tiny sets to
//! large ones. Two unequal minima of sets of n elements collide with probability about n / 2³³: negligible for a million elements, 1% for a
//! hundred million.
//!
//! It does not hash values, search (see `index::lsh`), or use weights or multiplicities.

/// Lanes of a signature.
pub const PERMUTATIONS: usize = 256;

/// Lanes updated together over a run of elements, so that minima and coefficients stay in registers.
const LANE_BLOCK: usize = 32;

/// Elements that a block of lanes processes before the next block does, so that they stay in the first-level cache.
const RUN: usize = 1024;

/// The lane value of an empty set.
const EMPTY: u32 = u32::MAX;

struct Coefficients {
    low: [u32; PERMUTATIONS],
    high: [u32; PERMUTATIONS],
    offset: [u32; PERMUTATIONS],
}

/// Stored signatures are only comparable under equal coefficients: changing these changes every index's format version.
static COEFFICIENTS: Coefficients = coefficients(0x4C61_6B65_7761_7264);

/// A signature of [`PERMUTATIONS`] minima; starts as the signature of the empty set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinHash {
    minima: Box<[u32]>,
}

impl Default for MinHash {
    fn default() -> Self {
        Self::new()
    }
}

impl MinHash {
    /// The signature of the empty set.
    pub fn new() -> Self {
        MinHash { minima: vec![EMPTY; PERMUTATIONS].into_boxed_slice() }
    }

    /// The signature of a set of value hashes; repeated hashes change nothing.
    pub fn of(hashes: &[u64]) -> Self {
        let mut signature = Self::new();
        signature.extend(hashes);
        signature
    }

    /// A signature from its stored form, the slice of [`as_slice`](Self::as_slice). `None` if its length is not [`PERMUTATIONS`].
    pub fn from_slice(minima: &[u32]) -> Option<Self> {
        (minima.len() == PERMUTATIONS).then(|| MinHash { minima: minima.into() })
    }

    /// Adds one element. Adding many elements at once is cheaper: see [`extend`](Self::extend).
    pub fn insert(&mut self, hash: u64) {
        self.extend(&[hash]);
    }

    /// Adds elements. Cost with AVX2: about 25 ns per element in runs of a hundred or more.
    pub fn extend(&mut self, hashes: &[u64]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the feature for which the function was compiled.
            unsafe { extend_avx2(&mut self.minima, hashes) };
            return;
        }
        extend_minima(&mut self.minima, hashes);
    }

    /// Makes this the signature of the union of both sets.
    pub fn merge(&mut self, other: &MinHash) {
        for (mine, theirs) in self.minima.iter_mut().zip(&other.minima) {
            *mine = (*mine).min(*theirs);
        }
    }

    /// Estimated Jaccard similarity |A∩B| / |A∪B|, in 0..=1; see [`jaccard`].
    pub fn jaccard(&self, other: &MinHash) -> f64 {
        jaccard(&self.minima, &other.minima)
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.minima.iter().all(|lane| *lane == EMPTY)
    }

    /// The minima, for storage: [`PERMUTATIONS`] of them.
    pub fn as_slice(&self) -> &[u32] {
        &self.minima
    }
}

/// Estimated Jaccard similarity of two stored signatures of equal length, in 0..=1. An empty set has similarity 0 to every set, also to
/// another empty set: there is no evidence.
pub fn jaccard(left: &[u32], right: &[u32]) -> f64 {
    let equal: u32 = left.iter().zip(right).map(|(l, r)| u32::from(l == r && *l != EMPTY)).sum();
    f64::from(equal) / left.len().max(1) as f64
}

/// Containment |Q∩X| / |Q| in 0..=1 from the Jaccard similarity and both numbers of distinct values: J·(|Q| + |X|) / ((1 + J)·|Q|), at most
/// |X| / |Q| (Zhu et al., PVLDB 2016, Eq. 6). 0 if Q is empty.
///
/// Error: the Jaccard error is multiplied by about (|Q| + |X|) / |Q|, so for a small Q and a large X the estimate is poor.
pub fn containment(jaccard: f64, query_cardinality: u64, other_cardinality: u64) -> f64 {
    if query_cardinality == 0 {
        return 0.0;
    }
    let (query, other) = (query_cardinality as f64, other_cardinality as f64);
    (jaccard * (query + other) / ((1.0 + jaccard) * query)).clamp(0.0, (other / query).min(1.0))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn extend_avx2(minima: &mut [u32], hashes: &[u64]) {
    extend_minima(minima, hashes);
}

/// The same source is compiled for the baseline and for AVX2; the compiler vectorises the inner loop over lanes.
#[inline(always)]
fn extend_minima(minima: &mut [u32], hashes: &[u64]) {
    for run in hashes.chunks(RUN) {
        let coefficients = COEFFICIENTS.low.as_chunks::<LANE_BLOCK>().0.iter();
        let coefficients = coefficients.zip(COEFFICIENTS.high.as_chunks::<LANE_BLOCK>().0);
        let coefficients = coefficients.zip(COEFFICIENTS.offset.as_chunks::<LANE_BLOCK>().0);
        for (minima, ((low, high), offset)) in minima.as_chunks_mut::<LANE_BLOCK>().0.iter_mut().zip(coefficients) {
            let mut least = *minima;
            for hash in run {
                let (hash_low, hash_high) = (*hash as u32, (*hash >> 32) as u32);
                for lane in 0..LANE_BLOCK {
                    let value = hash_low
                        .wrapping_mul(low[lane])
                        .wrapping_add(hash_high.wrapping_mul(high[lane]))
                        .wrapping_add(offset[lane]);
                    least[lane] = least[lane].min(value);
                }
            }
            *minima = least;
        }
    }
}

/// Coefficients from a splitmix64 stream; multipliers are odd, so that each permutation is one.
const fn coefficients(seed: u64) -> Coefficients {
    let mut all = Coefficients { low: [0; PERMUTATIONS], high: [0; PERMUTATIONS], offset: [0; PERMUTATIONS] };
    let mut state = seed;
    let mut lane = 0;
    while lane < PERMUTATIONS {
        let first = splitmix64(&mut state);
        all.low[lane] = first as u32 | 1;
        all.high[lane] = (first >> 32) as u32 | 1;
        all.offset[lane] = (splitmix64(&mut state) >> 32) as u32;
        lane += 1;
    }
    all
}

const fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    //! The estimator is unbiased and has the variance of independent lanes, from sets of ten to thousands; merging equals
    //! building; signatures survive storage; empty sets are similar to nothing.

    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    fn hash(set: u64, element: u64) -> u64 {
        xxh3_64(&[set.to_le_bytes(), element.to_le_bytes()].concat())
    }

    /// Mean error in standard errors of the mean, and variance over J(1−J)/256, of many estimates with `shared` of `union` elements in both
    /// sets.
    fn quality(shared: u64, union: u64, trials: u64) -> (f64, f64) {
        let truth = shared as f64 / union as f64;
        let errors: Vec<f64> = (0..trials)
            .map(|trial| {
                // Both sides contain the shared elements; the others alternate between the sides.
                let side = |parity: u64| -> Vec<u64> {
                    (0..union)
                        .filter(|e| *e < shared || e % 2 == parity)
                        .map(|e| hash(trial * 1000 + union, e))
                        .collect()
                };
                MinHash::of(&side(0)).jaccard(&MinHash::of(&side(1))) - truth
            })
            .collect();
        let mean = errors.iter().sum::<f64>() / trials as f64;
        let variance = errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (trials - 1) as f64;
        let expected = truth * (1.0 - truth) / PERMUTATIONS as f64;
        (mean / (variance / trials as f64).sqrt(), variance / expected)
    }

    #[test]
    fn the_estimator_has_no_bias_and_the_variance_of_independent_lanes() {
        const TRIALS: u64 = 1_000;
        for union in [20_u64, 100, 1_000, 5_000] {
            for percent in [5, 10, 20, 33, 50, 67, 80, 90, 95] {
                let shared = (union * percent).div_ceil(100);
                let trials = if union > 1_000 { 200 } else { TRIALS };
                let (bias, variance) = quality(shared, union, trials);
                println!(
                    "union {union:5} J {percent:3}%: bias {bias:+.2} standard errors, variance ratio {variance:.2}"
                );
                // 36 normal deviates: one beyond 4 has a chance of 1 in 400. A ratio of variances over 200 trials has a
                // standard error of 10%.
                assert!(bias.abs() < 4.0, "bias {bias} at {shared}/{union}");
                assert!((0.65..1.4).contains(&variance), "variance ratio {variance} at {shared}/{union}");
            }
        }
    }

    #[test]
    fn containment_follows_from_jaccard() {
        // |Q| = 100, |X| = 1,000, 50 shared.
        assert!((containment(50.0 / 1050.0, 100, 1000) - 0.5).abs() < 1e-12);
        assert_eq!(containment(1.0, 10, 10), 1.0);
        assert_eq!(containment(0.5, 0, 10), 0.0);
        assert_eq!(containment(0.9, 100, 10), 0.1, "no more of Q than X has");
    }

    #[test]
    fn empty_sets_resemble_nothing() {
        let empty = MinHash::new();
        assert!(empty.is_empty() && !MinHash::of(&[7]).is_empty());
        assert_eq!(empty.jaccard(&empty), 0.0);
        assert_eq!(empty.jaccard(&MinHash::of(&[7])), 0.0);
        assert_eq!(MinHash::of(&[7]).jaccard(&MinHash::of(&[7])), 1.0);
    }

    #[test]
    fn stored_signatures_keep_their_meaning() {
        // Changing these values changes the format.
        let signature = MinHash::of(&[1, 2, 3]);
        assert_eq!(xxh3_64(bytemuck::cast_slice(signature.as_slice())), GOLDEN);
        assert_eq!(MinHash::from_slice(signature.as_slice()), Some(signature.clone()));
        assert_eq!(MinHash::from_slice(&[1, 2]), None);
    }

    const GOLDEN: u64 = 7_833_884_214_814_897_463;

    #[test]
    fn every_processor_gives_the_same_signature() {
        let hashes: Vec<u64> = (0..1_000).map(|e| hash(1, e)).collect();
        let mut plain = vec![EMPTY; PERMUTATIONS];
        extend_minima(&mut plain, &hashes);
        assert_eq!(MinHash::of(&hashes).as_slice(), plain);
    }

    proptest! {
        #[test]
        fn merging_is_building_from_both(left: Vec<u64>, right: Vec<u64>) {
            let mut merged = MinHash::of(&left);
            merged.merge(&MinHash::of(&right));
            prop_assert_eq!(&merged, &MinHash::of(&[left.clone(), right.clone()].concat()));
            let mut one_by_one = MinHash::new();
            right.iter().chain(&left).for_each(|hash| one_by_one.insert(*hash));
            prop_assert_eq!(merged, one_by_one);
        }
    }
}
