//! Badly written files, read by every reader.

mod addresses;
mod holders;
mod iceberg_tables;
mod layouts;
mod log_tables;
mod reader_behaviour;
mod readers;
mod store_server;
mod workbook_file;
