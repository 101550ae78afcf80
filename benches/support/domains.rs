//! A synthetic lake of value sets with skewed sizes and known overlaps, for the tests, the bench and the peer script of the
//! containment index.
//!
//! A domain is an interval of one topic's values. Sizes are log-uniform from 10 to 100,000 (the count falls with the size as
//! a power law), topics are Zipf distributed, so a few topics hold large and small domains that contain each other.

use xxhash_rust::xxh3::xxh3_64;

/// One interval of a topic's values.
#[derive(Debug, Clone, Copy)]
pub struct Domain {
    pub topic: u64,
    pub start: u64,
    pub len: u64,
}

impl Domain {
    /// Value hashes, all different.
    pub fn hashes(&self) -> Vec<u64> {
        (self.start..self.start + self.len).map(|value| mix(self.topic << 40 | value)).collect()
    }

    /// Share of this domain's values that `other` holds.
    pub fn containment_in(&self, other: &Domain) -> f64 {
        if self.topic != other.topic {
            return 0.0;
        }
        let (start, end) = (self.start.max(other.start), (self.start + self.len).min(other.start + other.len));
        end.saturating_sub(start) as f64 / self.len as f64
    }
}

/// `count` domains; the same for the same seed.
pub fn lake(seed: u64, count: usize) -> Vec<Domain> {
    let topics = (count as f64 / 40.0).max(10.0);
    (0..count as u64)
        .map(|i| {
            let uniform = |what: u64| mix(seed << 48 ^ i << 3 ^ what) as f64 / u64::MAX as f64;
            let len = (10.0 * 10_000f64.powf(uniform(0).powf(1.5))) as u64;
            let topic = topics.powf(uniform(1)) as u64;
            let start = (uniform(2) * 20_000.0 * (topic % 7 + 1) as f64) as u64;
            Domain { topic, start, len }
        })
        .collect()
}

fn mix(value: u64) -> u64 {
    xxh3_64(&value.to_le_bytes())
}
