//! The program and the library as their users meet them: commands, conversations, SQL, files that last.

mod added_parts;
mod ask;
#[path = "../../crates/eval/tests/eval/benchmark.rs"]
mod benchmark;
mod catalogues;
mod cells;
#[path = "../../crates/models/tests/models/chat_behaviour.rs"]
mod chat_behaviour;
mod cite;
mod cli;
mod closed_forms;
mod code_lists;
mod columns;
mod commands;
mod conversation;
mod copies;
mod doubts;
mod durability;
mod editions;
#[path = "../../crates/models/tests/models/embedder_behaviour.rs"]
mod embedder_behaviour;
mod eval;
mod eval_variants;
mod examples;
mod extraction;
mod fault_proxy;
mod foreign_session;
mod functions;
mod fuzz;
#[path = "../../crates/lake/tests/lake/fuzzing.rs"]
mod fuzzing;
mod goes_on;
mod index_stores;
mod intention;
mod lake_forms;
mod learning;
mod llm_server;
#[allow(dead_code, reason = "the tests of the reader write more of them")]
#[path = "../../crates/lake/tests/lake/log_files.rs"]
mod log_files;
mod names_of_codes;
mod notes;
mod operations;
mod other_table;
mod outcomes;
mod papers;
mod partners;
mod place;
mod places;
mod python_types;
mod questions;
mod random_plans;
mod readings;
mod repl;
mod search_shards;
mod service;
mod session_plans;
mod sessions;
mod shards;
mod simulate;
mod slt;
mod sql;
#[path = "../../crates/lake/tests/lake/store_server.rs"]
#[allow(dead_code, reason = "the tests of the reader make more faults")]
mod store_server;
mod store_services;
mod stores;
mod tune;
mod versioned_tables;
#[allow(dead_code, reason = "the tests of the reader make more kinds of cells")]
#[path = "../../crates/lake/tests/lake/workbook_file.rs"]
mod workbook_file;

/// The folder of the repository.
const REPOSITORY: &str = env!("CARGO_MANIFEST_DIR");
