//! One error type for the whole crate.
//!
//! Each variant carries what a reader of the message needs: the file, table, column or version concerned. [`Error::hint`]
//! says what to do next, with the nearest valid names first; [`Error::kind`] decides the process's exit code. Only the
//! command line prints errors. Messages name things in backticks, carry no final period and never repeat their source.

mod holds;

use std::io;
use std::path::{Path, PathBuf};

pub use holds::Holds;

use crate::message;
use crate::message::Message;

/// The crate's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Who can fix an error; each kind has one exit code (see the README).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request cannot be met as written: usage, configuration, an unknown name. Exit code 2.
    User,
    /// A file of the lake or of its index cannot be used. Exit code 3.
    Lake,
    /// A bug in Lakeward. Exit code 3.
    Internal,
    /// The user asked to stop. Exit code 130.
    Interrupted,
}

/// Everything that can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an operation on `path`.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// The attempted action, as a verb: `read`, `write`, `create`, `list`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A lake file exists but no table can be read from it.
    #[error("`{}` cannot be read as a table: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why, in one clause: `truncated gzip stream`, `damaged Parquet footer`, …
        reason: String,
    },
    /// The stored result of a session step is missing or damaged.
    #[error("`{}` cannot be read as a table: it stores the result of step {step}, and {reason}; run that step again", path.display())]
    UnreadableStep {
        /// The file.
        path: PathBuf,
        /// The step, from 1.
        step: usize,
        /// Why, in one clause.
        reason: String,
    },
    /// No table has this id or file name.
    #[error("{}", no_table(name))]
    UnknownTable {
        /// The requested name.
        name: String,
        /// Existing ids, nearest first.
        nearest: Vec<String>,
    },
    /// The table exists, the column does not.
    #[error("table `{table}` has no column `{name}`")]
    UnknownColumn {
        /// The table.
        table: String,
        /// The requested column.
        name: String,
        /// Existing columns, nearest first.
        nearest: Vec<String>,
    },
    /// No `--lake` was given, and no folder from the working folder upward contains an index.
    #[error("no lake given, and no folder from here upward contains a `.lakeward` index")]
    NoLake,
    /// The lake has not been indexed.
    #[error("no index at `{}`", path.display())]
    NoIndex {
        /// The expected path of the index.
        path: PathBuf,
    },
    /// An index file fails its checksum or has an impossible structure.
    #[error("index file `{}` is damaged: {reason}", path.display())]
    DamagedIndex {
        /// The damaged file.
        path: PathBuf,
        /// What was wrong.
        reason: String,
    },
    /// The index has a format version that this program does not read.
    #[error("index file `{}` has format version {found}; this program reads version {expected}", path.display())]
    IndexVersion {
        /// The file.
        path: PathBuf,
        /// The version found in the file.
        found: u32,
        /// The version this program writes and reads.
        expected: u32,
    },
    /// The index was built with another embedding model.
    #[error("the index was built with embedding model `{found}`, this program embeds with `{expected}`")]
    EmbeddingModel {
        /// The model named in the manifest.
        found: String,
        /// The model in use.
        expected: String,
    },
    /// The embedding server returns no vectors.
    #[error("the embedding model cannot be used: {reason}")]
    EmbeddingServer {
        /// The server and the reason, in one clause.
        reason: String,
    },
    /// A server from which records are harvested does not answer as it should.
    #[error("the repository at `{url}` cannot be harvested: {reason}")]
    Server {
        /// Its address.
        url: String,
        /// What was wrong.
        reason: String,
    },
    /// Another process is writing this index.
    #[error("another process (pid {pid}) is writing the index at `{}`", path.display())]
    Locked {
        /// The process that holds the lock, or `unknown`.
        pid: String,
        /// The index folder.
        path: PathBuf,
    },
    /// A file beside the index has invalid content, or its path leads out of its folder.
    #[error("{}`{}` cannot be used: {reason}", holds.before_name(), path.display())]
    DamagedFile {
        /// What the file contains.
        holds: Holds,
        /// The file.
        path: PathBuf,
        /// What was wrong, with the line or version.
        reason: String,
    },
    /// The session has a document version that this program does not read.
    #[error("session file `{}` has version {found}; this program reads version {expected}", path.display())]
    SessionVersion {
        /// The file.
        path: PathBuf,
        /// The version found in the file.
        found: u64,
        /// The version this program writes and reads.
        expected: u32,
    },
    /// The session on disk has changed since it was opened.
    #[error("another process has written session `{id}` meanwhile; nothing was overwritten")]
    SessionChanged {
        /// The session.
        id: String,
    },
    /// No session has this name.
    #[error("there is no session `{id}`")]
    UnknownSession {
        /// The requested name.
        id: String,
        /// Existing names, nearest first; without near ones, the latest.
        nearest: Vec<String>,
    },
    /// No task graph has been built.
    #[error("no task graph at `{}`", path.display())]
    NoTaskGraph {
        /// The expected path.
        path: PathBuf,
    },
    /// The questions of the tables have not been generated or not been indexed.
    #[error("no questions of the tables at `{}`", path.display())]
    NoQuestions {
        /// The expected path.
        path: PathBuf,
    },
    /// No document has this id.
    #[error("there is no paper `{id}`")]
    UnknownPaper {
        /// The requested id.
        id: String,
        /// Existing ids, nearest first.
        nearest: Vec<String>,
    },
    /// A file or a run of a benchmark is invalid.
    #[error("{}`{}`: {reason}", line.map(|line| format!("line {line} of ")).unwrap_or_default(), path.display())]
    Benchmark {
        /// The file or folder.
        path: PathBuf,
        /// The line, from 1, if one is at fault.
        line: Option<usize>,
        /// What was wrong.
        reason: String,
    },
    /// The request cannot be met as written.
    #[error("{0}")]
    Usage(Message),
    /// DataFusion rejected the SQL, or the query failed while it ran.
    #[error("the query failed: {reason}")]
    Sql {
        /// DataFusion's message.
        reason: String,
    },
    /// The user asked to stop; the interrupted work left nothing behind.
    #[error("interrupted")]
    Interrupted,
    /// Values of the other shards of an index are missing: the search is to be repeated with them.
    #[error("this is one shard of an index: it cannot answer without the others")]
    AwaitsShards,
    /// A state that should be impossible.
    #[error("internal error: {0}")]
    Internal(String),
}

fn no_table(name: &str) -> Message {
    message!("there is no table `{}` in the lake", name)
}

impl Error {
    /// [`Error::Usage`] with a text, or with a message that can be shown in other languages, too.
    pub fn usage(text: impl Into<Message>) -> Self {
        Self::Usage(text.into())
    }

    /// What failed, with the errors that it comes from.
    pub fn message(&self) -> Message {
        match self {
            Self::Usage(message) => message.clone(),
            Self::UnknownTable { name, .. } => no_table(name),
            other => {
                let mut text = other.to_string();
                let mut source = std::error::Error::source(other);
                while let Some(cause) = source {
                    text.push_str(&format!(": {cause}"));
                    source = cause.source();
                }
                text.into()
            }
        }
    }

    /// An [`Error::Io`] for `path`; `action` is a verb such as `read`.
    pub fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Error::Io { action, path: path.to_path_buf(), source }
    }

    /// An [`Error::Unreadable`] for `path`.
    pub fn unreadable(path: &Path, reason: impl Into<String>) -> Self {
        Error::Unreadable { path: path.to_path_buf(), reason: reason.into() }
    }

    /// An [`Error::DamagedIndex`] for `path`.
    pub fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Error::DamagedIndex { path: path.to_path_buf(), reason: reason.into() }
    }

    /// An [`Error::DamagedFile`] for `path`.
    pub fn damaged_file(holds: Holds, path: &Path, reason: impl Into<String>) -> Self {
        Error::DamagedFile { holds, path: path.to_path_buf(), reason: reason.into() }
    }

    /// Who can fix it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::UnknownTable { .. }
            | Error::UnknownColumn { .. }
            | Error::NoLake
            | Error::SessionChanged { .. }
            | Error::UnknownSession { .. }
            | Error::UnknownPaper { .. }
            | Error::Usage(_)
            | Error::Benchmark { .. }
            | Error::Sql { .. } => ErrorKind::User,
            Error::Internal(_) => ErrorKind::Internal,
            Error::Interrupted => ErrorKind::Interrupted,
            _ => ErrorKind::Lake,
        }
    }

    /// What the user can do next, if anything.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::UnknownTable { nearest, .. }
            | Error::UnknownColumn { nearest, .. }
            | Error::UnknownSession { nearest, .. }
            | Error::UnknownPaper { nearest, .. } => {
                let names: Vec<String> = nearest.iter().take(5).map(|name| format!("`{name}`")).collect();
                (!names.is_empty()).then(|| format!("did you mean {}?", names.join(", ")))
            }
            Error::NoLake => Some("name the lake's folder with `--lake DIR`, or run `lakeward index DIR` first".into()),
            Error::NoIndex { .. } => Some("build it with `lakeward index LAKE`".into()),
            Error::NoTaskGraph { .. } => Some("add papers with `lakeward papers add` and `papers extract`, then `lakeward graph build`".into()),
            Error::DamagedIndex { path, .. } | Error::IndexVersion { path, .. } if is_of_task_graph(path) => {
                Some(format!(
                    "the lake and its index are unchanged; move `{}` away and build the graph again with `lakeward graph \
                     build`",
                    path.display()
                ))
            }
            Error::DamagedIndex { path, .. } if path.extension().is_some_and(|extension| extension == "seg") => Some(
                "the lake's files are unchanged; `lakeward index LAKE --repair` reads the tables of the damaged part again"
                    .into(),
            ),
            Error::EmbeddingModel { found, expected } => Some(embedding_hint(found, expected)),
            Error::Server { .. } => Some("what was stored stays; run the command again to go on from there".into()),
            Error::EmbeddingServer { .. } => Some(
                "start the server that `[embedding]` names; without these settings the built-in model is used, \
                 which requires rebuilding the index (`lakeward index LAKE --rebuild`)"
                    .into(),
            ),
            Error::DamagedIndex { .. } | Error::IndexVersion { .. } => {
                Some("the lake's files are unchanged; rebuild the index with `lakeward index LAKE --rebuild`".into())
            }
            Error::Locked { .. } => {
                Some("wait for it to finish, or stop that process; reading works meanwhile".into())
            }
            Error::DamagedFile { holds, path, .. } => Some(holds.hint(path)),
            Error::SessionVersion { found, expected, .. } if *found > u64::from(*expected) => Some(
                "it was written by a newer Lakeward and is unchanged; update Lakeward, or start another session"
                    .into(),
            ),
            Error::SessionVersion { .. } => {
                Some("the file is unchanged; start another session (`lakeward sessions` lists them)".into())
            }
            Error::SessionChanged { id } => Some(format!(
                "resume its current state: `/resume {id}` in the REPL, `--session {id}` elsewhere"
            )),
            Error::NoQuestions { .. } => Some("generate them with `lakeward augment`".into()),
            Error::Benchmark { path, line: Some(_), .. } if path.extension().is_some_and(|end| end == "csv") => {
                Some("fix or remove that line; lines are never skipped silently".into())
            }
            Error::Benchmark { line: Some(_), .. } => {
                Some("fix or remove that line; `lakeward eval --help` describes the files".into())
            }
            Error::Benchmark { line: None, .. } => Some(
                "a benchmark folder contains `queries.jsonl` and `qrels.txt` beside `lake/` or `corpus.jsonl`; or LakeBench's \
                 `*_query.csv` and `*_ground_truth.csv` beside a folder of tables; or pairs `query_table,data_lake_table` as \
                 CSV beside `query/` and `datalake/`; `requests.jsonl`; `acts.jsonl`; or `tasks.jsonl` beside `gold/`"
                    .into(),
            ),
            Error::Io { action: "write" | "create", .. } => {
                Some("choose a writable folder for the index with `--index DIR`".into())
            }
            _ => None,
        }
    }
}

/// Whether a file belongs to the task graph, which has a folder of its own.
fn is_of_task_graph(path: &Path) -> bool {
    path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "graph")
}

/// How to go on when the index was built with model `found` and `expected` is in use. Server models have the id
/// `served:NAME/DIMENSIONS#HASH`.
fn embedding_hint(found: &str, expected: &str) -> String {
    let server_model = |id: &str| Some(id.strip_prefix("served:")?.rsplit_once('/')?.0.to_string());
    let advice = match (server_model(found), server_model(expected)) {
        (Some(found), Some(expected)) if found == expected => {
            format!("the server's `{found}` is now a different model: serve the one that built the index")
        }
        (Some(found), _) => {
            format!("set `model = \"{found}\"` and its server's `url` under `[embedding]` in lakeward.toml")
        }
        (None, Some(_)) => "remove `url` and `model` of `[embedding]` from the settings".into(),
        (None, None) => {
            return "the lake's files are unchanged; rebuild the index with `lakeward index LAKE --rebuild`".into();
        }
    };
    format!("{advice}, or rebuild the index with `lakeward index LAKE --rebuild`")
}

/// The known field nearest to the unknown one named in a serde message ("unknown field `x`, expected one of `a`, `b`"); `None` for other
/// messages, and if no field is near.
pub fn nearest_field(message: &str) -> Option<&str> {
    let names: Vec<&str> = message.strip_prefix("unknown field")?.split('`').skip(1).step_by(2).collect();
    let (unknown, known) = names.split_first()?;
    let nearest = nearest_names(unknown, known.iter().copied(), 1).into_iter().next()?;
    known.iter().copied().find(|name| *name == nearest)
}

/// The `limit` names most similar to `name`, nearest first (Jaro–Winkler on lower-cased names, ties by name). Names with a similarity below
/// 0.7 are left out.
pub fn nearest_names<'a>(name: &str, known: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<String> {
    const LEAST_SIMILARITY: f64 = 0.7;
    let query = name.to_lowercase();
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|candidate| {
            let lower = candidate.to_lowercase();
            let last = lower.rsplit('/').next().unwrap_or(&lower);
            let contained = if lower.contains(&query) { 0.9 } else { 0.0 };
            let similarity =
                strsim::jaro_winkler(&query, &lower).max(strsim::jaro_winkler(&query, last)).max(contained);
            (similarity, candidate)
        })
        .filter(|(similarity, _)| *similarity >= LEAST_SIMILARITY)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.into_iter().take(limit).map(|(_, candidate)| candidate.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_of_another_model_explains_how_to_open_it() {
        let hint = |found: &str, expected: &str| {
            Error::EmbeddingModel { found: found.into(), expected: expected.into() }.hint().unwrap()
        };
        assert!(hint("served:org/m/384#0", "own@1").contains("`model = \"org/m\"`"));
        assert!(hint("own@1", "served:m/384#0").contains("remove `url` and `model`"));
        assert!(hint("served:m/384#0", "served:m/384#1").contains("`m` is now a different model"));
        assert!(hint("own@1", "own@2").contains("--rebuild"));
    }

    #[test]
    fn a_damaged_row_of_a_shard_tells_how_to_make_it_again() {
        let error = Error::damaged_file(Holds::ShardRow(3), Path::new("index/lists/ab/rows/00003-cd.json"), "it ends");
        assert_eq!(
            error.to_string(),
            "the row of a shard in `index/lists/ab/rows/00003-cd.json` cannot be used: it ends"
        );
        let hint = error.hint().unwrap();
        assert!(hint.contains("`lakeward index work index/lists/ab --shard 3`"), "{hint}");
    }

    #[test]
    fn nearest_names_put_the_likeliest_first() {
        let known = ["transport/airports", "energy/prices", "food/prices"];
        assert_eq!(nearest_names("airprots", known, 1), ["transport/airports"]);
        assert_eq!(nearest_names("prices", known, 5), ["energy/prices", "food/prices"]);
        assert!(nearest_names("zzzz", known, 5).is_empty());
    }
}
