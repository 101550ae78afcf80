//! What goes with a column: found by an index that reads no file, then verified by the join; and what is found for a wrong reason.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::fmt::Write;
use std::fs;

use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{self, BuildOptions};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_search::correlate::{Caution, CorrelationAnswer};
use lakeward_search::{CorrelateOptions, CorrelationAnswers, QueryTable, correlate};

/// Numbers in 0..1 that look independent.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

const UNITS: usize = 3_000;
const THINGS: [&str; 12] = ["Aa", "Bb", "Cc", "Dd", "Ee", "Ff", "Gg", "Hh", "Ii", "Jj", "Kk", "Ll"];

struct Lake {
    folder: tempfile::TempDir,
}

impl Lake {
    fn of(tables: &[(&str, String)]) -> Self {
        let lake = Self { folder: tempfile::tempdir().unwrap() };
        tables.iter().for_each(|(name, text)| lake.write(name, text));
        lake.update();
        lake
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(format!("{name}.csv")), text).unwrap();
    }

    fn update(&self) {
        let index = self.folder.path().join(".lakeward");
        build::build(self.folder.path(), &index, StaticModel::builtin(), &BuildOptions::default(), &Silent).unwrap();
    }

    fn search(&self, table: &str, target: &str, key: &[&str]) -> Result<CorrelationAnswers> {
        let index = LakeIndex::open(&self.folder.path().join(".lakeward"), StaticModel::builtin().id()).unwrap();
        let query = QueryTable::resolve(&index, self.folder.path(), table, StaticModel::builtin())?;
        let key: Vec<String> = key.iter().map(|name| name.to_string()).collect();
        let options = CorrelateOptions {
            target: query.column(target)?,
            key: query.columns_named(&key)?,
            k: 20,
            only: Vec::new(),
        };
        correlate::search(&index, self.folder.path(), &query, &options)
    }
}

fn of<'a>(found: &'a CorrelationAnswers, table: &str, column: &str) -> Option<&'a CorrelationAnswer> {
    found.answers.iter().find(|answer| (answer.table.as_str(), answer.column.as_str()) == (table, column))
}

/// A base of units with a skewed target, and tables over some of the units: one with columns that go with it, 40 with none.
fn units() -> Lake {
    let mut noise = Noise(7);
    let latent: Vec<f64> = (0..UNITS).map(|_| noise.next()).collect();
    let mut base = "unit,target,grade\n".to_string();
    let mut related = "Unit,up,down,kind,copy\n".to_string();
    let mut repeated = "unit,part,share\n".to_string();
    for (unit, value) in latent.iter().enumerate() {
        let target = (8.0 * value).exp();
        let grade = ["low", "middle", "high"][(value * 3.0) as usize];
        writeln!(base, "unit {unit},{target},{grade}").unwrap();
        if unit % 3 > 0 {
            let (up, down) = (value + 0.3 * noise.next(), (-5.0 * value).exp() + 0.01 * noise.next());
            let kind = ["square", "round", "flat", "long"][((value + 0.1 * noise.next()) * 3.6) as usize];
            // Written otherwise: the same by its normal form.
            writeln!(related, "UNIT {unit},{up},{down},{kind},{target}").unwrap();
        }
        if unit % 4 == 0 {
            for part in 0..3 {
                writeln!(repeated, "unit {unit},{part},{}", value + 0.5 * noise.next()).unwrap();
            }
        }
    }
    let mut tables = vec![("base", base), ("related", related), ("repeated", repeated)];
    let names: Vec<String> = (0..40).map(|number| format!("other_{number:02}")).collect();
    for name in &names {
        let mut text = "unit,a,b,c\n".to_string();
        for unit in 0..UNITS {
            if noise.next() < 0.4 {
                writeln!(text, "unit {unit},{},{},{}", noise.next(), noise.next(), noise.next()).unwrap();
            }
        }
        tables.push((name, text));
    }
    Lake::of(&tables)
}

#[test]
fn what_goes_with_a_target_is_first_and_verified() {
    let lake = units();
    let found = lake.search("base", "target", &[]).unwrap();
    assert_eq!((found.target.as_str(), found.keys.as_slice()), ("target", &[vec!["unit".to_string()]][..]));
    assert!(found.tested >= 125 && found.notes.is_empty(), "{} {:?}", found.tested, found.notes);
    let first: Vec<&str> = found.answers.iter().take(5).map(|answer| answer.column.as_str()).collect();
    for column in ["copy", "down", "up", "kind", "share"] {
        assert!(first.contains(&column), "{column} in {first:?}");
    }
    let up = of(&found, "related", "up").unwrap();
    assert!(up.verified && up.keys == 2_000 && (up.coverage - 2.0 / 3.0).abs() < 1e-9, "{up:?}");
    assert!(up.low < up.strength && up.strength < up.high && up.strength > 0.9 && up.cautions.is_empty(), "{up:?}");
    assert!(up.score < up.strength && up.false_discovery_rate < 1e-6);
    assert_eq!((up.points.len(), up.on[0].query_column.as_str(), up.on[0].column.as_str()), (200, "unit", "Unit"));
    assert!(of(&found, "related", "down").unwrap().strength < -0.9);
    let copy = of(&found, "related", "copy").unwrap();
    assert!(copy.cautions == [Caution::SameAsTarget] && copy.leaks() && copy.reason.contains("leaks"));
    let share = of(&found, "repeated", "share").unwrap();
    assert_eq!((share.aggregate.as_str(), share.fan_out), ("mean", 3.0));
    let kind = of(&found, "related", "kind").unwrap();
    assert!(kind.information_bits.is_some_and(|bits| bits > 0.8) && kind.pearson.is_none(), "{kind:?}");
    // By chance alone few of 120 columns are there, and they are said to be.
    let chance = found.answers.iter().filter(|answer| answer.table.starts_with("other"));
    assert!(chance.clone().count() <= 15);
    for answer in chance {
        assert!(answer.false_discovery_rate > 0.3 && answer.score < 0.1, "{answer:?}");
    }
}

#[test]
fn labels_are_a_target_too() {
    let lake = units();
    let found = lake.search("base", "grade", &["unit"]).unwrap();
    let up = of(&found, "related", "up").unwrap();
    assert!(up.information_bits.is_some_and(|bits| bits > 0.9) && up.strength > 0.8, "{up:?}");
    assert!(of(&found, "related", "kind").unwrap().score > 0.7);
}

/// Two series that only grow together, one that follows, and a panel of things and years.
fn panel() -> Lake {
    let mut noise = Noise(3);
    let (mut series, mut grows, mut follows) =
        ("year,value\n".to_string(), "year,grown\n".to_string(), "year,lagged\n".to_string());
    for year in 0..60 {
        let shock = 30.0 * noise.next();
        writeln!(series, "{},{:.4}", 1950 + year, f64::from(year) + shock).unwrap();
        writeln!(grows, "{},{:.4}", 1950 + year, f64::from(year) * 2.0 + 9.0 * noise.next()).unwrap();
        writeln!(follows, "{},{:.4}", 1950 + year, f64::from(year) + shock + 9.0 * noise.next()).unwrap();
    }
    let (mut left, mut right) = ("country,year,income\n".to_string(), "yr,nation,spending,weather\n".to_string());
    for thing in THINGS {
        for year in 0..20 {
            let income = noise.next();
            writeln!(left, "{thing},{},{income}", 1990 + year).unwrap();
            writeln!(right, "{},{thing},{},{}", 1990 + year, income * 5.0 + noise.next(), noise.next()).unwrap();
        }
    }
    Lake::of(&[("series", series), ("grows", grows), ("follows", follows), ("left", left), ("right", right)])
}

#[test]
fn a_shared_trend_is_no_relation() {
    let found = panel().search("series", "value", &["year"]).unwrap();
    let grows = of(&found, "grows", "grown").unwrap();
    assert!(grows.strength > 0.8 && grows.cautions == [Caution::SharedTrend] && grows.score < 0.2, "{grows:?}");
    let follows = of(&found, "follows", "lagged").unwrap();
    assert!(follows.cautions.is_empty() && follows.of_changes.is_some_and(|rho| rho > 0.8), "{follows:?}");
    assert_eq!(found.answers[0].column, "lagged");
}

#[test]
fn a_key_of_two_columns_is_found_in_either_order() {
    let lake = panel();
    for key in [&["country", "year"][..], &["year", "country"], &[]] {
        let found = lake.search("left", "income", key).unwrap();
        let spending = of(&found, "right", "spending").unwrap();
        assert_eq!(spending.on.len(), 2, "{spending:?}");
        assert!(spending.keys == 240 && spending.strength > 0.95 && spending.coverage == 1.0, "{spending:?}");
        assert!(of(&found, "right", "weather").is_none_or(|weather| weather.false_discovery_rate > 0.1));
    }
}

#[test]
fn an_update_and_a_merge_change_nothing_but_what_changed() {
    let lake = units();
    let before = lake.search("base", "target", &[]).unwrap();
    lake.write("new", "unit,z\n");
    lake.update();
    lake.write("other_00", "unit,a\n");
    lake.update();
    let after = lake.search("base", "target", &[]).unwrap();
    let strong = |found: &CorrelationAnswers| -> Vec<(String, String, f64)> {
        let answers = found.answers.iter().filter(|answer| answer.false_discovery_rate < 0.01);
        answers.map(|answer| (answer.table.clone(), answer.column.clone(), answer.score)).collect()
    };
    assert_eq!(strong(&before), strong(&after));
    assert_eq!(before.tested, after.tested + 3);
    fs::remove_file(lake.folder.path().join("related.csv")).unwrap();
    let unread = lake.search("base", "target", &[]).unwrap();
    assert!(unread.notes.iter().any(|note| note.contains("related")), "{:?}", unread.notes);
    assert!(of(&unread, "related", "up").is_some_and(|up| !up.verified && up.reason.contains("estimate")));
    lake.update();
    assert!(of(&lake.search("base", "target", &[]).unwrap(), "related", "up").is_none());
}

#[test]
fn what_cannot_be_searched_says_why() {
    let lake = units();
    let usage = |target: &str, key: &[&str]| match lake.search("base", target, key) {
        Err(Error::Usage(text)) => text,
        other => panic!("{other:?}"),
    };
    assert!(usage("unit", &[]).contains("3000 different texts"));
    assert!(usage("target", &["target"]).contains("own key"));
    assert!(matches!(lake.search("base", "targt", &[]), Err(Error::UnknownColumn { .. })));
    assert!(usage("target", &["unit", "grade", "target"]).contains("own key"));
    lake.write("plain", "x,y\n1.5,2.5\n2.5,3.5\n");
    lake.update();
    let plain = lake.search("plain", "x", &[]);
    assert!(matches!(&plain, Err(Error::Usage(text)) if text.contains("`x`, `y`")), "{plain:?}");
}
