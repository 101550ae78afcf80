//! Questions made searchable: an index of its own below that of the lake, its documents records of a catalogue, so that files,
//! updates and recovery are those of every index.
//!
//! ```text
//! .lakeward/questions/concatenated/   manifest.json, segments/   one document a table: metadata and questions
//! .lakeward/questions/dedicated/      manifest.json, segments/   one document a question, instead of the metadata
//!                     …/tables.json                              which state of which table is in it
//! ```
//!
//! A table's score is that of its best document. Tables that left the lake since are not found; those that came or changed are
//! counted when the index is opened.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::documents::{document_name, documents, is_plain, table_of};
use super::facts::Facts;
use super::store::QuestionStore;
use crate::channels;
use lakeward_core::error::{Error, Holds, Result};
use lakeward_core::monitor::Monitor;
use lakeward_core::store::{Bounds, FileLock, Links, Purpose, make_folder, remove_unfinished, write_atomic};
use lakeward_index::build::{BuildOptions, BuildStats, WithoutTexts, build};
use lakeward_index::{LakeIndex, TableRef};
use lakeward_models::embed::Embedder;

/// The folder below that of the lake's index.
pub const FOLDER: &str = "questions";
/// Which state of which table is in it.
const STATE_FILE: &str = "tables.json";
/// Version of that file.
const STATE_VERSION: u32 = 8;
const STATE_BOUNDS: Bounds = Bounds { most_bytes: 1 << 30, links: Links::Followed, damaged };
/// Where the documents lie while they are indexed; empty otherwise.
const DOCUMENTS_FOLDER: &str = "documents";
const DOCUMENTS_FILE: &str = "documents.jsonl";
/// Documents of a table that stand before those of other tables at the most.
const DOCUMENTS_A_TABLE: usize = super::MOST_QUESTIONS + 1;

/// How questions are made searchable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum QuestionMode {
    /// One document a table: its metadata with the questions behind the description.
    Concatenated,
    /// One document a question, which carries its table's title and keywords, instead of the metadata.
    Dedicated,
}

impl QuestionMode {
    /// Both.
    pub const ALL: [QuestionMode; 2] = [QuestionMode::Concatenated, QuestionMode::Dedicated];

    /// Its name: that of its folder.
    pub fn name(self) -> &'static str {
        match self {
            QuestionMode::Concatenated => "concatenated",
            QuestionMode::Dedicated => "dedicated",
        }
    }

    /// The folder of its index, below the folder of the lake's.
    pub fn folder(self, index_folder: &Path) -> PathBuf {
        index_folder.join(FOLDER).join(self.name())
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    version: u32,
    /// By id, a hash of the table's file and of what is said about it.
    tables: BTreeMap<String, String>,
}

/// An opened index of questions.
pub struct QuestionIndex {
    index: LakeIndex,
    mode: QuestionMode,
    /// Tables whose documents are not called by their ids, by what they are called.
    renamed: HashMap<String, String>,
    /// The tables of the lake.
    live: HashSet<String>,
    /// Tables of the lake whose questions are of an older state of theirs.
    pub stale: usize,
    /// Tables of the lake without questions.
    pub missing: usize,
}

impl QuestionIndex {
    /// Brings the index of `mode` beside `lake` up to the state of `lake` and `questions`. A table without questions is in it by
    /// its metadata.
    ///
    /// # Errors
    /// Those of [`build`]; [`Error::Locked`] while another process does the same.
    pub fn build(
        lake: &LakeIndex,
        questions: &QuestionStore,
        mode: QuestionMode,
        embedder: &dyn Embedder,
        monitor: &dyn Monitor,
    ) -> Result<BuildStats> {
        let folder = mode.folder(lake.folder());
        let place = folder.join(DOCUMENTS_FOLDER);
        make_folder(&place)?;
        let _lock = FileLock::acquire(&place)?;
        let path = place.join(DOCUMENTS_FILE);
        let mut state = State { version: STATE_VERSION, tables: BTreeMap::new() };
        write_documents(lake, questions, mode, &path, &mut state)?;
        // Nothing asks what a question is about as a whole.
        let stats = rebuilt_if_damaged(&place, &folder, &path, &WithoutTexts(embedder), monitor);
        // They are in the index now, and made again from the lake's.
        let _ = fs::remove_file(&path);
        let stats = stats?;
        if stats.unread == 0 {
            write_state(&folder, &state)?;
        }
        Ok(stats)
    }

    /// Opens the index of `mode` beside `lake`, made with the embedding model `embedder_id`.
    ///
    /// # Errors
    /// [`Error::NoQuestions`] where there is none; those of [`LakeIndex::open`]; [`Error::DamagedFile`].
    pub fn open(lake: &LakeIndex, mode: QuestionMode, embedder_id: &str) -> Result<Self> {
        let folder = mode.folder(lake.folder());
        let index = match LakeIndex::open(&folder, embedder_id) {
            Err(Error::NoIndex { path }) => return Err(Error::NoQuestions { path }),
            other => other?,
        };
        let state = read_state(&folder)?;
        let mut opened = Self { index, mode, renamed: HashMap::new(), live: HashSet::new(), stale: 0, missing: 0 };
        for table in lake.tables() {
            let id = lake.id(table)?;
            match state.tables.get(id) {
                None => opened.missing += 1,
                Some(stamp) if *stamp != stamp_of(lake, table)? => opened.stale += 1,
                Some(_) => {}
            }
            if !is_plain(id) {
                opened.renamed.insert(document_name(id), id.to_string());
            }
            opened.live.insert(id.to_string());
        }
        Ok(opened)
    }

    /// How the questions are searched.
    pub fn mode(&self) -> QuestionMode {
        self.mode
    }

    /// The index of the documents.
    pub fn documents(&self) -> &LakeIndex {
        &self.index
    }

    /// The `depth` tables whose documents BM25F ranks first for `text`, with the score of the best document; best first, ties
    /// by id.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] where an index file is damaged.
    pub fn by_words(&self, text: &str, depth: usize) -> Result<Vec<(String, f64)>> {
        self.tables(channels::by_words(&self.index, text, self.document_depth(depth))?, depth)
    }

    /// The `depth` tables with a document closest in meaning to `text`, with its cosine, -1..=1; best first, ties by id.
    ///
    /// # Errors
    /// As [`by_words`](Self::by_words).
    pub fn by_meaning(&self, embedder: &dyn Embedder, text: &str, depth: usize) -> Result<Vec<(String, f64)>> {
        self.tables(channels::by_meaning(&self.index, embedder, text, self.document_depth(depth))?, depth)
    }

    /// So many documents that there are `depth` tables among them.
    fn document_depth(&self, depth: usize) -> usize {
        match self.mode {
            QuestionMode::Concatenated => depth,
            QuestionMode::Dedicated => depth.saturating_mul(DOCUMENTS_A_TABLE),
        }
        .min(self.index.len())
    }

    fn tables(&self, documents: Vec<(TableRef, f64)>, depth: usize) -> Result<Vec<(String, f64)>> {
        let mut seen: HashSet<&str> = HashSet::new();
        let mut tables: Vec<(String, f64)> = Vec::new();
        for (document, score) in documents {
            let name = table_of(self.index.id(document)?);
            let id = self.renamed.get(name).map_or(name, String::as_str);
            // The documents come best first.
            if self.live.contains(id) && seen.insert(id) {
                tables.push((id.to_string(), score));
            }
        }
        tables.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        tables.truncate(depth);
        Ok(tables)
    }
}

/// Writes the documents of all tables of `lake` to `path`, and notes which state of which table has its questions there.
fn write_documents(
    lake: &LakeIndex,
    questions: &QuestionStore,
    mode: QuestionMode,
    path: &Path,
    state: &mut State,
) -> Result<()> {
    let failed = |error| Error::io("write", path, error);
    let mut out = BufWriter::new(fs::File::create(path).map_err(failed)?);
    for table in lake.tables() {
        let id = lake.id(table)?;
        let made = questions.get(id);
        for document in documents(lake, table, made, mode)? {
            serde_json::to_writer(&mut out, &document).map_err(|error| failed(error.into()))?;
            out.write_all(b"\n").map_err(failed)?;
        }
        if let Some(made) = made
            && made.content == Facts::of(&lake.dataset(table)?).content()
        {
            state.tables.insert(id.to_string(), stamp_of(lake, table)?);
        }
    }
    out.flush().map_err(failed)
}

/// Builds the index; anew where what is there cannot be added to: all of it comes from elsewhere.
fn rebuilt_if_damaged(
    place: &Path,
    folder: &Path,
    documents: &Path,
    embedder: &dyn Embedder,
    monitor: &dyn Monitor,
) -> Result<BuildStats> {
    let records = Some(documents.to_path_buf());
    let options = BuildOptions { records, ..BuildOptions::default() };
    match build(place, folder, embedder, &options, monitor) {
        Err(Error::DamagedIndex { .. } | Error::IndexVersion { .. } | Error::EmbeddingModel { .. }) => {
            build(place, folder, embedder, &BuildOptions { rebuild: true, ..options }, monitor)
        }
        other => other,
    }
}

/// A hash of a table's file and of what is said about it.
fn stamp_of(lake: &LakeIndex, table: TableRef) -> Result<String> {
    let stamp = lake.segment(table.segment)?.tables.stamp(table.table)?;
    let mut bytes = stamp.content.to_vec();
    bytes.extend(stamp.metadata_hash.to_le_bytes());
    bytes.extend(stamp.sample_rows.to_le_bytes());
    Ok(format!("{:016x}", xxh3_64(&bytes)))
}

fn write_state(folder: &Path, state: &State) -> Result<()> {
    let path = folder.join(STATE_FILE);
    remove_unfinished(&path);
    let text = serde_json::to_vec(state).map_err(|error| Error::Internal(error.to_string()))?;
    write_atomic(&path, Purpose::Index, &text)
}

/// The state written last; none where the first build was cut short: then all tables are missing.
fn read_state(folder: &Path) -> Result<State> {
    let path = folder.join(STATE_FILE);
    let Some(text) = STATE_BOUNDS.read(&path)? else {
        return Ok(State { version: STATE_VERSION, tables: BTreeMap::new() });
    };
    let state: State = serde_json::from_slice(&text).map_err(|error| damaged(&path, error.to_string()))?;
    if state.version != STATE_VERSION {
        let reason = format!("format version {}; this program reads version {STATE_VERSION}", state.version);
        return Err(damaged(&path, reason));
    }
    Ok(state)
}

fn damaged(path: &Path, reason: String) -> Error {
    Error::damaged_file(Holds::Questions, path, reason)
}
