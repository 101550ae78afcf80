//! What turns of conversations say.

mod intent;
mod turns;

/// The folder of the repository.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
