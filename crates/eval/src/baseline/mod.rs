//! Plain baselines: published ways to rank tables, each a page of code, included next to Lakeward in every report.
//!
//! They show what obvious methods reach on a benchmark's labels, so they are as published, untuned, and share no
//! code with Lakeward beyond the file readers, MinHash and LSH, and the embedding model. A baseline reads the documents
//! once ([`Documents`]), stores what its module comment says, and scores every document of a query; greater is better,
//! 0 and below means no answer, ties are broken by id.

mod bm25;
mod cell_form;
mod containment;
mod jaccard;
mod minhash_lsh;
mod plain_table;
mod postings;
mod system;
mod tf_idf;
mod union_vectors;
mod value_sets;
pub(super) mod words;

use std::fmt;

use bm25::Bm25;
use cell_form::CellForm;
use containment::Containment;
use jaccard::{HeaderJaccard, HeaderValueJaccard};
use minhash_lsh::MinHashLsh;
pub use plain_table::{Documents, MAX_TEXT_BYTES, PlainTable, Unread};
pub use system::BaselineSystem;
use tf_idf::TfIdf;
use union_vectors::UnionVectors;

use lakeward_core::error::Result;

/// A way to rank tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BaselineKind {
    /// BM25 (Lucene's variant, k₁ 1.2, b 0.75) of the query table's header and cells, or of the request, over header,
    /// all rows and the words of the metadata record.
    Bm25,
    /// The same over headers and the first five rows, of the query table too: the case of sampled tables.
    Bm25Head,
    /// [`BaselineKind::Bm25`] queried with only the header and cells of the join column.
    Bm25Column,
    /// TF-IDF with cosine similarity, of the same text as [`BaselineKind::Bm25`], split into English words.
    TfIdf,
    /// Jaccard similarity of the sets of headers.
    HeaderJaccard,
    /// That plus the mean Jaccard similarity of the values, as written, of columns paired one to one.
    HeaderValueJaccard,
    /// Share of the join column's values, as written, that one column of the table holds.
    Containment,
    /// The same of folded values.
    FoldedContainment,
    /// The same of folded values with their words in any order.
    AnyOrderContainment,
    /// [`BaselineKind::FoldedContainment`], columns with the query column's header first.
    HeaderContainment,
    /// Containment estimated from MinHash signatures, of the columns that an LSH ensemble proposes.
    MinHashLsh,
    /// Cosine of the vectors of headers and values.
    UnionVectors,
}

lakeward_core::names! { BaselineKind, "Its name in reports, runs and on the command line.":
    Bm25 = "bm25",
    Bm25Head = "bm25-head",
    Bm25Column = "bm25-column",
    TfIdf = "tf-idf",
    HeaderJaccard = "header-jaccard",
    HeaderValueJaccard = "header-value-jaccard",
    Containment = "containment",
    FoldedContainment = "folded-containment",
    AnyOrderContainment = "any-order-containment",
    HeaderContainment = "header-containment",
    MinHashLsh = "minhash-lsh",
    UnionVectors = "union-vectors",
}

impl BaselineKind {
    /// Whether it can answer a query with these parts.
    pub fn answers(self, has_text: bool, has_table: bool, has_column: bool) -> bool {
        match self {
            BaselineKind::Bm25 | BaselineKind::TfIdf => has_text || has_table,
            BaselineKind::HeaderJaccard | BaselineKind::HeaderValueJaccard => has_table,
            BaselineKind::Bm25Head | BaselineKind::MinHashLsh | BaselineKind::UnionVectors => has_table,
            BaselineKind::Bm25Column
            | BaselineKind::Containment
            | BaselineKind::FoldedContainment
            | BaselineKind::AnyOrderContainment
            | BaselineKind::HeaderContainment => has_table && has_column,
        }
    }

    fn method(self) -> Box<dyn Method> {
        match self {
            BaselineKind::Bm25 => Box::new(Bm25::of_tables()),
            BaselineKind::Bm25Head => Box::new(Bm25::of_heads()),
            BaselineKind::Bm25Column => Box::new(Bm25::of_columns()),
            BaselineKind::TfIdf => Box::new(TfIdf::default()),
            BaselineKind::HeaderJaccard => Box::new(HeaderJaccard::default()),
            BaselineKind::HeaderValueJaccard => Box::new(HeaderValueJaccard::new(CellForm::Written)),
            BaselineKind::Containment => Box::new(Containment::new(CellForm::Written)),
            BaselineKind::FoldedContainment => Box::new(Containment::new(CellForm::Folded)),
            BaselineKind::AnyOrderContainment => Box::new(Containment::new(CellForm::AnyOrder)),
            BaselineKind::HeaderContainment => Box::new(Containment::same_header_first(CellForm::Folded)),
            BaselineKind::MinHashLsh => Box::new(MinHashLsh::default()),
            BaselineKind::UnionVectors => Box::new(UnionVectors::default()),
        }
    }
}

impl fmt::Display for BaselineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The query of a baseline.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlainQuery<'a> {
    /// The request text; used if there is no table.
    pub text: Option<&'a str>,
    /// The query table.
    pub table: Option<&'a PlainTable>,
    /// The join column, by number.
    pub column: Option<usize>,
}

impl<'a> PlainQuery<'a> {
    /// The join column, or all columns without one: header and cells of each.
    fn columns(&self) -> Vec<(&'a str, &'a [String])> {
        let Some(table) = self.table else { return Vec::new() };
        let pairs = table.headers.iter().zip(&table.columns).enumerate();
        pairs
            .filter(|(at, _)| self.column.is_none_or(|column| column == *at))
            .map(|(_, (header, cells))| (header.as_str(), cells.as_slice()))
            .collect()
    }

    /// The query words: of the join column, or of all columns without one, at most the first `rows` rows; without a
    /// table, those of the request.
    fn texts(&self, rows: usize) -> Vec<&'a str> {
        if self.table.is_none() {
            return self.text.into_iter().collect();
        }
        let columns = self.columns().into_iter();
        columns
            .flat_map(|(header, cells)| std::iter::once(header).chain(cells.iter().take(rows).map(String::as_str)))
            .collect()
    }
}

/// A scoring method: takes documents, returns a score for each of them.
trait Method: Send + Sync {
    /// Adds the next document; its number is the number of documents before it.
    fn add(&mut self, table: &PlainTable) -> Result<()>;

    /// Called once after the last document.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    /// A score for every document, by number; 0 without a match.
    fn scores(&self, query: &PlainQuery<'_>) -> Result<Vec<f64>>;
}

/// A baseline that has read its documents.
pub struct Baseline {
    kind: BaselineKind,
    ids: Vec<String>,
    method: Box<dyn Method>,
    unread: Vec<Unread>,
    cut: Vec<String>,
}

impl Baseline {
    /// Reads the documents.
    ///
    /// # Errors
    /// If the folder or the corpus cannot be read at all; single unreadable tables are in [`Baseline::unread`].
    pub fn build(kind: BaselineKind, documents: &Documents) -> Result<Self> {
        let mut baseline =
            Baseline { kind, ids: Vec::new(), method: kind.method(), unread: Vec::new(), cut: Vec::new() };
        baseline.unread = documents.for_each(|table| {
            baseline.method.add(&table)?;
            if !table.is_whole {
                baseline.cut.push(table.id.clone());
            }
            baseline.ids.push(table.id);
            Ok(())
        })?;
        baseline.method.finish()?;
        Ok(baseline)
    }

    /// Its kind.
    pub fn kind(&self) -> BaselineKind {
        self.kind
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Documents that could not be read.
    pub fn unread(&self) -> &[Unread] {
        &self.unread
    }

    /// Ids of tables of which only the first [`MAX_TEXT_BYTES`] were read.
    pub fn cut(&self) -> &[String] {
        &self.cut
    }

    /// At most `depth` documents with a score above 0, best first, ties by id.
    ///
    /// # Errors
    /// Errors of its own files; a query without the required parts has no answers.
    pub fn rank(&self, query: &PlainQuery<'_>, depth: usize) -> Result<Vec<(&str, f64)>> {
        if !self.kind.answers(query.text.is_some(), query.table.is_some(), query.column.is_some()) {
            return Ok(Vec::new());
        }
        let scores = self.method.scores(query)?;
        let found = self.ids.iter().map(String::as_str).zip(scores);
        let mut ranking: Vec<(&str, f64)> = found.filter(|(_, score)| *score > 0.0).collect();
        let order = |a: &(&str, f64), b: &(&str, f64)| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0));
        if ranking.len() > depth && depth > 0 {
            ranking.select_nth_unstable_by(depth - 1, order);
        }
        ranking.truncate(depth);
        ranking.sort_by(order);
        Ok(ranking)
    }
}

#[cfg(test)]
mod tests;
