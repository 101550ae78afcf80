//! What can be reused of an existing graph: documents, datasets, tasks and their links, where they have not changed.

use std::collections::HashMap;

use crate::task_graph::graph::TaskGraph;
use crate::task_graph::lists::Link;
use lakeward_core::error::Result;

/// An existing graph, and what can be reused from it.
pub(super) struct Old<'a> {
    pub graph: &'a TaskGraph,
    /// Documents by id, with their hashes.
    pub documents: HashMap<String, (usize, u64)>,
    /// The first task of each document, and one past the last task.
    pub first_tasks: Vec<usize>,
    /// Whether the old vectors were made with the same weights as new ones would be.
    pub same_datasets: bool,
    pub nodes: HashMap<String, (usize, u64)>,
}

impl<'a> Old<'a> {
    pub fn of(graph: &'a TaskGraph, fingerprint: u64) -> Result<Self> {
        let mut documents = HashMap::new();
        for (place, hash) in graph.document_hashes()?.into_iter().enumerate() {
            documents.insert(graph.document(place)?.document, (place, hash));
        }
        let mut nodes = HashMap::new();
        for (place, hash) in graph.node_hashes()?.into_iter().enumerate() {
            nodes.insert(graph.node(place)?.id, (place, hash));
        }
        let count = graph.meta().documents as u32;
        let first_tasks =
            (0..=count).map(|document| graph.task_documents.partition_point(|of| *of < document)).collect();
        Ok(Self { graph, documents, first_tasks, same_datasets: graph.meta().fingerprint == fingerprint, nodes })
    }

    /// The position of an unchanged document.
    pub fn same_document(&self, id: &str, hash: u64) -> Option<usize> {
        self.documents.get(id).filter(|(_, known)| *known == hash).map(|(place, _)| *place)
    }

    pub fn same_node(&self, id: &str, hash: u64) -> Option<usize> {
        self.nodes.get(id).filter(|(_, known)| *known == hash).map(|(place, _)| *place)
    }
}

/// For each known task, its old neighbours with their new numbers; `None` if one of a full list is gone, since another may
/// then take its place.
pub(super) fn earlier_links(old: Option<&TaskGraph>, known: &[Option<usize>], most: usize) -> Vec<Option<Vec<Link>>> {
    let Some(old) = old else { return vec![None; known.len()] };
    let mut places: Vec<Option<u32>> = vec![None; old.meta().tasks];
    for (place, known) in known.iter().enumerate() {
        if let Some(known) = known {
            places[*known] = Some(place as u32);
        }
    }
    let renumbered = |known: usize| {
        let before = old.links.get(known);
        let list: Vec<Link> = before
            .iter()
            .filter_map(|link| Some(Link { to: places[link.to as usize]?, weight: link.weight }))
            .collect();
        (list.len() == before.len() || before.len() < most).then_some(list)
    };
    known.iter().map(|known| known.and_then(renumbered)).collect()
}
