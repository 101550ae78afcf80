//! Who hears how a build goes on.

/// A step of a build after which the disk is in another state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildStep {
    /// The word index of a new segment is on the disk.
    WordsWritten,
    /// Its catalogue.
    CatalogWritten,
    /// Its facets.
    FacetsWritten,
    /// Its word pieces.
    TokensWritten,
    /// Its vectors.
    VectorsWritten,
    /// Its inverted lists and LSH trees.
    JoinWritten,
    /// Its columns.
    ColumnsWritten,
    /// The new manifest is on the disk, the old one still stands.
    ManifestWritten,
    /// The new manifest stands.
    ManifestReplaced,
    /// Folders that no manifest names are gone.
    OrphansRemoved,
}

impl BuildStep {
    /// All of them.
    pub const ALL: [BuildStep; 10] = [
        BuildStep::WordsWritten,
        BuildStep::CatalogWritten,
        BuildStep::FacetsWritten,
        BuildStep::TokensWritten,
        BuildStep::VectorsWritten,
        BuildStep::JoinWritten,
        BuildStep::ColumnsWritten,
        BuildStep::ManifestWritten,
        BuildStep::ManifestReplaced,
        BuildStep::OrphansRemoved,
    ];
}

/// Hears how a build goes on; called from several threads.
pub trait BuildObserver: Sync {
    /// Reading starts: `files` files of `bytes` bytes in all are new or changed.
    fn started(&self, files: u64, bytes: u64);
    /// One more file of `bytes` bytes was read.
    fn file_done(&self, bytes: u64);
    /// Reading is over, `what` is being done.
    fn phase(&self, what: &str);
    /// The disk is in another state.
    fn reached(&self, _step: BuildStep) {}
    /// Whether the user wants to stop.
    fn interrupted(&self) -> bool {
        false
    }
}

/// An observer that hears nothing.
pub struct Silent;

impl BuildObserver for Silent {
    fn started(&self, _files: u64, _bytes: u64) {}
    fn file_done(&self, _bytes: u64) {}
    fn phase(&self, _what: &str) {}
}
