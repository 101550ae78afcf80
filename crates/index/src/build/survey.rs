//! What a build finds before it reads a table: the lake, who describes it, and the index as it is.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::super::LakeIndex;
use super::super::index_store::IndexStore;
use super::super::manifest::{self, Manifest};
use super::super::plan::{self, Plan, Target};
use super::super::verify;
use super::BuildOptions;
use super::reading::{no_such, read_records};
use lakeward_core::error::{Error, Result};
use lakeward_lake::cell_setting::CellSetting;
use lakeward_lake::metadata::{CatalogueRecord, MetadataIndex, RecordFlaw, TableMetadata};
use lakeward_lake::source::{self, Format, LakeFile, LakeListing, TableId};
use lakeward_lake::storage;
use lakeward_models::embed::Embedder;

/// The lake and its index.
pub(super) struct Survey {
    /// The newest manifest, without damaged segments; its records are those of now.
    pub manifest: Manifest,
    /// The files of records that it had.
    pub records_before: Vec<String>,
    /// Names of damaged segments, where they were looked for.
    pub damaged: HashSet<String>,
    /// The files of the lake.
    pub listing: LakeListing,
    /// What cannot be used, with the reason.
    pub problems: Vec<(PathBuf, String)>,
    /// See [`LakeListing::unreadable`].
    pub unreadable: u64,
    /// See [`BuildStats`](super::BuildStats), as the next three.
    pub records_left_out: u64,
    pub records_replaced: u64,
    pub records_deleted: u64,
    pub record_flaws: Vec<RecordFlaw>,
    ids: Vec<TableId>,
    metadata: MetadataIndex,
    recorded: HashMap<TableId, TableMetadata>,
    records: Vec<CatalogueRecord>,
}

impl Survey {
    /// Lists `lake`, reads who describes it, and the newest manifest of the index in `folder`.
    ///
    /// # Errors
    /// Those of a [build](super::build) before it reads tables.
    pub fn of(lake: &Path, folder: &Path, embedder: &dyn Embedder, options: &BuildOptions) -> Result<Self> {
        let mut manifest = starting_manifest(lake, folder, embedder, options)?;
        let records_before = manifest.records.clone();
        let damaged: HashSet<String> =
            if options.repair { verify::damaged_segments(folder, &manifest)? } else { HashSet::new() };
        manifest.segments.retain(|segment| !damaged.contains(&segment.name));
        // An index that cannot be opened must not be extended and reported as up to date.
        let index = match manifest.segments.is_empty() {
            true => None,
            false => Some(LakeIndex::open_snapshot(folder, manifest.clone(), embedder.id(), None)?),
        };
        let mut listing = source::list_tables(lake, &options.tables)?;
        let documents = unchanged_documents(index.as_ref(), &listing)?;
        let is_table = |file: &LakeFile| documents.contains(&file.relative);
        let records = read_records(lake, &mut manifest, options.records.as_deref(), &mut listing, &is_table)?;
        let (mut metadata, mut problems) = MetadataIndex::read(lake, &listing.sidecars);
        metadata.add_described(std::mem::take(&mut listing.described));
        // One of records need not describe tables.
        problems.retain(|(path, _)| !path.strip_prefix(lake).is_ok_and(|path| is_of_records(&manifest, path)));
        problems.append(&mut listing.problems);
        let records_left_out = records.left_out;
        let (records_replaced, records_deleted) = (records.replaced, records.deleted.len() as u64);
        let record_flaws: Vec<RecordFlaw> = records.flaws().cloned().collect();
        let ids = source::assign_ids(&listing.files);
        let (recorded, records) = records.divide(&ids)?;
        problems.extend(unknown_tables(&options.cells, &ids));
        Ok(Self {
            manifest,
            records_before,
            damaged,
            unreadable: listing.unreadable,
            listing,
            problems,
            records_left_out,
            records_replaced,
            records_deleted,
            record_flaws,
            ids,
            metadata,
            recorded,
            records,
        })
    }

    /// What is to be done for the index in `folder` to be as the lake is.
    ///
    /// # Errors
    /// Those of [`plan::plan`].
    pub fn plan<'a>(&'a self, folder: &Path, options: &'a BuildOptions) -> Result<Plan<'a>> {
        let target = Target {
            files: &self.listing.files,
            ids: &self.ids,
            metadata: &self.metadata,
            recorded: &self.recorded,
            records: &self.records,
            sample_rows: options.requested_rows(),
            cells: &options.cells,
        };
        plan::plan(folder, &self.manifest, &target)
    }
}

/// The files of JSON that are tables of the index as they are: whether they hold records was looked at when they were read.
fn unchanged_documents(index: Option<&LakeIndex>, listing: &LakeListing) -> Result<HashSet<String>> {
    let mut found = HashSet::new();
    let is_document = |file: &&LakeFile| matches!(file.format, Format::Json | Format::NdJson) && file.modified_ns != 0;
    let documents: HashMap<&str, (u64, u64)> = listing
        .files
        .iter()
        .filter(is_document)
        .map(|file| (file.relative.as_str(), (file.read_bytes, file.modified_ns)))
        .collect();
    let Some(index) = index.filter(|_| !documents.is_empty()) else { return Ok(found) };
    for table in index.tables() {
        let stamp = index.segment(table.segment)?.tables.stamp(table.table)?;
        if documents.get(stamp.path.as_str()) == Some(&(stamp.read_bytes, stamp.modified_ns)) {
            found.insert(stamp.path);
        }
    }
    Ok(found)
}

fn is_of_records(manifest: &Manifest, path: &Path) -> bool {
    manifest.records.iter().any(|name| Path::new(name) == path)
}

/// The settings of cells whose table is not in the lake, with the nearest that are.
fn unknown_tables(cells: &[CellSetting], ids: &[TableId]) -> Vec<(PathBuf, String)> {
    let unknown = cells.iter().filter(|cells| !ids.iter().any(|id| id.as_str() == cells.table));
    let names = || ids.iter().map(TableId::as_str);
    let problem = |cells: &CellSetting| (PathBuf::from(&cells.table), no_such("table", &cells.table, names()));
    unknown.map(problem).collect()
}

fn starting_manifest(lake: &Path, folder: &Path, embedder: &dyn Embedder, options: &BuildOptions) -> Result<Manifest> {
    let name = storage::canonical(lake)
        .ok()
        .and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_else(|| "lake".into());
    let fresh = || Manifest::empty(name.clone(), embedder.id().to_string());
    match IndexStore::refresh(folder).and_then(|()| Manifest::read(folder)) {
        Ok(before) if options.rebuild => Ok(Manifest { generation: before.generation, ..fresh() }),
        Err(_) if options.rebuild => Ok(Manifest { generation: next_free_generation(folder), ..fresh() }),
        Ok(before) if before.embedder != embedder.id() => {
            Err(Error::EmbeddingModel { found: before.embedder, expected: embedder.id().to_string() })
        }
        Ok(before) => Ok(before),
        Err(Error::NoIndex { .. }) => Ok(fresh()),
        Err(error) => Err(error),
    }
}

/// A generation without existing segment folders, for an index whose manifest cannot be read.
fn next_free_generation(folder: &Path) -> u64 {
    let names = fs::read_dir(folder.join(manifest::SEGMENTS)).into_iter().flatten().flatten();
    let local = names.filter_map(|entry| entry.file_name().to_str()?.split('-').next()?.parse::<u64>().ok()).max();
    local.unwrap_or(0).max(IndexStore::of(folder).map_or(0, |store| store.newest_generation()))
}
