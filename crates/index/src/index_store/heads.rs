//! Headers and footers of all files of a manifest in one object: what opening them reads.
//!
//! A line of JSON lists the files; then, for each, its header and its footer. Both have checksums of their own.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::manifest::{FileEntry, Manifest};
use super::super::segment::{HEADER_BYTES, footer_offset};
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{AtomicFile, Purpose, make_folder};

/// The first line.
#[derive(Serialize, Deserialize)]
struct HeadList {
    /// Segment, file, and bytes of its footer; the header has always the same.
    files: Vec<(String, String, u64)>,
}

/// The heads of all files of `manifest`, which are in `folder`.
pub(super) fn of(folder: &Path, manifest: &Manifest) -> Result<Vec<u8>> {
    let (mut files, mut parts) = (Vec::new(), Vec::new());
    for segment in &manifest.segments {
        for file in &segment.files {
            let path = Manifest::segment_folder(folder, &segment.name).join(&file.name);
            let head = head_of(&path).map_err(|error| Error::io("read", &path, error))?;
            let footer_bytes = (head.len() - HEADER_BYTES) as u64;
            files.push((segment.name.clone(), file.name.clone(), footer_bytes));
            parts.push(head);
        }
    }
    let mut heads = serde_json::to_vec(&HeadList { files }).map_err(|error| Error::Internal(error.to_string()))?;
    heads.push(b'\n');
    Ok([heads, parts.concat()].concat())
}

/// Makes the files that are `absent` from `folder`, by segment and name, each with its head and holes.
pub(super) fn place(
    folder: &Path,
    heads: &[u8],
    mut absent: HashMap<(String, String), &FileEntry>,
    damaged: &dyn Fn(String) -> Error,
) -> Result<()> {
    let line = heads.iter().position(|byte| *byte == b'\n').unwrap_or(heads.len());
    let list: HeadList = serde_json::from_slice(&heads[..line]).map_err(|error| damaged(error.to_string()))?;
    let mut rest = heads.get(line + 1..).unwrap_or_default();
    for (segment, file, footer_bytes) in &list.files {
        let bytes = usize::try_from(*footer_bytes).ok().and_then(|bytes| bytes.checked_add(HEADER_BYTES));
        let head = bytes.and_then(|bytes| rest.split_at_checked(bytes));
        let (head, after) = head.ok_or_else(|| damaged("it is too short".into()))?;
        rest = after;
        let Some(entry) = absent.remove(&(segment.clone(), file.clone())) else { continue };
        let start = entry.bytes.checked_sub(*footer_bytes).filter(|start| *start >= HEADER_BYTES as u64);
        let start = start.ok_or_else(|| damaged(format!("`{segment}/{file}` is shorter than its footer")))?;
        let folder = Manifest::segment_folder(folder, segment);
        make_folder(&folder)?;
        let path = folder.join(file);
        let sparse = AtomicFile::create(&path, Purpose::Cache)?;
        let mut out = sparse.handle()?;
        let written = out
            .set_len(entry.bytes)
            .and_then(|()| out.write_all(&head[..HEADER_BYTES]))
            .and_then(|()| out.seek(SeekFrom::Start(start)))
            .and_then(|_| out.write_all(&head[HEADER_BYTES..]));
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
        place(folder.path(), heads, absent, &|reason| Error::damaged(Path::new("heads"), reason))?;
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
