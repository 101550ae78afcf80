//! Tables that lie in many files: folders of Hive (`year=2020`), of dates (`2020/01`), of Spark and Dask (`part-00000`, `_SUCCESS`), and
//! those of Delta and Iceberg, whose files a log names ([`crate::table_format`]).
//!
//! Files are one table only where their layout says so; two files with the same columns are two tables, since tables of single
//! years are often meant to be. Which parts a table has is read off its folder anew each time, by the same rule for who lists a
//! lake and for who opens the table: its path is the folder's, or, where other tables are beside the parts, a pattern such as
//! `part-*.csv`. The settings of a lake decide otherwise, either way ([`Choices`]).

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::source::{Compression, Format, classify, format_at, is_hidden, unescaped};
use crate::storage;
use crate::table_format::{self, LiveFile, Snapshot, TableFormat};
use lakeward_core::error::Result;
use lakeward_core::text::on_one_line;

/// Folders below each other that are looked into.
const MOST_DEPTH: usize = 16;
/// What Hive writes where a partition's value is missing.
const HIVE_NULL: &str = "__HIVE_DEFAULT_PARTITION__";
/// Files that Spark, Dask and others leave beside the parts of a table.
const MARKERS: [&str; 3] = ["_SUCCESS", "_metadata", "_common_metadata"];

/// Whether the files that a pattern names are one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// All are parts of one table.
    One,
    /// Each is a table of its own.
    Separate,
}

/// What is set for a lake: a folder, or a pattern of names in one (`sales/sales_*.csv`), as a path below its root.
pub type Choices = BTreeMap<String, Choice>;

/// Why files are one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OneTable {
    /// A log of the table names them; the text says of which format.
    Log(&'static str),
    /// They lie in folders `key=value`, of this key.
    KeyFolders(String),
    /// They lie in folders of years, months and perhaps days.
    DatedFolders,
    /// A file of this name stands beside them, which a program writes that writes one table in parts.
    Marker(&'static str),
    /// They have the numbered names of parts.
    Numbered,
    /// Only the path that was given names them together.
    Named,
}

/// In one clause.
impl fmt::Display for OneTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log(format) => formatter.write_str(format),
            Self::KeyFolders(key) => write!(formatter, "folders `{key}=…`"),
            Self::DatedFolders => formatter.write_str("folders of years and months"),
            Self::Marker(name) => write!(formatter, "`{name}` beside its files"),
            Self::Numbered => formatter.write_str("numbered part files"),
            Self::Named => formatter.write_str("its path names several files"),
        }
    }
}

/// The files of one table.
#[derive(Debug, Clone)]
pub struct FileSet {
    /// The folder or pattern.
    pub path: PathBuf,
    /// In the order of their paths, where numbers count by value (month 10 comes after month 9), or in that of the log; at least one, but for a
    /// table whose log names none.
    pub parts: Vec<Part>,
    /// How the cells of all of them are stored.
    pub format: Format,
    /// By the name of the first.
    pub compression: Compression,
    /// Names of the columns whose values are in the paths.
    pub keys: Vec<String>,
    /// Why these files are one table.
    pub reason: OneTable,
    /// When a file or folder of it was last changed; see [`storage::Metadata::changed_ns`].
    pub modified_ns: u64,
    /// Size of all files, in bytes.
    pub read_bytes: u64,
    /// What the log of the table says, where it has one.
    pub(crate) snapshot: Option<Arc<Snapshot>>,
}

/// One file of a table.
#[derive(Debug, Clone)]
pub struct Part {
    /// Where it is.
    pub path: PathBuf,
    /// The value of each key; `None` where it is missing.
    pub values: Vec<Option<String>>,
    /// Its place among the files that the table's log names, where it has one.
    pub(crate) live: Option<usize>,
    /// Its size, in bytes.
    pub(crate) bytes: u64,
    /// See [`storage::Metadata::changed_ns`]; 0 where a log names it.
    pub(crate) changed_ns: u64,
}

impl FileSet {
    /// The table at `path`, a folder or a pattern of names in one; `None` where that has no table files, or some of several formats.
    pub fn at(path: &Path) -> Option<FileSet> {
        match storage::is_dir(path) {
            true => match FileSet::by_log(path) {
                Some(set) => set.ok(),
                None => FileSet::by_layout(path).or_else(|| {
                    let inside = visible(path)?.into_iter().map(|(_, path)| path);
                    Found::below(path, inside).set(path, OneTable::Named)
                }),
            },
            false => {
                let (folder, pattern) = (path.parent()?, path.file_name()?.to_str()?);
                let named = visible(folder)?.into_iter().filter(|(name, _)| matches(pattern, name));
                let numbered = pattern.to_lowercase().starts_with("part") && pattern.contains(DIGIT);
                let reason = if numbered { OneTable::Numbered } else { OneTable::Named };
                Found::below(folder, named.map(|(_, path)| path)).set(path, reason)
            }
        }
    }

    /// The table that the log in `folder` says it is; `None` where there is no log.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Unreadable`] where the log cannot be read.
    pub(crate) fn by_log(folder: &Path) -> Option<Result<FileSet>> {
        Some(table_format::snapshot(folder)?.map(|snapshot| {
            let part = |(at, file): (usize, &LiveFile)| Part {
                path: file.path.clone().unwrap_or_else(|_| PathBuf::from(&file.name)),
                values: file.values.clone(),
                live: Some(at),
                bytes: file.bytes,
                changed_ns: 0,
            };
            FileSet {
                path: folder.to_path_buf(),
                parts: snapshot.files.iter().enumerate().map(part).collect(),
                format: Format::Parquet,
                compression: Compression::None,
                keys: snapshot.keys.iter().map(|key| on_one_line(key.name())).collect(),
                reason: OneTable::Log(snapshot.reason),
                modified_ns: snapshot.modified_ns,
                read_bytes: snapshot.files.iter().map(|file| file.bytes).fold(0, u64::saturating_add),
                snapshot: Some(snapshot),
            }
        }))
    }

    /// The table that the log or the layout of `folder` says it is.
    pub(crate) fn by_layout(folder: &Path) -> Option<FileSet> {
        if let Some(set) = FileSet::by_log(folder) {
            return set.ok();
        }
        let entries = visible(folder)?;
        let (folders, files): (Vec<_>, Vec<_>) =
            entries.iter().partition(|(_, path): &&(String, PathBuf)| storage::is_dir(path));
        let key = folders.first().and_then(|(name, _)| key_value(name)).map(|(key, _)| key);
        let below = || Found::below(folder, folders.iter().map(|(_, path)| path.clone()));
        if let Some(key) = key {
            let all_keyed = folders.iter().all(|(name, _)| key_value(name).is_some_and(|(other, _)| other == key));
            return if all_keyed { below().set(folder, OneTable::KeyFolders(key)) } else { None };
        }
        let tables: Vec<&(String, PathBuf)> = files.into_iter().filter(|(_, path)| format_at(path).is_some()).collect();
        if !folders.is_empty() {
            let dated = tables.is_empty() && folders.iter().all(|(name, path)| is_year(name) && has_months(path));
            return if dated { below().dated(folder) } else { None };
        }
        let marker = MARKERS.into_iter().find(|marker| storage::is_file(&folder.join(marker)));
        let numbered = tables.len() > 1 && tables.iter().all(|(name, _)| is_part(name));
        let reason = marker.map(OneTable::Marker).or_else(|| numbered.then_some(OneTable::Numbered))?;
        Found::below(folder, tables.iter().map(|(_, path)| path.clone())).set(folder, reason)
    }

    /// The tables of several files that lie in `folder` directly; at the lake's root they have patterns for paths.
    pub fn all_in(folder: &Path, is_root: bool) -> Vec<FileSet> {
        if let Some(set) = FileSet::by_layout(folder) {
            let pattern = match &set.reason {
                OneTable::KeyFolders(key) => format!("{key}=*"),
                _ if set.keys.is_empty() => "*".into(),
                _ => "[0-9][0-9][0-9][0-9]".into(),
            };
            let path = if is_root { folder.join(pattern) } else { folder.to_path_buf() };
            return vec![FileSet { path, ..set }];
        }
        let mut families: BTreeMap<String, usize> = BTreeMap::new();
        for (name, _) in visible(folder).unwrap_or_default().into_iter().filter(|(_, path)| classify(path).is_some()) {
            if let Some(pattern) = part_pattern(&name) {
                *families.entry(pattern).or_default() += 1;
            }
        }
        let families = families.into_iter().filter(|(_, count)| *count > 1);
        families.filter_map(|(pattern, _)| FileSet::at(&folder.join(pattern))).collect()
    }

    /// The name that `part` has in this table: its path below the table's folder.
    pub fn name_of(&self, part: &Path) -> String {
        let base = if storage::is_dir(&self.path) { Some(self.path.as_path()) } else { self.path.parent() };
        let below = base.and_then(|base| part.strip_prefix(base).ok()).unwrap_or(part);
        below.to_string_lossy().replace('\\', "/")
    }
}

/// A file with the keys and values in its path.
struct FoundFile {
    path: PathBuf,
    format: (Format, Compression),
    values: Vec<(String, String)>,
    bytes: u64,
    changed_ns: u64,
}

/// The files below some paths.
struct Found {
    files: Vec<FoundFile>,
    modified_ns: u64,
    read_bytes: u64,
}

impl Found {
    /// All table files at and below `paths`, which are in `base`.
    fn below(base: &Path, paths: impl Iterator<Item = PathBuf>) -> Found {
        let mut found = Found { files: Vec::new(), modified_ns: 0, read_bytes: 0 };
        let depth = base.components().count();
        let mut pending: Vec<PathBuf> = paths.collect();
        while let Some(path) = pending.pop() {
            let Ok(meta) = storage::metadata(&path) else { continue };
            if meta.is_dir() {
                // Its name may hold a value.
                found.modified_ns = found.modified_ns.max(meta.changed_ns());
                // Links may lead in circles.
                if TableFormat::of(&path).is_none() && path.components().count() - depth < MOST_DEPTH {
                    pending.extend(visible(&path).unwrap_or_default().into_iter().map(|(_, path)| path));
                }
            } else if meta.is_file()
                && let Some(format) = format_at(&path).filter(|(format, _)| !format.holds_tables())
            {
                found.modified_ns = found.modified_ns.max(meta.changed_ns());
                found.read_bytes += meta.len();
                let folders = path.parent().and_then(|parent| parent.strip_prefix(base).ok()).unwrap_or(Path::new(""));
                let names = folders.components().map(|part| part.as_os_str().to_string_lossy());
                let values = names.filter_map(|name| key_value(&name)).collect();
                found.files.push(FoundFile { path, format, values, bytes: meta.len(), changed_ns: meta.changed_ns() });
            }
        }
        found.files.sort_by_cached_key(|file| (by_numbers(&file.path), file.path.clone()));
        found
    }

    fn set(self, path: &Path, reason: OneTable) -> Option<FileSet> {
        let (format, compression) = self.files.first()?.format;
        if self.files.iter().any(|file| file.format.0 != format) {
            return None;
        }
        let mut keys: Vec<String> = Vec::new();
        for (key, _) in self.files.iter().flat_map(|file| &file.values) {
            if !keys.contains(key) {
                keys.push(key.clone());
            }
        }
        let part = |FoundFile { path, values, bytes, changed_ns, .. }: FoundFile| {
            let value = |key: &String| values.iter().find(|(other, _)| other == key).map(|(_, value)| value.clone());
            let values = keys.iter().map(|key| value(key).filter(|value| value != HIVE_NULL)).collect();
            Part { path, values, live: None, bytes, changed_ns }
        };
        let parts = self.files.into_iter().map(part).collect();
        let (path, modified_ns, read_bytes) = (path.to_path_buf(), self.modified_ns, self.read_bytes);
        let snapshot = None;
        Some(FileSet { path, parts, format, compression, keys, reason, modified_ns, read_bytes, snapshot })
    }

    /// The table in folders of years, months and perhaps days; `None` where a folder holds files that are no parts of one table.
    fn dated(mut self, base: &Path) -> Option<FileSet> {
        const LEVELS: [&str; 4] = ["year", "month", "day", "hour"];
        const DAYS: usize = 3;
        let mut folders: BTreeMap<PathBuf, (usize, bool)> = BTreeMap::new();
        let (mut families, mut are_streamed): (HashSet<String>, bool) = (HashSet::new(), true);
        for FoundFile { path, values, .. } in &mut self.files {
            let folder = path.parent()?;
            let inside = folders.entry(folder.to_path_buf()).or_insert((0, true));
            *inside = (inside.0 + 1, inside.1 && path.file_name().is_some_and(|name| is_part(&name.to_string_lossy())));
            let names: Vec<String> =
                folder.strip_prefix(base).ok()?.iter().map(|name| name.to_string_lossy().into_owned()).collect();
            if names.len() > LEVELS.len() || names.iter().any(|name| name.parse::<u16>().is_err()) {
                return None;
            }
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            are_streamed &= names.len() >= DAYS && has_random_identifier(&name);
            *values = LEVELS.map(str::to_string).into_iter().zip(names).collect();
            families.insert(unnumbered(&name));
        }
        // What comes in streams is written to folders of days and hours, many files a folder, with random identifiers in their names. Other
        // numbers may say what a file is of: `sensor_12.csv`.
        let is_stream = are_streamed && families.len() == 1;
        let is_one = is_stream || folders.values().all(|(count, all_parts)| *count == 1 || *all_parts);
        if is_one { self.set(base, OneTable::DatedFolders) } else { None }
    }
}

/// Whether a name has a word of eight or more hexadecimal digits, letters and numbers among them.
fn has_random_identifier(name: &str) -> bool {
    name.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let is_hex = word.len() >= 8 && word.chars().all(|c| c.is_ascii_hexdigit());
        is_hex && word.contains(|c: char| c.is_ascii_digit()) && word.contains(|c: char| c.is_alphabetic())
    })
}

/// A name without its numbers, times and random identifiers: `clicks-#.gz` of `clicks-2024-05-01-7f3a21bc.gz`.
fn unnumbered(name: &str) -> String {
    let is_number = |word: &str| {
        let is_hex = matches!(word.len(), 4 | 8 | 12) && word.chars().all(|c| c.is_ascii_hexdigit());
        is_hex || word.contains(|c: char| c.is_ascii_digit())
    };
    let mut words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).collect();
    words.iter_mut().filter(|word| is_number(word)).for_each(|word| *word = "#");
    words.dedup_by(|one, other| *one == "#" && *other == "#");
    words.join("-")
}

/// A text that sorts as `path` does where numbers count by value: before each are its digits, counted.
fn by_numbers(path: &Path) -> String {
    let mut key = String::new();
    for part in path.components() {
        let part = part.as_os_str().to_string_lossy();
        let mut rest = part.as_ref();
        while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
            let (before, number) = rest.split_at(at);
            let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
            let digits = number[..end].trim_start_matches('0');
            key.push_str(before);
            // A number stays among the digits, before letters.
            key.push('0');
            key.extend(char::from_u32(digits.len() as u32 + 1));
            key.push_str(digits);
            rest = &number[end..];
        }
        key.push_str(rest);
        key.push('\0');
    }
    key
}

/// The entries of a folder whose names are not those of hidden or side files, sorted.
fn visible(folder: &Path) -> Option<Vec<(String, PathBuf)>> {
    let entries = storage::read_dir(folder).ok()?.into_iter().flatten();
    let named = entries.filter_map(|path| Some((path.file_name()?.to_string_lossy().into_owned(), path)));
    let mut named: Vec<(String, PathBuf)> =
        named.filter(|(name, path)| !is_hidden(path) && !name.starts_with('_')).collect();
    named.sort();
    Some(named)
}

/// `year=2020` taken apart; the value's `%XX` are decoded.
fn key_value(name: &str) -> Option<(String, String)> {
    let (key, value) = name.split_once('=')?;
    let key = on_one_line(key);
    let is_name = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' '));
    is_name.then(|| (key, unescaped(value).to_string_lossy().into_owned()))
}

fn is_year(name: &str) -> bool {
    name.len() == 4 && name.parse::<u16>().is_ok_and(|year| (1500..=2200).contains(&year))
}

/// Whether a folder has nothing but folders `01` to `12`.
fn has_months(folder: &Path) -> bool {
    let is_month = |name: &str| name.len() <= 2 && name.parse::<u8>().is_ok_and(|month| (1..=12).contains(&month));
    visible(folder)
        .is_some_and(|all| !all.is_empty() && all.iter().all(|(name, path)| storage::is_dir(path) && is_month(name)))
}

/// Whether a file has the name of a part: `part-00000-….parquet`, `part.0.parquet`.
fn is_part(name: &str) -> bool {
    part_pattern(name).is_some()
}

/// The pattern of the numbered parts that a file is one of.
fn part_pattern(name: &str) -> Option<String> {
    let (start, rest) = name.split_at_checked(5)?;
    let is_start = matches!(&start.to_lowercase()[..], "part-" | "part_" | "part.");
    let ending = rest.rfind('.').map(|dot| &rest[dot..])?;
    (is_start && rest.starts_with(|c: char| c.is_ascii_digit())).then(|| format!("{start}{DIGIT}*{ending}"))
}

/// A digit in a pattern.
const DIGIT: &str = "[0-9]";

/// Whether `path` ends in a pattern of names.
pub(crate) fn is_pattern(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains(['*', '[']))
}

/// Whether `name` is one that `pattern` describes: `*` stands for any text, `[0-9]` for a digit.
fn matches(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern, name);
    // Where to go on if what follows the last `*` does not fit: the `*` then stands for one character more.
    let mut again: Option<(&str, &str)> = None;
    loop {
        if let Some(rest) = pattern.strip_prefix('*') {
            pattern = rest;
            again = Some((rest, name));
            continue;
        }
        let (digit, rest) = match pattern.strip_prefix(DIGIT) {
            Some(rest) => (None, rest),
            None => {
                (pattern.chars().next(), pattern.get(pattern.chars().next().map_or(0, char::len_utf8)..).unwrap_or(""))
            }
        };
        let found = name.chars().next();
        match found {
            None if pattern.is_empty() => return true,
            Some(found) if !pattern.is_empty() && digit.map_or(found.is_ascii_digit(), |digit| digit == found) => {
                (pattern, name) = (rest, &name[found.len_utf8()..]);
            }
            _ => {
                let Some((rest, from)) = again.filter(|(_, from)| !from.is_empty()) else { return false };
                let from = &from[from.chars().next().map_or(0, char::len_utf8)..];
                (pattern, name, again) = (rest, from, Some((rest, from)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_paths_count_by_value() {
        let ordered = ["m=1/part-2.csv", "m=1/part-10.csv", "m=02/part-1.csv", "m=9/a.csv", "m=10/a.csv", "m=x", "n"];
        let mut sorted = ordered.map(Path::new);
        sorted.reverse();
        sorted.sort_by_cached_key(|path| by_numbers(path));
        assert_eq!(sorted, ordered.map(Path::new));
    }

    #[test]
    fn names_of_streams_differ_by_numbers() {
        let of = |name: &str| unnumbered(name);
        assert_eq!(of("clicks-1-2024-05-01-00-03-11-7f3a21bc-aced-4d11-9c2e-0a1b2c3d4e5f.gz"), "clicks-#-gz");
        assert_eq!(of("clicks-1-2024-05-02-10-00-00-00000000-0000-4d11-9c2e-deadbeefcafe.gz"), "clicks-#-gz");
        assert_ne!(of("orders_20240501.csv"), of("customers_20240501.csv"));
    }

    #[test]
    fn patterns() {
        for (pattern, name, fits) in [
            ("part-[0-9]*.csv", "part-00001-ab.csv", true),
            ("part-[0-9]*.csv", "part-time.csv", false),
            ("part-[0-9]*.csv", "part-1.csv.gz", false),
            ("*", "", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b-d", false),
            ("é*", "éa", true),
            ("[0-9][0-9]", "20", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
        assert_eq!(part_pattern("part-00001-ab.c000.snappy.parquet").as_deref(), Some("part-[0-9]*.parquet"));
        assert_eq!((part_pattern("party.csv"), part_pattern("part-a.csv"), part_pattern("pär")), (None, None, None));
    }
}
