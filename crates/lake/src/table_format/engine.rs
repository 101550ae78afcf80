//! What delta_kernel reads a log through: the files below the table's folder, and Arrow's decoders of JSON and Parquet.
//!
//! Its own engine opens whatever address a log names, in memory that the log decides; here an address outside the folder is an
//! error, and so are a line of JSON and a vector of deletions beyond a limit. Nothing is ever written.

use std::fmt;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use arrow::json::ReaderBuilder;
use bytes::Bytes;
use delta_kernel::engine::arrow_conversion::TryFromArrow;
use delta_kernel::engine::arrow_data::ArrowEngineData;
use delta_kernel::engine::arrow_expression::ArrowEvaluationHandler;
use delta_kernel::engine::arrow_utils::{
    build_json_reorder_indices, fixup_json_read, fixup_parquet_read, json_arrow_schema, parquet_read_plan, parse_json,
};
use delta_kernel::engine::reader_options;
use delta_kernel::engine_data::FilteredEngineData;
use delta_kernel::schema::{SchemaRef, StructType};
use delta_kernel::{
    Engine, EngineData, EvaluationHandler, FileDataReadResultIterator, FileMeta, FileSize, FileSlice, JsonHandler,
    KernelError, KernelResult, KernelResultIterator, KernelResultIteratorStatic, ParquetFooter, ParquetHandler,
    PredicateRef, StorageHandler,
};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use url::Url;

use crate::source::unescaped;
use crate::storage::{self, File};

/// A log has folders of files below it, such as `_sidecars`.
const MOST_DEPTH: usize = 4;
/// A longer line of a log is an error; one file of a table takes some kilobytes.
const LONGEST_LINE_BYTES: u64 = 64 << 20;
/// Files that are read at once, which hold deletions, must not be larger.
const LARGEST_WHOLE_BYTES: u64 = 256 << 20;

/// The engine of one table.
pub(super) struct TableEngine {
    files: Arc<TableFiles>,
    evaluation: Arc<ArrowEvaluationHandler>,
}

impl TableEngine {
    /// The engine of the table in `folder`.
    ///
    /// # Errors
    /// Where there is no such folder.
    pub(super) fn new(folder: &Path) -> io::Result<TableEngine> {
        let files = Arc::new(TableFiles::new(folder)?);
        Ok(TableEngine { files, evaluation: Arc::new(ArrowEvaluationHandler) })
    }

    /// The table's folder as the kernel names it.
    pub(super) fn root(&self) -> &Url {
        &self.files.root
    }

    /// Where the file is that the log calls `name`; `None` outside of the table's folder.
    pub(super) fn path_of(&self, name: &str) -> Option<PathBuf> {
        self.files.path_of(&self.files.root.join(name).ok()?).ok()
    }
}

impl fmt::Debug for TableEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TableEngine").field(&self.files.folder).finish()
    }
}

impl Engine for TableEngine {
    fn evaluation_handler(&self) -> Arc<dyn EvaluationHandler> {
        self.evaluation.clone()
    }

    fn storage_handler(&self) -> Arc<dyn StorageHandler> {
        self.files.clone()
    }

    fn json_handler(&self) -> Arc<dyn JsonHandler> {
        self.files.clone()
    }

    fn parquet_handler(&self) -> Arc<dyn ParquetHandler> {
        self.files.clone()
    }
}

/// The files of one table.
#[derive(Clone)]
struct TableFiles {
    folder: PathBuf,
    root: Url,
}

impl TableFiles {
    fn new(folder: &Path) -> io::Result<TableFiles> {
        let folder = storage::canonical(folder)?;
        let no_address = |()| io::Error::other("its path is no address");
        let root = match folder.to_str().filter(|_| storage::Address::is(&folder)) {
            None => Url::from_directory_path(&folder).map_err(no_address)?,
            Some(address) => {
                let (store, below) = address.split_at(address.find("://").map_or(0, |at| at + 3));
                let (host, below) = below.split_once('/').unwrap_or((below, ""));
                let mut root = Url::parse(&format!("{store}{host}/")).map_err(io::Error::other)?;
                root.path_segments_mut()
                    .map_err(no_address)?
                    .pop_if_empty()
                    .extend(below.trim_matches('/').split('/'))
                    .push("");
                root
            }
        };
        Ok(TableFiles { folder, root })
    }

    fn path_of(&self, url: &Url) -> KernelResult<PathBuf> {
        let outside = || KernelError::generic(format!("`{url}` is outside of the table's folder"));
        let is_of_store = url.scheme() == self.root.scheme() && url.authority() == self.root.authority();
        let plain = |url: &Url| match url.scheme() {
            "file" => url.to_file_path().ok(),
            _ => Some(unescaped(url.path())),
        };
        let (path, root) = plain(url).filter(|_| is_of_store).zip(plain(&self.root)).ok_or_else(outside)?;
        let below = path.strip_prefix(root).map_err(|_| outside())?;
        let is_plain = below.components().all(|part| matches!(part, Component::Normal(_)));
        if is_plain { Ok(self.folder.join(below)) } else { Err(outside()) }
    }

    /// The address of a file below the folder, as the kernel writes it.
    fn url_of(&self, path: &Path) -> Option<Url> {
        let below = path.strip_prefix(&self.folder).ok()?;
        let mut url = self.root.clone();
        let names: Option<Vec<&str>> = below.components().map(|part| part.as_os_str().to_str()).collect();
        url.path_segments_mut().ok()?.pop_if_empty().extend(names?);
        Some(url)
    }

    fn open(&self, url: &Url) -> KernelResult<File> {
        let path = self.path_of(url)?;
        if !storage::metadata(&path).map_err(|error| not_read(url, &error))?.is_file() {
            return Err(KernelError::generic(format!("`{url}` is not a regular file")));
        }
        File::open(&path).map_err(|error| not_read(url, &error))
    }

    /// The bytes of a file, or of a part of it.
    fn read(&self, url: &Url, range: Option<Range<u64>>) -> KernelResult<Bytes> {
        let mut file = self.open(url)?;
        let range = range.unwrap_or(0..u64::MAX);
        let most = range.end.saturating_sub(range.start).min(LARGEST_WHOLE_BYTES + 1);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(range.start)).map_err(|error| not_read(url, &error))?;
        file.take(most).read_to_end(&mut bytes).map_err(|error| not_read(url, &error))?;
        match bytes.len() as u64 {
            ..=LARGEST_WHOLE_BYTES => Ok(bytes.into()),
            _ => Err(KernelError::generic(format!("`{url}` is larger than {} MB", LARGEST_WHOLE_BYTES >> 20))),
        }
    }

    fn meta(&self, url: Url, path: &Path) -> KernelResult<FileMeta> {
        let meta = storage::metadata(path).map_err(|error| not_read(&url, &error))?;
        let last_modified = i64::try_from(meta.changed_ns() / 1_000_000).unwrap_or(i64::MAX);
        Ok(FileMeta::new(url, last_modified, meta.len()))
    }

    fn list(&self, folder: &Path, depth: usize, found: &mut Vec<FileMeta>) -> KernelResult<()> {
        let entries = match storage::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(KernelError::generic(error.to_string())),
        };
        for entry in entries {
            let path = entry.map_err(|error| KernelError::generic(error.to_string()))?;
            if storage::is_dir(&path) {
                if depth < MOST_DEPTH {
                    self.list(&path, depth + 1, found)?;
                }
            } else if let Some(url) = self.url_of(&path)
                && storage::is_file(&path)
            {
                found.push(self.meta(url, &path)?);
            }
        }
        Ok(())
    }
}

fn not_read(url: &Url, error: &io::Error) -> KernelError {
    match error.kind() {
        io::ErrorKind::NotFound => KernelError::FileNotFound(url.to_string()),
        _ => KernelError::generic(format!("cannot read `{url}`: {error}")),
    }
}

fn read_only<T>() -> KernelResult<T> {
    Err(KernelError::unsupported("tables of a lake are only read"))
}

impl StorageHandler for TableFiles {
    fn list_from(&self, path: &Url) -> KernelResult<KernelResultIteratorStatic<FileMeta>> {
        let from = self.path_of(path)?;
        let is_folder = path.path().ends_with('/');
        let folder = if is_folder { Some(from.as_path()) } else { from.parent() };
        let mut found = Vec::new();
        self.list(folder.unwrap_or(&self.folder), 0, &mut found)?;
        found.retain(|file| is_folder || file.location.path() > path.path());
        found.sort_unstable_by(|a, b| a.location.path().cmp(b.location.path()));
        Ok(Box::new(found.into_iter().map(Ok)))
    }

    fn read_files(&self, files: Vec<FileSlice>) -> KernelResult<KernelResultIteratorStatic<Bytes>> {
        let table = self.clone();
        Ok(Box::new(files.into_iter().map(move |(url, range)| table.read(&url, range))))
    }

    fn copy_atomic(&self, _: &Url, _: &Url) -> KernelResult<()> {
        read_only()
    }

    fn put(&self, _: &Url, _: Bytes, _: bool) -> KernelResult<()> {
        read_only()
    }

    fn head(&self, path: &Url) -> KernelResult<FileMeta> {
        self.meta(path.clone(), &self.path_of(path)?)
    }

    fn delete(&self, _: &Url) -> KernelResult<()> {
        read_only()
    }
}

impl JsonHandler for TableFiles {
    fn parse_json(&self, texts: Box<dyn EngineData>, schema: SchemaRef) -> KernelResult<Box<dyn EngineData>> {
        parse_json(texts, schema)
    }

    fn read_json_files(
        &self,
        files: &[FileMeta],
        schema: SchemaRef,
        _: Option<PredicateRef>,
    ) -> KernelResult<FileDataReadResultIterator> {
        let (table, shape) = (self.clone(), Arc::new(json_arrow_schema(&schema)?));
        let order: Arc<[_]> = build_json_reorder_indices(&schema)?.into();
        let read = move |file: FileMeta| {
            let lines = BufReader::new(LimitedLines::new(table.open(&file.location)?));
            let rows = ReaderBuilder::new(shape.clone()).with_coerce_primitive(true).build(lines)?;
            let (name, order) = (file.location.to_string(), order.clone());
            Ok(rows.map(move |rows| fixup_json_read(rows?, &order, &name)))
        };
        Ok(one_after_the_other(files, read))
    }

    fn write_json_file(
        &self,
        _: &Url,
        _: KernelResultIterator<'_, FilteredEngineData>,
        _: bool,
    ) -> KernelResult<FileSize> {
        read_only()
    }
}

impl ParquetHandler for TableFiles {
    fn read_parquet_files(
        &self,
        files: &[FileMeta],
        schema: SchemaRef,
        _: Option<PredicateRef>,
    ) -> KernelResult<FileDataReadResultIterator> {
        let table = self.clone();
        let read = move |file: FileMeta| {
            let opened = table.open(&file.location)?;
            let metadata = ArrowReaderMetadata::load(&opened, reader_options())?;
            let (order, mask) = parquet_read_plan(&schema, &metadata)?;
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(opened, metadata);
            let builder = match mask {
                Some(mask) => builder.with_projection(mask),
                None => builder,
            };
            let (name, schema) = (file.location.to_string(), schema.clone());
            let rows = builder.build()?;
            Ok(rows.map(move |rows| fixup_parquet_read(rows?, &order, None, Some(&name), Some(&schema))))
        };
        Ok(one_after_the_other(files, read))
    }

    fn write_parquet_file(&self, _: Url, _: KernelResultIteratorStatic<Box<dyn EngineData>>) -> KernelResult<FileSize> {
        read_only()
    }

    fn read_parquet_footer(&self, file: &FileMeta) -> KernelResult<ParquetFooter> {
        let metadata = ArrowReaderMetadata::load(&self.open(&file.location)?, reader_options())?;
        Ok(ParquetFooter { schema: Arc::new(StructType::try_from_arrow(metadata.schema().as_ref())?) })
    }
}

/// The batches of all `files`, each of which is opened when the one before has ended.
fn one_after_the_other<I>(
    files: &[FileMeta],
    read: impl Fn(FileMeta) -> KernelResult<I> + Send + 'static,
) -> FileDataReadResultIterator
where
    I: Iterator<Item = KernelResult<ArrowEngineData>> + Send + 'static,
{
    let files: Vec<FileMeta> = files.to_vec();
    let batches = files.into_iter().flat_map(move |file| -> FileDataReadResultIterator {
        match read(file) {
            Ok(batches) => Box::new(batches.map(|batch| Ok(Box::new(batch?) as Box<dyn EngineData>))),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    });
    Box::new(batches)
}

/// Passes a text on, and fails at a line beyond the limit: a decoder keeps a line in memory until it has all of it.
struct LimitedLines<R> {
    input: R,
    line_bytes: u64,
}

impl<R> LimitedLines<R> {
    fn new(input: R) -> LimitedLines<R> {
        LimitedLines { input, line_bytes: 0 }
    }
}

impl<R: Read> Read for LimitedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.line_bytes = match memchr::memrchr(b'\n', &buffer[..count]) {
            Some(end) => (count - end) as u64,
            None => self.line_bytes + count as u64,
        };
        if self.line_bytes > LONGEST_LINE_BYTES {
            let reason = format!("a line longer than {} MB", LONGEST_LINE_BYTES >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(count)
    }
}
