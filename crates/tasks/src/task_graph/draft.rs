//! A task graph while it is built, and its layout on disk: one segment file, written atomically.
//!
//! ```text
//! meta  JSON: embedding model, options, counts, fingerprint of the datasets
//! doc   documents as JSON, by id          dhsh  hash of each         txv  vector of each abstract    txw  its words
//! tdoc  document of each task             ndv   vector of each need  ndw  its words                  cvw  words of name and keywords
//! kww   plain words of name and keywords  lnk   neighbours           use  datasets used for it
//! nod   datasets as JSON, records first   nhsh  hash of each         nov  vectors                    now  words, in order
//! ncnt  records that name each dataset    rcnt  the same by record   inf  similar datasets used for a task
//! voc   all words, ascending              wgt   weights of word pieces
//! ```

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::links::LinkOptions;
use super::lists::{Link, Lists, Texts, Use};
use crate::papers::extraction::Extraction;
use lakeward_core::error::{Error, Result};
use lakeward_index::segment::{SegmentKind, SegmentStats, SegmentWriter};

/// The file in the graph's folder.
pub const FILE_NAME: &str = "graph.seg";
pub(super) const KIND: SegmentKind = SegmentKind(*b"TASK");
/// The version of the layout.
pub const VERSION: u32 = 1;

/// What a graph was built from, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphMeta {
    /// The embedding model.
    pub embedder: String,
    /// Whether the vectors are of the model that reads whole texts, datasets' as the index has them.
    #[serde(default)]
    pub reads_texts: bool,
    /// Dimensions of a vector.
    pub dims: usize,
    /// Documents.
    pub documents: usize,
    /// Tasks.
    pub tasks: usize,
    /// Datasets, including those that only documents name.
    pub datasets: usize,
    /// Datasets that are records or tables of the index; they come first.
    pub records: usize,
    /// Records and tables of the index, including those merged into others.
    pub index_records: usize,
    /// Hash of everything the index says about datasets.
    pub fingerprint: u64,
    /// θ_d.
    pub cosine: f32,
    /// θ_k.
    pub overlap: f32,
    /// Maximum number of neighbours stored per task.
    pub most_links: usize,
    /// Whether names were resolved.
    pub resolved: bool,
}

impl GraphMeta {
    pub(super) fn has_options(&self, options: &LinkOptions) -> bool {
        (self.cosine, self.overlap, self.most_links) == (options.cosine, options.overlap, options.most)
    }
}

/// A dataset of the graph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetNode {
    /// Its id in the index; otherwise its first name.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its description, truncated.
    pub described: String,
    /// Whether only documents name it: it is not in the lake.
    pub named: bool,
    /// Ids of further records and tables that are the same dataset.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Some of the names that documents use for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Tables of the lake that hold it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
}

/// A complete graph, ready to be written.
pub(super) struct Draft {
    pub meta: GraphMeta,
    pub documents: Vec<Extraction>,
    pub document_hashes: Vec<u64>,
    pub text_words: Lists<u32>,
    pub text_vectors: Vec<f32>,
    pub task_documents: Vec<u32>,
    pub need_words: Lists<u32>,
    pub need_vectors: Vec<f32>,
    pub cover_words: Lists<u32>,
    pub keyword_words: Lists<u32>,
    pub links: Lists<Link>,
    pub uses: Lists<Use>,
    pub nodes: Vec<DatasetNode>,
    pub node_hashes: Vec<u64>,
    pub node_words: Lists<u32>,
    pub node_vectors: Vec<f32>,
    pub node_counts: Vec<u32>,
    pub record_counts: Vec<u32>,
    pub inferred: Lists<Link>,
    pub vocabulary: Vec<String>,
    pub weights: Vec<f32>,
}

impl Draft {
    /// Writes it to `path`, replacing an existing file.
    pub fn write(&self, path: &Path) -> Result<SegmentStats> {
        let internal = |error: serde_json::Error| Error::Internal(error.to_string());
        let mut writer = SegmentWriter::create(path, KIND, VERSION)?;
        writer.section(*b"meta", &serde_json::to_vec(&self.meta).map_err(internal)?)?;
        let documents: Vec<Vec<u8>> =
            self.documents.iter().map(serde_json::to_vec).collect::<Result<_, _>>().map_err(internal)?;
        Texts::write(&mut writer, *b"doc", documents.iter().map(Vec::as_slice))?;
        writer.section_of(*b"dhsh", &self.document_hashes)?;
        self.text_words.write(&mut writer, *b"txw")?;
        writer.section_of(*b"txve", &self.text_vectors)?;
        writer.section_of(*b"tdoc", &self.task_documents)?;
        self.need_words.write(&mut writer, *b"ndw")?;
        writer.section_of(*b"ndve", &self.need_vectors)?;
        self.cover_words.write(&mut writer, *b"cvw")?;
        self.keyword_words.write(&mut writer, *b"kww")?;
        self.links.write(&mut writer, *b"lnk")?;
        self.uses.write(&mut writer, *b"use")?;
        let nodes: Vec<Vec<u8>> =
            self.nodes.iter().map(serde_json::to_vec).collect::<Result<_, _>>().map_err(internal)?;
        Texts::write(&mut writer, *b"nod", nodes.iter().map(Vec::as_slice))?;
        writer.section_of(*b"nhsh", &self.node_hashes)?;
        self.node_words.write(&mut writer, *b"now")?;
        writer.section_of(*b"nove", &self.node_vectors)?;
        writer.section_of(*b"ncnt", &self.node_counts)?;
        writer.section_of(*b"rcnt", &self.record_counts)?;
        self.inferred.write(&mut writer, *b"inf")?;
        Texts::write(&mut writer, *b"voc", self.vocabulary.iter().map(String::as_bytes))?;
        writer.section_of(*b"wgts", &self.weights)?;
        writer.finish()
    }
}
