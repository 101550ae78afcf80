//! The datasets of a graph: records and tables of the index, joined where they are one, then those that only documents name.

use std::collections::{BTreeSet, HashMap};

use super::dataset::DatasetRecord;
use super::draft::DatasetNode;
use super::lists::Use;
use super::resolution::Resolution;
use crate::papers::extraction::{DatasetMention, ExtractedTask, Extraction};

/// Bytes kept of a description, to be shown.
const SHOWN_BYTES: usize = 400;
/// Names kept of a dataset.
const MOST_NAMES: usize = 16;
/// Descriptions by documents that are searched, of a dataset that only documents name.
const MOST_DESCRIPTIONS: usize = 4;

/// The datasets with what they are searched by.
#[derive(Default)]
pub(super) struct Nodes {
    pub nodes: Vec<DatasetNode>,
    /// One a node: title and descriptions.
    pub texts: Vec<String>,
    /// So many of them are in the index; they come first.
    pub records: usize,
    /// The node of each dataset of the resolution.
    by_root: HashMap<usize, u32>,
    /// The node of each record of the index.
    by_record: Vec<u32>,
}

/// The record that a document says a mention is, where there is such a record.
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
                    text.push_str(&record.text());
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
            described: shown(&record.description),
            ..DatasetNode::default()
        });
        self.texts.push(record.text());
        node
    }

    fn add_named(&mut self, datasets: &[DatasetRecord], documents: &[&Extraction], resolution: &Resolution) {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        let mut said: BTreeSet<(&str, &str)> = BTreeSet::new();
        for mention in documents.iter().flat_map(|document| &document.tasks).flat_map(|task| &task.datasets) {
            if mention_record(datasets, mention).is_none() {
                names.insert(&mention.name);
                said.extend(mention.description.as_deref().map(|description| (mention.name.as_str(), description)));
            }
        }
        // In the order of the names, so that numbers do not depend on what was there before.
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
            if self.nodes[node].names.len() < MOST_NAMES {
                self.nodes[node].names.push(name.to_string());
            }
        }
        let mut counts: HashMap<usize, usize> = HashMap::new();
        for (name, description) in said {
            let node = resolution.of_name(name).and_then(|root| self.by_root.get(&root)).map(|node| *node as usize);
            // A record speaks for itself: what documents say of it must be able to be left out with them.
            let Some(node) = node.filter(|node| self.nodes[*node].named) else { continue };
            let count = counts.entry(node).or_default();
            *count += 1;
            if *count <= MOST_DESCRIPTIONS {
                self.texts[node].push_str(&format!("{description}. "));
                if self.nodes[node].described.is_empty() {
                    self.nodes[node].described = shown(description);
                }
            }
        }
    }

    /// The datasets that serve `task`, each once, with its first mention.
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

    /// How many records name each node: the most of its records.
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

fn shown(description: &str) -> String {
    description[..description.floor_char_boundary(SHOWN_BYTES)].to_string()
}
