//! Arguments of the commands on models: those that read requests, and the language model.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct SignalsCommand {
    /// JSON lines with `id` and `text`, or with `id` and `turns`, each with `text`.
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct ConfigCommand {
    #[command(subcommand)]
    pub what: OfConfig,
}

#[derive(Debug, Subcommand)]
pub enum OfConfig {
    /// Print all settings, one a line, with how far the language model is trusted, by role, model and prompt.
    Show,
}

#[derive(Debug, Args)]
pub struct ModelCommand {
    #[command(subcommand)]
    pub what: OfModel,
}

#[derive(Debug, Subcommand)]
pub enum OfModel {
    /// Print the model, what it may see, and how far its readings of requests are trusted.
    Show,
    /// Put some 60 labelled items of each role to it; what it gets right is its trust from then on, kept beside the index by model and prompt.
    Check(CheckCommand),
}

#[derive(Debug, Args)]
pub struct CheckCommand {
    /// Tokens of all questions and answers together, at most; what is left then counts as not answered.
    #[arg(long, value_name = "N", default_value_t = 500_000)]
    pub tokens: u64,
    /// Questions side by side.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub concurrency: u8,
}

#[derive(Debug, Args)]
pub struct TrainCommand {
    #[command(subcommand)]
    pub what: Trained,
}

#[derive(Debug, Subcommand)]
pub enum Trained {
    /// The request classifier, from labelled requests; prints its cross-validated scores.
    Signals(TrainPaths),
    /// What finds the field that a question asks for, from labelled questions; prints its cross-validated scores.
    Fields(FieldPaths),
    /// Examples of annotated turns, from which `scripts/train_reader.py` makes the reader; needs the sample lake (`--lake`).
    Reader(ReaderExamples),
}

#[derive(Debug, Args)]
pub struct ReaderExamples {
    /// Folder of annotated turns, a file a writer; repeatable.
    #[arg(long, value_name = "FOLDER", default_value = "labels/turns")]
    pub labels: Vec<PathBuf>,
    /// Labelled requests, of which only the operation and the intention are learned from; repeatable.
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub requests: Vec<PathBuf>,
    /// Where to write the examples, JSON lines.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["check", "search_acts"])]
    pub examples: Option<PathBuf>,
    /// Where to write what the built-in reader makes of the turns without a table, JSON lines for `scripts/train_acts.py`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["examples", "check", "requests"])]
    pub search_acts: Option<PathBuf>,
    /// Read the turns with the built-in reader instead, and print how often it comes to what their annotation comes to.
    #[arg(long, conflicts_with = "examples")]
    pub check: bool,
    /// Only turns of these writers; repeatable.
    #[arg(long, value_name = "NAME")]
    pub writer: Vec<String>,
    /// Print the turns that come to something else.
    #[arg(long, requires = "check")]
    pub wrong: bool,
    /// Print what turns come to over tables that they are not about, for `scripts/other_table.py`.
    #[arg(long, requires = "check", conflicts_with = "wrong")]
    pub other_tables: bool,
}

#[derive(Debug, Args)]
pub struct TrainPaths {
    /// Labelled requests.
    #[arg(long, value_name = "FILE", default_value = "labels/requests.jsonl")]
    pub labels: PathBuf,
    /// Where to write the model; the program uses the one it was compiled with.
    #[arg(long, value_name = "FILE", default_value = "crates/reading/src/signals/model.bin")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct FieldPaths {
    /// Labelled questions about records.
    #[arg(long, value_name = "FILE", default_value = "labels/fields.jsonl")]
    pub labels: PathBuf,
    /// Folder of annotated turns; questions that look for data are learned as asking for no field.
    #[arg(long, value_name = "FOLDER", default_value = "labels/turns")]
    pub turns: PathBuf,
    /// Where to write the model; the program uses the one it was compiled with.
    #[arg(long, value_name = "FILE", default_value = "crates/reading/src/fields/model.bin")]
    pub out: PathBuf,
}
