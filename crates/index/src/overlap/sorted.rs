//! Counting in ascending lists of hashes.

/// Number of distinct hashes in an ascending list.
pub(super) fn count_distinct(sorted: &[u64]) -> u64 {
    sorted.chunk_by(|a, b| a == b).count() as u64
}

/// Number of distinct hashes in both ascending lists; 0 is not a hash.
pub fn shared_hashes(a: &[u64], b: &[u64]) -> usize {
    let (few, mut rest) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let (mut shared, mut previous) = (0, 0);
    for hash in few {
        rest = &rest[gallop(rest, *hash)..];
        let Some(next) = rest.first() else { break };
        shared += usize::from(next == hash && *hash != previous);
        previous = *hash;
    }
    shared
}

/// The first position in the ascending `list` whose value is at least `target`; cheap if it is near the beginning.
pub fn gallop(list: &[u64], target: u64) -> usize {
    let mut step = 1;
    while step < list.len() && list[step] < target {
        step *= 2;
    }
    let (low, high) = (step / 2, (step + 1).min(list.len()));
    low + list[low..high].partition_point(|hash| *hash < target)
}
