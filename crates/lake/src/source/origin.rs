//! Where a dataset is: a file of the lake, or a record of a catalogue.

use std::fmt;

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
