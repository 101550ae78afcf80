//! Whole commands as their users meet them: every file `NAME.console` of this folder is a terminal of which each command is run again,
//! and exit code, stdout and stderr must be what the file shows.
//!
//! The first line, `# place: NAME`, says what the terminal's folder holds: that folder of `places/`, or for `sample`
//! the sample lake with its index. There the lake is `lake` and the index `index`. A line that begins with `$ ` is a
//! command for `sh`, `> ` continues it. What follows is its stdout, its stderr behind `! `, and its exit code behind `?
//! ` unless that is 0. A document of JSON is spread over lines. Times, dates and the folder are replaced, long
//! fractions of JSON rounded; what else varies in a file is matched by a line `# varies: PATTERN`. `# server:
//! catalogue` starts an OAI-PMH server whose address commands have in `$CATALOGUE`, `# server: model` the one of
//! recorded answers, in `$MODEL`. Other lines with `#` are remarks. `SNAPSHOTS=overwrite` writes the files as they are
//! now.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, OnceLock};

use regex::{Captures, Regex};
use serde_json::Value;
use snapbox::{Assert, Data};

use crate::REPOSITORY;
use crate::catalogues::oai_server::{OaiServer, introduction, nth_page, page_asked};
use crate::llm_server::recorded;
use crate::llm_server::server::Server;

/// One test a file, and a list of all.
macro_rules! terminals {
    ($($name:ident)*) => {
        $(#[test] fn $name() { check(stringify!($name)); })*

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

terminals!(
    ask augment cite columns config copies correlate damage eval harvest help index join keys model note papers plan profile repl replay schema search sessions settings shards signals simulate sql task tune union usage
);

fn folder() -> PathBuf {
    Path::new(REPOSITORY).join("tests/program/commands")
}

#[test]
fn every_file_is_a_test() {
    let files = fs::read_dir(folder()).expect("this folder").map(|entry| entry.expect("an entry").path());
    let mut names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "console"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, NAMES);
}

/// Runs the commands of a file again and compares.
fn check(name: &str) {
    let path = folder().join(format!("{name}.console"));
    let file = fs::read_to_string(&path).expect("a file");
    let place =
        file.strip_prefix("# place: ").and_then(|rest| rest.lines().next()).expect("`# place: NAME` in the first line");
    let varies = file.lines().filter_map(|line| line.strip_prefix("# varies: "));
    let mut terminal = Terminal::new(place, varies.map(|pattern| Regex::new(pattern).expect("a pattern")).collect());
    file.lines().filter_map(|line| line.strip_prefix("# server: ")).for_each(|name| terminal.start(name));
    let (mut now, mut remarks) = (String::new(), String::new());
    let mut lines = file.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with('#') {
            remarks.push_str(&format!("{line}\n"));
        }
        let Some(first) = line.strip_prefix("$ ") else { continue };
        let gap = if now.is_empty() { "" } else { "\n" };
        now.push_str(&format!("{gap}{}{line}\n", std::mem::take(&mut remarks)));
        let mut command = first.to_string();
        while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
            now.push_str(&format!("{more}\n"));
            command.push('\n');
            command.push_str(&more[2..]);
        }
        now.push_str(&terminal.run(&command));
    }
    Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV).eq(now, Data::read_from(&path, None).raw());
}

/// A folder to run commands in.
struct Terminal {
    place: tempfile::TempDir,
    varies: Vec<Regex>,
    /// The variable and the address of each server.
    servers: Vec<(&'static str, String)>,
    /// It ends when it is dropped.
    model: Option<Server>,
}

impl Terminal {
    fn new(name: &str, varies: Vec<Regex>) -> Self {
        let place = tempfile::tempdir().expect("a folder");
        let from = if name == "sample" { sample().to_path_buf() } else { folder().join("places").join(name) };
        copy(&from, place.path());
        Self { place, varies, servers: Vec::new(), model: None }
    }

    fn start(&mut self, name: &str) {
        let server = match name {
            "catalogue" => {
                let reply = |query: &str, _| introduction(query).unwrap_or_else(|| nth_page(page_asked(query), 2, 3));
                ("CATALOGUE", OaiServer::start(reply).url)
            }
            "model" => ("MODEL", self.model.insert(recorded::server().0).url()),
            _ => panic!("there is no server `{name}`"),
        };
        self.servers.push(server);
    }

    /// What a command prints, as a file shows it.
    fn run(&self, command: &str) -> String {
        let servers = self.servers.iter().map(|(name, url)| (name, url));
        let output = program(self.place.path()).envs(servers).args(["-c", command]).output().expect("a shell");
        let stdout = spread(&String::from_utf8(output.stdout).expect("UTF-8"));
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        let mut shown: Vec<String> = stdout.lines().map(|line| line.trim_end().to_string()).collect();
        shown.extend(stderr.lines().map(|line| format!("! {line}").trim_end().to_string()));
        let code = output.status.code().expect("an exit code");
        if code != 0 {
            shown.push(format!("? {code}"));
        }
        let marked = |line: &&String| ["$ ", "> ", "#"].iter().any(|mark| line.starts_with(mark));
        assert_eq!(shown.iter().find(marked), None, "would be read as part of the file, printed by {command}");
        let text: String = shown.iter().map(|line| format!("{line}\n")).collect();
        let filtered = filtered(&text, self.place.path(), &self.varies);
        self.servers.iter().fold(filtered, |text, (name, url)| {
            let host = url.split('/').nth(2).expect("a host");
            text.replace(host, &format!("[{name}]"))
        })
    }
}

/// A document of JSON over many lines, with lists of plain values on one; other text as it is.
fn spread(text: &str) -> String {
    static PLAIN_LIST: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[\n([^\[\]{}]*?)\n +\]").expect("a pattern"));
    let Some(document) = serde_json::from_str::<Value>(text).ok().filter(Value::is_object) else { return text.into() };
    let lines = serde_json::to_string_pretty(&document).expect("JSON");
    let joined = |list: &Captures<'_>| format!("[{}]", list[1].lines().map(str::trim).collect::<Vec<_>>().join(" "));
    PLAIN_LIST.replace_all(&lines, joined).into_owned()
}

/// A shell in a folder, in which the program is called `lakeward` and nothing is configured.
pub fn program(place: &Path) -> Command {
    let own = Path::new(env!("CARGO_BIN_EXE_lakeward")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.env_clear().env("PATH", format!("{}:{path}", own.display())).env("HOME", place).env("TZ", "UTC");
    shell.env("LAKEWARD_LAKE", "lake").env("LAKEWARD_INDEX", "index");
    shell.current_dir(place).stdin(Stdio::null());
    shell
}

/// A folder with the sample lake and its index, made once.
pub fn sample() -> &'static Path {
    static SAMPLE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = SAMPLE.get_or_init(|| {
        let place = tempfile::tempdir().expect("a folder");
        copy(&Path::new(REPOSITORY).join("lake"), &place.path().join("lake"));
        let built = program(place.path()).args(["-c", "lakeward index --quiet"]).output().expect("a shell");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        place
    });
    made.path()
}

/// Copies a folder with the times of its files: an index knows them.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("a copy");
            let times =
                fs::FileTimes::new().set_modified(entry.metadata().and_then(|data| data.modified()).expect("a time"));
            fs::File::options().write(true).open(&target).and_then(|file| file.set_times(times)).expect("a time");
        }
    }
}

/// Text without what differs from run to run and from machine to machine.
fn filtered(text: &str, place: &Path, varies: &[Regex]) -> String {
    /// What is replaced, and by what.
    static FILTERS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let filters = [
            (r"\b[0-9]+(\.[0-9]+)? (µs|ms|s|min)\b", "[TIME]"),
            (r"\b20[0-9]{2}-[01][0-9]-[0-3][0-9][ T][0-9]{2}:[0-9]{2}(:[0-9.]+Z)?", "[DATE]"),
            // Sessions without a name are called after the day.
            (r"\b20[0-9]{2}-[01][0-9]-[0-3][0-9](-[0-9]+\b)", "[DATE]$1"),
            (r#""(elapsed_ms|index_bytes|modified_ns|[a-z_]*seconds)": [0-9.]+"#, r#""$1": "[VARIES]""#),
            // Only a program that was built in a checkout knows its commit.
            (r#"\n *"commit": "[0-9a-f]{12}","#, ""),
            // What names a state of the program or of its weights.
            (r#""(program|weights|started_from)": "[0-9a-f]{12,16}""#, r#""$1": "[VARIES]""#),
            (r"\bweights [0-9a-f]{16} \(before: [0-9a-f]{16}\)", "weights [VARIES] (before: [VARIES])"),
        ];
        filters.map(|(pattern, by)| (Regex::new(pattern).expect("a pattern"), by)).into()
    });
    static FRACTION: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"(": ?|[\[,]\s*|\n +)(-?\d+\.\d{4,}(?:e-?\d+)?)"#).expect("a pattern"));
    let canonical = place.canonicalize().expect("a folder");
    let mut text = text.to_string();
    for folder in [canonical.as_path(), place] {
        text = text.replace(&*folder.to_string_lossy(), "[HERE]");
    }
    for pattern in varies {
        text = pattern.replace_all(&text, "[VARIES]").into_owned();
    }
    for (pattern, by) in FILTERS.iter() {
        text = pattern.replace_all(&text, *by).into_owned();
    }
    let rounded = |found: &Captures<'_>| format!("{}{:.3}", &found[1], found[2].parse::<f64>().expect("a number"));
    FRACTION.replace_all(&text, rounded).into_owned()
}
