//! A random sample of tables with their questions, beside what supports each and what speaks against it: for people to read.

use schemars::JsonSchema;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::FactKind;
use super::facts::Facts;
use super::grounding::{Ground, likeness};
use super::phrases::words_of;
use super::store::{QuestionStore, TableQuestions};
use lakeward_core::error::Result;
use lakeward_index::LakeIndex;

/// Questions more alike than this are the same one twice.
const TOO_ALIKE: f64 = 0.8;
/// A question of fewer words is none.
const LEAST_WORDS: usize = 4;
/// Column names shown of a table.
const SHOWN_COLUMNS: usize = 12;

/// What speaks against a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "warning")]
pub enum AuditWarning {
    /// Numbers and names that the record does not say.
    NotInRecord {
        /// As the question has them.
        words: Vec<String>,
    },
    /// Nothing in the record supports it.
    Unsupported,
    /// It is almost an earlier question of the table.
    Alike {
        /// The number of that question, from 1.
        question: usize,
    },
    /// It has fewer than four words.
    Short,
}

/// One question of an audit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AuditedQuestion {
    /// The question.
    pub question: String,
    /// Its words that the record says.
    pub support: Vec<String>,
    /// What speaks against it.
    pub warnings: Vec<AuditWarning>,
}

/// One table of an audit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AuditedTable {
    /// The table's id.
    pub table: String,
    /// Its title, where the publisher gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its columns, the first of them.
    pub columns: Vec<String>,
    /// What made the questions.
    pub generator: String,
    /// Whether the table has changed since.
    pub stale: bool,
    /// Facets said to be unknown.
    pub unknown: Vec<FactKind>,
    /// Its questions.
    pub questions: Vec<AuditedQuestion>,
}

/// An audit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Audit {
    /// Tables that have questions.
    pub of_tables: u64,
    /// The seed of the sample.
    pub seed: u64,
    /// The sample, by id.
    pub tables: Vec<AuditedTable>,
    /// Its questions.
    pub questions: u64,
    /// Those with a warning.
    pub warned: u64,
    /// `warned` over `questions`, 0..=1; 0 without questions.
    pub warned_share: f64,
}

/// A sample of `count` tables of `store` that are still in `index`, drawn by `seed`: the same sample for the same tables and seed.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn audit(index: &LakeIndex, store: &QuestionStore, count: usize, seed: u64) -> Result<Audit> {
    let mut drawn: Vec<(u64, &TableQuestions)> =
        store.tables().map(|table| (xxh3_64_with_seed(table.id.as_bytes(), seed), table)).collect();
    drawn.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.id.cmp(&b.1.id)));
    let mut tables = Vec::new();
    for (_, made) in drawn {
        if tables.len() == count {
            break;
        }
        if let Some(table) = index.get(&made.id)? {
            tables.push(audited(&Facts::of(&index.dataset(table)?), made));
        }
    }
    tables.sort_by(|a, b| a.table.cmp(&b.table));
    let questions = tables.iter().map(|table| table.questions.len() as u64).sum();
    let of_table =
        |table: &AuditedTable| table.questions.iter().filter(|question| !question.warnings.is_empty()).count() as u64;
    let warned = tables.iter().map(of_table).sum();
    let warned_share = if questions == 0 { 0.0 } else { warned as f64 / questions as f64 };
    Ok(Audit { of_tables: store.len() as u64, seed, tables, questions, warned, warned_share })
}

fn audited(facts: &Facts, made: &TableQuestions) -> AuditedTable {
    let ground = Ground::of(facts);
    let question = |(place, question): (usize, &String)| AuditedQuestion {
        question: question.clone(),
        support: ground.support(question),
        warnings: warnings(&ground, &made.questions, place),
    };
    AuditedTable {
        table: made.id.clone(),
        title: facts.title.clone(),
        columns: facts.columns.iter().take(SHOWN_COLUMNS).map(|column| column.name.clone()).collect(),
        generator: made.generator.clone(),
        stale: made.content != facts.content(),
        unknown: made.unknown.clone(),
        questions: made.questions.iter().enumerate().map(question).collect(),
    }
}

/// What speaks against the question at `place`.
fn warnings(ground: &Ground, questions: &[String], place: usize) -> Vec<AuditWarning> {
    let question = &questions[place];
    let mut warnings = Vec::new();
    let words = ground.unsupported(question);
    if !words.is_empty() {
        warnings.push(AuditWarning::NotInRecord { words });
    } else if ground.support(question).is_empty() {
        warnings.push(AuditWarning::Unsupported);
    }
    let alike = questions[..place].iter().position(|earlier| likeness(earlier, question) >= TOO_ALIKE);
    if let Some(earlier) = alike {
        warnings.push(AuditWarning::Alike { question: earlier + 1 });
    }
    if words_of(question).len() < LEAST_WORDS {
        warnings.push(AuditWarning::Short);
    }
    warnings
}
