//! Readers: one file a format, one trait for all.
