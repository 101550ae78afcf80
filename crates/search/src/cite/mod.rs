//! Citable answers: citations of tables and records, resolution of identifiers, and the gate that keeps identifiers that are
//! not in the catalogue out of the program's output.
//!
//! An [`Identifier`] is parsed in any common notation. A [`Citation`] describes a table and is written as [`bibtex()`],
//! [`csl_json`] or [`plain()`] text. [`resolve()`] finds what an identifier stands for now: the same content elsewhere, other
//! content in the same place, or nothing. Every answer passes the [`Gate`]: only the gate can make a [`Checked`], and texts of a
//! language model pass it by [`Gate::text`]. The network is not used: whether a DOI resolves on the web is not checked.

mod bibtex;
mod checked;
mod citation;
mod csl;
mod mention;
mod plain;
mod resolve;
#[cfg(test)]
mod tests;

pub use bibtex::bibtex;
pub use checked::{Checked, Gate, NOT_THERE, NamesTables};
pub use citation::{Author, Citation, CitedDate};
pub use csl::csl_json;
pub use lakeward_lake::identifier::{Identifier, OwnIdentifier, version};
pub use mention::without_identifiers;
pub use plain::plain;
pub use resolve::{Meaning, Resolution, ResolvedTable, resolve};
