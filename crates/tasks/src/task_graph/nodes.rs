//! The dataset nodes of a graph: first records and tables of the index (merged if they are the same), then datasets only in documents.

use std::collections::{BTreeSet, HashMap};

use super::dataset::DatasetRecord;
use super::draft::DatasetNode;
use super::lists::Use;
use super::resolution::Resolution;
use crate::papers::extraction::{DatasetMention, ExtractedTask, Extraction};
use lakeward_models::embed::normalise;

/// Bytes of a description that are stored for display.
const DISPLAY_BYTES: usize = 400;
/// Names stored per dataset.
const MAX_NAMES: usize = 16;
/// Descriptions from documents that are indexed for a dataset that only documents name.
const MAX_DESCRIPTIONS: usize = 4;

/// The datasets with the text they are searched by.
#[derive(Default)]
pub(super) struct Nodes {
    pub nodes: Vec<DatasetNode>,
    /// One per node: title and descriptions.
    pub texts: Vec<String>,
    /// Number of nodes that are in the index; they come first.
    pub records: usize,
    /// The node of each dataset of the resolution.
    by_root: HashMap<usize, u32>,
    /// The node of each record of the index.
    by_record: Vec<u32>,
}

/// The record that the document gives for a mention, if it exists.
pub(super) fn mention_record(datasets: &[DatasetRecord], mention: &DatasetMention) -> Option<usize> {
    let id = mention.record.as_deref()?;
    datasets.binary_search_by(|record| record.id.as_str().cmp(id)).ok()
}

impl Nodes {
    pub fn new(datasets: &[DatasetRecord], documents: &[&Extraction], resolution: &Resolution) -> Self {
        let mut nodes = Self::default();
        for (place, record) in datasets.iter().enumerate() {
            let root = resolution.of_record(place);
            let node = match nodes.by_root.get(&root) {
                Some(node) => {
                    let node = *node as usize;
                    nodes.nodes[node].also.push(record.id.clone());
                    let text = &mut nodes.texts[node];
                    text.push('\n');
                    text.push_str(&record.text_with_fields());
                    node
                }
                None => nodes.push_record(root, record),
            };
            if record.is_table {
                nodes.nodes[node].tables.push(record.id.clone());
            }
            nodes.by_record.push(node as u32);
        }
        nodes.records = nodes.nodes.len();
        nodes.add_named(datasets, documents, resolution);
        nodes
    }

    fn push_record(&mut self, root: usize, record: &DatasetRecord) -> usize {
        let node = self.nodes.len();
        self.by_root.insert(root, node as u32);
        self.nodes.push(DatasetNode {
            id: record.id.clone(),
            title: record.title.clone(),
            described: display_text(&record.description),
            ..DatasetNode::default()
        });
        self.texts.push(record.text_with_fields());
        node
    }

    fn add_named(&mut self, datasets: &[DatasetRecord], documents: &[&Extraction], resolution: &Resolution) {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        let mut descriptions: BTreeSet<(&str, &str)> = BTreeSet::new();
        for mention in documents.iter().flat_map(|document| &document.tasks).flat_map(|task| &task.datasets) {
            if mention_record(datasets, mention).is_none() {
                names.insert(&mention.name);
                descriptions
                    .extend(mention.description.as_deref().map(|description| (mention.name.as_str(), description)));
            }
        }
        // In the order of the names, so that node numbers do not depend on earlier builds.
        for name in names {
            let Some(root) = resolution.of_name(name) else { continue };
            let node = *self.by_root.entry(root).or_insert_with(|| {
                self.nodes.push(DatasetNode {
                    id: name.into(),
                    title: name.into(),
                    named: true,
                    ..DatasetNode::default()
                });
                self.texts.push(format!("{name}. "));
                self.nodes.len() as u32 - 1
            }) as usize;
            if self.nodes[node].names.len() < MAX_NAMES {
                self.nodes[node].names.push(name.to_string());
            }
        }
        let mut counts: HashMap<usize, usize> = HashMap::new();
        for (name, description) in descriptions {
            let node = resolution.of_name(name).and_then(|root| self.by_root.get(&root)).map(|node| *node as usize);
            // Indexed records use their own description: descriptions from documents must disappear when the documents are excluded.
            let Some(node) = node.filter(|node| self.nodes[*node].named) else { continue };
            let count = counts.entry(node).or_default();
            *count += 1;
            if *count <= MAX_DESCRIPTIONS {
                self.texts[node].push_str(&format!("{description}. "));
                if self.nodes[node].described.is_empty() {
                    self.nodes[node].described = display_text(description);
                }
            }
        }
    }

    /// The datasets used for `task`, each once, with its first mention.
    pub fn uses_of(&self, datasets: &[DatasetRecord], resolution: &Resolution, task: &ExtractedTask) -> Vec<Use> {
        let mut uses: Vec<Use> = Vec::with_capacity(task.datasets.len());
        for (place, mention) in task.datasets.iter().enumerate() {
            let dataset = match mention_record(datasets, mention) {
                Some(record) => Some(self.by_record[record]),
                None => resolution.of_name(&mention.name).and_then(|root| self.by_root.get(&root).copied()),
            };
            if let Some(dataset) = dataset {
                uses.push(Use { dataset, mention: place as u32 });
            }
        }
        uses.sort_unstable_by_key(|edge| (edge.dataset, edge.mention));
        uses.dedup_by_key(|edge| edge.dataset);
        uses
    }

    /// What each node of the index is about: the sum of the vectors of its records, scaled to length 1; `dims` values each.
    pub fn meanings(&self, datasets: &[DatasetRecord], dims: usize) -> Vec<f32> {
        let mut rows = vec![0.0; self.records * dims];
        for (record, node) in datasets.iter().zip(&self.by_record) {
            let row = &mut rows[*node as usize * dims..][..dims];
            row.iter_mut().zip(&record.meaning).for_each(|(sum, value)| *sum += value);
        }
        rows.chunks_exact_mut(dims).for_each(|row| _ = normalise(row));
        rows
    }

    /// How many records name each node: the maximum over the node's records.
    pub fn counts(&self, by_record: &[u32]) -> Vec<u32> {
        let mut counts = vec![0; self.nodes.len()];
        for (record, count) in by_record.iter().enumerate() {
            if let Some(node) = self.by_record.get(record) {
                counts[*node as usize] = counts[*node as usize].max(*count);
            }
        }
        counts
    }
}

fn display_text(description: &str) -> String {
    description[..description.floor_char_boundary(DISPLAY_BYTES)].to_string()
}
