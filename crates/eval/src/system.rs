//! What can be measured: anything that ranks the documents of a benchmark for a query.
//!
//! Lakeward itself ([`super::lakeward_system`]), its ablations and the plain baselines all stand behind [`System`], so that every one is
//! timed, cut, scored and compared in the same way. A system sees [`BenchQuery`] and nothing else: judgments and labels are kept
//! apart from it.

use super::benchmark::BenchQuery;
use super::task_report::GraphCost;
use super::variant::work::Work;
use lakeward_core::error::Result;

/// A document with the score it was ranked by.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The document: the id of a table of the lake, or of a metadata record.
    pub id: String,
    /// Greater is better; comparable within one ranking only.
    pub score: f64,
}

impl Ranked {
    /// A document with its score.
    pub fn new(id: impl Into<String>, score: f64) -> Self {
        Self { id: id.into(), score }
    }
}

/// What ranks documents for queries. It is made (read, indexed) before it is asked; making it is timed apart.
pub trait System {
    /// Its name in tables, runs and on the command line: lower-case words joined by hyphens.
    fn name(&self) -> &str;

    /// At most `depth` documents for `query`, best first, each once, and never the query's own table. Empty where nothing fits
    /// or where the system has no way to answer such a query ([`System::answers`]).
    ///
    /// # Errors
    /// Whatever keeps the query from being answered: its table cannot be read, it has no such column, the index is damaged.
    fn rank(&self, query: &BenchQuery, depth: usize) -> Result<Vec<Ranked>>;

    /// [`System::rank`], with an account of what the answer took from systems that keep one.
    ///
    /// # Errors
    /// As [`System::rank`].
    fn rank_with_work(&self, query: &BenchQuery, depth: usize) -> Result<(Vec<Ranked>, Option<Work>)> {
        Ok((self.rank(query, depth)?, None))
    }

    /// Whether it has a way to answer queries such as `query`; where not, the system is left out of that part of the table
    /// instead of being scored 0.
    fn answers(&self, _query: &BenchQuery) -> bool {
        true
    }

    /// What the task graph cost that it searches, where there is one.
    fn graph_cost(&self) -> Option<GraphCost> {
        None
    }

    /// Size of what it keeps on disk, in bytes; none where it keeps all in memory.
    fn index_bytes(&self) -> Option<u64> {
        None
    }
}
