//! Arguments as typed.

mod cite;
mod eval;
mod papers;
mod serve;
mod simulate;
mod task;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::messages::Language;
use lakeward_agent::feature_table::Aggregate;
use lakeward_eval::form::DocumentForm;
use lakeward_eval::tune::Ranker;
use lakeward_search::augment::QuestionMode;
use lakeward_tasks::papers::isolated;

pub use cite::{CiteCommand, CiteFormat, ResolveCommand};
pub use eval::EvalCommand;
pub use papers::{PapersCommand, PapersWhat};
pub use serve::{McpCommand, ServeCommand, UsageCommand};
pub use simulate::SimulateCommand;
pub use task::{FeedbackAction, FeedbackCommand, GraphCommand, GraphWhat, TaskCommand};

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
}

/// A build shared by many machines: each step can be made again, and any engine can run the second.
#[derive(Debug, Subcommand)]
pub enum IndexStep {
    /// List what the index lacks, in shards of similar size; prints the list, which is beside the index.
    Shards(ShardsCommand),
    /// Read one shard of a list; what could not be read is in what it prints.
    Work(ShardCommand),
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

#[derive(Debug, Args)]
pub struct ProfileCommand {
    /// A table of the lake, or any file.
    pub table: String,
}

#[derive(Debug, Args)]
pub struct TablesCommand {
    /// Only ids that contain this text.
    pub containing: Option<String>,
}

#[derive(Debug, Args)]
pub struct CopiesCommand {
    /// Only those of this table.
    pub table: Option<String>,
}

#[derive(Debug, Args)]
pub struct NoteCommand {
    /// The id of a table or record.
    pub table: Option<String>,
    /// A title for it.
    #[arg(long, value_name = "TEXT", requires = "table")]
    pub title: Option<String>,
    /// What is worth knowing of it.
    #[arg(long, value_name = "TEXT", requires = "table")]
    pub description: Option<String>,
    /// A column and what it is: another name, its meaning. With `--remove` the column alone.
    #[arg(long, num_args = 1..=2, value_names = ["COLUMN", "TEXT"], requires = "table")]
    pub column: Vec<String>,
    /// Remove the note, or that on the column.
    #[arg(long, requires = "table", conflicts_with_all = ["title", "description"])]
    pub remove: bool,
}

#[derive(Debug, Args)]
pub struct SqlCommand {
    /// The query: SELECT, WITH, VALUES, EXPLAIN, SHOW or DESCRIBE.
    pub query: String,
    /// Maximum number of rows; 0 for all. Default 500; all with `--out` or as Parquet.
    #[arg(long, short = 'n', value_name = "N")]
    pub limit: Option<u64>,
    /// Output format; by default from the extension of `--out`, else a table.
    #[arg(long, short)]
    pub format: Option<RowFormat>,
    /// Write the rows to a file (atomically) instead of printing them.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Let `--out` replace an existing file.
    #[arg(long, requires = "out")]
    pub overwrite: bool,
}

#[derive(Debug, Args)]
pub struct PlanCommand {
    /// The plan as JSON (see `lakeward schema plan`); `-` for standard input.
    pub file: PathBuf,
    /// Print the query and nothing else.
    #[arg(long, conflicts_with = "out")]
    pub sql: bool,
    /// Carry the plan out and write its rows to this file: `.csv` or `.parquet`.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Let `--out` replace an existing file.
    #[arg(long, requires = "out")]
    pub overwrite: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// Aligned columns for people.
    Table,
    /// UTF-8 with a header; lists and structures as JSON, bytes as hexadecimal digits.
    Csv,
    /// One document with columns, rows and notes.
    Json,
    /// One JSON object per row.
    Ndjson,
    /// Apache Parquet, compressed with zstd.
    Parquet,
}

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
    #[arg(long, value_name = "FILE", required_unless_present = "check")]
    pub examples: Option<PathBuf>,
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

#[derive(Debug, Args)]
pub struct TuneCommand {
    /// Folders of the benchmarks.
    #[arg(required = true, value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
    /// Only this ranker; repeatable. All by default.
    #[arg(long, value_name = "RANKER", value_parser = ranker_parser())]
    pub ranker: Vec<Ranker>,
    /// Use each benchmark in this form; repeatable, and each form counts as a separate set.
    #[arg(long, value_name = "FORM", value_parser = form_parser())]
    pub form: Vec<DocumentForm>,
    /// Learn nothing from this label set; repeatable.
    #[arg(long, value_name = "LABELS")]
    pub leave_out: Vec<String>,
    /// Start from these weights instead of the built-in ones.
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Where to write the learned weights.
    #[arg(long, value_name = "FILE", default_value = "weights.json")]
    pub out: PathBuf,
}

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

fn ranker_parser() -> impl TypedValueParser<Value = Ranker> {
    let names = PossibleValuesParser::new(Ranker::ALL.map(Ranker::name));
    names.map(|name| Ranker::named(&name).unwrap_or(Ranker::Join))
}

fn form_parser() -> impl TypedValueParser<Value = DocumentForm> {
    let names = PossibleValuesParser::new(DocumentForm::ALL.map(DocumentForm::name));
    names.map(|name| DocumentForm::named(&name).unwrap_or_default())
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

#[derive(Debug, Args)]
pub struct SchemaCommand {
    /// The command or document.
    pub of: SchemaOf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SchemaOf {
    Ask,
    Index,
    Shards,
    Shard,
    Harvest,
    Search,
    Join,
    Union,
    Correlate,
    Columns,
    Note,
    Copies,
    Features,
    Profile,
    Tables,
    Cite,
    Resolve,
    Sql,
    Usage,
    Plan,
    PlanPreview,
    Edit,
    Sessions,
    Session,
    Trace,
    TaskTrace,
    Replay,
    Eval,
    Acts,
    Outcomes,
    Simulate,
    Voice,
    Tune,
    Augment,
    Audit,
    Papers,
    Paper,
    PapersAdded,
    PapersExtracted,
    Extraction,
    Model,
    Settings,
    ModelCheck,
    Verify,
    Task,
    Graph,
    GraphWhy,
    Demands,
    GraphLearned,
    Learning,
    GraphAudit,
    QueryPlan,
    CandidateSet,
    EvaluationReport,
    FinalRanking,
    RunTrace,
    Error,
}
