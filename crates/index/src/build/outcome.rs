//! What the attempts of a build have read and written: tables are read on all cores while one thread writes segments.

use std::path::PathBuf;
use std::sync::mpsc;

use rayon::prelude::*;

use super::commit::{Commits, Work};
use super::reading::{FileResult, ReadWith, read_dataset};
use super::{CHECKPOINTS, Reading, is_full};
use crate::manifest::{PartialFile, SegmentEntry};
use crate::plan::Read;
use crate::segment_builder::SegmentBuilder;
use crate::structure::VectorShape;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Total;
use lakeward_lake::checkpoint::Checkpoints;
use lakeward_lake::reader::{ReadOptions, Repair, RepairKind};
use lakeward_models::embed::EmbedderExt;

/// Maximum files passed to the reading threads at once.
const CHUNK_FILES: usize = 128;
/// … and their maximum total size, so that few large tables are in memory together.
const CHUNK_BYTES: u64 = 256 << 20;

#[derive(Default)]
pub(super) struct Outcome {
    pub sampled: u64,
    pub rows: u64,
    pub read_bytes: u64,
    pub repaired: Vec<(String, Vec<Repair>)>,
    pub problems: Vec<(PathBuf, String)>,
    pub work: Work,
}

/// Reads on all cores while one thread writes segments, which come after those of the manifest. If interrupted, it writes what was read.
pub(super) fn read_and_write(reading: &Reading<'_>, commits: &Commits<'_>, outcome: &mut Outcome) -> Result<()> {
    let Reading { unread: reads, manifest, sample_rows, embedder, scanned } = *reading;
    let (monitor, generation) = (commits.monitor, manifest.generation + 1);
    let bytes = reads.iter().map(|read| read.read_bytes()).sum();
    monitor.begin("reading", Total::Files { files: reads.len() as u64, bytes });
    let lake_name = manifest.lake.as_str();
    let with = ReadWith {
        options: ReadOptions { max_rows: sample_rows, ..ReadOptions::default() },
        lake_name,
        embedder,
        // Who reads a shard has nothing of an earlier build.
        checkpoints: (!commits.are_only_merged).then(|| Checkpoints::new(&commits.folder.join(CHECKPOINTS))),
        scanned,
    };
    // Those that an earlier attempt has written keep their names.
    let first = outcome.work.segments.len();
    let segments = std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel::<Vec<FileResult>>(1);
        let shape = VectorShape::of(embedder);
        let name = move |number: usize| commits.segment_name(generation, first + number);
        let writer = scope.spawn(move || write_segments(receiver, commits, name, shape));
        for chunk in chunks(reads) {
            if monitor.is_stopped() || embedder.failure().is_some() {
                break;
            }
            let results: Vec<FileResult> = chunk.par_iter().map(|read| read_dataset(read, &with, monitor)).collect();
            for (read, result) in chunk.iter().zip(&results) {
                note(outcome, read, result);
            }
            outcome.work.note(chunk);
            if sender.send(results).is_err() {
                // The writer has failed; joining it returns its error.
                break;
            }
        }
        drop(sender);
        monitor.begin("writing the index", Total::Unknown);
        writer.join().map_err(|_| Error::Internal("the index writer panicked".into()))?
    })?;
    outcome.work.segments.extend(segments);
    Ok(())
}

pub(super) fn note(outcome: &mut Outcome, read: &Read<'_>, result: &FileResult) {
    match result {
        Ok(draft) => {
            outcome.rows += draft.rows;
            outcome.read_bytes += read.read_bytes().saturating_sub(draft.unread_bytes);
            let report = &draft.report;
            outcome.sampled += u64::from(report.sample.is_some());
            let is_not_row_limit = |repair: &&Repair| repair.kind != RepairKind::RowLimit;
            if report.lost_rows() {
                let lost = report.repairs.iter().filter(is_not_row_limit).filter(|repair| repair.kind.loses_rows());
                let lost = lost.map(ToString::to_string);
                let reason = lost.collect::<Vec<_>>().join("; ");
                outcome.work.partial.push(PartialFile { path: read.origin().to_string(), reason });
            }
            let path = PathBuf::from(read.origin().to_string());
            outcome.problems.extend(draft.problems.iter().map(|problem| (path.clone(), problem.clone())));
            let repairs: Vec<Repair> = report.repairs.iter().filter(is_not_row_limit).cloned().collect();
            if !repairs.is_empty() {
                outcome.repaired.push((read.origin().to_string(), repairs));
            }
        }
        Err(skipped) => {
            outcome.work.skipped.push(skipped.clone());
        }
    }
}

/// Consecutive reads of at most [`CHUNK_FILES`] files and about [`CHUNK_BYTES`] bytes.
fn chunks<'a, 'b>(reads: &'a [&'b Read<'b>]) -> Vec<&'a [&'b Read<'b>]> {
    let mut chunks = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (place, read) in reads.iter().enumerate() {
        if place > start && (place - start >= CHUNK_FILES || bytes + read.read_bytes() > CHUNK_BYTES) {
            chunks.push(&reads[start..place]);
            (start, bytes) = (place, 0);
        }
        bytes += read.read_bytes();
    }
    if start < reads.len() {
        chunks.push(&reads[start..]);
    }
    chunks
}

fn write_segments(
    receiver: mpsc::Receiver<Vec<FileResult>>,
    commits: &Commits<'_>,
    name: impl Fn(usize) -> String,
    shape: VectorShape,
) -> Result<Vec<SegmentEntry>> {
    let mut segments = Vec::new();
    let mut open: Option<SegmentBuilder> = None;
    for results in receiver {
        for draft in results.into_iter().flatten() {
            let builder = match &mut open {
                Some(builder) => builder,
                None => open.insert(SegmentBuilder::create(commits.folder, &name(segments.len()), shape)?),
            };
            builder.push(&draft)?;
            if is_full(builder.values(), builder.tables())
                && let Some(full) = open.take()
            {
                segments.push(full.finish(commits.are_only_merged, commits.monitor)?);
            }
        }
    }
    if let Some(last) = open {
        segments.push(last.finish(commits.are_only_merged, commits.monitor)?);
    }
    Ok(segments)
}
