//! Arguments of the commands that bring data into an index.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct IndexCommand {
    #[command(subcommand)]
    pub step: Option<IndexStep>,
    /// Folder or address of the lake (or `--lake`).
    pub lake: Option<PathBuf>,
    /// Read only the first N rows of every table; answers then say that they are based on a sample.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sample_rows: Option<u32>,
    /// Catalogue records: one JSON object per line ({"id","title","description","tags",…}); a dump of CKAN, DCAT, schema.org, DataCite,
    /// Dataverse or Science Data Bank; XML of OAI-PMH, DataCite or ISO 19115; or a folder of such files. Metadata
    /// for tables of the lake and for data outside it. Remembered for later updates; `--rebuild` forgets it. Not needed for
    /// a lake that contains only catalogues.
    #[arg(long, value_name = "FILE")]
    pub records: Option<PathBuf>,
    /// Discard the existing index and rebuild it.
    #[arg(long)]
    pub rebuild: bool,
    /// Check every byte of the index first, and read the tables of damaged parts again.
    #[arg(long, conflicts_with = "rebuild")]
    pub repair: bool,
    /// Leave out the model that reads whole texts: ten times as fast, but tables are found by their words and not by what they are about.
    /// An index keeps its model until `--rebuild`.
    #[arg(long)]
    pub fast: bool,
    /// Keep running, and update the index whenever files of the lake change.
    #[arg(long)]
    pub watch: bool,
    /// Have a cluster build it, in `-n` shards: the address of its scheduler. Needs the program `lakeward-cluster`.
    #[arg(long, value_name = "df://HOST:PORT", requires = "shards", conflicts_with_all = ["rebuild", "repair", "watch"])]
    pub on: Option<String>,
    /// Number of shards for `--on`.
    #[arg(short = 'n', long, value_name = "N", requires = "on")]
    pub shards: Option<u32>,
}

/// The rest of the line is for the other program, options too.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct ClusterCommand {
    /// `scheduler`, `executor` or `index`, and what that takes: `lakeward cluster executor --help` shows it.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT", required = true)]
    pub arguments: Vec<OsString>,
}

/// A build shared by many machines: each step can be made again, and any engine can run the second.
#[derive(Debug, Subcommand)]
pub enum IndexStep {
    /// List what the index lacks, in shards of similar size; prints the list, which is beside the index.
    Shards(ShardsCommand),
    /// Read one shard of a list; what could not be read is in what it prints.
    Work(ShardCommand),
    /// Print the numbers of the shards that nobody has read to the end, one a line.
    Missing(MissingCommand),
    /// Commit what the shards of a list have read; the index is as if one machine had built it.
    Commit(ListCommand),
}

#[derive(Debug, Args)]
pub struct ShardsCommand {
    /// Folder or address of the lake (or `--lake`).
    pub lake: Option<PathBuf>,
    /// Number of shards; some may be empty.
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub shards: u32,
    /// Read only the first N rows of every table.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sample_rows: Option<u32>,
    /// Catalogue records, as for `index`; the commit reads them.
    #[arg(long, value_name = "FILE")]
    pub records: Option<PathBuf>,
    /// Leave out the model that reads whole texts.
    #[arg(long)]
    pub fast: bool,
}

#[derive(Debug, Args)]
pub struct ShardCommand {
    /// The list, as `index shards` printed it.
    pub list: PathBuf,
    /// Number of the shard, from 0 on.
    #[arg(long, value_name = "K")]
    pub shard: u32,
}

#[derive(Debug, Args)]
pub struct MissingCommand {
    /// The list, as `index shards` printed it.
    pub list: PathBuf,
}

#[derive(Debug, Args)]
pub struct ListCommand {
    /// The list, as `index shards` printed it.
    pub list: PathBuf,
    /// Leave out shards that are missing; work on them and commit again to add them.
    #[arg(long)]
    pub in_part: bool,
}

#[derive(Debug, Args)]
pub struct HarvestCommand {
    /// Base URL of the repository, such as https://zenodo.org/oai2d.
    pub url: String,
    /// Folder for the pages; by default the name of the server, here. One that holds a harvest of this URL is continued.
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Metadata format; by default the richest of the server's: DataCite, ISO 19115, Dublin Core.
    #[arg(long, value_name = "PREFIX")]
    pub format: Option<String>,
    /// Only this set of the repository.
    #[arg(long, value_name = "SET")]
    pub set: Option<String>,
    /// Only records changed since this date (YYYY-MM-DD); later runs go on from the one before.
    #[arg(long, value_name = "DATE")]
    pub from: Option<String>,
    /// Seconds between two requests.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub pause: f64,
}
