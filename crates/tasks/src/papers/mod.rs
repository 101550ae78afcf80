//! Reads documents: papers and other texts that say which data was used for which task, each read once and stored as plain text.
//!
//! [`add::add`] takes PDF, plain text, Markdown and JSON lines ([`reading`]), normalises their text ([`normalise`]), splits it
//! into title, [`Section`]s and references ([`sections`]), and stores it under the SHA-256 of the source file; later steps read
//! from [`Store`]. [`extract`] finds the datasets and tasks in a document, as the plain types of [`extraction`].
//!
//! Documents are untrusted input. PDFs are read in a separate process ([`isolated`]); everything else has bounds, and a reason
//! is reported when one is reached.

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
