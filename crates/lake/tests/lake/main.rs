//! Badly written files, read by every reader.

mod addresses;
mod avro_files;
mod catalogue_records;
mod fuzz;
mod fuzzing;
mod holders;
mod iceberg_tables;
mod layouts;
mod log_files;
mod log_tables;
mod reader_behaviour;
mod readers;
#[allow(dead_code, reason = "the tests of an index in a store write, too")]
mod store_server;
mod workbook_file;
