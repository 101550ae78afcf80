//! Reads one table or record of the lake into a [`TableDraft`], and reads the record files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::correlations::MOST_KEYS;
use super::super::manifest::{Manifest, SkippedFile};
use super::super::plan::{Read, Source};
use super::super::table_draft::TableDraft;
use super::super::table_store::FileStamp;
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_core::monitor::{Monitor, Total};
use lakeward_lake::checkpoint::{self, Checkpoints, ScanOptions};
use lakeward_lake::dataset::{Dataset, RecordEntry, TableEntry, own_citation};
use lakeward_lake::key_sample;
use lakeward_lake::location;
use lakeward_lake::metadata::{self, CatalogueRecord, Records, TableMetadata};
use lakeward_lake::profile;
use lakeward_lake::reader::ReadOptions;
use lakeward_lake::scan::{ColumnPart, Scan};
use lakeward_lake::scanned_part::ScannedPart;
use lakeward_lake::source::{self, ContentHash, LakeFile, LakeListing};
use lakeward_lake::storage;
use lakeward_models::embed::Embedder;
use lakeward_sketch::Writing;
use rayon::prelude::*;

/// That there is no `what` of this name, with the nearest of `names`.
pub(super) fn no_such<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let nearest: Vec<String> = nearest_names(name, names, 3).iter().map(|name| format!("`{name}`")).collect();
    let nearest = if nearest.is_empty() { String::new() } else { format!("; the nearest: {}", nearest.join(", ")) };
    format!("`[[cells]]` is set for the {what} `{name}`, which is not there{nearest}")
}

/// The outcome of one file.
pub(super) type FileResult = std::result::Result<Box<TableDraft>, SkippedFile>;

/// Reads the records of the given file or folder, otherwise of the files of records in the lake and of those stored in `manifest`. The
/// files are stored in `manifest` and are not tables, nor is a file that `is_table` one of records.
pub(super) fn read_records(
    lake: &Path,
    manifest: &mut Manifest,
    named: Option<&Path>,
    listing: &mut LakeListing,
    is_table: &(dyn Fn(&LakeFile) -> bool + Sync),
) -> Result<Records> {
    let before = std::mem::take(&mut manifest.records);
    let paths: Vec<PathBuf> = match named {
        // A folder of catalogues, such as that of a harvest.
        Some(folder) if storage::is_dir(folder) => {
            let files = source::list_files(folder)?;
            let names = metadata::record_files(folder, &files, &|_| false);
            if names.is_empty() {
                return Err(Error::usage(format!("the folder `{}` has no catalogue", folder.display())));
            }
            listing.problems.extend(metadata::unread_catalogues(folder, &files, &names));
            names.iter().map(|name| folder.join(name)).collect()
        }
        Some(path) => vec![path.to_path_buf()],
        None => {
            let mut names = metadata::record_files(lake, listing, is_table);
            // What was in the lake and is there no more has no records any more.
            let is_there = |name: &&String| Path::new(name).is_absolute() || storage::exists(&lake.join(name));
            names.extend(before.iter().filter(is_there).cloned());
            names.sort();
            names.dedup();
            listing.problems.extend(metadata::unread_catalogues(lake, listing, &names));
            names.iter().map(|name| lake.join(name)).collect()
        }
    };
    let real_lake = storage::canonical(lake).map_err(|source| Error::io("list", lake, source))?;
    let mut records = Records::default();
    let mut of_tables: HashMap<String, PathBuf> = HashMap::new();
    let read = |path: &PathBuf| {
        let real = storage::canonical(path).map_err(|source| Error::io("read", path, source))?;
        let name = real.strip_prefix(&real_lake).unwrap_or(&real).to_string_lossy().replace('\\', "/");
        let read = Records::read(&real, &name);
        Ok((real, name, read))
    };
    let reads = paths.par_iter().map(read).collect::<Result<Vec<(PathBuf, String, Result<Records>)>>>()?;
    for (path, (real, name, read)) in paths.into_iter().zip(reads) {
        let read = match read {
            // Nobody has said that it holds records.
            Err(Error::Unreadable { reason, .. }) if named.is_none() && !before.contains(&name) => {
                listing.add_unreadable(&path, reason);
                continue;
            }
            read => read?,
        };
        let is_records = |path: &Path| storage::canonical(path).is_ok_and(|path| path == real);
        for file in listing.files.extract_if(.., |file| is_records(&file.path)) {
            of_tables.insert(name.clone(), file.path);
        }
        listing.sidecars.retain(|path| !is_records(path) || metadata::describes_files(path));
        listing.problems.extend(read.problems.iter().map(|problem| (real.clone(), problem.clone())));
        records.append(read);
        manifest.records.push(name);
    }
    let describing = records.without_files_in(listing.files.iter().map(|file| file.relative.as_str()));
    let describing = describing.iter().filter_map(|name| of_tables.remove(&**name));
    listing.sidecars.extend(describing.filter(|path| metadata::describes_files(path)));
    Ok(records)
}

/// What others have read of a table, in parts, if they have.
pub(super) type Scanned<'a> = dyn Fn(&Read<'_>) -> Option<Result<(Scan, ContentHash)>> + Sync + 'a;

/// How datasets are read.
pub(super) struct ReadWith<'a> {
    pub options: ReadOptions,
    pub lake_name: &'a str,
    pub embedder: &'a dyn Embedder,
    /// What is kept of tables in many files, so that only what is added to them is read.
    pub checkpoints: Option<Checkpoints>,
    /// What need not be read.
    pub scanned: Option<&'a Scanned<'a>>,
}

pub(super) fn read_dataset(read: &Read<'_>, with: &ReadWith<'_>, monitor: &dyn Monitor) -> FileResult {
    let (result, modified_ns) = match &read.source {
        Source::File(file, known) => {
            let metadata = known.metadata.as_deref().cloned();
            (draft_table(read, file, metadata, with), file.modified_ns)
        }
        Source::Record(record) => (draft_record(read, record, with), 0),
    };
    monitor.advance(read.read_bytes());
    result.map_err(|error| skipped(read, modified_ns, error))
}

/// Reads some columns of the file of `read`.
pub(super) fn read_part(
    read: &Read<'_>,
    file: &LakeFile,
    part: ColumnPart,
    monitor: &dyn Monitor,
) -> std::result::Result<ScannedPart, SkippedFile> {
    monitor.begin("reading", Total::Files { files: 1, bytes: file.read_bytes });
    let known = |name: &str| set_writing(read, name);
    let scan_options = ScanOptions { sample_keys: MOST_KEYS, known: &known };
    let scanned = ScannedPart::read(file, &ReadOptions::default(), &scan_options, part);
    monitor.advance(file.read_bytes);
    scanned.map_err(|error| skipped(read, file.modified_ns, error))
}

/// That the dataset of `read`, which was last changed at `modified_ns`, cannot be read.
fn skipped(read: &Read<'_>, modified_ns: u64, error: Error) -> SkippedFile {
    // The operating system may allow later what it refuses now, even if the file is unchanged: so it is tried each time.
    let (reason, modified_ns) = match error {
        Error::Unreadable { reason, .. } => (reason, modified_ns),
        Error::Io { source, .. } => (source.to_string(), 0),
        other => (other.to_string(), modified_ns),
    };
    SkippedFile { path: read.origin().to_string(), reason, read_bytes: read.read_bytes(), modified_ns }
}

/// How the column `name` is set to write its values.
fn set_writing(read: &Read<'_>, name: &str) -> Writing {
    read.cells().iter().find(|cells| cells.column == name).map(|cells| cells.writing.clone()).unwrap_or_default()
}

fn draft_table(
    read: &Read<'_>,
    file: &LakeFile,
    metadata: Option<TableMetadata>,
    with: &ReadWith<'_>,
) -> Result<Box<TableDraft>> {
    let ReadWith { options, lake_name, embedder, checkpoints, scanned } = with;
    // Taken before the content is read, so that the next update notices any later change. The content is hashed in the same pass as it is
    // scanned, or before, so that a file changed meanwhile never has the hash of content that was not scanned.
    let mut modified_ns = source::settled_time(file.modified_ns);
    let known = |name: &str| set_writing(read, name);
    let scan_options = ScanOptions { sample_keys: MOST_KEYS, known: &known };
    let (mut scan, content) = match scanned.and_then(|scanned| scanned(read)) {
        Some(scanned) => scanned?,
        None => checkpoint::read(file, options, &scan_options, checkpoints.as_ref())?,
    };
    if let Some(error) = storage::failure(&file.path) {
        // What a store refuses now it may give later: a part of a file is not kept, and a table without some of its files is looked at again.
        if scan.report.parts.is_none() {
            return Err(Error::io("read", &file.path, error));
        }
        modified_ns = 0;
    }
    let names = || scan.names.iter().map(String::as_str);
    let unknown = read.cells().iter().filter(|cells| !names().any(|name| name == cells.column));
    let problems = unknown.map(|cells| no_such("column", &cells.column, names())).collect();
    let profile = profile::profile(&scan);
    if scan.samples_outdated {
        scan.samples.iter_mut().for_each(|sample| *sample = sample.emptied());
        key_sample::read(&file.path, &profile, options.max_rows, &mut scan.samples)?;
    }
    let metadata =
        metadata.map(|metadata| metadata.of_columns(|name| profile.columns.iter().any(|column| column.name == name)));
    let published = metadata.as_ref().and_then(|metadata| metadata.identifier.clone());
    let sample_rows = scan.report.sample.map_or(0, |sample| u32::try_from(sample.rows).unwrap_or(u32::MAX));
    let dataset = Dataset::Table(Arc::new(TableEntry {
        id: read.id.clone(),
        path: file.relative.clone(),
        read_bytes: file.read_bytes,
        citation: published.unwrap_or_else(|| own_citation(lake_name, &read.id, &content)),
        metadata,
        profile,
        report: scan.report,
        content,
        foreign_keys: location::foreign_keys(file)?,
    }));
    let stamp = stamp(read, &dataset, modified_ns, sample_rows);
    let draft = TableDraft::new(&dataset, &stamp, &scan.sketches, &scan.samples, *embedder)?;
    Ok(Box::new(TableDraft { problems, unread_bytes: scan.unread_bytes, ..draft }))
}

fn draft_record(read: &Read<'_>, record: &CatalogueRecord, with: &ReadWith<'_>) -> Result<Box<TableDraft>> {
    let metadata = record.metadata()?;
    let published = metadata.identifier.clone();
    let dataset = Dataset::Record(Arc::new(RecordEntry {
        id: read.id.clone(),
        catalogue: record.catalogue().to_string(),
        read_bytes: record.read_bytes(),
        content: record.content(),
        citation: published.unwrap_or_else(|| own_citation(with.lake_name, &read.id, &record.content())),
        metadata,
    }));
    // Identified by its content.
    let stamp = stamp(read, &dataset, 0, 0);
    Ok(Box::new(TableDraft::new(&dataset, &stamp, &[], &[], with.embedder)?))
}

/// The stamp by which a dataset is recognised in the next update.
fn stamp(read: &Read<'_>, dataset: &Dataset, modified_ns: u64, sample_rows: u32) -> FileStamp {
    FileStamp {
        path: dataset.origin().to_string(),
        read_bytes: read.read_bytes(),
        modified_ns,
        content: *dataset.content().as_bytes(),
        metadata_hash: read.metadata_hash,
        sample_rows,
    }
}
