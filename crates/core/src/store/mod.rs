//! Files that last: whatever Lakeward keeps between two runs is written and read through these few nouns.
//!
//! - [`AtomicFile`] and [`write_atomic`]: a file appears whole or not at all, and survives a failure of the machine.
//! - [`FileLock`]: one writer at a time.
//! - [`JsonLines`] and [`KeyedLines`]: records as lines of JSON below a head with name and version, appended to and rewritten.
//! - [`BlobCache`]: texts by key that may be lost at any time.
//! - [`Bounds`] and [`LineReader`]: reading what somebody else may have put in the place of a file.
//!
//! What it does not do: it knows no format beyond head and line; segments, sessions and manifests define their own.

mod atomic;
mod blobs;
mod bounds;
mod folder;
mod keyed;
mod lines;
mod lock;
mod reader;

pub use atomic::{AtomicFile, Purpose, remove_unfinished, write_atomic};
pub use blobs::BlobCache;
pub use bounds::{Bounds, Links};
pub use folder::{folder_of, make_folder, sync_folder};
pub use keyed::{KeyedLines, KeyedRecord};
pub use lines::{Damage, JsonLines, LineRecord, LinesFormat};
pub use lock::FileLock;
pub use reader::{Line, LineEnd, LineReader};
