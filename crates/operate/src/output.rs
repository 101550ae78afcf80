//! Rows as a file of one format.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::rows::{CellForm, texts};
use lakeward_core::error::{Error, Result};
use lakeward_core::store::AtomicFile;

/// Rows of a row group at most.
const GROUP_ROWS: usize = 1 << 17;
/// Bytes of a row group that is being gathered at most.
const GROUP_BYTES: usize = 64 << 20;

/// Gives `file` its name, with `overwrite` in place of the one that had it; its length in bytes.
///
/// # Errors
/// [`Error::Io`]; [`Error::Usage`] where there is a file of that name.
pub fn finish(file: AtomicFile, overwrite: bool) -> Result<u64> {
    if overwrite {
        return file.replace();
    }
    let path = file.path().to_path_buf();
    file.claim()?.ok_or_else(|| exists(&path))
}

/// The refusal to write over `path`.
pub fn exists(path: &Path) -> Error {
    Error::usage(format!("`{}` exists already; choose another name, or say that it may be overwritten", path.display()))
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
        other => Error::usage(format!("the result cannot be written as Parquet: {other}")),
    }
}

fn csv_error(path: &Path, error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::io("save", path, error),
        other => Error::Internal(format!("{other:?}")),
    }
}
