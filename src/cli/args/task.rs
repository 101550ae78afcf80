//! Arguments of the commands about the task graph.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Answers;

#[derive(Debug, Args)]
pub struct TaskCommand {
    /// The task, in your own words.
    #[arg(required = true, num_args = 1.., value_name = "TEXT")]
    pub text: Vec<String>,
    #[command(flatten)]
    pub answers: Answers,
    /// Damping factor of the PageRank walk from similar tasks, from 0 to below 1 (networkx's alpha).
    #[arg(long, default_value_t = 0.85)]
    pub alpha: f64,
    /// Only datasets in the index, none that only papers mention.
    #[arg(long)]
    pub in_lake: bool,
    /// Exclude this paper and everything known from it; repeatable.
    #[arg(long, value_name = "ID")]
    pub exclude: Vec<String>,
    /// Rank by KATS as published, from this many seed tasks; for comparisons.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: Option<u32>,
    /// Ignore descriptions and popularity, and do not rerank with a language model; for comparisons.
    #[arg(long)]
    pub no_rerank: bool,
    /// Do not use PageRank to reach further tasks; for comparisons.
    #[arg(long)]
    pub no_pagerank: bool,
    /// Write a full trace of the answer to this file, which must not exist yet; `lakeward replay` replays it.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct GraphCommand {
    #[command(subcommand)]
    pub what: GraphWhat,
}

#[derive(Debug, Subcommand)]
pub enum GraphWhat {
    /// Build or update the graph.
    Build {
        /// Extractions from papers as JSON lines, one per paper, added to those in the graph and from `papers extract`;
        /// repeatable.
        #[arg(long, value_name = "FILE")]
        papers: Vec<PathBuf>,
        /// Leave out the results of `papers extract`.
        #[arg(long)]
        no_extractions: bool,
        /// Discard the papers in the graph, including those removed with `papers remove` since.
        #[arg(long)]
        anew: bool,
        /// Merge no names except those joined with `merge`.
        #[arg(long)]
        no_resolution: bool,
        /// Maximum calls of the configured language model about names that the rules leave undecided.
        #[arg(long, value_name = "N", default_value_t = 200)]
        calls: u32,
    },
    /// Show the size of the graph.
    Stats,
    /// Show or forget what was learned from sessions: which tables were accepted or used for which requests.
    Learned(FeedbackCommand),
    /// Explain by which verdicts two names are one dataset, or why not.
    Why {
        /// A record or table by id or title, or a name as a paper writes it.
        a: String,
        /// The other one.
        b: String,
    },
    /// Show a random sample of merged names with their records, to be judged by a person.
    Audit {
        /// Sample size.
        #[arg(long, short = 'n', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        count: u32,
        /// Seed of the sample.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Decide permanently that two names are one dataset.
    Merge {
        /// As with `why`.
        a: String,
        /// The other one.
        b: String,
    },
    /// Decide permanently that two names are two datasets.
    Split {
        /// As with `why`.
        a: String,
        /// The other one.
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
    /// List the learned uses, oldest first.
    List,
    /// Forget learned uses, also in the graph.
    Forget {
        /// Everything learned about this table.
        #[arg(long, value_name = "ID")]
        table: Option<String>,
        /// Everything learned about this request, as `list --json` shows it.
        #[arg(long, value_name = "TEXT")]
        request: Option<String>,
        /// Everything.
        #[arg(long, conflicts_with_all = ["table", "request"])]
        all: bool,
    },
}
