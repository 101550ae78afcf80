//! One table or record of the lake, from its file to a [`TableDraft`]; and the file of records.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::catalog::FileStamp;
use super::super::manifest::{Manifest, SkippedFile};
use super::super::plan::{Read, settled_time};
use super::super::table_draft::TableDraft;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Monitor;
use lakeward_lake::catalog::{TableEntry, own_citation};
use lakeward_lake::metadata::{self, CatalogueRecord, Records, TableMetadata};
use lakeward_lake::profile;
use lakeward_lake::reader::{self, ReadOptions, ReadReport};
use lakeward_lake::scan::{self, Scan};
use lakeward_lake::source::{ContentHash, LakeListing};
use lakeward_models::embed::Embedder;

/// What became of one file.
pub(super) type FileResult = std::result::Result<Box<TableDraft>, SkippedFile>;

/// The records of the file named, else of those that `manifest` remembers, else of a lake that holds nothing else; the files are
/// remembered from now on, and are no tables.
pub(super) fn read_records(
    lake: &Path,
    manifest: &mut Manifest,
    named: Option<&Path>,
    listing: &mut LakeListing,
) -> Result<Records> {
    let paths: Vec<PathBuf> = match named {
        Some(path) => vec![path.to_path_buf()],
        None if manifest.records.is_empty() => {
            metadata::catalogues_alone(lake, listing).iter().map(|name| lake.join(name)).collect()
        }
        None => manifest.records.iter().map(|remembered| lake.join(remembered)).collect(),
    };
    let real_lake = fs::canonicalize(lake).map_err(|source| Error::io("list", lake, source))?;
    let mut records = Records::default();
    manifest.records.clear();
    for path in paths {
        let real = fs::canonicalize(&path).map_err(|source| Error::io("read", &path, source))?;
        let name = real.strip_prefix(&real_lake).unwrap_or(&real).to_string_lossy().replace('\\', "/");
        let read = Records::read(&real, &name)?;
        let is_records = |path: &Path| fs::canonicalize(path).is_ok_and(|path| path == real);
        listing.files.retain(|file| !is_records(&file.path));
        listing.sidecars.retain(|path| !is_records(path) || metadata::describes_files(path));
        listing.problems.extend(read.problems.iter().map(|problem| (real.clone(), problem.clone())));
        records.append(read);
        manifest.records.push(name);
    }
    let names = listing.files.iter().filter_map(|file| file.relative.rsplit('/').next()).map(str::to_lowercase);
    records.without_files_in(&names.collect());
    Ok(records)
}

pub(super) fn read_table(
    read: &Read<'_>,
    options: &ReadOptions,
    lake_name: &str,
    embedder: &dyn Embedder,
    monitor: &dyn Monitor,
) -> FileResult {
    let result = match read.record {
        Some(record) => draft_record(read, record, lake_name, embedder),
        None => draft_table(read, options, lake_name, embedder),
    };
    monitor.advance(read.file.read_bytes);
    result.map_err(|error| {
        // What the operating system refuses today it may grant tomorrow, whatever the file's time says: tried each time.
        let (reason, modified_ns) = match error {
            Error::Unreadable { reason, .. } => (reason, read.file.modified_ns),
            Error::Io { source, .. } => (source.to_string(), 0),
            other => (other.to_string(), read.file.modified_ns),
        };
        SkippedFile { path: read.file.relative.clone(), reason, read_bytes: read.file.read_bytes, modified_ns }
    })
}

fn draft_table(
    read: &Read<'_>,
    options: &ReadOptions,
    lake_name: &str,
    embedder: &dyn Embedder,
) -> Result<Box<TableDraft>> {
    // Before the content is looked at: what changes from here on is noticed by the next update. What is scanned is hashed in
    // the same reading, or before it, so that a file changed meanwhile never has the hash of what was not scanned.
    let settled_time = settled_time(read.file);
    let (mut reader, content) = reader::open_hashed(read.file, options)?;
    let scan = scan::scan(reader.as_mut())?;
    let content = content.finish(reader)?;
    let metadata = read.metadata.as_deref().cloned();
    let (entry, stamp) = described(read, metadata, &scan, content, settled_time, lake_name);
    Ok(Box::new(TableDraft::new(entry, &stamp, &scan.sketches, embedder)?))
}

/// A record of a catalogue: an entry without rows and columns.
fn draft_record(
    read: &Read<'_>,
    record: &CatalogueRecord,
    lake_name: &str,
    embedder: &dyn Embedder,
) -> Result<Box<TableDraft>> {
    let scan = Scan { names: Vec::new(), sketches: Vec::new(), report: ReadReport::default() };
    let (entry, stamp) = described(read, Some(record.metadata()?), &scan, record.content, 0, lake_name);
    Ok(Box::new(TableDraft::new(entry, &stamp, &[], embedder)?))
}

/// What the catalogue says of a table or record, and by what it is known again.
fn described(
    read: &Read<'_>,
    metadata: Option<TableMetadata>,
    scan: &Scan,
    content: ContentHash,
    modified_ns: u64,
    lake_name: &str,
) -> (TableEntry, FileStamp) {
    let published = metadata.as_ref().and_then(|metadata| metadata.identifier.clone());
    let entry = TableEntry {
        id: read.id.clone(),
        path: read.file.relative.clone(),
        read_bytes: read.file.read_bytes,
        citation: published.unwrap_or_else(|| own_citation(lake_name, &read.id, &content)),
        metadata,
        record: read.record.is_some(),
        report: scan.report.clone(),
        profile: profile::profile(scan),
        content,
    };
    let stamp = FileStamp {
        path: read.file.relative.clone(),
        read_bytes: read.file.read_bytes,
        modified_ns,
        content: *content.as_bytes(),
        metadata_hash: read.metadata_hash,
        sample_rows: scan.report.sample.map_or(0, |sample| u32::try_from(sample.rows).unwrap_or(u32::MAX)),
    };
    (entry, stamp)
}
