//! Columns come back as they were, whatever they share; what is shared is stored once; lists that lie are damage, never a panic.

use proptest::prelude::*;

use super::*;
use crate::segment::SegmentKind;

const KIND: SegmentKind = SegmentKind(*b"COLS");

/// A column of these words, each with its hash and, of some, a second way of writing; the first are samples.
struct Made {
    hashes: Vec<u64>,
    variants: Vec<u32>,
    samples: Vec<(u64, String)>,
}

fn made(words: &[u32], sampled: usize, strange: bool) -> Made {
    let mut values: Vec<(u64, u32, String)> = Vec::new();
    for word in words {
        let hash = raw_hash(&format!("normal {word}")).max(1);
        for text in [format!("word {word}"), format!("Word {word}")].into_iter().take(1 + usize::from(word % 5 == 0)) {
            values.push((hash, raw_hash(&text) as u32, text));
        }
    }
    values.sort_unstable();
    values.dedup();
    let mut samples: Vec<(u64, String)> = values.iter().map(|(hash, _, text)| (*hash, text.clone())).collect();
    samples.dedup_by_key(|(hash, _)| *hash);
    samples.truncate(sampled);
    if strange && let Some((_, text)) = samples.last_mut() {
        text.push_str(" cut");
    }
    let (hashes, variants) = values.iter().map(|(hash, variant, _)| (*hash, *variant)).unzip();
    Made { hashes, variants, samples }
}

fn stored(columns: &[Made]) -> (Vec<Place>, Pages, u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("columns.seg");
    let samples: Vec<Vec<u8>> = columns
        .iter()
        .map(|column| {
            let mut bytes = Vec::new();
            push_samples(&mut bytes, column.samples.iter().map(|(hash, text)| (*hash, text.as_str())));
            bytes
        })
        .collect();
    let values: Vec<ColumnValues<'_>> = columns
        .iter()
        .zip(&samples)
        .map(|(column, samples)| ColumnValues { hashes: &column.hashes, variants: &column.variants, samples })
        .collect();
    let mut writer = SegmentWriter::create(&path, KIND, 1).unwrap();
    let places = write(&mut writer, &values).unwrap();
    let bytes = writer.finish().unwrap().bytes;
    (places, Pages::open(&SegmentFile::open(&path, KIND, 1).unwrap()).unwrap(), bytes)
}

fn check(columns: &[Made]) -> u64 {
    let (places, pages, bytes) = stored(columns);
    assert_eq!(places.len(), columns.len());
    for (column, place) in columns.iter().zip(places) {
        assert_eq!(&pages.hashes(place).unwrap()[..], column.hashes);
        assert_eq!(&pages.variants(place).unwrap()[..], column.variants);
        let samples: Vec<(u64, String)> =
            pages.samples(place).unwrap().into_iter().map(|(hash, text)| (hash, text.to_string())).collect();
        assert_eq!(samples, column.samples);
    }
    bytes
}

#[test]
fn values_that_columns_share_are_stored_once() {
    let alike: Vec<Made> =
        (0..400).map(|column| made(&(column % 7..column % 7 + 50).collect::<Vec<_>>(), 48, false)).collect();
    let differ: Vec<Made> =
        (0..400).map(|column| made(&(100 * column..100 * column + 50).collect::<Vec<_>>(), 48, false)).collect();
    let (alike, differ) = (check(&alike), check(&differ));
    assert!(8 * alike < differ, "{alike} bytes where {differ} are stored of columns that share nothing");
}

#[test]
fn more_values_than_a_page_has_and_columns_longer_than_any_list() {
    let words = |from: u32, count: u32| (from..from + count).collect::<Vec<_>>();
    let mut columns: Vec<Made> =
        (0..300).flat_map(|column| [1, 2].map(|_| made(&words(column * 1000, 800), 10, column % 3 == 0))).collect();
    columns.insert(5, made(&words(0, 5000), 48, false));
    columns.push(made(&[], 0, false));
    assert!(columns.iter().map(|column| column.hashes.len()).sum::<usize>() > 2 * PAGE_VALUES);
    check(&columns);
}

#[test]
fn values_in_another_order_keep_it() {
    let mut column = made(&(0..40).collect::<Vec<_>>(), 10, false);
    let twice = column.hashes.windows(2).position(|pair| pair[0] == pair[1]).unwrap();
    column.variants.swap(twice, twice + 1);
    check(&[column, made(&(0..40).collect::<Vec<_>>(), 10, false), made(&(0..40).collect::<Vec<_>>(), 10, false)]);
}

proptest! {
    #[test]
    fn columns_come_back(columns in prop::collection::vec((prop::collection::vec(0u32..40, 0..30), 0usize..20, any::<bool>()), 0..20)) {
        let columns: Vec<Made> = columns.iter().map(|(words, sampled, strange)| made(words, *sampled, *strange)).collect();
        check(&columns);
    }

    #[test]
    fn lists_that_lie_are_damage(bytes in prop::collection::vec(any::<u8>(), 0..40), at in 0u64..40) {
        let columns: Vec<Made> = (0..3).map(|_| made(&[1, 2, 3, 4, 5], 3, false)).collect();
        let (places, pages, _) = stored(&columns);
        for place in [Place { start: at, bytes: bytes.len() as u32 }, Place { start: u64::MAX, bytes: 9 }] {
            if !places.contains(&place) {
                let _ = (pages.hashes(place), pages.variants(place), pages.samples(place));
            }
        }
        let page = Page::default();
        if let Some(List { values: Values::Numbered(numbers), .. }) = Pages::taken_apart(&bytes, &page, &page) {
            prop_assert!(2 * numbers.len() < bytes.len());
        }
        prop_assert!(text_of(&bytes, &[at as u32, 3], at as usize).is_none_or(|text| text.len() < bytes.len()));
    }
}
