//! How words are taken that could be taken otherwise: units, yes and no, bounds, shares, decimals, and what nothing is called.
//!
//! - a number is compared in the unit of its column, and what was converted is said; what has no common unit is not compared;
//! - a gap and a no are told apart, a place in an order is no value, a written operator is what it is;
//! - a share of a number is one of its total; groups whose figure is lost do not stand alone;
//! - words that do not name what they are taken for are said.

use lakeward_core::message::{CLAUSES, Message};
use lakeward_core::plan::{Plan, Relation};
use lakeward_core::request::{Act, Input};
use lakeward_reading::reader::annotated::conversations;
use lakeward_reading::reader::{
    ColumnKind, Function, NotApplied, Operator, Reader, Role, Schema, SchemaColumn, Span, TurnReading, WhyNot,
    assemble, columns_by_steps, schema_of,
};

const SHEET: &str = r#"{"c": "x", "sheet": "moorings", "columns": ["berth:text", "harbour:text=Kinvara|Rosmuc|Dingle", "arrived:date", "stay_min:integer", "draught_m:number", "cargo_kg:number", "fee:number", "crew:integer", "crane:text=yes|no", "idle_share:number", "berth_from:integer", "berth_to:integer", "berth_no:integer"]}"#;

/// What a marked turn comes to: steps, what is remarked, what is not applied.
fn taken(marked: &str) -> (String, String, String) {
    let marked = marked.replace('"', "\\\"");
    let text = format!("{SHEET}\n{{\"c\": \"x\", \"t\": 0, \"act\": \"refine\", \"m\": \"{marked}\"}}\n");
    let conversations = conversations(&text).expect("annotations");
    let labelled = conversations[0].labelled(None);
    with_ranges(&labelled[0].meant, &labelled[0].schema)
}

/// The same over repairs, which have two dates.
fn taken_of_repairs(marked: &str) -> (String, String, String) {
    let sheet = r#"{"c": "y", "sheet": "repairs", "columns": ["job:integer", "came_in:date", "went_out:date", "fitter:text=K1|K2|K3", "billed:text=10/2022|03/2023|04/2023|11/2023"]}"#;
    let text = format!("{sheet}\n{{\"c\": \"y\", \"t\": 0, \"act\": \"refine\", \"m\": \"{marked}\"}}\n");
    let conversations = conversations(&text).expect("annotations");
    let labelled = conversations[0].labelled(None);
    let mut schema = labelled[0].schema.clone();
    schema.add_computed(&labelled[0].turn.text);
    let assembly = assemble(&labelled[0].meant, &schema, &Plan::of(Input::Table("repairs".into())));
    let steps: Vec<String> = assembly.plan.relation.steps.iter().map(ToString::to_string).collect();
    let lost: Vec<String> = assembly.not_applied.iter().map(in_brief).collect();
    (steps.join("; "), Message::list(CLAUSES, assembly.remarks).into(), lost.join("; "))
}

/// What is left out with the reason, and what else is taken for words.
fn in_brief(lost: &NotApplied) -> String {
    match &lost.why {
        WhyNot::LeftOut(reason) => format!("{}: {reason}", lost.words),
        _ => lost.statement().into(),
    }
}

#[test]
fn how_long_something_took_is_the_time_between_its_dates() {
    let (steps, remarks, lost) = taken_of_repairs("with [the number of days|measure fn=count] each took");
    assert_eq!(steps, "adds days: went_out − came_in");
    assert_eq!((remarks.as_str(), lost.as_str()), ("`days` are those from came_in to went_out", ""));
    let (steps, ..) = taken_of_repairs("[how many weeks|measure fn=count] did it take by [fitter|group col=fitter]");
    assert_eq!(steps, "adds weeks: (went_out − came_in) / 7; computes the mean of weeks for each fitter");
    let (steps, ..) = taken_of_repairs("[how long|measure fn=max] at most per [fitter|group col=fitter]");
    assert_eq!(steps, "adds days: went_out − came_in; computes the largest days for each fitter");
    let (steps, ..) = taken_of_repairs("[how many|measure fn=count] per [fitter|group col=fitter]");
    assert_eq!(steps, "computes the number of rows for each fitter");
}

#[test]
fn steps_of_time_are_those_of_the_calendar_unless_every_year_is_meant() {
    for (marked, each) in [
        ("jobs [per day|group col=came_in part=day]", "day of came_in"),
        ("jobs by [day of the month|group col=came_in part=day]", "day of the month of came_in"),
        ("jobs [per week|group col=came_in part=weekday]", "week"),
        ("jobs by [weekday|group col=came_in part=weekday]", "weekday of came_in"),
        ("jobs [per month|group col=came_in part=month]", "month and year of came_in"),
        ("jobs by [month of the year|group col=came_in part=month]", "month of came_in"),
        ("jobs [per month|group col=came_in part=month] of [2023|value col=came_in part=year]", "month of came_in"),
    ] {
        let (steps, ..) = taken_of_repairs(&format!("[how many|measure fn=count] {marked}"));
        assert!(steps.ends_with(&format!("computes the number of rows for each {each}")), "{marked}: {steps}");
    }
}

#[test]
fn times_of_day_are_compared_as_such() {
    let sheet = r#"{"c": "z", "sheet": "shows", "columns": ["show:text", "start:text=20:15|09:00|23:30"]}"#;
    let condition = |marked: &str| {
        let text = format!("{sheet}\n{{\"c\": \"z\", \"t\": 0, \"act\": \"refine\", \"m\": \"{marked}\"}}\n");
        let conversations = conversations(&text).expect("annotations");
        let labelled = conversations[0].labelled(None);
        let assembly = assemble(&labelled[0].meant, &labelled[0].schema, &Plan::of(Input::Table("shows".into())));
        assembly.plan.relation.steps.iter().map(ToString::to_string).collect::<String>()
    };
    for (words, time) in
        [("20:00", "20:00"), ("8 pm", "20:00"), ("8.30 pm", "20:30"), ("noon", "12:00"), ("9", "09:00")]
    {
        let marked = format!("after [{words}|value col=start op=>]");
        assert_eq!(condition(&marked), format!("keeps the rows whose start is above {time}"), "{words}");
    }
    assert_eq!(condition("after [25:00|value col=start op=>]"), "");
}

#[test]
fn an_order_without_a_column_says_how_the_one_beside_it_goes() {
    let (steps, _, lost) = taken("by [fee|order col=fee dir=asc], [dearest first|order dir=desc]");
    assert_eq!((steps.as_str(), lost.as_str()), ("orders the rows by fee, largest first", ""));
    let (steps, _, lost) = taken("[dearest first|order dir=desc]");
    assert_eq!((steps.as_str(), lost.is_empty()), ("", false));
}

#[test]
fn a_kind_of_something_is_one_group_and_what_is_shown_is_not_counted() {
    let (steps, ..) =
        taken("[total fee|measure fn=sum col=fee] per [harbour|group col=harbour] of [berth|group col=berth]");
    assert_eq!(steps, "computes the total fee for each harbour");
    let (steps, ..) =
        taken("[total fee|measure fn=sum col=fee] per [harbour|group col=harbour] and [berth|group col=berth]");
    assert_eq!(steps, "computes the total fee for each harbour and berth");
    let (steps, ..) = taken("show me the [boats|measure fn=count]");
    assert_eq!(steps, "");
    for marked in
        ["[how many|measure fn=count] boats", "[number of boats|measure fn=count]", "[# of boats|measure fn=count]"]
    {
        assert_eq!(taken(marked).0, "computes the number of rows of all rows", "{marked}");
    }
}

#[test]
fn a_mean_of_numbers_that_tell_rows_apart_is_in_doubt() {
    let text = format!(
        "{SHEET}\n{{\"c\": \"x\", \"t\": 0, \"act\": \"refine\", \"m\": \"[average mooring value|measure fn=mean col=berth_no]\"}}\n"
    );
    let conversations = conversations(&text).expect("annotations");
    let labelled = conversations[0].labelled(None);
    let mut schema = labelled[0].schema.clone();
    for column in &mut schema.columns {
        column.quantity = column.name == "fee";
        column.range = Some((1.0, 90_000.0));
    }
    let (_, _, lost) = with_ranges(&labelled[0].meant, &schema);
    assert_eq!(lost, "average mooring value: `berth_no` tells rows apart, so that this figure of it says nothing");
}

#[test]
fn several_months_and_missing_dates_are_conditions_of_dates() {
    for (marked, step) in [
        (
            "in [spring 2023|value col=came_in]",
            "keeps the rows whose came_in is at least 2023-03-01 and came_in is below 2023-06-01",
        ),
        (
            "in [Q4|value col=came_in]",
            "keeps the rows whose month of came_in is at least 10 and the month of came_in is at most 12",
        ),
        (
            "in [winter|value col=came_in]",
            "keeps the rows whose month of came_in is at least 12 or the month of came_in is at most 2",
        ),
        (
            "[2022|value col=came_in part=year] and [2023|value col=came_in part=year]",
            "keeps the rows whose year of came_in is 2022 or the year of came_in is 2023",
        ),
        (
            "[2022|value col=came_in part=year] in [June|value col=came_in part=month] or [2023|value col=came_in part=year]",
            "keeps the rows whose (the year of came_in is 2022 or the year of came_in is 2023) and the month of came_in is 6",
        ),
        ("billed in [Q4|value col=billed]", "keeps the rows whose billed is 10/2022 or 11/2023"),
        (
            "billed since [March 2023|value col=billed op=>=]",
            "keeps the rows whose billed is 03/2023, 04/2023 or 11/2023",
        ),
        ("billed in [2022|value col=billed]", "keeps the rows whose billed is 10/2022"),
        (
            "from [June to August 2022|value col=came_in op=>=]",
            "keeps the rows whose came_in is at least 2022-06-01 and came_in is below 2022-09-01",
        ),
    ] {
        let (steps, _, lost) = taken_of_repairs(marked);
        assert_eq!((steps.as_str(), lost.as_str()), (step, ""), "{marked}");
    }
    // A gap in a column that no word names is in doubt.
    for (marked, kept, words) in [
        ("what [came in|test col=went_out op=no]", "missing", "came in"),
        ("those [finished|test col=went_out op=yes]", "there", "finished"),
    ] {
        let (steps, _, lost) = taken_of_repairs(marked);
        assert_eq!(steps, format!("keeps the rows whose went_out is {kept}"));
        assert_eq!(lost, format!("nothing here is called `{words}`, and `went_out` is taken for it"));
    }
}

#[test]
fn a_code_is_not_another_one_that_is_written_like_it() {
    let (steps, _, lost) = taken_of_repairs("only [K9|value col=fitter val=K2]");
    assert_eq!((steps.as_str(), lost.as_str()), ("", "K9: `fitter` has no such value"));
    let (steps, _, lost) = taken_of_repairs("only [k2|value col=fitter val=K2]");
    assert_eq!((steps.as_str(), lost.as_str()), ("keeps the rows whose fitter is K2", ""));
}

fn with_ranges(reading: &TurnReading, schema: &Schema) -> (String, String, String) {
    let mut schema = schema.clone();
    for (name, range) in [("idle_share", (0.0, 1.0)), ("fee", (5.0, 900.0)), ("crew", (1.0, 40.0))] {
        let place = schema.place(name).expect("a column");
        schema.columns[place].range = Some(range);
        schema.columns[place].quantity = true;
    }
    let assembly = assemble(reading, &schema, &Plan::of(Input::Table("moorings".into())));
    let steps: Vec<String> = assembly.plan.relation.steps.iter().map(ToString::to_string).collect();
    let lost: Vec<String> = assembly.not_applied.iter().map(in_brief).collect();
    (steps.join("; "), Message::list(CLAUSES, assembly.remarks).into(), lost.join("; "))
}

#[test]
fn numbers_are_compared_in_the_unit_of_their_column() {
    for (marked, step, said) in [
        ("under [3 hours|value col=stay_min op=<]", "stay_min is below 180", "3 hours is 180 min"),
        ("at least [half a tonne|value col=cargo_kg op=>=]", "cargo_kg is at least 500", "0.5 tonne is 500 kg"),
        ("deeper than [90|value col=draught_m op=>] cm", "draught_m is above 0.9", "90 cm is 0.9 m"),
        ("over [an hour|value col=stay_min op=>]", "stay_min is above 60", "1 hour is 60 min"),
        ("over [a quarter of an hour|value col=stay_min op=>]", "stay_min is above 15", "0.25 hour is 15 min"),
        ("over [45 minutes|value col=stay_min op=>]", "stay_min is above 45", ""),
        ("below [20 percent|value col=idle_share op=<]", "idle_share is below 0.2", ""),
        (
            "between [1|value col=stay_min op=>=] and [2 hours|value col=stay_min op=<=]",
            "stay_min is at least 60 and stay_min is at most 120",
            "1 hours is 60 min; 2 hours is 120 min",
        ),
    ] {
        let (steps, remarks, lost) = taken(marked);
        assert_eq!(
            (steps, remarks.as_str(), lost.as_str()),
            (format!("keeps the rows whose {step}"), said, ""),
            "{marked}"
        );
    }
    let (steps, _, lost) = taken("above [30 kg|value col=fee op=>]");
    assert_eq!(steps, "keeps the rows whose fee is above 30");
    assert_eq!(lost, "kg: the unit of `fee` is not known: the number is taken as it stands");
    let (steps, _, lost) = taken("under [3 hours|value col=cargo_kg op=<]");
    assert_eq!((steps.as_str(), lost.as_str()), ("", "3 hours: `cargo_kg` is in kg"));
}

#[test]
fn a_unit_of_the_publisher_goes_before_the_name() {
    let column = SchemaColumn { unit: Some("h".into()), ..SchemaColumn::new("stay", ColumnKind::Number) };
    let text = format!(
        "{SHEET}\n{{\"c\": \"x\", \"t\": 0, \"act\": \"refine\", \"m\": \"over [90 minutes|value col=stay_min op=>]\"}}\n"
    );
    let conversations = conversations(&text).expect("annotations");
    let mut labelled = conversations[0].labelled(None);
    let turn = labelled.remove(0);
    let mut schema = turn.schema;
    let place = schema.place("stay_min").expect("a column");
    schema.columns[place] = column;
    let assembly = assemble(&turn.meant, &schema, &Plan::of(Input::Table("moorings".into())));
    assert_eq!(assembly.plan.relation.steps[0].to_string(), "keeps the rows whose stay is above 1.5");
}

#[test]
fn a_no_is_no_gap_and_a_place_no_value() {
    for (marked, step) in [
        ("[without a crane|test col=crane op=missing]", "crane is not true"),
        ("[crane not recorded|test col=crane op=missing]", "crane is missing"),
        ("[with no fee|test col=fee op=missing]", "fee is missing"),
        (
            "harbour [not equal to|column col=harbour] [Rosmuc|old col=harbour val=Rosmuc]",
            "harbour is other than Rosmuc",
        ),
        ("crew != [4|value col=crew]", "crew is other than 4"),
        ("crew => [4|value col=crew]", "crew is at least 4"),
        ("crew greater than or equal to [4|value col=crew op=>]", "crew is at least 4"),
        ("crew less than or equal to [4|value col=crew]", "crew is at most 4"),
        ("crew above or equal to [4|value col=crew op=>=]", "crew is at least 4"),
        ("crew that isn't equal to [4|value col=crew]", "crew is other than 4"),
    ] {
        let (steps, _, lost) = taken(marked);
        assert_eq!(steps, format!("keeps the rows whose {step}"), "{marked}: {lost}");
    }
    for marked in [
        "before [the second siege|value col=crew op=<]",
        "[in the gale|test col=harbour op=yes]",
        "[Hart|value col=harbour op=contains]",
    ] {
        let (steps, _, lost) = taken(marked);
        assert!(steps.is_empty() && !lost.is_empty(), "{marked}: {steps}");
    }
}

#[test]
fn two_bounds_are_of_one_column() {
    let (steps, ..) =
        taken("[berth|column col=berth_from] between [5|value col=crew op=>=] and [9|value col=fee op=<=]");
    assert_eq!(steps, "keeps the rows whose crew is at least 5 and crew is at most 9", "only crew goes from 5 to 9");
    let (steps, ..) = taken("crew of [5|value col=crew op=>=], a fee of [9|value col=fee op=<=]");
    assert_eq!(steps, "keeps the rows whose crew is at least 5 and fee is at most 9", "a comma and words are between");
}

#[test]
fn a_share_of_a_number_is_one_of_its_total() {
    let grouped = "computes the percentage of the total crew for each harbour";
    let (steps, ..) = taken("[share|measure fn=share] of all crew by [harbour|group col=harbour]");
    assert_eq!(steps, grouped);
    let (steps, ..) = taken("[share of crew|derive fn=share col=crew] by [harbour|group col=harbour]");
    assert_eq!(steps, grouped);
    let (steps, ..) = taken("[what share|measure fn=share] of the fees comes from [Dingle|value col=harbour]");
    assert_eq!(
        steps,
        "adds fee_percent: the percentage of the total fee; computes the total fee_percent where harbour is Dingle of all rows"
    );
    let (steps, ..) = taken("[what share|measure fn=share] of the berths is in [Dingle|value col=harbour]");
    assert_eq!(steps, "computes the mean of 100 where harbour is Dingle, else 0 of all rows", "of rows");
    let (steps, remarks, lost) =
        taken("[total cargo in tonnes|measure fn=sum col=cargo_kg] by [harbour|group col=harbour]");
    assert_eq!(
        steps,
        "adds cargo_kg_in_tonnes: cargo_kg / 1000; computes the total cargo_kg_in_tonnes for each harbour"
    );
    assert_eq!((remarks.as_str(), lost.as_str()), ("cargo_kg is converted from kg to tonnes", ""));
    let (steps, ..) = taken("[mean minutes per day|measure fn=mean col=stay_min] by [harbour|group col=harbour]");
    assert_eq!(steps, "computes the mean of stay_min for each harbour", "a rate is in its own unit");
}

#[test]
fn groups_do_not_stand_for_a_figure_that_is_lost() {
    let (steps, _, lost) = taken("[the toll|derive fn=minus col=fee] per [harbour|group col=harbour]");
    assert_eq!(steps, "");
    assert!(lost.contains("harbour: what is to be computed") && lost.contains("the toll:"), "{lost}");
    let (steps, remarks, _) =
        taken("[fee for each of the crew|derive fn=ratio col=fee,crew] by [harbour|group col=harbour]");
    assert_eq!(steps, "adds fee_per_crew: fee / crew; computes the mean of fee_per_crew for each harbour");
    assert_eq!(remarks, "for each group the mean of fee_per_crew");
    let (steps, ..) =
        taken("[mean fee|measure fn=mean col=fee] for each [harbour of arrival|group col=harbour,arrived]");
    assert_eq!(steps, "computes the mean of fee for each harbour");
}

#[test]
fn decimals_are_no_condition() {
    let mean = "computes the mean of fee for each harbour";
    let (steps, _, lost) = taken(
        "[mean fee|measure fn=mean col=fee] by [harbour|group col=harbour] to [two decimals|value col=fee op=<=]",
    );
    assert_eq!((steps, lost), (format!("{mean}; adds mean_fee: mean_fee rounded to 2 decimals"), String::new()));
    let (steps, _, lost) = taken("round it to [one decimal|limit n=1] place");
    assert_eq!((steps.as_str(), lost.as_str()), ("", "one decimal: no figure is computed that could be rounded"));
}

#[test]
fn what_words_do_not_name_is_said() {
    let (_, remarks, _) = taken("[mean wages|measure fn=mean col=fee] by [harbour|group col=harbour]");
    assert_eq!(remarks, "`mean wages` is taken for fee");
    let (_, remarks, _) = taken("only [the west|value col=harbour val=Dingle]");
    assert_eq!(remarks, "`the west` is taken for Dingle");
    let (_, remarks, lost) = taken("[salinity|column col=fee] above [4|value col=fee op=>]");
    assert_eq!((remarks.as_str(), lost.as_str()), ("", "nothing here is called `salinity`, and `fee` is taken for it"));
}

#[test]
fn things_that_have_no_column_are_rows_that_are_counted() {
    let (steps, _, lost) = taken("[how many boats|measure fn=sum col=?] per [harbour|group col=harbour]");
    assert_eq!(steps, "computes the number of rows for each harbour");
    assert_eq!(lost, "nothing here is called `how many boats`: rows are counted");
    let (steps, _, lost) =
        taken("[how many different skippers|measure fn=count_distinct col=?] per [harbour|group col=harbour]");
    assert!(steps.is_empty() && lost.contains("skippers"), "{steps} {lost}");
}

#[test]
fn a_value_that_is_a_function_word_is_a_value() {
    let mut schema = Schema { columns: vec![SchemaColumn::new("class", ColumnKind::Text)], ..Schema::default() };
    schema.columns[0].values = vec!["A".into(), "B".into()];
    let text = r#"{"c": "x", "sheet": "s", "columns": ["class:text=A|B"]}
{"c": "x", "t": 0, "act": "refine", "m": "class [A|value col=class]"}
"#;
    let conversations = conversations(text).expect("annotations");
    let meant = &conversations[0].labelled(None)[0].meant;
    let assembly = assemble(meant, &schema, &Plan::of(Input::Table("s".into())));
    assert_eq!(assembly.plan.relation.steps[0].to_string(), "keeps the rows whose class is A");
}

/// What turns over the moorings come to as the built-in reader reads them, each over the plan of the one before.
fn read_over_moorings(texts: &[&str]) -> (Vec<String>, Vec<NotApplied>, Vec<String>) {
    let conversations = conversations(SHEET).expect("annotations");
    let columns = conversations[0].sheet.clone().expect("columns");
    let mut plan = Plan::of(Input::Table("moorings".into()));
    let (mut lost, mut remarks) = (Vec::new(), Vec::new());
    for text in texts {
        let source = |relation: &Relation| columns_by_steps(&columns, &relation.steps);
        let schema = schema_of(&plan, &source);
        let turn = Reader::builtin().read(text, "", &schema, &|_, _| false);
        let made = assemble(&turn, &schema, &plan);
        (plan, lost, remarks) = (made.plan, made.not_applied, made.remarks);
    }
    (
        plan.relation.steps.iter().map(ToString::to_string).collect(),
        lost,
        remarks.into_iter().map(String::from).collect(),
    )
}

#[test]
fn what_nothing_negates_is_wanted() {
    for (text, kept) in [
        ("all Dingle berths", "keeps the rows whose harbour is Dingle"),
        ("any Dingle berth", "keeps the rows whose harbour is Dingle"),
        ("all berths but Dingle", "keeps the rows whose harbour is other than Dingle"),
        ("Dingle berths out", "keeps the rows whose harbour is other than Dingle"),
    ] {
        let (steps, ..) = read_over_moorings(&[text]);
        assert_eq!(steps, [kept], "{text}");
    }
}

#[test]
fn conditions_that_no_row_meets_are_said() {
    let (_, _, lost) =
        taken("[draught missing|test col=draught_m op=missing] and [not over 3|value col=draught_m op=<=]");
    assert_eq!(lost, "no row is left by `draught missing`: where `draught_m` is missing it has no value");
    let (_, _, lost) = taken("[above 9|value col=crew op=>] and [below 4|value col=crew op=<]");
    assert_eq!(lost, "no row is left by `above 9`: the conditions on `crew` exclude each other");
    let (_, _, lost) = taken("[above 4|value col=crew op=>] and [at most 9|value col=crew op=<=]");
    assert_eq!(lost, "");
    let full = SchemaColumn { is_filled: true, ..SchemaColumn::new("fee", ColumnKind::Number) };
    let test = Span { columns: vec![0], operator: Operator::Missing, ..Span::new(0..10, "never paid", Role::Test) };
    let turn = TurnReading { acts: vec![Act::Refine], spans: vec![test], ..TurnReading::default() };
    let schema = Schema { columns: vec![full], ..Schema::default() };
    let made = assemble(&turn, &schema, &Plan::of(Input::Table("moorings".into())));
    let said: Vec<String> = made.not_applied.iter().map(|lost| lost.statement().into()).collect();
    assert!(said.iter().any(|said| said == "no row is left by `never paid`: every row has a `fee`"), "{said:?}");
    // A column that no word names is doubted, however sure the reader is.
    assert!(said.iter().any(|said| said.contains("nothing here is called `never paid`")), "{said:?}");
}

#[test]
fn what_is_done_with_a_gap_is_no_condition_on_it() {
    let fee = SchemaColumn::new("fee", ColumnKind::Number);
    let schema = Schema { columns: vec![fee], ..Schema::default() };
    let span = |words: &str, role| Span { columns: vec![0], ..Span::new(0..words.len(), words, role) };
    let turn = |span| TurnReading { acts: vec![Act::Refine], spans: vec![span], ..TurnReading::default() };
    let gap = turn(Span { operator: Operator::Missing, ..span("no fee", Role::Test) });
    let plan = assemble(&gap, &schema, &Plan::of(Input::Table("moorings".into()))).plan;
    let made = assemble(&turn(Span { number: Some(0.0), ..span("zero", Role::Value) }), &schema, &plan);
    assert_eq!(made.plan, plan);
    let said: Vec<String> = made.not_applied.iter().map(|lost| lost.statement().into()).collect();
    assert_eq!(said, ["`zero` is not applied: the rows at hand are those without a `fee`"]);
}

#[test]
fn the_best_are_those_by_the_figure_at_hand() {
    let (steps, _, remarks) = read_over_moorings(&["mean fee by harbour", "now the worst three"]);
    assert!(steps.iter().all(|step| !step.contains("number of rows")), "{steps:?} {remarks:?}");
    assert!(steps.iter().any(|step| step.contains("orders the rows by mean_fee")), "{steps:?}");
}

#[test]
fn a_count_as_a_share_is_one_of_all_rows() {
    let conversations = conversations(SHEET).expect("annotations");
    let columns = conversations[0].sheet.clone().expect("columns");
    let source = |relation: &Relation| columns_by_steps(&columns, &relation.steps);
    let counted = |plan: Plan, text: &str| {
        let schema = schema_of(&plan, &source);
        assemble(&Reader::builtin().read(text, "", &schema, &|_, _| false), &schema, &plan).plan
    };
    let plan = counted(Plan::of(Input::Table("moorings".into())), "how many moorings in Dingle");
    let schema = schema_of(&plan, &source);
    let rows = schema.columns.iter().position(|column| column.of_result).expect("the figure");
    let share =
        Span { columns: vec![rows], function: Some(Function::Share), ..Span::new(5..10, "share", Role::Derive) };
    let turn = TurnReading { acts: vec![Act::Refine], spans: vec![share], ..TurnReading::default() };
    let made = assemble(&turn, &schema, &plan);
    let steps: Vec<String> = made.plan.relation.steps.iter().map(ToString::to_string).collect();
    let remarks = made.remarks;
    assert_eq!(
        steps,
        ["computes the mean of 100 where harbour is Dingle, else 0 of all rows"],
        "{:?}",
        made.not_applied
    );
    assert!(remarks.iter().any(|remark| remark.contains("share of all rows for which harbour is Dingle")));
}

#[test]
fn numbers_days_and_values_that_are_not_read_are_said() {
    let turn = TurnReading {
        acts: vec![Act::Refine],
        spans: vec![Span { columns: vec![0], operator: Operator::Greater, ..Span::new(0..2, "12", Role::Value) }],
        unread: vec!["weekends".into()],
        ..TurnReading::default()
    };
    let schema = Schema { columns: vec![SchemaColumn::new("fee", ColumnKind::Number)], ..Schema::default() };
    let made = assemble(&turn, &schema, &Plan::of(Input::Table("moorings".into())));
    let said: Vec<String> = made.not_applied.iter().map(in_brief).collect();
    assert_eq!(said, ["weekends: nothing is done with it"]);
}
