//! Arguments of the searches, and of what is made of their answers.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use lakeward_agent::feature_table::Aggregate;

#[derive(Debug, Args)]
pub struct SearchCommand {
    /// What you are looking for, in your own words.
    #[arg(required = true, num_args = 1.., value_name = "TEXT")]
    pub text: Vec<String>,
    #[command(flatten)]
    pub answers: Answers,
}

#[derive(Debug, Args)]
pub struct JoinCommand {
    /// A table of the lake, or any file.
    pub table: String,
    /// The key column, or several columns of a composite key, separated by commas (`"Smith, J",year` quotes a name that
    /// contains one) or each with its own `--column`; without it the likeliest keys are tried.
    #[arg(long, short, value_name = "COLUMN[,COLUMN]…")]
    pub column: Vec<String>,
    #[command(flatten)]
    pub answers: Answers,
}

#[derive(Debug, Args)]
pub struct UnionCommand {
    /// A table of the lake, or any file.
    pub table: String,
    #[command(flatten)]
    pub answers: Answers,
}

#[derive(Debug, Args)]
pub struct CorrelateCommand {
    /// A table of the lake, or any file.
    pub table: String,
    /// The column to be explained.
    #[arg(long, short, value_name = "COLUMN")]
    pub target: String,
    /// The key column to join on, or two separated by a comma, as for `join --column`; without it the likeliest keys are tried.
    #[arg(long, value_name = "COLUMN[,COLUMN]")]
    pub key: Vec<String>,
    #[command(flatten)]
    pub answers: Answers,
}

#[derive(Debug, Args)]
pub struct FeaturesCommand {
    /// A table of the lake, or any file.
    pub table: String,
    /// The column to be predicted.
    #[arg(long, short, value_name = "COLUMN")]
    pub target: String,
    /// The key column to join on, or two separated by a comma; without it the likeliest keys are tried.
    #[arg(long, value_name = "COLUMN[,COLUMN]")]
    pub key: Vec<String>,
    /// Most features.
    #[arg(long, short = 'k', default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=50))]
    pub most: u32,
    /// How several numbers of a key become one.
    #[arg(long, default_value = "mean")]
    pub aggregate: AggregateBy,
    /// Seconds for fitting models; 0 fits none.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=3600))]
    pub seconds: u32,
    /// Write the rows to this file, `.csv` or `.parquet`, and beside it what each column is (`.dictionary.json`) and how the table is
    /// made, as SQL (`.sql`) and as Python (`.py`).
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Let `--out` replace existing files.
    #[arg(long, requires = "out")]
    pub overwrite: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AggregateBy {
    /// Their mean.
    Mean,
    /// Their median.
    Median,
    /// The smallest.
    Min,
    /// The greatest.
    Max,
    /// Their sum.
    Sum,
    /// The number of rows that have one.
    Count,
    /// That of the latest time.
    Last,
}

impl From<AggregateBy> for Aggregate {
    fn from(by: AggregateBy) -> Self {
        match by {
            AggregateBy::Mean => Self::Mean,
            AggregateBy::Median => Self::Median,
            AggregateBy::Min => Self::Min,
            AggregateBy::Max => Self::Max,
            AggregateBy::Sum => Self::Sum,
            AggregateBy::Count => Self::Count,
            AggregateBy::Last => Self::Last,
        }
    }
}

#[derive(Debug, Args)]
pub struct Answers {
    /// How many tables to show; 10 unless a conversation asks for more or fewer.
    #[arg(long, short, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub k: Option<u32>,
    /// Show the evidence behind each answer.
    #[arg(long, short)]
    pub explain: bool,
}

impl Answers {
    /// How many answers a search returns.
    pub fn count(&self) -> usize {
        self.k.unwrap_or(10) as usize
    }
}
