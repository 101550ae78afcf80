//! `qrels.txt` and `unjudged.txt`, as TREC writes them.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::lines::{bad_line, read_lines};
use crate::benchmark::{Grades, Problems};
use crate::run::unescaped;
use lakeward_core::error::Result;

/// Grades by query: `query-id 0 document-id grade`. For a repeated pair the last grade counts, and a problem is reported.
///
/// # Errors
/// [`lakeward_core::Error::Io`], [`lakeward_core::Error::Benchmark`] with the line.
pub fn read_qrels(path: &Path, problems: &mut Problems) -> Result<HashMap<String, Grades>> {
    let mut qrels: HashMap<String, Grades> = HashMap::new();
    read_lines(path, |line| {
        let bad = |reason: String| bad_line(path, line.number, &reason);
        let fields: Vec<&str> = line.text.split_ascii_whitespace().collect();
        let [query, _, document, grade] = fields[..] else {
            return Err(bad(format!("{} fields; a judgment has four: `query-id 0 document-id grade`", fields.len())));
        };
        let grade =
            grade_of(grade).ok_or_else(|| bad(format!("`{grade}` is not a grade: it must be a whole number")))?;
        if qrels.entry(unescaped(query)).or_default().insert(unescaped(document), grade).is_some() {
            let place = format!("{}:{}", path.display(), line.number);
            problems.add("judgments given twice; the last counts", &place);
        }
        Ok(())
    })?;
    Ok(qrels)
}

/// A whole number within ±1e6, also written as `2.0`.
pub(super) fn grade_of(text: &str) -> Option<i64> {
    let grade: f64 = text.parse().ok()?;
    (grade.fract() == 0.0 && grade.abs() <= 1e6).then_some(grade as i64)
}

/// Unjudged documents by query: `query-id document-id`.
///
/// # Errors
/// As [`read_qrels`].
pub fn read_unjudged(path: &Path) -> Result<HashMap<String, HashSet<String>>> {
    let mut unjudged: HashMap<String, HashSet<String>> = HashMap::new();
    read_lines(path, |line| {
        let fields: Vec<&str> = line.text.split_ascii_whitespace().collect();
        let [query, document] = fields[..] else {
            let reason = format!("{} fields; an unjudged pair has two: `query-id document-id`", fields.len());
            return Err(bad_line(path, line.number, &reason));
        };
        unjudged.entry(unescaped(query)).or_default().insert(unescaped(document));
        Ok(())
    })?;
    Ok(unjudged)
}
