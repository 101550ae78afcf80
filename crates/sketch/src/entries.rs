//! The distinct cells of a column that is being sketched, by the hash of the cell as written.

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;

use super::normalise::Kind;

/// What is known of a distinct cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub hash: u64,
    pub number: f64,
    pub count: u32,
    pub text: u32,
    pub kind: Kind,
}

pub(super) type Entries = HashMap<u64, Entry, BuildHasherDefault<PassThrough>>;

/// The keys are hashes already.
#[derive(Default, Clone)]
pub(super) struct PassThrough(u64);

impl Hasher for PassThrough {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// [`Entries`] as bytes: records of one length, since all but a few of the bytes that a sketch is written down as are these.
pub(super) mod records {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Entries, Entry, Kind};

    const BYTES: usize = 33;

    pub fn serialize<S: Serializer>(entries: &Entries, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::with_capacity(entries.len() * BYTES);
        for (key, Entry { hash, number, count, text, kind }) in entries {
            bytes.extend_from_slice(&key.to_le_bytes());
            bytes.extend_from_slice(&hash.to_le_bytes());
            bytes.extend_from_slice(&number.to_le_bytes());
            bytes.extend_from_slice(&count.to_le_bytes());
            bytes.extend_from_slice(&text.to_le_bytes());
            bytes.push(*kind as u8);
        }
        serializer.serialize_bytes(&bytes)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        let (records, rest) = <&[u8]>::deserialize(deserializer)?.as_chunks::<BYTES>();
        let entry = |record: &[u8; BYTES]| {
            let (key, rest) = record.split_first_chunk()?;
            let (hash, rest) = rest.split_first_chunk()?;
            let (number, rest) = rest.split_first_chunk()?;
            let (count, rest) = rest.split_first_chunk()?;
            let (text, rest) = rest.split_first_chunk()?;
            let entry = Entry {
                hash: u64::from_le_bytes(*hash),
                number: f64::from_le_bytes(*number),
                count: u32::from_le_bytes(*count),
                text: u32::from_le_bytes(*text),
                kind: *Kind::ALL.get(usize::from(*rest.first()?))?,
            };
            Some((u64::from_le_bytes(*key), entry))
        };
        let entries = records.iter().map(entry).collect::<Option<Entries>>();
        entries.filter(|_| rest.is_empty()).ok_or_else(|| D::Error::custom("no records of cells"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(cells in proptest::collection::vec(
            (proptest::num::u64::ANY, proptest::num::u64::ANY, proptest::num::f64::NORMAL, proptest::num::u32::ANY, 0usize..Kind::COUNT), 0..40,
        )) {
            let entry = |(key, hash, number, count, kind): (u64, u64, f64, u32, usize)| {
                (key, Entry { hash, number, count, text: !count, kind: Kind::ALL[kind] })
            };
            let entries: Entries = cells.into_iter().map(entry).collect();
            let mut bytes = Vec::new();
            records::serialize(&entries, &mut serde_json::Serializer::new(&mut bytes)).expect("bytes");
            let bytes: Vec<u8> = serde_json::from_slice(&bytes).expect("a list of bytes");
            let read = |bytes: &[u8]| {
                let of = serde::de::value::BorrowedBytesDeserializer::<serde::de::value::Error>::new(bytes);
                records::deserialize(of)
            };
            proptest::prop_assert_eq!(read(&bytes).expect("entries"), entries.clone());
            proptest::prop_assert!(entries.is_empty() || read(&bytes[1..]).is_err());
        }
    }
}
