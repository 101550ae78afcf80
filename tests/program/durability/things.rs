//! Every durable thing of Lakeward: where it lies, and how it is read.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lakeward::answers::TaskTrace;
use lakeward_agent::agentic::RunCache;
use lakeward_agent::session::{FeedbackStore, SessionStore};
use lakeward_agent::trace::TurnTrace;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::{Monitor, Total};
use lakeward_core::plan::Plan;
use lakeward_index::LakeIndex;
use lakeward_index::build::shards::ListFolder;
use lakeward_index::verify::verify;
use lakeward_lake::harvest::{HarvestOptions, harvest};
use lakeward_lake::notes::Notes;
use lakeward_models::embed::{BuiltIn, Embedder, StaticModel};
use lakeward_models::llm::{TrustStore, answer_cache};
use lakeward_search::RankingWeights;
use lakeward_search::augment::{QuestionIndex, QuestionMode, QuestionStore};
use lakeward_tasks::papers::Store;
use lakeward_tasks::papers::extraction::read_extractions;
use lakeward_tasks::task_graph::TaskGraph;
use lakeward_tasks::task_graph::verdicts::Verdicts;

use super::files;
use crate::commands::copy;

/// A durable thing.
pub struct Thing {
    /// Its folder below `tests/program/data/formats`.
    pub name: &'static str,
    /// Its file in the folder of an index, or the folder of its files.
    pub place: &'static str,
    /// The version that is written now; none where the file says none (see the list).
    pub version: Option<u64>,
    /// Reads all of it from the folder of an index.
    pub read: fn(&Path) -> Result<()>,
}

/// All of them. What a new version or a new thing has to stand is what this list says.
///
/// Without a version: texts are called by their content and name their reader, extractions name their extractor line by
/// line and come from others as well, the tables of a shard belong to a list of one version, and what is cached lies
/// under a hash of all that it depends on. Caches of checkpoints and steps of plans are not here: what is damaged or
/// older there is as if it were not there (`crates/lake/tests/lake/added_parts.rs`, `crates/operate/src/plan/kept.rs`).
pub const THINGS: &[Thing] = &[
    Thing { name: "index", place: "", version: Some(10), read: index },
    Thing { name: "index_with_texts", place: WITH_TEXTS, version: Some(10), read: index_with_texts },
    Thing { name: "question_index", place: "questions/concatenated", version: Some(8), read: question_index },
    Thing { name: "session", place: "sessions/s.json", version: Some(6), read: sessions },
    Thing { name: "learned", place: "learned.jsonl", version: Some(1), read: learned },
    Thing { name: "model_checks", place: "model_checks.jsonl", version: Some(1), read: model_checks },
    Thing { name: "usage", place: "usage.jsonl", version: Some(1), read: usage },
    Thing { name: "notes", place: "notes.jsonl", version: Some(1), read: notes },
    Thing { name: "pseudo_queries", place: "pseudo_queries.jsonl", version: Some(1), read: pseudo_queries },
    Thing { name: "papers", place: "papers/papers.jsonl", version: Some(1), read: papers },
    Thing { name: "texts", place: TEXTS, version: None, read: papers },
    Thing { name: "extractions", place: "papers/extractions.jsonl", version: None, read: extractions },
    Thing { name: "graph", place: "graph/graph.seg", version: Some(1), read: graph },
    Thing { name: "verdicts", place: "graph/verdicts.jsonl", version: Some(1), read: verdicts },
    Thing { name: "trace", place: "trace.json", version: Some(5), read: trace },
    Thing { name: "task_trace", place: "task_trace.json", version: Some(1), read: task_trace },
    Thing { name: "plan", place: "plan.json", version: Some(1), read: plan },
    Thing { name: "weights", place: "weights.json", version: Some(6), read: weights },
    Thing { name: "harvest", place: "harvested/.harvest.json", version: Some(1), read: harvested },
    Thing { name: "shard_list", place: "lists/0123abcd/list.json", version: Some(2), read: shards },
    Thing { name: "shard_tables", place: "lists/0123abcd/shards/00000.jsonl", version: None, read: shards },
    Thing { name: "shard_row", place: SHARD_ROW, version: Some(2), read: shards },
    Thing { name: "answer", place: "cache/answers/0123abcd", version: None, read: answer },
    Thing { name: "run", place: "cache/runs/0123abcd", version: None, read: run },
];

/// The file of texts is called by its content.
const TEXTS: &str = "papers/texts/e98027264702d200d50f823dc37c085de1763bf5801aa6764e0ffe6e4db7ad1b.jsonl";
/// The row of a shard, too, after its number.
const SHARD_ROW: &str = "lists/0123abcd/rows/00000-0123456789abcdef0123456789abcdef.json";
const KEY: &str = "0123abcd";
/// An index with what each table is about and with vectors of word pieces, by a model of nine words
/// (`crates/models/tests/models/tiny_model.rs`).
const WITH_TEXTS: &str = "with-texts";
const TINY_MODEL: &str = "sentence-8@cbb6e73d";

/// Where the files of all formats are.
pub fn formats() -> PathBuf {
    Path::new(crate::REPOSITORY).join("tests/program/data/formats")
}

/// The kept files of a thing: version and path, in order.
pub fn kept(thing: &Thing) -> Vec<(u64, PathBuf)> {
    let folder = formats().join(thing.name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("no files of `{}`: {error}", thing.name));
    let mut kept: Vec<(u64, PathBuf)> = entries
        .flatten()
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let number = name.split('.').next().and_then(|stem| stem.strip_prefix('v')?.parse().ok());
            (number.unwrap_or_else(|| panic!("{name} of `{}` names no version", thing.name)), entry.path())
        })
        .collect();
    kept.sort_unstable();
    kept
}

/// Puts a kept file, or folder of files, into the index in `folder`.
pub fn put(thing: &Thing, from: &Path, folder: &Path) {
    let to = folder.join(thing.place);
    if from.is_dir() {
        copy(from, &to);
    } else {
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::copy(from, to).expect("a copy");
    }
}

/// An index with everything in it, of the versions that are written now.
pub fn put_all(folder: &Path) {
    for thing in THINGS {
        let (_, newest) = kept(thing).pop().expect("a file");
        put(thing, &newest, folder);
    }
}

/// Reads everything there is; what cannot be read, by name.
pub fn unreadable(folder: &Path) -> Vec<String> {
    let failure = |thing: &Thing| (thing.read)(folder).err().map(|error| format!("{}: {error}", thing.name));
    THINGS.iter().filter_map(failure).collect()
}

/// Files that a writer began and did not end.
pub fn unfinished(folder: &Path) -> Vec<PathBuf> {
    let is_unfinished = |path: &Path| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        name.starts_with('.') && name.rsplit_once('-').is_some_and(|(_, random)| random.len() == 6)
    };
    files(folder).into_iter().filter(|path| is_unfinished(path)).collect()
}

/// What was made by one of the models in the program.
fn of_either_model<T>(open: impl Fn(&str) -> Result<T>) -> Result<T> {
    match open(StaticModel::builtin().id()) {
        Err(Error::EmbeddingModel { .. }) => open(BuiltIn::get().id()),
        opened => opened,
    }
}

fn index(folder: &Path) -> Result<()> {
    of_either_model(|model| LakeIndex::open(folder, model))?;
    verified(folder)
}

fn verified(folder: &Path) -> Result<()> {
    match verify(folder)?.2.into_iter().next() {
        Some(damage) => Err(Error::damaged(&folder.join(damage.file), damage.reason)),
        None => Ok(()),
    }
}

fn index_with_texts(folder: &Path) -> Result<()> {
    LakeIndex::open(&folder.join(WITH_TEXTS), TINY_MODEL)?;
    verified(&folder.join(WITH_TEXTS))
}

fn question_index(folder: &Path) -> Result<()> {
    of_either_model(|model| QuestionIndex::open(&LakeIndex::open(folder, model)?, QuestionMode::Concatenated, model))?;
    index(&QuestionMode::Concatenated.folder(folder))
}

fn sessions(folder: &Path) -> Result<()> {
    let store = SessionStore::new(folder);
    store.list()?.iter().try_for_each(|session| store.open(&session.id).map(|_| ()))
}

fn learned(folder: &Path) -> Result<()> {
    let store = FeedbackStore::new(folder);
    match store.uses()? {
        (_, 0) => Ok(()),
        (_, unread) => Err(Error::usage(format!("{unread} lines of `{}`", store.path().display()))),
    }
}

fn usage(folder: &Path) -> Result<()> {
    match lakeward::usage::events(folder)? {
        (_, 0) => Ok(()),
        (_, unread) => Err(Error::usage(format!("{unread} lines of `usage.jsonl`"))),
    }
}

fn model_checks(folder: &Path) -> Result<()> {
    TrustStore::new(folder).measured("m", "read@1").map(|_| ())
}

fn notes(folder: &Path) -> Result<()> {
    Notes::read(folder).map(|_| ())
}

fn pseudo_queries(folder: &Path) -> Result<()> {
    QuestionStore::open(folder).map(|_| ())
}

fn papers(folder: &Path) -> Result<()> {
    Store::open(folder)?.documents().try_for_each(|document| document.map(|_| ()))
}

fn extractions(folder: &Path) -> Result<()> {
    let path = folder.join("papers/extractions.jsonl");
    match read_extractions(&path)? {
        file if file.left_out == 0 => Ok(()),
        file => Err(Error::usage(format!("`{}`: {}", path.display(), file.problems.join("; ")))),
    }
}

fn graph(folder: &Path) -> Result<()> {
    of_either_model(|model| TaskGraph::open(&folder.join("graph"), model))?.verify()
}

fn verdicts(folder: &Path) -> Result<()> {
    Verdicts::read(&folder.join("graph")).map(|_| ())
}

fn trace(folder: &Path) -> Result<()> {
    TurnTrace::read(&folder.join("trace.json")).map(|_| ())
}

fn task_trace(folder: &Path) -> Result<()> {
    let path = folder.join("task_trace.json");
    let found = TaskTrace::read(&path)?;
    found.map(|_| ()).ok_or_else(|| Error::usage(format!("`{}` is no trace of a task", path.display())))
}

fn plan(folder: &Path) -> Result<()> {
    Plan::read(&folder.join("plan.json")).map(|_| ())
}

fn weights(folder: &Path) -> Result<()> {
    RankingWeights::load(&folder.join("weights.json")).map(|_| ())
}

/// Goes on with a harvest, which looks at its state, from a server that is not there, and stops before it is asked
/// again.
fn harvested(folder: &Path) -> Result<()> {
    let options = HarvestOptions {
        url: "http://127.0.0.1:1/oai".into(),
        folder: folder.join("harvested"),
        format: None,
        set: None,
        from: None,
        pause: Duration::ZERO,
    };
    if !options.folder.is_dir() {
        return Ok(());
    }
    match harvest(&options, &Stopped) {
        Err(Error::Interrupted) => Ok(()),
        outcome => outcome.map(|_| ()),
    }
}

/// Whoever watches a work that is to stop.
struct Stopped;

impl Monitor for Stopped {
    fn begin(&self, _name: &str, _total: Total) {}
    fn advance(&self, _amount: u64) {}
    fn is_stopped(&self) -> bool {
        true
    }
}

fn shards(folder: &Path) -> Result<()> {
    ListFolder::of(folder, KEY)?.verify()
}

fn answer(folder: &Path) -> Result<()> {
    in_cache(folder, answer_cache(&folder.join("cache/answers")).get(KEY))
}

fn run(folder: &Path) -> Result<()> {
    in_cache(folder, RunCache::new(&folder.join("cache/runs")).get(KEY))
}

/// What is not in a cache is made again; the list says that it is not there.
fn in_cache(folder: &Path, found: Option<String>) -> Result<()> {
    found.map(|_| ()).ok_or_else(|| Error::NoIndex { path: folder.join("cache") })
}
