//! Citable answers: what a table or record is cited by, what an identifier stands for, and the gate that keeps identifiers
//! that the catalogue does not have from leaving the process.
//!
//! An [`Identifier`] is read however people write it. A [`Citation`] is what one says of a table, as [`bibtex()`], [`csl_json`] or
//! [`plain()`] text. [`resolve()`] finds what an identifier means now: the same content elsewhere, another content in the
//! same place, or nothing. The [`Gate`] stands where answers leave: [`Checked`] can be made by it alone, and what a language
//! model wrote goes through it as [`Gate::text`]. No network: whether a DOI resolves on the web is not asked.

mod bibtex;
mod checked;
mod citation;
mod csl;
mod identifier;
mod mention;
mod own;
mod plain;
mod resolve;
#[cfg(test)]
mod tests;

pub use bibtex::bibtex;
pub use checked::{Checked, Gate, NOT_THERE, NamesTables};
pub use citation::{Citation, CitedDate};
pub use csl::csl_json;
pub use identifier::Identifier;
pub use mention::without_identifiers;
pub use own::{OwnIdentifier, version};
pub use plain::plain;
pub use resolve::{Meaning, Resolution, ResolvedTable, resolve};
