//! Scores of dataset extraction from papers: a folder with `papers.jsonl` and `gold.jsonl`, pairs of task and dataset by paper.
//!
//! A dataset is correct if a gold dataset of its paper has the same name in lower case without spaces and punctuation. Precision
//! counts names by paper, each once; recall is over the distinct gold names by paper, and also over all gold pairs, in which a
//! dataset counts once for each of its tasks.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::lines::{file_of, read_json};
use lakeward_core::error::{Error, Result};
use lakeward_core::text::letters_and_digits;
use lakeward_models::llm::{LanguageModel, Spent};
use lakeward_tasks::papers::PdfReader;
use lakeward_tasks::papers::extract::{KnownDatasets, KnownRecord, extract, extract_by};
use lakeward_tasks::papers::reading::{self, DocumentFormat};

/// Precision and recall with their harmonic mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtractionMeasure {
    /// The share of extracted items that are correct.
    pub precision: f64,
    /// The share of gold items that were extracted.
    pub recall: f64,
    /// 2·P·R / (P + R).
    pub f1: f64,
}

/// Scores of dataset extraction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtractionScores {
    /// The benchmark: the name of its folder.
    pub benchmark: String,
    /// Papers with gold.
    pub papers: u64,
    /// Gold pairs of task and dataset.
    pub pairs: u64,
    /// Number of known names.
    pub known: u64,
    /// Extracted datasets, each once per paper.
    pub extracted: u64,
    /// Datasets by paper, each once.
    pub datasets: ExtractionMeasure,
    /// The same precision, with the recall over all pairs.
    pub dataset_pairs: ExtractionMeasure,
    /// Over the pairs whose dataset is named in the text: gold spellings count as its name.
    pub named_pairs: ExtractionMeasure,
    /// For papers with two or more gold tasks: the share of pairs of datasets that are separated into different tasks, or kept
    /// in one task, as in the gold.
    pub tasks_apart: f64,
    /// Number of such pairs in which both datasets were extracted.
    pub compared_pairs: u64,
    /// Papers without gold, left out.
    pub left_out: u64,
    /// Papers that a language model read; the rules read the others.
    #[serde(default)]
    pub by_model: u64,
    /// What it cost.
    #[serde(default)]
    pub spent: Spent,
    /// Time for all papers, including reading, in milliseconds.
    pub elapsed_ms: f64,
}

#[derive(Deserialize)]
struct GoldLine {
    paper: String,
    task: String,
    dataset: String,
    #[serde(default)]
    dataset_mentions: Vec<String>,
}

#[derive(Deserialize)]
struct RecordLine {
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: Option<String>,
}

/// The gold of a paper.
#[derive(Default)]
struct PaperGold {
    /// Names with their tasks and spellings.
    datasets: BTreeMap<String, (BTreeSet<String>, HashSet<String>)>,
    pairs: u64,
}

#[derive(Default)]
struct Tally {
    right: u64,
    found: u64,
    gold: u64,
}

impl Tally {
    fn measure(&self) -> ExtractionMeasure {
        measure(share(self.right, self.found), share(self.right, self.gold))
    }
}

/// Whether `folder` is a benchmark of extraction: papers and gold, and no queries.
pub fn is_one(folder: &Path) -> bool {
    let has = |name: &str| file_of(folder, name).is_some();
    has("papers.jsonl") && has("gold.jsonl") && !has("queries.jsonl")
}

/// Extracts from the papers of `folder`, with the titles of `corpus/corpus.jsonl` as known names, and scores the datasets. Each paper is read
/// by a model that `ask` makes, and by rules where there is none or it has no valid answer.
///
/// # Errors
/// [`Error::Benchmark`] for an unreadable line of gold or corpus, or unreadable papers; [`Error::Io`].
pub fn score<'m>(
    folder: &Path,
    corpus: Option<&Path>,
    ask: Option<&dyn Fn() -> LanguageModel<'m>>,
) -> Result<ExtractionScores> {
    let unreadable = |path: &Path, reason: String| Error::Benchmark { path: path.to_path_buf(), line: None, reason };
    let (Some(papers), Some(gold)) = (file_of(folder, "papers.jsonl"), file_of(folder, "gold.jsonl")) else {
        return Err(unreadable(folder, "it has no `papers.jsonl` or no `gold.jsonl`".into()));
    };
    let mut by_paper: BTreeMap<String, PaperGold> = BTreeMap::new();
    read_json(&gold, |_, line: GoldLine| {
        let paper = by_paper.entry(line.paper).or_default();
        paper.pairs += 1;
        let (tasks, spellings) = paper.datasets.entry(normal(&line.dataset)).or_default();
        tasks.insert(line.task);
        spellings.extend(line.dataset_mentions.iter().map(|mention| normal(mention)));
        Ok(())
    })?;
    let known = known_names(corpus)?;
    let name =
        folder.canonicalize().ok().and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()));
    let mut scores = ExtractionScores {
        benchmark: name.unwrap_or_default(),
        known: known.len() as u64,
        ..ExtractionScores::default()
    };
    let (mut names, mut pairs, mut named) = (Tally::default(), Tally::default(), Tally::default());
    let (mut separated, mut spelled_right) = ((0u64, 0u64), 0u64);
    let started = Instant::now();
    let format = DocumentFormat::of(&papers).ok_or_else(|| unreadable(&papers, "unknown document format".into()))?;
    reading::read(&papers, format, &PdfReader::of_this_program(), &mut |document| {
        let Some(gold) = by_paper.get(&document.id) else {
            scores.left_out += 1;
            return Ok(());
        };
        scores.papers += 1;
        scores.pairs += gold.pairs;
        let by_model = ask.and_then(|ask| {
            let model = ask();
            let read = extract_by(&model, &document, &known).ok();
            scores.spent.add(model.spent());
            read
        });
        scores.by_model += u64::from(by_model.is_some());
        let extraction = by_model.unwrap_or_else(|| extract(&document, &known));
        let tasks: Vec<BTreeSet<String>> = extraction
            .tasks
            .iter()
            .map(|task| task.datasets.iter().map(|mention| normal(&mention.name)).collect())
            .collect();
        let found: BTreeSet<String> = tasks.iter().flatten().cloned().collect();
        scores.extracted += found.len() as u64;
        names.found += found.len() as u64;
        named.found += found.len() as u64;
        let mut accepted: BTreeSet<&String> = BTreeSet::new();
        for (dataset, (of_tasks, spellings)) in &gold.datasets {
            let is_right = found.contains(dataset);
            names.gold += 1;
            names.right += u64::from(is_right);
            pairs.gold += of_tasks.len() as u64;
            pairs.right += of_tasks.len() as u64 * u64::from(is_right);
            let spelled = found.iter().filter(|name| *name == dataset || spellings.contains(*name));
            accepted.extend(spelled);
            if !spellings.is_empty() {
                let is_named = found.contains(dataset) || found.iter().any(|name| spellings.contains(name));
                named.gold += 1;
                named.right += u64::from(is_named);
            }
        }
        let (agreeing, all) = distinguished(gold, &tasks);
        separated = (separated.0 + agreeing, separated.1 + all);
        spelled_right += accepted.len() as u64;
        Ok(())
    })
    .map_err(|reason| unreadable(&papers, reason))?;
    scores.datasets = names.measure();
    scores.dataset_pairs = measure(scores.datasets.precision, share(pairs.right, pairs.gold));
    scores.named_pairs = measure(share(spelled_right, named.found), share(named.right, named.gold));
    scores.tasks_apart = share(separated.0, separated.1);
    scores.compared_pairs = separated.1;
    scores.elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
    Ok(scores)
}

/// Counts pairs of extracted gold datasets in a paper with several tasks: those separated or kept together as in the gold, and
/// all.
fn distinguished(gold: &PaperGold, tasks: &[BTreeSet<String>]) -> (u64, u64) {
    let all_tasks: BTreeSet<&String> = gold.datasets.values().flat_map(|(tasks, _)| tasks).collect();
    if all_tasks.len() < 2 {
        return (0, 0);
    }
    let place = |name: &String| tasks.iter().position(|task| task.contains(name));
    let found: Vec<(usize, &BTreeSet<String>)> =
        gold.datasets.iter().filter_map(|(name, (tasks, _))| Some((place(name)?, tasks))).collect();
    let (mut agreeing, mut all) = (0, 0);
    for (at, first) in found.iter().enumerate() {
        for second in &found[at + 1..] {
            let together = first.1.intersection(second.1).next().is_some();
            all += 1;
            agreeing += u64::from(together == (first.0 == second.0));
        }
    }
    (agreeing, all)
}

fn known_names(corpus: Option<&Path>) -> Result<KnownDatasets> {
    let mut records: Vec<RecordLine> = Vec::new();
    if let Some(folder) = corpus {
        let Some(path) = file_of(folder, "corpus.jsonl") else {
            return Err(Error::usage(format!("`{}` has no `corpus.jsonl` with known names", folder.display())));
        };
        read_json(&path, |_, line: RecordLine| {
            records.push(line);
            Ok(())
        })?;
    }
    let known = records.iter().map(|record| KnownRecord {
        id: &record.id,
        title: &record.title,
        description: record.description.as_deref().unwrap_or_default(),
    });
    Ok(KnownDatasets::new(known, std::iter::empty()))
}

fn normal(name: &str) -> String {
    letters_and_digits(name).to_lowercase()
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn measure(precision: f64, recall: f64) -> ExtractionMeasure {
    let sum = precision + recall;
    let f1 = if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 };
    ExtractionMeasure { precision, recall, f1 }
}
