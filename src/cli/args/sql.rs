//! Arguments of queries and plans, and how rows are written.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct SqlCommand {
    /// The query: SELECT, WITH, VALUES, EXPLAIN, SHOW or DESCRIBE.
    pub query: String,
    /// Maximum number of rows; 0 for all. Default 500; all with `--out` or as Parquet.
    #[arg(long, short = 'n', value_name = "N")]
    pub limit: Option<u64>,
    /// Output format; by default from the extension of `--out`, else a table.
    #[arg(long, short)]
    pub format: Option<RowFormat>,
    /// Write the rows to a file (atomically) instead of printing them.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Let `--out` replace an existing file.
    #[arg(long, requires = "out")]
    pub overwrite: bool,
}

#[derive(Debug, Args)]
pub struct PlanCommand {
    /// The plan as JSON (see `lakeward schema plan`); `-` for standard input.
    pub file: PathBuf,
    /// Print the query and nothing else.
    #[arg(long, conflicts_with = "out")]
    pub sql: bool,
    /// Carry the plan out and write its rows to this file: `.csv` or `.parquet`.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Let `--out` replace an existing file.
    #[arg(long, requires = "out")]
    pub overwrite: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// Aligned columns for people.
    Table,
    /// UTF-8 with a header; lists and structures as JSON, bytes as hexadecimal digits.
    Csv,
    /// One document with columns, rows and notes.
    Json,
    /// One JSON object per row.
    Ndjson,
    /// Apache Parquet, compressed with zstd.
    Parquet,
}
