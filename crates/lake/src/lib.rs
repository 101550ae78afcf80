//! Which tables exist and what they contain.
//!
//! A file is listed ([`source`]), found again by its path ([`location`], [`layout`]), read ([`reader`]), scanned once ([`scan`]) and profiled ([`profile`]); its publisher's
//! metadata is read from separate files ([`metadata`]). A [`dataset::TableEntry`] holds all that is stored of a table except
//! its values.

pub mod cell_hashes;
pub mod cell_setting;
pub mod checkpoint;
pub mod composite_key;
pub mod dataset;
pub mod grain;
pub mod harvest;
pub mod identifier;
pub mod join_keys;
pub mod key_sample;
pub mod layout;
pub mod location;
pub mod metadata;
pub mod notes;
pub mod places;
pub mod profile;
pub mod reader;
pub mod scan;
pub mod scanned_part;
pub mod semantic;
pub mod source;
pub mod storage;
mod table_format;
