//! Late interaction compared with its first stage, as [`System`]s for text requests: the first stage proposes [`CANDIDATES`]
//! documents by words and by one vector, and each system orders these same documents.

use std::rc::Rc;

use super::benchmark::{BenchQuery, Task};
use super::lakeward_system::LakeIndexOf;
use super::system::{Ranked, System};
use lakeward_core::error::Result;
use lakeward_index::TableRef;
use lakeward_search::fuse::reciprocal_rank_fusion;
use lakeward_search::late::{LateQuery, token_vectors};
use lakeward_search::text_search::nearest_tables;

/// Number of documents that are reordered.
pub const CANDIDATES: usize = 30;
/// Weight of the first stage's score, divided by its maximum, in [`LateOrder::Mixed`].
const FIRST_STAGE_SHARE: f64 = 0.2;
/// Documents proposed by words and by vectors each, before fusion.
const PROPOSED: usize = 200;

/// The order of the candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LateOrder {
    /// Reciprocal rank fusion of words and one vector.
    FirstStage,
    /// The cosine of the request and one vector of the document.
    OneVector,
    /// Late interaction.
    Late,
    /// Late interaction plus a share of the first stage's score.
    Mixed,
}

lakeward_core::names! { LateOrder, "Its name as a system.":
    FirstStage = "first-stage",
    OneVector = "one-vector",
    Late = "late-interaction",
    Mixed = "late-interaction-mixed",
}

/// A document that the first stage proposes.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// The document.
    pub table: TableRef,
    /// Its score in the first stage.
    pub fused: f64,
    /// Cosine of its vector and the request's.
    pub cosine: f64,
}

/// The candidates in one order.
pub struct LateSystem<'a> {
    order: LateOrder,
    over: Rc<LakeIndexOf<'a>>,
}

impl<'a> LateSystem<'a> {
    /// The candidates of an index in `order`.
    pub fn new(order: LateOrder, over: Rc<LakeIndexOf<'a>>) -> Self {
        Self { order, over }
    }

    /// The candidates for a request, best first.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
    pub fn candidates(&self, text: &str) -> Result<Vec<Candidate>> {
        let (index, embedder) = (self.over.index(), self.over.embedder());
        let lexical = index.lexical_query(text)?;
        let of = |(segment, table)| TableRef { segment, table };
        let by_words: Vec<TableRef> = lexical.best(PROPOSED).into_iter().map(of).collect();
        // Includes words of weight 0: a sentence model reads the others in their context.
        let typed: Vec<(&str, f32)> = lexical.typed_words().iter().map(|word| (word.text, word.rarity)).collect();
        let mut vector = vec![0.0; embedder.dims()];
        embedder.embed_weighted(&typed, &mut vector);
        let by_vector = nearest_tables(index, &vector, PROPOSED)?.into_iter().map(|(table, _)| table).collect();
        let fused = reciprocal_rank_fusion(&[(1.0, by_words), (1.0, by_vector)], &self.over.weights().fusion);
        fused
            .into_iter()
            .take(CANDIDATES)
            .map(|(table, fused)| {
                let cosine = index.segment(table.segment)?.vectors.topics.dot(table.table, &vector)?;
                Ok(Candidate { table, fused, cosine: f64::from(cosine) })
            })
            .collect()
    }

    /// The score of each of `candidates` in this order.
    ///
    /// # Errors
    /// As [`candidates`](Self::candidates).
    pub fn scores(&self, text: &str, candidates: &[Candidate]) -> Result<Vec<f64>> {
        let share = match self.order {
            LateOrder::FirstStage => return Ok(candidates.iter().map(|candidate| candidate.fused).collect()),
            LateOrder::OneVector => return Ok(candidates.iter().map(|candidate| candidate.cosine).collect()),
            LateOrder::Late => 0.0,
            LateOrder::Mixed => FIRST_STAGE_SHARE,
        };
        let vectors = token_vectors(self.over.index(), self.over.embedder(), &self.over.weights().late)?;
        let mut late = LateQuery::new(vectors.as_ref(), text)?;
        let most = candidates.first().map_or(1.0, |candidate| candidate.fused);
        candidates.iter().map(|candidate| Ok(late.score(candidate.table)? + share * candidate.fused / most)).collect()
    }
}

impl System for LateSystem<'_> {
    fn name(&self) -> &str {
        self.order.name()
    }

    fn rank(&self, query: &BenchQuery, depth: usize) -> Result<Vec<Ranked>> {
        let text = query.text.as_deref().unwrap_or_default();
        let candidates = self.candidates(text)?;
        let scores = self.scores(text, &candidates)?;
        // A stable sort: ties keep the first stage's order.
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        let ranked = |at: usize| Ok(Ranked::new(self.over.index().id(candidates[at].table)?, scores[at]));
        order.into_iter().take(depth).map(ranked).collect()
    }

    fn answers(&self, query: &BenchQuery) -> bool {
        query.task == Task::Search && query.text.is_some()
    }

    fn index_bytes(&self) -> Option<u64> {
        Some(self.over.stats.index_bytes)
    }
}
