//! Which tables exist and what is in them.
//!
//! A file is found ([`source`]), read ([`reader`]), scanned once ([`scan`]) and summed up ([`profile`]); what its publisher
//! says of it is read beside it ([`metadata`]). A [`dataset::TableEntry`] holds all that is known of a table but its values.

pub mod cell_hashes;
pub mod composite_key;
pub mod dataset;
pub mod grain;
pub mod metadata;
pub mod places;
pub mod profile;
pub mod reader;
pub mod scan;
pub mod semantic;
pub mod source;
