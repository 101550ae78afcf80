//! Lines of a benchmark's text files, plain or `.zst`, of bounded length and number of bytes.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use lakeward_core::error::{Error, Result};
use lakeward_core::store::{LineEnd, LineReader};

/// Longest line that is read.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// Maximum number of bytes of a file, after decompression.
const MAX_BYTES: u64 = 16 << 30;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A line that is not empty.
pub struct Line<'a> {
    /// From 1.
    pub number: usize,
    /// Without its end.
    pub text: &'a str,
}

/// An error about line `number` of `path`.
pub fn bad_line(path: &Path, number: usize, reason: &str) -> Error {
    Error::Benchmark { path: path.to_path_buf(), line: Some(number), reason: reason.to_string() }
}

/// An error about `path` as a whole.
pub fn bad_file(path: &Path, reason: impl Into<String>) -> Error {
    Error::Benchmark { path: path.to_path_buf(), line: None, reason: reason.into() }
}

/// Passes every non-empty line of `path` to `take`. Invalid UTF-8 is replaced.
///
/// # Errors
/// [`Error::Io`], [`Error::Benchmark`] for a file or a line that is too long, and errors of `take`.
pub fn read_lines(path: &Path, mut take: impl FnMut(&Line<'_>) -> Result<()>) -> Result<()> {
    let io = |source| Error::io("read", path, source);
    let mut reader = LineReader::new(open(path)?, MAX_LINE_BYTES);
    while let Some(line) = reader.next_line().map_err(io)? {
        let number = line.number;
        if line.end == LineEnd::TooLong {
            return Err(bad_line(path, number, &format!("the line is longer than {} MB", MAX_LINE_BYTES >> 20)));
        }
        if line.at > MAX_BYTES {
            return Err(bad_file(path, format!("more than {} GB of text", MAX_BYTES >> 30)));
        }
        let bytes =
            if number == 1 { line.bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line.bytes) } else { line.bytes };
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches('\r');
        if !text.trim().is_empty() {
            take(&Line { number, text })?;
        }
    }
    Ok(())
}

/// The bytes of `path`, unpacked where it ends in `.zst`.
pub fn open(path: &Path) -> Result<Box<dyn Read>> {
    let io = |source| Error::io("read", path, source);
    let file = File::open(path).map_err(io)?;
    if path.extension().is_some_and(|extension| extension == "zst") {
        return Ok(Box::new(zstd::Decoder::new(file).map_err(io)?));
    }
    Ok(Box::new(file))
}

/// Passes every JSON object of `path`, one per line, to `take`.
///
/// # Errors
/// As [`read_lines`], and [`Error::Benchmark`] with the invalid line.
pub fn read_json<T: DeserializeOwned>(path: &Path, mut take: impl FnMut(usize, T) -> Result<()>) -> Result<()> {
    read_lines(path, |line| {
        let value = serde_json::from_str(line.text).map_err(|error| bad_line(path, line.number, &error.to_string()))?;
        take(line.number, value)
    })
}

/// `folder/name`, or `folder/name.zst`, whichever is a file.
pub fn file_of(folder: &Path, name: &str) -> Option<PathBuf> {
    [folder.join(name), folder.join(format!("{name}.zst"))].into_iter().find(|path| path.is_file())
}
