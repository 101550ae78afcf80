//! Reads the texts of tables and records that were written without: the second half of a large build.
//!
//! Reading a text as a whole takes a hundredth of a second, so a build of many tables commits them first, [without](super::build::WithoutTexts) vectors of
//! what they are about; words and static vectors answer from then on. Then each segment gets its [`meanings`], and is committed
//! with them. Vectors are kept in files of [`PART_TABLES`] tables beside the segment's, written atomically and checked like all others, until the
//! whole is there: a run that is stopped or killed loses one part at the most, and the next goes on after the last.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::build::{BuildStep, Commits};
use super::manifest::{FileEntry, Manifest, SegmentEntry};
use super::meanings;
use super::segment::{SegmentFile, SegmentWriter};
use super::structure::{SegmentFiles, Structure};
use super::table_store::TableStore;
use super::vectors::{BinaryChoice, VectorSet, VectorSetBuilder};
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::{Monitor, Total};
use lakeward_models::embed::Embedder;

/// Tables of one part: some seconds of work.
const PART_TABLES: usize = 256;

/// Whether a segment has no vectors of what its tables are about.
pub(super) fn are_missing(segment: &SegmentEntry) -> bool {
    !segment.files.iter().any(|file| file.name == meanings::FORMAT.name)
}

/// Number of live tables in segments without such vectors.
pub(super) fn count(manifest: &Manifest) -> u64 {
    let live = |segment: &SegmentEntry| u64::from(segment.tables) - segment.removed.len() as u64;
    manifest.segments.iter().filter(|segment| are_missing(segment)).map(live).sum()
}

/// Reads the texts of all segments that have none yet with `encoder`; each is a commit. Returns early if stopped.
///
/// # Errors
/// [`Error::DamagedIndex`] if a catalogue is damaged, [`Error::Io`] if writing fails.
pub(super) fn read(commits: &Commits<'_>, manifest: &mut Manifest, encoder: &dyn Embedder) -> Result<()> {
    let (folder, monitor) = (commits.folder, commits.monitor);
    let unread = |manifest: &Manifest| manifest.segments.iter().find(|segment| are_missing(segment)).cloned();
    if unread(manifest).is_none() || monitor.is_stopped() {
        return Ok(());
    }
    let tables =
        manifest.segments.iter().filter(|segment| are_missing(segment)).map(|segment| u64::from(segment.tables));
    monitor.begin("reading texts", Total::Steps(tables.sum()));
    while let Some(segment) = unread(manifest) {
        let parts = parts_of(folder, &segment);
        for part in &parts {
            if part.stored(encoder.dims()).is_none() && !part.read(folder, &segment, encoder, monitor)? {
                return Ok(());
            }
            monitor.advance(part.tables.len() as u64);
        }
        let entry = joined(folder, &segment, &parts, encoder.dims())?;
        monitor.note(&BuildStep::Written(meanings::FORMAT.name).to_string());
        commits.commit(manifest, |manifest| {
            // Another writer may have merged the segment, or read its texts, meanwhile.
            let same = manifest.segments.iter_mut().find(|found| found.name == segment.name && are_missing(found));
            Ok(same.map(|same| same.files.push(entry.clone())).is_some())
        })?;
        parts.iter().for_each(|part| _ = fs::remove_file(&part.path));
    }
    Ok(())
}

/// Some consecutive tables of a segment, whose vectors are in a file of their own until all are read.
struct Part {
    path: PathBuf,
    tables: std::ops::Range<u32>,
}

fn parts_of(folder: &Path, segment: &SegmentEntry) -> Vec<Part> {
    let place = Manifest::segment_folder(folder, &segment.name);
    let starts = (0..segment.tables).step_by(PART_TABLES).enumerate();
    let part = |(number, start): (usize, u32)| Part {
        path: place.join(format!("{}.part-{number:05}", meanings::FORMAT.name)),
        tables: start..segment.tables.min(start + PART_TABLES as u32),
    };
    starts.map(part).collect()
}

impl Part {
    /// Its vectors, if an earlier run wrote them.
    fn stored(&self, dims: usize) -> Option<VectorSet> {
        if !self.path.exists() {
            return None;
        }
        let file = SegmentFile::open(&self.path, meanings::FORMAT.kind, meanings::FORMAT.version).ok()?;
        file.verify().ok()?;
        let vectors = VectorSet::open(&file, meanings::MEANINGS).ok()?;
        (vectors.dims() == dims && vectors.len() == self.tables.len()).then_some(vectors)
    }

    /// Reads its texts on all cores and writes their vectors; `false` if stopped before the end.
    fn read(
        &self,
        folder: &Path,
        segment: &SegmentEntry,
        encoder: &dyn Embedder,
        monitor: &dyn Monitor,
    ) -> Result<bool> {
        let tables = TableStore::open(&SegmentFiles::of(folder, segment))?;
        let vector = |table: u32| {
            if monitor.is_stopped() {
                return Ok(None);
            }
            // A table that is gone is never looked at again.
            let gone = segment.removed.binary_search(&table).is_ok();
            let nothing = || Ok(vec![0.0; encoder.dims()]);
            let read = || tables.dataset(table).map(|dataset| meanings::meaning(encoder, &dataset));
            if gone { nothing() } else { read() }.map(Some)
        };
        let vectors: Vec<Option<Vec<f32>>> = self.tables.clone().into_par_iter().map(vector).collect::<Result<_>>()?;
        let mut set = VectorSetBuilder::new(encoder.dims())?;
        for vector in vectors {
            let Some(vector) = vector else { return Ok(false) };
            set.push(&vector)?;
        }
        let mut file = SegmentWriter::create(&self.path, meanings::FORMAT.kind, meanings::FORMAT.version)?;
        set.write(&mut file, meanings::MEANINGS, BinaryChoice::Never)?;
        file.finish()?;
        monitor.note(&BuildStep::TextsRead.to_string());
        Ok(true)
    }
}

/// Writes the vectors of all parts as the segment's file.
fn joined(folder: &Path, segment: &SegmentEntry, parts: &[Part], dims: usize) -> Result<FileEntry> {
    let mut set = VectorSetBuilder::new(dims)?;
    for part in parts {
        let stored = part.stored(dims).ok_or_else(|| Error::damaged(&part.path, "it was just written"))?;
        for row in 0..stored.len() as u32 {
            set.push_stored(&stored, row)?;
        }
    }
    let mut file = meanings::FORMAT.create(&Manifest::segment_folder(folder, &segment.name))?;
    set.write(&mut file, meanings::MEANINGS, BinaryChoice::Auto)?;
    Ok(meanings::FORMAT.entry(file.finish()?))
}
