//! An opened index: a snapshot of the segments listed in one manifest.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::build::MOST_WITH_TEXTS;
use super::entries::Entries;
use super::exchange::{self, AllFigures, Exchange, Placed, SearchShard};
use super::facets::FacetIndex;
use super::index_store::IndexStore;
use super::lexical::{LexicalIndex, LexicalQuery};
use super::manifest::{Manifest, SegmentEntry};
use super::structure::SegmentFiles;
use super::structures::Segment;
use super::token_vectors;
use super::tokens::PieceRarity;
use super::unread_texts;
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_lake::dataset::{Dataset, TableEntry};
use lakeward_lake::notes::{Notes, Synonyms};
use lakeward_lake::source::Origin;
use lakeward_models::languages::Language;

/// A table of an opened index. Numbers are valid within one snapshot only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableRef {
    /// Position of the segment in the snapshot.
    pub segment: u32,
    /// Number of the table in its segment.
    pub table: u32,
}

/// A column of an opened index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnRef {
    /// Position of the segment in the snapshot.
    pub segment: u32,
    /// Number of the column in its segment.
    pub column: u32,
}

/// Tables that users wrote notes on, with the meaning of each note.
type NoteVectors = Vec<(String, Vec<f32>)>;

/// A writer may remove the segments of successive manifests while they are being opened; this many times in a row is not by chance.
const OPEN_ATTEMPTS: u32 = 20;

/// A snapshot of an index, or of a shard of it.
#[derive(Clone)]
pub struct LakeIndex {
    folder: PathBuf,
    manifest: Arc<Manifest>,
    segments: Arc<Vec<Segment>>,
    /// Of each segment, its place in the whole index.
    places: Arc<Vec<u32>>,
    has_meanings: bool,
    lexical: LexicalIndex,
    entries: Arc<Entries>,
    lake: Option<PathBuf>,
    notes: Arc<Notes>,
    synonyms: Arc<Synonyms>,
    note_vectors: Arc<OnceLock<NoteVectors>>,
    facets: Arc<OnceLock<FacetIndex>>,
    piece_rarity: Arc<OnceLock<PieceRarity>>,
    names_language: Arc<OnceLock<Option<Language>>>,
    token_vector_rarity: Arc<OnceLock<Option<(PieceRarity, usize)>>>,
    exchange: Option<Arc<Exchange>>,
}

impl LakeIndex {
    /// Whether any of the tables is a catalogue record. Cost: reads the path of every table before the first record.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`].
    pub fn has_records(&self) -> Result<bool> {
        for segment in self.segments.iter() {
            for table in (0..segment.tables.len() as u32).filter(|table| segment.is_live(*table)) {
                if segment.tables.origin(table)?.is_record() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Number of tables and records whose texts are still to be read as a whole, because a build was stopped before or is at work: none
    /// where there are too many for that.
    pub fn texts_unread(&self) -> u64 {
        let unread = unread_texts::count(&self.manifest);
        if self.len() as u64 > MOST_WITH_TEXTS { 0 } else { unread }
    }

    /// Opens the index in `folder`, made with the embedding model `embedder_id`; reads no table.
    ///
    /// # Errors
    /// [`Error::NoIndex`], [`Error::IndexVersion`], [`Error::DamagedIndex`] with the file, [`Error::EmbeddingModel`].
    pub fn open(folder: &Path, embedder_id: &str) -> Result<Self> {
        Self::open_shard(folder, embedder_id, None)
    }

    /// As [`open`](Self::open), only the segments of `shard`; all without one. Only searches that [gather](Self::gather) what they have to
    /// know of the whole lake may be asked of it, and only within an [exchange](Self::within).
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_shard(folder: &Path, embedder_id: &str, shard: Option<SearchShard>) -> Result<Self> {
        let mut manifest = Manifest::read(folder)?;
        for _ in 1..OPEN_ATTEMPTS {
            let (generation, checksum) = (manifest.generation, manifest.checksum.clone());
            match Self::open_snapshot(folder, manifest, embedder_id, shard) {
                Ok(index) => return Ok(index),
                Err(error) => {
                    manifest = Manifest::read(folder)?;
                    // Nothing was committed meanwhile: the index itself is at fault, or what is here of one in a store.
                    if (manifest.generation, &manifest.checksum) == (generation, &checksum) {
                        return match (IndexStore::of(folder), &error) {
                            (Some(store), Error::DamagedIndex { .. }) => {
                                store.renew(&manifest)?;
                                Self::open_snapshot(folder, manifest, embedder_id, shard)
                            }
                            _ => Err(error),
                        };
                    }
                }
            }
        }
        Self::open_snapshot(folder, manifest, embedder_id, shard)
    }

    /// Opens the segments of `manifest`; fails if a commit has replaced and removed them meanwhile.
    pub(super) fn open_snapshot(
        folder: &Path,
        mut manifest: Manifest,
        embedder_id: &str,
        shard: Option<SearchShard>,
    ) -> Result<Self> {
        if manifest.embedder != embedder_id {
            return Err(Error::EmbeddingModel { found: manifest.embedder, expected: embedder_id.to_string() });
        }
        let has_meanings = !manifest.segments.iter().any(unread_texts::are_missing);
        let opens = |entry: &SegmentEntry| shard.is_none_or(|shard| shard.opens(&entry.name));
        let (places, own) = (0u32..).zip(manifest.segments).filter(|(_, entry)| opens(entry)).unzip();
        manifest.segments = own;
        let mut segments = Vec::with_capacity(manifest.segments.len());
        for entry in &manifest.segments {
            let files = SegmentFiles::of(folder, entry);
            let segment = Segment::open(&files)?;
            if !segment.fits(entry.tables as usize, entry.columns as usize) {
                let reason = "its number of tables or columns differs from the manifest";
                return Err(Error::damaged(&files.folder, reason));
            }
            segments.push(segment);
        }
        let lexical = LexicalIndex::of(segments.iter().map(|segment| &segment.words));
        Ok(Self {
            folder: folder.to_path_buf(),
            manifest: Arc::new(manifest),
            segments: Arc::new(segments),
            places: Arc::new(places),
            has_meanings,
            lexical,
            entries: Arc::default(),
            lake: None,
            notes: Arc::default(),
            synonyms: Arc::default(),
            note_vectors: Arc::default(),
            facets: Arc::default(),
            piece_rarity: Arc::default(),
            names_language: Arc::default(),
            token_vector_rarity: Arc::default(),
            exchange: None,
        })
    }

    /// The same snapshot for one round of a search in shards, with what all of them have told so far; whether it is the first of these.
    pub fn within(&self, of_all: AllFigures, is_first: bool) -> Self {
        let exchange = Arc::new(Exchange::new(self.places.to_vec(), of_all, is_first));
        Self { lexical: self.lexical.within(&exchange), exchange: Some(exchange), ..self.clone() }
    }

    /// What this shard sends and receives in this round of a search in shards; `None` where all segments are opened.
    pub fn exchange(&self) -> Option<&Exchange> {
        self.exchange.as_deref()
    }

    /// Collects a value of every shard, in the order of the shards; without shards it is `own` alone. `label` names
    /// the value, and is the same in every shard. `is_possible` checks what other shards sent.
    ///
    /// # Errors
    /// [`Error::AwaitsShards`] until the values of the other shards have come; [`Error::Internal`] for one that is not
    /// possible; those of `own`.
    pub fn gather<T: Serialize + DeserializeOwned>(
        &self,
        label: &str,
        own: impl FnOnce() -> Result<T>,
        is_possible: impl Fn(&T) -> bool,
    ) -> Result<Vec<T>> {
        exchange::gather(self.exchange(), label, own, is_possible)
    }

    /// The sums of so many counts of all shards, place by place.
    ///
    /// # Errors
    /// As [`gather`](Self::gather).
    pub fn sums(&self, label: &str, count: usize, own: impl FnOnce() -> Result<Vec<u64>>) -> Result<Vec<u64>> {
        exchange::sums(self.exchange(), label, count, own)
    }

    /// Of the best of each shard the best `k` with their scores, best first, ties by place in the whole index, which is what they are
    /// told by.
    ///
    /// # Errors
    /// As [`gather`](Self::gather).
    pub fn best_of_all<P: Placed>(&self, label: &str, own: Vec<(f64, P)>, k: usize) -> Result<Vec<(f64, P)>> {
        let placed = |(score, own): (f64, P)| (score, self.in_index(own).place());
        let all = self.gather(label, || Ok(own.into_iter().map(placed).collect::<Vec<_>>()), |_| true)?;
        let mut all: Vec<(f64, P)> = all.into_iter().flatten().map(|(score, place)| (score, P::at(place))).collect();
        all.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        all.truncate(k);
        Ok(all)
    }

    /// The place in the whole index of a table or column of this snapshot.
    pub fn in_index<P: Placed>(&self, own: P) -> P {
        exchange::in_index(self.exchange(), own)
    }

    /// The table of this snapshot that has this place in the whole index.
    pub fn of_shard(&self, place: TableRef) -> Option<TableRef> {
        let own = exchange::of_shard(self.exchange(), place)?;
        // Another shard told it.
        self.segments
            .get(own.segment as usize)
            .is_some_and(|segment| own.table < segment.tables.len() as u32)
            .then_some(own)
    }

    /// Whether all tables of the lake have a vector of what they are about.
    pub fn has_meanings(&self) -> bool {
        self.has_meanings
    }

    /// The same snapshot with the folder of its lake and what users know of its tables, which searches use beside what is indexed.
    pub fn with_known(self, lake: &Path, notes: Notes, synonyms: Synonyms) -> Self {
        let (notes, synonyms) = (Arc::new(notes), Arc::new(synonyms));
        Self { lake: Some(lake.to_path_buf()), notes, synonyms, note_vectors: Arc::default(), ..self }
    }

    /// The folder of the lake, where it is known.
    pub fn lake(&self) -> Option<&Path> {
        self.lake.as_deref()
    }

    /// What users say of the tables.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Words that mean the same in this lake.
    pub fn synonyms(&self) -> &Synonyms {
        &self.synonyms
    }

    /// The tables of the first notes with the vectors of these, which `read` makes at the first call.
    pub fn note_vectors(&self, read: impl FnOnce(&Notes) -> NoteVectors) -> &[(String, Vec<f32>)] {
        self.note_vectors.get_or_init(|| read(&self.notes))
    }

    /// The folder it was opened from.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The manifest of the snapshot.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The opened segments.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The word index over all segments.
    pub fn lexical(&self) -> &LexicalIndex {
        &self.lexical
    }

    /// The facets of tables and records; read at the first call.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if an index file is damaged.
    pub fn facets(&self) -> Result<&FacetIndex> {
        if let Some(facets) = self.facets.get() {
            return Ok(facets);
        }
        let read = FacetIndex::new(&self.segments)?;
        Ok(self.facets.get_or_init(|| read))
    }

    /// The words of `text` in the lexical index, in names of tables and columns also what they are in their language; any text is valid.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if an index file is damaged.
    pub fn lexical_query(&self, text: &str) -> Result<LexicalQuery<'_>> {
        self.lexical.prepare(text, self.names_language()?)
    }

    /// The language of the names of tables and columns, told from some of them at the first call; none for English.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if an index file is damaged.
    pub fn names_language(&self) -> Result<Option<Language>> {
        /// Tables whose names are looked at.
        const TABLES: usize = 300;
        let read = || -> Result<Option<Language>> {
            let mut names = Vec::new();
            for table in self.tables().step_by(self.tables().count().div_ceil(TABLES).max(1)) {
                let segment = self.segment(table.segment)?;
                let before = names.len();
                for column in segment.tables.columns(table.table)? {
                    names.push(segment.columns.name(segment.columns.record(column)?)?);
                }
                // Names of records say nothing of columns.
                if names.len() > before {
                    let id = self.id(table)?;
                    names.push(id.rsplit('/').next().unwrap_or(id));
                }
            }
            Ok(Language::of_names(names.into_iter()))
        };
        // What is kept is of these tables alone: each shard tells it each time, one that was started again, too.
        let own = || match self.names_language.get() {
            Some(language) => Ok(*language),
            None => read().map(|language| *self.names_language.get_or_init(|| language)),
        };
        // Shards that disagree read English.
        let all = self.gather("language of names", own, |_| true)?;
        Ok(all.first().copied().flatten().filter(|first| all.iter().all(|other| *other == Some(*first))))
    }

    /// The rarity of each word piece in the lake; read at the first call.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if an index file is damaged.
    pub fn piece_rarity(&self) -> Result<&PieceRarity> {
        if let Some(rarity) = self.piece_rarity.get() {
            return Ok(rarity);
        }
        let read = PieceRarity::new(&self.segments)?;
        Ok(self.piece_rarity.get_or_init(|| read))
    }

    /// The rarity of each piece of the sentence model among the texts of the lake, and the number of values per row; `None` unless every
    /// segment has vectors of pieces. Read at the first call.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if an index file is damaged.
    pub fn token_vector_rarity(&self) -> Result<Option<(&PieceRarity, usize)>> {
        let cached = match self.token_vector_rarity.get() {
            Some(cached) => cached,
            None => {
                let read = token_vectors::rarity(&self.segments)?;
                self.token_vector_rarity.get_or_init(|| read)
            }
        };
        Ok(cached.as_ref().map(|(rarity, dims)| (rarity, *dims)))
    }

    /// The segment at a position.
    ///
    /// # Errors
    /// [`Error::Internal`] for a position of another snapshot.
    pub fn segment(&self, place: u32) -> Result<&Segment> {
        self.segments.get(place as usize).ok_or_else(|| Error::Internal(format!("no segment {place} in this snapshot")))
    }

    /// Number of tables in the snapshot.
    pub fn len(&self) -> usize {
        self.segments.iter().map(|segment| segment.tables.len() - segment.struck_out().len()).sum()
    }

    /// Whether the lake holds no table.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All tables of the snapshot, by segment and number.
    pub fn tables(&self) -> impl Iterator<Item = TableRef> + '_ {
        self.segments.iter().enumerate().flat_map(|(place, segment)| {
            let live = (0..segment.tables.len() as u32).filter(|table| segment.is_live(*table));
            live.map(move |table| TableRef { segment: place as u32, table })
        })
    }

    /// The table with this id, if it exists.
    pub fn get(&self, id: &str) -> Result<Option<TableRef>> {
        for (place, segment) in self.segments.iter().enumerate() {
            if let Some(table) = segment.tables.find(id)?.filter(|table| segment.is_live(*table)) {
                return Ok(Some(TableRef { segment: place as u32, table }));
            }
        }
        Ok(None)
    }

    /// The table with this id.
    ///
    /// # Errors
    /// [`Error::UnknownTable`] with the nearest ids; [`Error::Usage`] with the reason for a file that was skipped.
    pub fn find(&self, id: &str) -> Result<TableRef> {
        if let Some(table) = self.get(id)? {
            return Ok(table);
        }
        let is_named = |path: &str| path == id || path.rsplit_once('.').is_some_and(|(stem, _)| stem == id);
        if let Some(file) = self.manifest.skipped.iter().find(|file| is_named(&file.path)) {
            return Err(Error::usage(format!(
                "`{}` was skipped when the lake was indexed: {}",
                file.path, file.reason
            )));
        }
        let mut ids = Vec::with_capacity(self.len());
        for table in self.tables() {
            ids.push(self.segment(table.segment)?.tables.id(table.table)?);
        }
        Err(Error::UnknownTable { name: id.to_string(), nearest: nearest_names(id, ids, 5) })
    }

    /// The id of a table.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if an index file is damaged, as below.
    pub fn id(&self, table: TableRef) -> Result<&str> {
        self.segment(table.segment)?.tables.id(table.table)
    }

    /// The origin of a table or record.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn origin(&self, table: TableRef) -> Result<Origin<'_>> {
        self.segment(table.segment)?.tables.origin(table.table)
    }

    /// The entry of a table or record; cached if it was used recently.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn dataset(&self, table: TableRef) -> Result<Dataset> {
        self.entries.get(table, || self.segment(table.segment)?.tables.dataset(table.table))
    }

    /// The entry of a table.
    ///
    /// # Errors
    /// As [`id`](Self::id); [`Error::Usage`] for a record.
    pub fn table(&self, table: TableRef) -> Result<Arc<TableEntry>> {
        self.dataset(table)?.into_table()
    }
}
