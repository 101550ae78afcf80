//! Which program produced a figure, so that it can be reproduced.

use std::fs;
use std::path::Path;

/// The first 16 hexadecimal digits of the BLAKE3 hash of the running program's file; `None` if it cannot be read.
pub fn program() -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(fs::File::open(std::env::current_exe().ok()?).ok()?).ok()?;
    Some(hasher.finalize().to_hex().as_str()[..16].to_string())
}

/// The commit that the program was built from: the one given to the build (`LAKEWARD_COMMIT`), otherwise the one checked out in the
/// clone that contains the program's file.
pub fn commit() -> Option<String> {
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
