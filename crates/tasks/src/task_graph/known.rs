//! The names by which documents may call the datasets of a lake, for the extraction.

use super::dataset::DatasetRecord;
use super::verdicts::{Decision, Named, Verdicts};
use crate::papers::extract::{KnownDatasets, KnownRecord};

/// The titles of `records`, and the names that verdicts of the user or of a model map to one of them. The rules' verdicts are left
/// out: they follow from the names in the documents, so results would depend on earlier results.
pub fn known_datasets(records: &[DatasetRecord], verdicts: &Verdicts) -> KnownDatasets {
    let texts: Vec<String> = records.iter().map(DatasetRecord::text).collect();
    let known = records.iter().zip(&texts).map(|(record, text)| KnownRecord {
        id: &record.id,
        title: &record.title,
        description: text.strip_prefix(record.title.as_str()).unwrap_or(text),
    });
    let lasting = verdicts.lasting();
    let mut aliases: Vec<(&str, &str)> = Vec::new();
    for verdict in lasting.iter().filter(|verdict| verdict.decision == Decision::Same) {
        let (name, id) = match (&verdict.a, &verdict.b) {
            (Named::Name(name), Named::Record(id)) | (Named::Record(id), Named::Name(name)) => (name, id),
            _ => continue,
        };
        // Records are sorted by id.
        if let Ok(place) = records.binary_search_by(|record| record.id.as_str().cmp(id)) {
            aliases.push((name, &records[place].title));
        }
    }
    KnownDatasets::new(known, aliases.into_iter())
}
