//! The datasets that a search of a task graph answers with, each with the way that led to it.

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

/// A neighbour has to be so much more like the request than the task it leads to for the way to be told through it.
const LED_BY: f64 = 1.5;
/// Letters of a text quoted in a reason.
const QUOTED_BYTES: usize = 120;

/// A dataset for a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct TaskAnswer {
    /// Its id in the index; for a dataset that only documents name, its name.
    pub dataset: String,
    /// What it is cited by, where the index has it and was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// What it is called.
    pub title: String,
    /// How it is described, cut; empty where nobody says anything.
    #[serde(default)]
    pub description: String,
    /// Greater is better; comparable within one answer only.
    pub score: f64,
    /// What the score is the sum of.
    pub parts: TaskScore,
    /// Whether the index has it; else only documents name it.
    pub in_index: bool,
    /// Tables of the lake that hold it.
    pub tables: Vec<String>,
    /// Tasks that it served, as far as the graph knows.
    pub served_tasks: u64,
    /// The way from the request to it; none where only its description was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<TaskPath>,
    /// Why it is an answer, in a sentence.
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
    /// The graph may be older than the catalogue. A dataset that only documents name is no table and says so.
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

/// What a score is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskScore {
    /// Tasks like the request that it served, times the gate.
    pub tasks: f64,
    /// How far tasks are believed for this request, 0..=1: whether they know its words.
    pub gate: f64,
    /// Words of title and description.
    pub description_words: f64,
    /// Meaning of title and description.
    pub description_meaning: f64,
    /// How often documents use it and records name it.
    pub popularity: f64,
}

/// Less than this of the best is no support.
const LEAST_SUPPORT: f64 = 0.05;

impl TaskGraph {
    /// The datasets of the index whose tasks are like `text`, the best `options.k` by these tasks alone. What is only described
    /// like it is not among them: searches of the index find that.
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
        let asked: BTreeSet<String> = words.informative(text).into_iter().collect();
        let share = |parts: &Parts| parts.gate * parts.tasks;
        let mut best: Vec<(u32, &Parts)> = scored
            .ranked
            .iter()
            .filter(|(_, parts)| !parts.inferred && share(parts) >= LEAST_SUPPORT)
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
                // Requests are short, and one word in common does not make two of them alike.
                share *= self.likeness(&asked, &mut words, &path.task).powi(2);
                if share < LEAST_SUPPORT {
                    continue;
                }
            }
            let ids = std::iter::once(answer.dataset).chain(self.node(place)?.also).collect();
            support.push(TaskSupport { ids, share, path, reason: answer.reason });
        }
        support.sort_by(|a, b| b.share.total_cmp(&a.share));
        Ok(support)
    }

    /// How much of two texts is in both, by how rare words are among the descriptions: 2·common / (one + other), 0..=1.
    fn likeness(&self, asked: &BTreeSet<String>, words: &mut Words, task: &str) -> f64 {
        let index = self.search_index();
        let idf = |stem: &String| match self.word(stem) {
            Some(number) => index.idf[number as usize],
            None => index.described.idf_of_unknown(),
        };
        let task: BTreeSet<String> = words.informative(task).into_iter().collect();
        let both: f64 = asked.intersection(&task).map(idf).sum();
        let all = asked.iter().map(idf).sum::<f64>() + task.iter().map(idf).sum::<f64>();
        if all > 0.0 { 2.0 * both / all } else { 0.0 }
    }

    /// The datasets that serve `text` best.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Usage`] for an alpha or a document that is none; [`lakeward_core::Error::DamagedIndex`].
    pub fn search(&self, embedder: &dyn Embedder, text: &str, options: &TaskSearchOptions) -> Result<Vec<TaskAnswer>> {
        let scored = self.score(embedder, text, options)?;
        let best = scored.ranked.iter().take(options.k);
        best.map(|(node, parts)| self.answer(*node as usize, parts, &scored)).collect()
    }

    /// Only ids and scores, which reads no document.
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
        let served = &self.search_index().served;
        let mut source = place;
        if parts.inferred {
            let value = |node: u32| {
                served.get(node as usize).iter().map(|task| self.contribution(*task, scored)).fold(0.0, f64::max)
            };
            let similar = self.inferred.get(place).iter().max_by(|a, b| {
                (f64::from(a.weight) * value(a.to))
                    .total_cmp(&(f64::from(b.weight) * value(b.to)))
                    .then(b.to.cmp(&a.to))
            });
            source = similar.map_or(place, |link| link.to as usize);
        }
        let tasks = served.get(source);
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
            served_tasks: served.get(place).len() as u64,
            path,
            reason,
        })
    }

    /// What a task brings to its datasets.
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
