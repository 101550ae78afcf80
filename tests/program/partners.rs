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

#[test]
fn a_column_of_the_table_that_words_name_is_added_and_not_its_name() {
    let acts: String = (1..=40)
        .map(|act| {
            format!("A{act:03},The Band {act},{},{}\n", ["rock", "folk", "jazz"][act % 3], ["DE", "FR"][act % 2])
        })
        .collect();
    let gigs: String =
        (1..=90).map(|gig| format!("{gig},A{:03},{}\n", gig * 7 % 40 + 1, gig * 13 % 500 + 80)).collect();
    let place = Folder::of(&[
        ("acts.csv", &format!("act_code,act_name,genre,ctry\n{acts}")),
        ("gigs.csv", &format!("gig_no,act_code,fee\n{gigs}")),
    ]);
    let (lake, index) = (place.path(), place.at(".lakeward"));
    Run::of(lakeward(["index", "-q"]).arg(lake)).succeeded();
    for (text, columns) in [
        ("add the genre of the act", vec!["genre"]),
        ("add the act's genre", vec!["genre"]),
        ("add genre from the acts", vec!["genre"]),
        ("add the genre and country of the act", vec!["genre", "ctry"]),
        ("add the name of the act", vec!["act_name"]),
    ] {
        let join = join(lake, &index, "gigs", text);
        let kept =
            join["columns"].as_array().into_iter().flatten().map(|kept| kept["column"].as_str().unwrap_or_default());
        assert_eq!(kept.collect::<Vec<_>>(), columns, "{text}: {join}");
        assert_eq!(join["with"]["source"]["table"], "acts", "{text}");
    }
}
