//! Copies and editions: what is one, what only looks like one, which is current, and how searches show them.

use std::fmt::Write;

use crate::place::Folder;

/// Readings of stations on days `from..to` of `year`.
fn readings(year: u32, days: std::ops::Range<u32>, parted_by: char) -> String {
    let mut text = format!("station{parted_by}day{parted_by}millimetres\n");
    for day in days {
        for (number, station) in (1..).zip(["Ghent", "Liege", "Namur"]) {
            let rain = f64::from((day * 37 * number + year) % 211) / 10.0;
            let (month, day) = (1 + day / 28, 1 + day % 28);
            writeln!(text, "{station}{parted_by}{year}-{month:02}-{day:02}{parted_by}{rain}").expect("a text");
        }
    }
    text
}

#[test]
fn copies_and_editions_stand_under_the_current_table() {
    let half = readings(2020, 0..60, ',');
    let mut reordered: Vec<&str> = half.lines().collect();
    reordered[1..].reverse();
    let folder = Folder::of(&[
        ("rain/rain_v1.csv", &half),
        ("rain/rain_v2.csv", &readings(2020, 0..90, ',')),
        ("backup/rain.csv", &readings(2020, 0..90, ';')),
        ("export.csv", &reordered.join("\n")),
        ("prices.csv", "item,price\nrye,2.5\nwheat,1.9\n"),
    ]);
    let lake = folder.lake();
    let groups = lake.copies(None).expect("groups");
    assert_eq!(groups.len(), 1, "{groups:?}");
    assert_eq!(groups[0].current, "rain/rain_v2", "its name has a version: {groups:?}");
    let mut copies: Vec<&str> = groups[0].copies.iter().map(|copy| copy.table.as_str()).collect();
    copies.sort_unstable();
    assert_eq!(copies, ["backup/rain", "export", "rain/rain_v1"]);
    let of = |table: &str| groups[0].copies.iter().find(|copy| copy.table == table).expect("a copy");
    assert!(of("backup/rain").reason.starts_with("the same rows"), "{}", of("backup/rain").reason);
    assert!(of("rain/rain_v1").reason.contains("all its rows are in") && of("rain/rain_v1").shared == 1.0);
    assert!(of("rain/rain_v1").reason.ends_with("its last date is later"), "{}", of("rain/rain_v1").reason);
    assert_eq!(lake.copies(Some("export")).expect("groups"), groups);
    assert!(lake.copies(Some("prices")).expect("groups").is_empty() && lake.copies(Some("rain")).is_err());
    // One answer, with the others under it.
    let answers = lake.search("rain millimetres station day", 5).expect("answers");
    let rain: Vec<_> = answers.iter().filter(|answer| answer.columns.contains(&"millimetres".into())).collect();
    assert_eq!(rain.len(), 1, "{answers:?}");
    assert!(rain[0].also.len() == 3 && rain[0].reason.contains("; also at "), "{}", rain[0].reason);
    assert_eq!(rain[0].table, "rain/rain_v2");
    assert!(rain[0].reason.contains("the current one is this, as its name has the later"), "{}", rain[0].reason);
    // What names an edition wants that.
    let named = lake.search("rain/rain_v1", 5).expect("answers");
    assert_eq!(named[0].table, "rain/rain_v1", "{named:?}");
}

#[test]
fn editions_of_many_rows_are_found_where_copies_are_asked_for() {
    let rows = |count: u32| {
        let rows = (0..count).map(|row| format!("m{row},{},{}\n", row * 37 % 1009, row * 11 % 97));
        format!("meter,litres,leaks\n{}", rows.collect::<String>())
    };
    let folder = Folder::of(&[("meters_v1.csv", &rows(24_000)), ("meters_v2.csv", &rows(26_000))]);
    let groups = folder.lake().copies(None).expect("groups");
    assert_eq!((groups.len(), groups[0].current.as_str()), (1, "meters_v2"), "{groups:?}");
    assert!(groups[0].copies[0].reason.starts_with("all its rows are in"), "{groups:?}");
}

#[test]
fn tables_that_look_alike_are_no_copies() {
    let survey = |seed: u32| {
        let rows = (0..80).map(|row| {
            let answer = ["yes", "no"][((row * seed) % 7 % 2) as usize];
            format!("{},{answer}\n", ["women", "men"][(row % 2) as usize])
        });
        format!("sex,answer\n{}", rows.collect::<String>())
    };
    let by_country = |factor: f64| {
        let rows = ["Chad", "Italy", "Norway", "Peru", "Spain", "Togo", "Yemen"].iter().zip(1..);
        format!("country,rate\n{}", rows.map(|(c, n)| format!("{c},{}\n", f64::from(n) * factor)).collect::<String>())
    };
    let folder = Folder::of(&[
        ("rain_2019.csv", &readings(2019, 0..60, ',')),
        ("rain_2020.csv", &readings(2020, 0..60, ',')),
        ("rain_2021.csv", &readings(2021, 0..60, ',')),
        ("survey_a.csv", &survey(3)),
        ("survey_b.csv", &survey(5)),
        ("births.csv", &by_country(1.37)),
        ("deaths.csv", &by_country(0.91)),
    ]);
    let lake = folder.lake();
    assert_eq!(lake.copies(None).expect("groups"), []);
    let answers = lake.search("rain millimetres station day", 7).expect("answers");
    assert!(answers.iter().filter(|answer| answer.table.starts_with("rain_")).count() == 3, "{answers:?}");
}
