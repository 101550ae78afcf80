//! Documents in: papers and other texts that say which data served which task, read once and kept as plain text.
//!
//! [`add::add`] takes PDF, plain text, Markdown and JSON lines ([`reading`]), brings their text into one form ([`normalise`]),
//! takes it apart into title, [`Section`]s and references ([`sections`]), and keeps it by the SHA-256 of the file it came
//! from; [`Store`] is what later steps read. [`extract`] finds what a
//! document says of data sets and tasks, as the plain types of [`extraction`].
//!
//! Documents are hostile input. PDFs are read in a process of their own ([`isolated`]), and everything else has bounds that a
//! reason names where they are reached.

pub mod add;
mod document;
pub mod extract;
pub mod extraction;
pub mod isolated;
mod json_lines;
mod line;
mod manifest;
mod markdown;
mod normalise;
mod pdf;
pub mod reading;
mod running_heads;
mod sections;
mod sentences;
mod store;
mod texts;

pub use add::{AddOptions, AddStats, FileFault};
pub use document::{Document, DocumentSource, Fingerprint, Section, SectionKind};
pub use isolated::PdfReader;
pub use manifest::{DocumentEntry, FileRecord, FileStatus};
pub use sentences::sentences;
pub use store::Store;
