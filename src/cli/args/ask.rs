//! Arguments of requests in plain language, and of the conversations that they make.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::search::Answers;
use crate::messages::Language;

#[derive(Debug, Args)]
pub struct AskCommand {
    /// What you want to do, in your own words.
    #[arg(required_unless_present = "table", num_args = 0.., value_name = "TEXT")]
    pub text: Vec<String>,
    /// The table you start from: a table of the lake, or any file.
    #[arg(long, short)]
    pub table: Option<String>,
    /// Its key column, if you know it.
    #[arg(long, short, requires = "table")]
    pub column: Option<String>,
    /// Answer as the next turn of this session; creates it if it does not exist.
    #[arg(long, short, value_name = "NAME")]
    pub session: Option<String>,
    /// Write a full trace of the answer to this file, which must not exist yet; `lakeward replay` replays it.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Carry out operation N of the answer: into `--out`, or as a step of the session.
    #[arg(long, value_name = "N")]
    pub run: Option<usize>,
    /// Write the rows of the operation to this file: `.csv` or `.parquet`.
    #[arg(long, value_name = "FILE", requires = "run")]
    pub out: Option<PathBuf>,
    /// Let `--out` replace an existing file.
    #[arg(long, requires = "out")]
    pub overwrite: bool,
    #[command(flatten)]
    pub answers: Answers,
}

#[derive(Debug, Args)]
pub struct ReplayCommand {
    /// The trace.
    pub trace: PathBuf,
    /// Another trace of the same request: show where the two differ instead.
    #[arg(long, value_name = "TRACE")]
    pub against: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ReplCommand {
    /// Resume this session, or create it; by default a new session starts.
    #[arg(long, short, value_name = "NAME")]
    pub session: Option<String>,
    /// Start a new session, named by date and a number.
    #[arg(long, conflicts_with = "session")]
    pub new: bool,
    /// Write a trace of every turn to this folder.
    #[arg(long, value_name = "FOLDER")]
    pub traces: Option<PathBuf>,
    /// Language of messages; by default that of LC_ALL, LC_MESSAGES or LANG.
    #[arg(long, value_enum, env = "LAKEWARD_LANGUAGE")]
    pub language: Option<Language>,
}

#[derive(Debug, Args)]
pub struct SessionsCommand {
    #[command(subcommand)]
    pub what: Option<SessionsWhat>,
}

#[derive(Debug, Subcommand)]
pub enum SessionsWhat {
    /// Show a session: constraints, choices, requests and operations.
    Show {
        /// The session; by default the most recently written one.
        id: Option<String>,
    },
    /// Print the transcript of a session as Markdown, or how its working table is made.
    Export {
        /// The session; by default the most recently written one.
        id: Option<String>,
        /// Write to this file, which must not exist yet.
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
        /// The query that makes the working table from tables of the lake, with the content hash of each file it reads.
        #[arg(long)]
        sql: bool,
        /// A script that makes the working table again with the Python package `datafusion`, and checks the files it reads.
        #[arg(long, conflicts_with = "sql")]
        python: bool,
    },
}
