//! Arguments of `lakeward eval`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::tune::form_parser;
use lakeward_eval::form::DocumentForm;
use lakeward_eval::variant::QuestionUse;
use lakeward_eval::{Task, compare};

const EVAL_AFTER_HELP: &str = "A benchmark is a folder with one of these layouts:
  queries.jsonl, qrels.txt  beside lake/ (tables) or corpus.jsonl (records), optionally queries/ and unjudged.txt;
                            papers.jsonl and aliases-*.jsonl for searches by task
  *_query.csv, *_ground_truth.csv  LakeBench's own files beside the folder of tables
  pairs as CSV (query_table,data_lake_table)  beside query/ and datalake/, as in SANTOS, TUS and UGEN
  requests.jsonl, dialogues.jsonl  requests labelled with operation and intention, and what is wanted after each turn
  acts.jsonl                what turns over a catalogue do, for the records of --corpus
  tasks.jsonl, gold/        conversations with the table that is meant after each turn, over the lakes of --over

Systems: lakeward, its ablations (lakeward-no-join-rarity, …; `ablations` for all), and the plain baselines (`baselines` for all): \
bm25, bm25-last-turn (dialogues), bm25-column, tf-idf, header-jaccard, header-value-jaccard, containment, folded-containment, any-order-containment, \
header-containment, minhash-lsh, union-vectors. By task: lakeward:no-pagerank, :no-rerank, :no-resolution, :papers, :kats, \
:kats-rerank, :alpha-0.75, :agent, :agent-0.";

#[derive(Debug, Args)]
#[command(after_long_help = EVAL_AFTER_HELP)]
pub struct EvalCommand {
    /// Folder of the benchmark.
    pub folder: PathBuf,
    /// Only queries of this task; repeatable.
    #[arg(long, value_name = "TASK", value_parser = task_parser())]
    pub task: Vec<Task>,
    /// The system to measure; repeatable, `baselines` or `ablations` for all of them. Lakeward by default.
    #[arg(long, value_name = "NAME")]
    pub system: Vec<String>,
    /// Measure a variant of agentic hybrid retrieval on text requests; repeatable, or `all`. V1 BM25, V2 vectors, V3 both
    /// fused, V4 one agent, V5 the same with pseudo-queries, V6 several agents, V7 the same with pseudo-queries.
    #[arg(long, value_name = "V1..V7")]
    pub variant: Vec<String>,
    /// Run every variant N times on the same queries, and report how similar the rankings are.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub runs: u32,
    /// Also make each component of each variant fail in turn, and report the loss.
    #[arg(long)]
    pub faults: bool,
    /// How V5 and V7 use pseudo-queries: appended to the metadata, replacing it, or searched beside it at half weight.
    #[arg(long, value_name = "HOW", default_value = QuestionUse::default().name(), value_parser = questions_parser())]
    pub questions: QuestionUse,
    /// Let the configured language model plan and evaluate for V4 to V7, and help `lakeward` in dialogues; else rules do.
    #[arg(long, conflicts_with = "no_llm")]
    pub llm: bool,
    /// Search the records and tables of the benchmark in this folder, and its papers if the first benchmark has none.
    #[arg(long, value_name = "FOLDER")]
    pub corpus: Option<PathBuf>,
    /// The indexed lake that conversations of `tasks.jsonl` call NAME; repeatable. Sessions are kept apart from its own.
    #[arg(long, value_name = "NAME=DIR", value_parser = named_folder)]
    pub over: Vec<(String, PathBuf)>,
    /// In those conversations the analyst only looks at what each turn offers; nothing that is scored was carried out before the next turn.
    #[arg(long, requires = "over")]
    pub unrun: bool,
    /// Further papers, JSON lines as in papers.jsonl; repeatable.
    #[arg(long, value_name = "FILE")]
    pub papers: Vec<PathBuf>,
    /// Only N records of corpus.jsonl, by stratified sampling, and the queries with an answer among them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub records: Option<u64>,
    /// `titles`: with the records of corpus.jsonl; `cells`: tables alone; `masked`: tables with headers c1, c2, ….
    #[arg(long, value_name = "FORM", default_value = DocumentForm::default().name(), value_parser = form_parser())]
    pub form: DocumentForm,
    /// The depth of precision, recall and nDCG.
    #[arg(long, short, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub k: u32,
    /// Documents requested per query; MRR and MAP are computed to this depth.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub depth: u32,
    /// Also score this TREC run; only this run if no `--system` is given.
    #[arg(long, value_name = "FILE")]
    pub run_in: Vec<PathBuf>,
    /// Write the rankings of the first system as a TREC run.
    #[arg(long, value_name = "FILE")]
    pub run_out: Option<PathBuf>,
    /// Also measure all plain baselines, and compare the first system with the best other one.
    #[arg(long)]
    pub compare: bool,
    /// Show the result of every query.
    #[arg(long)]
    pub per_query: bool,
    /// Write report.json and report.md into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub report: Option<PathBuf>,
    /// Rank with these weights instead of the built-in ones.
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Keep Lakeward's index in this folder and reuse it; by default the index is temporary.
    #[arg(long, value_name = "FOLDER")]
    pub keep_index: Option<PathBuf>,
    /// Embed with the sentence model in this folder (config.json, vocab.txt, model.safetensors) instead of the built-in model.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["voice", "learning"])]
    pub sentence_model: Option<PathBuf>,
    /// Measure instead how much the configured language model's order of candidates improves the results.
    #[arg(long, conflicts_with_all = ["system", "variant", "compare", "run_in", "run_out", "report", "per_query"])]
    pub voice: bool,
    /// With --voice: in place of a model one that knows the truth (oracle), half of it (noisy) or nothing (random, constant, reversing,
    /// obeying), to see how much reaches the results.
    #[arg(long, value_name = "KIND", requires = "voice")]
    pub stand_in: Option<String>,
    /// Measure instead how much learning from sessions improves the results: half of the text requests are asked in simulated
    /// sessions, the others tested.
    #[arg(long, conflicts_with_all = ["system", "variant", "compare", "run_in", "run_out", "report", "per_query", "voice"])]
    pub learning: bool,
    /// Weight of learned tasks against the best table's own text; the built-in weight by default.
    #[arg(long, value_name = "WEIGHT", requires = "learning")]
    pub task_weight: Option<f64>,
    /// Queries per group that the language model is asked about.
    #[arg(long, default_value_t = 30, requires = "voice", value_parser = clap::value_parser!(u32).range(1..))]
    pub queries: u32,
    /// Seed of the bootstrap, of the choice of queries, and of the sampling by `--records`.
    #[arg(long, default_value_t = compare::SEED)]
    pub seed: u64,
}

fn named_folder(text: &str) -> Result<(String, PathBuf), String> {
    let (name, folder) = text.split_once('=').ok_or("write NAME=DIR")?;
    Ok((name.to_string(), folder.into()))
}

fn questions_parser() -> impl TypedValueParser<Value = QuestionUse> {
    let names = PossibleValuesParser::new(QuestionUse::ALL.map(QuestionUse::name));
    names.map(|name| QuestionUse::named(&name).unwrap_or_default())
}

fn task_parser() -> impl TypedValueParser<Value = Task> {
    let names = PossibleValuesParser::new(Task::ALL.map(Task::name));
    names.map(|name| Task::named(&name).unwrap_or(Task::Search))
}
