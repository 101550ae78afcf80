//! Systems under evaluation: anything that ranks the documents of a benchmark for a query.
//!
//! Lakeward itself ([`super::lakeward_system`]), its ablations and the plain baselines all implement [`System`], so that all are
//! timed, truncated, scored and compared in the same way. A system sees only [`BenchQuery`]: judgments and labels are kept
//! separate from it.

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

/// Ranks documents for queries. It is built (read, indexed) before the first query; building is timed separately.
pub trait System {
    /// Its name in tables, runs and on the command line: lower-case words joined by hyphens.
    fn name(&self) -> &str;

    /// At most `depth` documents for `query`, best first, each once, and never the query's own table. Empty if nothing matches
    /// or the system cannot answer such a query ([`System::answers`]).
    ///
    /// # Errors
    /// Anything that prevents an answer: an unreadable table, an unknown column, a damaged index.
    fn rank(&self, query: &BenchQuery, depth: usize) -> Result<Vec<Ranked>>;

    /// [`System::rank`], with the work for the answer, if the system reports it.
    ///
    /// # Errors
    /// As [`System::rank`].
    fn rank_with_work(&self, query: &BenchQuery, depth: usize) -> Result<(Vec<Ranked>, Option<Work>)> {
        Ok((self.rank(query, depth)?, None))
    }

    /// Whether it can answer queries such as `query`; if not, the system is left out of that part of the table instead of
    /// being scored 0.
    fn answers(&self, _query: &BenchQuery) -> bool {
        true
    }

    /// The costs of the task graph that it searches, if there is one.
    fn graph_cost(&self) -> Option<GraphCost> {
        None
    }

    /// Size of its files on disk, in bytes; `None` if everything is in memory.
    fn index_bytes(&self) -> Option<u64> {
        None
    }
}
