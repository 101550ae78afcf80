//! A baseline as a [`System`]: reads the query table, ranks, and removes the query's own table.

use super::{Baseline, BaselineKind, Documents, PlainQuery, PlainTable};
use crate::BenchQuery;
use crate::Ranked;
use crate::System;
use lakeward_core::error::Result;

/// A baseline with the documents it ranks.
pub struct BaselineSystem {
    baseline: Baseline,
}

impl BaselineSystem {
    /// Reads the documents.
    ///
    /// # Errors
    /// As [`Baseline::build`].
    pub fn build(kind: BaselineKind, documents: &Documents) -> Result<Self> {
        Ok(BaselineSystem { baseline: Baseline::build(kind, documents)? })
    }

    /// The baseline itself: with what it could and could not read.
    pub fn baseline(&self) -> &Baseline {
        &self.baseline
    }
}

/// The words of a query: of its request, and of a dialogue all turns so far.
fn words(query: &BenchQuery) -> Option<String> {
    let texts: Vec<&str> = query.text.iter().chain(&query.turns).map(String::as_str).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

impl System for BaselineSystem {
    fn name(&self) -> &str {
        self.baseline.kind().name()
    }

    fn rank(&self, query: &BenchQuery, depth: usize) -> Result<Vec<Ranked>> {
        let text = words(query);
        let table = query.table.as_ref().map(|path| PlainTable::read(path, query.id.as_str())).transpose()?;
        let column = match (&table, &query.column) {
            (Some(table), Some(name)) => Some(table.column(name)?),
            _ => None,
        };
        let plain = PlainQuery { text: text.as_deref(), table: table.as_ref(), column };
        // One more, in case the query's own table is among them.
        let ranking = self.baseline.rank(&plain, depth.saturating_add(usize::from(query.origin.is_some())))?;
        let others = ranking.into_iter().filter(|(id, _)| query.origin.as_deref() != Some(*id));
        Ok(others.take(depth).map(|(id, score)| Ranked::new(id, score)).collect())
    }

    fn answers(&self, query: &BenchQuery) -> bool {
        let has_text = query.text.is_some() || !query.turns.is_empty();
        self.baseline.kind().answers(has_text, query.table.is_some(), query.column.is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Task;

    #[test]
    fn the_own_table_is_no_answer() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("a file");
            path
        };
        let own = file("x.csv", "city,people\nOslo,700\nRome,2800\n");
        file("y.csv", "town,area\nOslo,454\nLima,2672\n");
        let documents = Documents { lake: Some(folder.path().to_path_buf()), corpus: None };
        let mut query = BenchQuery {
            id: "q".into(),
            task: Task::Join,
            table: Some(own),
            origin: Some("x".into()),
            column: Some("CITY".into()),
            columns: Vec::new(),
            text: None,
            turns: Vec::new(),
            exclude_paper: None,
        };
        for kind in BaselineKind::ALL {
            let system = BaselineSystem::build(kind, &documents).expect("a system");
            assert!(system.answers(&query), "{kind}");
            let ranking = system.rank(&query, 1).expect("a ranking");
            assert!(ranking.iter().all(|ranked| ranked.id == "y"), "{kind}: {ranking:?}");
            assert_eq!(ranking.len(), usize::from(kind != BaselineKind::HeaderJaccard), "{kind}");
        }
        query.column = Some("mayor".into());
        let system = BaselineSystem::build(BaselineKind::Containment, &documents).expect("a system");
        assert!(system.rank(&query, 1).is_err());
        let words = BenchQuery { table: None, column: None, turns: vec!["Lima".into(), "Oslo".into()], ..query };
        let bm25 = BaselineSystem::build(BaselineKind::Bm25, &documents).expect("a system");
        assert_eq!(bm25.rank(&words, 9).expect("a ranking")[0].id, "y");
        assert!(!system.answers(&words));
    }
}
