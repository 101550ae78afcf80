//! Packs the entries of a catalogue, each for itself, with zstd and a dictionary of what all of them say. A quarter of an entry is left, so
//! that those of a whole segment in a store come by one request. The hash of the content, which nothing shortens, is in the record of the
//! table and left out here.

use std::cell::RefCell;
use std::sync::LazyLock;

use memchr::memmem;
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};

use lakeward_core::error::{Error, Result};
use lakeward_core::text::hex;

/// An entry as they are, made up. A change of it is a new version of the file.
const DICTIONARY: &[u8] = include_bytes!("dictionary.json");
const LEVEL: i32 = 5;
/// What is before the hash of the content. Quotes inside texts are escaped, so this occurs nowhere else.
const BEFORE_CONTENT: &[u8] = b",\"content\":\"";
/// Longest entry, as JSON: more is an attack.
const MOST_BYTES: usize = 1 << 30;
/// A longer buffer is not kept for the next entry.
const MOST_KEPT_BYTES: usize = 1 << 20;

static FOR_PACKING: LazyLock<EncoderDictionary<'static>> = LazyLock::new(|| EncoderDictionary::copy(DICTIONARY, LEVEL));
static FOR_UNPACKING: LazyLock<DecoderDictionary<'static>> = LazyLock::new(|| DecoderDictionary::copy(DICTIONARY));

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<(Decompressor<'static>, Vec<u8>)>> = const { RefCell::new(None) };
}

/// The length and the packed bytes of `entry`, whose content has this hash.
pub(super) fn packed(mut entry: Vec<u8>, content: &[u8; 32]) -> Result<Vec<u8>> {
    if let Some(before) = memmem::find(&entry, BEFORE_CONTENT) {
        let start = before + BEFORE_CONTENT.len();
        let hash = hex(content);
        if entry[start..].starts_with(hash.as_bytes()) {
            entry.drain(start..start + hash.len());
        }
    }
    let failed = |error: std::io::Error| Error::Internal(format!("an entry cannot be packed: {error}"));
    let length = u32::try_from(entry.len()).ok().filter(|_| entry.len() <= MOST_BYTES);
    let length = length.ok_or_else(|| Error::Internal(format!("an entry of {} bytes", entry.len())))?;
    COMPRESSOR.with_borrow_mut(|compressor| {
        let compressor = match compressor {
            Some(compressor) => compressor,
            none => none.insert(Compressor::with_prepared_dictionary(&FOR_PACKING).map_err(failed)?),
        };
        let bytes = compressor.compress(&entry).map_err(failed)?;
        Ok([&length.to_le_bytes()[..], &bytes].concat())
    })
}

/// Calls `read` with the entry that was packed.
pub(super) fn unpacked<T>(
    packed: &[u8],
    content: &[u8; 32],
    damaged: impl Fn(String) -> Error,
    read: impl FnOnce(&[u8]) -> Result<T>,
) -> Result<T> {
    let (length, bytes) = packed.split_first_chunk().ok_or_else(|| damaged("an entry that is too short".into()))?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > MOST_BYTES {
        return Err(damaged(format!("an entry of {length} bytes")));
    }
    let failed = |error: std::io::Error| damaged(format!("an entry that cannot be unpacked: {error}"));
    // Taken out meanwhile: `read` may read another entry.
    let (mut decompressor, mut entry) = match DECOMPRESSOR.take() {
        Some(kept) => kept,
        None => (Decompressor::with_prepared_dictionary(&FOR_UNPACKING).map_err(failed)?, Vec::new()),
    };
    entry.clear();
    entry.reserve(length);
    let unpacked = decompressor.decompress_to_buffer(bytes, &mut entry).map_err(failed);
    let outcome = match unpacked {
        Ok(found) if found == length => {
            if let Some(before) = memmem::find(&entry, BEFORE_CONTENT) {
                let start = before + BEFORE_CONTENT.len();
                if entry.get(start) == Some(&b'"') {
                    entry.splice(start..start, hex(content).into_bytes());
                }
            }
            read(&entry)
        }
        Ok(found) => Err(damaged(format!("an entry of {found} bytes instead of {length}"))),
        Err(error) => Err(error),
    };
    entry.clear();
    entry.shrink_to(MOST_KEPT_BYTES);
    DECOMPRESSOR.set(Some((decompressor, entry)));
    outcome
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    const CONTENT: [u8; 32] = [0xa7; 32];

    fn read(packed: &[u8]) -> Result<Vec<u8>> {
        unpacked(
            packed,
            &CONTENT,
            |reason| Error::damaged(Path::new("catalog.seg"), reason),
            |entry| Ok(entry.to_vec()),
        )
    }

    #[test]
    fn another_dictionary_is_another_format() {
        assert_eq!(
            xxh3_64(DICTIONARY),
            16_968_208_738_161_811_205,
            "entries of older indexes cannot be read: a new version of `catalog.seg`"
        );
    }

    #[test]
    fn the_hash_of_the_content_comes_back() {
        for hash in ["a7".repeat(32), "b8".repeat(32)] {
            let entry = format!(r#"{{"id":"a","content":"{hash}","citation":"c"}}"#).into_bytes();
            assert_eq!(read(&packed(entry.clone(), &CONTENT).unwrap()).unwrap(), entry);
        }
    }

    proptest! {
        #[test]
        fn entries_come_back(entry in prop::collection::vec(any::<u8>(), 0..3000), part in 0..DICTIONARY.len()) {
            let entry = [&entry[..], &DICTIONARY[part..]].concat();
            prop_assert_eq!(read(&packed(entry.clone(), &CONTENT).unwrap()).unwrap(), entry);
        }

        #[test]
        fn changed_entries_are_told(at in 0usize..60, length in 0usize..60, bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut changed = packed(DICTIONARY.to_vec(), &CONTENT).unwrap();
            let start = at.min(changed.len());
            let end = changed.len().min(start + length);
            changed.splice(start..end, bytes);
            match read(&changed) {
                Ok(_) | Err(Error::DamagedIndex { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}
