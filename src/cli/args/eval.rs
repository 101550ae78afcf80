//! Arguments of `lakeward eval`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::form_parser;
use lakeward_eval::form::DocumentForm;
use lakeward_eval::variant::QuestionUse;
use lakeward_eval::{Task, compare};

const EVAL_AFTER_HELP: &str = "A benchmark is a folder with one of these:
  queries.jsonl, qrels.txt  beside lake/ (tables) or corpus.jsonl (records), queries/ and unjudged.txt where there are any;
                            papers.jsonl and aliases-*.jsonl for searches by task
  *_query.csv, *_ground_truth.csv  LakeBench's own files beside the folder of tables
  pairs as CSV (query_table,data_lake_table)  beside query/ and datalake/, as SANTOS, TUS and UGEN have it
  requests.jsonl, dialogues.jsonl  requests labelled with operation and intention

Systems: lakeward, its ablations (lakeward-no-join-rarity, …; `ablations` for all), and the plain baselines (`baselines` for all): \
bm25, bm25-last-turn (dialogues), bm25-column, tf-idf, header-jaccard, header-value-jaccard, containment, folded-containment, any-order-containment, \
header-containment, minhash-lsh, union-vectors. By task: lakeward:no-pagerank, :no-rerank, :no-resolution, :papers, :kats, \
:kats-rerank, :alpha-0.75, :agent, :agent-0.";

#[derive(Debug, Args)]
#[command(after_long_help = EVAL_AFTER_HELP)]
pub struct EvalCommand {
    /// Folder of the benchmark.
    pub folder: PathBuf,
    /// Only queries of this task; several times for several.
    #[arg(long, value_name = "TASK", value_parser = task_parser())]
    pub task: Vec<Task>,
    /// What to measure; several times for several, `baselines` and `ablations` for all of these. Lakeward by default.
    #[arg(long, value_name = "NAME")]
    pub system: Vec<String>,
    /// Measure a variant of agentic hybrid retrieval, `V1` to `V7`, on requests in words; several times for several, `all` for
    /// all. Words, meaning, both fused, one agent, with pseudo-queries, several agents, with pseudo-queries.
    #[arg(long, value_name = "V1..V7")]
    pub variant: Vec<String>,
    /// Runs of every variant with the same queries: how alike their rankings are.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub runs: u32,
    /// Also let every component of every variant fail, one after the other: what that costs.
    #[arg(long)]
    pub faults: bool,
    /// How V5 and V7 use pseudo-queries: appended to the metadata, instead of it, or beside it.
    #[arg(long, value_name = "HOW", default_value = QuestionUse::default().name(), value_parser = questions_parser())]
    pub questions: QuestionUse,
    /// Let the language model that is configured plan and evaluate for V4 to V7, and help `lakeward` in dialogues; rules do without.
    #[arg(long, conflicts_with = "no_llm")]
    pub llm: bool,
    /// Search the records, the tables and, where this benchmark has none, the papers of the benchmark in this folder.
    #[arg(long, value_name = "FOLDER")]
    pub corpus: Option<PathBuf>,
    /// Further papers, JSON lines as in papers.jsonl; several times for several.
    #[arg(long, value_name = "FILE")]
    pub papers: Vec<PathBuf>,
    /// Only N records of corpus.jsonl, drawn stratum by stratum, and the queries that have an answer among them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub records: Option<u64>,
    /// `titles`: with the records of corpus.jsonl; `cells`: tables alone; `masked`: tables with headers c1, c2, ….
    #[arg(long, value_name = "FORM", default_value = DocumentForm::default().name(), value_parser = form_parser())]
    pub form: DocumentForm,
    /// The depth of precision, recall and nDCG.
    #[arg(long, short, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub k: u32,
    /// Documents asked for a query; MRR and MAP go as deep as this.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub depth: u32,
    /// Score this TREC run, too, or alone where no `--system` is given.
    #[arg(long, value_name = "FILE")]
    pub run_in: Vec<PathBuf>,
    /// Write the rankings of the first system as a TREC run.
    #[arg(long, value_name = "FILE")]
    pub run_out: Option<PathBuf>,
    /// Measure all plain baselines, too, and compare the first system with the best other one.
    #[arg(long)]
    pub compare: bool,
    /// Show every query.
    #[arg(long)]
    pub per_query: bool,
    /// Write report.json and report.md into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub report: Option<PathBuf>,
    /// Rank with these weights instead of those that ship.
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Keep Lakeward's index in this folder and use what is there; a temporary one by default.
    #[arg(long, value_name = "FOLDER")]
    pub keep_index: Option<PathBuf>,
    /// Make vectors with the sentence model in this folder (config.json, vocab.txt, model.safetensors), instead of the one in the
    /// program.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["voice", "learning"])]
    pub sentence_model: Option<PathBuf>,
    /// Measure instead what the configured language model's order of candidates and its reading of requests are worth.
    #[arg(long, conflicts_with_all = ["system", "variant", "compare", "run_in", "run_out", "report", "per_query"])]
    pub voice: bool,
    /// Measure instead what learning from sessions is worth: half of the requests in words are asked in simulated sessions, the
    /// others tested.
    #[arg(long, conflicts_with_all = ["system", "variant", "compare", "run_in", "run_out", "report", "per_query", "voice"])]
    pub learning: bool,
    /// How much tasks count there beside what the best table says of itself; as shipped by default.
    #[arg(long, value_name = "WEIGHT", requires = "learning")]
    pub task_weight: Option<f64>,
    /// Queries of each group that it is asked about.
    #[arg(long, default_value_t = 30, requires = "voice", value_parser = clap::value_parser!(u32).range(1..))]
    pub queries: u32,
    /// Seed of the bootstrap, of the choice of queries, and of the draw of `--records`.
    #[arg(long, default_value_t = compare::SEED)]
    pub seed: u64,
}

fn questions_parser() -> impl TypedValueParser<Value = QuestionUse> {
    let names = PossibleValuesParser::new(QuestionUse::ALL.map(QuestionUse::name));
    names.map(|name| QuestionUse::ALL.into_iter().find(|how| how.name() == name).unwrap_or_default())
}

fn task_parser() -> impl TypedValueParser<Value = Task> {
    let names = PossibleValuesParser::new(Task::ALL.map(Task::name));
    names.map(|name| Task::named(&name).unwrap_or(Task::Search))
}
