//! Where the rows of a query are written: the terminal or a pipe, or a file, atomically.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use super::printer;
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{AtomicFile, Purpose};
use lakeward_operate::{exists, finish};

/// An output for rows.
pub enum RowSink {
    /// Standard output.
    Stdout,
    /// A file being written.
    File {
        output: AtomicFile,
        /// Whether it may replace an existing file.
        overwrite: bool,
    },
}

impl RowSink {
    /// A file at `path`, else standard output, which must not be a terminal for `binary` rows.
    ///
    /// # Errors
    /// [`Error::Usage`] for a terminal and for an existing file; [`Error::Io`] if the folder cannot be written to.
    pub fn open(path: Option<&Path>, overwrite: bool, binary: bool) -> Result<Self> {
        let Some(path) = path else {
            if binary && io::stdout().is_terminal() {
                return Err(Error::usage(
                    "Parquet cannot be printed on a terminal; write it to a file with `--out FILE`, or into a pipe",
                ));
            }
            return Ok(RowSink::Stdout);
        };
        if !overwrite && path.symlink_metadata().is_ok() {
            return Err(exists(path));
        }
        Ok(RowSink::File { output: AtomicFile::create(path, Purpose::Output)?, overwrite })
    }

    /// Whether it is a file.
    pub fn is_file(&self) -> bool {
        matches!(self, RowSink::File { .. })
    }

    /// Its name in errors.
    pub fn path(&self) -> &Path {
        match self {
            RowSink::Stdout => Path::new("standard output"),
            RowSink::File { output, .. } => output.path(),
        }
    }

    /// Writes whole lines.
    pub fn lines(&self, lines: &[u8]) -> Result<()> {
        self.bytes()?.write_all(lines).map_err(|error| Error::io("save", self.path(), error))
    }

    /// A writer of bytes.
    pub fn bytes(&self) -> Result<SinkBytes> {
        Ok(match self {
            RowSink::Stdout => SinkBytes::Stdout,
            RowSink::File { output, .. } => SinkBytes::File(output.handle()?),
        })
    }

    /// Renames the file to its final name; returns its size, if it is a file.
    pub fn finish(self) -> Result<Option<u64>> {
        match self {
            RowSink::Stdout => Ok(None),
            RowSink::File { output, overwrite } => finish(output, overwrite).map(Some),
        }
    }
}

/// A writer of bytes to a [`RowSink`].
pub enum SinkBytes {
    /// Standard output.
    Stdout,
    File(File),
}

impl Write for SinkBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            SinkBytes::Stdout => printer::data(bytes),
            SinkBytes::File(file) => return file.write(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            SinkBytes::Stdout => Ok(()),
            SinkBytes::File(file) => file.flush(),
        }
    }
}
