//! Records as lines of JSON below a header line that names the format and its version: `{"lakeward_papers":1}`.
//!
//! Lines are appended; from time to time the whole file is rewritten. A last line without a line end was left by a killed writer: it is
//! dropped, and the file is rewritten before the next append. Any other invalid line is an error with its line number, or counted and
//! skipped, depending on the format. A file of another version is rejected and left unchanged.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::atomic::{AtomicFile, Purpose};
use super::bounds::Bounds;
use super::folder::{folder_of, make_folder};
use super::reader::{Line, LineEnd, LineReader};
use super::version::version_of;
use crate::error::{Error, Result};

/// How invalid lines are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// The file is rejected: nothing is dropped silently.
    Refused,
    /// They are counted and skipped.
    Counted,
}

/// A format of lines.
#[derive(Debug)]
pub struct LinesFormat {
    /// The key of the header line.
    pub name: &'static str,
    /// The version written and read.
    pub version: u64,
    /// The purpose of the file.
    pub purpose: Purpose,
    /// Limits on the file.
    pub bounds: Bounds,
    /// Maximum bytes of a line.
    pub longest_line: u64,
    /// Maximum number of lines.
    pub most_lines: usize,
    /// How invalid lines are handled.
    pub damage: Damage,
}

/// A record that can be a line.
pub trait LineRecord: Serialize + DeserializeOwned {
    /// Checks that this program could have written the record: other content may be hostile, and it is shown to people.
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
    /// Number of lines below the header.
    lines: usize,
    /// Number of those that are invalid.
    unread: usize,
}

impl JsonLines {
    /// Reads the file at `path`, if it exists, and passes each record to `take`.
    ///
    /// # Errors
    /// [`Error::Io`]; the format's error for a file of another version or format, beyond its limits, or with invalid lines where these are
    /// rejected.
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

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of lines below the header.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Number of invalid lines; 0 for formats that reject them.
    pub fn unread(&self) -> usize {
        self.unread
    }

    /// Whether lines can be appended; otherwise [`replace`](Self::replace) the file first.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Appends records. They survive a crash of this process when this returns, and a crash of the machine after [`JsonLines::sync`].
    ///
    /// # Errors
    /// [`Error::Io`] if writing fails; the file then ends as before, or with a partial line.
    pub fn append<R: LineRecord>(&mut self, records: &[R]) -> Result<()> {
        let failed = |error| Error::io("write", &self.path, error);
        if !self.is_whole {
            return Err(Error::Internal(format!(
                "`{}` cannot be appended to: its last line is incomplete",
                self.path.display()
            )));
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
            // If the partial line cannot be removed, the next write replaces the file.
            self.is_whole = file.set_len(before).is_ok();
            return Err(failed(error));
        }
        self.lines += records.len();
        Ok(())
    }

    /// Flushes appended lines to disk.
    ///
    /// # Errors
    /// [`Error::Io`] if writing fails.
    pub fn sync(&self) -> Result<()> {
        let Some(file) = &self.appending else { return Ok(()) };
        file.sync_data().map_err(|error| Error::io("write", &self.path, error))
    }

    /// Rewrites the file with exactly these records, all or nothing.
    ///
    /// # Errors
    /// [`Error::Io`] if writing fails; the file is unchanged then.
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
        match version_of(line, name).ok().flatten() {
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
        let record: R = serde_json::from_slice(line.bytes).map_err(|error| format!("not a record: {error}"))?;
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
