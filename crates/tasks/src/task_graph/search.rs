//! From a task in words to the datasets used for similar tasks.
//!
//! ```text
//! sim(t)   = max(0, (BM25(q, 2·need + abstract)* + ½·BM25(q, need)* + ½·cos(q, need) + ½·cos(q, abstract) + 0.3·coverage(t)*) / 2.8)
//! walk     = personalised PageRank over the tasks, personalised by sim⁴
//! K(d)     = (Σ sim(t)⁴)* + 0.2·(Σ walk(t))*  over the tasks t that d was used for, divided by its maximum
//! gate     = min(1, c / 0.65), c = the greatest share of the query's words, weighted by idf, found in one task and its document
//! desc(d)  = (BM25(q, d)* + BM25(q with pairs of words, d)*)*,  meaning(d) = max(0, cos(q, d))
//! score(d) = gate·K(d) + 0.35·desc(d) + 0.7·meaning(d) + 0.05·ln(1 + documents that use d + records that name d)
//! ```
//! `*` divides by the maximum for this query; coverage is the share of a task's name and keywords, weighted by idf, that occurs in
//! the query. The weights were tuned on the development halves of two benchmarks (`eval/task_search.md`). [`Walk::Published`] is
//! KATS's ranking instead: the k most similar tasks are the seeds, and a dataset scores as its best task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::encoder::{Encoder, cosines};
use super::graph::TaskGraph;
use super::inferred::INFERRED_WEIGHT;
use super::pagerank::{Network, PageRankOptions};
use super::words::Words;
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_models::embed::Embedder;

/// Bytes of a query that are used.
const REQUEST_BYTES: usize = 4 << 10;
/// Exponent of the similarity.
const SHARPNESS: i32 = 4;
const WEIGHT_WHOLE: f64 = 1.0;
const WEIGHT_NEED: f64 = 0.5;
const WEIGHT_NEED_MEANING: f64 = 0.5;
const WEIGHT_TEXT_MEANING: f64 = 0.5;
const WEIGHT_COVERAGE: f64 = 0.3;
const WEIGHT_WALK: f64 = 0.2;
const WEIGHT_DESCRIBED: f64 = 0.35;
const WEIGHT_MEANING: f64 = 0.7;
const WEIGHT_POPULARITY: f64 = 0.05;
/// Share of the query's words that a task must have for tasks to count in full.
const FULL_COVERAGE: f64 = 0.65;
/// Enough precision for a fifth of the score.
const WALK_TOLERANCE: f64 = 1e-6;

/// How tasks lead to datasets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Walk {
    /// Similarity plus 0.2 · PageRank from all tasks.
    #[default]
    Mixed,
    /// PageRank from a few seeds; a dataset scores as its best task (KATS as published).
    Published,
}

/// How to search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskSearchOptions {
    /// Maximum number of datasets.
    pub k: usize,
    /// The probability that the walk follows an edge (networkx's alpha).
    pub alpha: f64,
    /// How tasks lead to datasets.
    pub walk: Walk,
    /// Seeds of the published walk.
    pub seeds: usize,
    /// Whether PageRank is used.
    pub pagerank: bool,
    /// Whether descriptions and popularity also count.
    pub rerank: bool,
    /// Whether to return datasets that only documents name.
    pub named: bool,
    /// Ids of documents to exclude, with everything known only from them.
    pub exclude: Vec<String>,
}

impl TaskSearchOptions {
    /// The best `k` with the default settings.
    pub fn new(k: usize) -> Self {
        Self {
            k,
            alpha: PageRankOptions::default().alpha,
            walk: Walk::Mixed,
            seeds: 2,
            pagerank: true,
            rerank: true,
            named: true,
            exclude: Vec::new(),
        }
    }
}

/// The components of a dataset's score.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Parts {
    pub score: f64,
    pub tasks: f64,
    pub gate: f64,
    pub words: f64,
    pub meaning: f64,
    pub popularity: f64,
    /// Whether the tasks are taken from a similar dataset.
    pub inferred: bool,
}

/// The scores of a query against a whole graph.
pub(super) struct Scored {
    /// Similarity of each task.
    pub similarity: Vec<f64>,
    /// PageRank of each task divided by the maximum; empty without PageRank.
    pub walk: Vec<f64>,
    /// Datasets with a score above 0, best first, ties by number.
    pub ranked: Vec<(u32, Parts)>,
}

/// What a search excludes.
struct Excluded {
    /// Ascending.
    tasks: Vec<u32>,
    /// Datasets known only from excluded documents, not from the index; ascending.
    nodes: Vec<u32>,
}

impl TaskGraph {
    /// Scores every task and dataset for `text`.
    pub(super) fn score(&self, embedder: &dyn Embedder, text: &str, options: &TaskSearchOptions) -> Result<Scored> {
        if !(0.0..1.0).contains(&options.alpha) {
            return Err(Error::usage(format!("alpha is {}; it has to be from 0 to below 1", options.alpha)));
        }
        let text = &text[..text.floor_char_boundary(REQUEST_BYTES)];
        let encoder = match self.meta().reads_texts {
            true => Encoder::of_texts(embedder)?,
            false => Encoder::with_weights(embedder, self.weights()?),
        };
        let mut words = Words::default();
        let stems = words.informative(text);
        let numbers: Vec<Option<u32>> = stems.iter().map(|stem| self.word(stem)).collect();
        let excluded = self.excluded(&options.exclude)?;
        let plain = words.without_boilerplate(text);
        let query_vector = encoder.vector(if plain.is_empty() { text } else { &plain }, usize::MAX);
        // Reading a text as a whole costs milliseconds, and tasks are as near to one form of it as to the other.
        let asked = if self.meta().reads_texts { query_vector.clone() } else { encoder.vector(text, usize::MAX) };
        let (similarity, coverage) = self.similarity(&asked, &numbers, &stems, &excluded)?;
        let sharp: Vec<f64> = similarity.iter().map(|sim| sim.powi(SHARPNESS)).collect();
        let mut walk = self.walk(&similarity, &sharp, &excluded, options);
        let (tasks, inferred) = self.tasks_of_datasets(&sharp, &walk, options);
        norm(&mut walk);
        let eligible = |node: usize| (options.named || node < self.meta().records) && !is_in(&excluded.nodes, node);
        let mut parts: Vec<Parts> = tasks
            .iter()
            .zip(&inferred)
            .map(|(tasks, inferred)| Parts { tasks: *tasks, gate: 1.0, inferred: *inferred, ..Parts::default() })
            .collect();
        if options.rerank {
            let gate = if options.walk == Walk::Mixed { (coverage / FULL_COVERAGE).min(1.0) } else { 1.0 };
            let described = self.described(&numbers, &eligible);
            let meaning = cosines(&query_vector, self.node_vectors()?);
            let documents = self.documents_using(&excluded);
            let counts = self.node_counts()?;
            for (node, part) in parts.iter_mut().enumerate() {
                part.gate = gate;
                part.words = WEIGHT_DESCRIBED * described[node];
                part.meaning = WEIGHT_MEANING * meaning[node].max(0.0);
                let popular = f64::from(documents[node]) + f64::from(counts[node]);
                part.popularity = WEIGHT_POPULARITY * popular.ln_1p();
            }
        }
        let mut ranked: Vec<(u32, Parts)> = Vec::new();
        for (node, mut part) in parts.into_iter().enumerate().filter(|(node, _)| eligible(*node)) {
            let fits = part.gate * part.tasks + part.words + part.meaning;
            part.score = fits + part.popularity;
            // Popularity alone is not enough.
            if fits > 0.0 {
                ranked.push((node as u32, part));
            }
        }
        ranked.sort_unstable_by(|a, b| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0)));
        Ok(Scored { similarity, walk, ranked })
    }

    fn excluded(&self, exclude: &[String]) -> Result<Excluded> {
        let (mut tasks, mut nodes) = (Vec::new(), Vec::new());
        for id in exclude {
            let place = self.find_document(id)?;
            let first = self.task_documents.partition_point(|document| (*document as usize) < place);
            let end = self.task_documents.partition_point(|document| (*document as usize) <= place);
            for task in first..end {
                tasks.push(task as u32);
                let named = |node: &u32| *node as usize >= self.meta().records;
                nodes.extend(self.uses.get(task).iter().map(|edge| edge.dataset).filter(named));
            }
        }
        tasks.sort_unstable();
        tasks.dedup();
        nodes.sort_unstable();
        nodes.dedup();
        Ok(Excluded { tasks, nodes })
    }

    /// The position of the first document whose id is `id` or greater.
    pub(super) fn first_document(&self, id: &str) -> Result<usize> {
        let (mut low, mut high) = (0, self.meta().documents);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.document(middle)?.document.as_str() < id {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// The position of the document `id`.
    fn find_document(&self, id: &str) -> Result<usize> {
        let place = self.first_document(id)?;
        if place < self.meta().documents && self.document(place)?.document == id {
            return Ok(place);
        }
        let ids: Vec<String> = self.extractions()?.into_iter().map(|document| document.document).collect();
        let near = nearest_names(id, ids.iter().map(String::as_str), 3);
        let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
        let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
        Err(Error::usage(format!("the task graph has no document `{id}`{hint}")))
    }

    /// Similarity of every task, and the greatest share of the query that one task has.
    fn similarity(
        &self,
        vector: &[f32],
        numbers: &[Option<u32>],
        stems: &[String],
        excluded: &Excluded,
    ) -> Result<(Vec<f64>, f64)> {
        let index = self.search_index();
        let known: Vec<u32> = numbers.iter().copied().flatten().collect();
        let mut whole = index.tasks.scores(&known, &excluded.tasks);
        let mut need = index.needs.scores(&known, &excluded.tasks);
        norm(&mut whole);
        norm(&mut need);
        let need_meaning = cosines(vector, self.need_vectors()?);
        let text_meaning = cosines(vector, self.text_vectors()?);
        let mut covered = self.covered(&known, excluded);
        norm(&mut covered);
        let total = WEIGHT_WHOLE + WEIGHT_NEED + WEIGHT_NEED_MEANING + WEIGHT_TEXT_MEANING + WEIGHT_COVERAGE;
        let similarity = (0..self.meta().tasks).map(|task| {
            if is_in(&excluded.tasks, task) {
                return 0.0;
            }
            let sum = WEIGHT_WHOLE * whole[task]
                + WEIGHT_NEED * need[task]
                + WEIGHT_NEED_MEANING * need_meaning[task]
                + WEIGHT_TEXT_MEANING * text_meaning[self.task_documents[task] as usize]
                + WEIGHT_COVERAGE * covered[task];
            (sum / total).max(0.0)
        });
        Ok((similarity.collect(), self.coverage(numbers, stems, excluded)))
    }

    /// The share of each task's name and keywords, weighted by idf, that occurs in the query.
    fn covered(&self, known: &[u32], excluded: &Excluded) -> Vec<f64> {
        let index = self.search_index();
        let share = |task: usize| {
            if is_in(&excluded.tasks, task) {
                return 0.0;
            }
            let (mut shared, mut total) = (0.0, 0.0);
            for word in self.cover_words.get(task) {
                let idf = index.idf[*word as usize];
                total += idf;
                shared += if known.contains(word) { idf } else { 0.0 };
            }
            if total > 0.0 { shared / total } else { 0.0 }
        };
        (0..self.meta().tasks).map(share).collect()
    }

    /// The greatest share of the query's words, weighted by idf, that one task with its document has.
    fn coverage(&self, numbers: &[Option<u32>], stems: &[String], excluded: &Excluded) -> f64 {
        let index = self.search_index();
        let mut queried: Vec<(&String, Option<u32>)> = stems.iter().zip(numbers.iter().copied()).collect();
        queried.sort_unstable();
        queried.dedup();
        let mut total = 0.0;
        let mut shared = vec![0.0; self.meta().tasks];
        for (_, number) in queried {
            let idf = number.map_or_else(|| index.described.idf_of_unknown(), |number| index.idf[number as usize]);
            total += idf;
            for (task, _) in number.map_or(&[][..], |number| index.tasks.documents(number)) {
                shared[*task as usize] += idf;
            }
        }
        excluded.tasks.iter().for_each(|task| shared[*task as usize] = 0.0);
        shared.into_iter().fold(0.0, f64::max) / if total > 0.0 { total } else { 1.0 }
    }

    fn walk(&self, similarity: &[f64], sharp: &[f64], excluded: &Excluded, options: &TaskSearchOptions) -> Vec<f64> {
        if !options.pagerank {
            return Vec::new();
        }
        let seeds: Vec<(u32, f64)> = match options.walk {
            Walk::Mixed => sharp.iter().enumerate().map(|(task, weight)| (task as u32, *weight)).collect(),
            Walk::Published => {
                let mut best: Vec<(u32, f64)> =
                    similarity.iter().enumerate().map(|(task, sim)| (task as u32, *sim)).collect();
                best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                best.truncate(options.seeds);
                best
            }
        };
        let options = PageRankOptions { alpha: options.alpha, tolerance: WALK_TOLERANCE, ..PageRankOptions::default() };
        let index = self.search_index();
        if excluded.tasks.is_empty() {
            return index.network.pagerank(&seeds, &options).scores;
        }
        let stays = |task: u32| excluded.tasks.binary_search(&task).is_err();
        let edges: Vec<(u32, u32, f64)> =
            index.edges.iter().filter(|(a, b, _)| stays(*a) && stays(*b)).copied().collect();
        Network::new(similarity.len(), &edges).pagerank(&seeds, &options).scores
    }

    /// How well the tasks of each dataset match, 0..=1, and whether they are taken from a similar dataset.
    fn tasks_of_datasets(&self, sharp: &[f64], walk: &[f64], options: &TaskSearchOptions) -> (Vec<f64>, Vec<bool>) {
        let tasks_of = &self.search_index().tasks_of;
        let of = |values: &[f64], fold: fn(f64, f64) -> f64| {
            let mut sums: Vec<f64> = tasks_of
                .iter()
                .map(|tasks| {
                    tasks.iter().map(|task| values.get(*task as usize).copied().unwrap_or(0.0)).fold(0.0, fold)
                })
                .collect();
            norm(&mut sums);
            sums
        };
        let add = |a: f64, b: f64| a + b;
        let mut fits = match options.walk {
            Walk::Mixed => {
                let (direct, walked) = (of(sharp, add), of(walk, add));
                direct.iter().zip(&walked).map(|(direct, walked)| direct + WEIGHT_WALK * walked).collect()
            }
            Walk::Published if options.pagerank => of(walk, f64::max),
            Walk::Published => of(sharp, f64::max),
        };
        norm(&mut fits);
        let mut inferred = vec![false; fits.len()];
        if options.walk == Walk::Mixed {
            for (node, list) in self.inferred.iter().enumerate() {
                let best = list.iter().map(|link| f64::from(link.weight) * fits[link.to as usize]).fold(0.0, f64::max);
                if best > 0.0 {
                    inferred[node] = true;
                    fits[node] = f64::from(INFERRED_WEIGHT) * best;
                }
            }
        }
        (fits, inferred)
    }

    /// How well descriptions match by words, 0..=1.
    fn described(&self, numbers: &[Option<u32>], eligible: &impl Fn(usize) -> bool) -> Vec<f64> {
        let index = self.search_index();
        let known: Vec<u32> = numbers.iter().copied().flatten().collect();
        let mut single = index.described.scores(&known, &[]);
        let mut pairs = index.described_pairs.scores(&index.with_pairs(numbers, self.vocabulary().len()), &[]);
        for scores in [&mut single, &mut pairs] {
            scores.iter_mut().enumerate().filter(|(node, _)| !eligible(*node)).for_each(|(_, score)| *score = 0.0);
            norm(scores);
        }
        let mut both: Vec<f64> = single.iter().zip(&pairs).map(|(single, pair)| single + pair).collect();
        norm(&mut both);
        both
    }

    /// How many documents use each dataset, not counting excluded ones.
    fn documents_using(&self, excluded: &Excluded) -> Vec<u32> {
        let count = |tasks: &[u32]| {
            let mut documents: Vec<u32> = tasks
                .iter()
                .filter(|task| !is_in(&excluded.tasks, **task as usize))
                .map(|task| self.task_documents[*task as usize])
                .collect();
            documents.dedup();
            documents.len() as u32
        };
        self.search_index().tasks_of.iter().map(count).collect()
    }
}

fn is_in(list: &[u32], place: usize) -> bool {
    list.binary_search(&(place as u32)).is_ok()
}

/// Divides by the maximum.
fn norm(values: &mut [f64]) {
    let greatest = values.iter().copied().fold(0.0, f64::max);
    if greatest > 0.0 {
        values.iter_mut().for_each(|value| *value /= greatest);
    }
}
