//! Files that appear whole or not at all.
//!
//! Rows go to a temporary file in the folder of the one that is meant, which takes its name only when all are written and
//! flushed; whatever happens before, nothing is left behind.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use tempfile::NamedTempFile;

use super::rows::{CellForm, texts};
use lakeward_core::error::{Error, Result};

/// Begin of the names of temporary files.
const UNFINISHED: &str = ".lakeward-unfinished-";
/// Rows of a row group at most.
const GROUP_ROWS: usize = 1 << 17;
/// Bytes of a row group that is being gathered at most.
const GROUP_BYTES: usize = 64 << 20;

/// A file on its way.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    file: NamedTempFile,
}

impl Output {
    /// A file that will lie at `path`.
    ///
    /// # Errors
    /// [`Error::Io`] where the folder cannot be written to.
    pub fn create(path: &Path) -> Result<Self> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file, less what the user's mask takes away; temporary files are their owner's only.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder).map_err(|error| Error::io("save", path, error))?;
        Ok(Self { path: path.to_path_buf(), file })
    }

    /// The file to write to.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn handle(&self) -> Result<File> {
        self.file.as_file().try_clone().map_err(|error| self.failed(error))
    }

    /// Gives the file its name; with `overwrite` in place of the one that had it.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Usage`] where there is a file of that name.
    pub fn finish(self, overwrite: bool) -> Result<u64> {
        self.file.as_file().sync_all().map_err(|error| self.failed(error))?;
        let bytes = self.file.as_file().metadata().map_err(|error| self.failed(error))?.len();
        let path = self.path;
        let kept = if overwrite { self.file.persist(&path) } else { self.file.persist_noclobber(&path) };
        kept.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => exists(&path),
            _ => Error::io("save", &path, error.error),
        })?;
        // The name is in the folder, which is flushed apart.
        #[cfg(unix)]
        if let Some(folder) =
            path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
        {
            let folder = File::open(folder).map_err(|error| Error::io("save", &path, error))?;
            folder.sync_all().map_err(|error| Error::io("save", &path, error))?;
        }
        Ok(bytes)
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io("save", &self.path, error)
    }
}

/// The refusal to write over `path`.
pub fn exists(path: &Path) -> Error {
    Error::Usage(format!("`{}` exists already; choose another name, or say that it may be overwritten", path.display()))
}

/// Writes batches of rows in one format to `W`.
pub enum RowWriter<W: Write + Send> {
    /// Parquet, compressed with zstd.
    Parquet(Box<ArrowWriter<W>>),
    /// CSV in UTF-8 with a header; NULL is an empty cell.
    Csv(Box<csv::Writer<BufWriter<W>>>),
}

impl<W: Write + Send> RowWriter<W> {
    /// Writes Parquet of `schema` to `file`, which errors call `path`.
    ///
    /// # Errors
    /// [`Error::Usage`] for types that Parquet does not have.
    pub fn parquet(file: W, schema: &Arc<Schema>, path: &Path) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .build();
        let writer = ArrowWriter::try_new(file, Arc::clone(schema), Some(properties));
        Ok(RowWriter::Parquet(Box::new(writer.map_err(|error| parquet_error(path, error))?)))
    }

    /// Writes CSV of `schema` to `file`, the header first.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn csv(file: W, schema: &Arc<Schema>, path: &Path) -> Result<Self> {
        let mut writer = csv::Writer::from_writer(BufWriter::new(file));
        let names = schema.fields().iter().map(|field| field.name());
        writer.write_record(names).map_err(|error| csv_error(path, error))?;
        Ok(RowWriter::Csv(Box::new(writer)))
    }

    /// Writes the next rows.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Usage`] for types that the format does not have.
    pub fn write(&mut self, batch: &RecordBatch, path: &Path) -> Result<()> {
        match self {
            RowWriter::Parquet(writer) => {
                writer.write(batch).map_err(|error| parquet_error(path, error))?;
                if writer.in_progress_size() > GROUP_BYTES {
                    writer.flush().map_err(|error| parquet_error(path, error))?;
                }
                Ok(())
            }
            RowWriter::Csv(writer) => {
                for row in texts(batch, CellForm::Data)? {
                    writer.write_record(row).map_err(|error| csv_error(path, error))?;
                }
                Ok(())
            }
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// As [`RowWriter::write`].
    pub fn finish(self, path: &Path) -> Result<()> {
        match self {
            RowWriter::Parquet(writer) => writer.close().map(|_| ()).map_err(|error| parquet_error(path, error)),
            RowWriter::Csv(writer) => {
                let mut inner = writer.into_inner().map_err(|error| Error::io("save", path, error.into_error()))?;
                inner.flush().map_err(|error| Error::io("save", path, error))
            }
        }
    }
}

fn parquet_error(path: &Path, error: ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => Error::io("save", path, *error),
            Err(inner) => Error::Internal(inner.to_string()),
        },
        other => Error::Usage(format!("the result cannot be written as Parquet: {other}")),
    }
}

fn csv_error(path: &Path, error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::io("save", path, error),
        other => Error::Internal(format!("{other:?}")),
    }
}
