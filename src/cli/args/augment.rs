//! Arguments of making questions that tables can answer.

use clap::{Args, ValueEnum};

use lakeward_search::augment::QuestionMode;

#[derive(Debug, Args)]
pub struct AugmentCommand {
    /// How the questions are indexed: appended to each table's metadata, as separate documents instead of it, or both.
    #[arg(long, value_enum, default_value_t = AugmentMode::Both)]
    pub mode: AugmentMode,
    /// Use rules even if a model is configured, and replace the questions that a model made.
    #[arg(long)]
    pub rules: bool,
    /// Only for this table; repeatable.
    #[arg(long, value_name = "ID")]
    pub table: Vec<String>,
    /// Token budget of the language model for the whole run; the remaining tables get questions by rules.
    #[arg(long, value_name = "N")]
    pub tokens: Option<u64>,
    /// Money budget of the language model for the whole run, at the configured prices.
    #[arg(long, value_name = "AMOUNT")]
    pub money: Option<f64>,
    /// Generate nothing; show a random sample of N tables with their questions, the support of each, and warnings.
    #[arg(long, value_name = "N", conflicts_with_all = ["mode", "rules", "table"], value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub audit: Option<u32>,
    /// Seed of the sample.
    #[arg(long, default_value_t = 1, requires = "audit")]
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AugmentMode {
    Concatenated,
    Dedicated,
    Both,
}

impl AugmentMode {
    /// The library's modes for this option.
    pub fn modes(self) -> &'static [QuestionMode] {
        match self {
            AugmentMode::Concatenated => &[QuestionMode::Concatenated],
            AugmentMode::Dedicated => &[QuestionMode::Dedicated],
            AugmentMode::Both => &QuestionMode::ALL,
        }
    }
}
