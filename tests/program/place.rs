//! What most tests stand on: a folder with files, the program run on it, and its lake opened as the library does.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use lakeward::{Lakeward, Place, Request, Session};
use lakeward_agent::recommend::Recommendation;
use lakeward_core::monitor::Silent;
use lakeward_index::build::{BuildOptions, BuildStats};
use serde_json::Value;
use tempfile::TempDir;

/// A folder with files, which goes with the test.
pub struct Folder(TempDir);

impl Folder {
    pub fn of(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder"));
        files.iter().for_each(|(name, text)| drop(folder.write(name, text)));
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The path of something in it.
    pub fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The same as an argument of the program.
    pub fn text(&self, name: &str) -> String {
        self.at(name).to_string_lossy().into_owned()
    }

    /// The path of a file that it writes.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        write(&path, bytes);
        path
    }

    /// The lake that it is, indexed.
    pub fn lake(&self) -> Lakeward {
        built(self.path()).0
    }
}

/// Writes a file and the folders on the way to it.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, bytes).expect("a file");
}

/// Copies the files of a lake, without an index.
pub fn copy_lake(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        match entry.file_type().expect("a file").is_dir() {
            true if entry.file_name() == ".lakeward" => {}
            true => copy_lake(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).expect("a file")),
        }
    }
}

/// The lake at `folder`, indexed.
pub fn built(folder: &Path) -> (Lakeward, BuildStats) {
    let place = Place::new(folder, None).expect("a place");
    Lakeward::build(place, &BuildOptions::default(), &Silent).expect("an index")
}

/// The sample lake, indexed once.
pub fn sample() -> &'static Lakeward {
    static SAMPLE: OnceLock<(Lakeward, TempDir)> = OnceLock::new();
    let (lakeward, _) = SAMPLE.get_or_init(|| {
        let index = tempfile::tempdir().expect("a folder");
        let place = Place::new(&Path::new(crate::REPOSITORY).join("lake"), Some(index.path())).expect("a place");
        (Lakeward::build(place, &BuildOptions::default(), &Silent).expect("an index").0, index)
    });
    lakeward
}

/// The answer to a turn.
pub fn say(lakeward: &Lakeward, session: &mut Session, text: &str) -> Recommendation {
    let request = Request { text: text.into(), ..Request::default() };
    lakeward.ask(session, &request).expect("an answer").0.into_inner()
}

/// The program with nothing configured.
pub fn lakeward(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lakeward"));
    for name in ["LAKE", "INDEX", "CONFIG", "LLM_MODEL", "LLM_URL"] {
        command.env_remove(format!("LAKEWARD_{name}"));
    }
    command.env_remove("OPENAI_BASE_URL").args(arguments).stdin(Stdio::null());
    command
}

/// What a run of the program came to.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    pub fn of(command: &mut Command) -> Self {
        Self::ended(command.output().expect("the program"))
    }

    /// Of a program that has ended; a signal is the code −1.
    pub fn ended(output: std::process::Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// All that was printed.
    pub fn said(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    #[track_caller]
    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, 0, "{}", self.said());
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.said()))
    }
}
