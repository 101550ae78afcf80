//! The list of the structures of a segment. Drafting, building, merging, opening, verifying and repairing are generated from it.

use std::collections::HashSet;
use std::path::Path;
use std::thread::{self, ScopedJoinHandle};

use super::build::BuildStep;
use super::columns::{Columns, ColumnsWriter};
use super::correlations::Correlations;
use super::facets::Facets;
use super::join::Join;
use super::lexical::Words;
use super::manifest::FileEntry;
use super::meanings::Meanings;
use super::structure::{
    FileFormat, Place, SegmentFiles, StoredTable, Structure, StructureWriter, TableContent, VectorShape,
};
use super::table_store::TableStore;
use super::table_vectors::Vectors;
use super::token_vectors::TokenVectors;
use super::tokens::Tokens;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Monitor;

macro_rules! structures {
    ($($(#[$doc:meta])+ $field:ident: $structure:ty,)+) => {
        /// The files that a segment may have.
        pub const FORMATS: &[FileFormat] = &[$(<$structure as Structure>::FORMAT),+];

        /// One opened segment.
        pub struct Segment {
            $($(#[$doc])+ pub $field: $structure,)+
            removed: HashSet<u32>,
        }

        impl Segment {
            /// Opens all structures of a segment.
            ///
            /// # Errors
            /// Those of [`Structure::open`].
            pub fn open(files: &SegmentFiles<'_>) -> Result<Self> {
                Ok(Self {
                    $($field: <$structure>::open(files)?,)+
                    removed: files.removed.iter().copied().collect(),
                })
            }

            /// Whether the size of every structure fits a segment with this many tables and columns.
            pub fn fits(&self, tables: usize, columns: usize) -> bool {
                $(self.$field.fits(tables, columns))&&+
            }
        }

        /// The drafts of all structures for one table.
        pub(super) struct Drafts {
            $($field: <$structure as Structure>::Draft,)+
        }

        impl Drafts {
            pub fn of(table: &TableContent<'_>) -> Result<Self> {
                Ok(Self { $($field: <$structure>::draft(table)?,)+ })
            }
        }

        /// The writers of all structures of one segment.
        pub(super) struct Writers {
            $($field: <$structure as Structure>::Writer,)+
        }

        impl Writers {
            pub fn create(folder: &Path, shape: VectorShape) -> Result<Self> {
                Ok(Self { $($field: StructureWriter::create(folder, shape)?,)+ })
            }

            pub fn push(&mut self, drafts: &Drafts, place: &Place) -> Result<()> {
                $(self.$field.push(&drafts.$field, place)?;)+
                Ok(())
            }

            pub fn push_stored(&mut self, from: &StoredTable<'_>, place: &Place) -> Result<()> {
                $(self.$field.push_stored(from, place)?;)+
                Ok(())
            }

            pub fn push_segment(&mut self, from: &Segment, number_of: &dyn Fn(u32) -> Option<u32>) -> Result<()> {
                $(self.$field.push_segment(from, number_of)?;)+
                Ok(())
            }

            /// Writes all files in parallel, as they are independent of each other: one is sorted while another waits for the disk. Of a
            /// segment that is only merged, what follows from the columns is that of none.
            pub fn finish(
                self,
                folder: &Path,
                columns: &ColumnsWriter,
                is_only_merged: bool,
                monitor: &dyn Monitor,
            ) -> Result<Vec<FileEntry>> {
                let none = &ColumnsWriter::default();
                thread::scope(|scope| {
                    $(let $field = scope.spawn(move || {
                        let is_left_out = is_only_merged && <$structure as Structure>::FOLLOWS_FROM_COLUMNS;
                        written::<$structure>(self.$field, folder, if is_left_out { none } else { columns }, monitor)
                    });)+
                    let files = [$(joined($field)),+];
                    files.into_iter().filter_map(Result::transpose).collect()
                })
            }
        }
    };
}

// In the order in which they are written: the longest work first.
structures! {
    /// The words of its tables.
    words: Words,
    /// Its tables.
    tables: TableStore,
    /// The facets of its tables and records.
    facets: Facets,
    /// The vectors of its columns and tables.
    vectors: Vectors,
    /// The lookup structures of its columns: values, names, signatures.
    join: Join,
    /// What goes with the keys of its tables.
    correlations: Correlations,
    /// Its columns.
    columns: Columns,
    /// What its tables are about, if a model that reads whole texts built it.
    meanings: Option<Meanings>,
    /// The vectors of the pieces of its texts, if a sentence model built it.
    token_vectors: Option<TokenVectors>,
    /// The word pieces of its titles and bodies.
    tokens: Tokens,
}

impl Segment {
    /// Whether table `table` is part of the snapshot.
    #[inline]
    pub fn is_live(&self, table: u32) -> bool {
        !self.removed.contains(&table)
    }

    /// Whether it has removed tables.
    pub fn has_removed(&self) -> bool {
        !self.removed.is_empty()
    }

    /// Its removed tables, in any order.
    pub fn struck_out(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.removed.iter().copied()
    }
}

fn written<S: Structure>(
    writer: S::Writer,
    folder: &Path,
    columns: &ColumnsWriter,
    monitor: &dyn Monitor,
) -> Result<Option<FileEntry>> {
    let name = S::FORMAT.name;
    let Some(stats) = writer.finish(folder, columns)? else { return Ok(None) };
    monitor.note(&BuildStep::Written(name).to_string());
    Ok(Some(S::FORMAT.entry(stats)))
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().map_err(|_| Error::Internal("a writer of the index panicked".into()))?
}
