//! A small, mergeable signature of a set of values, by which sizes, Jaccard similarities and containments are estimated.
//!
//! It keeps the `capacity` smallest 64-bit hashes of the set, and the threshold below which it kept all (bottom-k, or KMV:
//! Bar-Yossef et al., RANDOM 2002; with the threshold kept apart as in the theta sketches of Dasgupta et al., ICDT 2016). What
//! two signatures kept below the smaller of their thresholds are samples of both sets by one and the same draw, so shares
//! counted there estimate shares of the sets. A set of at most `capacity` values is kept whole, and what is told of two
//! such sets is exact.
//!
//! A signature depends on the set of hashes and on nothing else: neither on order and repetitions, nor on how the set was
//! parted and merged again. What a value's hash is, `value_hash` says; [`super::minhash`] is the other signature, of fixed
//! permutations, by which the index finds candidates.

/// Hashes kept where nothing else is said: 32 KiB, an error of about .01 for containments of sets of like size.
pub const DEFAULT_CAPACITY: usize = 4_096;
/// Fewer hashes tell nothing.
pub const LEAST_CAPACITY: usize = 16;
/// More are a copy of the set: 8 MiB.
pub const MOST_CAPACITY: usize = 1 << 20;

/// The threshold of a signature that kept everything.
const WHOLE: u64 = u64::MAX;
/// First bytes of a stored signature.
const MAGIC: [u8; 4] = *b"LWSG";
const VERSION: u8 = 1;
/// Magic, version and three zeros, capacity and count as `u32`, threshold as `u64`; little-endian.
const HEADER: usize = 24;
/// Slots of the first table of a builder: most groups of a query have few values.
const FIRST_SLOTS: usize = 4;
/// Slots of a table that is filled to the half.
const SMALL_TABLE: usize = 256;

/// Bytes that are no signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSignature {
    /// They begin like no signature.
    #[error("these bytes are no signature; `minhash` makes one")]
    Foreign,
    /// They were written by another version.
    #[error("this signature has version {0}, readable is {VERSION}; make it anew with `minhash`")]
    Version(u8),
    /// They begin like a signature and go on like none.
    #[error("this signature is damaged: {0}")]
    Damaged(&'static str),
}

/// The smallest hashes of a set of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    capacity: usize,
    /// Every hash of the set below this is kept, and none above.
    threshold: u64,
    /// Ascending, all different.
    hashes: Vec<u64>,
}

impl Signature {
    /// The signature of the set of these hashes; `capacity` is brought between [`LEAST_CAPACITY`] and [`MOST_CAPACITY`].
    pub fn of(hashes: impl IntoIterator<Item = u64>, capacity: usize) -> Self {
        let mut builder = SignatureBuilder::new(capacity);
        for hash in hashes {
            builder.add(hash);
        }
        builder.finish()
    }

    /// The signature of a set of which `hashes` are all that are at most `bound`, as in a column of an index.
    pub fn from_hashes(hashes: &[u64], bound: u64, capacity: usize) -> Self {
        let mut builder = SignatureBuilder::new(capacity);
        builder.threshold = bound.saturating_add(1);
        for hash in hashes {
            builder.add(*hash);
        }
        builder.finish()
    }

    /// The most hashes it keeps.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The hashes kept, ascending.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Whether the whole set is kept.
    pub fn is_exact(&self) -> bool {
        self.threshold == WHOLE
    }

    /// Distinct values of the set: exact where [`Signature::is_exact`], else kept / threshold, which is unbiased, with a
    /// relative standard error of 1/√capacity.
    pub fn distinct(&self) -> f64 {
        let kept = self.hashes.len() as f64;
        if self.is_exact() { kept } else { kept / (self.threshold as f64 / 2f64.powi(64)) }
    }

    /// |A ∩ B| / |A ∪ B|, 0..=1; symmetric. `None` where neither signature kept a hash that could be compared, as where both
    /// sets are empty.
    pub fn jaccard(&self, other: &Signature) -> Option<f64> {
        let shared = self.shared_with(other);
        let all = shared.left + shared.right - shared.both;
        (all > 0).then(|| shared.both as f64 / all as f64)
    }

    /// |A ∩ B| / |A|, 0..=1: the share of this set's values that `other` has. `None` where none of this signature's hashes can
    /// be compared: the set is empty, or so much smaller than the other that nothing is known.
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

    /// As bytes, appended to `out`: 24 and 8 for each hash kept.
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

    /// As bytes; see [`Signature::write`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }

    /// A signature from its bytes. Takes as much memory as they do.
    ///
    /// # Errors
    /// Says why the bytes are no signature.
    pub fn parse(bytes: &[u8]) -> Result<Self, NoSignature> {
        if !bytes.starts_with(&MAGIC) {
            return Err(NoSignature::Foreign);
        }
        let header = bytes.first_chunk::<HEADER>().ok_or(NoSignature::Damaged("it is cut short"))?;
        let [_, _, _, _, version, spare @ .., c0, c1, c2, c3, n0, n1, n2, n3, t0, t1, t2, t3, t4, t5, t6, t7] = *header;
        if version != VERSION {
            return Err(NoSignature::Version(version));
        }
        let capacity = u32::from_le_bytes([c0, c1, c2, c3]) as usize;
        let count = u32::from_le_bytes([n0, n1, n2, n3]) as usize;
        let threshold = u64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]);
        if spare != [0; 3] || !(LEAST_CAPACITY..=MOST_CAPACITY).contains(&capacity) || count > capacity {
            return Err(NoSignature::Damaged("its head is impossible"));
        }
        if bytes.len() != HEADER + count * 8 {
            return Err(NoSignature::Damaged("its length is not what its head says"));
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

/// Hashes below a common threshold.
struct Shared {
    left: usize,
    right: usize,
    both: usize,
}

/// Makes a [`Signature`] of hashes given one by one. A hash above the threshold costs one comparison.
///
/// It holds at most twice `capacity` hashes in an open table; then the `capacity + 1`-th smallest becomes the threshold.
#[derive(Debug, Clone)]
pub struct SignatureBuilder {
    capacity: u32,
    len: u32,
    threshold: u64,
    /// Hashes at the first free slot from that of their low bits on; 0 is free. Low bits, since the high ones of what is
    /// below a threshold are alike.
    slots: Vec<u64>,
}

impl SignatureBuilder {
    /// An empty set; `capacity` is brought between [`LEAST_CAPACITY`] and [`MOST_CAPACITY`].
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.clamp(LEAST_CAPACITY, MOST_CAPACITY) as u32;
        Self { capacity, len: 0, threshold: WHOLE, slots: Vec::new() }
    }

    /// Bytes held beside the struct itself.
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

    /// Adds the set of `signature`; returns the bytes by which [`SignatureBuilder::heap_bytes`] grew. The smaller capacity
    /// stays.
    pub fn merge(&mut self, signature: &Signature) -> usize {
        self.capacity = self.capacity.min(signature.capacity as u32);
        if signature.threshold < self.threshold {
            self.threshold = signature.threshold;
            let kept = self.kept();
            self.refill(&kept);
        }
        signature.hashes.iter().map(|hash| self.add(*hash)).sum()
    }

    /// The signature of what was added so far.
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

    /// All hashes below the threshold, in no order.
    fn kept(&self) -> Vec<u64> {
        let mut kept = Vec::with_capacity(self.len as usize);
        kept.extend(self.slots.iter().filter(|hash| **hash != 0 && **hash < self.threshold));
        kept
    }

    /// Puts `kept`, all different, into a cleared table, which is large enough.
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

/// Hashes that may stand in so many slots. Small tables are half full, for the memory of many groups; large ones a quarter,
/// where nearly each hash stands at its own place: a lookup that goes on to the next slots costs a mispredicted branch.
fn room(slots: usize) -> usize {
    if slots <= SMALL_TABLE { slots / 2 } else { slots / 4 }
}

/// Leaves the `capacity` smallest of `hashes`, if there are more; the next one is the threshold then.
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
