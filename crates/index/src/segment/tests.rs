//! Guarantees: written data is read back, whatever the section sizes; only finished segments appear under their names; another kind or
//! version is distinguished from damage; after any damage every access gives the correct bytes or `DamagedIndex`, and nothing panics.

use std::fs;
use std::os::unix::fs::FileExt;

use proptest::prelude::*;

use super::*;

const KIND: SegmentKind = SegmentKind(*b"TEST");

/// Sections whose tags begin with `p` and `f` are packed.
fn write(path: &Path, sections: &[(Tag, Vec<u8>)]) -> SegmentStats {
    let mut writer = SegmentWriter::create(path, KIND, 3).unwrap();
    for (tag, bytes) in sections {
        match tag[0] {
            b'p' => writer.packed_section(*tag, Packing::Small, bytes).unwrap(),
            b'f' => writer.packed_section(*tag, Packing::Fast, bytes).unwrap(),
            _ => writer.section(*tag, bytes).unwrap(),
        }
    }
    writer.finish().unwrap()
}

/// Pseudo-random bytes from a fixed seed.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    (0..len).map(|i| (xxh3_64(&[seed.to_le_bytes(), (i as u64).to_le_bytes()].concat()) & 0xff) as u8).collect()
}

/// Bytes that repeat, but for some noise.
fn repetitive(seed: u64, len: usize) -> Vec<u8> {
    let noise = noise(seed, 1000);
    (0..len).map(|i| if i % 100 < 90 { (i / 100 % 7) as u8 } else { noise[(i * 7) % 1000] }).collect()
}

fn sample() -> Vec<(Tag, Vec<u8>)> {
    vec![
        (*b"aaaa", noise(1, 70_000)),
        (*b"none", vec![]),
        (*b"bbbb", noise(2, 8 * 9_000)),
        (*b"tiny", noise(3, 5)),
        (*b"pack", repetitive(4, 50_001)),
        (*b"fast", [repetitive(5, 40_000), noise(6, 20_000)].concat()),
        (*b"pnon", vec![]),
        (*b"ftin", noise(7, 90)),
    ]
}

#[test]
fn sections_are_read_back_as_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seg");
    let stats = write(&path, &sample());
    let file = SegmentFile::open(&path, KIND, 3).unwrap();
    for (tag, bytes) in sample() {
        let section = file.section(tag).unwrap();
        assert_eq!(section.bytes(0..section.len()).unwrap(), bytes);
    }
    let words: &[u64] = bytemuck::cast_slice(&sample()[2].1).to_vec().leak();
    let section = file.section(*b"bbbb").unwrap();
    assert_eq!(section.all::<u64>().unwrap(), words);
    assert_eq!(section.slice::<u64>(10..20).unwrap(), &words[10..20]);
    file.verify().unwrap();
    assert_eq!(stats.bytes, fs::metadata(&path).unwrap().len());
    assert_eq!((stats.bytes, stats.checksum), (file.bytes(), file.checksum()));
}

#[test]
fn no_elements_of_a_packed_section_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seg");
    write(&path, &sample());
    let section = SegmentFile::open(&path, KIND, 3).unwrap().section(*b"fast").unwrap();
    for place in [0, 3] {
        assert!(section.slice::<u64>(place..place).unwrap().is_empty());
        section.bytes(0..10).unwrap();
    }
}

#[test]
fn pieces_make_one_section() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, pieces) = (folder.path().join("a"), folder.path().join("b"));
    let expected = write(&whole, &sample());
    let mut writer = SegmentWriter::create(&pieces, KIND, 3).unwrap();
    for (tag, bytes) in sample() {
        if let Some(packing) =
            [(b'p', Packing::Small), (b'f', Packing::Fast)].into_iter().find(|(mark, _)| tag[0] == *mark)
        {
            let mut section = writer.packed_section_writer(tag, packing.1).unwrap();
            bytes.chunks(777).for_each(|piece| section.write(piece).unwrap());
            section.finish().unwrap();
            continue;
        }
        let mut section = writer.section_writer(tag).unwrap();
        bytes.chunks(777).for_each(|piece| section.write(piece).unwrap());
        assert_eq!(section.bytes_written(), bytes.len() as u64);
    }
    assert_eq!(writer.finish().unwrap(), expected);
    assert_eq!(fs::read(whole).unwrap(), fs::read(pieces).unwrap());
}

#[test]
fn unfinished_segments_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seg");
    let mut writer = SegmentWriter::create(&path, KIND, 3).unwrap();
    writer.section(*b"aaaa", &[1; 100_000]).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_map_outlives_its_replacement_and_its_file_handle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seg");
    write(&path, &[(*b"aaaa", vec![1; 1000])]);
    let section = SegmentFile::open(&path, KIND, 3).unwrap().section(*b"aaaa").unwrap();
    write(&path, &[(*b"aaaa", vec![2; 1000])]);
    assert_eq!(section.bytes(0..3).unwrap(), [1, 1, 1]);
}

#[test]
fn kind_version_and_missing_parts_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seg");
    write(&path, &sample());
    let version = SegmentFile::open(&path, KIND, 4).unwrap_err();
    assert!(matches!(version, Error::IndexVersion { found: 3, expected: 4, .. }), "{version}");
    let kind = SegmentFile::open(&path, SegmentKind(*b"ELSE"), 3).unwrap_err();
    assert!(kind.to_string().contains("it holds `TEST`, not `ELSE`"), "{kind}");
    let file = SegmentFile::open(&path, KIND, 3).unwrap();
    assert!(file.find_section(*b"gone").is_none());
    assert!(file.section(*b"gone").unwrap_err().to_string().contains("section `gone` is missing"));
    let missing = SegmentFile::open(&folder.path().join("b"), KIND, 3).unwrap_err();
    assert!(matches!(missing, Error::DamagedIndex { .. }) && missing.to_string().contains("missing"), "{missing}");
    assert!(matches!(SegmentFile::open(folder.path(), KIND, 3), Err(Error::Io { .. } | Error::DamagedIndex { .. })));
}

#[test]
fn ranges_past_the_section_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seg");
    write(&path, &sample());
    let section = SegmentFile::open(&path, KIND, 3).unwrap().section(*b"tiny").unwrap();
    assert_eq!(section.bytes(5..5).unwrap(), b"");
    assert!(section.bytes(0..6).is_err());
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = section.bytes(3..2);
    assert!(reversed.is_err());
    assert!(section.slice::<u64>(0..1).is_err());
    assert!(section.slice::<u64>(0..usize::MAX).is_err());
    assert!(section.all::<u32>().is_err());
}

#[test]
fn what_repeats_takes_less_when_it_is_packed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seg");
    let bytes = [*b"aaaa", *b"pack", *b"fast"].map(|tag| write(&path, &[(tag, repetitive(1, 500_000))]).bytes);
    assert!(bytes[1] < bytes[2] && bytes[2] < bytes[0] / 4, "{bytes:?}");
    let noise = [*b"aaaa", *b"pack", *b"fast"].map(|tag| write(&path, &[(tag, noise(1, 100_000))]).bytes);
    assert!(noise[1] < noise[0] + 300 && noise[2] < noise[0] + 300, "{noise:?}");
}

/// A file whose checksums are right, and whose packed section is not.
#[test]
fn a_packed_section_that_someone_made_up_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seg");
    let fast = 1 << 31;
    // The bytes of the blocks, where they end, and what is said of the last one.
    let made_up: [(&[u8], &[u64], u32); 9] = [
        (b"no block of zstd", &[16], 100),
        (b"no block of LZ4", &[15], fast | 100),
        (b"", &[0], 100),
        (b"", &[0], fast | 100),
        (b"ends behind", &[100], 11),
        (b"ends before it begins", &[21, 3], 10),
        (b"too many", &[8], 16_385),
        (b"none", &[4], fast),
        (b"no ends", &[], 7),
    ];
    for (blocks, ends, last) in made_up {
        let mut writer = SegmentWriter::create(&path, KIND, 3).unwrap();
        writer.section(*b"pack", blocks).unwrap();
        writer.end_packed_section(*b"pack", last, ends).unwrap();
        writer.finish().unwrap();
        let read = || {
            let section = SegmentFile::open(&path, KIND, 3)?.section(*b"pack")?;
            section.bytes(0..section.len()).map(<[u8]>::to_vec)
        };
        let error = read().unwrap_err();
        assert!(matches!(error, Error::DamagedIndex { .. }) && error.to_string().contains("`pack`"), "{error}");
    }
}

#[test]
fn a_section_written_twice_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = SegmentWriter::create(&folder.path().join("a"), KIND, 3).unwrap();
    writer.section(*b"aaaa", b"1").unwrap();
    assert!(writer.section(*b"aaaa", b"2").is_err());
}

/// Reads everything in `steps` pieces per section; `Ok` only if every byte was correct.
fn read_all(path: &Path, expected: &[(Tag, Vec<u8>)], steps: usize) -> Result<()> {
    let file = SegmentFile::open(path, KIND, 3)?;
    let mut outcome = Ok(());
    for (tag, bytes) in expected {
        let section = file.section(*tag)?;
        assert_eq!(section.len(), bytes.len());
        let step = (bytes.len() / steps).max(1);
        for start in (0..bytes.len()).step_by(step) {
            let end = (start + step).min(bytes.len());
            match section.bytes(start..end) {
                Ok(found) => assert_eq!(found, &bytes[start..end], "wrong bytes given as right ones"),
                Err(error) => outcome = Err(error),
            }
        }
    }
    outcome
}

#[test]
fn damage_is_reported_and_never_read() {
    const TRIALS: u64 = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seg");
    write(&path, &sample());
    let good = fs::read(&path).unwrap();
    let file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut reported = 0;
    for trial in 0..TRIALS {
        let random = |what: u64, below: usize| {
            (xxh3_64(&[trial.to_le_bytes(), what.to_le_bytes()].concat()) % below as u64) as usize
        };
        // Half of the trials hit the header, the footer and the tail, which are a small part of the file.
        let near_edge = random(0, 2) == 0;
        let at = match (near_edge, random(1, 3)) {
            (true, 0) => random(2, HEADER_BYTES),
            (true, _) => good.len() - 1 - random(2, 200),
            (false, _) => random(2, good.len()),
        };
        let truncated = random(3, 10) == 0;
        if truncated {
            file.set_len(at as u64).unwrap();
        } else {
            file.write_all_at(&[good[at] ^ (1 << random(4, 8))], at as u64).unwrap();
        }
        match read_all(&path, sample_cached(), 1 + random(5, 40)) {
            // The damage was in no byte that is read: zeros between sections of an otherwise unread block cannot be, since every block
            // contains section bytes, so an undamaged read after damage means the damage was not made.
            Ok(()) => panic!("damage at {at} (truncated: {truncated}) went unnoticed"),
            Err(Error::DamagedIndex { .. }) => reported += 1,
            Err(other) => panic!("damage at {at} reported as {other:?}"),
        }
        let whole = SegmentFile::open(&path, KIND, 3).and_then(|file| file.verify());
        assert!(whole.is_err(), "verify missed the damage at {at}");
        file.set_len(good.len() as u64).unwrap();
        file.write_all_at(if truncated { &good[at..] } else { &good[at..=at] }, at as u64).unwrap();
    }
    assert_eq!(reported, TRIALS);
    read_all(&path, &sample(), 3).unwrap();
}

fn sample_cached() -> &'static [(Tag, Vec<u8>)] {
    static SAMPLE: std::sync::OnceLock<Vec<(Tag, Vec<u8>)>> = std::sync::OnceLock::new();
    SAMPLE.get_or_init(sample)
}

#[test]
fn undamaged_blocks_of_a_damaged_file_stay_readable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seg");
    write(&path, &[(*b"aaaa", noise(1, 4 * BLOCK_BYTES))]);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[0xAA, 0x55, 0xAA], 2 * BLOCK_BYTES as u64 + 17).unwrap();
    let section = SegmentFile::open(&path, KIND, 3).unwrap().section(*b"aaaa").unwrap();
    assert!(section.bytes(0..BLOCK_BYTES).is_ok());
    let error = section.bytes(BLOCK_BYTES..3 * BLOCK_BYTES).unwrap_err();
    assert!(error.to_string().contains("section `aaaa` fails its checksum in bytes 131072..196608"), "{error}");
    assert!(section.bytes(3 * BLOCK_BYTES..4 * BLOCK_BYTES).is_ok());
}

#[test]
fn threads_share_a_segment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seg");
    for (tag, bytes) in [(*b"aaaa", noise(1, 40 * BLOCK_BYTES)), (*b"pack", repetitive(1, 40 * BLOCK_BYTES))] {
        write(&path, &[(tag, bytes.clone())]);
        let file = SegmentFile::open(&path, KIND, 3).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (file, bytes) = (file.clone(), &bytes);
                scope.spawn(move || {
                    let section = file.section(tag).unwrap();
                    for start in (thread * 100..bytes.len() - 1000).step_by(5_000) {
                        assert_eq!(section.bytes(start..start + 1000).unwrap(), &bytes[start..start + 1000]);
                    }
                });
            }
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_sections_come_back(lengths in prop::collection::vec(0usize..150_000, 0..6)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.seg");
        let sections: Vec<(Tag, Vec<u8>)> =
            lengths.iter().enumerate().map(|(i, len)| ([b"spf"[i % 3], b'0' + i as u8, 0, 0xFF], noise(i as u64, *len))).collect();
        write(&path, &sections);
        read_all(&path, &sections, 3).unwrap();
    }
}
