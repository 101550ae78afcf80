//! In-memory indexes that searches need, built at the first search: inverted lists of words, the network of tasks, and the tasks
//! of each dataset. All of it is linear in the number of words and edges.

use super::graph::TaskGraph;
use super::links::edges;
use super::lists::Lists;
use super::pagerank::Network;
use super::term_index::TermIndex;

/// Inverted lists and networks.
pub(super) struct SearchIndex {
    /// Tasks by the words of their needs.
    pub needs: TermIndex,
    /// Tasks by the words of their needs, twice, and of their documents.
    pub tasks: TermIndex,
    /// Datasets by the words of title and description; statistics of the lake's own datasets only.
    pub described: TermIndex,
    /// Idf of each word in the lake's descriptions.
    pub idf: Vec<f64>,
    /// Pairs of consecutive words, ascending.
    pairs: Vec<u64>,
    /// Datasets by words and pairs of consecutive words.
    pub described_pairs: TermIndex,
    /// Edges between tasks.
    pub edges: Vec<(u32, u32, f64)>,
    /// The tasks as a network.
    pub network: Network,
    /// The tasks that each dataset was used for.
    pub tasks_of: Lists<u32>,
}

impl SearchIndex {
    pub fn of(graph: &TaskGraph) -> Self {
        let (words, records) = (graph.vocabulary().len(), graph.meta().records);
        let tasks = graph.meta().tasks;
        let mut whole: Lists<u32> = Lists::default();
        for (task, need) in graph.need_words.iter().enumerate() {
            let text = graph.text_words.get(graph.task_documents[task] as usize);
            whole.push(need.iter().chain(need).chain(text).copied());
        }
        let mut pairs: Vec<u64> = graph.node_words.iter().flat_map(pairs_of).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut with_pairs: Lists<u32> = Lists::default();
        for list in graph.node_words.iter() {
            let numbered = pairs_of(list).filter_map(|pair| pairs.binary_search(&pair).ok());
            with_pairs.push(list.iter().copied().chain(numbered.map(|place| (words + place) as u32)));
        }
        let edges = edges(&graph.links);
        let mut tasks_of: Vec<Vec<u32>> = vec![Vec::new(); graph.meta().datasets];
        for (task, uses) in graph.uses.iter().enumerate() {
            uses.iter().for_each(|edge| tasks_of[edge.dataset as usize].push(task as u32));
        }
        let mut task_lists = Lists::default();
        tasks_of.into_iter().for_each(|list| task_lists.push(list));
        let described = TermIndex::new(words, records, graph.node_words.iter());
        let idf = (0..words as u32).map(|word| described.idf(word)).collect();
        Self {
            needs: TermIndex::new(words, tasks, graph.need_words.iter()),
            tasks: TermIndex::new(words, tasks, whole.iter()),
            described,
            idf,
            described_pairs: TermIndex::new(words + pairs.len(), records, with_pairs.iter()),
            pairs,
            network: Network::new(tasks, &edges),
            edges,
            tasks_of: task_lists,
        }
    }

    /// Words and pairs of consecutive words, numbered as in [`SearchIndex::described_pairs`].
    pub fn with_pairs(&self, words: &[Option<u32>], vocabulary: usize) -> Vec<u32> {
        let known = words.iter().copied().flatten();
        let following = words.windows(2).filter_map(|two| match two {
            [Some(a), Some(b)] => self.pairs.binary_search(&pair(*a, *b)).ok().map(|at| (vocabulary + at) as u32),
            _ => None,
        });
        known.chain(following).collect()
    }
}

fn pair(a: u32, b: u32) -> u64 {
    (u64::from(a) << 32) | u64::from(b)
}

fn pairs_of(words: &[u32]) -> impl Iterator<Item = u64> + '_ {
    words.windows(2).map(|two| pair(two[0], two[1]))
}
