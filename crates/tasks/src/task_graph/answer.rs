//! The results of a task graph search: datasets, each with the path that led to it.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph::TaskGraph;
use super::learned::is_learned;
use super::search::{Parts, Scored, TaskSearchOptions};
use super::words::Words;
use crate::papers::extraction::{DatasetMention, ExtractedTask, Extraction};
use lakeward_core::answer::in_order;
use lakeward_core::error::Result;
use lakeward_core::listing::{ListCell, ListColumn, Listed, REASON_CHARS, column};
use lakeward_models::embed::Embedder;
use lakeward_search::cite::{Gate, NamesTables};
use lakeward_search::task_search::{TaskPath, TaskSupport};

/// The path is reported through a neighbour only if it is this many times as similar to the query as the task it leads to.
const LED_BY: f64 = 1.5;
/// Bytes of a text quoted in a reason.
const QUOTED_BYTES: usize = 120;

/// A dataset for a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct TaskAnswer {
    /// Its id in the index; for a dataset that only documents name, its name.
    pub dataset: String,
    /// Its citation, if the index has one and it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// Its title.
    pub title: String,
    /// Its description, truncated; empty if there is none.
    #[serde(default)]
    pub description: String,
    /// Greater is better; comparable within one answer only.
    pub score: f64,
    /// The components of the score.
    pub parts: TaskScore,
    /// Whether it is in the index; otherwise only documents name it.
    pub in_index: bool,
    /// Tables of the lake that hold it.
    pub tables: Vec<String>,
    /// Number of tasks in the graph that it was used for.
    pub served_tasks: u64,
    /// The path from the query to it; none if only its description matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<TaskPath>,
    /// Why it was found, in a sentence.
    pub reason: String,
}

impl Listed for TaskAnswer {
    const COLUMNS: &'static [ListColumn<Self>] = &[
        column("dataset", ListCell::Id(|a| &a.dataset)),
        column("score", ListCell::Figure(3, |a| a.score)),
        column("why", ListCell::Text(REASON_CHARS, |a| a.reason.as_str().into())),
    ];
}

impl NamesTables for TaskAnswer {
    /// The graph may be older than the catalogue. A dataset that only documents name is not a table and is kept.
    fn pass(&mut self, gate: &Gate<'_>) -> Result<bool> {
        let mut tables = Vec::with_capacity(self.tables.len());
        for table in std::mem::take(&mut self.tables) {
            match gate.has(&table)? {
                true => tables.push(table),
                false => gate.count(1),
            }
        }
        self.tables = tables;
        Ok(!self.in_index || gate.has(&self.dataset)?)
    }
}

/// The components of a score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskScore {
    /// Tasks similar to the query that it was used for, times the gate.
    pub tasks: f64,
    /// How much tasks count for this query, 0..=1: the share of its words that they have.
    pub gate: f64,
    /// Word match of title and description.
    pub description_words: f64,
    /// Similarity in meaning of title and description.
    pub description_meaning: f64,
    /// How often documents use it and records name it.
    pub popularity: f64,
}

/// Minimum share of the best score to count as support.
const MIN_SUPPORT: f64 = 0.05;

impl TaskGraph {
    /// The best `options.k` datasets of the index by the tasks similar to `text` that they were used for. Datasets that only have a
    /// similar description are left out: searches of the index find those.
    ///
    /// # Errors
    /// As [`TaskGraph::search`].
    pub fn support(
        &self,
        embedder: &dyn Embedder,
        text: &str,
        options: &TaskSearchOptions,
    ) -> Result<Vec<TaskSupport>> {
        let options = TaskSearchOptions { named: false, rerank: true, ..options.clone() };
        let scored = self.score(embedder, text, &options)?;
        let mut words = Words::default();
        let query_words: BTreeSet<String> = words.informative(text).into_iter().collect();
        let share = |parts: &Parts| parts.gate * parts.tasks;
        let mut best: Vec<(u32, &Parts)> = scored
            .ranked
            .iter()
            .filter(|(_, parts)| !parts.inferred && share(parts) >= MIN_SUPPORT)
            .map(|(node, parts)| (*node, parts))
            .collect();
        best.sort_unstable_by(|a, b| share(b.1).total_cmp(&share(a.1)).then(a.0.cmp(&b.0)));
        let mut support = Vec::with_capacity(options.k.min(best.len()));
        for (node, parts) in best {
            if support.len() == options.k {
                break;
            }
            let place = node as usize;
            let answer = self.answer(place, parts, &scored)?;
            let Some(path) = answer.path else { continue };
            let mut share = share(parts);
            if path.learned {
                // Queries are short, and one common word does not make two of them similar.
                share *= self.likeness(&query_words, &mut words, &path.task).powi(2);
                if share < MIN_SUPPORT {
                    continue;
                }
            }
            let ids = std::iter::once(answer.dataset).chain(self.node(place)?.also).collect();
            support.push(TaskSupport { ids, share, path, reason: answer.reason });
        }
        support.sort_by(|a, b| b.share.total_cmp(&a.share));
        Ok(support)
    }

    /// The overlap of two texts, weighted by the idf of words in the descriptions: 2·common / (one + other), 0..=1.
    fn likeness(&self, query_words: &BTreeSet<String>, words: &mut Words, task: &str) -> f64 {
        let index = self.search_index();
        let idf = |stem: &String| match self.word(stem) {
            Some(number) => index.idf[number as usize],
            None => index.described.idf_of_unknown(),
        };
        let task: BTreeSet<String> = words.informative(task).into_iter().collect();
        let both: f64 = query_words.intersection(&task).map(idf).sum();
        let all = query_words.iter().map(idf).sum::<f64>() + task.iter().map(idf).sum::<f64>();
        if all > 0.0 { 2.0 * both / all } else { 0.0 }
    }

    /// The best datasets for `text`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Usage`] for an invalid alpha or an unknown document; [`lakeward_core::Error::DamagedIndex`].
    pub fn search(&self, embedder: &dyn Embedder, text: &str, options: &TaskSearchOptions) -> Result<Vec<TaskAnswer>> {
        let scored = self.score(embedder, text, options)?;
        let best = scored.ranked.iter().take(options.k);
        best.map(|(node, parts)| self.answer(*node as usize, parts, &scored)).collect()
    }

    /// Ids and scores only, without reading documents.
    ///
    /// # Errors
    /// As [`TaskGraph::search`].
    pub fn rank(&self, embedder: &dyn Embedder, text: &str, options: &TaskSearchOptions) -> Result<Vec<(String, f64)>> {
        let scored = self.score(embedder, text, options)?;
        let best = scored.ranked.iter().take(options.k);
        best.map(|(node, parts)| Ok((self.node(*node as usize)?.id, parts.score))).collect()
    }

    fn answer(&self, place: usize, parts: &Parts, scored: &Scored) -> Result<TaskAnswer> {
        let node = self.node(place)?;
        let tasks_of = &self.search_index().tasks_of;
        let mut source = place;
        if parts.inferred {
            let value = |node: u32| {
                tasks_of.get(node as usize).iter().map(|task| self.contribution(*task, scored)).fold(0.0, f64::max)
            };
            let similar = self.inferred.get(place).iter().max_by(|a, b| {
                (f64::from(a.weight) * value(a.to))
                    .total_cmp(&(f64::from(b.weight) * value(b.to)))
                    .then(b.to.cmp(&a.to))
            });
            source = similar.map_or(place, |link| link.to as usize);
        }
        let tasks = tasks_of.get(source);
        let best = tasks
            .iter()
            .copied()
            .max_by(|a, b| self.contribution(*a, scored).total_cmp(&self.contribution(*b, scored)).then(b.cmp(a)));
        let path = match best.filter(|task| self.contribution(*task, scored) > 0.0 && parts.tasks > 0.0) {
            Some(task) => {
                let mut path = self.path(task as usize, source, scored)?;
                if source != place {
                    path.similar_to = Some(self.node(source)?.title);
                }
                Some(path)
            }
            None => None,
        };
        let others = tasks.len().saturating_sub(1);
        let reason = reason(path.as_ref(), others, &node.described);
        Ok(TaskAnswer {
            dataset: node.id,
            citation: None,
            title: node.title,
            description: node.described,
            score: parts.score,
            parts: TaskScore {
                tasks: parts.gate * parts.tasks,
                gate: parts.gate,
                description_words: parts.words,
                description_meaning: parts.meaning,
                popularity: parts.popularity,
            },
            in_index: !node.named,
            tables: node.tables,
            served_tasks: tasks_of.get(place).len() as u64,
            path,
            reason,
        })
    }

    /// What a task contributes to its datasets.
    fn contribution(&self, task: u32, scored: &Scored) -> f64 {
        let walked = scored.walk.get(task as usize).copied().unwrap_or(0.0);
        scored.similarity[task as usize].powi(4) + 1e-3 * walked
    }

    fn path(&self, task: usize, node: usize, scored: &Scored) -> Result<TaskPath> {
        let (document, need) = self.task(task)?;
        let edge = self.uses.get(task).iter().find(|edge| edge.dataset as usize == node);
        let mention = edge.and_then(|edge| need.datasets.get(edge.mention as usize)).cloned().unwrap_or_default();
        let similarity = scored.similarity[task];
        let leads = |other: &&super::lists::Link| scored.similarity[other.to as usize] > LED_BY * similarity;
        let via = self.links.get(task).iter().filter(leads).max_by(|a, b| {
            let value = |link: &super::lists::Link| f64::from(link.weight) * scored.similarity[link.to as usize];
            value(a).total_cmp(&value(b)).then(b.to.cmp(&a.to))
        });
        let via = match via {
            Some(link) => Some(self.task(link.to as usize)?.1.text),
            None => None,
        };
        let sentence = mention.sentence.clone().or_else(|| sentence_with(&document.text, &mention));
        Ok(TaskPath {
            learned: is_learned(&document),
            via,
            task: need.text,
            task_name: need.name,
            similarity,
            document: document.document,
            document_title: document.title,
            year: document.year,
            called: mention.name,
            sentence,
            section: mention.section,
            similar_to: None,
        })
    }

    /// A task with its document.
    fn task(&self, task: usize) -> Result<(Extraction, ExtractedTask)> {
        let place = self.task_documents[task];
        let first = self.task_documents.partition_point(|document| *document < place);
        let document = self.document(place as usize)?;
        let need = document.tasks.get(task - first).cloned().unwrap_or_default();
        Ok((document, need))
    }
}

/// The sentence of `text` that names a dataset.
fn sentence_with(text: &str, mention: &DatasetMention) -> Option<String> {
    if mention.name.chars().count() < 3 {
        return None;
    }
    let at = text.find(&mention.name)?;
    let start = text[..at].rfind(". ").map_or(0, |end| end + 2);
    let end = text[at..].find(". ").map_or(text.len(), |end| at + end + 1);
    Some(text[start..end].trim().to_string())
}

fn reason(path: Option<&TaskPath>, others: usize, described: &str) -> String {
    let Some(path) = path else {
        return match described.is_empty() {
            true => "its name fits; no document says what it served".into(),
            false => format!("its description fits, and no document says what it served: {}", quoted(described)),
        };
    };
    let called = if path.task_name.is_empty() { quoted(&path.task) } else { quoted(&path.task_name) };
    let title = match () {
        () if path.learned => "a session",
        () if path.document_title.is_empty() => &path.document,
        () => &path.document_title,
    };
    let year = path.year.map(|year| format!(" ({year})")).unwrap_or_default();
    let also = match others {
        0 => String::new(),
        1 => ", and one more task".into(),
        more => format!(", and {more} more tasks"),
    };
    match &path.similar_to {
        Some(similar) => {
            format!(
                "inferred: its description is like that of `{}`, which served “{called}” in {}{year}",
                quoted(similar),
                quoted(title)
            )
        }
        None => format!("served “{called}” in {}{year}, {:.2} like the request{also}", quoted(title), path.similarity),
    }
}

fn quoted(text: &str) -> String {
    let cut = &text[..text.floor_char_boundary(QUOTED_BYTES)];
    if cut.len() < text.len() { format!("{}…", cut.trim_end()) } else { cut.to_string() }
}
