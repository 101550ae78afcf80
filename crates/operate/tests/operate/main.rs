//! Operations carried out over the sample lake.

mod operations;
mod plans;

/// The folder of the repository.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
