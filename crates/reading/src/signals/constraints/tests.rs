use super::*;

/// `topic | place | period | rows | columns; … | excluded; …`, as far as it is said.
fn constraints(text: &str) -> Constraints {
    let mut parts = text.split('|').map(str::trim);
    let mut next = || parts.next().unwrap_or_default().to_string();
    let some = |text: String| (!text.is_empty()).then_some(text);
    let many = |text: String| text.split("; ").filter(|item| !item.is_empty()).map(str::to_string).collect();
    Constraints {
        topic: some(next()),
        geography: next().split(", ").filter(|name| !name.is_empty()).map(str::to_string).collect(),
        time_range: period::parse(&next()),
        granularity: next().split('-').filter(|part| !part.is_empty()).map(str::to_string).collect(),
        required_columns: many(next()),
        excluded: many(next()),
        ..Constraints::default()
    }
}

fn shown(constraints: &Constraints) -> String {
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    let range = constraints.time_range.as_ref().map(ToString::to_string);
    let (columns, excluded) = (constraints.required_columns.join("; "), constraints.excluded.join("; "));
    [
        text(&constraints.topic),
        constraints.geography.join(", "),
        text(&range),
        constraints.granularity.join("-"),
        columns,
        excluded,
    ]
    .join(" | ")
}

#[test]
fn turns_change_what_is_in_force() {
    let mut wrong = Vec::new();
    // before, text, after
    for (before, text, after) in [
        (
            "",
            "Noise complaints in Lisbon since 2016, one row per complaint",
            "Noise complaints | Lisbon | 2016 onward | complaint | |",
        ),
        (
            "",
            "looking for german rail delays by station and month, 2018 to 2020",
            "rail delays | Germany | 2018-2020 | station-month | |",
        ),
        ("x | Oslo | 2015-2020 | |", "Bergen as well please", "x | Oslo, Bergen | 2015-2020 | | |"),
        ("x | Oslo, Bergen | | |", "Take Bergen out again, it uses other units.", "x | Oslo | | | |"),
        ("x | Oslo | | |", "sorry, I meant Trondheim", "x | Trondheim | | | |"),
        ("x | Uttar Pradesh, Bihar | | |", "West Bengal rather than Bihar", "x | Uttar Pradesh, West Bengal | | | |"),
        ("x | | 2015-2020 | |", "Start with 1995", "x | | 1995-2020 | | |"),
        ("x | | 2015-2020 | |", "up to 2023 is fine", "x | | 2015-2023 | | |"),
        ("x | | 2017, 2021 | |", "2013 as well", "x | | 2013, 2017, 2021 | | |"),
        ("x | | 2015-2020 | |", "the nineties instead", "x | | 1990-1999 | | |"),
        ("x | | | route |", "The monthly one is right.", "x | | | route-month | |"),
        ("x | | | park |", "Turbines, not parks.", "x | | | turbine | |"),
        ("x | | | ward |", "now sum it up per district and year", "x | | | district-year | |"),
        ("x | | | | |", "put the garage and the driver on it", "x | | | | garage; driver |"),
        ("x | | | | garage; driver |", "forget the driver", "x | | | | garage |"),
        ("x | | | | |", "without the demolitions", "x | | | | | demolitions"),
        ("x | | | | | demolitions", "show the demolitions again", "x | | | | |"),
        ("x | | | | |", "Private schools left out please.", "x | | | | | Private schools"),
        ("x | | 2010-2023 | | |", "leave out the pandemic years", "x | | 2010-2023 | | | 2020; 2021"),
        ("x | | 2010-2023 | | | 2020; 2021", "2020 and 2021 can come back in", "x | | 2010-2023 | | |"),
        // Wishes by their grammar.
        ("x | Oslo | | |", "What we still lack is the roof area and the slope.", "x | Oslo | | | roof area; slope |"),
        ("x | Oslo | | |", "Could the subsidy be taken from the tax roll?", "x | Oslo | | | subsidy |"),
        ("x | Oslo | | sighting |", "Canopy cover against each sighting", "x | Oslo | | sighting | Canopy cover |"),
        ("x | Oslo | | |", "Our model needs humidity and wind speed too.", "x | Oslo | | | humidity; wind speed |"),
        ("x | Oslo | | |", "Both the slope and the aspect matter to us.", "x | Oslo | | | slope; aspect |"),
        ("x | Oslo | | |", "Please enrich the list with coordinates.", "x | Oslo | | | coordinates |"),
        ("x | Oslo | | |", "don't forget the builder's age", "x | Oslo | | | age |"),
        ("x | Oslo | | |", "show just the depth and width columns", "x | Oslo | | | depth; width |"),
        ("x | Oslo | | kiln |", "mean wage by village and year", "x | Oslo | | village-year | mean wage |"),
        // Refusals by theirs.
        (
            "noise complaints | | | |",
            "Airport ones obviously don't count",
            "noise complaints | | | complaint | | Airport complaints",
        ),
        ("x | | | |", "Owner names must be hidden before this leaves the house", "x | | | | | Owner names"),
        (
            "x | | | |",
            "The minutes from the council are fine, the newspaper archive isn't.",
            "x | | | | | newspaper archive",
        ),
        ("x | | | |", "Temporary stalls, I don't want to see them.", "x | | | | | Temporary stalls"),
        ("x | | | |", "Keep the barges out of it.", "x | | | | | barges"),
        ("x | | | | | owner names", "owner names needn't be hidden after all", "x | | | |"),
        ("x | | 2010-2023 | |", "anything before 2015 is of no use", "x | | 2015-2023 | |"),
        // Rows.
        ("x | | | plot |", "kiosk by kiosk, please", "x | | | kiosk |"),
        ("x | | | plot |", "each voucher its own row", "x | | | voucher |"),
        ("x | | | mill-year |", "Counties would be easier to explain than mills.", "x | | | county-year |"),
        ("x | | | crash |", "make it weekly", "x | | | week |"),
        // Kinds of what the data are about.
        ("ferry trips | Oslo | | trip |", "Night ferries only.", "night ferries ferry trips | Oslo | | trip |"),
        ("ferry trips | Oslo | | trip |", "Let's switch to buses.", "buses | Oslo | | trip |"),
    ] {
        let before = constraints(before);
        let (told, _) = read(text, 2, &before, &NoLake);
        let (told, expected) = (shown(&told), shown(&constraints(after)));
        if told != expected {
            wrong.push(format!("{text}\n  told     {told}\n  expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn overrides_say_what_was_and_since_when() {
    let (first, none) = read("Rents in Graz per district, 2012 to 2018", 1, &Constraints::default(), &NoLake);
    assert!(none.is_empty());
    let (second, replaced) = read("Linz instead", 2, &first, &NoLake);
    assert_eq!(replaced, [Override { constraint: "geography".into(), was: "Graz".into(), set_in_turn: 1 }]);
    let (third, replaced) = read("since 2015, Wels as well", 3, &second, &NoLake);
    assert_eq!(replaced.len(), 2, "{replaced:?}");
    assert_eq!(replaced.iter().find(|one| one.constraint == "geography").map(|one| one.set_in_turn), Some(2));
    assert_eq!((third.set_in_turn["granularity"], third.set_in_turn["geography"]), (1, 3));
}

#[test]
fn the_lake_knows_places_and_columns() {
    struct Lake;
    impl Grounding for Lake {
        fn place(&self, phrase: &str) -> Option<String> {
            (phrase == "Quillfold").then(|| "Quillfold".into())
        }
        fn column(&self, phrase: &str) -> Option<String> {
            (phrase == "garage").then(|| "garage_name".into())
        }
    }
    let (told, _) = read("I look at Quillfold, attach the garage", 1, &Constraints::default(), &Lake);
    assert_eq!(told.geography, ["Quillfold"]);
    assert_eq!(told.required_columns, ["garage_name"]);
}

#[test]
fn a_long_request_costs_time_in_proportion() {
    let long = "Berlin, 2014 and Paris without the demolitions per county, with columns a, b and c that have it. "
        .repeat(12_000);
    let began = std::time::Instant::now();
    let (told, _) = read(&long, 1, &Constraints::default(), &NoLake);
    assert!(began.elapsed().as_secs() < 2 && !told.is_empty());
    for text in [
        "a,".repeat(600_000),
        "per ".repeat(300_000),
        "X and ".repeat(200_000),
        "2010, ".repeat(200_000),
        "not the ".repeat(120_000),
        "of it out ".repeat(100_000),
    ] {
        let began = std::time::Instant::now();
        read(&text, 2, &told, &NoLake);
        assert!(began.elapsed().as_millis() < 2_000, "{}", &text[..20]);
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(first in ".{0,120}", second in "\\PC{0,60}( (not|no|per|by|and|of|2015|-|to|Berlin|out|,|'s|the|without|again|with|columns) ?){0,12}") {
        let (told, replaced) = read(&first, 1, &Constraints::default(), &NoLake);
        proptest::prop_assert!(replaced.is_empty());
        let (after, _) = read(&second, 2, &told, &NoLake);
        let (same, none) = read("", 3, &after, &NoLake);
        proptest::prop_assert!(none.is_empty() && same == after);
    }
}
