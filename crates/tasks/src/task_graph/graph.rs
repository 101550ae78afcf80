//! An open task graph: a read-only snapshot.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use xxhash_rust::xxh3::Xxh3;

use super::draft::{DatasetNode, FILE_NAME, GraphMeta, KIND, VERSION};
use super::lists::{Link, Lists, Texts, Use};
use super::search_index::SearchIndex;
use crate::papers::extraction::Extraction;
use lakeward_core::error::{Error, Result};
use lakeward_index::segment::{Section, SegmentFile};

/// Name of the graph's folder inside the index folder.
pub const FOLDER: &str = "graph";

/// Documents, datasets and tasks with the edges between them.
pub struct TaskGraph {
    folder: PathBuf,
    segment: SegmentFile,
    meta: GraphMeta,
    documents: Texts,
    nodes: Texts,
    vocabulary: Vec<String>,
    pub(super) task_documents: Vec<u32>,
    pub(super) text_words: Lists<u32>,
    pub(super) need_words: Lists<u32>,
    pub(super) cover_words: Lists<u32>,
    pub(super) keyword_words: Lists<u32>,
    pub(super) node_words: Lists<u32>,
    pub(super) links: Lists<Link>,
    pub(super) uses: Lists<Use>,
    pub(super) inferred: Lists<Link>,
    vectors: Vectors,
    search: OnceLock<SearchIndex>,
}

/// Sections that are read in place, from the mapped file.
struct Vectors {
    texts: Section,
    needs: Section,
    nodes: Section,
    node_counts: Section,
}

impl std::fmt::Debug for TaskGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskGraph").field("folder", &self.folder).field("meta", &self.meta).finish_non_exhaustive()
    }
}

impl TaskGraph {
    /// Opens the graph in `folder`, made with the embedding model `embedder_id`.
    ///
    /// # Errors
    /// [`Error::NoTaskGraph`], [`Error::IndexVersion`], [`Error::DamagedIndex`], [`Error::EmbeddingModel`].
    pub fn open(folder: &Path, embedder_id: &str) -> Result<Self> {
        let graph = Self::open_any(folder)?;
        if graph.meta.embedder != embedder_id {
            return Err(Error::EmbeddingModel { found: graph.meta.embedder, expected: embedder_id.to_string() });
        }
        Ok(graph)
    }

    /// Opens the graph in `folder`, whichever model made it; not for searches.
    ///
    /// # Errors
    /// As [`TaskGraph::open`].
    pub fn open_any(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE_NAME);
        if !path.exists() {
            return Err(Error::NoTaskGraph { path: folder.to_path_buf() });
        }
        let segment = SegmentFile::open(&path, KIND, VERSION)?;
        let meta = segment.section(*b"meta")?;
        let meta: GraphMeta =
            serde_json::from_slice(meta.bytes(0..meta.len())?).map_err(|error| meta.damaged(error))?;
        let words = segment.section(*b"voco")?.len() / size_of::<u64>();
        let texts = Texts::open(&segment, *b"voc", words.saturating_sub(1))?;
        let word = |place| Ok(String::from_utf8_lossy(texts.get(place)?).into_owned());
        let vocabulary: Vec<String> = (0..words.saturating_sub(1)).map(word).collect::<Result<_>>()?;
        let graph = Self {
            folder: folder.to_path_buf(),
            documents: Texts::open(&segment, *b"doc", meta.documents)?,
            nodes: Texts::open(&segment, *b"nod", meta.datasets)?,
            vocabulary,
            task_documents: segment.section(*b"tdoc")?.all()?.to_vec(),
            text_words: Lists::read(&segment, *b"txw", meta.documents)?,
            need_words: Lists::read(&segment, *b"ndw", meta.tasks)?,
            cover_words: Lists::read(&segment, *b"cvw", meta.tasks)?,
            keyword_words: Lists::read(&segment, *b"kww", meta.tasks)?,
            node_words: Lists::read(&segment, *b"now", meta.datasets)?,
            links: Lists::read(&segment, *b"lnk", meta.tasks)?,
            uses: Lists::read(&segment, *b"use", meta.tasks)?,
            inferred: Lists::read(&segment, *b"inf", meta.datasets)?,
            vectors: Vectors {
                texts: segment.section(*b"txve")?,
                needs: segment.section(*b"ndve")?,
                nodes: segment.section(*b"nove")?,
                node_counts: segment.section(*b"ncnt")?,
            },
            search: OnceLock::new(),
            segment,
            meta,
        };
        graph.check()?;
        Ok(graph)
    }

    /// Checks that every stored number refers to something that exists.
    fn check(&self) -> Result<()> {
        let meta = &self.meta;
        let (words, tasks, nodes) = (self.vocabulary.len(), meta.tasks, meta.datasets);
        let below = |list: &[u32], most: usize| list.iter().all(|item| (*item as usize) < most);
        let links_below = |links: &Lists<Link>, most: usize| links.items().iter().all(|link| (link.to as usize) < most);
        let rows = |section: &Section, count: usize| count.checked_mul(meta.dims * 4) == Some(section.len());
        let fits = meta.dims > 0
            && self.task_documents.len() == tasks
            && self.task_documents.is_sorted()
            && below(&self.task_documents, meta.documents)
            && [&self.text_words, &self.need_words, &self.cover_words, &self.keyword_words, &self.node_words]
                .iter()
                .all(|lists| below(lists.items(), words))
            && links_below(&self.links, tasks)
            && links_below(&self.inferred, nodes)
            && self.uses.items().iter().all(|edge| (edge.dataset as usize) < nodes)
            && self.vocabulary.is_sorted()
            && meta.records <= nodes
            && rows(&self.vectors.texts, meta.documents)
            && rows(&self.vectors.needs, tasks)
            && rows(&self.vectors.nodes, nodes)
            && self.vectors.node_counts.len() == nodes * size_of::<u32>();
        if fits { Ok(()) } else { Err(Error::damaged(self.segment.path(), "its sections are inconsistent")) }
    }

    /// Verifies all checksums.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`].
    pub fn verify(&self) -> Result<()> {
        self.segment.verify()
    }

    /// Its options and counts.
    pub fn meta(&self) -> &GraphMeta {
        &self.meta
    }

    /// The folder it was opened from.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Size of its file, in bytes.
    pub fn bytes(&self) -> u64 {
        self.segment.bytes()
    }

    /// 16 hex digits that change with the documents, datasets or options.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`].
    pub fn version(&self) -> Result<String> {
        let mut hash = Xxh3::new();
        hash.update(&serde_json::to_vec(&self.meta).map_err(|error| Error::Internal(error.to_string()))?);
        hash.update(bytemuck::cast_slice(&self.document_hashes()?));
        hash.update(bytemuck::cast_slice(&self.node_hashes()?));
        hash.update(bytemuck::cast_slice(self.uses.items()));
        Ok(format!("{:016x}", hash.digest()))
    }

    /// A document.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`], as below.
    pub fn document(&self, place: usize) -> Result<Extraction> {
        self.documents.json(place)
    }

    /// All documents, by id.
    ///
    /// # Errors
    /// As [`TaskGraph::document`].
    pub fn extractions(&self) -> Result<Vec<Extraction>> {
        (0..self.meta.documents).map(|place| self.document(place)).collect()
    }

    /// A dataset.
    ///
    /// # Errors
    /// As [`TaskGraph::document`].
    pub fn node(&self, place: usize) -> Result<DatasetNode> {
        self.nodes.json(place)
    }

    /// Number of datasets of the lake that are not used for a task but attached to similar ones that are.
    pub fn inferred_datasets(&self) -> usize {
        self.inferred.iter().filter(|list| !list.is_empty()).count()
    }

    /// Pairs of tasks that are linked.
    pub fn link_count(&self) -> usize {
        super::links::edges(&self.links).len()
    }

    /// Edges from tasks to datasets.
    pub fn use_count(&self) -> usize {
        self.uses.items().len()
    }

    /// Words, ascending; a word's number is its position.
    pub(super) fn vocabulary(&self) -> &[String] {
        &self.vocabulary
    }

    /// The number of a word.
    pub(super) fn word(&self, word: &str) -> Option<u32> {
        self.vocabulary.binary_search_by(|known| known.as_str().cmp(word)).ok().map(|place| place as u32)
    }

    pub(super) fn text_vectors(&self) -> Result<&[f32]> {
        self.vectors.texts.all()
    }

    pub(super) fn need_vectors(&self) -> Result<&[f32]> {
        self.vectors.needs.all()
    }

    pub(super) fn node_vectors(&self) -> Result<&[f32]> {
        self.vectors.nodes.all()
    }

    /// How many records name each dataset.
    pub(super) fn node_counts(&self) -> Result<&[u32]> {
        self.vectors.node_counts.all()
    }

    /// The same per record of the index, sorted by id.
    pub(super) fn record_counts(&self) -> Result<Vec<u32>> {
        Ok(self.segment.section(*b"rcnt")?.all()?.to_vec())
    }

    pub(super) fn document_hashes(&self) -> Result<Vec<u64>> {
        self.array(*b"dhsh", self.meta.documents)
    }

    pub(super) fn node_hashes(&self) -> Result<Vec<u64>> {
        self.array(*b"nhsh", self.meta.datasets)
    }

    /// Weights of word pieces; empty unless the built-in model is used.
    pub(super) fn weights(&self) -> Result<Vec<f32>> {
        Ok(self.segment.section(*b"wgts")?.all()?.to_vec())
    }

    fn array(&self, tag: [u8; 4], count: usize) -> Result<Vec<u64>> {
        let section = self.segment.section(tag)?;
        let array: Vec<u64> = section.all()?.to_vec();
        if array.len() == count { Ok(array) } else { Err(section.damaged("it has the wrong length")) }
    }

    /// The search index, built at first use.
    pub(super) fn search_index(&self) -> &SearchIndex {
        self.search.get_or_init(|| SearchIndex::of(self))
    }
}
