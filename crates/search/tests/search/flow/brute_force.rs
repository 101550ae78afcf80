//! What indexes find, beside what a comparison of all values finds.

use super::*;

/// The distinct values of every column by brute force: table id → column name → normal-form hashes.
type Values = HashMap<(String, String), HashSet<u64>>;

fn all_values(lake: &Lake) -> Values {
    let mut values = Values::new();
    for table in lake.index.tables() {
        let entry = lake.index.table(table).expect("an entry");
        let columns = columns_of(&lake.folder.join(&entry.path));
        assert_eq!(columns.len(), entry.profile.columns.len(), "{}", entry.id);
        for (profile, (name, cells)) in entry.profile.columns.iter().zip(columns) {
            assert_eq!(profile.name, name, "{}", entry.id);
            values.insert((entry.id.to_string(), name), distinct(&cells, profile));
        }
    }
    values
}

/// The columns of a file: names and cells as the reader delivers them.
fn columns_of(path: &Path) -> Vec<(String, Vec<String>)> {
    let mut reader = reader::open_path(path, &ReadOptions::default()).expect("a table");
    let mut columns: Vec<(String, Vec<String>)> =
        reader.columns().iter().map(|column| (column.name.clone(), Vec::new())).collect();
    let options = FormatOptions::default().with_display_error(true);
    while let Some(batch) = reader.next_batch().expect("a batch") {
        for (array, (_, cells)) in batch.columns().iter().zip(&mut columns) {
            let formatter = ArrayFormatter::try_new(array, &options).expect("a printable type");
            cells.extend((0..array.len()).map(|row| match array.as_string_opt::<i32>() {
                _ if array.is_null(row) => String::new(),
                Some(texts) => texts.value(row).to_string(),
                None => formatter.value(row).to_string(),
            }));
        }
    }
    columns
}

/// Normal-form hashes of `cells`, read as the profile says.
fn distinct(cells: &[String], profile: &ColumnProfile) -> HashSet<u64> {
    let mut normaliser = Normaliser::new(profile.writing.clone());
    let hashes: Vec<u64> = cells.iter().map(|cell| normaliser.value(cell).hash).collect();
    assert_eq!(hashes.iter().filter(|hash| **hash == 0).count() as u64, profile.missing, "{}", profile.name);
    hashes.into_iter().filter(|hash| *hash != 0).collect()
}

/// Asks for the overlaps of every `step`th column with at least three values and compares them with brute force.
fn overlaps_agree_with_brute_force(lake: &Lake, step: usize) {
    const LEAST_VALUES: usize = 3;
    const THRESHOLDS: [f64; 3] = [0.3, 0.5, 0.8];
    let values = all_values(lake);
    let (mut expected, mut found) = ([0u64; 3], [0u64; 3]);
    let (mut asked, mut seen) = (0, 0);
    for table in lake.index.tables() {
        let query = lake.table(lake.index.id(table).expect("an id"));
        let id = lake.index.id(table).expect("an id").to_string();
        for column in &query.columns {
            let own = &values[&(id.clone(), column.profile.name.clone())];
            seen += usize::from(own.len() >= LEAST_VALUES);
            if own.len() < LEAST_VALUES || seen % step != 0 {
                continue;
            }
            asked += 1;
            let mut reported: HashMap<(String, String), u64> = HashMap::new();
            for (reference, overlap) in join::column_overlaps(&lake.index, column).expect("overlaps") {
                let columns = &lake.index.segment(reference.segment).expect("a segment").columns;
                let record = columns.record(reference.column).expect("a record");
                let theirs = lakeward_index::TableRef { segment: reference.segment, table: record.table };
                let key = (
                    lake.index.id(theirs).expect("an id").to_string(),
                    columns.name(record).expect("a name").to_string(),
                );
                let other = &values[&key];
                if overlap.exact {
                    let truth = (own.intersection(other).count() as u64, own.len() as u64, other.len() as u64);
                    let said = (overlap.shared, overlap.query_values, overlap.candidate_values);
                    assert_eq!(said, truth, "{id}.{} in {key:?}", column.profile.name);
                }
                reported.insert(key, overlap.shared);
            }
            for (key, other) in &values {
                let shared = if own.len() <= other.len() {
                    own.intersection(other).count()
                } else {
                    other.intersection(own).count()
                };
                let containment = shared as f64 / own.len() as f64;
                for (place, threshold) in THRESHOLDS.iter().enumerate() {
                    if containment >= *threshold {
                        expected[place] += 1;
                        found[place] += u64::from(reported.contains_key(key));
                    }
                }
            }
        }
    }
    println!("{asked} columns: found {found:?} of {expected:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(*found as f64 >= 0.99 * expected as f64, "{found} of {expected}");
    }
}

#[test]
fn join_candidates_are_those_of_brute_force() {
    overlaps_agree_with_brute_force(sample(), 1);
}

#[test]
fn join_candidates_are_those_of_brute_force_on_web_tables() {
    let Some(root) = std::env::var_os("LAKEWARD_BENCH") else {
        println!("skipped: LAKEWARD_BENCH is not set");
        return;
    };
    overlaps_agree_with_brute_force(&indexed(Path::new(&root).join("wiki-split/lake")), 20);
}
