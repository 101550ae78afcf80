//! The steps of a build after which the state on disk differs.

use std::fmt;

use crate::structures;

/// A step of a build after which the state on disk differs; a build [notes](lakeward_core::Monitor::note) each by its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildStep {
    /// This file of a new segment is on disk.
    Written(&'static str),
    /// The texts of some tables are read and on disk, those of their segment not all yet.
    TextsRead,
    /// The new manifest is on disk, the old one is not replaced yet.
    ManifestWritten,
    /// The new manifest has replaced the old one.
    ManifestReplaced,
    /// Folders that no manifest names are deleted.
    OrphansRemoved,
}

impl BuildStep {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        let files = structures::FORMATS.iter().map(|format| Self::Written(format.name));
        files.chain([Self::TextsRead, Self::ManifestWritten, Self::ManifestReplaced, Self::OrphansRemoved])
    }
}

impl fmt::Display for BuildStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written(file) => write!(f, "{file} written"),
            Self::TextsRead => f.write_str("texts read"),
            Self::ManifestWritten => f.write_str("manifest written"),
            Self::ManifestReplaced => f.write_str("manifest replaced"),
            Self::OrphansRemoved => f.write_str("orphans removed"),
        }
    }
}
