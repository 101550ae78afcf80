//! MinHash and LSH alone: what the sketches find without rereading values.
//!
//! An LSH ensemble ([`lakeward_index::lsh`]) over the folded values of every column proposes columns that probably
//! contain at least [`THRESHOLD`] of a query column's values; they are ranked by the containment estimated from both
//! signatures. A whole table is scored by the mean over its columns of the best estimate in the table. Memory: 1 KiB per
//! column for the signature; the trees are in a temporary file with 2 KiB per column.

use tempfile::TempDir;

use super::cell_form::CellForm;
use super::{Method, PlainQuery, PlainTable};
use lakeward_core::error::{Error, Result};
use lakeward_index::lsh::{LshBuilder, LshIndex, LshParams};
use lakeward_index::segment::{SegmentFile, SegmentKind, SegmentWriter};
use lakeward_sketch::minhash::{self, MinHash};

/// The minimum containment, as in the published LSH Ensemble figures.
const THRESHOLD: f64 = 0.3;
const KIND: SegmentKind = SegmentKind(*b"BASE");
const VERSION: u32 = 1;

/// A lake to be ranked by MinHash estimates of LSH candidates.
#[derive(Default)]
pub(super) struct MinHashLsh {
    tables: usize,
    columns: Vec<Signed>,
    open: Option<Open>,
}

struct Signed {
    table: u32,
    values: u64,
    signature: MinHash,
}

struct Open {
    index: LshIndex,
    /// Removed when dropped; the index maps a file in it.
    _folder: TempDir,
}

impl Method for MinHashLsh {
    fn add(&mut self, table: &PlainTable) -> Result<()> {
        for cells in &table.columns {
            let values = CellForm::Folded.hashes(cells);
            let signature = MinHash::of(&values);
            self.columns.push(Signed { table: self.tables as u32, values: values.len() as u64, signature });
        }
        self.tables += 1;
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let mut builder = LshBuilder::new(LshParams::default())?;
        for (number, column) in self.columns.iter().enumerate() {
            builder.add(number as u32, column.values, &column.signature);
        }
        let place = std::env::temp_dir();
        let folder = tempfile::tempdir().map_err(|source| Error::io("create", &place, source))?;
        let path = folder.path().join("lsh.seg");
        let mut writer = SegmentWriter::create(&path, KIND, VERSION)?;
        builder.write(&mut writer)?;
        writer.finish()?;
        let index = LshIndex::open(&SegmentFile::open(&path, KIND, VERSION)?)?;
        self.open = Some(Open { index, _folder: folder });
        Ok(())
    }

    fn scores(&self, query: &PlainQuery<'_>) -> Result<Vec<f64>> {
        let mut scores: Vec<f64> = vec![0.0; self.tables];
        let Some(open) = &self.open else { return Ok(scores) };
        let columns = query.columns();
        let query_columns = columns.len().max(1) as f64;
        for (_, cells) in columns {
            let values = CellForm::Folded.hashes(cells);
            let signature = MinHash::of(&values);
            let mut found = Vec::new();
            open.index.query(values.len() as u64, &signature, THRESHOLD, &mut found)?;
            let mut best: Vec<f64> = vec![0.0; self.tables];
            for number in found {
                let column = &self.columns[number as usize];
                let jaccard = signature.jaccard(&column.signature);
                let containment = minhash::containment(jaccard, values.len() as u64, column.values);
                let best = &mut best[column.table as usize];
                *best = best.max(containment);
            }
            scores.iter_mut().zip(best).for_each(|(score, best)| *score += best / query_columns);
        }
        Ok(scores)
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain_table::tests::table;
    use super::*;

    #[test]
    fn containing_columns_are_found_and_estimated() {
        let cells: Vec<String> = (0..100).map(|at| format!("city {at}")).collect();
        let rows =
            |range: std::ops::Range<usize>| cells[range].iter().map(|cell| vec![cell.as_str()]).collect::<Vec<_>>();
        let one = |id: &str, range| {
            let rows = rows(range);
            let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
            table(id, &["city"], &rows)
        };
        let mut method = MinHashLsh::default();
        for (id, range) in [("all", 0..100), ("half", 0..25), ("none", 60..100)] {
            method.add(&one(id, range)).expect("a table");
        }
        method.add(&PlainTable::default()).expect("a table without columns");
        method.finish().expect("finished");
        let query = one("q", 0..50);
        let query = PlainQuery { table: Some(&query), column: Some(0), ..PlainQuery::default() };
        let scores = method.scores(&query).expect("scores");
        assert!((scores[0] - 1.0).abs() < 0.15 && (scores[1] - 0.5).abs() < 0.15, "{scores:?}");
        assert!(scores[2] < 0.1 && scores[3] == 0.0, "{scores:?}");
    }
}
