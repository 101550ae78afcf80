//! Formats and compressions of table files, told by their names, and by their first bytes where a name tells nothing.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reader::content;

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
pub(super) fn tells_nothing(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    strip_compression(&name).0.rsplit_once('.').is_none_or(|(_, extension)| extension == "part")
}

/// [`classify`] of a table by its path below the lake's root: of a table in a file, what the file is.
pub fn classify_table(relative: &str) -> Option<(Format, Compression)> {
    let relative = Path::new(relative);
    let files = relative.ancestors().skip(1).filter_map(classify);
    files.filter(|(format, _)| format.holds_tables()).last().or_else(|| classify(relative))
}

pub(super) fn format_of(extension: &str) -> Option<Format> {
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

pub(super) fn strip_compression(name: &str) -> (&str, Compression) {
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
pub(super) fn extension(path: &Path, compression: Compression) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let stem = if compression == Compression::None { &name[..] } else { strip_compression(&name).0 };
    stem.rsplit_once('.').map(|(_, extension)| extension.to_string()).unwrap_or_default()
}
