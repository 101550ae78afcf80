//! A small, mergeable signature of a set of values, from which sizes, Jaccard similarities and containments are estimated.
//!
//! It contains the `capacity` smallest 64-bit hashes of the set, and the threshold below which all hashes were kept (bottom-k, or KMV:
//! Bar-Yossef et al., RANDOM 2002; with a separate threshold as in the theta sketches of Dasgupta et al., ICDT 2016). The hashes of two
//! signatures below the smaller threshold are samples of both sets by the same rule, so shares counted there estimate shares of the sets. A
//! set of at most `capacity` values is stored completely, and results for two such sets are exact.
//!
//! A signature depends only on the set of hashes: neither on order and repetitions, nor on how the set was split and merged. `value_hash`
//! defines the hash of a value; [`super::minhash`] is the other signature, of fixed permutations, by which the index finds candidates.

/// Default number of hashes: 32 KiB, an error of about .01 for containments of sets of similar size.
pub const DEFAULT_CAPACITY: usize = 4_096;
/// Fewer hashes give no useful estimate.
pub const LEAST_CAPACITY: usize = 16;
/// More would be a copy of the set: 8 MiB.
pub const MOST_CAPACITY: usize = 1 << 20;

/// The threshold of a signature that contains all hashes.
const WHOLE: u64 = u64::MAX;
/// First bytes of a stored signature.
const MAGIC: [u8; 4] = *b"LWSG";
const VERSION: u8 = 1;
/// Magic, version and three zeros, capacity and count as `u32`, threshold as `u64`; little-endian.
const HEADER: usize = 24;
/// Slots of a builder's first table: most groups of a query have few values.
const FIRST_SLOTS: usize = 4;
/// Tables up to this many slots are filled to the half.
const SMALL_TABLE: usize = 256;

/// Why bytes are not a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSignature {
    /// They do not begin like a signature.
    #[error("these bytes are not a signature; make one with `minhash`")]
    Foreign,
    /// They were written by another version.
    #[error("this signature has version {0}, this program reads {VERSION}; make it again with `minhash`")]
    Version(u8),
    /// They begin like a signature, but the rest is invalid.
    #[error("this signature is damaged: {0}")]
    Damaged(&'static str),
}

/// The smallest hashes of a set of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    capacity: usize,
    /// Every hash of the set below this is stored, and none above.
    threshold: u64,
    /// Ascending, without duplicates.
    hashes: Vec<u64>,
}

impl Signature {
    /// The signature of the set of these hashes; `capacity` is clamped to [`LEAST_CAPACITY`]..=[`MOST_CAPACITY`].
    pub fn of(hashes: impl IntoIterator<Item = u64>, capacity: usize) -> Self {
        let mut builder = SignatureBuilder::new(capacity);
        for hash in hashes {
            builder.add(hash);
        }
        builder.finish()
    }

    /// The signature of a set of which `hashes` are all that are at most `bound`, as stored for a column of an index.
    pub fn from_hashes(hashes: &[u64], bound: u64, capacity: usize) -> Self {
        let mut builder = SignatureBuilder::new(capacity);
        builder.threshold = bound.saturating_add(1);
        for hash in hashes {
            builder.add(*hash);
        }
        builder.finish()
    }

    /// The maximum number of hashes.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The stored hashes, ascending.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Whether the whole set is stored.
    pub fn is_exact(&self) -> bool {
        self.threshold == WHOLE
    }

    /// Number of distinct values: exact if [`Signature::is_exact`], otherwise kept / threshold, which is unbiased, with a relative standard
    /// error of 1/√capacity.
    pub fn distinct(&self) -> f64 {
        let kept = self.hashes.len() as f64;
        if self.is_exact() { kept } else { kept / (self.threshold as f64 / 2f64.powi(64)) }
    }

    /// |A ∩ B| / |A ∪ B|, 0..=1; symmetric. `None` if neither signature has a comparable hash, for example if both sets are empty.
    pub fn jaccard(&self, other: &Signature) -> Option<f64> {
        let shared = self.shared_with(other);
        let all = shared.left + shared.right - shared.both;
        (all > 0).then(|| shared.both as f64 / all as f64)
    }

    /// |A ∩ B| / |A|, 0..=1: the share of this set's values that `other` contains. `None` if none of this signature's hashes is comparable:
    /// the set is empty, or so much smaller than the other that no estimate is possible.
    pub fn containment_in(&self, other: &Signature) -> Option<f64> {
        let shared = self.shared_with(other);
        (shared.left > 0).then(|| shared.both as f64 / shared.left as f64)
    }

    /// The signature of the union of both sets, with the smaller of the two capacities.
    pub fn union(&self, other: &Signature) -> Self {
        let mut builder = SignatureBuilder::new(self.capacity.min(other.capacity));
        builder.merge(self);
        builder.merge(other);
        builder.finish()
    }

    fn shared_with(&self, other: &Signature) -> Shared {
        let threshold = self.threshold.min(other.threshold);
        let below = |hashes: &[u64]| hashes.partition_point(|hash| *hash < threshold);
        let (left, right) = (&self.hashes[..below(&self.hashes)], &other.hashes[..below(&other.hashes)]);
        let (mut at, mut both) = (0, 0);
        for hash in left {
            while right.get(at).is_some_and(|candidate| candidate < hash) {
                at += 1;
            }
            both += usize::from(right.get(at) == Some(hash));
        }
        Shared { left: left.len(), right: right.len(), both }
    }

    /// Appends the bytes to `out`: 24, and 8 for each hash.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.reserve(HEADER + self.hashes.len() * 8);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&[VERSION, 0, 0, 0]);
        out.extend_from_slice(&(self.capacity as u32).to_le_bytes());
        out.extend_from_slice(&(self.hashes.len() as u32).to_le_bytes());
        out.extend_from_slice(&self.threshold.to_le_bytes());
        for hash in &self.hashes {
            out.extend_from_slice(&hash.to_le_bytes());
        }
    }

    /// The bytes; see [`Signature::write`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }

    /// Parses a signature. It takes as much memory as its bytes.
    ///
    /// # Errors
    /// Why the bytes are not a signature.
    pub fn parse(bytes: &[u8]) -> Result<Self, NoSignature> {
        if !bytes.starts_with(&MAGIC) {
            return Err(NoSignature::Foreign);
        }
        let header = bytes.first_chunk::<HEADER>().ok_or(NoSignature::Damaged("it is truncated"))?;
        let [_, _, _, _, version, spare @ .., c0, c1, c2, c3, n0, n1, n2, n3, t0, t1, t2, t3, t4, t5, t6, t7] = *header;
        if version != VERSION {
            return Err(NoSignature::Version(version));
        }
        let capacity = u32::from_le_bytes([c0, c1, c2, c3]) as usize;
        let count = u32::from_le_bytes([n0, n1, n2, n3]) as usize;
        let threshold = u64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]);
        if spare != [0; 3] || !(LEAST_CAPACITY..=MOST_CAPACITY).contains(&capacity) || count > capacity {
            return Err(NoSignature::Damaged("its header is impossible"));
        }
        if bytes.len() != HEADER + count * 8 {
            return Err(NoSignature::Damaged("its length does not match its header"));
        }
        let (words, _) = bytes[HEADER..].as_chunks::<8>();
        let hashes: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let ascending = hashes.is_sorted_by(|a, b| a < b);
        if !ascending || hashes.first() == Some(&0) || hashes.last().is_some_and(|last| *last >= threshold) {
            return Err(NoSignature::Damaged("its hashes are out of order"));
        }
        Ok(Self { capacity, threshold, hashes })
    }
}

/// Numbers of hashes below a common threshold.
struct Shared {
    left: usize,
    right: usize,
    both: usize,
}

/// Builds a [`Signature`] from hashes added one by one. A hash above the threshold costs one comparison.
///
/// It stores at most twice `capacity` hashes in an open-addressing table; then the `capacity + 1`-th smallest becomes the threshold.
#[derive(Debug, Clone)]
pub struct SignatureBuilder {
    capacity: u32,
    len: u32,
    threshold: u64,
    /// Each hash is in the first free slot from the one given by its low bits; 0 is free. The high bits are unsuitable: hashes below a
    /// threshold share them.
    slots: Vec<u64>,
}

impl SignatureBuilder {
    /// An empty set; `capacity` is clamped to [`LEAST_CAPACITY`]..=[`MOST_CAPACITY`].
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.clamp(LEAST_CAPACITY, MOST_CAPACITY) as u32;
        Self { capacity, len: 0, threshold: WHOLE, slots: Vec::new() }
    }

    /// Heap memory in bytes, without the struct itself.
    pub fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u64>()
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.len == 0 && self.threshold == WHOLE
    }

    /// Adds a value's hash; returns the bytes by which [`SignatureBuilder::heap_bytes`] grew.
    #[inline]
    pub fn add(&mut self, hash: u64) -> usize {
        // 0 marks a free slot, and the greatest hash would never be below a threshold.
        let hash = hash.clamp(1, WHOLE - 1);
        if hash >= self.threshold { 0 } else { self.insert(hash) }
    }

    /// Adds the set of `signature`; returns the bytes by which [`SignatureBuilder::heap_bytes`] grew. The smaller capacity applies.
    pub fn merge(&mut self, signature: &Signature) -> usize {
        self.capacity = self.capacity.min(signature.capacity as u32);
        if signature.threshold < self.threshold {
            self.threshold = signature.threshold;
            let kept = self.kept();
            self.refill(&kept);
        }
        signature.hashes.iter().map(|hash| self.add(*hash)).sum()
    }

    /// The signature of all hashes added so far.
    pub fn finish(&self) -> Signature {
        let (mut hashes, mut threshold) = (self.kept(), self.threshold);
        cut(&mut hashes, &mut threshold, self.capacity as usize);
        hashes.sort_unstable();
        Signature { capacity: self.capacity as usize, threshold, hashes }
    }

    fn insert(&mut self, hash: u64) -> usize {
        let mut grown = 0;
        if self.len as usize >= room(self.slots.len()) {
            grown = self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        while self.slots[place] != 0 {
            if self.slots[place] == hash {
                return grown;
            }
            place = (place + 1) & mask;
        }
        self.slots[place] = hash;
        self.len += 1;
        if self.len >= 2 * self.capacity {
            let mut kept = self.kept();
            cut(&mut kept, &mut self.threshold, self.capacity as usize);
            self.refill(&kept);
        }
        grown
    }

    fn grow(&mut self) -> usize {
        let before = self.heap_bytes();
        let kept = self.kept();
        let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
        self.slots = Vec::new();
        self.slots.resize(slots, 0);
        self.refill(&kept);
        self.heap_bytes() - before
    }

    /// All hashes below the threshold, unordered.
    fn kept(&self) -> Vec<u64> {
        let mut kept = Vec::with_capacity(self.len as usize);
        kept.extend(self.slots.iter().filter(|hash| **hash != 0 && **hash < self.threshold));
        kept
    }

    /// Puts the distinct hashes `kept` into the cleared table, which must be large enough.
    fn refill(&mut self, kept: &[u64]) {
        self.slots.fill(0);
        self.len = kept.len() as u32;
        let mask = self.slots.len().wrapping_sub(1);
        for hash in kept {
            let mut place = *hash as usize & mask;
            while self.slots[place] != 0 {
                place = (place + 1) & mask;
            }
            self.slots[place] = *hash;
        }
    }
}

/// Maximum number of hashes in a table of this many slots. Small tables are filled to the half, to save memory when there are many groups;
/// large ones to a quarter, where nearly each hash is in its own slot: probing further slots costs a mispredicted branch.
fn room(slots: usize) -> usize {
    if slots <= SMALL_TABLE { slots / 2 } else { slots / 4 }
}

/// Keeps the `capacity` smallest of `hashes`, if there are more; the next one becomes the threshold.
fn cut(hashes: &mut Vec<u64>, threshold: &mut u64, capacity: usize) {
    if hashes.len() <= capacity {
        return;
    }
    let (_, next, _) = hashes.select_nth_unstable(capacity);
    *threshold = *next;
    hashes.truncate(capacity);
}

#[cfg(test)]
mod tests;
