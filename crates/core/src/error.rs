//! One error type for the whole crate.
//!
//! Each variant carries what a reader of the message needs: the file, table, column or version concerned. [`Error::hint`]
//! says what to do next, with the nearest valid names first; [`Error::kind`] decides the process's exit code. Only the
//! command line prints errors. Messages name things in backticks, carry no final period and never repeat their source.

use std::io;
use std::path::{Path, PathBuf};

/// The crate's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Who can do something about an error; each kind has one exit code (see the README).
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

/// What a file beside the index holds: it decides how to go on without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// A session, or the folder of sessions.
    Session,
    /// What sessions have taught.
    Learned,
    /// The questions of the tables.
    Questions,
    /// The list of documents, or their texts.
    Papers,
}

impl Holds {
    /// How a message begins that goes on with the file's name.
    fn before_name(self) -> &'static str {
        match self {
            Holds::Session => "session file ",
            Holds::Learned => "what was learned in ",
            Holds::Questions => "the questions in ",
            Holds::Papers => "",
        }
    }

    fn hint(self, path: &Path) -> String {
        let path = path.display();
        match self {
            Holds::Session => {
                "it is left as it is; move it away or mend it, or begin another session (`lakeward sessions` \
                               lists them)"
                    .into()
            }
            Holds::Learned => format!("it is left as it is; move `{path}` away, and learning begins anew"),
            Holds::Questions => {
                format!("it is left as it is; remove `{path}`, and `lakeward augment` makes them anew")
            }
            Holds::Papers => format!(
                "move `{path}` away, and add the papers again (`lakeward papers add PATH`); their files are untouched"
            ),
        }
    }
}

/// Everything that can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an operation on `path`.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was attempted, as a verb: `read`, `write`, `create`, `list`.
        action: &'static str,
        /// The file or folder concerned.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A lake file exists but no table can be read from it.
    #[error("`{}` cannot be read as a table: {reason}", path.display())]
    Unreadable {
        /// The file concerned.
        path: PathBuf,
        /// Why, in one clause: `truncated gzip stream`, `damaged Parquet footer`, …
        reason: String,
    },
    /// The result of a step of a session is gone or damaged.
    #[error("`{}` cannot be read as a table: the result of step {step} is kept there, and {reason}; run that step again", path.display())]
    UnreadableStep {
        /// The file concerned.
        path: PathBuf,
        /// The step, from 1.
        step: usize,
        /// Why, in one clause.
        reason: String,
    },
    /// No table of this id or file name.
    #[error("there is no table `{name}` in the lake")]
    UnknownTable {
        /// The name asked for.
        name: String,
        /// Existing ids, nearest first.
        nearest: Vec<String>,
    },
    /// The table exists, the column does not.
    #[error("table `{table}` has no column `{name}`")]
    UnknownColumn {
        /// The table asked.
        table: String,
        /// The column asked for.
        name: String,
        /// Existing columns, nearest first.
        nearest: Vec<String>,
    },
    /// No folder upward of the working folder holds an index, and none was named.
    #[error("no lake given, and no folder from here upward holds a `.lakeward` index")]
    NoLake,
    /// The lake has not been indexed.
    #[error("no index at `{}`", path.display())]
    NoIndex {
        /// Where the index was looked for.
        path: PathBuf,
    },
    /// An index file fails its checksum or its structure is impossible.
    #[error("index file `{}` is damaged: {reason}", path.display())]
    DamagedIndex {
        /// The damaged file.
        path: PathBuf,
        /// What was wrong.
        reason: String,
    },
    /// An index of a format version this program does not read.
    #[error("index file `{}` has format version {found}; this program reads version {expected}", path.display())]
    IndexVersion {
        /// The file concerned.
        path: PathBuf,
        /// The version found in the file.
        found: u32,
        /// The version this program writes and reads.
        expected: u32,
    },
    /// The index was built with another embedding model.
    #[error("the index was built with embedding model `{found}`, this program embeds with `{expected}`")]
    EmbeddingModel {
        /// The model that the manifest names.
        found: String,
        /// The model in use.
        expected: String,
    },
    /// The server of the embedding model gives no vectors.
    #[error("the embedding model cannot be used: {reason}")]
    EmbeddingServer {
        /// Server and reason, in one clause.
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
    /// A file beside the index is not what was written, or leads out of its folder.
    #[error("{}`{}` cannot be used: {reason}", holds.before_name(), path.display())]
    DamagedFile {
        /// What the file holds.
        holds: Holds,
        /// The file concerned.
        path: PathBuf,
        /// What was wrong, with the line or the version.
        reason: String,
    },
    /// A session of a document version this program does not read.
    #[error("session file `{}` has version {found}; this program reads version {expected}", path.display())]
    SessionVersion {
        /// The file concerned.
        path: PathBuf,
        /// The version found in the file.
        found: u64,
        /// The version this program writes and reads.
        expected: u32,
    },
    /// The session on the disk is not the one that was opened.
    #[error("another process has written session `{id}` meanwhile; nothing was overwritten")]
    SessionChanged {
        /// The session concerned.
        id: String,
    },
    /// No session of this name.
    #[error("there is no session `{id}`")]
    UnknownSession {
        /// The name asked for.
        id: String,
        /// Existing names, nearest first, else the latest.
        nearest: Vec<String>,
    },
    /// No task graph has been built.
    #[error("no task graph at `{}`", path.display())]
    NoTaskGraph {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The questions of the tables have not been made, or not been indexed.
    #[error("no questions of the tables at `{}`", path.display())]
    NoQuestions {
        /// Where they were looked for.
        path: PathBuf,
    },
    /// No document of this id.
    #[error("there is no paper `{id}`")]
    UnknownPaper {
        /// The id asked for.
        id: String,
        /// Existing ids, nearest first.
        nearest: Vec<String>,
    },
    /// A file of a benchmark, or a run of one, is not what it has to be.
    #[error("{}`{}`: {reason}", line.map(|line| format!("line {line} of ")).unwrap_or_default(), path.display())]
    Benchmark {
        /// The file or folder concerned.
        path: PathBuf,
        /// The line, from 1, where one is concerned.
        line: Option<usize>,
        /// What was wrong.
        reason: String,
    },
    /// The request cannot be met as written.
    #[error("{0}")]
    Usage(String),
    /// SQL that DataFusion refused, or that failed while it ran.
    #[error("the query failed: {reason}")]
    Sql {
        /// DataFusion's message.
        reason: String,
    },
    /// The user asked to stop; what was under way left nothing behind.
    #[error("interrupted")]
    Interrupted,
    /// A state that should be impossible.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Error {
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

    /// Who can do something about it.
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

    /// What the user can do next, where there is something.
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
                    "the lake and its index are untouched; move `{}` away and build the graph again with `lakeward graph \
                     build`",
                    path.display()
                ))
            }
            Error::DamagedIndex { path, .. } if path.extension().is_some_and(|extension| extension == "seg") => Some(
                "the lake's files are untouched; `lakeward index LAKE --repair` reads again what the damaged part held"
                    .into(),
            ),
            Error::EmbeddingModel { found, expected } => Some(embedding_hint(found, expected)),
            Error::EmbeddingServer { .. } => Some(
                "start the server that `[embedding]` names; without these settings the model inside the program is used, for \
                 which the index is built anew (`lakeward index LAKE --rebuild`)"
                    .into(),
            ),
            Error::DamagedIndex { .. } | Error::IndexVersion { .. } => {
                Some("the lake's files are untouched; rebuild the index with `lakeward index LAKE --rebuild`".into())
            }
            Error::Locked { .. } => {
                Some("wait for it to finish, or stop that process; reading goes on meanwhile".into())
            }
            Error::DamagedFile { holds, path, .. } => Some(holds.hint(path)),
            Error::SessionVersion { found, expected, .. } if *found > u64::from(*expected) => Some(
                "a newer Lakeward wrote it, and this one leaves it as it is; update Lakeward, or begin another session"
                    .into(),
            ),
            Error::SessionVersion { .. } => {
                Some("it is left as it is; begin another session (`lakeward sessions` lists them)".into())
            }
            Error::SessionChanged { id } => Some(format!(
                "resume it as it is now: `/resume {id}` in the REPL, `--session {id}` elsewhere"
            )),
            Error::NoQuestions { .. } => Some("make them with `lakeward augment`".into()),
            Error::Benchmark { path, line: Some(_), .. } if path.extension().is_some_and(|end| end == "csv") => {
                Some("mend or remove that line; no line is skipped unseen".into())
            }
            Error::Benchmark { line: Some(_), .. } => {
                Some("mend or remove that line; `lakeward eval --help` says what the files hold".into())
            }
            Error::Benchmark { line: None, .. } => Some(
                "a benchmark folder holds `queries.jsonl` and `qrels.txt` beside `lake/` or `corpus.jsonl`; or LakeBench's \
                 `*_query.csv` and `*_ground_truth.csv` beside a folder of tables; or pairs `query_table,data_lake_table` as \
                 CSV beside `query/` and `datalake/`; or `requests.jsonl`"
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

/// How to go on with an index of the model `found` where `expected` is in use. Models on servers are called
/// `served:NAME/DIMENSIONS#HASH`.
fn embedding_hint(found: &str, expected: &str) -> String {
    let served = |id: &str| Some(id.strip_prefix("served:")?.rsplit_once('/')?.0.to_string());
    let go_on = match (served(found), served(expected)) {
        (Some(found), Some(expected)) if found == expected => {
            format!("another model is called `{found}` there now: serve the one that built the index")
        }
        (Some(found), _) => {
            format!("set `model = \"{found}\"` and its server's `url` under `[embedding]` in lakeward.toml")
        }
        (None, Some(_)) => "take `url` and `model` of `[embedding]` out of the settings".into(),
        (None, None) => {
            return "the lake's files are untouched; rebuild the index with `lakeward index LAKE --rebuild`".into();
        }
    };
    format!("{go_on}, or rebuild the index with `lakeward index LAKE --rebuild`")
}

/// The known field nearest to the unknown one that a message of serde names ("unknown field `x`, expected one of `a`, `b`"); none
/// for other messages, and where none is near.
pub fn nearest_field(message: &str) -> Option<&str> {
    let names: Vec<&str> = message.strip_prefix("unknown field")?.split('`').skip(1).step_by(2).collect();
    let (unknown, known) = names.split_first()?;
    let nearest = nearest_names(unknown, known.iter().copied(), 1).into_iter().next()?;
    known.iter().copied().find(|name| *name == nearest)
}

/// The `limit` names most like `name`, nearest first (Jaro–Winkler on lower-cased names, ties by name); names with
/// nothing in common with it are left out.
pub fn nearest_names<'a>(name: &str, known: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<String> {
    const LEAST_SIMILARITY: f64 = 0.7;
    let wanted = name.to_lowercase();
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|candidate| {
            let lower = candidate.to_lowercase();
            let last = lower.rsplit('/').next().unwrap_or(&lower);
            let contained = if lower.contains(&wanted) { 0.9 } else { 0.0 };
            let similarity =
                strsim::jaro_winkler(&wanted, &lower).max(strsim::jaro_winkler(&wanted, last)).max(contained);
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
    fn an_index_of_another_model_says_how_to_open_it() {
        let hint = |found: &str, expected: &str| {
            Error::EmbeddingModel { found: found.into(), expected: expected.into() }.hint().unwrap()
        };
        assert!(hint("served:org/m/384#0", "own@1").contains("`model = \"org/m\"`"));
        assert!(hint("own@1", "served:m/384#0").contains("take `url` and `model`"));
        assert!(hint("served:m/384#0", "served:m/384#1").contains("another model is called `m`"));
        assert!(hint("own@1", "own@2").contains("--rebuild"));
    }

    #[test]
    fn nearest_names_put_the_likeliest_first() {
        let known = ["transport/airports", "energy/prices", "food/prices"];
        assert_eq!(nearest_names("airprots", known, 1), ["transport/airports"]);
        assert_eq!(nearest_names("prices", known, 5), ["energy/prices", "food/prices"]);
        assert!(nearest_names("zzzz", known, 5).is_empty());
    }
}
