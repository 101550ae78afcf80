//! Badly written files, read by every reader.

mod readers;
