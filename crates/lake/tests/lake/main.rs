//! Badly written files, read by every reader.

mod reader_behaviour;
mod readers;
