//! Records as lines of JSON below a head that names the format and its version: `{"lakeward_papers":1}`.
//!
//! Lines are appended; the file is rewritten as a whole from time to time. A last line without an end is what a killed writer left:
//! it is dropped, and the file is rewritten before anything is appended to it. A line further up that is no record is refused with
//! its number, or counted and left out, as the format says. A file of another version is refused, and left as it is.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::atomic::{AtomicFile, Purpose};
use super::bounds::Bounds;
use super::folder::{folder_of, make_folder};
use super::reader::{Line, LineEnd, LineReader};
use crate::error::{Error, Result};

/// What becomes of a line that is no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// The file is refused: what it says is not dropped unseen.
    Refused,
    /// It is counted and left out.
    Counted,
}

/// A format of lines.
#[derive(Debug)]
pub struct LinesFormat {
    /// The key of the head.
    pub name: &'static str,
    /// The version that is written and read.
    pub version: u64,
    /// What the file is for.
    pub purpose: Purpose,
    /// Bounds of the file.
    pub bounds: Bounds,
    /// Bytes of a line at the most.
    pub longest_line: u64,
    /// Lines at the most.
    pub most_lines: usize,
    /// What becomes of damaged lines.
    pub damage: Damage,
}

/// A record that can be a line.
pub trait LineRecord: Serialize + DeserializeOwned {
    /// Whether this program could have written it: what somebody else put there is shown to people.
    ///
    /// # Errors
    /// Why not, in one clause.
    fn check(&self) -> Result<(), String>;
}

/// A file of lines.
#[derive(Debug)]
pub struct JsonLines {
    format: &'static LinesFormat,
    path: PathBuf,
    appending: Option<File>,
    /// Whether lines can be appended: there is a file, and its last line has an end.
    is_whole: bool,
    /// Lines below the head.
    lines: usize,
    /// Of them, those that are no records.
    unread: usize,
}

impl JsonLines {
    /// Reads the file at `path`, where there is one, and hands each record to `take`.
    ///
    /// # Errors
    /// [`Error::Io`]; the format's error for a file of another version, for one that is not of this format, beyond its bounds, or
    /// damaged where that is refused.
    pub fn open<R: LineRecord>(path: &Path, format: &'static LinesFormat, mut take: impl FnMut(R)) -> Result<Self> {
        let mut opened =
            Self { format, path: path.to_path_buf(), appending: None, is_whole: false, lines: 0, unread: 0 };
        let Some(file) = format.bounds.open(path)? else { return Ok(opened) };
        let mut reader = LineReader::new(file, format.longest_line);
        let failed = |error| Error::io("read", path, error);
        match reader.next_line().map_err(failed)? {
            Some(head) if head.end == LineEnd::Cut && format.damage == Damage::Counted => return Ok(opened),
            Some(head) => {
                opened.check_head(head.bytes)?;
                opened.is_whole = head.end == LineEnd::Whole;
            }
            None if format.damage == Damage::Counted => return Ok(opened),
            None => return Err(opened.damaged(1, "the file is empty")),
        }
        while let Some(line) = reader.next_line().map_err(failed)? {
            if line.end == LineEnd::Cut {
                opened.is_whole = false;
                break;
            }
            if opened.lines >= format.most_lines {
                return Err(opened.damaged(line.number, "too many lines"));
            }
            opened.lines += 1;
            match opened.record(&line) {
                Ok(record) => take(record),
                Err(_) if format.damage == Damage::Counted => opened.unread += 1,
                Err(reason) => return Err(opened.damaged(line.number, &reason)),
            }
        }
        Ok(opened)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lines below the head.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Lines that are no records; none where they are refused.
    pub fn unread(&self) -> usize {
        self.unread
    }

    /// Whether lines can be appended; else the file has to be [replaced](Self::replace) first.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Appends records; they survive this process when this returns, and a failure of the machine after [`JsonLines::sync`].
    ///
    /// # Errors
    /// [`Error::Io`] when the disk refuses; the file ends as it did before, or has a last line without an end.
    pub fn append<R: LineRecord>(&mut self, records: &[R]) -> Result<()> {
        let failed = |error| Error::io("write", &self.path, error);
        if !self.is_whole {
            return Err(Error::Internal(format!("`{}` is appended to before it is whole", self.path.display())));
        }
        let mut bytes = Vec::new();
        for record in records {
            bytes.extend(line_of(record)?);
        }
        let file = match &mut self.appending {
            Some(file) => file,
            None => self.appending.insert(OpenOptions::new().append(true).open(&self.path).map_err(failed)?),
        };
        let before = file.metadata().map_err(failed)?.len();
        if let Err(error) = file.write_all(&bytes) {
            // Half a line may be there: where it cannot be taken away, the next to write replaces the file.
            self.is_whole = file.set_len(before).is_ok();
            return Err(failed(error));
        }
        self.lines += records.len();
        Ok(())
    }

    /// What was appended is on the disk when this returns.
    ///
    /// # Errors
    /// [`Error::Io`] when the disk refuses.
    pub fn sync(&self) -> Result<()> {
        let Some(file) = &self.appending else { return Ok(()) };
        file.sync_data().map_err(|error| Error::io("write", &self.path, error))
    }

    /// Writes the file anew with these records and no others: all of it or nothing.
    ///
    /// # Errors
    /// [`Error::Io`] when the disk refuses; the file is what it was then.
    pub fn replace<'a, R: LineRecord + 'a>(&mut self, records: impl IntoIterator<Item = &'a R>) -> Result<()> {
        self.appending = None;
        make_folder(folder_of(&self.path))?;
        let mut file = AtomicFile::create(&self.path, self.format.purpose)?;
        let LinesFormat { name, version, .. } = self.format;
        file.put(format!("{{\"{name}\":{version}}}\n").as_bytes())?;
        let mut lines = 0;
        for record in records {
            file.put(&line_of(record)?)?;
            lines += 1;
        }
        file.replace()?;
        (self.is_whole, self.lines, self.unread) = (true, lines, 0);
        Ok(())
    }

    fn check_head(&self, line: &[u8]) -> Result<()> {
        let LinesFormat { name, version, .. } = self.format;
        let head: Option<serde_json::Value> = serde_json::from_slice(line).ok();
        match head.as_ref().and_then(|head| head.get(name)?.as_u64()) {
            Some(found) if found == *version => Ok(()),
            Some(found) => {
                Err(self.damaged(1, &format!("format version {found}; this program reads version {version}")))
            }
            None => Err(self.damaged(1, &format!("it does not begin with `{{\"{name}\":{version}}}`"))),
        }
    }

    fn record<R: LineRecord>(&self, line: &Line<'_>) -> Result<R, String> {
        if line.end == LineEnd::TooLong {
            return Err(format!("longer than {} KB", self.format.longest_line >> 10));
        }
        let record: R = serde_json::from_slice(line.bytes).map_err(|error| format!("no record: {error}"))?;
        record.check()?;
        Ok(record)
    }

    fn damaged(&self, line: usize, reason: &str) -> Error {
        (self.format.bounds.damaged)(&self.path, format!("line {line}: {reason}"))
    }
}

fn line_of<R: Serialize>(record: &R) -> Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record).map_err(|error| Error::Internal(error.to_string()))?;
    line.push(b'\n');
    Ok(line)
}
