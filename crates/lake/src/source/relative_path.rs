//! Paths below the root of a lake as they are written in listings and stamps, and the files that they mean.

use std::path::{Component, Path, PathBuf};

use crate::storage;
use lakeward_core::error::{Error, Result};

/// The part of `path` below `root`, escaped where it is not printable UTF-8.
pub(super) fn relative_name(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<String> = below.components().map(|part| escape_name(part.as_os_str().as_encoded_bytes())).collect();
    parts.join("/")
}

pub(crate) fn escape_name(name: &[u8]) -> String {
    let mut out = String::new();
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() {
                let mut bytes = [0; 4];
                character.encode_utf8(&mut bytes).bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
            } else {
                out.push(character);
            }
        }
        chunk.invalid().iter().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
    }
    out
}

/// The path of the file whose path below `root` is written `relative`, as [`LakeFile::relative`](super::LakeFile::relative) is.
///
/// # Errors
/// [`Error::Unreadable`] for a path that leads out of the lake; no listing contains one.
pub fn file_path(root: &Path, relative: &str) -> Result<PathBuf> {
    let plain = root.join(relative);
    let inside = Path::new(relative).components().all(|part| matches!(part, Component::Normal(_)));
    if !inside {
        return Err(Error::unreadable(&plain, "its path leads out of the lake"));
    }
    // A name may contain `%41` literally; it is an escape only if no such file exists.
    if !relative.contains('%') || storage::exists(&plain) {
        return Ok(plain);
    }
    // The name of a table in a file stays as it is written.
    let mut within = Path::new(relative).ancestors().skip(1);
    let file = within.find_map(|above| {
        let file = Some(root.join(above)).filter(|file| storage::is_file(file));
        let file =
            file.or_else(|| Some(root.join(unescaped(above.to_str()?))).filter(|file| storage::is_file(file)))?;
        Some(file.join(Path::new(relative).strip_prefix(above).ok()?))
    });
    Ok(file.unwrap_or_else(|| root.join(unescaped(relative))))
}

/// Decodes each `%XX`; everything else stays as it is.
pub(crate) fn unescaped(relative: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(relative.len());
    let mut rest = relative.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        PathBuf::from(std::ffi::OsString::from_vec(bytes))
    }
    #[cfg(not(unix))]
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}
