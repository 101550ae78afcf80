//! Arguments of `lakeward simulate`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

use lakeward_eval::simulation::BANKS;

#[derive(Debug, Args)]
pub struct SimulateCommand {
    /// Number of dialogues.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub dialogues: u32,
    /// Random seed; the same seed over the same catalogue gives the same dialogues.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The users' phrase bank; repeatable, all by default.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(BANKS.iter().map(|bank| bank.name)))]
    pub phrases: Vec<String>,
    /// Share of users who correct themselves in the same turn.
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    pub same_turn: f64,
    /// Share of users who correct themselves in a later turn.
    #[arg(long, value_name = "SHARE", default_value_t = 0.3)]
    pub later_turn: f64,
    /// Users tell what people have written who plan something, lines {"id": of the record that is wanted, "turns": ["text", …]} of FILE, and then
    /// values of its fields. Plans for records of other catalogues are left out.
    #[arg(long, value_name = "FILE")]
    pub plans: Option<PathBuf>,
    /// Write the dialogues to FILE, which must not exist yet, and the target records to qrels.txt beside it: together with
    /// corpus.jsonl or lake/ there, or with `--corpus`, this is a benchmark for `lakeward eval`.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Run the dialogues against the agent, and report the results.
    #[arg(long)]
    pub run: bool,
    /// Turns after which a user gives up.
    #[arg(long, value_name = "N", default_value_t = 8, requires = "run", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub turns: u32,
    /// A user accepts the target record if it is among the first N shown.
    #[arg(long, value_name = "N", default_value_t = 3, requires = "run", value_parser = clap::value_parser!(u32).range(1..=10))]
    pub looks_at: u32,
}
