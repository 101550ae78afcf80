//! Arguments as typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use lakeward_tasks::papers::isolated;

mod ask;
mod augment;
mod cite;
mod eval;
mod index;
mod model;
mod papers;
mod schema;
mod search;
mod serve;
mod simulate;
mod sql;
mod tables;
mod task;
mod tune;

pub use ask::{AskCommand, ReplCommand, ReplayCommand, SessionsCommand, SessionsWhat};
pub use augment::AugmentCommand;
pub use cite::{CiteCommand, CiteFormat, ResolveCommand};
pub use eval::EvalCommand;
pub use index::{
    ClusterCommand, HarvestCommand, IndexCommand, IndexStep, ListCommand, MissingCommand, ShardCommand, ShardsCommand,
};
pub use model::{
    CheckCommand, ConfigCommand, FieldPaths, ModelCommand, OfConfig, OfModel, ReaderExamples, SignalsCommand,
    TrainCommand, TrainPaths, Trained,
};
pub use papers::{PapersCommand, PapersWhat};
pub use schema::{SchemaCommand, SchemaOf};
pub use search::{Answers, CorrelateCommand, FeaturesCommand, JoinCommand, SearchCommand, UnionCommand};
pub use serve::{McpCommand, ServeCommand, UsageCommand};
pub use simulate::SimulateCommand;
pub use sql::{PlanCommand, RowFormat, SqlCommand};
pub use tables::{CopiesCommand, NoteCommand, ProfileCommand, TablesCommand};
pub use task::{FeedbackAction, FeedbackCommand, GraphCommand, GraphWhat, TaskCommand};
pub use tune::TuneCommand;

const AFTER_HELP: &str = "Exit codes: 0 done, 1 nothing suitable found, 2 usage or configuration, 3 lake or index fault, \
4 done in part (the summary names what was skipped), 130 interrupted.";

/// Heading of the options that every command has.
const EVERY_COMMAND: &str = "Every command";

/// Finds the tables for a task in an undocumented data lake.
#[derive(Debug, Parser)]
#[command(name = "lakeward", version, about, after_help = AFTER_HELP, arg_required_else_help = true)]
pub struct Arguments {
    /// Folder of the lake, or its address: s3://, gs://, az://, abfss://, or https:// where the folder has a list `index.txt`. By default the
    /// nearest folder upward that has an index.
    #[arg(long, global = true, help_heading = EVERY_COMMAND, env = "LAKEWARD_LAKE", value_name = "DIR")]
    pub lake: Option<PathBuf>,
    /// Folder of the index, if it is not `.lakeward` inside the lake, or its address in a store: s3://, gs://, az://, abfss://. A lake at an
    /// address needs it. Of an index at an address, LAKEWARD_STATE names the folder for what is fetched of it, and for sessions and notes.
    #[arg(long, global = true, help_heading = EVERY_COMMAND, env = "LAKEWARD_INDEX", value_name = "DIR")]
    pub index: Option<PathBuf>,
    /// Print JSON (see `lakeward schema`).
    #[arg(long, global = true, help_heading = EVERY_COMMAND)]
    pub json: bool,
    /// No progress and no hints on stderr.
    #[arg(long, short, global = true, help_heading = EVERY_COMMAND)]
    pub quiet: bool,
    /// Print elapsed time and memory use to stderr.
    #[arg(long, global = true, help_heading = EVERY_COMMAND)]
    pub timing: bool,
    #[command(flatten)]
    pub llm: LlmArguments,
    #[command(subcommand)]
    pub command: Command,
}

/// The language model to use. Its key comes from LAKEWARD_LLM_KEY; for OpenAI, or the server
/// that OPENAI_BASE_URL names instead, also from OPENAI_API_KEY.
#[derive(Debug, Args)]
#[command(next_help_heading = "Language model (none is needed)")]
pub struct LlmArguments {
    /// The model's name on its server; without it no model is used.
    #[arg(long, global = true, env = "LAKEWARD_LLM_MODEL", value_name = "NAME")]
    pub llm_model: Option<String>,
    /// Base URL of a server that speaks the OpenAI protocol; OPENAI_BASE_URL, then OpenAI's own by default.
    #[arg(long, global = true, env = "LAKEWARD_LLM_URL", value_name = "URL")]
    pub llm_url: Option<String>,
    /// Use no model, even if one is configured.
    #[arg(long, global = true)]
    pub no_llm: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build the index of a lake, or bring it up to date.
    Index(IndexCommand),
    /// Run a part of a cluster that builds indexes: hands over to the program `lakeward-cluster`, beside this one or on PATH.
    Cluster(ClusterCommand),
    /// Harvest a repository's records over OAI-PMH into a folder, which `index` reads; run again for what changed since.
    Harvest(HarvestCommand),
    /// Describe what you want to do; get suitable tables and the operation to run next.
    Ask(AskCommand),
    /// Find tables by words.
    Search(SearchCommand),
    /// Find columns that hold what a text says, by name, values and meaning.
    Columns(SearchCommand),
    /// Find tables that share key values with a table.
    Join(JoinCommand),
    /// Find tables whose rows could be appended to a table.
    Union(UnionCommand),
    /// Find columns of the lake that go with a column of a table: features for a model of it.
    Correlate(CorrelateCommand),
    /// Build a table of features for a model of a column, and show what each adds to a small model.
    Features(FeaturesCommand),
    /// Show what is in a table.
    Profile(ProfileCommand),
    /// List the tables of the lake.
    Tables(TablesCommand),
    /// List tables that are copies or editions of each other, the current one first.
    Copies(CopiesCommand),
    /// Write down what you know of a table, which searches then use; without a table, list all notes.
    Note(NoteCommand),
    /// Print citations of tables or records: a line of text, BibTeX, CSL-JSON.
    Cite(CiteCommand),
    /// Resolve an identifier: the table it names, where that table is now, and which version it refers to.
    Resolve(ResolveCommand),
    /// Run one read-only SQL query; tables by id in quotes ("transport/us_airports") or as folder.table.
    Sql(SqlCommand),
    /// Show what a plan of steps would do, step by step, or carry it out.
    Plan(PlanCommand),
    /// Classify requests: operation and intention, one JSON line per request.
    Signals(SignalsCommand),
    /// Retrain a built-in model.
    Train(TrainCommand),
    /// Show the configured language model and how far it is trusted, or measure that.
    Model(ModelCommand),
    /// Show the settings in force.
    Config(ConfigCommand),
    /// Run a benchmark: ranking quality compared with plain baselines, and its cost.
    Eval(Box<EvalCommand>),
    /// Simulate users who look for catalogue records: write their dialogues, or run them against the agent.
    Simulate(SimulateCommand),
    /// Learn the ranking weights from judged benchmarks, and report their quality on held-out queries.
    Tune(TuneCommand),
    /// Generate questions that each table can answer, so that requests in other words than its publisher's find it.
    Augment(AugmentCommand),
    /// Add, list and show papers and other documents that say which dataset was used for which task.
    Papers(PapersCommand),
    /// Describe a task; get the datasets that papers used for similar tasks, or whose descriptions match.
    Task(TaskCommand),
    /// Build the graph of which datasets were used for which tasks; explain or decide whether two names are one dataset.
    Graph(GraphCommand),
    /// Ask in a conversation: requests in plain language, operations, undo.
    Repl(ReplCommand),
    /// Serve the lake over HTTP: a page, JSON, and the tools for other agents at `/mcp`.
    Serve(ServeCommand),
    /// Serve the lake's tools to another agent over the Model Context Protocol, on standard input and output.
    Mcp(McpCommand),
    /// Show how the answers of the service were used: what was opened, and what had no answer. Kept only with `[usage] record = true`.
    Usage(UsageCommand),
    /// List the conversations with the lake, show one, or export its transcript.
    Sessions(SessionsCommand),
    /// Replay a trace (`ask --trace`, `task --trace`) without a model, or show where two traces differ.
    Replay(ReplayCommand),
    /// Check every byte of the index.
    Verify,
    /// Print the JSON Schema of a command's `--json` output.
    Schema(SchemaCommand),
    /// Print the completion script for a shell.
    Completions(CompletionsCommand),
    /// Write manual pages for the program and each command.
    Manual(ManualCommand),
    /// Reads one PDF in a separate process, for `papers add`.
    #[command(hide = true, name = isolated::COMMAND)]
    ReadPdf {
        /// The PDF.
        path: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct CompletionsCommand {
    /// The shell.
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct ManualCommand {
    /// The folder to write the pages to.
    pub folder: PathBuf,
}
