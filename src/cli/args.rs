//! Arguments as typed.

mod cite;
mod eval;
mod papers;
mod simulate;
mod task;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use lakeward_eval::form::DocumentForm;
use lakeward_eval::tune::Ranker;
use lakeward_search::augment::QuestionMode;
use lakeward_tasks::papers::isolated;

pub use cite::{CiteCommand, CiteFormat, ResolveCommand};
pub use eval::EvalCommand;
pub use papers::{PapersCommand, PapersWhat};
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
    /// Folder of the lake; by default the nearest folder upward that has an index.
    #[arg(long, global = true, help_heading = EVERY_COMMAND, env = "LAKEWARD_LAKE", value_name = "DIR")]
    pub lake: Option<PathBuf>,
    /// Folder of the index, where it is not `.lakeward` inside the lake.
    #[arg(long, global = true, help_heading = EVERY_COMMAND, env = "LAKEWARD_INDEX", value_name = "DIR")]
    pub index: Option<PathBuf>,
    /// Print JSON (see `lakeward schema`).
    #[arg(long, global = true, help_heading = EVERY_COMMAND)]
    pub json: bool,
    /// No progress and no hints on stderr.
    #[arg(long, short, global = true, help_heading = EVERY_COMMAND)]
    pub quiet: bool,
    /// Say on stderr how long it took and how much memory.
    #[arg(long, global = true, help_heading = EVERY_COMMAND)]
    pub timing: bool,
    #[command(flatten)]
    pub llm: LlmArguments,
    #[command(subcommand)]
    pub command: Command,
}

/// Which language model helps; its key comes from LAKEWARD_LLM_KEY; for OpenAI, or what
/// OPENAI_BASE_URL names in its stead, also from OPENAI_API_KEY.
#[derive(Debug, Args)]
#[command(next_help_heading = "Language model (none is needed)")]
pub struct LlmArguments {
    /// The model's name on its server; without one no model is asked.
    #[arg(long, global = true, env = "LAKEWARD_LLM_MODEL", value_name = "NAME")]
    pub llm_model: Option<String>,
    /// Base URL of a server that speaks the OpenAI protocol; OPENAI_BASE_URL, then OpenAI's own by default.
    #[arg(long, global = true, env = "LAKEWARD_LLM_URL", value_name = "URL")]
    pub llm_url: Option<String>,
    /// Ask no model, whatever is configured.
    #[arg(long, global = true)]
    pub no_llm: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build the index of a lake, or bring it up to date.
    Index(IndexCommand),
    /// Say what you want to do: the tables that serve it and the operation to run next.
    Ask(AskCommand),
    /// Find tables by words.
    Search(SearchCommand),
    /// Find tables that share key values with a table.
    Join(JoinCommand),
    /// Find tables whose rows could be appended to a table.
    Union(UnionCommand),
    /// Show what is in a table.
    Profile(ProfileCommand),
    /// List the tables of the lake.
    Tables(TablesCommand),
    /// Say how to cite tables or records: a line of text, BibTeX, CSL-JSON.
    Cite(CiteCommand),
    /// Say what an identifier stands for now: the table it names, where that moved, which version was meant.
    Resolve(ResolveCommand),
    /// Run one read-only SQL query; tables by id in quotes ("transport/us_airports") or as folder.table.
    Sql(SqlCommand),
    /// Say what requests ask for: the operation and the intention, one JSON line a request.
    Signals(SignalsCommand),
    /// Train a model of the program anew.
    Train(TrainCommand),
    /// Measure on a benchmark: how good the rankings are, beside plain baselines, and what they cost.
    Eval(Box<EvalCommand>),
    /// Simulate users who look for records of the catalogue: write their dialogues, or let them talk with the agent.
    Simulate(SimulateCommand),
    /// Learn the weights of the rankings from judged benchmarks, and say what they are worth on queries held out.
    Tune(TuneCommand),
    /// Make questions that each table can answer, so that people who ask in other words than its publisher find it.
    Augment(AugmentCommand),
    /// Papers and other documents that say which data served which task: add them, list them, show one.
    Papers(PapersCommand),
    /// Say what is to be done, and see the datasets that served such tasks, by papers and descriptions.
    Task(TaskCommand),
    /// Build the graph of which datasets served which tasks; say why two names are one dataset, or settle it.
    Graph(GraphCommand),
    /// Ask in a conversation: requests in plain language, operations, undo.
    Repl(ReplCommand),
    /// List the conversations with the lake, show one, or export its transcript.
    Sessions(SessionsCommand),
    /// Answer again as a trace has it (`ask --trace`), without a model; or say where two traces part.
    Replay(ReplayCommand),
    /// Check every byte of the index.
    Verify,
    /// Print the JSON Schema of a command's `--json` output.
    Schema(SchemaCommand),
    /// Print the script with which a shell completes commands and options.
    Completions(CompletionsCommand),
    /// Write a manual page for the program and for each command.
    Manual(ManualCommand),
    /// Reads one PDF in a process of its own, for `papers add`.
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
    /// The folder that the pages are written into.
    pub folder: PathBuf,
}

#[derive(Debug, Args)]
pub struct IndexCommand {
    /// Folder of the lake (or `--lake`).
    pub lake: Option<PathBuf>,
    /// Read only the first N rows of every table; answers then say that they speak of a sample.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sample_rows: Option<u32>,
    /// Catalogue records, one JSON object a line ({"id","title","description","tags",…}), or a dump of CKAN or DCAT: what they
    /// say of tables of the lake, and of data that is not in it. Remembered for later updates; `--rebuild` forgets it. A lake of
    /// catalogues alone needs no flag.
    #[arg(long, value_name = "FILE")]
    pub records: Option<PathBuf>,
    /// Forget the existing index and build it anew.
    #[arg(long)]
    pub rebuild: bool,
    /// Check every byte of the index first and read again what damaged parts held.
    #[arg(long, conflicts_with = "rebuild")]
    pub repair: bool,
    /// Stay, and update the index whenever files of the lake change.
    #[arg(long)]
    pub watch: bool,
}

#[derive(Debug, Args)]
pub struct AskCommand {
    /// What you want to do, in your own words.
    #[arg(required_unless_present = "table", num_args = 0.., value_name = "TEXT")]
    pub text: Vec<String>,
    /// The table at hand: one of the lake, or a file anywhere.
    #[arg(long, short)]
    pub table: Option<String>,
    /// Its key column, where you know it.
    #[arg(long, short, requires = "table")]
    pub column: Option<String>,
    /// Answer as the next turn of this session; it begins where there is none.
    #[arg(long, short, value_name = "NAME")]
    pub session: Option<String>,
    /// Write all that led to the answer to this file, which must not exist yet; `lakeward replay` answers from it.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    #[command(flatten)]
    pub answers: Answers,
}

#[derive(Debug, Args)]
pub struct ReplayCommand {
    /// The trace.
    pub trace: PathBuf,
    /// Another trace of the same request: say where the two part instead.
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
    /// A table of the lake, or a file anywhere.
    pub table: String,
    /// The key column, or several that make a key together, parted by commas (`"Smith, J",year` quotes a name with one) or
    /// each with its own `--column`; without it the likeliest keys are tried.
    #[arg(long, short, value_name = "COLUMN[,COLUMN]…")]
    pub column: Vec<String>,
    #[command(flatten)]
    pub answers: Answers,
}

#[derive(Debug, Args)]
pub struct UnionCommand {
    /// A table of the lake, or a file anywhere.
    pub table: String,
    #[command(flatten)]
    pub answers: Answers,
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
    /// How many answers a search gives.
    pub fn count(&self) -> usize {
        self.k.unwrap_or(10) as usize
    }
}

#[derive(Debug, Args)]
pub struct ProfileCommand {
    /// A table of the lake, or a file anywhere.
    pub table: String,
}

#[derive(Debug, Args)]
pub struct TablesCommand {
    /// Only ids that contain this.
    pub containing: Option<String>,
}

#[derive(Debug, Args)]
pub struct SqlCommand {
    /// The query: SELECT, WITH, VALUES, EXPLAIN, SHOW or DESCRIBE.
    pub query: String,
    /// How many rows; 0 for all. By default 500, and all with `--out` or as Parquet.
    #[arg(long, short = 'n', value_name = "N")]
    pub limit: Option<u64>,
    /// How to write the rows; by default as the name of `--out` ends, else as a table.
    #[arg(long, short)]
    pub format: Option<RowFormat>,
    /// Write the rows to a file, whole or not at all, instead of showing them.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Let `--out` replace a file that is there.
    #[arg(long, requires = "out")]
    pub overwrite: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// Aligned columns, to be read by people.
    Table,
    /// UTF-8 with a header; lists and structures as JSON, bytes as hexadecimal digits.
    Csv,
    /// One document with columns, rows and notes.
    Json,
    /// One JSON object a row.
    Ndjson,
    /// Apache Parquet, compressed with zstd.
    Parquet,
}

#[derive(Debug, Args)]
pub struct SignalsCommand {
    /// JSON lines with `id` and `text`, or with `id` and `turns` of `text`.
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct TrainCommand {
    #[command(subcommand)]
    pub what: Trained,
}

#[derive(Debug, Subcommand)]
pub enum Trained {
    /// The reader of requests, from labelled ones; prints how it does on requests left out.
    Signals(TrainPaths),
}

#[derive(Debug, Args)]
pub struct TrainPaths {
    /// Labelled requests.
    #[arg(long, value_name = "FILE", default_value = "labels/requests.jsonl")]
    pub labels: PathBuf,
    /// Where the model goes; the program holds what it was compiled with.
    #[arg(long, value_name = "FILE", default_value = "crates/reading/src/signals/model.bin")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct TuneCommand {
    /// Folders of the benchmarks.
    #[arg(required = true, value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
    /// Only this ranker; several times for several. All by default.
    #[arg(long, value_name = "RANKER", value_parser = ranker_parser())]
    pub ranker: Vec<Ranker>,
    /// Each benchmark in this form; several times for several, each counting as sets of its own.
    #[arg(long, value_name = "FORM", value_parser = form_parser())]
    pub form: Vec<DocumentForm>,
    /// Learn nothing from this label set; several times for several.
    #[arg(long, value_name = "LABELS")]
    pub leave_out: Vec<String>,
    /// Begin with these weights instead of those that ship.
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Where the learned weights are written.
    #[arg(long, value_name = "FILE", default_value = "weights.json")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct AugmentCommand {
    /// How the questions are made searchable: behind each table's metadata, as documents of their own instead of it, or both.
    #[arg(long, value_enum, default_value_t = AugmentMode::Both)]
    pub mode: AugmentMode,
    /// By rules, also where a model is configured; what a model has made is made anew.
    #[arg(long)]
    pub rules: bool,
    /// Only for this table; several times for several.
    #[arg(long, value_name = "ID")]
    pub table: Vec<String>,
    /// Tokens that the language model may use in all; the tables left get the questions of the rules.
    #[arg(long, value_name = "N")]
    pub tokens: Option<u64>,
    /// Money that the language model may cost in all, at the prices of the settings.
    #[arg(long, value_name = "AMOUNT")]
    pub money: Option<f64>,
    /// Make nothing, and show a random sample of N tables: their questions, what supports each, what speaks against it.
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
    /// What it is called in the library.
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
    names.map(|name| Ranker::ALL.into_iter().find(|ranker| ranker.name() == name).unwrap_or(Ranker::Join))
}

fn form_parser() -> impl TypedValueParser<Value = DocumentForm> {
    let names = PossibleValuesParser::new(DocumentForm::ALL.map(DocumentForm::name));
    names.map(|name| DocumentForm::ALL.into_iter().find(|form| form.name() == name).unwrap_or_default())
}

#[derive(Debug, Args)]
pub struct ReplCommand {
    /// Go on with this session, or begin it; by default a new one begins.
    #[arg(long, short, value_name = "NAME")]
    pub session: Option<String>,
    /// Begin a new session, called by the date and a number.
    #[arg(long, conflicts_with = "session")]
    pub new: bool,
    /// Write a trace of every turn into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub traces: Option<PathBuf>,
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
        /// The session; by default the one written last.
        id: Option<String>,
    },
    /// Print the transcript of a session as Markdown.
    Export {
        /// The session; by default the one written last.
        id: Option<String>,
        /// Write to this file, which must not exist yet.
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct SchemaCommand {
    /// The command whose output is meant.
    pub of: SchemaOf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SchemaOf {
    Ask,
    Index,
    Search,
    Join,
    Union,
    Profile,
    Tables,
    Cite,
    Resolve,
    Sql,
    Sessions,
    Session,
    Trace,
    Replay,
    Eval,
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
    Verify,
    Task,
    Graph,
    GraphWhy,
    Intent,
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
