//! A table or record on its way into a segment: everything the segment will store of it, laid out as it is stored.
//!
//! Drafts are made where tables are read, on all cores, so that the one writer has nothing left to do but append. That also
//! frees each table's many small texts on the thread that made them.

use super::catalog::{self, FileStamp};
use super::columns::ColumnsWriter;
use super::encode::{self, TableVectors};
use super::facets::TableFacets;
use super::keys::HeaderKeys;
use super::lexical::LexicalDocument;
use super::token_vectors::TableTokenVectors;
use super::tokens::TableTokens;
use super::vectors::VectorSetBuilder;
use lakeward_core::error::Result;
use lakeward_lake::catalog::Dataset;
use lakeward_lake::reader::ReadReport;
use lakeward_lake::semantic::LogicalType;
use lakeward_lake::source::{ContentHash, TableId};
use lakeward_models::embed::Embedder;
use lakeward_sketch::ColumnSketch;

/// Bytes of cell text a table contributes to the word index.
const VALUES_TEXT_BYTES: usize = 512 << 10;

/// A table read, sketched and embedded; or a record.
pub struct TableDraft {
    /// Its name.
    pub id: TableId,
    /// The file it came from.
    pub stamp: FileStamp,
    /// Hash of that file.
    pub hash: ContentHash,
    /// Rows read.
    pub rows: u64,
    /// What reading took; nothing for a record.
    pub report: ReadReport,
    /// The [`Dataset`] as the catalogue keeps it.
    pub(super) entry: Vec<u8>,
    /// Its columns, by place.
    pub(super) columns: ColumnsWriter,
    /// What they are called.
    pub(super) headers: HeaderKeys,
    /// One vector a column.
    pub(super) column_vectors: VectorSetBuilder,
    /// Vector of headers and values.
    pub(super) content: Vec<f32>,
    /// Vector of all that is said about the table.
    pub(super) topic: Vec<f32>,
    /// Vector of its title.
    pub(super) title: Vec<f32>,
    /// What it can be asked for by field.
    pub(super) facets: TableFacets,
    /// What it is compared with a request by, piece by piece.
    pub(super) tokens: TableTokens,
    /// The same with the vectors of a sentence model.
    pub(super) token_vectors: Option<TableTokenVectors>,
    /// What the word index gets.
    pub(super) words: Words,
}

/// The texts of one table.
pub(super) struct Words {
    title: String,
    headers: String,
    description: String,
    tags: String,
    values: String,
}

impl TableDraft {
    /// Lays out a table.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Internal`] where its parts contradict each other.
    pub fn new(
        dataset: &Dataset,
        stamp: FileStamp,
        sketches: &[ColumnSketch],
        embedder: &dyn Embedder,
    ) -> Result<TableDraft> {
        let (rows, report) = match dataset {
            Dataset::Table(table) => (table.profile.rows, table.report.clone()),
            Dataset::Record(_) => (0, ReadReport::default()),
        };
        let sampled = report.sample.is_some();
        let mut columns = ColumnsWriter::default();
        let mut headers = HeaderKeys::default();
        let mut column_vectors = VectorSetBuilder::new(encode::column_dims(embedder.dims()))?;
        for (place, (profile, sketch)) in dataset.columns().iter().zip(sketches).enumerate() {
            if place % encode::COLUMNS_AT_ONCE == 0 {
                encode::prepare(embedder, dataset, sketches, place);
            }
            let place = columns.push(0, place as u32, profile, sketch, sampled);
            headers.add(place, &profile.name);
            column_vectors.push(&encode::column_vector(embedder, profile, sketch))?;
        }
        let TableVectors { content, topic, title } = encode::table_vectors(embedder, dataset, sketches);
        let words = Words::of(dataset, sketches);
        Ok(TableDraft {
            facets: TableFacets::of(dataset),
            tokens: TableTokens::of(dataset, sketches),
            token_vectors: embedder.as_sentence_model().map(|model| TableTokenVectors::of(model, dataset, sketches)),
            entry: catalog::written(dataset)?,
            id: dataset.id().clone(),
            stamp,
            hash: *dataset.content(),
            rows,
            report,
            columns,
            headers,
            column_vectors,
            content,
            topic,
            title,
            words,
        })
    }
}

impl Words {
    fn of(dataset: &Dataset, sketches: &[ColumnSketch]) -> Words {
        let headers: Vec<&str> = dataset.columns().iter().map(|column| column.name.as_str()).collect();
        let mut values = String::new();
        for (column, sketch) in dataset.columns().iter().zip(sketches) {
            // Measurements are noise as words; whole numbers (years, ids) are asked for.
            if column.logical != LogicalType::Float && values.len() < VALUES_TEXT_BYTES {
                values.push_str(&sketch.text);
            }
        }
        let metadata = dataset.metadata();
        let mut description = metadata.and_then(|metadata| metadata.description.clone()).unwrap_or_default();
        let preamble = dataset.table().into_iter().flat_map(|table| &table.report.preamble);
        for line in metadata.and_then(|metadata| metadata.publisher.as_ref()).into_iter().chain(preamble) {
            description.push('\n');
            description.push_str(line);
        }
        for column in metadata.into_iter().flat_map(|metadata| metadata.columns.values()) {
            for text in [&column.title, &column.description].into_iter().flatten() {
                description.push('\n');
                description.push_str(text);
            }
        }
        Words {
            title: metadata.and_then(|metadata| metadata.title.clone()).unwrap_or_default(),
            headers: headers.join("\n"),
            description,
            tags: metadata.map(|metadata| metadata.tags.join("\n")).unwrap_or_default(),
            values,
        }
    }

    /// The texts under the table's number in its segment.
    pub(super) fn document<'a>(&'a self, table: u32, id: &'a str) -> LexicalDocument<'a> {
        LexicalDocument {
            table,
            id,
            title: &self.title,
            headers: &self.headers,
            description: &self.description,
            tags: &self.tags,
            values: &self.values,
        }
    }
}
