//! Builds a task graph from what documents say and what the lake's index knows of datasets.
//!
//! Unchanged documents and datasets are reused from an existing graph, so the cost of adding documents grows with the new ones
//! only. The file is byte for byte that of a build from scratch: documents, datasets and words are numbered by their names,
//! independently of the existing graph.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::dataset::{DatasetRecord, mention_counts};
use super::draft::{Draft, FILE_NAME, GraphMeta};
use super::encoder::Encoder;
use super::graph::TaskGraph;
use super::inferred;
use super::links::{LinkOptions, LinkTasks, link};
use super::lists::{Lists, Use};
use super::nodes::Nodes;
use super::resolution::{Judge, Resolution};
use super::verdicts::{self, Verdicts};
use crate::papers::extraction::{ExtractedTask, Extraction};
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{FileLock, make_folder, remove_unfinished};
use lakeward_models::embed::{Embedder, EmbedderExt};

mod draft_words;
mod names;
mod numbering;
mod old;

use draft_words::{DraftWords, Known};
use names::{names_of, same_by_documents};
use old::{Old, earlier_links};

/// Number of word pieces of a description used for its vector.
pub(super) const DESCRIPTION_PIECES: usize = 96;

/// More documents than this are not read as a whole: that takes some hundredths of a second for each.
const MOST_READ: usize = 50_000;

/// What a graph is built from.
pub struct GraphInputs<'a> {
    /// All datasets of the index, sorted by id.
    pub datasets: &'a [DatasetRecord],
    /// All documents; a later one with the same id replaces an earlier one.
    pub extractions: &'a [Extraction],
    /// Makes the vectors.
    pub embedder: &'a dyn Embedder,
    /// Decides the names that rules leave open.
    pub judge: Option<&'a dyn Judge>,
}

/// How a graph is built.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraphOptions {
    /// Thresholds for linking tasks.
    pub links: LinkOptions,
    /// Whether names of the same dataset are merged; the user's verdicts always count.
    pub resolve: bool,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self { links: LinkOptions::default(), resolve: true }
    }
}

/// What a build did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct GraphStats {
    /// Documents in the graph.
    pub documents: usize,
    /// Documents that are new or have changed.
    pub new_documents: usize,
    /// Tasks.
    pub tasks: usize,
    /// Datasets, including those that only documents name.
    pub datasets: usize,
    /// Datasets that only documents name.
    pub named_datasets: usize,
    /// Edges from tasks to datasets.
    pub uses: usize,
    /// Pairs of tasks that are linked.
    pub links: usize,
    /// Datasets not used for any task, attached to similar ones that are.
    pub inferred: usize,
    /// Verdicts about names.
    pub verdicts: usize,
    /// Size of the graph's file, in bytes.
    pub bytes: u64,
    /// Elapsed time, in milliseconds.
    pub elapsed_ms: f64,
}

/// Builds or updates the graph in `folder`, atomically.
///
/// # Errors
/// [`Error::Locked`], [`Error::Io`]; [`Error::DamagedIndex`] if the verdicts cannot be read; [`Error::EmbeddingServer`] if the
/// embedding model fails.
pub fn build(folder: &Path, inputs: &GraphInputs<'_>, options: &GraphOptions) -> Result<GraphStats> {
    let started = Instant::now();
    make_folder(folder)?;
    let _lock = FileLock::acquire(folder)?;
    [FILE_NAME, verdicts::FILE_NAME].into_iter().for_each(|name| remove_unfinished(&folder.join(name)));
    let lasting = Verdicts::read(folder)?.lasting();
    // A graph that cannot be read is replaced: the inputs hold everything it was made from.
    let old = TaskGraph::open(folder, inputs.embedder.id()).ok();
    let (draft, resolution, new_documents) = draft(old.as_ref(), inputs, options, &lasting)?;
    if let Some(failure) = inputs.embedder.failure() {
        return Err(Error::EmbeddingServer { reason: failure.to_string() });
    }
    resolution.verdicts.write(folder)?;
    let written = draft.write(&folder.join(FILE_NAME))?;
    Ok(GraphStats {
        documents: draft.meta.documents,
        new_documents,
        tasks: draft.meta.tasks,
        datasets: draft.meta.datasets,
        named_datasets: draft.meta.datasets - draft.meta.records,
        uses: draft.uses.items().len(),
        links: super::links::edges(&draft.links).len(),
        inferred: draft.inferred.iter().filter(|list| !list.is_empty()).count(),
        verdicts: resolution.verdicts.len(),
        bytes: written.bytes,
        elapsed_ms: started.elapsed().as_secs_f64() * 1000.0,
    })
}

/// The text by which a task's need is compared.
pub(super) fn need_text(task: &ExtractedTask) -> String {
    format!("{} . {} . {}", task.text, task.name, task.keywords.join(" "))
}

/// The text by which a document is compared.
fn about(extraction: &Extraction) -> String {
    match (extraction.title.is_empty(), extraction.text.is_empty()) {
        (true, _) => extraction.text.clone(),
        (false, true) => extraction.title.clone(),
        (false, false) => format!("{}. {}", extraction.title, extraction.text),
    }
}

fn fingerprint(datasets: &[DatasetRecord]) -> u64 {
    let mut hash = Xxh3::new();
    for dataset in datasets {
        for text in [&dataset.id, &dataset.title, &dataset.description] {
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
        hash.update(&[u8::from(dataset.is_table)]);
        hash.update(bytemuck::cast_slice(&dataset.meaning));
    }
    hash.digest()
}

fn draft(
    old: Option<&TaskGraph>,
    inputs: &GraphInputs<'_>,
    options: &GraphOptions,
    lasting: &Verdicts,
) -> Result<(Draft, Resolution, usize)> {
    let fingerprint = fingerprint(inputs.datasets);
    let old = old.map(|graph| Old::of(graph, fingerprint)).transpose()?;
    let documents = documents_of(inputs.extractions);
    let hash_of =
        |document: &&Extraction| serde_json::to_vec(*document).map(|bytes| xxh3_64(&bytes)).unwrap_or_default();
    let hashes: Vec<u64> = documents.par_iter().map(hash_of).collect();
    let known: Vec<Option<usize>> = documents
        .iter()
        .zip(&hashes)
        .map(|(document, hash)| old.as_ref().and_then(|old| old.same_document(&document.document, *hash)))
        .collect();
    let new_documents = known.iter().filter(|known| known.is_none()).count();

    let names = names_of(&documents, inputs.datasets);
    let said = same_by_documents(&documents, inputs.datasets);
    let resolution = Resolution::new(inputs.datasets, (&names, said), lasting, inputs.judge, options.resolve);
    let nodes = Nodes::new(inputs.datasets, &documents, &resolution);
    let node_hashes: Vec<u64> = nodes.texts.iter().map(|text| xxh3_64(text.as_bytes())).collect();
    let known_nodes: Vec<Option<usize>> = nodes
        .nodes
        .iter()
        .zip(&node_hashes)
        .map(|(node, hash)| old.as_ref().and_then(|old| old.same_node(&node.id, *hash)))
        .collect();

    let (mut task_documents, mut uses) = (Vec::new(), Lists::default());
    // The old number of each task.
    let mut known_tasks: Vec<Option<usize>> = Vec::new();
    for (place, document) in documents.iter().enumerate() {
        for (number, task) in document.tasks.iter().enumerate() {
            task_documents.push(place as u32);
            known_tasks.push(known[place].zip(old.as_ref()).map(|(known, old)| old.first_tasks[known] + number));
            uses.push(nodes.uses_of(inputs.datasets, &resolution, task));
        }
    }
    let known_before = Known { documents: &known, tasks: &known_tasks, nodes: &known_nodes };
    let words = DraftWords::new(old.as_ref(), &known_before, &documents, &nodes.texts);

    let reads_texts = reads_texts(inputs, documents.len());
    let old = old.filter(|old| old.graph.meta().reads_texts == reads_texts);
    let same = old.as_ref().filter(|old| old.same_datasets);
    // What a text is read as does not depend on the other texts of the lake; the weights of word pieces do.
    let same_tasks = old.as_ref().filter(|old| reads_texts || old.same_datasets);
    let own_texts = || nodes.texts[..nodes.records].iter().map(String::as_str);
    let encoder = match same {
        _ if reads_texts => Encoder::of_texts(inputs.embedder)?,
        Some(old) => Encoder::with_weights(inputs.embedder, old.graph.weights()?),
        None => Encoder::over(inputs.embedder, own_texts(), DESCRIPTION_PIECES),
    };
    let dims = encoder.dims();
    let row = |rows: &[f32], at: usize| rows[at * dims..(at + 1) * dims].to_vec();
    let needs: Vec<String> = documents.iter().flat_map(|document| document.tasks.iter().map(need_text)).collect();
    let (old_texts, old_needs, old_nodes) = match same_tasks {
        Some(old) => (old.graph.text_vectors()?, old.graph.need_vectors()?, old.graph.node_vectors()?),
        None => (&[][..], &[][..], &[][..]),
    };
    let vectors = |known: &[Option<usize>], rows: &[f32], text: &(dyn Fn(usize) -> String + Sync), pieces: usize| {
        let vector = |place: usize| match known[place].filter(|_| same_tasks.is_some()) {
            Some(known) => row(rows, known),
            None => encoder.vector(&text(place), pieces),
        };
        let rows: Vec<Vec<f32>> = (0..known.len()).into_par_iter().map(vector).collect();
        rows.concat()
    };
    let text_vectors = vectors(&known, old_texts, &|place| about(documents[place]), usize::MAX);
    let need_vectors = vectors(&known_tasks, old_needs, &|place| needs[place].clone(), usize::MAX);
    // Those of the lake's own datasets are in the index where it reads texts.
    let read = if reads_texts { nodes.records } else { 0 };
    let mut node_vectors = if reads_texts { nodes.meanings(inputs.datasets, dims) } else { Vec::new() };
    let text_of = |place: usize| nodes.texts[read + place].clone();
    node_vectors.extend(vectors(&known_nodes[read..], old_nodes, &text_of, DESCRIPTION_PIECES));

    let tasks = LinkTasks {
        dims,
        needs: &need_vectors,
        texts: &text_vectors,
        documents: &task_documents,
        keywords: &words.keywords,
    };
    let same_links = same_tasks.filter(|old| old.graph.meta().has_options(&options.links)).map(|old| old.graph);
    let links = link(&tasks, earlier_links(same_links, &known_tasks, options.links.most), &options.links);
    let has_task: Vec<bool> = has_task(&uses, nodes.nodes.len());
    let inferred = inferred::attach(&inferred::Attach {
        dims,
        vectors: &node_vectors,
        has_task: &has_task,
        known: &known_nodes,
        old: same.map(|old| old.graph),
    });
    let record_counts = match same {
        Some(old) => old.graph.record_counts()?,
        None => {
            let titles: Vec<&str> = inputs.datasets.iter().map(|record| record.title.as_str()).collect();
            let texts: Vec<String> = inputs.datasets.par_iter().map(DatasetRecord::text).collect();
            mention_counts(&titles, &texts)
        }
    };
    let node_counts = nodes.counts(&record_counts);
    let meta = GraphMeta {
        embedder: inputs.embedder.id().to_string(),
        reads_texts,
        dims,
        documents: documents.len(),
        tasks: task_documents.len(),
        datasets: nodes.nodes.len(),
        records: nodes.records,
        index_records: inputs.datasets.len(),
        fingerprint,
        cosine: options.links.cosine,
        overlap: options.links.overlap,
        most_links: options.links.most,
        resolved: options.resolve,
    };
    let draft = Draft {
        meta,
        documents: documents.into_iter().cloned().collect(),
        document_hashes: hashes,
        text_words: words.texts,
        text_vectors,
        task_documents,
        need_words: words.needs,
        need_vectors,
        cover_words: words.covers,
        keyword_words: words.keywords,
        links,
        uses,
        nodes: nodes.nodes,
        node_hashes,
        node_words: words.nodes,
        node_vectors,
        node_counts,
        record_counts,
        inferred,
        vocabulary: words.vocabulary,
        weights: encoder.weights().to_vec(),
    };
    Ok((draft, resolution, new_documents))
}

/// Whether tasks are compared by the model that reads whole texts: it has read all datasets for the index, and there are not too many
/// documents for it.
fn reads_texts(inputs: &GraphInputs<'_>, documents: usize) -> bool {
    let dims = inputs.embedder.as_text_encoder().map(Embedder::dims);
    dims.is_some_and(|dims| inputs.datasets.iter().all(|dataset| dataset.meaning.len() == dims))
        && documents <= MOST_READ
}

/// Documents by id, the last of each.
fn documents_of(extractions: &[Extraction]) -> Vec<&Extraction> {
    let mut latest: HashMap<&str, &Extraction> = HashMap::new();
    extractions.iter().for_each(|extraction| _ = latest.insert(&extraction.document, extraction));
    let mut documents: Vec<&Extraction> = latest.into_values().collect();
    documents.sort_unstable_by(|a, b| a.document.cmp(&b.document));
    documents
}

fn has_task(uses: &Lists<Use>, nodes: usize) -> Vec<bool> {
    let mut has_task = vec![false; nodes];
    uses.items().iter().for_each(|edge| has_task[edge.dataset as usize] = true);
    has_task
}
