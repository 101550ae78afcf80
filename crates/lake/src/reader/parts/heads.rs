//! What the heads of the files of a table say of its columns, before rows are read: those of all files, and how files differ.

use arrow::datatypes::DataType;

use super::{COLUMNS_CHANGED, PartsSoFar, fault, is_empty, open_part};
use crate::layout::FileSet;
use crate::reader::report::ReadReport;
use crate::reader::typed::{declared_columns, wider};
use crate::reader::{Column, KnownColumns, ReadOptions};
use crate::table_format::Snapshot;
use lakeward_core::error::{Error, Result};

/// What is known of the columns before rows are read.
pub(super) struct Heads {
    pub fields: Vec<(Column, DataType)>,
    /// The files that can be opened, by place.
    pub readable: Vec<usize>,
    pub typed: bool,
    pub drift: Vec<String>,
    pub faults: Vec<String>,
    pub report: ReadReport,
}

impl Heads {
    /// The columns as a log declares them; whether its files can be opened shows when they are.
    pub fn declared(snapshot: &Snapshot, options: &ReadOptions) -> Result<Heads, String> {
        let mut report = ReadReport::default();
        let fields = declared_columns(&snapshot.columns, options, &mut report)?;
        let readable = (0..snapshot.files.len()).collect();
        Ok(Heads { fields, readable, typed: true, drift: Vec::new(), faults: Vec::new(), report })
    }

    /// The columns of all files that can be opened, or of the first where they are known; `options` then say how that is written. The first
    /// files are those of `known`.
    pub fn read(
        set: &FileSet,
        options: &mut ReadOptions,
        known: Option<(usize, &PartsSoFar)>,
        is_read: impl Fn(usize) -> bool,
    ) -> Result<Heads> {
        let (mut fields, mut first): (Vec<(Column, DataType)>, Option<ReadReport>) = (Vec::new(), None);
        let (mut drift, mut faults, mut first_fault, mut typed) = (Vec::new(), Vec::new(), None, false);
        let mut readable = Vec::new();
        if let Some((files, so_far)) = known {
            fields = so_far.fields().unwrap_or_default();
            first = Some(so_far.report.clone());
            (drift, typed) = (so_far.drift.clone(), so_far.typed);
            (options.header, options.delimiter) = (so_far.header, so_far.delimiter);
            readable.extend(0..files);
        }
        for (at, part) in set.parts.iter().enumerate().skip(readable.len()) {
            let reader = match open_part(set, part, options) {
                Ok(reader) => reader,
                Err(error) => {
                    if is_read(at) && !is_empty(part) {
                        faults.push(fault(&set.name_of(&part.path), &error));
                    }
                    first_fault.get_or_insert(error);
                    continue;
                }
            };
            readable.push(at);
            let types = reader.declared_types();
            let declared =
                |place: usize| types.as_ref().map_or(DataType::Utf8, |types| types.field(place).data_type().clone());
            let name = set.name_of(&part.path);
            if first.is_none() {
                typed = reader.is_typed();
                fields = reader
                    .columns()
                    .iter()
                    .enumerate()
                    .map(|(place, column)| (column.clone(), declared(place)))
                    .collect();
                // Every part is written alike.
                if let Some(dialect) = &reader.report().dialect {
                    (options.header, options.delimiter) = (Some(dialect.header), dialect.delimiter.map(|c| c as u8));
                }
                first = Some(reader.report().clone());
                if let Some(known) = &options.known {
                    if let KnownColumns::OfAll(columns) = known {
                        fields = known_fields(columns).ok_or_else(|| Error::unreadable(&part.path, COLUMNS_CHANGED))?;
                    }
                    // Whether the others can be opened, and have these columns, shows when they are.
                    readable.extend(at + 1..set.parts.len());
                    break;
                }
                continue;
            }
            let mut different: Vec<String> = Vec::new();
            for (place, column) in reader.columns().iter().enumerate() {
                match fields.iter_mut().find(|(known, _)| known.name == column.name) {
                    Some((_, known)) => {
                        let found = declared(place);
                        if *known != found {
                            different.push(format!("`{}` is {found} in place of {known}", column.name));
                            *known = wider(known, &found);
                        }
                    }
                    None => {
                        different.push(format!("`{}` is new", column.name));
                        fields.push((column.clone(), declared(place)));
                    }
                }
            }
            let has = |name: &str| reader.columns().iter().any(|column| column.name == name);
            different.extend(
                fields
                    .iter()
                    .filter(|(column, _)| !has(&column.name))
                    .map(|(column, _)| format!("no `{}`", column.name)),
            );
            if !different.is_empty() {
                drift.push(format!("{name}: {}", different.join(", ")));
            }
        }
        let Some(report) = first else {
            return Err(first_fault.unwrap_or_else(|| Error::unreadable(&set.path, "no table files in it")));
        };
        Ok(Heads { fields, readable, typed, drift, faults, report })
    }
}

/// A type as Arrow writes it; `None` where it is not read as it was written.
pub(super) fn type_written(kind: &str) -> Option<DataType> {
    let read: DataType = kind.parse().ok()?;
    (read.to_string() == kind).then_some(read)
}

fn known_fields(columns: &[(String, String)]) -> Option<Vec<(Column, DataType)>> {
    let field = |(name, kind): &(String, String)| {
        Some((Column { name: name.clone(), header: name.clone() }, type_written(kind)?))
    };
    columns.iter().map(field).collect()
}
