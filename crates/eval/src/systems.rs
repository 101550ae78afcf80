//! Makes systems over the documents of one benchmark by name: [`super::lakeward_system`] and its ablations, which share one index,
//! and the plain baselines.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use super::baseline::{BaselineKind, BaselineSystem, Documents};
use super::benchmark::{BenchQuery, Benchmark, Problems, Task};
use super::evaluate::EvalOptions;
use super::interec::{self, InteRec};
use super::lakeward_system::{IndexPlan, LakeIndexOf, Lakeward, NAME, ablations};
use super::late::{LateOrder, LateSystem};
use super::llm_rag::{self, LlmRag, Records};
use super::system::{Ranked, System};
use super::task_agent::{self, TaskAgent};
use super::task_search::{self, GraphOf, TaskSearch, alias_scores};
use super::variant::system::{VariantModel, VariantParts, VariantSystem, answers};
use super::variant::{Component, QuestionUse, Variant};
use lakeward_agent::agentic::Settings;
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_core::monitor::Monitor;
use lakeward_models::embed::Embedder;
use lakeward_models::llm::RunLimits;
use lakeward_search::RankingWeights;
use lakeward_search::augment::{
    AugmentOptions, QuestionIndex, QuestionMaker, QuestionModel, QuestionStore, make_questions,
};
use lakeward_tasks::task_graph::DatasetRecord;

/// The name for all plain baselines on the command line.
pub const BASELINES: &str = "baselines";
/// [`BaselineKind::Bm25`] queried with only the latest turn of a dialogue: a system without memory.
pub const LAST_TURN: &str = "bm25-last-turn";
/// Tables for which a model writes pseudo-queries at once.
const WRITERS: usize = 4;
/// The name for all ablations.
pub const ABLATIONS: &str = "ablations";

/// A system that is ready to use.
pub struct Made<'a> {
    /// The system.
    pub system: Box<dyn System + 'a>,
    /// Time to read the documents and index them, in milliseconds.
    pub index_ms: f64,
    /// Documents that it could not read.
    pub problems: Problems,
}

/// Makes systems over the documents of one benchmark.
pub struct Systems<'a> {
    lake: Option<PathBuf>,
    corpus: Option<PathBuf>,
    papers: Vec<PathBuf>,
    embedder: &'a dyn Embedder,
    weights: RankingWeights,
    /// The folder of Lakeward's index, if it is to be kept.
    index_folder: Option<PathBuf>,
    built: OnceCell<(Rc<LakeIndexOf<'a>>, f64)>,
    question_use: QuestionUse,
    settings: Settings,
    model: Option<VariantModel<'a>>,
    questions: OnceCell<(Rc<QuestionIndex>, f64)>,
    /// With and without resolved names.
    graphs: [OnceCell<(Rc<GraphOf<'a>>, f64)>; 2],
}

impl<'a> Systems<'a> {
    /// Over the documents of `benchmark`; Lakeward ranks with `weights` and stores its index in `index_folder`, if given.
    pub fn over(
        benchmark: &Benchmark,
        embedder: &'a dyn Embedder,
        weights: RankingWeights,
        index_folder: Option<&Path>,
    ) -> Self {
        Self {
            lake: benchmark.lake.clone(),
            corpus: benchmark.corpus.clone(),
            papers: benchmark.papers.clone(),
            embedder,
            weights,
            index_folder: index_folder.map(Path::to_path_buf),
            built: OnceCell::new(),
            question_use: QuestionUse::default(),
            settings: Settings::default(),
            model: None,
            questions: OnceCell::new(),
            graphs: Default::default(),
        }
    }

    /// The same, with variants that search by `settings`, use pseudo-queries according to `question_use`, and have `model` do what the paper
    /// has one do: also write the pseudo-queries.
    pub fn with_variants(self, question_use: QuestionUse, settings: Settings, model: Option<VariantModel<'a>>) -> Self {
        Self { question_use, settings, model, ..self }
    }

    /// The systems for the requested names: [`BASELINES`] and [`ABLATIONS`] expanded, each name once; expanded baselines and
    /// ablations are included only if they are relevant to the queries of `benchmark`.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown name, with the nearest ones.
    pub fn names(&self, requested: &[String], benchmark: &Benchmark, options: &EvalOptions) -> Result<Vec<String>> {
        let tasks: Vec<Task> = Task::ALL
            .into_iter()
            .filter(|task| options.tasks.contains(task))
            .filter(|task| benchmark.queries.iter().any(|labelled| labelled.query.task == *task))
            .collect();
        let all_ablations = ablations(&self.weights);
        let mut names: Vec<String> = Vec::new();
        for name in requested {
            match name.as_str() {
                BASELINES => {
                    let fit = BaselineKind::ALL.into_iter().filter(|kind| self.fits(*kind, benchmark, options));
                    names.extend(fit.map(|kind| kind.name().to_string()));
                    names.extend(tasks.contains(&Task::Dialogue).then(|| LAST_TURN.to_string()));
                }
                ABLATIONS => {
                    let matters = |ranker: &str| match ranker {
                        "join" => tasks.contains(&Task::Join) || tasks.contains(&Task::Dialogue),
                        "union" => tasks.contains(&Task::Union) || tasks.contains(&Task::Dialogue),
                        _ => tasks.contains(&Task::Search) || tasks.contains(&Task::Dialogue),
                    };
                    let ranker = |name: &str| name.split('-').nth(2).unwrap_or_default().to_string();
                    names.extend(all_ablations.iter().filter(|name| matters(&ranker(name))).cloned());
                    if tasks.contains(&Task::TaskSearch) && !self.papers.is_empty() {
                        names.extend(task_search::ablations());
                    }
                }
                other => {
                    self.check(other, &all_ablations)?;
                    names.push(name.clone());
                }
            }
        }
        let is_variant = |name: &&String| Variant::named(name).is_some();
        let searches =
            || benchmark.queries.iter().any(|labelled| tasks.contains(&Task::Search) && answers(&labelled.query));
        if let Some(name) = names.iter().find(is_variant).filter(|_| !searches()) {
            let has: Vec<String> = tasks.iter().map(|task| format!("`{task}`")).collect();
            let has = if has.is_empty() { "nothing else to rank".to_string() } else { has.join(", ") };
            let what = format!("`{name}` answers requests in words; `{}` has only {has} here", benchmark.name);
            return Err(Error::usage(format!("{what}: use a benchmark with queries of task `search`")));
        }
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        Ok(names)
    }

    fn check(&self, name: &str, ablations: &[String]) -> Result<()> {
        let mut known: Vec<&str> = vec![NAME, BASELINES, ABLATIONS, llm_rag::NAME, interec::NAME];
        known.extend(BaselineKind::ALL.iter().map(|kind| kind.name()));
        known.extend(Variant::ALL.iter().map(|variant| variant.name()));
        known.extend(LateOrder::ALL.iter().map(|order| order.name()));
        known.extend(ablations.iter().map(String::as_str));
        if known.contains(&name) || name == LAST_TURN || task_search::is_ablation(name) {
            return Ok(());
        }
        if name.starts_with(&format!("{NAME}:")) {
            return Err(task_search::unknown(name));
        }
        let near: Vec<String> =
            nearest_names(name, known.iter().copied(), 3).into_iter().map(|near| format!("`{near}`")).collect();
        let hint = match near.is_empty() {
            true => format!("there are `{}`", known[..known.len() - ablations.len()].join("`, `")),
            false => format!("did you mean {}?", near.join(", ")),
        };
        Err(Error::usage(format!("there is no system `{name}`; {hint}")))
    }

    fn fits(&self, kind: BaselineKind, benchmark: &Benchmark, options: &EvalOptions) -> bool {
        let mut queries = benchmark.queries.iter().map(|labelled| &labelled.query);
        queries.any(|query| {
            let has_text = query.text.is_some() || !query.turns.is_empty();
            let is_requested = query.task != Task::Signals && options.tasks.contains(&query.task);
            is_requested && kind.answers(has_text, query.table.is_some(), query.column.is_some())
        })
    }

    /// Builds the system of this name and reads its documents.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown name or a benchmark without documents; errors of reading them.
    pub fn make(&self, name: &str, monitor: &dyn Monitor) -> Result<Made<'a>> {
        if self.lake.is_none() && self.corpus.is_none() {
            let what = "the benchmark has neither `lake/` nor `corpus.jsonl`: score a run of it with `--run-in`";
            return Err(Error::usage(what));
        }
        if let Some(kind) = BaselineKind::named(name) {
            return self.baseline(kind);
        }
        if name == LAST_TURN {
            let Made { system, index_ms, problems } = self.baseline(BaselineKind::Bm25)?;
            return Ok(Made { system: Box::new(LastTurn(system)), index_ms, problems });
        }
        if name == llm_rag::NAME || name == interec::NAME {
            let (Some(corpus), Some(model)) = (&self.corpus, self.model) else {
                let what = format!("`{name}` needs `--llm` with a model, and a benchmark of records: `corpus.jsonl`");
                return Err(Error::usage(what));
            };
            let Made { system: bm25, index_ms, problems } = self.baseline(BaselineKind::Bm25)?;
            let records = Records::read(corpus)?;
            let system: Box<dyn System + 'a> = match name == interec::NAME {
                true => Box::new(InteRec::new(bm25, records, model)),
                false => Box::new(LlmRag::new(bm25, records, model)),
            };
            return Ok(Made { system, index_ms, problems });
        }
        if let Some(variant) = Variant::named(name) {
            return self.variant(variant, None, monitor);
        }
        let (index, index_ms) = self.index(monitor)?;
        let mut problems = skipped(&index);
        if let Some(order) = LateOrder::named(name) {
            return Ok(Made { system: Box::new(LateSystem::new(order, index)), index_ms, problems });
        }
        if self.papers.is_empty() || !(name == NAME || task_search::is_ablation(name)) {
            let system = Lakeward::named(name, index)?.with_model(self.model);
            return Ok(Made { system: Box::new(system), index_ms, problems });
        }
        if let Some(weight) = task_agent::weight_of(name) {
            let (graph, graph_ms) = self.graph(&index, true)?;
            problems.merge(&graph.problems);
            let system = TaskAgent::new(name, weight, index, graph);
            return Ok(Made { system: Box::new(system), index_ms: index_ms + graph_ms, problems });
        }
        let other: Option<Box<dyn System + 'a>> = match name == NAME {
            true => Some(Box::new(Lakeward::named(name, Rc::clone(&index))?)),
            false => None,
        };
        let (graph, graph_ms) = self.graph(&index, TaskSearch::is_resolved(name)?)?;
        problems.merge(&graph.problems);
        let system = TaskSearch::named(name, graph, other)?;
        Ok(Made { system: Box::new(system), index_ms: index_ms + graph_ms, problems })
    }

    /// Builds a variant; with `failing`, that component fails at every query.
    ///
    /// # Errors
    /// As [`Systems::make`].
    pub fn variant(&self, variant: Variant, failing: Option<Component>, monitor: &dyn Monitor) -> Result<Made<'a>> {
        let (over, mut index_ms) = self.index(monitor)?;
        let problems = skipped(&over);
        let mut questions = None;
        if variant.uses_questions() {
            let (index, questions_ms) = self.questions(&over, monitor)?;
            index_ms += questions_ms;
            questions = Some((self.question_use, index));
        }
        let model = self.model.filter(|_| variant.is_agentic());
        let parts = VariantParts { over, questions, settings: self.settings.clone(), model };
        let system = VariantSystem::new(variant, parts, failing);
        Ok(Made { system: Box::new(system), index_ms, problems })
    }

    fn baseline(&self, kind: BaselineKind) -> Result<Made<'a>> {
        let started = Instant::now();
        let documents = Documents { lake: self.lake.clone(), corpus: self.corpus.clone() };
        let system = BaselineSystem::build(kind, &documents)?;
        let index_ms = started.elapsed().as_secs_f64() * 1000.0;
        let mut problems = Problems::default();
        for unread in system.baseline().unread() {
            problems.add(&format!("documents that {kind} cannot read; it never finds them"), &unread.place);
        }
        for cut in system.baseline().cut() {
            problems.add(&format!("tables of which {kind} reads only the first rows"), cut);
        }
        Ok(Made { system: Box::new(system), index_ms, problems })
    }

    /// The index of pseudo-queries, made next to Lakeward's at first use, by the model where there is one, and the build time in
    /// milliseconds.
    fn questions(&self, over: &LakeIndexOf<'_>, monitor: &dyn Monitor) -> Result<(Rc<QuestionIndex>, f64)> {
        if let Some((questions, questions_ms)) = self.questions.get() {
            return Ok((Rc::clone(questions), *questions_ms));
        }
        let started = Instant::now();
        let index = over.index();
        let mut store = QuestionStore::open_to_write(index.folder())?;
        let unlimited = RunLimits::default();
        let writer = self.model.map(|VariantModel { access, limits, share, .. }| {
            QuestionModel::new((access.chat, share), access.prompts, limits, unlimited, access.cache)
        });
        let writer = writer.as_ref().map(|writer| writer as &dyn QuestionMaker);
        let options = AugmentOptions { concurrency: WRITERS, ..AugmentOptions::default() };
        let made = make_questions(index, &mut store, writer, &options, monitor)?;
        if let Some(trouble) = made.trouble.filter(|_| made.by_rules_instead == made.made && made.made > 0) {
            return Err(Error::usage(format!("the model wrote no pseudo-queries: {trouble}")));
        }
        let mode = self.question_use.mode();
        let stats = QuestionIndex::build(index, &store, mode, self.embedder, monitor)?;
        if stats.unread > 0 {
            return Err(Error::Interrupted);
        }
        let questions = Rc::new(QuestionIndex::open(index, mode, self.embedder.id())?);
        let questions_ms = started.elapsed().as_secs_f64() * 1000.0;
        let (questions, questions_ms) = self.questions.get_or_init(|| (questions, questions_ms));
        Ok((Rc::clone(questions), *questions_ms))
    }

    /// The task graph of the benchmark's papers, if it has any.
    ///
    /// # Errors
    /// Those of building it.
    pub fn task_graph(&self, over: &LakeIndexOf<'a>) -> Result<Option<Rc<GraphOf<'a>>>> {
        if self.papers.is_empty() { Ok(None) } else { self.graph(over, true).map(|(graph, _)| Some(graph)) }
    }

    /// The task graph, built at first use, and the build time in milliseconds.
    fn graph(&self, over: &LakeIndexOf<'a>, resolve: bool) -> Result<(Rc<GraphOf<'a>>, f64)> {
        let place = &self.graphs[usize::from(!resolve)];
        if let Some((graph, graph_ms)) = place.get() {
            return Ok((Rc::clone(graph), *graph_ms));
        }
        let started = Instant::now();
        let graph = Rc::new(GraphOf::build(&self.papers, over, resolve)?);
        let graph_ms = started.elapsed().as_secs_f64() * 1000.0;
        let (graph, graph_ms) = place.get_or_init(|| (graph, graph_ms));
        Ok((Rc::clone(graph), *graph_ms))
    }

    /// Scores of the resolution of dataset names in `folder`; `None` if it has none.
    ///
    /// # Errors
    /// Those of [`alias_scores`] and of [`Systems::index`].
    pub fn aliases(&self, folder: &Path, monitor: &dyn Monitor) -> Result<Option<task_search::AliasScores>> {
        if self.corpus.is_none() || !folder.is_dir() {
            return Ok(None);
        }
        let (index, _) = self.index(monitor)?;
        alias_scores(folder, &DatasetRecord::all(index.index())?)
    }

    /// Lakeward's index, built at first use, and the build time in milliseconds.
    ///
    /// # Errors
    /// Those of [`LakeIndexOf::build`].
    pub fn index(&self, monitor: &dyn Monitor) -> Result<(Rc<LakeIndexOf<'a>>, f64)> {
        if let Some((index, index_ms)) = self.built.get() {
            return Ok((Rc::clone(index), *index_ms));
        }
        let started = Instant::now();
        let plan = IndexPlan {
            lake: self.lake.as_deref(),
            records: self.corpus.as_deref(),
            folder: self.index_folder.as_deref(),
            weights: self.weights.clone(),
        };
        let index = Rc::new(LakeIndexOf::build(&plan, self.embedder, monitor)?);
        let index_ms = started.elapsed().as_secs_f64() * 1000.0;
        let (index, index_ms) = self.built.get_or_init(|| (index, index_ms));
        Ok((Rc::clone(index), *index_ms))
    }
}

/// A system that sees only the latest turn of a dialogue.
struct LastTurn<'a>(Box<dyn System + 'a>);

impl System for LastTurn<'_> {
    fn name(&self) -> &str {
        LAST_TURN
    }

    fn rank(&self, query: &BenchQuery, depth: usize) -> Result<Vec<Ranked>> {
        let turns = query.turns.last().cloned().into_iter().collect();
        self.0.rank(&BenchQuery { turns, ..query.clone() }, depth)
    }

    fn answers(&self, query: &BenchQuery) -> bool {
        query.task == Task::Dialogue && self.0.answers(query)
    }
}

/// The documents that the index could not read.
fn skipped(index: &LakeIndexOf<'_>) -> Problems {
    let mut problems = Problems::default();
    for skipped in &index.stats.skipped {
        problems.add("tables that Lakeward cannot read; it never finds them", &skipped.path);
    }
    problems
}
