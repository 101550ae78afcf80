//! Which table a request joins and on which keys: the one that has what is wanted, on all the keys that are named, and not by accident.

use std::path::Path;

use serde_json::{Value, json};

use crate::commands::sample;
use crate::place::{Folder, Run, lakeward};

/// The join that the best operation of the answer makes.
fn join(lake: &Path, index: &Path, table: &str, text: &str) -> Value {
    let mut command = lakeward(["ask", "--json", "-q", text, "--table", table]);
    let answer = Run::of(command.env("LAKEWARD_LAKE", lake).env("LAKEWARD_INDEX", index)).json();
    answer["operations"][0]["runnable"]["steps"][0]["join"].clone()
}

fn keys(join: &Value) -> Vec<[String; 2]> {
    let on = join["on"].as_array().into_iter().flatten();
    on.map(|key| ["left", "right"].map(|side| key[side].as_str().unwrap_or_default().to_string())).collect()
}

#[test]
fn keys_and_columns_that_are_named_decide() {
    let (lake, index) = (sample().join("lake"), sample().join("index"));
    let population = |table: &str, text: &str| {
        let join = join(&lake, &index, table, text);
        assert_eq!(join["with"]["source"]["table"], "population/country_pops_1960_2022", "{text}: {join}");
        assert_eq!(join["columns"], json!([{"column": "population"}]), "{text}");
        assert_eq!(keys(&join), [["country", "country_name"], ["year", "year"]], "{text}");
    };
    population("population/gapminder/gap_1962", "join the population by country and year");
    population("population/gapminder/countries2007", "join the population by country and year");
    population("population/gapminder/gap_1962", "add the population for each country and year");
    // The tables of one year have it by country, others by both.
    for table in ["population/gapminder/gap_1962", "population/gapminder/countries2007"] {
        let join = join(&lake, &index, table, "add the iso3 for each country and year");
        assert_eq!(join["columns"], json!([{"column": "iso3"}]), "{join}");
        assert_eq!(keys(&join)[0][0], "country", "{join}");
    }
}

#[test]
fn numbers_that_match_by_accident_are_no_keys_where_columns_share_a_name() {
    let visits: String =
        (1..=120).map(|visit| format!("{visit},{},{}\n", visit * 7 % 40 + 1, visit % 90 + 20)).collect();
    let owners: String = (1..=120).map(|owner| format!("{owner},Owner {owner},Street {}\n", owner * 3)).collect();
    let place = Folder::of(&[
        ("visits.csv", &format!("visit_id,owner_id,cost\n{visits}")),
        ("owners.csv", &format!("owner_id,name,street\n{owners}")),
    ]);
    let (lake, index) = (place.path(), place.at(".lakeward"));
    Run::of(lakeward(["index", "-q"]).arg(lake)).succeeded();
    for text in ["bring in where the owners live", "add the street of each owner"] {
        assert_eq!(keys(&join(lake, &index, "visits", text)), [["owner_id", "owner_id"]], "{text}");
    }
    let found = Run::of(lakeward(["join", "visits", "--json", "-q"]).env("LAKEWARD_LAKE", lake)).json();
    let first = &found["answers"][0];
    assert_eq!((&first["query_column"], &first["column"]), (&json!("owner_id"), &json!("owner_id")));
}
