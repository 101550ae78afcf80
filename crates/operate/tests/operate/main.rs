//! Operations carried out over the sample lake.

mod operations;

/// The folder of the repository.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
