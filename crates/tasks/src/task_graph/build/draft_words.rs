//! The words of documents, tasks and datasets, by number. Those of what the old graph has are renumbered and not read
//! again.

use super::super::lists::Lists;
use super::numbering::Numbering;
use super::old::Old;
use super::{about, need_text};
use crate::papers::extraction::Extraction;

/// The old numbers of documents, tasks and datasets, of those that are as they were.
pub(super) struct Known<'a> {
    pub documents: &'a [Option<usize>],
    pub tasks: &'a [Option<usize>],
    pub nodes: &'a [Option<usize>],
}

/// The words of all of them.
pub(super) struct DraftWords {
    pub texts: Lists<u32>,
    pub needs: Lists<u32>,
    /// Sorted, each word once.
    pub covers: Lists<u32>,
    /// Sorted.
    pub keywords: Lists<u32>,
    pub nodes: Lists<u32>,
    /// The words by their numbers.
    pub vocabulary: Vec<String>,
}

impl DraftWords {
    /// Those of `documents` with their tasks, and of datasets with these texts.
    pub fn new(old: Option<&Old<'_>>, known: &Known<'_>, documents: &[&Extraction], node_texts: &[String]) -> Self {
        let mut numbering = Numbering::default();
        // The new number of each word of the old graph.
        let renumbered: Vec<u32> = old.map_or_else(Vec::new, |old| {
            old.graph.vocabulary().iter().map(|word| numbering.number(word.clone())).collect()
        });
        let renumber = |list: &[u32]| list.iter().map(|word| renumbered[*word as usize]).collect::<Vec<u32>>();
        let (mut texts, mut needs, mut nodes) = (Lists::default(), Lists::default(), Lists::default());
        let (mut covers, mut keywords) = (Lists::default(), Lists::default());
        let mut known_tasks = known.tasks.iter();
        for (known, document) in known.documents.iter().zip(documents) {
            match known.zip(old) {
                Some((known, old)) => texts.push(renumber(old.graph.text_words.get(known))),
                None => texts.push(numbering.informative(&about(document))),
            }
            for (task, known) in document.tasks.iter().zip(known_tasks.by_ref()) {
                if let Some((known, old)) = known.zip(old) {
                    needs.push(renumber(old.graph.need_words.get(known)));
                    covers.push(renumber(old.graph.cover_words.get(known)));
                    keywords.push(renumber(old.graph.keyword_words.get(known)));
                    continue;
                }
                let label = format!("{} {}", task.name, task.keywords.join(" "));
                needs.push(numbering.informative(&need_text(task)));
                let mut cover = numbering.informative(&label);
                cover.sort_unstable();
                cover.dedup();
                covers.push(cover);
                keywords.push(numbering.plain(&label));
            }
        }
        for (known, text) in known.nodes.iter().zip(node_texts) {
            match known.zip(old) {
                Some((known, old)) => nodes.push(renumber(old.graph.node_words.get(known))),
                None => nodes.push(numbering.informative(text)),
            }
        }
        let vocabulary = numbering.finish(&mut [&mut texts, &mut needs, &mut covers, &mut keywords, &mut nodes]);
        // Sets are sorted by word number, and the numbers have just changed.
        Self { texts, needs, covers: sorted(&covers), keywords: sorted(&keywords), nodes, vocabulary }
    }
}

fn sorted(lists: &Lists<u32>) -> Lists<u32> {
    let mut all = Lists::default();
    for list in lists.iter() {
        let mut list = list.to_vec();
        list.sort_unstable();
        all.push(list);
    }
    all
}
