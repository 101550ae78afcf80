//! Badly written files, read by every reader.

mod holders;
mod layouts;
mod reader_behaviour;
mod readers;
mod workbook_file;
