//! Where the rows of a query go: to the terminal or a pipe, or to a file that appears whole or not at all.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use super::printer;
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{AtomicFile, Purpose};
use lakeward_operate::{exists, finish};

/// A place for rows.
pub enum RowSink {
    /// Standard output.
    Stdout,
    /// A file on its way.
    File {
        /// The file.
        output: AtomicFile,
        /// Whether it may replace one that is there.
        overwrite: bool,
    },
}

impl RowSink {
    /// A file at `path`, else standard output, which has to be no terminal for rows that are `binary`.
    ///
    /// # Errors
    /// [`Error::Usage`] for a terminal and for a file that is there; [`Error::Io`] where the folder cannot be written to.
    pub fn open(path: Option<&Path>, overwrite: bool, binary: bool) -> Result<Self> {
        let Some(path) = path else {
            if binary && io::stdout().is_terminal() {
                return Err(Error::Usage(
                    "Parquet is not for terminals; write it to a file with `--out FILE`, or into a pipe".into(),
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

    /// What errors call it.
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

    /// To write bytes to, one after the other.
    pub fn bytes(&self) -> Result<SinkBytes> {
        Ok(match self {
            RowSink::Stdout => SinkBytes::Stdout,
            RowSink::File { output, .. } => SinkBytes::File(output.handle()?),
        })
    }

    /// Gives the file its name; its size, where it is one.
    pub fn finish(self) -> Result<Option<u64>> {
        match self {
            RowSink::Stdout => Ok(None),
            RowSink::File { output, overwrite } => finish(output, overwrite).map(Some),
        }
    }
}

/// Bytes on their way to a [`RowSink`].
pub enum SinkBytes {
    /// Standard output.
    Stdout,
    /// A file.
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
