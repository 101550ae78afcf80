//! Arguments of the commands about the task graph.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Answers;

#[derive(Debug, Args)]
pub struct TaskCommand {
    /// What is to be done, in your own words.
    #[arg(required = true, num_args = 1.., value_name = "TEXT")]
    pub text: Vec<String>,
    #[command(flatten)]
    pub answers: Answers,
    /// How far a walk goes from the tasks like this one, from 0 to below 1 (networkx's alpha).
    #[arg(long, default_value_t = 0.85)]
    pub alpha: f64,
    /// Only datasets that the index has, none that only papers name.
    #[arg(long)]
    pub in_lake: bool,
    /// Leave this paper out, with all that is known from it; several times for several.
    #[arg(long, value_name = "ID")]
    pub exclude: Vec<String>,
    /// Rank as KATS was published, from this many tasks; for comparisons.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: Option<u32>,
    /// Count neither descriptions nor popularity, and ask no language model for the order; for comparisons.
    #[arg(long)]
    pub no_rerank: bool,
    /// Let no walk lead to tasks; for comparisons.
    #[arg(long)]
    pub no_pagerank: bool,
}

#[derive(Debug, Args)]
pub struct GraphCommand {
    #[command(subcommand)]
    pub what: GraphWhat,
}

#[derive(Debug, Subcommand)]
pub enum GraphWhat {
    /// Build the graph, or bring it up to date.
    Build {
        /// What papers say, JSON lines, one a paper: added to what the graph has and to what `papers extract` found. Several times
        /// for several.
        #[arg(long, value_name = "FILE")]
        papers: Vec<PathBuf>,
        /// Leave out what `papers extract` found.
        #[arg(long)]
        no_extractions: bool,
        /// Forget the papers that the graph has, also those that were removed since with `papers remove`.
        #[arg(long)]
        anew: bool,
        /// Join no names but those that `merge` has joined.
        #[arg(long)]
        no_resolution: bool,
        /// Calls of the language model, where one is configured, about names that rules leave open.
        #[arg(long, value_name = "N", default_value_t = 200)]
        calls: u32,
    },
    /// How much is in the graph.
    Stats,
    /// What sessions have taught: which tables were accepted or used for which requests.
    Learned(FeedbackCommand),
    /// Say by which verdicts two names are one dataset, or why not.
    Why {
        /// A record or table by id or title, or a name as a paper has it.
        a: String,
        /// The other.
        b: String,
    },
    /// Show a random sample of the names that were joined, with their records, to be judged by a person.
    Audit {
        /// How many.
        #[arg(long, short = 'n', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        count: u32,
        /// Seed of the sample.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Settle that two names are one dataset, for good.
    Merge {
        /// As with `why`.
        a: String,
        /// The other.
        b: String,
    },
    /// Settle that two names are two datasets, for good.
    Split {
        /// As with `why`.
        a: String,
        /// The other.
        b: String,
    },
}

#[derive(Debug, Args)]
pub struct FeedbackCommand {
    #[command(subcommand)]
    pub what: FeedbackAction,
}

#[derive(Debug, Subcommand)]
pub enum FeedbackAction {
    /// List it, oldest first.
    List,
    /// Forget it, in the graph, too.
    Forget {
        /// What was learned of this table.
        #[arg(long, value_name = "ID")]
        table: Option<String>,
        /// What was learned of this request, as `list` shows it with `--json`.
        #[arg(long, value_name = "TEXT")]
        request: Option<String>,
        /// All of it.
        #[arg(long, conflicts_with_all = ["table", "request"])]
        all: bool,
    },
}
