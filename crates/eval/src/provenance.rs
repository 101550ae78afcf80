//! What produced a figure, so that it can be reproduced.

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_agent::model::ModelAccess;
use lakeward_models::llm::PromptUse;
use lakeward_reading::reader::Reader;

/// The program, and the reader of what is said where something is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Produced {
    /// The program's version.
    pub lakeward: String,
    /// The commit it was built from, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Hash of the program's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The reader: the built-in one by a hash of its weights, and before it a model with the prompt that it reads by, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader: Option<String>,
}

impl Produced {
    /// Figures of this program that rest on no reading.
    pub fn here() -> Self {
        Self { lakeward: env!("CARGO_PKG_VERSION").to_string(), commit: commit(), program: program(), reader: None }
    }

    /// Figures of this program that rest on what its reader reads, with `model` before it.
    pub fn by_reader(model: Option<ModelAccess<'_>>) -> Self {
        let built_in = Reader::builtin_id();
        let reader = match model {
            Some(of) => format!("{} by {}, else {built_in}", of.chat.id(), of.prompts.of(PromptUse::Read).id()),
            None => built_in.to_string(),
        };
        Self { reader: Some(reader), ..Self::here() }
    }
}

/// The first 16 hexadecimal digits of the BLAKE3 hash of the running program's file; `None` if it cannot be read.
fn program() -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(fs::File::open(std::env::current_exe().ok()?).ok()?).ok()?;
    Some(hasher.finalize().to_hex().as_str()[..16].to_string())
}

/// The commit that the program was built from: the one given to the build (`LAKEWARD_COMMIT`), otherwise the one checked out in the
/// clone that contains the program's file.
fn commit() -> Option<String> {
    let given = option_env!("LAKEWARD_COMMIT").map(str::to_string);
    given.or_else(|| std::env::current_exe().ok()?.ancestors().find_map(|folder| checked_out(&folder.join(".git"))))
}

/// The commit of `HEAD` in a git folder.
fn checked_out(git: &Path) -> Option<String> {
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let commit = match head.trim().strip_prefix("ref: ") {
        None => head.trim().to_string(),
        Some(name) => match fs::read_to_string(git.join(name)) {
            Ok(commit) => commit.trim().to_string(),
            Err(_) => {
                let packed = fs::read_to_string(git.join("packed-refs")).ok()?;
                let line = packed.lines().find(|line| line.split(' ').nth(1) == Some(name))?;
                line.split(' ').next()?.to_string()
            }
        },
    };
    let is_hash = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| commit[..12].to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_read_where_git_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path();
        let commit = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(checked_out(git), None);
        fs::write(git.join("HEAD"), format!("{commit}\n")).unwrap();
        assert_eq!(checked_out(git).as_deref(), Some("0123456789ab"));
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.join("packed-refs"), format!("# pack\n{commit} refs/heads/main\n")).unwrap();
        assert_eq!(checked_out(git).as_deref(), Some("0123456789ab"));
        fs::write(git.join("packed-refs"), "../../secret refs/heads/main\n").unwrap();
        assert_eq!(checked_out(git), None, "a value that is not a hash is not shown");
        assert!(program().is_some_and(|hash| hash.len() == 16));
    }
}
