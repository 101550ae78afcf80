//! The files of a lake: which of them hold tables, under which ids, and what their bytes hash to.
//!
//! No table is read here; only `.txt` files and a few ambiguous `.json` files are opened, because their names do not show
//! what they hold. The walk is sorted and total: an entry that cannot be used becomes a line of [`LakeListing::problems`]
//! and never stops the rest. Symbolic links are followed; each folder is listed once, under its real path where it has one
//! inside the lake, so that neither loops nor nested links can multiply the work.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::layout::{Choice, Choices, FileSet};
use crate::location::{Location, part_name};
use crate::metadata::{TableMetadata, is_readme};
use crate::reader::{self, ReadOptions, content};
use crate::storage::{self, File};
use crate::table_format::TableFormat;
use lakeward_core::error::{Error, Result};

/// Bytes read at once, and bytes of each end of a file that is hashed by its ends.
const END_BYTES: usize = 1 << 20;
/// Larger files are hashed by their ends only, where only a sample of them is read; in bytes.
const LARGEST_HASHED_WHOLE: u64 = 64 << 20;

/// How a table's cells are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Any delimited text: `.csv`, `.tsv`, `.tab`, `.psv`, and `.txt` where it has at least two columns.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// One JSON value per line.
    NdJson,
    /// One JSON document that is, or holds, an array of rows.
    Json,
    /// An Arrow IPC file (Feather version 2) or stream.
    ArrowIpc,
    /// An Avro object container file.
    Avro,
    /// An ORC file; read only by a program that was built with the feature `orc`.
    Orc,
    /// A table of a workbook: `.xlsx`, `.xlsm`, `.xlsb`, `.xls`, `.ods`.
    Workbook,
    /// A table of a SQLite database: `.sqlite`, `.sqlite3`, `.db`, `.db3`, `.gpkg`.
    Sqlite,
}

impl Format {
    /// Whether a file may hold several tables; they have paths of their own below the file's, such as `sales.xlsx/Q1`.
    pub fn holds_tables(self) -> bool {
        matches!(self, Format::Workbook | Format::Sqlite)
    }
}

/// A file's compression according to its name; readers go by the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// Not compressed.
    None,
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
}

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

/// The stable name of a table in its lake: its path without extensions, or with them where two files would share an id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema, Deserialize)]
#[serde(transparent)]
pub struct TableId(String);

impl TableId {
    /// Takes a text as an id without a check: read back from an index, or typed by a user.
    pub fn new(id: impl Into<String>) -> Self {
        TableId(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a dataset is: a file of the lake, or a record of a catalogue, whose data is not in the lake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin<'a> {
    /// The file's path below the lake's root.
    File(&'a str),
    /// The catalogue's file and the record's id in it.
    Record {
        /// The file, as the manifest names it.
        catalogue: &'a str,
        /// The id.
        id: &'a str,
    },
}

/// Separates the file from the id of a record: no path in a lake has two slashes in a row.
const RECORD_SEPARATOR: &str = "//";

impl<'a> Origin<'a> {
    /// Parses the origin that an index wrote as `text`.
    pub fn read(text: &'a str) -> Self {
        match text.split_once(RECORD_SEPARATOR) {
            Some((catalogue, id)) => Self::Record { catalogue, id },
            None => Self::File(text),
        }
    }

    /// Whether it is a record of a catalogue.
    pub fn is_record(&self) -> bool {
        matches!(self, Self::Record { .. })
    }
}

/// The path; `catalogue.jsonl//id` for a record.
impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.write_str(path),
            Self::Record { catalogue, id } => write!(f, "{catalogue}{RECORD_SEPARATOR}{id}"),
        }
    }
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

/// The later of the times at which the content and the attributes were changed: a file that replaces another (`cp -p`,
/// `rsync -t`, `mv`) keeps its older modification time, never its change time. Nanoseconds since 1970; 0 when unknown.
pub fn time_of_change(meta: &fs::Metadata) -> u64 {
    let written = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let written_ns = written.and_then(|age| u64::try_from(age.as_nanos()).ok()).unwrap_or(0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let changed_ns = meta.ctime().saturating_mul(1_000_000_000).saturating_add(meta.ctime_nsec());
        written_ns.max(u64::try_from(changed_ns).unwrap_or(0))
    }
    #[cfg(not(unix))]
    written_ns
}

fn real_path(folder: &Path) -> PathBuf {
    storage::canonical(folder).unwrap_or_else(|_| folder.to_path_buf())
}

/// Whether the name at the end of `path` is that of an XML file, packed or not.
pub(super) fn is_xml(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    [".xml", ".xml.gz", ".xml.zst"].iter().any(|end| name.ends_with(end))
}

/// Whether the name at the end of `path` is that of a file of RDF/XML or Turtle.
pub(super) fn is_rdf(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ["rdf", "ttl"].iter().any(|rdf| extension.eq_ignore_ascii_case(rdf)))
}

pub(super) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| {
        let name = name.as_encoded_bytes();
        // `~$` begins the names of Excel's locks.
        name.starts_with(b".") || name.starts_with(b"~$") || name == b"__MACOSX"
    })
}

/// The part of `path` below `root`, escaped where it is not printable UTF-8.
fn relative_name(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<String> = below.components().map(|part| escape_name(part.as_os_str().as_encoded_bytes())).collect();
    parts.join("/")
}

pub(super) fn escape_name(name: &[u8]) -> String {
    let mut out = String::new();
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() {
                let mut bytes = [0; 4];
                character.encode_utf8(&mut bytes).bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
            } else {
                out.push(character);
            }
        }
        chunk.invalid().iter().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
    }
    out
}

/// The path of the file whose path below `root` is written `relative`, as [`LakeFile::relative`] is.
///
/// # Errors
/// [`Error::Unreadable`] for a path that leads out of the lake; no listing contains one.
pub fn file_path(root: &Path, relative: &str) -> Result<PathBuf> {
    let plain = root.join(relative);
    let inside = Path::new(relative).components().all(|part| matches!(part, Component::Normal(_)));
    if !inside {
        return Err(Error::unreadable(&plain, "its path leads out of the lake"));
    }
    // A name may contain `%41` literally; it is an escape only if no such file exists.
    if !relative.contains('%') || storage::exists(&plain) {
        return Ok(plain);
    }
    // The name of a table in a file stays as it is written.
    let mut within = Path::new(relative).ancestors().skip(1);
    let file = within.find_map(|above| {
        let file = Some(root.join(above)).filter(|file| storage::is_file(file));
        let file =
            file.or_else(|| Some(root.join(unescaped(above.to_str()?))).filter(|file| storage::is_file(file)))?;
        Some(file.join(Path::new(relative).strip_prefix(above).ok()?))
    });
    Ok(file.unwrap_or_else(|| root.join(unescaped(relative))))
}

/// Decodes each `%XX`; everything else stays as it is.
pub(super) fn unescaped(relative: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(relative.len());
    let mut rest = relative.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        PathBuf::from(std::ffi::OsString::from_vec(bytes))
    }
    #[cfg(not(unix))]
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

/// A file's format and compression according to its name; `None` for names that are not a table's.
pub fn classify(path: &Path) -> Option<(Format, Compression)> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let (stem, compression) = strip_compression(&name);
    let (_, extension) = stem.rsplit_once('.')?;
    let format = format_of(extension)?;
    // Databases and workbooks are not read as streams.
    (!format.holds_tables() || compression == Compression::None).then_some((format, compression))
}

/// [`classify`], by the first bytes of a file whose name tells nothing; `None` where it is no table file.
pub fn format_at(path: &Path) -> Option<(Format, Compression)> {
    let by_content = || {
        let name = path.file_name()?.to_str()?;
        let format = tells_nothing(path).then(|| content::format_of(path)).flatten()?;
        Some((format, strip_compression(name).1))
    };
    classify(path).or_else(by_content)
}

/// Whether a file's name has no extension but that of a compression, or that of any part: `000000_0`, `0.part`.
fn tells_nothing(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    strip_compression(&name).0.rsplit_once('.').is_none_or(|(_, extension)| extension == "part")
}

/// [`classify`] of a table by its path below the lake's root: of a table in a file, what the file is.
pub fn classify_table(relative: &str) -> Option<(Format, Compression)> {
    let relative = Path::new(relative);
    let files = relative.ancestors().skip(1).filter_map(classify);
    files.filter(|(format, _)| format.holds_tables()).last().or_else(|| classify(relative))
}

fn format_of(extension: &str) -> Option<Format> {
    Some(match extension {
        "csv" | "tsv" | "tab" | "psv" | "txt" => Format::Csv,
        "parquet" | "pq" | "parq" => Format::Parquet,
        "ndjson" | "jsonl" | "jsonlines" => Format::NdJson,
        "json" | "geojson" => Format::Json,
        "arrow" | "arrows" | "feather" | "ipc" => Format::ArrowIpc,
        "avro" => Format::Avro,
        "orc" => Format::Orc,
        "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => Format::Workbook,
        "sqlite" | "sqlite3" | "db" | "db3" | "gpkg" => Format::Sqlite,
        _ => return None,
    })
}

fn strip_compression(name: &str) -> (&str, Compression) {
    for (suffix, compression) in [(".gz", Compression::Gzip), (".zst", Compression::Zstd), (".zstd", Compression::Zstd)]
    {
        let cut = name.len().saturating_sub(suffix.len());
        if name.is_char_boundary(cut) && name[cut..].eq_ignore_ascii_case(suffix) {
            return (&name[..cut], compression);
        }
    }
    (name, Compression::None)
}

/// The format's extension in lower case, without that of the compression.
fn extension(path: &Path, compression: Compression) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let stem = if compression == Compression::None { &name[..] } else { strip_compression(&name).0 };
    stem.rsplit_once('.').map(|(_, extension)| extension.to_string()).unwrap_or_default()
}

/// Whether the file describes tables and is no table itself.
fn is_sidecar(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    if name.ends_with(".jsonld") || is_readme(&name) {
        return true;
    }
    let Some(stem) = name.strip_suffix(".json") else { return false };
    match stem {
        "datapackage" | "package_show" | "tableschema" | "dataset_infos" => true,
        // These names are also given to tables.
        "data" | "schema" | "metadata" => describes_tables(path),
        _ => {
            let describing = ["-metadata", "_metadata", ".metadata", ".schema", "-schema", ".datapackage"];
            ["croissant", "package_show", "datapackage"].iter().any(|start| stem.starts_with(start))
                || describing.iter().any(|end| stem.ends_with(end))
        }
    }
}

fn describes_tables(path: &Path) -> bool {
    const PEEK_BYTES: u64 = 4096;
    const WORDS: [&str; 7] =
        ["\"@context\"", "\"conformsTo\"", "\"dataset\"", "\"$schema\"", "\"fields\"", "\"resources\"", "\"@type\""];
    let mut head = Vec::new();
    let is_regular = storage::metadata(path).is_ok_and(|meta| meta.is_file());
    let read = is_regular.then(|| File::open(path).and_then(|file| file.take(PEEK_BYTES).read_to_end(&mut head)));
    let head = String::from_utf8_lossy(&head);
    matches!(read, Some(Ok(_))) && head.trim_start().starts_with('{') && WORDS.iter().any(|word| head.contains(word))
}

/// One id per table, in the order given: the relative path without extensions, the full path where two would be equal.
pub fn assign_ids(files: &[LakeFile]) -> Vec<TableId> {
    let mut ids: Vec<String> = files.iter().map(|file| file.short_id.clone()).collect();
    // A lengthened id can equal another file's short one (`a.csv`, `a.tsv`, `a.csv.csv`), hence the loop.
    loop {
        let mut owners: HashMap<&str, Vec<usize>> = HashMap::new();
        ids.iter().enumerate().for_each(|(at, id)| owners.entry(id).or_default().push(at));
        let shared = owners.into_values().filter(|owners| owners.len() > 1).flatten();
        let mut lengthen: Vec<usize> = shared.filter(|&at| ids[at] != files[at].relative).collect();
        if lengthen.is_empty() {
            break;
        }
        lengthen.sort_unstable();
        lengthen.into_iter().for_each(|at| ids[at].clone_from(&files[at].relative));
    }
    number_repeats(ids).into_iter().map(TableId).collect()
}

/// Appends `~2`, `~3`, … to repeated ids: only file names that differ in escaped characters can still be equal here.
fn number_repeats(ids: Vec<String>) -> Vec<String> {
    let mut taken: HashSet<String> = ids.iter().cloned().collect();
    let mut seen: HashSet<String> = HashSet::new();
    ids.into_iter()
        .map(|id| {
            if seen.insert(id.clone()) {
                return id;
            }
            let fresh = (2..).map(|number| format!("{id}~{number}")).find(|name| !taken.contains(name));
            let fresh = fresh.unwrap_or(id);
            taken.insert(fresh.clone());
            fresh
        })
        .collect()
}

fn short_id(relative: &str) -> &str {
    let (stem, _) = strip_compression(relative);
    let name_start = stem.rfind('/').map_or(0, |slash| slash + 1);
    match stem[name_start..].rfind('.') {
        Some(dot) if dot > 0 && format_of(&stem[name_start + dot + 1..].to_lowercase()).is_some() => {
            &stem[..name_start + dot]
        }
        _ => stem,
    }
}

/// BLAKE3 of a file's bytes as they are on disk; written and serialised as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The hash of the bytes fed to `hasher`.
    pub(super) fn of(hasher: &blake3::Hasher) -> ContentHash {
        ContentHash(*hasher.finalize().as_bytes())
    }

    /// The hash of `bytes`.
    pub fn of_bytes(bytes: &[u8]) -> ContentHash {
        ContentHash(*blake3::hash(bytes).as_bytes())
    }

    /// The 32 bytes of the hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> String {
        hash.to_string()
    }
}

impl TryFrom<String> for ContentHash {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        blake3::Hash::from_hex(&text).map(|hash| ContentHash(*hash.as_bytes())).map_err(|error| error.to_string())
    }
}

/// Modification times closer than this to the time of reading are not trusted: file system clocks tick, some every 10 ms, and a file written
/// twice within one tick keeps its time.
const TICK_NS: u64 = 100_000_000;

/// The modification time to store for a file that is about to be read: 0 if the file could change again without a new time, so that the
/// next update checks the content. (Git calls such files racy.)
pub fn settled_time(modified_ns: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_nanos());
    let now = u64::try_from(now).unwrap_or(u64::MAX);
    if modified_ns.saturating_add(TICK_NS) >= now { 0 } else { modified_ns }
}

/// Hash of the file's bytes, read in 1 MB pieces; of a table in a file, of its columns and cells. Of a file in a store that is too large to be
/// kept, of what the store says of it.
pub fn content_hash(path: &Path) -> Result<ContentHash> {
    match Location::of(path) {
        Location::Part { .. } => return reader::rows_hash(reader::open_path(path, &ReadOptions::default())?),
        Location::Files { path } => return parts_hash(&path, content_hash),
        Location::File { .. } => {}
    }
    let failed = |source| Error::io("read", path, source);
    if storage::is_fetched_again(path) {
        // The store tells a change by its ETag.
        let meta = storage::metadata(path).map_err(failed)?;
        return Ok(ContentHash::of_bytes(format!("{} {}", meta.len(), meta.changed_ns()).as_bytes()));
    }
    let mut file = File::open(path).map_err(failed)?;
    hash_rest(&mut file, &mut blake3::Hasher::new(), path)
}

/// Hash of the bytes fed to `hasher` so far and the rest of `file`, whose path is `path`.
pub(super) fn hash_rest(file: &mut File, hasher: &mut blake3::Hasher, path: &Path) -> Result<ContentHash> {
    let failed = |source| Error::io("read", path, source);
    let size = file.size().map_err(failed)?;
    let mut piece = vec![0; END_BYTES.min(usize::try_from(size).unwrap_or(END_BYTES)).max(1)];
    loop {
        match file.read(&mut piece).map_err(failed)? {
            0 => return Ok(ContentHash::of(hasher)),
            count => hasher.update(&piece[..count]),
        };
    }
}

/// Hash of the names of a table's files and of what `hash_of` gives for each; of a table with a log, that of what it says.
fn parts_hash(path: &Path, hash_of: impl Fn(&Path) -> Result<ContentHash>) -> Result<ContentHash> {
    let set = reader::set_at(path)?;
    if let Some(snapshot) = &set.snapshot {
        return Ok(snapshot.content);
    }
    Ok(hash_of_parts(&set, set.parts.iter().map(|part| hash_of(&part.path).ok())))
}

/// Hash of the names of the files of `set` and of the hashes `of` each; one that cannot be read is reported by its reader.
pub(crate) fn hash_of_parts(set: &FileSet, of: impl Iterator<Item = Option<ContentHash>>) -> ContentHash {
    let mut hasher = blake3::Hasher::new();
    for (part, hash) in set.parts.iter().zip(of) {
        hasher.update(set.name_of(&part.path).as_bytes());
        hasher.update(hash.map_or([0; 32], |hash| hash.0).as_slice());
    }
    ContentHash::of(&hasher)
}

/// Whether a file of which only a sample is read is too large to be read to its end for the hash; see [`ends_hash`].
pub fn is_told_by_ends(path: &Path) -> bool {
    Location::of(path).file_stamp().is_ok_and(|(bytes, _)| bytes > LARGEST_HASHED_WHOLE)
}

/// The hash that identifies a large file of which only a sample is read: of its size and its first and last megabyte.
pub fn ends_hash(path: &Path) -> Result<ContentHash> {
    let failed = |source| Error::io("read", path, source);
    let mut hasher = blake3::Hasher::new();
    let location = Location::of(path);
    match &location {
        Location::Part { name, .. } => _ = hasher.update(name.as_bytes()),
        Location::Files { path } => return parts_hash(path, ends_hash),
        Location::File { .. } => {}
    }
    let mut file = File::open(location.file()).map_err(failed)?;
    let size = file.size().map_err(failed)?;
    hasher.update(&size.to_le_bytes());
    let mut end = Vec::new();
    (&mut file).take(END_BYTES as u64).read_to_end(&mut end).map_err(failed)?;
    hasher.update(&end);
    end.clear();
    file.seek(SeekFrom::Start(size.saturating_sub(END_BYTES as u64))).map_err(failed)?;
    file.take(END_BYTES as u64).read_to_end(&mut end).map_err(failed)?;
    hasher.update(&end);
    Ok(ContentHash::of(&hasher))
}
