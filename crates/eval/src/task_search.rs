//! The task graph as a [`System`]: Lakeward's own task search, and its ablations by name, over one graph of the benchmark's papers
//! and records. A query's own paper is excluded from everything that is searched.
//!
//! ```text
//! lakeward                 as shipped
//! lakeward:no-pagerank     similar tasks alone lead to datasets        lakeward:alpha-0.75  PageRank's alpha, 0 to below 1
//! lakeward:no-rerank       neither descriptions nor popularity         lakeward:papers      neither PageRank nor rerank
//! lakeward:no-resolution   names in papers are not resolved   lakeward:kats        KATS as published, no rerank
//! lakeward:kats-rerank     KATS, then descriptions and popularity
//! ```

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::benchmark::{BenchQuery, Benchmark, Problems, Task};
use super::evaluate::QueryRow;
use super::lakeward_system::{LakeIndexOf, NAME};
use super::system::{Ranked, System};
use super::task_agent;
use super::task_report::GraphCost;
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_core::text::lower_words;
use lakeward_models::embed::Embedder;
use lakeward_tasks::papers::extraction::{Extraction, read_extractions};
use lakeward_tasks::task_graph::{
    self, DatasetRecord, GraphInputs, GraphOptions, TaskAnswer, TaskGraph, TaskSearchOptions, Walk,
};

/// Names of ablations, after [`NAME`] and a colon.
const ABLATIONS: [&str; 6] = ["no-pagerank", "no-rerank", "no-resolution", "papers", "kats", "kats-rerank"];
/// Prefix of PageRank's alpha.
const ALPHA: &str = "alpha-";
/// The alphas in [`ablations`].
const ALPHAS: [&str; 5] = ["0.75", "0.80", "0.85", "0.90", "0.95"];

/// The names of all ablations.
pub fn ablations() -> Vec<String> {
    let named = ABLATIONS.iter().chain(&task_agent::NAMES).map(|name| format!("{NAME}:{name}"));
    named.chain(ALPHAS.iter().map(|alpha| format!("{NAME}:{ALPHA}{alpha}"))).collect()
}

/// Whether `name` is a system over a task graph, other than [`NAME`].
pub fn is_ablation(name: &str) -> bool {
    options_of(name).is_some() || task_agent::weight_of(name).is_some()
}

/// Search options and whether names are resolved, by the name of a system.
fn options_of(name: &str) -> Option<(TaskSearchOptions, bool)> {
    let options = TaskSearchOptions { named: false, ..TaskSearchOptions::new(0) };
    let what = match name.strip_prefix(NAME)? {
        "" => return Some((options, true)),
        rest => rest.strip_prefix(':')?,
    };
    let options = match what {
        "no-pagerank" => TaskSearchOptions { pagerank: false, ..options },
        "no-rerank" => TaskSearchOptions { rerank: false, ..options },
        "no-resolution" => return Some((options, false)),
        "papers" => TaskSearchOptions { pagerank: false, rerank: false, ..options },
        "kats" => TaskSearchOptions { walk: Walk::Published, rerank: false, ..options },
        "kats-rerank" => TaskSearchOptions { walk: Walk::Published, ..options },
        other => {
            let alpha: f64 = other.strip_prefix(ALPHA)?.parse().ok()?;
            if !(0.0..1.0).contains(&alpha) {
                return None;
            }
            TaskSearchOptions { alpha, ..options }
        }
    };
    Some((options, true))
}

/// The error for an unknown system.
pub fn unknown(name: &str) -> Error {
    let all = ablations();
    let near = nearest_names(name, all.iter().map(String::as_str), 3);
    let near = if near.is_empty() { all } else { near };
    Error::usage(format!("there is no system `{name}`; did you mean `{}`?", near.join("`, `")))
}

/// A graph over the documents of a benchmark.
pub struct GraphOf<'a> {
    graph: TaskGraph,
    embedder: &'a dyn Embedder,
    /// Unreadable parts of the papers.
    pub problems: Problems,
    /// Its costs.
    pub cost: GraphCost,
    _place: tempfile::TempDir,
}

impl<'a> GraphOf<'a> {
    /// Builds it from `papers` and the records and tables in `over`.
    ///
    /// # Errors
    /// Those of reading papers and building.
    pub fn build(papers: &[PathBuf], over: &LakeIndexOf<'a>, resolve: bool) -> Result<Self> {
        let started = Instant::now();
        let place = tempfile::tempdir().map_err(|error| Error::io("make a folder in", &std::env::temp_dir(), error))?;
        let mut problems = Problems::default();
        let mut extractions: Vec<Extraction> = Vec::new();
        for path in papers {
            let file = read_extractions(path)?;
            for problem in &file.problems {
                problems.add(
                    "lines of papers that hold no extraction; not used",
                    &format!("{}: {problem}", path.display()),
                );
            }
            extractions.extend(file.extractions);
        }
        let datasets = DatasetRecord::all(over.index())?;
        let inputs =
            GraphInputs { datasets: &datasets, extractions: &extractions, embedder: over.embedder(), judge: None };
        let options = GraphOptions { resolve, ..GraphOptions::default() };
        let stats = task_graph::build(place.path(), &inputs, &options)?;
        let graph = TaskGraph::open(place.path(), over.embedder().id())?;
        let cost = GraphCost {
            documents: stats.documents as u64,
            tasks: stats.tasks as u64,
            datasets: stats.datasets as u64,
            build_ms: started.elapsed().as_secs_f64() * 1000.0,
            bytes: stats.bytes,
        };
        Ok(Self { graph, embedder: over.embedder(), problems, cost, _place: place })
    }
}

impl GraphOf<'_> {
    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.graph.folder()
    }

    /// The first `k` answers to a query, its own paper excluded.
    ///
    /// # Errors
    /// Those of [`TaskGraph::search`].
    pub fn answers(&self, query: &BenchQuery, k: usize) -> Result<Vec<TaskAnswer>> {
        let exclude = query.exclude_paper.iter().cloned().collect();
        let options = TaskSearchOptions { exclude, named: false, ..TaskSearchOptions::new(k) };
        self.graph.search(self.embedder, query.text.as_deref().unwrap_or_default(), &options)
    }
}

/// The search over a graph.
pub struct TaskSearch<'a> {
    name: String,
    over: Rc<GraphOf<'a>>,
    options: TaskSearchOptions,
    /// Answers queries of other tasks.
    other: Option<Box<dyn System + 'a>>,
}

impl<'a> TaskSearch<'a> {
    /// Whether the graph of the system `name` has resolved names.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown name.
    pub fn is_resolved(name: &str) -> Result<bool> {
        options_of(name).map(|(_, resolve)| resolve).ok_or_else(|| unknown(name))
    }

    /// The system `name` over the graph `over`; queries of other tasks go to `other`.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown name.
    pub fn named(name: &str, over: Rc<GraphOf<'a>>, other: Option<Box<dyn System + 'a>>) -> Result<Self> {
        let (options, _) = options_of(name).ok_or_else(|| unknown(name))?;
        Ok(Self { name: name.to_string(), over, options, other })
    }
}

impl System for TaskSearch<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn rank(&self, query: &BenchQuery, depth: usize) -> Result<Vec<Ranked>> {
        if query.task != Task::TaskSearch {
            return self.other.as_ref().map_or(Ok(Vec::new()), |other| other.rank(query, depth));
        }
        let exclude = query.exclude_paper.iter().cloned().collect();
        let options = TaskSearchOptions { k: depth, exclude, ..self.options.clone() };
        let text = query.text.as_deref().unwrap_or_default();
        let ranked = self.over.graph.rank(self.over.embedder, text, &options)?;
        Ok(ranked.into_iter().map(|(id, score)| Ranked::new(id, score)).collect())
    }

    fn answers(&self, query: &BenchQuery) -> bool {
        query.task == Task::TaskSearch || self.other.as_ref().is_some_and(|other| other.answers(query))
    }

    fn graph_cost(&self) -> Option<GraphCost> {
        Some(self.over.cost)
    }

    fn index_bytes(&self) -> Option<u64> {
        let graph = self.over.graph.bytes();
        Some(graph + self.other.as_ref().and_then(|other| other.index_bytes()).unwrap_or(0))
    }
}

/// Scores of the first answer by its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NameScores {
    /// The share of queries whose first answer has the name of a relevant dataset, ignoring case and punctuation.
    pub exact_match: f64,
    /// Mean F1 of the words of the first answer's name and those of the most similar name of a relevant dataset.
    pub token_f1: f64,
}

/// Scores the names (ids) of first answers to queries of task `task-search`; `None` without such queries.
pub fn name_scores(rows: &[&QueryRow], benchmark: &Benchmark) -> Option<NameScores> {
    let mut sum = NameScores::default();
    let mut count = 0;
    for row in rows.iter().filter(|row| row.task == Task::TaskSearch && row.scores.is_some()) {
        count += 1;
        let Some((first, _)) = row.ranking.first() else { continue };
        let grades = benchmark.qrels.get(&row.query).into_iter().flatten();
        let own = words(first);
        let f1 = grades.filter(|(_, grade)| **grade > 0).map(|(id, _)| token_f1(&own, &words(id))).fold(0.0, f64::max);
        sum.token_f1 += f1;
        sum.exact_match += if f1 >= 1.0 { 1.0 } else { 0.0 };
    }
    let mean = |sum: f64| sum / count as f64;
    (count > 0).then(|| NameScores { exact_match: mean(sum.exact_match), token_f1: mean(sum.token_f1) })
}

fn words(name: &str) -> Vec<String> {
    lower_words(name).collect()
}

/// 2·common / (words of both), counting repeated words as often as they occur in both.
fn token_f1(a: &[String], b: &[String]) -> f64 {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    a.iter().for_each(|word| *left.entry(word).or_default() += 1);
    let mut common = 0;
    for word in b {
        if let Some(count) = left.get_mut(word.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    if a.is_empty() || b.is_empty() { 0.0 } else { 2.0 * common as f64 / (a.len() + b.len()) as f64 }
}

/// Scores of resolved dataset names, from the files `aliases-*.jsonl` of a benchmark.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AliasScores {
    /// Number of names.
    pub aliases: u64,
    /// The share whose nearest record is correct, with merges by rules first.
    pub hit_at_1: f64,
    /// Number of names that a rule joins with a record.
    pub merged: u64,
    /// The share of those joined correctly; for names of several datasets (`also_name_of`), with any of them.
    pub precision: f64,
    /// The same with only the records of `dataset_ids`.
    pub precision_strict: f64,
    /// Merges and correct merges, by rule.
    pub by_rule: BTreeMap<String, (u64, u64)>,
}

#[derive(Deserialize)]
struct AliasLine {
    alias: String,
    dataset_ids: HashSet<String>,
    #[serde(default)]
    also_name_of: HashSet<String>,
}

/// Resolves every alias in the files of `folder` against `datasets`; `None` without such files.
///
/// # Errors
/// [`Error::Benchmark`] for an invalid line.
pub fn alias_scores(folder: &Path, datasets: &[DatasetRecord]) -> Result<Option<AliasScores>> {
    use super::layout::lines::read_json;
    use lakeward_tasks::task_graph::aliases::{Aliases, Meaning};
    use lakeward_tasks::task_graph::nearest::NearestNames;

    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| Error::io("list", folder, error))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("aliases-") && name.ends_with(".jsonl") {
            files.push(entry.path());
        }
    }
    files.sort();
    if files.is_empty() || datasets.is_empty() {
        return Ok(None);
    }
    let texts: Vec<String> = datasets.iter().map(DatasetRecord::text).collect();
    let titles = datasets.iter().map(|record| record.title.as_str());
    let aliases = Aliases::new(titles.zip(texts.iter().map(String::as_str)));
    let nearest = NearestNames::new(&aliases, &texts);
    let mut scores = AliasScores::default();
    let (mut hits, mut right, mut strict) = (0u64, 0u64, 0u64);
    for file in files {
        read_json(&file, |_, line: AliasLine| {
            scores.aliases += 1;
            let merged = match aliases.meaning(&line.alias) {
                Meaning::One(place, rule) => Some((&datasets[place].id, rule)),
                _ => None,
            };
            if let Some((id, rule)) = merged {
                let is_right = line.dataset_ids.contains(id) || line.also_name_of.contains(id);
                scores.merged += 1;
                right += u64::from(is_right);
                strict += u64::from(line.dataset_ids.contains(id));
                let of_rule = scores.by_rule.entry(rule.name().to_string()).or_default();
                of_rule.0 += 1;
                of_rule.1 += u64::from(is_right);
            }
            let first = nearest.nearest(&line.alias, 1).first().map(|(place, _)| &datasets[*place].id);
            let first = merged.map(|(id, _)| id).or(first);
            hits += u64::from(first.is_some_and(|id| line.dataset_ids.contains(id)));
            Ok(())
        })?;
    }
    let share = |part: u64, whole: u64| if whole > 0 { part as f64 / whole as f64 } else { 0.0 };
    scores.hit_at_1 = share(hits, scores.aliases);
    scores.precision = share(right, scores.merged);
    scores.precision_strict = share(strict, scores.merged);
    Ok(Some(scores))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_select_the_search_options() {
        for name in ablations() {
            assert!(is_ablation(&name), "{name}");
        }
        assert!(!is_ablation("lakeward:alpha-1") && !is_ablation("lakeward:kat") && !is_ablation("lakeward-no-join"));
        assert!(unknown("lakeward:kat").to_string().contains("`lakeward:kats`"));
        assert_eq!(token_f1(&words("Road_Set-2"), &words("road set 3")), 2.0 / 3.0);
    }
}
