//! What cells mean: one reading of a column in its profile, in search, in SQL, in plans; said, and changed by `[[cells]]` in `lakeward.toml`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::place::{Folder, Run};

const TRIALS: &str = "patient,treatment,country,weight,people\n\
    1,None,ZA,70,645.705\n\
    2,Low,NA,NA,12.294.193\n\
    3,none,BW,-9,1922523\n\
    4,High,AO,81,847\n\
    5,Low,ZM,missing,\n\
    6,High,MZ,66,150.012\n\
    7,Low,LS,63,-\n\
    8,High,SZ,n/a,5\n\
    Source: the registry of trials\n\
    Weights below 30 kg were not recorded.\n";
const COUNTRIES: &str =
    "code,name\nZA,South Africa\nNA,Namibia\nBW,Botswana\nAO,Angola\nZM,Zambia\nMZ,Mozambique\nLS,Lesotho\n";
const CITIES: &str =
    "city,inhabitants\nLuanda,645705\nLagos,12294193\nKano,1922523\nTutume,847\nMaun,150012\nGhanzi,5\n";

fn lakeward(lake: &Path, arguments: &[&str]) -> Run {
    Run::of(crate::place::lakeward(["-q"]).arg("--lake").arg(lake).args(arguments))
}

fn document(lake: &Path, arguments: &[&str]) -> Value {
    lakeward(lake, arguments).succeeded().json()
}

fn column(lake: &Path, name: &str) -> Value {
    let profile = document(lake, &["profile", "trials", "--json"]);
    let columns = profile["profile"]["columns"].as_array().expect("columns");
    columns.iter().find(|column| column["name"] == name).expect("a column").clone()
}

/// The cells of one row that a query gives.
fn asked(lake: &Path, query: &str) -> Vec<Value> {
    let answer = document(lake, &["sql", query, "--format", "json"]);
    let columns = answer["columns"].as_array().expect("columns").iter();
    columns.map(|column| answer["rows"][0][column["name"].as_str().expect("a name")].clone()).collect()
}

#[test]
fn a_column_has_one_reading_which_is_said_and_can_be_changed() {
    let elsewhere = Folder::of(&[]);
    let place = Folder::of(&[("trials.csv", TRIALS), ("countries.csv", COUNTRIES), ("cities.csv", CITIES)]);
    let lake = place.path();
    lakeward(lake, &["index"]).succeeded();
    // The profile: what is missing, what is a word, what a point does, what is no row.
    assert_eq!(column(lake, "treatment")["missing"], 0);
    assert_eq!(column(lake, "treatment")["writing"]["words"], json!(["None"]));
    assert_eq!(column(lake, "country")["writing"]["words"], json!(["NA"]));
    assert_eq!(column(lake, "weight")["markers"], json!([["NA", 1], ["missing", 1], ["n/a", 1]]));
    assert_eq!(column(lake, "people")["writing"]["point"], "thousands");
    assert_eq!((&column(lake, "people")["min"], &column(lake, "people")["max"]), (&json!("5"), &json!("12294193")));
    let said = lakeward(lake, &["profile", "trials"]).stdout;
    for line in [
        "weight: 1 cell `NA`, 1 cell `missing`, 1 cell `n/a` read as missing",
        "treatment: `None` kept as a value: it is one of 3 values",
        "country: `NA` kept as a value: the other values are codes, too",
        "points part thousands: `645.705` is 645,705",
        "2 lines are below the table, read as notes and not as rows (line 10 first)",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    // SQL and plans.
    let counts =
        "SELECT count(*), count(treatment), count(country), count(weight), sum(people), min(weight) FROM trials";
    assert_eq!(asked(lake, counts), [8, 8, 8, 5, 15_013_285, -9].map(|number| json!(number)));
    let plan = json!({"version": 1, "source": {"table": "trials"}, "steps": [{"filter": {"all": [
        {"compare": {"left": {"column": "treatment"}, "comparison": "equal", "right": {"value": "none"}}},
        {"compare": {"left": {"column": "people"}, "comparison": "greater", "right": {"value": 700_000}}}]}}]});
    elsewhere.write("plan.json", plan.to_string());
    let file = elsewhere.text("plan.json");
    let preview = document(lake, &["plan", &file, "--json"]);
    assert_eq!(preview["rows_out"], 1, "{preview}");
    // Search: Namibia and the grouped figures are found by their values.
    for (name, other, least) in [("country", "countries", 0.87), ("people", "cities", 1.0)] {
        let found = document(lake, &["join", "trials", "--column", name, "--json"]);
        let answers = found["answers"].as_array().expect("answers");
        let answer = answers.iter().find(|answer| answer["table"] == other).unwrap_or_else(|| panic!("{found}"));
        assert!(answer["containment"].as_f64().expect("a share") >= least, "{answer}");
    }

    // A setting is followed by all of them; only its table is read again.
    let set = "[[cells]]\ntable = \"trials\"\ncolumn = \"treatment\"\nmissing = [\"None\"]\n\n\
        [[cells]]\ntable = \"trials\"\ncolumn = \"weight\"\nmissing = [\"-9\"]\n\n\
        [[cells]]\ntable = \"trials\"\ncolumn = \"people\"\npoint = \"decimal\"\n";
    fs::write(lake.join("lakeward.toml"), set).expect("a file");
    let built = document(lake, &["index", "--json"]);
    assert_eq!((&built["changed"], &built["unchanged"]), (&json!(1), &json!(2)), "{built}");
    assert_eq!(column(lake, "treatment")["missing"], 2);
    assert_eq!(column(lake, "people")["min"], "5");
    assert_eq!(column(lake, "people")["logical"], "float");
    let row = asked(lake, counts);
    assert_eq!((&row[1], &row[3], &row[5]), (&json!(6), &json!(4), &json!(63)), "{row:?}");
    let preview = document(lake, &["plan", &file, "--json"]);
    assert_eq!(preview["rows_out"], 1, "missing in both, and kept steps are those of before: {preview}");
    let built = document(lake, &["index", "--json"]);
    assert_eq!((&built["changed"], &built["unchanged"]), (&json!(0), &json!(3)));

    // What cannot be followed is told with the nearest name.
    let wrong = set.replace("\"weight\"", "\"wieght\"").replace("\"trials\"\ncolumn = \"p", "\"trails\"\ncolumn = \"p");
    fs::write(lake.join("lakeward.toml"), wrong).expect("a file");
    let built = document(lake, &["index", "--json"]);
    let problems = built["problems"].to_string();
    assert!(problems.contains("the nearest: `weight`") && problems.contains("the nearest: `trials`"), "{problems}");
    fs::write(lake.join("lakeward.toml"), set.replace("[\"-9\"]", "[\" -9\"]")).expect("a file");
    let refused = lakeward(lake, &["index"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}
