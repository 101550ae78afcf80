//! Joins on values that are nearly alike: found, told apart from equal ones, and never counted as them.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::fs;
use std::path::Path;

use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{self, BuildOptions};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_search::join::MatchKind;
use lakeward_search::{JoinAnswer, JoinOptions, QueryTable, join};
use lakeward_sketch::Variation;

const CITIES: [&str; 12] = [
    "Częstochowa",
    "Dąbrowa Górnicza",
    "Kielce",
    "Kraków",
    "Nowy Sącz",
    "Ostrowiec Świętokrzyski",
    "Radom",
    "Rzeszów",
    "Sosnowiec",
    "Tarnów",
    "Zabrze",
    "Bielsko-Biała",
];

fn table(header: &str, keys: &[&str]) -> String {
    let rows = keys.iter().enumerate().map(|(place, key)| format!("\"{key}\",{}\n", 100 + place * 7));
    format!("{header}\n{}", rows.collect::<String>())
}

struct Lake {
    place: tempfile::TempDir,
}

impl Lake {
    fn of(tables: &[(&str, String)]) -> Self {
        let lake = Self { place: tempfile::tempdir().unwrap() };
        for (name, text) in tables {
            lake.write(name, text);
        }
        lake.update();
        lake
    }

    fn folder(&self) -> std::path::PathBuf {
        self.place.path().join("lake")
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.folder()).unwrap();
        fs::write(self.folder().join(format!("{name}.csv")), text).unwrap();
    }

    fn update(&self) {
        let (folder, index) = (self.folder(), self.place.path().join("index"));
        build::build(&folder, &index, StaticModel::builtin(), &BuildOptions::default(), &Silent).unwrap();
    }

    fn open(&self) -> LakeIndex {
        LakeIndex::open(&self.place.path().join("index"), StaticModel::builtin().id()).unwrap()
    }

    fn join(&self, query: &str) -> Vec<JoinAnswer> {
        let path = self.place.path().join("query.csv");
        fs::write(&path, query).unwrap();
        let index = self.open();
        let query = QueryTable::read(Path::new(&path), None, StaticModel::builtin()).unwrap();
        join::search(&index, &query, &JoinOptions { column: Some(0), ..JoinOptions::new(10) }).unwrap()
    }
}

fn answer<'a>(answers: &'a [JoinAnswer], table: &str) -> &'a JoinAnswer {
    answers.iter().find(|answer| answer.table == table).unwrap_or_else(|| panic!("{table} is not found"))
}

const CUT: [&str; 8] = ["CZĘST.", "DĄBROWA GÓR.", "KIELC.", "KRAKÓ.", "NOWY SĄCZ", "OSTRO. ŚWI.", "RZESZ.", "TARNÓ."];
const MISSPELT: [&str; 6] = ["Czestohcowa", "Kieelce", "Krakw", "Rzeszów", "Sosnowwiec", "Zabzre"];
const OTHERS: [&str; 6] = ["Lisboa", "Porto", "Coimbra", "Faro", "Évora", "Braga"];

#[test]
fn variants_are_found_and_never_counted_as_equal() {
    let lake = Lake::of(&[
        ("cut", table("town,area", &CUT)),
        ("misspelt", table("place,mayors", &MISSPELT)),
        ("others", table("city,inhabitants", &OTHERS)),
    ]);
    let answers = lake.join(&table("city,population", &CITIES));
    let cut = answer(&answers, "cut");
    assert_eq!(cut.kind, MatchKind::Approximate);
    assert_eq!((cut.shared_values, cut.containment), (1, 1.0 / 12.0));
    assert!((cut.variants - 7.0 / 12.0).abs() < 1e-9, "{}", cut.variants);
    assert_eq!(cut.variant_matches.len(), 3);
    assert!(cut.variant_matches.iter().all(|matched| matched.variation == Variation::Abbreviated));
    assert!(cut.reason.contains("nearly alike") && cut.reason.contains("a join on equal values"), "{}", cut.reason);
    let misspelt = answer(&answers, "misspelt");
    assert_eq!((misspelt.kind, misspelt.shared_values), (MatchKind::Approximate, 1));
    assert!((misspelt.variants - 5.0 / 12.0).abs() < 1e-9, "{}", misspelt.variants);
    let others = answers.iter().find(|answer| answer.table == "others");
    assert!(others.is_none_or(|other| other.variants == 0.0 && other.score < misspelt.score), "{others:?}");
}

#[test]
fn equal_values_come_before_as_many_variants() {
    let equal: Vec<String> = CITIES.iter().take(8).map(|city| city.to_lowercase()).collect();
    let equal: Vec<&str> = equal.iter().map(String::as_str).collect();
    let lake = Lake::of(&[("cut", table("city,area", &CUT)), ("equal", table("city,area", &equal))]);
    let answers = lake.join(&table("city,population", &CITIES));
    let tables: Vec<&str> = answers.iter().map(|answer| answer.table.as_str()).collect();
    assert_eq!(tables, ["equal", "cut"]);
    assert_eq!((answers[0].kind, answers[0].variants), (MatchKind::Normalised, 0.0));
    assert!(!answers[0].reason.contains("nearly"), "{}", answers[0].reason);
}

/// The same answers from one segment, from several, and after tables were removed and segments merged.
#[test]
fn variants_do_not_depend_on_how_the_index_was_built() {
    let tables: Vec<(String, String)> = (0..12)
        .map(|number| {
            let keys: Vec<&str> = if number == 0 { CUT.to_vec() } else { OTHERS[..3 + number % 3].to_vec() };
            (format!("t{number:02}"), table(&format!("name{number},n"), &keys))
        })
        .collect();
    let at_once = Lake::of(&tables.iter().map(|(name, text)| (name.as_str(), text.clone())).collect::<Vec<_>>());
    let bit_by_bit = Lake::of(&[("gone", table("town,area", &CUT))]);
    for (name, text) in &tables {
        bit_by_bit.write(name, text);
        bit_by_bit.update();
    }
    fs::remove_file(bit_by_bit.folder().join("gone.csv")).unwrap();
    bit_by_bit.update();
    let query = table("city,population", &CITIES);
    let found = |lake: &Lake| -> Vec<(String, String)> {
        lake.join(&query).into_iter().map(|answer| (answer.table, format!("{:.9}", answer.variants))).collect()
    };
    assert_eq!(found(&at_once), found(&bit_by_bit));
    assert_eq!(found(&at_once)[0].0, "t00");
}

#[test]
fn every_candidate_is_given_with_its_features() {
    let lake = Lake::of(&[("cut", table("town,area", &CUT)), ("others", table("city,inhabitants", &OTHERS))]);
    let path = lake.place.path().join("query.csv");
    fs::write(&path, table("city,population", &CITIES)).unwrap();
    let index = lake.open();
    let query = QueryTable::read(&path, None, StaticModel::builtin()).unwrap();
    let options = JoinOptions { column: Some(0), ..JoinOptions::new(10) };
    let candidates = join::candidates_with_features(&index, &query, &options).unwrap();
    for answer in join::search(&index, &query, &options).unwrap() {
        let scores = candidates.iter().filter(|candidate| index.id(candidate.table).unwrap() == answer.table);
        let best = scores.map(|candidate| candidate.weight * options.weights.join.score(&candidate.features));
        assert!((best.fold(0.0, f64::max) - answer.score).abs() < 1e-12, "{}", answer.table);
    }
    let in_range = |value: f64| (0.0..=1.0).contains(&value);
    assert!(candidates.iter().all(|candidate| candidate.features.values().into_iter().all(in_range)));
}
