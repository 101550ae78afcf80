//! The table a search starts from: a file outside the lake or a table of it, sketched and embedded like the lake's own.

use std::path::Path;
use std::sync::Arc;

use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_core::message;
use lakeward_core::message::{CLAUSES, Message};
use lakeward_index::overlap::QueryValues;
use lakeward_index::{LakeIndex, TableRef, encode};
use lakeward_lake::dataset::{Dataset, TableEntry};
use lakeward_lake::location::Location;
use lakeward_lake::profile::{self, ColumnProfile};
use lakeward_lake::reader::{self, ReadOptions};
use lakeward_lake::scan;
use lakeward_lake::source::{self, TableId};
use lakeward_models::embed::Embedder;
use lakeward_sketch::ColumnSketch;

/// A table to search with.
pub struct QueryTable {
    /// The lake's table it is, if it is one; it is never among its own answers.
    pub origin: Option<TableRef>,
    /// Its place in the whole index, where it is a table of the lake.
    pub place: Option<TableRef>,
    /// What a catalogue would say of it.
    pub entry: Arc<TableEntry>,
    /// Its columns.
    pub columns: Vec<QueryColumn>,
    /// Vector of its headers and values.
    pub content: Vec<f32>,
    /// Where its rows can be read again.
    pub path: std::path::PathBuf,
}

/// A column to search with.
pub struct QueryColumn {
    /// What is in it.
    pub profile: ColumnProfile,
    /// Its summary.
    pub sketch: ColumnSketch,
    /// Its value hashes.
    pub values: QueryValues,
    /// Its vector.
    pub vector: Vec<f32>,
    /// Whether it was computed of groups, such as a count or a total: it is the key of nothing, whatever its numbers agree with.
    pub is_figure: bool,
}

/// What an answer's reason adds where not all rows of the table it speaks of were read, or not all of the query's.
pub(super) fn sample_words(query: Option<&QueryTable>, entry: &TableEntry) -> Message {
    let own = query.and_then(|query| query.entry.report.sample);
    let own = own.map(|sample| message!("from a sample of yours: {}", sample.to_string()));
    let theirs = entry.report.sample.map(|sample| message!("from a sample: {}", sample.to_string()));
    Message::list(CLAUSES, theirs.into_iter().chain(own))
}

/// A table of the lake, of any of its shards.
pub struct InLake {
    /// Its place in the whole index.
    pub place: TableRef,
    /// Its number here; of another shard one that no table here has.
    pub table: TableRef,
    /// What the catalogue says of it.
    pub entry: Arc<TableEntry>,
}

impl InLake {
    /// The table with the id `id`, in whichever shard it is.
    ///
    /// # Errors
    /// [`Error::UnknownTable`] with the nearest ids; [`Error::Usage`] for a record; those of [`LakeIndex::gather`].
    pub fn find(index: &LakeIndex, id: &str) -> Result<Self> {
        let own = || {
            let Some(table) = index.get(id)? else { return Ok(None) };
            let entry = TableEntry::clone(&*index.table(table)?);
            Ok(Some((index.in_index(table), entry)))
        };
        let of_all = index.gather("the table", own, |_: &Option<(TableRef, TableEntry)>| true)?;
        if let Some((place, entry)) = of_all.into_iter().flatten().next() {
            let elsewhere = TableRef { segment: u32::MAX, table: u32::MAX };
            return Ok(Self { place, table: index.of_shard(place).unwrap_or(elsewhere), entry: Arc::new(entry) });
        }
        let own = || match index.find(id) {
            Err(Error::UnknownTable { nearest, .. }) => Ok(nearest),
            Err(error) => Err(error),
            Ok(_) => Err(Error::Internal("a table that was not there".into())),
        };
        let nearest = index.gather("names like the table's", own, |_: &Vec<String>| true)?.concat();
        let nearest = nearest_names(id, nearest.iter().map(String::as_str), 5);
        Err(Error::UnknownTable { name: id.to_string(), nearest })
    }
}

impl QueryTable {
    /// The table `name`: an id of the lake, else a file.
    ///
    /// # Errors
    /// [`Error::UnknownTable`] when it is neither; whatever reading it reports.
    pub fn resolve(index: &LakeIndex, lake: &Path, name: &str, embedder: &dyn Embedder) -> Result<Self> {
        let Some(table) = index.get(name)? else {
            let path = Path::new(name);
            // An unknown name is told with the nearest ones.
            if !Location::of(path).is_table() {
                index.find(name)?;
            }
            return Self::read(path, None, embedder);
        };
        Self::of_lake(lake, &InLake { place: index.in_index(table), table, entry: index.table(table)? }, embedder)
    }

    /// Reads a table of the lake.
    ///
    /// # Errors
    /// Those of [`QueryTable::read`].
    pub fn of_lake(lake: &Path, InLake { place, table, entry }: &InLake, embedder: &dyn Embedder) -> Result<Self> {
        // As much of it as the index knows.
        let rows = entry.report.sample.map(|sample| sample.rows);
        let path = entry.file(lake)?;
        let mut own = Self::read_rows(&path, rows, Some(*table), embedder)?;
        own.place = Some(*place);
        own.rename(entry.id.clone());
        let known = Arc::make_mut(&mut own.entry);
        (known.path, known.foreign_keys) = (entry.path.clone(), entry.foreign_keys.clone());
        Ok(own)
    }

    /// Calls the table `id`.
    pub fn rename(&mut self, id: TableId) {
        Arc::make_mut(&mut self.entry).id = id;
    }

    /// Reads the table in the file `path`.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Unreadable`].
    pub fn read(path: &Path, origin: Option<TableRef>, embedder: &dyn Embedder) -> Result<Self> {
        Self::read_rows(path, None, origin, embedder)
    }

    fn read_rows(
        path: &Path,
        max_rows: Option<u64>,
        origin: Option<TableRef>,
        embedder: &dyn Embedder,
    ) -> Result<Self> {
        let mut reader = reader::open_path(path, &ReadOptions { max_rows, ..ReadOptions::default() })?;
        let scan = scan::scan(reader.as_mut())?;
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let entry = Arc::new(TableEntry {
            id: TableId::new(name.clone()),
            path: name,
            read_bytes: scan.report.read_bytes,
            content: source::content_hash(path)?,
            citation: String::new(),
            metadata: None,
            profile: profile::profile(&scan),
            report: scan.report,
            foreign_keys: Vec::new(),
        });
        let dataset = Dataset::Table(Arc::clone(&entry));
        encode::prefetch(embedder, &dataset, &scan.sketches, 0);
        let content = encode::table_vectors(embedder, &dataset, &scan.sketches).content;
        let columns = entry
            .profile
            .columns
            .iter()
            .zip(scan.sketches)
            .map(|(profile, sketch)| QueryColumn {
                values: QueryValues::of(&sketch),
                vector: encode::column_vector(embedder, profile, &sketch),
                profile: profile.clone(),
                sketch,
                is_figure: false,
            })
            .collect();
        Ok(Self { origin, place: origin, columns, content, path: path.to_path_buf(), entry })
    }

    /// The places of the columns that `typed` names, as [`columns_named`].
    ///
    /// # Errors
    /// [`Error::UnknownColumn`] with the nearest names.
    pub fn columns_named(&self, typed: &[String]) -> Result<Vec<usize>> {
        columns_named(&self.entry, typed)
    }

    /// The place of the column called `name`; upper and lower case count only where they tell columns apart.
    ///
    /// # Errors
    /// [`Error::UnknownColumn`] with the nearest names.
    pub fn column(&self, name: &str) -> Result<usize> {
        column_named(&self.entry, name)
    }
}

/// The places of the columns of `table` that `typed` names: each item is the name of a column, else several names parted by
/// commas as in a line of CSV, where quotes keep a comma in a name.
///
/// # Errors
/// [`Error::UnknownColumn`] with the nearest names.
pub fn columns_named(table: &TableEntry, typed: &[String]) -> Result<Vec<usize>> {
    let mut places = Vec::with_capacity(typed.len());
    for item in typed {
        let unknown = match column_named(table, item) {
            Ok(place) => {
                places.push(place);
                continue;
            }
            Err(unknown) => unknown,
        };
        let mut lines = csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(item.as_bytes());
        let Some(Ok(names)) = lines.records().next() else { return Err(unknown) };
        for name in &names {
            places.push(column_named(table, name)?);
        }
    }
    Ok(places)
}

/// The place of the column of `table` called `name`; upper and lower case count only where they tell columns apart.
///
/// # Errors
/// [`Error::UnknownColumn`] with the nearest names.
pub fn column_named(table: &TableEntry, name: &str) -> Result<usize> {
    let columns = &table.profile.columns;
    let exact = columns.iter().position(|column| column.name == name);
    let folded = || {
        let mut same = columns.iter().enumerate().filter(|(_, column)| column.name.eq_ignore_ascii_case(name.trim()));
        match (same.next(), same.next()) {
            (Some((place, _)), None) => Some(place),
            _ => None,
        }
    };
    exact.or_else(folded).ok_or_else(|| {
        let names = columns.iter().map(|column| column.name.as_str());
        let mut nearest = nearest_names(name, names.clone(), 5);
        if nearest.is_empty() {
            nearest = names.take(5).map(str::to_string).collect();
        }
        Error::UnknownColumn { table: table.id.to_string(), name: name.to_string(), nearest }
    })
}
