//! What turns make of a plan, by their annotation: the assembly without the model.
//!
//! - what is said together stands in the slots where it is computed, whatever the order of the words;
//! - a correction replaces what is of its kind and nothing else; a retraction takes it out;
//! - a condition on a figure stands behind the grouping, one on rows before it, one after a cut behind the cut;
//! - what cannot be applied is named.

use lakeward_core::plan::Plan;
use lakeward_core::request::Input;
use lakeward_reading::reader::annotated::{LabelledTurn, conversations};
use lakeward_reading::reader::{ColumnKind, READINGS, Reader, Schema, SchemaColumn, assemble};

const SHEET: &str = r#"{"c": "x", "sheet": "rides", "columns": ["ride:integer", "city:text=Lisbon|Porto|Faro", "driver:text", "started:date", "minutes:number", "fare:number", "tip:number", "cancelled:boolean"]}"#;

/// The plan after every turn, in plain words.
fn plans(turns: &[(&str, &str)]) -> Vec<String> {
    let mut text = format!("{SHEET}\n");
    for (number, (act, marked)) in turns.iter().enumerate() {
        let (act, on) =
            act.split_once('!').map_or((*act, String::new()), |(act, _)| (act, r#", "on": "result""#.into()));
        let marked = marked.replace('"', "\\\"");
        text.push_str(&format!("{{\"c\": \"x\", \"t\": {number}, \"act\": \"{act}\"{on}, \"m\": \"{marked}\"}}\n"));
    }
    let conversations = conversations(&text).expect("annotations");
    conversations[0].labelled(None).iter().map(in_words).collect()
}

fn in_words(turn: &LabelledTurn<'_>) -> String {
    let mut line = turn.after.to_string();
    for lost in &turn.not_applied {
        line.push_str(&format!(" !! {}", lost.statement()));
    }
    for table in &turn.tables {
        line.push_str(&format!(" ++ {:?} `{}` {:?}", table.how, table.words, table.columns));
    }
    line
}

#[test]
fn everything_said_at_once_stands_where_it_is_computed() {
    let found = plans(&[(
        "refine",
        "[three|limit n=3] [drivers|group col=driver] in [faro|value col=city val=Faro] with [the best|order dir=desc col=fare] \
         [average fare|measure fn=mean col=fare], [no cancelled ones|test col=cancelled op=no], from [may 2024|value col=started op=>=] \
         on, at least [ten|value col=count op=>=] rides",
    )]);
    assert_eq!(
        found,
        ["keeps the rows whose city is Faro and cancelled is not true and started is at least 2024-05-01; \
          computes the mean of fare and the number of rows for each driver; keeps the rows whose count is at least 10; \
          orders the rows by mean_fare, largest first; keeps the first 3 rows; leaves out count"]
    );
}

#[test]
fn two_figures_of_one_turn_are_the_first_and_the_second() {
    let found = plans(&[(
        "refine",
        "per [city|group col=city] [fares|measure fn=sum col=fare], [tips|measure fn=sum col=tip] and \
         [the one less the other|derive fn=minus col=sum_fare,sum_tip]",
    )]);
    assert_eq!(
        found,
        ["computes the total fare and the total tip for each city; adds sum_fare_minus_sum_tip: sum_fare − sum_tip"]
    );
}

#[test]
fn what_is_computed_of_rows_is_what_the_figure_of_groups_is_of() {
    let found = plans(&[(
        "refine",
        "[takings|measure fn=sum col=fare] per [city|group col=city], [fare less tip|derive fn=minus col=fare,tip]",
    )]);
    assert_eq!(found, ["adds fare_minus_tip: fare − tip; computes the total fare_minus_tip for each city"]);
}

#[test]
fn corrections_replace_what_is_of_their_kind() {
    let found = plans(&[
        (
            "refine",
            "[total tips|measure fn=sum col=tip] per [city|group col=city] over [20|value col=minutes op=>] minutes",
        ),
        ("correct", "[median|measure fn=median col=tip] instead"),
        ("correct", "make that [30|value col=minutes op=>]"),
        ("correct", "by [driver|group col=driver] rather than [city|old col=city]"),
        ("retract", "never mind [the minutes|old col=minutes]"),
        ("undo", "no, undo that"),
    ]);
    let rows = "keeps the rows whose minutes is above";
    assert_eq!(
        found,
        [
            format!("{rows} 20; computes the total tip for each city"),
            format!("{rows} 20; computes the median of tip for each city"),
            format!("{rows} 30; computes the median of tip for each city"),
            format!("{rows} 30; computes the median of tip for each driver"),
            "computes the median of tip for each driver".to_string(),
            format!("{rows} 30; computes the median of tip for each driver"),
        ]
    );
}

#[test]
fn conditions_stand_before_or_behind_what_was_computed() {
    let found = plans(&[
        ("refine", "[how many|measure fn=count] per [city|group col=city]"),
        ("refine", "not [porto|value col=city op=!= val=Porto]"),
        ("refine", "those above [100|value col=count op=>]"),
        ("refine!", "[how many|measure fn=count] is that?"),
    ]);
    assert_eq!(found[1], "keeps the rows whose city is other than Porto; computes the number of rows for each city");
    assert_eq!(found[2], format!("{}; keeps the rows whose count is above 100", found[1]));
    assert_eq!(found[3], format!("{}; computes the number of rows of all rows", found[2]));
    let cut = plans(&[
        ("refine", "[five|limit n=5] [longest|order dir=desc col=minutes]"),
        ("refine", "of these [lisbon|value col=city val=Lisbon]"),
        ("refine", "[lisbon|value col=city val=Lisbon] and [porto|value col=city val=Porto]"),
    ]);
    assert_eq!(
        cut[1],
        "orders the rows by minutes, largest first; keeps the first 5 rows; keeps the rows whose city is Lisbon"
    );
    assert!(cut[2].ends_with("keeps the rows whose city is Lisbon or Porto"), "{}", cut[2]);
}

#[test]
fn a_part_of_a_date_has_only_what_it_can_have() {
    let found = plans(&[("refine", "rides of [May 2024|value col=started part=month]")]);
    assert_eq!(found, ["keeps the rows whose started is at least 2024-05-01 and started is below 2024-06-01"]);
    let found = plans(&[("refine", "rides of [quarter 7|value col=started part=quarter]")]);
    assert!(found[0].contains("!! `quarter 7` is not applied"), "{}", found[0]);
}

#[test]
fn words_without_a_value_are_the_value_as_the_table_spells_it() {
    let found = plans(&[
        ("refine", "[porto|value col=city], [Faro|value col=city] and [Ana Reis|value col=driver]"),
        ("retract", "not [faro|old col=city]"),
    ]);
    assert_eq!(
        found,
        [
            "keeps the rows whose city is Porto or Faro and driver is Ana Reis",
            "keeps the rows whose driver is Ana Reis and city is Porto"
        ]
    );
}

#[test]
fn a_month_in_a_column_of_months_is_its_number() {
    let found = plans(&[("refine", "rides from [April|value col=ride part=month op=>=] on")]);
    assert_eq!(found, ["keeps the rows whose ride is at least 4"]);
}

#[test]
fn values_are_meant_that_share_no_word_with_what_is_typed() {
    let text = r#"{"c": "x", "sheet": "runners", "columns": ["bib:integer", "sex:text=M|F", "surface:text=tarmac|gravel|grass", "minutes:number"]}"#;
    let conversations = conversations(text).expect("annotations");
    let schema = Schema { columns: conversations[0].sheet.clone().expect("columns"), ..Schema::default() };
    for (text, meant) in [("only the women", "sex is F"), ("men only", "sex is M")] {
        let turn = Reader::builtin().read(text, "", &schema, &|_, _| false);
        let plan = assemble(&turn, &schema, &Plan::of(Input::Table("runners".into()))).plan;
        let steps: Vec<String> = plan.relation.steps.iter().map(ToString::to_string).collect();
        assert_eq!(steps, [format!("keeps the rows whose {meant}")]);
    }
}

#[test]
fn the_best_of_each_group_and_shares() {
    let found = plans(&[(
        "refine",
        "the [longest|order dir=desc col=minutes] [ride|limit n=1] of every [driver|group col=driver]",
    )]);
    assert_eq!(found, ["keeps the first row for each driver, by minutes, largest first"]);
    let found = plans(&[(
        "refine",
        "[what share|measure fn=share] of the rides in [lisbon|value col=city val=Lisbon] were [cancelled|test col=cancelled op=yes]",
    )]);
    assert_eq!(
        found,
        ["keeps the rows whose city is Lisbon; computes the mean of 100 where cancelled is true, else 0 of all rows"]
    );
    let found = plans(&[(
        "refine",
        "[what share|measure fn=share] of rides were [cancelled|test col=cancelled op=yes] in [lisbon|value col=city val=Lisbon]",
    )]);
    assert_eq!(
        found,
        ["keeps the rows whose city is Lisbon; computes the mean of 100 where cancelled is true, else 0 of all rows"]
    );
}

#[test]
fn what_cannot_be_applied_is_named() {
    let found =
        plans(&[("refine", "by [postcode|group col=?], [tips|show col=tip] of [twelve|value col=driver op=>]")]);
    assert!(found[0].contains("!! `postcode` is not applied: there is no such column"), "{}", found[0]);
    let wanted = plans(&[(
        "refine",
        "add [the weather|add] of the same [day|key col=started] from [the weather office|table how=join]",
    )]);
    assert!(wanted[0].contains(r#"Join `the weather office` ["the weather"]"#), "{}", wanted[0]);
}

/// A schema of made-up columns.
fn schema(columns: usize) -> Schema {
    let kinds = [ColumnKind::Text, ColumnKind::Integer, ColumnKind::Number, ColumnKind::Date, ColumnKind::Boolean];
    let column = |at: usize| SchemaColumn {
        values: vec![format!("value {at}"), "[SEP]".into(), "\u{202e}évil\0".into()],
        ..SchemaColumn::new(format!("column {at} | = \n\"x\""), kinds[at % kinds.len()])
    };
    Schema { columns: (0..columns).map(column).collect(), ..Schema::default() }
}

#[test]
fn any_text_over_any_table_is_read_within_bounds() {
    let long = "drop everything above 3 ".repeat(20_000);
    let texts =
        ["", "   ", "?", "\0\0", "é\u{301}\u{202e}\u{fffd} 的 [CLS] [SEP] ## |", "[north|value col=region]", &long];
    for columns in [0, 1, 7, 2_000] {
        let schema = schema(columns);
        for text in texts {
            let read = || Reader::builtin().read(text, &long, &schema, &|_, _| true);
            let turn = read();
            assert!((1..=2).contains(&turn.acts.len()));
            let mut end = 0;
            for span in &turn.spans {
                assert!(span.bytes.start >= end && !span.bytes.is_empty(), "spans overlap");
                assert_eq!(text.get(span.bytes.clone()), Some(span.words.as_str()));
                assert!(span.columns.iter().chain(&span.second).all(|column| *column < columns));
                assert!((0.0..=1.0).contains(&span.confidence));
                end = span.bytes.end;
            }
            assert_eq!(turn, read(), "the same turn is read in the same way");
            let readings = Reader::builtin().readings(text, &long, &schema, &|_, _| true, READINGS);
            assert!((1..=READINGS).contains(&readings.len()) && readings[0].turn == turn);
            assert!(readings.is_sorted_by(|a, b| a.ratio >= b.ratio), "the likeliest comes first");
            let plan = Plan::of(Input::Table("t".into()));
            let assembly = assemble(&turn, &schema, &plan);
            assembly.plan.check().expect("a plan of a size that can be carried out");
        }
    }
}

#[test]
fn a_plain_turn_is_read() {
    let text = format!("{SHEET}\n");
    let conversations = conversations(&text).expect("annotations");
    let schema = Schema { columns: conversations[0].sheet.clone().expect("columns"), ..Schema::default() };
    let turn = Reader::builtin().read("average fare per city", "", &schema, &|_, _| false);
    let plan = assemble(&turn, &schema, &Plan::of(Input::Table("rides".into()))).plan;
    let steps: Vec<String> = plan.relation.steps.iter().map(ToString::to_string).collect();
    assert_eq!(steps, ["computes the mean of fare for each city"]);
}

#[test]
fn rows_in_groups_are_counted_for_a_condition_and_shown_when_asked_for() {
    let found = plans(&[
        (
            "refine",
            "[average fare|measure fn=mean col=fare] by [driver|group col=driver], at least [ten|value col=count op=>=] rides",
        ),
        ("correct", "by [city|group col=city] rather than [driver|old col=driver]"),
        ("refine", "and [how many|measure fn=count]"),
    ]);
    let of = |key: &str| {
        format!(
            "computes the mean of fare and the number of rows for each {key}; keeps the rows whose count is at least 10"
        )
    };
    assert_eq!(
        found,
        [format!("{}; leaves out count", of("driver")), format!("{}; leaves out count", of("city")), of("city")]
    );
}

#[test]
fn every_one_of_what_was_kept_one_of() {
    let found = plans(&[
        ("refine", "[average fare|measure fn=mean col=fare] in [faro|value col=city val=Faro]"),
        ("correct", "no, for every [city|group col=city]"),
    ]);
    assert_eq!(found[1], "computes the mean of fare for each city");
}

#[test]
fn a_column_of_text_has_one_of_the_names_that_are_said_together() {
    let read = |marked: &str| {
        let text = format!("{SHEET}\n{{\"c\": \"x\", \"t\": 1, \"act\": \"refine\", \"m\": \"{marked}\"}}\n");
        let conversations = conversations(&text).expect("annotations");
        let turns = conversations[0].labelled(None);
        let mut schema = turns[0].schema.clone();
        let driver = schema.columns.iter_mut().find(|column| column.name == "driver").expect("a column");
        driver.values = vec!["Ana Silva".into(), "Rui Costa".into()];
        let mut turn = turns[0].meant.clone();
        turn.spans.iter_mut().for_each(|span| span.value = None);
        let plan = assemble(&turn, &schema, &Plan::of(Input::Table("rides".into()))).plan;
        plan.relation.steps.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    // A cell is one of the names; what cells must mention they must mention whole.
    assert_eq!(
        read("only [silva|value col=driver] and [costa|value col=driver]"),
        ["keeps the rows whose driver contains “silva” or driver contains “costa”"]
    );
    assert_eq!(
        read("that mention [silva|value col=driver op=contains] and [costa|value col=driver op=contains]"),
        ["keeps the rows whose driver contains “silva” and driver contains “costa”"]
    );
}

#[test]
fn a_figure_of_each_is_one_of_the_groups_that_stand() {
    let average = ("refine", "[average fare|measure fn=mean col=fare] by [driver|group col=driver]");
    let found = plans(&[average, ("refine!result", "and [how many|measure fn=count] is that each")]);
    assert_eq!(found[1], "computes the mean of fare and the number of rows for each driver");
    let found = plans(&[average, ("refine!result", "and [how many|measure fn=count] is that")]);
    assert_eq!(found[1], "computes the mean of fare for each driver; computes the number of rows of all rows");
    let found = plans(&[("refine", "[how many|measure fn=count] each")]);
    assert_eq!(found, ["computes the number of rows of all rows !! `each` is not applied: it does not say of what"]);
}
