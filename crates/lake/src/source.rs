//! The files of a lake: which of them hold tables, under which ids, and what their bytes hash to.
//!
//! No table is read here; only `.txt` files and a few ambiguous `.json` files are opened, because their names do not show
//! what they hold. The walk is sorted and total: an entry that cannot be used becomes a line of [`LakeListing::problems`]
//! and never stops the rest. Symbolic links are followed; each folder is listed once, under its real path where it has one
//! inside the lake, so that neither loops nor nested links can multiply the work.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Component, Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::layout::{Choice, Choices, FileSet};
use crate::location::part_name;
use crate::metadata::TableMetadata;
use crate::reader::{self, content};
use crate::storage;
use crate::table_format::TableFormat;
use lakeward_core::error::{Error, Result};

mod content_hash;
mod file_time;
mod format;
mod origin;
mod relative_path;
mod sidecar;
mod table_id;

use format::{extension, tells_nothing};
use relative_path::relative_name;
use sidecar::is_sidecar;
use table_id::short_id;

pub(crate) use content_hash::hash_of_parts;
pub(super) use content_hash::hash_rest;
pub use content_hash::{ContentHash, content_hash, ends_hash, is_hashed_by_ends};
pub use file_time::{settled_time, time_of_change};
pub use format::{Compression, Format, classify, classify_table, format_at};
pub use origin::Origin;
pub use relative_path::file_path;
pub(super) use relative_path::{escape_name, unescaped};
pub(super) use sidecar::{is_rdf, is_xml};
pub use table_id::{TableId, assign_ids};

/// One table of a lake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct LakeFile {
    /// Where to open it.
    pub path: PathBuf,
    /// Its path below the lake's root, `/`-separated; bytes that are not UTF-8 and control characters are written `%XX`.
    pub relative: String,
    /// The id that it has unless another table's is the same: `relative` without the extension of its file.
    pub short_id: String,
    /// How its cells are stored.
    pub format: Format,
    /// Its compression, according to its name.
    pub compression: Compression,
    /// The size of its file on disk, in bytes.
    pub read_bytes: u64,
    /// When its content or its attributes last changed, in nanoseconds since 1970 UTC; 0 where unknown.
    pub modified_ns: u64,
}

/// The result of a walk over a lake.
#[derive(Debug, Clone, Default)]
pub struct LakeListing {
    /// Files that hold tables, sorted by `relative`.
    pub files: Vec<LakeFile>,
    /// Files that describe tables (`datapackage.json`, `*-metadata.json`, JSON-LD, …), sorted.
    pub sidecars: Vec<PathBuf>,
    /// What tables say of themselves, by their paths below the root.
    pub described: Vec<(String, TableMetadata)>,
    /// Files of XML and RDF, which may be catalogues, sorted.
    pub catalogues: Vec<PathBuf>,
    /// Entries that could not be used, each with the reason, sorted.
    pub problems: Vec<(PathBuf, String)>,
    /// How many of them hide data: folders that cannot be listed, tables whose log and catalogues that cannot be read.
    pub unreadable: u64,
}

impl LakeListing {
    /// Adds what cannot be read, so that its data is not in the lake.
    pub fn add_unreadable(&mut self, path: &Path, reason: impl Into<String>) {
        self.problems.push((path.to_path_buf(), reason.into()));
        self.unreadable += 1;
    }
}

/// Lists all table files below `root`, without hidden entries.
///
/// # Errors
/// Only where `root` itself cannot be listed.
pub fn list_files(root: &Path) -> Result<LakeListing> {
    list_tables(root, &Choices::new())
}

/// [`list_files`] where `choices` decide which files are one table.
///
/// # Errors
/// As [`list_files`].
pub fn list_tables(root: &Path, choices: &Choices) -> Result<LakeListing> {
    let (seen, linked, covered) = Default::default();
    let mut walk = Walk { root, listing: LakeListing::default(), seen, linked, covered, choices };
    for (pattern, _) in choices.iter().filter(|(_, choice)| **choice == Choice::One) {
        let path = root.join(pattern.trim_end_matches('/'));
        let inside = Path::new(pattern).components().all(|part| matches!(part, Component::Normal(_)));
        match FileSet::at(&path).filter(|_| inside) {
            Some(set) => walk.take_set(set),
            None => walk.problem(&path, "set to be one table, but it names no table files of a single format"),
        }
    }
    storage::refresh(root);
    let entries = storage::read_dir(root).map_err(|source| Error::io("list", root, source))?;
    if let Some(format) = TableFormat::of(root) {
        let reason = format!("the lake itself is a table of {}; a lake is a folder that holds tables", format.name());
        return Err(Error::unreadable(root, reason));
    }
    walk.seen.insert(real_path(root), root.to_path_buf());
    let mut folders = walk.take_entries(entries);
    loop {
        // Real folders first: a folder that is also linked to is then listed under its own path.
        let folder = match folders.pop() {
            Some(folder) => folder,
            None if walk.linked.is_empty() => break,
            None => walk.linked.remove(0),
        };
        folders.extend(walk.take_folder(&folder));
    }
    let mut listing = walk.listing;
    listing.files.sort_by(|a, b| a.relative.cmp(&b.relative).then_with(|| a.path.cmp(&b.path)));
    listing.sidecars.sort();
    listing.catalogues.sort();
    listing.problems.sort();
    Ok(listing)
}

struct Walk<'a> {
    root: &'a Path,
    listing: LakeListing,
    /// Real path of each folder listed → the path it was listed under.
    seen: HashMap<PathBuf, PathBuf>,
    linked: Vec<PathBuf>,
    /// Files that are parts of tables listed already.
    covered: HashSet<PathBuf>,
    choices: &'a Choices,
}

impl Walk<'_> {
    fn problem(&mut self, path: &Path, reason: impl Into<String>) {
        self.listing.problems.push((path.to_path_buf(), reason.into()));
    }

    fn take_folder(&mut self, folder: &Path) -> Vec<PathBuf> {
        if let Some(set) = FileSet::by_log(folder) {
            self.take_log_table(folder, set);
            return Vec::new();
        }
        if let Some(first) = self.seen.insert(real_path(folder), folder.to_path_buf()) {
            let reason = format!("links to `{}`, which is listed already", first.display());
            self.seen.insert(real_path(folder), first);
            self.problem(folder, reason);
            return Vec::new();
        }
        match storage::read_dir(folder) {
            Ok(entries) => self.take_entries(entries),
            Err(error) => {
                self.listing.add_unreadable(folder, format!("cannot list: {error}"));
                Vec::new()
            }
        }
    }

    /// Adds files to the listing and links to folders to `linked`; returns the subfolders, last first.
    fn take_entries(&mut self, entries: Vec<io::Result<PathBuf>>) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for entry in entries {
            match entry {
                Ok(path) => paths.push(path),
                Err(error) => {
                    let root = self.root.to_path_buf();
                    self.listing.add_unreadable(&root, format!("cannot list an entry: {error}"));
                }
            }
        }
        paths.retain(|path| !is_hidden(path));
        paths.sort();
        let folder = paths.first().and_then(|path| path.parent()).map(Path::to_path_buf);
        for set in folder.map(|folder| FileSet::all_in(&folder, folder == self.root)).unwrap_or_default() {
            let relative = relative_name(self.root, &set.path);
            // Who sets a folder or pattern to be separate tables means all that is below.
            let is_separate = |(pattern, choice): (&String, &Choice)| {
                *choice == Choice::Separate && Path::new(&relative).starts_with(pattern.trim_end_matches('/'))
            };
            if !self.choices.iter().any(is_separate) && !set.parts.iter().any(|part| self.covered.contains(&part.path))
            {
                self.take_set(set);
            }
        }
        let mut folders = Vec::new();
        for path in paths {
            let is_link = storage::is_link(&path);
            match storage::metadata(&path) {
                Ok(meta) if meta.is_dir() && is_link => self.linked.push(path),
                Ok(meta) if meta.is_dir() => folders.push(path),
                Ok(meta) => self.take_file(path, &meta),
                Err(error) if is_link => self.problem(&path, format!("broken link: {error}")),
                Err(error) => self.listing.add_unreadable(&path, error.to_string()),
            }
        }
        folders.reverse();
        folders
    }

    /// Takes a table that a log describes, and nothing else below its folder but what describes it.
    fn take_log_table(&mut self, folder: &Path, set: Result<FileSet>) {
        if self.listing.files.iter().any(|file| file.path == folder) {
            return;
        }
        let beside = storage::read_dir(folder).into_iter().flatten().flatten();
        self.listing.sidecars.extend(beside.filter(|path| storage::is_file(path) && is_sidecar(path)));
        match set {
            Ok(set) => self.take_set(set),
            Err(Error::Unreadable { reason, .. }) => self.listing.add_unreadable(folder, reason),
            Err(error) => self.listing.add_unreadable(folder, error.to_string()),
        }
    }

    fn take_set(&mut self, set: FileSet) {
        let relative = relative_name(self.root, &set.path);
        let short_id = short_id(&relative).to_string();
        self.covered.extend(set.parts.iter().map(|part| part.path.clone()));
        if let Some(snapshot) = &set.snapshot {
            self.listing.described.push((relative.clone(), snapshot.metadata.clone()));
        }
        let FileSet { path, format, compression, read_bytes, modified_ns, .. } = set;
        self.listing.files.push(LakeFile { path, relative, short_id, format, compression, read_bytes, modified_ns });
    }

    fn take_file(&mut self, path: PathBuf, meta: &storage::Metadata) {
        if self.covered.contains(&path) {
            return;
        }
        if is_sidecar(&path) {
            return self.listing.sidecars.push(path);
        }
        if (is_xml(&path) || is_rdf(&path)) && meta.is_file() {
            return self.listing.catalogues.push(path);
        }
        let Some((format, compression)) = format_at(&path) else {
            let is_marker = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"_"));
            if tells_nothing(&path) && !is_marker && content::may_hold_rows(&path) {
                self.problem(&path, "neither its name nor its first bytes tell what it holds");
            }
            return;
        };
        if !meta.is_file() {
            return self.problem(&path, "not a regular file");
        }
        // Other programs' files have these names, too.
        match extension(&path, compression).as_str() {
            "txt" if !reader::looks_delimited(&path) => return,
            "db" | "db3" if !reader::sqlite::is_database(&path) => {
                return self.problem(&path, "no SQLite database, whatever its name says");
            }
            _ => {}
        }
        let relative = relative_name(self.root, &path);
        let short_id = short_id(&relative).to_string();
        let (read_bytes, modified_ns) = (meta.len(), meta.changed_ns());
        let file = LakeFile { path, relative, short_id, format, compression, read_bytes, modified_ns };
        self.listing.files.extend(tables_of(file));
    }
}

/// The tables of a file: those of a workbook or database, where there are several, else itself.
fn tables_of(file: LakeFile) -> Vec<LakeFile> {
    // What cannot be read is named when it is to be read as a table.
    let names = reader::tables_in(&file.path, file.format).unwrap_or_default();
    if names.len() < 2 {
        return vec![file];
    }
    let table = |name: String| {
        let name = part_name(&name);
        let within = |path: &str| format!("{path}/{name}");
        let (relative, short_id) = (within(&file.relative), within(&file.short_id));
        LakeFile { path: file.path.join(&name), relative, short_id, ..file.clone() }
    };
    names.into_iter().map(table).collect()
}

fn real_path(folder: &Path) -> PathBuf {
    storage::canonical(folder).unwrap_or_else(|_| folder.to_path_buf())
}

pub(super) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| {
        let name = name.as_encoded_bytes();
        // `~$` begins the names of Excel's locks.
        name.starts_with(b".") || name.starts_with(b"~$") || name == b"__MACOSX"
    })
}
