//! Durable files: everything that Lakeward stores between two runs is written and read through these types.
//!
//! - [`AtomicFile`] and [`write_atomic`]: a file appears complete or not at all, and survives a crash of the machine.
//! - [`FileLock`]: one writer at a time.
//! - [`JsonLines`] and [`KeyedLines`]: records as lines of JSON below a header with name and version, appended to and rewritten.
//! - [`publish_folder`]: a folder of files appears whole.
//! - [`BlobCache`]: a cache of files by key.
//! - [`Bounds`], [`LineReader`] and [`version_of`]: reading files that may be hostile, or of another version.
//!
//! It knows no format beyond header and lines; segments, sessions and manifests define their own.

mod atomic;
mod blobs;
mod bounds;
mod folder;
mod keyed;
mod lines;
mod lock;
mod reader;
mod version;

pub use atomic::{AtomicFile, Purpose, remove_unfinished, write_atomic};
pub use blobs::BlobCache;
pub use bounds::{Bounds, Links};
pub use folder::{folder_of, make_folder, publish_folder, sync_folder};
pub use keyed::{KeyedLines, KeyedRecord};
pub use lines::{Damage, JsonLines, LineRecord, LinesFormat};
pub use lock::FileLock;
pub use reader::{Line, LineEnd, LineReader};
pub use version::version_of;
