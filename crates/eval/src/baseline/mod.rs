//! Plain baselines: published ways to rank tables, each a page of code, that stand beside Lakeward in every report.
//!
//! They say what a benchmark's labels give to whoever does the obvious, so they are as published, untuned, and share no
//! code with what they are measured against beyond the readers of files, MinHash and LSH, and the embedding model. A
//! baseline reads the documents once ([`Documents`]), keeps what its module head says, and scores every document of a
//! query; greater is better, 0 and below is no answer, ties go by id.

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
pub use plain_table::{Documents, MOST_TEXT_BYTES, PlainTable, Unread};
pub use system::BaselineSystem;
use tf_idf::TfIdf;
use union_vectors::UnionVectors;

use lakeward_core::error::{Error, Result, nearest_names};

/// A way to rank tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BaselineKind {
    /// BM25 (Lucene's variant, k₁ 1.2, b 0.75) of the query table's header and cells, or of the request, over header,
    /// all rows and the words of the metadata record.
    Bm25,
    /// The same over headers and the first five rows, of the query table too: what is left where tables are sampled.
    Bm25Head,
    /// [`BaselineKind::Bm25`] asked by the header and cells of the join column alone.
    Bm25Column,
    /// TF-IDF with cosine similarity, of the same text as [`BaselineKind::Bm25`], cut into English words.
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

impl BaselineKind {
    /// All of them, the usual ones first.
    pub const ALL: [BaselineKind; 12] = [
        BaselineKind::Bm25,
        BaselineKind::Bm25Head,
        BaselineKind::Bm25Column,
        BaselineKind::TfIdf,
        BaselineKind::HeaderJaccard,
        BaselineKind::HeaderValueJaccard,
        BaselineKind::Containment,
        BaselineKind::FoldedContainment,
        BaselineKind::AnyOrderContainment,
        BaselineKind::HeaderContainment,
        BaselineKind::MinHashLsh,
        BaselineKind::UnionVectors,
    ];

    /// Its name in reports, runs and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            BaselineKind::Bm25 => "bm25",
            BaselineKind::Bm25Head => "bm25-head",
            BaselineKind::Bm25Column => "bm25-column",
            BaselineKind::TfIdf => "tf-idf",
            BaselineKind::HeaderJaccard => "header-jaccard",
            BaselineKind::HeaderValueJaccard => "header-value-jaccard",
            BaselineKind::Containment => "containment",
            BaselineKind::FoldedContainment => "folded-containment",
            BaselineKind::AnyOrderContainment => "any-order-containment",
            BaselineKind::HeaderContainment => "header-containment",
            BaselineKind::MinHashLsh => "minhash-lsh",
            BaselineKind::UnionVectors => "union-vectors",
        }
    }

    /// The baseline of this name.
    ///
    /// # Errors
    /// [`Error::Usage`] with the nearest names.
    pub fn named(name: &str) -> Result<Self> {
        if let Some(kind) = Self::ALL.into_iter().find(|kind| kind.name() == name) {
            return Ok(kind);
        }
        let nearest = nearest_names(name, Self::ALL.iter().map(|kind| kind.name()), 1);
        let all = Self::ALL.map(Self::name).join("`, `");
        let hint = match nearest.first() {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("there are `{all}`"),
        };
        Err(Error::Usage(format!("there is no baseline `{name}`; {hint}")))
    }

    /// Whether it has a way to answer a query of these parts.
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

/// What a baseline is asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlainQuery<'a> {
    /// The request in words; used where there is no table.
    pub text: Option<&'a str>,
    /// The query table.
    pub table: Option<&'a PlainTable>,
    /// The column of it to join on, by number.
    pub column: Option<usize>,
}

impl<'a> PlainQuery<'a> {
    /// The column to join on, or all columns without one: header and cells of each.
    fn columns(&self) -> Vec<(&'a str, &'a [String])> {
        let Some(table) = self.table else { return Vec::new() };
        let pairs = table.headers.iter().zip(&table.columns).enumerate();
        pairs
            .filter(|(at, _)| self.column.is_none_or(|column| column == *at))
            .map(|(_, (header, cells))| (header.as_str(), cells.as_slice()))
            .collect()
    }

    /// The words to ask by: of the join column, or of all columns without one, at most the first `rows` rows; without a
    /// table those of the request.
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

/// One way to score: documents in, a score for each of them out.
trait Method: Send + Sync {
    /// Adds the next document; its number is the count of those before it.
    fn add(&mut self, table: &PlainTable) -> Result<()>;

    /// Called once after the last document.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    /// A score for every document, by number; 0 where nothing speaks for it.
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
    /// Where the folder or the corpus cannot be read at all; single tables that cannot are in [`Baseline::unread`].
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

    /// Which one it is.
    pub fn kind(&self) -> BaselineKind {
        self.kind
    }

    /// Documents it knows.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Documents that could not be read.
    pub fn unread(&self) -> &[Unread] {
        &self.unread
    }

    /// Ids of tables of which only the first [`MOST_TEXT_BYTES`] were read.
    pub fn cut(&self) -> &[String] {
        &self.cut
    }

    /// At most `depth` documents with a score above 0, best first, ties by id.
    ///
    /// # Errors
    /// Whatever its own files cause; a query without the parts it needs has no answers.
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
