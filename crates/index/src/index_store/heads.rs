//! Headers, footers and small sections of all files of a manifest in one object: what opening them reads.
//!
//! A line of JSON lists the files; then, for each, its header, its footer, and of a large file the blocks with sections that are read on
//! opening. All have checksums of their own.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::manifest::{FileEntry, Manifest};
use super::super::segment::{HEADER_BYTES, footer_offset};
use super::super::structures::FORMATS;
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{AtomicFile, Purpose, make_folder};

/// The first line.
#[derive(Serialize, Deserialize)]
struct HeadList {
    /// Segment, file, and bytes of its footer; the header has always the same.
    files: Vec<(String, String, u64)>,
    /// For each file, where its blocks start and end.
    #[serde(default)]
    blocks: Vec<Vec<(u64, u64)>>,
}

/// The heads of all files of `manifest`, which are in `folder`.
pub(super) fn of(folder: &Path, manifest: &Manifest) -> Result<Vec<u8>> {
    let (mut list, mut parts) = (HeadList { files: Vec::new(), blocks: Vec::new() }, Vec::new());
    for segment in &manifest.segments {
        for file in &segment.files {
            let place = Manifest::segment_folder(folder, &segment.name);
            let path = place.join(&file.name);
            let head = head_of(&path).map_err(|error| Error::io("read", &path, error))?;
            let footer_bytes = (head.len() - HEADER_BYTES) as u64;
            list.files.push((segment.name.clone(), file.name.clone(), footer_bytes));
            parts.push(head);
            let mut blocks = Vec::new();
            if let Some(format) = FORMATS.iter().find(|format| format.name == file.name) {
                for (bytes, block) in format.open(&place)?.opening_blocks()? {
                    blocks.push((bytes.start as u64, bytes.end as u64));
                    parts.push(block.to_vec());
                }
            }
            list.blocks.push(blocks);
        }
    }
    let mut heads = serde_json::to_vec(&list).map_err(|error| Error::Internal(error.to_string()))?;
    heads.push(b'\n');
    Ok([heads, parts.concat()].concat())
}

/// Makes the files that are `absent` from `folder`, by segment and name, each with its head and holes.
pub(super) fn place(
    folder: &Path,
    heads: &[u8],
    mut absent: HashMap<(String, String), &FileEntry>,
    with_blocks: bool,
    damaged: &dyn Fn(String) -> Error,
) -> Result<()> {
    let line = heads.iter().position(|byte| *byte == b'\n').unwrap_or(heads.len());
    let list: HeadList = serde_json::from_slice(&heads[..line]).map_err(|error| damaged(error.to_string()))?;
    let too_short = || damaged("it is too short".into());
    let mut rest = heads.get(line + 1..).unwrap_or_default();
    let mut next = |bytes: Option<u64>| {
        let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let (part, after) = bytes.and_then(|bytes| rest.split_at_checked(bytes)).ok_or_else(too_short)?;
        rest = after;
        Ok::<_, Error>(part)
    };
    for (number, (segment, file, footer_bytes)) in list.files.iter().enumerate() {
        let head = next(footer_bytes.checked_add(HEADER_BYTES as u64))?;
        let blocks = list.blocks.get(number).map_or(&[][..], Vec::as_slice);
        let blocks = blocks.iter().map(|(start, end)| Ok((*start, next(end.checked_sub(*start))?)));
        let blocks = blocks.collect::<Result<Vec<(u64, &[u8])>>>()?;
        let Some(entry) = absent.remove(&(segment.clone(), file.clone())) else { continue };
        let start = entry.bytes.checked_sub(*footer_bytes).filter(|start| *start >= HEADER_BYTES as u64);
        let start = start.ok_or_else(|| damaged(format!("`{segment}/{file}` is shorter than its footer")))?;
        if blocks.iter().any(|(at, block)| at.saturating_add(block.len() as u64) > start) {
            return Err(damaged(format!("`{segment}/{file}` has blocks outside of it")));
        }
        let folder = Manifest::segment_folder(folder, segment);
        make_folder(&folder)?;
        let path = folder.join(file);
        let sparse = AtomicFile::create(&path, Purpose::Cache)?;
        let mut out = sparse.handle()?;
        let blocks = blocks.into_iter().filter(|_| with_blocks);
        let parts = blocks.chain([(0, &head[..HEADER_BYTES]), (start, &head[HEADER_BYTES..])]);
        let written = out.set_len(entry.bytes).and_then(|()| {
            parts.into_iter().try_for_each(|(at, part)| {
                out.seek(SeekFrom::Start(at))?;
                out.write_all(part)
            })
        });
        written.map_err(|error| Error::io("write", &path, error))?;
        sparse.replace()?;
    }
    match absent.into_keys().next() {
        Some((segment, file)) => Err(damaged(format!("it has nothing of `{segment}/{file}`"))),
        None => Ok(()),
    }
}

/// Header and footer of a segment's file.
fn head_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut head = vec![0; HEADER_BYTES];
    file.read_exact(&mut head)?;
    let start = footer_offset(&mut file)?;
    file.seek(SeekFrom::Start(start))?;
    file.read_to_end(&mut head)?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::super::super::manifest::SegmentEntry;
    use super::super::super::segment::{SegmentFile, SegmentKind, SegmentWriter};
    use super::*;

    const KIND: SegmentKind = SegmentKind(*b"TEST");

    /// A folder with one file of two blocks, and its manifest.
    fn made(folder: &Path) -> Manifest {
        let place = Manifest::segment_folder(folder, "s");
        make_folder(&place).unwrap();
        let mut file = SegmentWriter::create(&place.join("t.seg"), KIND, 1).unwrap();
        file.section(*b"DATA", &[7; 100_000]).unwrap();
        let stats = file.finish().unwrap();
        let files =
            vec![FileEntry { name: "t.seg".into(), bytes: stats.bytes, checksum: format!("{:016x}", stats.checksum) }];
        let segment = r#"{"name": "s", "tables": 1, "columns": 1, "values": 1, "files": []}"#;
        let segment = SegmentEntry { files, ..serde_json::from_str(segment).unwrap() };
        Manifest { segments: vec![segment], ..Manifest::empty("lake".into(), "model".into()) }
    }

    fn placed(manifest: &Manifest, heads: &[u8]) -> Result<tempfile::TempDir> {
        let folder = tempfile::tempdir().unwrap();
        let file = &manifest.segments[0].files[0];
        let absent = HashMap::from([(("s".into(), "t.seg".into()), file)]);
        place(folder.path(), heads, absent, true, &|reason| Error::damaged(Path::new("heads"), reason))?;
        Ok(folder)
    }

    #[test]
    fn heads_open_a_file_whose_blocks_are_missing() {
        let from = tempfile::tempdir().unwrap();
        let manifest = made(from.path());
        let folder = placed(&manifest, &of(from.path(), &manifest).unwrap()).unwrap();
        let path = Manifest::segment_folder(folder.path(), "s").join("t.seg");
        let file = SegmentFile::open(&path, KIND, 1).unwrap();
        assert_eq!(format!("{:016x}", file.checksum()), manifest.segments[0].files[0].checksum);
        // There is no store here: a hole is damage, and no bytes.
        assert!(matches!(file.section(*b"DATA").unwrap().bytes(0..10), Err(Error::DamagedIndex { .. })));
        assert!(matches!(placed(&manifest, b"{\"files\": []}\n"), Err(Error::DamagedIndex { .. })));
    }

    #[test]
    fn heads_of_a_large_file_have_what_opening_reads() {
        let from = tempfile::tempdir().unwrap();
        let place_of = |folder: &Path| Manifest::segment_folder(folder, "s");
        make_folder(&place_of(from.path())).unwrap();
        let format = FORMATS.iter().find(|format| format.name == "tokens.seg").unwrap();
        let mut writer = format.create(&place_of(from.path())).unwrap();
        writer.section(*b"DATA", &vec![7; 5 << 20]).unwrap();
        writer.section(*b"HEAD", &[1, 2, 3]).unwrap();
        let segment = r#"{"name": "s", "tables": 1, "columns": 1, "values": 1, "files": []}"#;
        let files = vec![format.entry(writer.finish().unwrap())];
        let segment = SegmentEntry { files, ..serde_json::from_str(segment).unwrap() };
        let manifest = Manifest { segments: vec![segment], ..Manifest::empty("lake".into(), "model".into()) };
        let heads = of(from.path(), &manifest).unwrap();
        for with_blocks in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let absent = HashMap::from([(("s".into(), "tokens.seg".into()), &manifest.segments[0].files[0])]);
            place(folder.path(), &heads, absent, with_blocks, &|reason| Error::damaged(Path::new("heads"), reason))
                .unwrap();
            let file = format.open(&place_of(folder.path())).unwrap();
            let head = file.section(*b"HEAD").unwrap();
            assert_eq!(head.bytes(0..3).ok(), with_blocks.then_some(&[1, 2, 3][..]));
            assert!(file.section(*b"DATA").unwrap().bytes(0..1).is_err(), "there is no store here");
        }
    }

    proptest! {
        /// Whatever a store sends: an error, or a file that opens or is told to be damaged.
        #[test]
        fn changed_heads_are_told(at in 0.0..1.0f64, length in 0usize..60, bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let from = tempfile::tempdir().unwrap();
            let manifest = made(from.path());
            let mut heads = of(from.path(), &manifest).unwrap();
            let start = (at * heads.len() as f64) as usize;
            let end = heads.len().min(start + length);
            heads.splice(start..end, bytes);
            if let Ok(folder) = placed(&manifest, &heads) {
                let path = Manifest::segment_folder(folder.path(), "s").join("t.seg");
                prop_assert_eq!(fs::metadata(&path).unwrap().len(), manifest.segments[0].files[0].bytes);
                match SegmentFile::open(&path, KIND, 1) {
                    Ok(_) | Err(Error::DamagedIndex { .. } | Error::IndexVersion { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
}
