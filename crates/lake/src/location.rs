//! What is at a path: a file that is a table, a table in a file that holds several, or a table in several files.
//!
//! A table in a workbook or a database has the path of that file with its own name below it: `sales.xlsx/Q1`. A path of this kind
//! goes wherever a file's goes, is indexed, cited and typed by users; only here it is taken apart. A file that holds a single
//! table has its plain path. A table in several files has the path of their folder, or a pattern; see [`crate::layout`].

use std::io;
use std::path::{Path, PathBuf};

use crate::dataset::ForeignKey;
use crate::layout::{FileSet, is_pattern};
use crate::reader::sqlite;
use crate::source::{Compression, Format, LakeFile, classify, escape_name, format_at};
use crate::storage;
use lakeward_core::error::Result;

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A file that is read as one table; whether it exists shows when it is opened.
    File {
        /// Where it is.
        path: PathBuf,
        /// By its name, or its first bytes where that tells nothing; of an unknown one, delimited text.
        format: Format,
        /// By its name.
        compression: Compression,
    },
    /// One of the tables in a file.
    Part {
        /// The file.
        file: PathBuf,
        /// What kind of file holds it.
        format: Format,
        /// The table's name in it, as [`part_name`] writes it.
        name: String,
    },
    /// A table in several files.
    Files {
        /// Their folder, or a pattern of their names.
        path: PathBuf,
    },
}

impl Location {
    /// What is at `path`; looks at the file system or the store.
    pub fn of(path: &Path) -> Location {
        if storage::is_dir(path)
            || (is_pattern(path) && !storage::is_file(path) && path.parent().is_some_and(storage::is_dir))
        {
            return Location::Files { path: path.to_path_buf() };
        }
        if let (Some(parent), Some(name)) = (path.parent(), path.file_name())
            && let Some((format, _)) = classify(parent).filter(|(format, _)| format.holds_tables())
            && !storage::is_file(path)
            && storage::is_file(parent)
        {
            return Location::Part { file: parent.to_path_buf(), format, name: name.to_string_lossy().into_owned() };
        }
        let (format, compression) = format_at(path).unwrap_or((Format::Csv, Compression::None));
        Location::File { path: path.to_path_buf(), format, compression }
    }

    /// The file that is read; of several, their folder or pattern.
    pub fn file(&self) -> &Path {
        match self {
            Location::File { path, .. } | Location::Files { path } => path,
            Location::Part { file, .. } => file,
        }
    }

    /// Whether there is a file or, of several, at least one.
    pub fn exists(&self) -> bool {
        match self {
            Location::Files { path } => FileSet::at(path).is_some(),
            other => storage::is_file(other.file()),
        }
    }

    /// Whether someone who types the path means a table: a folder only where its layout says so. Nothing at an address is: what is typed, also
    /// into a page or by a model, must not make this machine ask other servers.
    pub fn is_table(&self) -> bool {
        match self {
            other if storage::Address::is(other.file()) => false,
            Location::Files { path } if storage::is_dir(path) => FileSet::by_layout(path).is_some(),
            other => other.exists(),
        }
    }

    /// Whether the types of its columns are those that its file declares.
    pub fn declares_types(&self) -> bool {
        let declared = |format: &Format, compression: &Compression| match format {
            Format::Parquet => *compression == Compression::None,
            format => matches!(format, Format::ArrowIpc | Format::Avro | Format::Orc),
        };
        match self {
            Location::File { format, compression, .. } => declared(format, compression),
            Location::Part { .. } => false,
            Location::Files { path } => FileSet::at(path).is_some_and(|set| declared(&set.format, &set.compression)),
        }
    }

    /// The path without links and relative parts.
    ///
    /// # Errors
    /// The operating system's, where there is no such file.
    pub fn canonical(&self) -> io::Result<PathBuf> {
        Ok(match self {
            Location::Part { file, name, .. } => storage::canonical(file)?.join(name),
            Location::Files { path } if is_pattern(path) && !storage::is_dir(path) => {
                storage::canonical(path.parent().unwrap_or(Path::new(".")))?.join(path.file_name().unwrap_or_default())
            }
            other => storage::canonical(other.file())?,
        })
    }

    /// Size in bytes and [time of change](storage::Metadata::changed_ns) of what is read.
    ///
    /// # Errors
    /// The operating system's.
    pub fn file_stamp(&self) -> io::Result<(u64, u64)> {
        if let Location::Files { path } = self {
            let gone = || io::Error::new(io::ErrorKind::NotFound, "no table files in it");
            return FileSet::at(path).map(|set| (set.read_bytes, set.modified_ns)).ok_or_else(gone);
        }
        storage::metadata(self.file()).map(|meta| (meta.len(), meta.changed_ns()))
    }
}

/// The foreign keys that a table of a database declares.
///
/// # Errors
/// Those of reading the database.
pub fn foreign_keys(file: &LakeFile) -> Result<Vec<ForeignKey>> {
    let (name, database) = match Location::of(&file.path) {
        Location::Part { file: path, format: Format::Sqlite, name } => (Some(name), path),
        Location::File { path, format: Format::Sqlite, .. } => (None, path),
        _ => return Ok(Vec::new()),
    };
    let mut keys = sqlite::foreign_keys(&database, name.as_deref())?;
    for key in &mut keys {
        // The other table is in the same file; where there is none, the key refers to its own table.
        key.to_path = match name {
            Some(_) => {
                file.relative.rsplit_once('/').map_or_else(String::new, |(above, _)| format!("{above}/{}", key.to_path))
            }
            None => file.relative.clone(),
        };
    }
    Ok(keys)
}

/// A table's name in its file as the last part of a path: control characters, `/` and `%` are written `%XX`, as are dots where
/// there is nothing else.
pub fn part_name(name: &str) -> String {
    let escaped = escape_name(name.replace('%', "%25").replace('/', "%2F").replace('\\', "%5C").as_bytes());
    match escaped.as_str() {
        "" => "%00".into(),
        "." | ".." => escaped.replace('.', "%2E"),
        _ => escaped,
    }
}
