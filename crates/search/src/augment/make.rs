//! Making the questions that are missing or out of date, and keeping the rest.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::FactKind;
use super::facts::Facts;
use super::rules;
use super::store::{QuestionStore, TableQuestions};
use lakeward_core::error::Result;
use lakeward_core::monitor::{Monitor, Total};
use lakeward_index::{LakeIndex, TableRef};

/// Tables whose questions are made by rules before they are written down.
const RULES_CHUNK: usize = 256;

/// Which questions to make.
#[derive(Debug, Clone, Default)]
pub struct AugmentOptions {
    /// Only those of these tables, by id; of all without any.
    pub tables: Vec<String>,
    /// Make anew what a model has made, too, where none is given: else it stays as long as it fits its table.
    pub replace: bool,
    /// Tables for which a model is asked at once; at least one.
    pub concurrency: usize,
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct AugmentStats {
    /// Tables and records that have questions now.
    pub tables: u64,
    /// Their questions.
    pub questions: u64,
    /// Tables whose questions were made in this run.
    pub made: u64,
    /// Tables whose questions were kept.
    pub reused: u64,
    /// Tables that are gone, and their questions with them.
    pub removed: u64,
    /// Tables not yet done because the run was interrupted.
    pub left: u64,
    /// Tables of which a model was to make the questions and gave none: they have those of the rules.
    pub by_rules_instead: u64,
    /// Questions of a model that were dropped because they say what is not in the record.
    pub ungrounded: u64,
    /// What was to make the questions.
    pub generator: String,
    /// What went wrong with the model first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// Wall time in milliseconds.
    pub elapsed_ms: u64,
}

/// Makes the questions of a table from its facts; asked from several threads.
pub trait QuestionMaker: Sync {
    /// Names it exactly: other questions, another name.
    fn generator(&self) -> String;

    /// Questions and unknown facets of a table; where it makes none, why.
    fn questions(&self, facts: &Facts) -> std::result::Result<MadeQuestions, String>;
}

/// What a [`QuestionMaker`] made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeQuestions {
    /// The questions.
    pub questions: Vec<String>,
    /// Facets that the facts leave open.
    pub unknown: Vec<FactKind>,
    /// Questions dropped because they say what the facts do not.
    pub dropped: u64,
}

/// Makes the questions of the tables of `index` that are new or changed since `store` was written, by `model` where there is
/// one, else by the rules; those of tables that are gone go. What was made is on the disk every few tables, so that a run that
/// is interrupted or killed is gone on with by the next one.
///
/// # Errors
/// [`lakeward_core::Error::UnknownTable`] for a table of the options that is none; [`lakeward_core::Error::DamagedIndex`];
/// [`lakeward_core::Error::Io`] when the store cannot be written. A model's failures are none: its tables get the rules' questions.
pub fn make_questions(
    index: &LakeIndex,
    store: &mut QuestionStore,
    model: Option<&dyn QuestionMaker>,
    options: &AugmentOptions,
    monitor: &dyn Monitor,
) -> Result<AugmentStats> {
    let started = Instant::now();
    let generator = model.map_or_else(|| rules::GENERATOR.to_string(), QuestionMaker::generator);
    let mut stats = AugmentStats { generator: generator.clone(), ..AugmentStats::default() };
    let mut live: HashSet<&str> = HashSet::with_capacity(index.len());
    for table in index.tables() {
        live.insert(index.id(table)?);
    }
    stats.removed = store.retain(|id| live.contains(id));
    let requested_tables = requested_tables(index, options)?;
    let is_fresh = |known: &TableQuestions, content: &str| {
        let by_model = known.generator != rules::GENERATOR && !is_older_rules(&known.generator);
        let stays = known.generator == generator || (model.is_none() && !options.replace && by_model);
        known.content == content && stays
    };
    let mut due: Vec<TableRef> = Vec::new();
    for chunk in requested_tables.chunks(RULES_CHUNK) {
        let contents: Vec<(String, String)> =
            facts_of(index, chunk)?.into_par_iter().map(|facts| (facts.content(), facts.id)).collect();
        for (table, (content, id)) in chunk.iter().zip(contents) {
            match store.get(&id).is_some_and(|known| is_fresh(known, &content)) {
                true => stats.reused += 1,
                false => due.push(*table),
            }
        }
    }
    monitor.begin("questions of tables", Total::Steps(due.len() as u64));
    let chunk = model.map_or(RULES_CHUNK, |_| options.concurrency.clamp(1, RULES_CHUNK));
    for some in due.chunks(chunk) {
        if monitor.is_stopped() {
            stats.left = due.len() as u64 - stats.made;
            break;
        }
        // Once more, and only of these: the facts of a whole lake need not fit into memory.
        let some = facts_of(index, some)?;
        let made: Vec<TableQuestions> = match model {
            None => some
                .par_iter()
                .map(|facts| {
                    let made = by_rules(facts);
                    monitor.advance(1);
                    made
                })
                .collect(),
            Some(model) => ask(model, &some, &mut stats, monitor),
        };
        stats.made += made.len() as u64;
        store.append(made)?;
    }
    store.finish()?;
    stats.tables = store.len() as u64;
    stats.questions = store.tables().map(|table| table.questions.len() as u64).sum();
    stats.elapsed_ms = started.elapsed().as_millis() as u64;
    Ok(stats)
}

fn facts_of(index: &LakeIndex, tables: &[TableRef]) -> Result<Vec<Facts>> {
    tables.par_iter().map(|table| Ok(Facts::of(&index.dataset(*table)?))).collect()
}

/// The tables asked for, by id; all of them where none is.
fn requested_tables(index: &LakeIndex, options: &AugmentOptions) -> Result<Vec<TableRef>> {
    let mut tables = HashMap::new();
    if options.tables.is_empty() {
        for table in index.tables() {
            tables.insert(index.id(table)?, table);
        }
    }
    for id in &options.tables {
        let table = index.find(id)?;
        tables.insert(index.id(table)?, table);
    }
    let mut tables: Vec<(&str, TableRef)> = tables.into_iter().collect();
    tables.sort_unstable_by_key(|(id, _)| *id);
    Ok(tables.into_iter().map(|(_, table)| table).collect())
}

/// Whether a generator is an earlier state of the rules.
fn is_older_rules(generator: &str) -> bool {
    generator.split_once('@').is_some_and(|(name, version)| name == "rules" && version.parse::<u32>().is_ok())
}

fn by_rules(facts: &Facts) -> TableQuestions {
    let (questions, unknown) = rules::questions(facts);
    let content = facts.content();
    TableQuestions { id: facts.id.clone(), content, questions, unknown, generator: rules::GENERATOR.to_string() }
}

/// The questions that a model makes of some tables, all at once; those of the rules where it makes none.
fn ask(
    model: &dyn QuestionMaker,
    some: &[Facts],
    stats: &mut AugmentStats,
    monitor: &dyn Monitor,
) -> Vec<TableQuestions> {
    let answers: Vec<_> = std::thread::scope(|scope| {
        let asked: Vec<_> = some
            .iter()
            .map(|facts| {
                scope.spawn(move || {
                    let answer = model.questions(facts);
                    monitor.advance(1);
                    answer
                })
            })
            .collect();
        asked.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    let mut made = Vec::with_capacity(some.len());
    for (facts, answer) in some.iter().zip(answers) {
        match answer {
            Ok(Ok(answer)) => {
                stats.ungrounded += answer.dropped;
                made.push(TableQuestions {
                    id: facts.id.clone(),
                    content: facts.content(),
                    questions: answer.questions,
                    unknown: answer.unknown,
                    generator: model.generator(),
                });
            }
            Ok(Err(trouble)) => {
                stats.by_rules_instead += 1;
                stats.trouble.get_or_insert(trouble);
                made.push(by_rules(facts));
            }
            Err(_) => {
                stats.by_rules_instead += 1;
                stats.trouble.get_or_insert_with(|| "the model's client panicked".into());
                made.push(by_rules(facts));
            }
        }
    }
    made
}
