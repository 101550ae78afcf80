//! Arguments of `lakeward simulate`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

use lakeward_eval::simulation::BANKS;

#[derive(Debug, Args)]
pub struct SimulateCommand {
    /// Dialogues to make.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub dialogues: u32,
    /// Seed of the users; the same seed over the same catalogue gives the same dialogues.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Phrases that the users speak in; several times for several, all by default.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(BANKS.iter().map(|bank| bank.name)))]
    pub phrases: Vec<String>,
    /// Share of users who correct themselves in the same turn.
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    pub same_turn: f64,
    /// Share of users who correct themselves in a later turn.
    #[arg(long, value_name = "SHARE", default_value_t = 0.3)]
    pub later_turn: f64,
    /// Write the dialogues to FILE, which must not exist yet, and the records meant to qrels.txt beside it: with corpus.jsonl or
    /// lake/ there, or with `--corpus`, `lakeward eval` measures on them.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Let the users talk with the agent, and say how that went.
    #[arg(long)]
    pub run: bool,
    /// Turns after which a user gives up.
    #[arg(long, value_name = "N", default_value_t = 8, requires = "run", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub turns: u32,
    /// A user takes his record when it is among the first N shown.
    #[arg(long, value_name = "N", default_value_t = 3, requires = "run", value_parser = clap::value_parser!(u32).range(1..=10))]
    pub looks_at: u32,
}
