//! `lakeward eval DIR`

use std::path::Path;

use super::args::{Arguments, EvalCommand};
use super::lake::{self, built_in};
use super::progress::Bar;
use super::{Status, eval_turns, printer};
use lakeward::Place;
use lakeward::model::Model;
use lakeward_agent::config::Config;
use lakeward_core::error::{Error, Result};
use lakeward_eval::benchmark::{Benchmark, Task};
use lakeward_eval::comparison::compare;
use lakeward_eval::evaluate::{EvalOptions, IDEAL, QueryRow, ask_all, evaluate, ideal, of_run};
use lakeward_eval::form::DocumentForm;
use lakeward_eval::lakeward_system::NAME;
use lakeward_eval::provenance::Produced;
use lakeward_eval::report::{self, EvalReport, SystemReport, add_intervals, add_names, groups};
use lakeward_eval::subset;
use lakeward_eval::systems::{BASELINES, Systems};
use lakeward_eval::variant::Variant;
use lakeward_eval::variant::drill::add_drills;
use lakeward_eval::variant::system::VariantModel;
use lakeward_eval::variant::table::VariantSettings;
use lakeward_eval::{acts, constraints, extraction, layout, outcomes, peak_memory, run as trec_run, signals};
use lakeward_models::embed::{Embedder, SentenceModel};
use lakeward_models::llm::LanguageModel;
use lakeward_search::RankingWeights;
use tempfile::TempDir;

/// A system's scores, cost and rankings.
struct Measured {
    report: SystemReport,
    rows: Vec<QueryRow>,
}

/// Reads the benchmark, queries the systems, and prints and writes their scores.
pub fn run(arguments: &Arguments, command: &EvalCommand) -> Result<Status> {
    if extraction::is_one(&command.folder) {
        return extracted(arguments, command);
    }
    if acts::is_one(&command.folder) {
        return eval_turns::acts(arguments, command);
    }
    if outcomes::is_one(&command.folder) {
        return eval_turns::outcomes(arguments, command);
    }
    let weights = match &command.weights {
        Some(path) => RankingWeights::load(path)?,
        None => RankingWeights::shipped().clone(),
    };
    let form = command.form;
    check_outputs(command)?;
    let variants = Variant::of_names(&command.variant)?;
    let bar = Bar::new(arguments.quiet)?;
    let scratch = scratch_folder()?;
    let mut benchmark = form.apply(read(command)?, scratch.path())?;
    let subset = match command.records {
        Some(records) => Some(subset::take(&mut benchmark, records, command.seed, scratch.path())?),
        None => None,
    };
    let options = options(command, &benchmark)?;
    let config = own_config()?;
    let model = model(arguments, command, (&config, scratch.path()))?;
    let sentence_model = command.sentence_model.as_deref().map(SentenceModel::open).transpose()?;
    let embedder = sentence_model.as_ref().map_or(built_in(), |model| model as &dyn Embedder);
    let systems = Systems::over(&benchmark, embedder, weights.clone(), command.keep_index.as_deref()).with_variants(
        command.questions,
        config.search.clone(),
        model.as_ref().map(|model| VariantModel {
            access: model.access(),
            limits: config.llm.limits(),
            share: model.share(),
            ranking: config.llm.ranking.unwrap_or(1.0),
        }),
    );
    let names = systems.names(&requested_systems(command, &variants), &benchmark, &options)?;
    let mut measured = Vec::new();
    let ranked = benchmark.queries.iter().any(|labelled| is_ranked(labelled.query.task, &options));
    for name in names.iter().filter(|_| ranked) {
        measured.push(measure(name, &systems, &mut benchmark, (&options, command), &bar)?);
    }
    for path in command.run_in.iter().filter(|_| ranked) {
        measured.push(measure_run(path, &mut benchmark, &options)?);
    }
    let (signals, constraints) = match options.tasks.contains(&Task::Signals) {
        true => {
            let needs_index = names.iter().any(|name| name.starts_with(NAME)) && benchmark.lake.is_some();
            let index = if needs_index { Some(systems.index(&bar)?.0) } else { None };
            (signals::score(&benchmark, index.as_deref())?, constraints::score(&command.folder)?)
        }
        false => (Vec::new(), None),
    };
    for Measured { report, rows } in &mut measured {
        add_intervals(&mut report.groups, rows, options.k, command.seed);
        add_names(&mut report.groups, rows, &benchmark);
    }
    let includes_lakeward = names.iter().any(|name| name == NAME);
    let aliases = if includes_lakeward { systems.aliases(&command.folder, &bar)? } else { None };
    bar.finish();
    if let (Some(path), Some(first)) = (&command.run_out, measured.first()) {
        write_run(path, first)?;
    }
    let report = report_of(command, &benchmark, form, &weights, measured, &options);
    let reads = [Task::Signals, Task::Dialogue].iter().any(|task| options.tasks.contains(task));
    let report = EvalReport {
        produced: if reads { Produced::by_reader(model.as_ref().map(Model::access)) } else { Produced::here() },
        signals,
        constraints,
        aliases,
        subset,
        embedder: sentence_model.as_ref().map(|model| model.id().to_string()),
        variants: settings(command, &names, &options, model.as_ref()),
        ..report
    };
    if let Some(folder) = &command.report {
        report.write(folder)?;
    }
    show(arguments, command, &report)?;
    Ok(status(&report))
}

/// Scores the extraction from a benchmark's papers; `--corpus` provides the known dataset names.
fn extracted(arguments: &Arguments, command: &EvalCommand) -> Result<Status> {
    let (scratch, config) = (scratch_folder()?, own_config()?);
    let model = model(arguments, command, (&config, scratch.path()))?;
    let access = model.as_ref().map(Model::access);
    let ask = access.map(|of| move || LanguageModel::new(of.chat, of.prompts, config.llm.limits(), of.cache));
    let ask = ask.as_ref().map(|ask| ask as &dyn Fn() -> _);
    let scores = extraction::score(&command.folder, command.corpus.as_deref(), ask)?;
    match arguments.json {
        true => printer::json(&scores)?,
        false => printer::evaluation::extraction(&scores),
    }
    Ok(if scores.papers > 0 { Status::Done } else { Status::NothingFound })
}

/// Reads the benchmark, with the records and papers of another one if requested.
pub(super) fn read(command: &EvalCommand) -> Result<Benchmark> {
    let mut benchmark = layout::read(&command.folder)?;
    if let Some(folder) = &command.corpus {
        let other = layout::read(folder)?;
        if other.corpus.is_none() && other.lake.is_none() {
            let what = format!("`{}` has neither `lake/` nor `corpus.jsonl` to search in", folder.display());
            return Err(Error::usage(what));
        }
        benchmark.corpus = other.corpus;
        benchmark.lake = other.lake;
        if benchmark.papers.is_empty() {
            benchmark.papers = other.papers;
        }
    }
    for path in &command.papers {
        if !path.is_file() {
            return Err(Error::usage(format!("`--papers` names no file: `{}`", path.display())));
        }
        benchmark.papers.push(path.clone());
    }
    Ok(benchmark)
}

pub(super) fn scratch_folder() -> Result<TempDir> {
    tempfile::tempdir().map_err(|error| Error::io("make a folder in", &std::env::temp_dir(), error))
}

/// The user's own settings: a benchmark's are not read, so it cannot choose the model.
fn own_config() -> Result<Config> {
    match std::env::var_os("LAKEWARD_CONFIG") {
        Some(path) => Config::load(Path::new(&path)),
        None => Ok(Config::default()),
    }
}

/// The language model for the variants, if requested.
fn model(arguments: &Arguments, command: &EvalCommand, (config, scratch): (&Config, &Path)) -> Result<Option<Model>> {
    if !command.llm {
        return Ok(None);
    }
    let place = Place { lake: command.folder.clone(), index: scratch.to_path_buf(), fast: false, shard: None };
    match lake::model(arguments, &place, config)? {
        Some(model) => Ok(Some(model)),
        None => Err(Error::usage("`--llm` needs a model: name it with `--llm-model`, its server with `--llm-url`")),
    }
}

/// Checks that the requested output files can be written, before the work starts.
fn check_outputs(command: &EvalCommand) -> Result<()> {
    if let Some(folder) = &command.report {
        std::fs::create_dir_all(folder).map_err(|error| Error::io("make", folder, error))?;
    }
    let Some(run) = &command.run_out else { return Ok(()) };
    let parent = run.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if run.is_dir() || !parent.is_dir() {
        let what = format!("`{}` cannot be a run file: name a file in a folder that exists", run.display());
        return Err(Error::usage(what));
    }
    Ok(())
}

fn is_ranked(task: Task, options: &EvalOptions) -> bool {
    task != Task::Signals && options.tasks.contains(&task)
}

/// The names of the requested systems.
fn requested_systems(command: &EvalCommand, variants: &[Variant]) -> Vec<String> {
    let mut names = command.system.clone();
    names.extend(variants.iter().map(|variant| variant.name().to_string()));
    if variants.iter().any(|variant| variant.is_agentic()) {
        // Beside a plain search, so that a gain of its ranking is not booked to the agents.
        names.push(NAME.to_string());
    }
    if names.is_empty() && command.run_in.is_empty() {
        names.push(NAME.to_string());
    }
    if command.compare {
        names.push(BASELINES.to_string());
    }
    names
}

/// The requested tasks, else all tasks that the benchmark has queries for.
fn options(command: &EvalCommand, benchmark: &Benchmark) -> Result<EvalOptions> {
    let has = |task: &Task| match task {
        Task::Signals => benchmark.queries.iter().any(|labelled| labelled.signals.iter().any(Option::is_some)),
        task => benchmark.queries.iter().any(|labelled| labelled.query.task == *task),
    };
    let available: Vec<Task> = Task::ALL.into_iter().filter(has).collect();
    let names: Vec<String> = available.iter().map(|task| format!("`{task}`")).collect();
    if let Some(missing) = command.task.iter().find(|task| !available.contains(task)) {
        let has = if names.is_empty() { "no query at all".to_string() } else { names.join(", ") };
        return Err(Error::usage(format!("`{}` has no query of task `{missing}`; it has {has}", benchmark.name)));
    }
    if available.is_empty() {
        return Err(Error::usage(format!("`{}` has no usable query", benchmark.name)));
    }
    let tasks = if command.task.is_empty() { available } else { command.task.clone() };
    Ok(EvalOptions { k: command.k as usize, depth: command.depth.max(command.k) as usize, tasks })
}

fn measure(
    name: &str,
    systems: &Systems<'_>,
    benchmark: &mut Benchmark,
    (options, command): (&EvalOptions, &EvalCommand),
    bar: &Bar,
) -> Result<Measured> {
    peak_memory::forget_peak();
    let made = systems.make(name, bar)?;
    benchmark.problems.merge(&made.problems);
    let rows = evaluate(benchmark, made.system.as_ref(), options, bar)?;
    let mut report = SystemReport {
        system: name.to_string(),
        index_ms: Some(made.index_ms),
        index_bytes: made.system.index_bytes(),
        graph: made.system.graph_cost(),
        peak_rss_bytes: peak_memory::peak_bytes(),
        groups: groups(&rows),
        rows: Vec::new(),
    };
    if let Some(variant) = Variant::named(name) {
        let again = |_| evaluate(benchmark, made.system.as_ref(), options, bar);
        let repeats: Vec<Vec<QueryRow>> = (1..command.runs).map(again).collect::<Result<_>>()?;
        let mut failing = Vec::new();
        for component in variant.components().into_iter().filter(|_| command.faults) {
            let made = systems.variant(variant, Some(component), bar)?;
            failing.push((component, ask_all(benchmark, made.system.as_ref(), options, bar)?.0));
        }
        add_drills(&mut report.groups, &rows, &repeats, &failing, (options.k, command.seed));
    }
    Ok(Measured { report, rows })
}

/// The settings of the variants among `names`.
fn settings(
    command: &EvalCommand,
    names: &[String],
    options: &EvalOptions,
    model: Option<&Model>,
) -> Option<VariantSettings> {
    let variants: Vec<Variant> = names.iter().filter_map(|name| Variant::named(name)).collect();
    (!variants.is_empty()).then(|| VariantSettings {
        depth: options.depth,
        runs: u64::from(command.runs),
        questions: variants
            .iter()
            .any(|variant| variant.uses_questions())
            .then(|| command.questions.name().to_string()),
        model: model
            .filter(|_| variants.iter().any(|variant| variant.is_agentic()))
            .map(|model| model.access().chat.id().to_string()),
    })
}

fn measure_run(path: &Path, benchmark: &mut Benchmark, options: &EvalOptions) -> Result<Measured> {
    let (run, problems) = trec_run::read(path)?;
    benchmark.problems.merge(&problems);
    let (rows, unknown) = of_run(benchmark, &run, options);
    for query in &unknown {
        benchmark.problems.add("queries of the run that are not in the benchmark; ignored", query);
    }
    if rows.iter().all(|row| row.ranking.is_empty()) {
        let what =
            format!("`{}` answers no query of `{}`: is it a run of another benchmark?", path.display(), benchmark.name);
        return Err(Error::usage(what));
    }
    let system = path.file_stem().map_or_else(|| "run".to_string(), |stem| stem.to_string_lossy().into_owned());
    let report = SystemReport { groups: groups(&rows), ..ideal_report(system) };
    Ok(Measured { report, rows })
}

/// A report without costs.
fn ideal_report(system: String) -> SystemReport {
    SystemReport {
        system,
        index_ms: None,
        index_bytes: None,
        graph: None,
        peak_rss_bytes: None,
        groups: Vec::new(),
        rows: Vec::new(),
    }
}

fn write_run(path: &Path, measured: &Measured) -> Result<()> {
    let rankings = measured
        .rows
        .iter()
        .map(|row| (row.query.as_str(), row.ranking.iter().map(|(id, score)| (id.as_str(), *score)).collect()));
    trec_run::write(path, &measured.report.system, rankings)
}

fn report_of(
    command: &EvalCommand,
    benchmark: &Benchmark,
    form: DocumentForm,
    weights: &RankingWeights,
    measured: Vec<Measured>,
    options: &EvalOptions,
) -> EvalReport {
    let mut measured = measured;
    if !measured.is_empty() {
        let rows = ideal(benchmark, options);
        measured
            .push(Measured { report: SystemReport { groups: groups(&rows), ..ideal_report(IDEAL.to_string()) }, rows });
    }
    let runs: Vec<(String, Vec<QueryRow>)> =
        measured.iter().map(|measured| (measured.report.system.clone(), measured.rows.clone())).collect();
    let systems = measured.into_iter().map(|Measured { report, rows }| {
        let shown = command.per_query && report.system != IDEAL;
        SystemReport { rows: if shown { rows } else { Vec::new() }, ..report }
    });
    let relevant =
        |grades: &lakeward_eval::benchmark::Grades| grades.values().filter(|grade| **grade > 0).count() as u64;
    EvalReport {
        version: report::VERSION,
        produced: Produced::here(),
        benchmark: benchmark.name.clone(),
        layout: benchmark.layout,
        form: form.name().to_string(),
        k: options.k,
        depth: options.depth,
        seed: command.seed,
        embedder: None,
        subset: None,
        variants: None,
        weights: weights.hash(),
        queries: benchmark.queries.len() as u64,
        relevant: benchmark.qrels.values().map(relevant).sum(),
        problems: benchmark.problems.list(),
        systems: systems.collect(),
        comparisons: compare(&runs, options.k, command.seed),
        signals: Vec::new(),
        constraints: None,
        aliases: None,
    }
}

fn show(arguments: &Arguments, command: &EvalCommand, report: &EvalReport) -> Result<()> {
    if arguments.json {
        return printer::json(report);
    }
    printer::evaluation::report(report);
    if command.per_query {
        printer::evaluation::queries(report);
        report.constraints.iter().for_each(printer::turns::disagreements);
    }
    if !arguments.quiet {
        printer::evaluation::problems(report);
        if let Some(folder) = &command.report {
            printer::note(&format!("report written to `{}`", folder.display()));
        }
    }
    Ok(())
}

/// `InPart` if queries failed, `NothingFound` if nothing could be scored.
fn status(report: &EvalReport) -> Status {
    let mut groups = report.systems.iter().flat_map(|system| &system.groups);
    if groups.clone().any(|group| group.failed > 0) {
        return Status::InPart;
    }
    let scored = groups.any(|group| group.queries > 0) || !report.signals.is_empty();
    if scored { Status::Done } else { Status::NothingFound }
}
