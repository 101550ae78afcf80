//! Whether a column helps a model, on rows made so that the answer is known.

use std::fmt::Write;

use lakeward_core::error::Error;
use lakeward_operate::{Gain, GainOptions, Split, feature_gain};
use serde_json::json;

use super::plans::{Lake, is, lake, plan};

/// Numbers in 0..1 that look independent.
fn noise(count: usize) -> Vec<f64> {
    (1..=count as u64)
        .map(|number| {
            let mut z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        })
        .collect()
}

/// 600 rows of 30 things over 20 years: `y` is `a` + 2 `b`, `step` is a threshold of `c`; `own` tells things apart and nothing else.
fn rows() -> Lake {
    let mut text = "thing,year,y,step,kind,a,b,c,none,own\n".to_string();
    for (row, parts) in noise(3_000).chunks(5).enumerate() {
        let [a, b, c, none, e] = parts else { panic!("five") };
        let (thing, year) = (row % 30, 1990 + row / 30);
        let step = if *c > 0.5 { 10.0 } else { 0.0 } + e;
        let kind = if *c > 0.5 { "high" } else { "low" };
        let a_cell = if row % 10 == 0 { String::new() } else { a.to_string() };
        writeln!(
            text,
            "t{thing},{year},{},{step},{kind},{a_cell},{b},{c},{none},{}",
            a + 2.0 * b + 0.1 * e,
            thing * 7 % 30
        )
        .expect("a string takes all");
    }
    lake(&[("rows.csv", &text)])
}

fn gain(lake: &Lake, target: &str, given: &[&str], added: &[&str], split: Split) -> Result<Gain, Error> {
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    let options = GainOptions::new(target.into(), names(given), names(added), split);
    feature_gain(&lake.plain, &plan("rows", json!([])), &options)
}

#[test]
fn a_column_that_helps_is_told_from_one_that_does_not() {
    let lake = rows();
    for split in [Split::Random, Split::Grouped("thing".into()), Split::Ordered("year".into())] {
        let helps = gain(&lake, "y", &["a"], &["b"], split.clone()).unwrap();
        assert!(helps.helps() && helps.gain > 0.6 && helps.with > 0.9 && helps.model == "linear", "{helps}");
        assert!(helps.low < helps.gain && helps.gain < helps.high && helps.folds == 5, "{helps}");
        let none = gain(&lake, "y", &["a", "b"], &["none"], split).unwrap();
        assert!(!none.helps() && none.gain.abs() < 0.02, "{none}");
    }
    let tree = gain(&lake, "step", &[], &["c"], Split::Random).unwrap();
    assert!(tree.model == "tree" && tree.without.abs() < 0.05 && tree.with > 0.9, "{tree}");
    let text = tree.to_string();
    assert!(text.starts_with("adds ") && text.contains("R²") && text.contains("over 5 folds"), "{text}");
}

#[test]
fn labels_are_predicted_too() {
    let lake = rows();
    let found = gain(&lake, "kind", &["none"], &["c"], Split::Random).unwrap();
    assert!(found.figure == "accuracy" && found.with > 0.95 && found.helps(), "{found}");
    assert!(found.without < 0.7, "{found}");
}

#[test]
fn rows_of_a_group_are_not_on_both_sides() {
    let lake = rows();
    // The mean of a thing's rows is no noise: with the thing known, rows of it tell each other.
    let options = |split| gain(&lake, "own", &[], &["thing"], split).unwrap();
    assert!(options(Split::Random).with > options(Split::Grouped("thing".into())).with + 0.2);
}

#[test]
fn too_few_rows_or_groups_are_refused() {
    let lake = rows();
    let few = plan("rows", json!([{"limit": {"rows": 20}}]));
    let options = GainOptions::new("y".into(), Vec::new(), vec!["a".into()], Split::Random);
    assert!(matches!(feature_gain(&lake.plain, &few, &options), Err(Error::Usage(text)) if text.contains("20 rows")));
    let one = plan("rows", json!([{"filter": is("year", "less", json!(1992))}]));
    let options = GainOptions { split: Split::Ordered("year".into()), ..options };
    assert!(feature_gain(&lake.plain, &one, &options).is_err());
    assert!(gain(&lake, "nothing", &[], &["a"], Split::Random).is_err());
}
