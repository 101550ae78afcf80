//! The keys on which a table's figures can be brought together with those of other tables: single columns, and pairs such as country and
//! year; and the columns that are such figures. Both come from the profile alone, so the index and a search choose alike.

pub use super::composite_key::is_time;
use super::composite_key::{dimension_weight, is_unique};
use super::key_sample::{Measure, ValueColumn};
use super::profile::ColumnProfile;
use super::semantic::{LogicalType, SemanticType, Weakness};

/// A correlation over fewer keys than this is not worth a search.
pub const LEAST_KEYS: u64 = 25;
/// Most single key columns of a table.
const MOST_SINGLE: usize = 4;
/// Most pairs of key columns of a table.
const MOST_PAIRS: usize = 2;
/// Most columns of figures of a table.
const MOST_VALUES: usize = 256;
/// Labels beyond this number are names, not categories.
pub const MOST_LABELS: u64 = 255;
/// A pair of columns is a key only if this share of its possible combinations occurs, unless one of them is a time.
const LEAST_DENSITY: f64 = 0.05;

/// The keys of a table with these columns, each as places in ascending order: single columns, the likeliest first, then pairs.
pub fn keys(columns: &[ColumnProfile]) -> Vec<Vec<usize>> {
    let mut single: Vec<(f64, usize)> = columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.distinct >= LEAST_KEYS)
        .filter_map(|(place, column)| Some((key_weight(column)?, place)))
        .collect();
    let by_weight = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    single.sort_by(by_weight);
    single.truncate(MOST_SINGLE);
    let mut keys: Vec<Vec<usize>> = single.into_iter().map(|(_, place)| vec![place]).collect();
    keys.extend(pairs(columns));
    keys
}

/// How much a column says which thing a row is about, in 0..=1; `None` for figures, sentences and counters.
fn key_weight(column: &ColumnProfile) -> Option<f64> {
    if column.weakness == Some(Weakness::Counter) || column.missing * 2 > column.rows {
        return None;
    }
    let weight = match (column.logical, column.semantic?) {
        (LogicalType::Float | LogicalType::Boolean | LogicalType::Empty, _) => return None,
        (
            _,
            SemanticType::Country
            | SemanticType::CountryCode
            | SemanticType::UsState
            | SemanticType::Identifier
            | SemanticType::Code
            | SemanticType::Name,
        ) => 1.0,
        (_, SemanticType::Category | SemanticType::Email | SemanticType::Url) => 0.9,
        (_, SemanticType::Year | SemanticType::Time) => 0.8,
        (LogicalType::Integer, SemanticType::Measure) if is_unique(column) => 0.5,
        _ => return None,
    };
    Some(weight * (0.5 + 0.5 * column.uniqueness))
}

/// The likeliest pairs: a thing and a time, else two things most of whose combinations occur.
fn pairs(columns: &[ColumnProfile]) -> Vec<Vec<usize>> {
    let mut found: Vec<(f64, Vec<usize>)> = Vec::new();
    let parts: Vec<(usize, f64, &ColumnProfile)> = columns
        .iter()
        .enumerate()
        .filter_map(|(place, column)| Some((place, dimension_weight(column)?, column)))
        .filter(|(_, _, column)| column.logical != LogicalType::Boolean)
        .collect();
    for (number, (a, weight_a, first)) in parts.iter().enumerate() {
        for (b, weight_b, second) in &parts[number + 1..] {
            let combinations = first.distinct as f64 * second.distinct as f64;
            let density = (first.rows as f64 / combinations).min(1.0);
            let times = usize::from(is_time(first)) + usize::from(is_time(second));
            // With fewer possible combinations than half of the rows, they do not tell rows apart better than one column does.
            let tells_apart = 2.0 * combinations >= first.rows as f64 && combinations >= LEAST_KEYS as f64;
            if times == 2 || !tells_apart || times == 0 && density < LEAST_DENSITY {
                continue;
            }
            let thing_and_time = if times == 1 { 1.0 } else { 0.7 };
            found.push(((weight_a * weight_b).sqrt() * density.powf(0.2) * thing_and_time, vec![*a, *b]));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.into_iter().take(MOST_PAIRS).map(|(_, pair)| pair).collect()
}

/// The place among `key` of the column that says when, if exactly one does.
pub fn time_part(columns: &[ColumnProfile], key: &[usize]) -> Option<usize> {
    let mut times = key.iter().filter(|place| columns.get(**place).is_some_and(is_time));
    times.next().copied().filter(|_| times.next().is_none())
}

/// The columns of figures, dates and categories, in column order.
pub fn values(columns: &[ColumnProfile]) -> Vec<ValueColumn> {
    let is_value = |column: &ColumnProfile, measure: Measure| {
        column.distinct >= 2
            && match measure {
                Measure::Number => {
                    column.weakness != Some(Weakness::Counter) && column.semantic != Some(SemanticType::Identifier)
                }
                Measure::Label => column.distinct <= MOST_LABELS && column.semantic != Some(SemanticType::FreeText),
            }
    };
    let values = columns.iter().enumerate().filter_map(|(place, column)| {
        let measure = Measure::of(column)?;
        is_value(column, measure).then_some(ValueColumn { place, measure })
    });
    values.take(MOST_VALUES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;
    use crate::reader::{ReadOptions, open_path};
    use crate::scan::scan;

    fn columns(text: &str) -> Vec<ColumnProfile> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        std::fs::write(&path, text).unwrap();
        let mut reader = open_path(&path, &ReadOptions::default()).unwrap();
        profile::profile(&scan(reader.as_mut()).unwrap()).columns
    }

    #[test]
    fn a_panel_has_its_thing_and_the_pair_with_its_time() {
        let mut text = "row,country,year,gdp,kind,note\n".to_string();
        for row in 0..300 {
            let (thing, year) = (row / 10, 2000 + row % 10);
            text.push_str(&format!(
                "{row},land {},{year},{}.5,{},same\n",
                thing * 7 % 30,
                row * row % 83,
                ["a", "b"][row % 2]
            ));
        }
        let columns = columns(&text);
        assert_eq!(keys(&columns), [vec![1], vec![1, 2]]);
        assert_eq!(time_part(&columns, &[1, 2]), Some(2));
        let values: Vec<usize> = values(&columns).into_iter().map(|value| value.place).collect();
        assert_eq!(values, [1, 2, 3, 4], "a counter and a constant are no figures");
    }

    #[test]
    fn figures_alone_have_no_key() {
        let rows: String = (0..80).map(|row| format!("{}.25,{}.75\n", row * 3 % 79, row * 7 % 83)).collect();
        assert!(keys(&columns(&format!("x,y\n{rows}"))).is_empty());
    }
}
