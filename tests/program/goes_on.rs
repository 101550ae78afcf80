//! What a conversation goes on from: proposals that have not been run stand until they are taken back, whatever is asked or thanked between, and what
//! cannot be used takes nothing away.

use lakeward::Lakeward;
use lakeward_agent::recommend::{RankedOperation, Recommendation};
use lakeward_core::plan::Plan;

use crate::place::{Folder, built, say};

fn lake() -> (Folder, Lakeward) {
    let mut rentals = String::from("rental_no,room,client,event_date,guests,rent_eur,catering\n");
    let rooms = ["Great Hall", "Small Hall", "Foyer"];
    let clients = ["Jazz Club", "Rotary", "City of Marbach", "Choral Society"];
    for rental in 0..180 {
        let (year, month, day) = (2022 + rental % 3, rental % 12 + 1, rental % 27 + 1);
        rentals.push_str(&format!(
            "{},{},{},{year}-{month:02}-{day:02},{},{},{}\n",
            5000 + rental,
            rooms[rental % 3],
            clients[rental % 4],
            30 + rental % 200,
            400 + 13 * (rental % 40),
            ["yes", "no"][rental % 2]
        ));
    }
    let mut members = String::from("member_no,full_name,section,birth_date,joined\n");
    for member in 0..90 {
        members.push_str(&format!(
            "{},Member {member},{},{}-05-{:02},{}\n",
            100 + member,
            ["Brass", "Strings", "Woodwind"][member % 3],
            1950 + member % 50,
            member % 27 + 1,
            1990 + member % 30
        ));
    }
    let folder = Folder::of(&[("hall_rentals.csv", &rentals), ("members.csv", &members)]);
    let (lakeward, _) = built(folder.path());
    (folder, lakeward)
}

fn first(answer: &Recommendation) -> &RankedOperation {
    answer.operations.first().unwrap_or_else(|| panic!("no operation: {answer:?}"))
}

fn plan(answer: &Recommendation) -> String {
    let plan: Option<&Plan> = first(answer).runnable.as_ref();
    serde_json::to_string(&plan).expect("a plan")
}

/// The plan of the last of these turns.
fn after(lakeward: &Lakeward, turns: &[&str]) -> (String, Recommendation) {
    let mut session = lakeward.new_session();
    let mut answers = turns.iter().map(|turn| say(lakeward, &mut session, turn)).collect::<Vec<_>>();
    let last = answers.pop().expect("a turn");
    let plan = if last.operations.is_empty() { String::new() } else { plan(&last) };
    (plan, last)
}

#[test]
fn what_comes_between_leaves_a_proposal_standing() {
    let (_folder, lakeward) = lake();
    for between in
        ["thanks", "thank you very much indeed", "what is the licence of this, please?", "what does rent_eur mean?"]
    {
        let (plan, answer) =
            after(&lakeward, &["hall rentals of the Jazz Club", between, "only those in the Great Hall"]);
        assert!(plan.contains("Jazz Club") && plan.contains("Great Hall"), "{between}: {plan} {:?}", answer.notes);
    }
}

#[test]
fn what_cannot_be_used_takes_nothing_away() {
    let (_folder, lakeward) = lake();
    let turns = ["hall rentals of the Jazz Club", "only the glamorous ones", "only those in the Great Hall"];
    let (plan, answer) = after(&lakeward, &turns);
    assert!(plan.contains("Jazz Club") && plan.contains("Great Hall"), "{plan} {:?}", answer.notes);
}

#[test]
fn a_month_more_is_either_and_can_be_forgotten() {
    let (_folder, lakeward) = lake();
    let turns = ["hall rentals in march 2024", "april too", "forget april", "only the Great Hall"];
    let both = after(&lakeward, &turns[..2]).0;
    assert!(both.contains("any") && both.contains('3') && both.contains('4'), "{both}");
    let without = after(&lakeward, &turns[..3]).0;
    assert!(!without.contains("any") && without.contains("\"month\""), "{without}");
    let last = after(&lakeward, &turns).0;
    assert!(!last.contains("any") && last.contains("Great Hall") && last.contains("2024"), "{last}");
}

#[test]
fn bounds_are_negated_and_corrected_as_bounds() {
    let (_folder, lakeward) = lake();
    let negated = after(&lakeward, &["members who did not join before 2010"]).0;
    assert!(negated.contains("at_least"), "{negated}");
    let corrected = after(&lakeward, &["members who joined before 2010", "I beg your pardon, 2005."]).0;
    assert!(corrected.contains("less") && corrected.contains("2005") && !corrected.contains("2010"), "{corrected}");
    let between = after(&lakeward, &["hall rentals with a rent_eur between four and six hundred"]).0;
    assert!(between.contains("400") && between.contains("600"), "{between}");
}

#[test]
fn an_order_of_rows_leaves_the_figure_of_all() {
    let (_folder, lakeward) = lake();
    let (rows, answer) = after(&lakeward, &["average guests of the hall rentals", "sort them by rent_eur"]);
    assert!(rows.contains("rent_eur") && rows.contains("sort") && !rows.contains("mean"), "{rows}");
    assert!(first(&answer).reason.contains("the rows that the figure before is of"), "{}", first(&answer).reason);
}

/// Loans with three dates, orders with quantity and price, readers with towns.
fn loans() -> (Folder, Lakeward) {
    let mut loans = String::from("loan_no,book,reader,loan_date,due_date,return_date\n");
    let mut orders = String::from("order_id,supplier,qty,unit_price,ordered_on,delivered_on\n");
    for row in 0..120 {
        let (month, day) = (row % 9 + 1, row % 17 + 1);
        let book = ["Emma", "Dune", "Persuasion"][row % 3];
        loans.push_str(&format!(
            "{},{book},R{:02},2024-{month:02}-{day:02},2024-{:02}-{day:02},2024-{:02}-{:02}\n",
            1000 + row,
            row % 30,
            month + 1,
            month + 1,
            day + row % 11
        ));
        orders.push_str(&format!(
            "{row},{},{},{},2024-{month:02}-{day:02},2024-{month:02}-{:02}\n",
            ["Nordlicht", "Dovetail"][row % 2],
            row % 12 + 1,
            [9.5, 20.0, 45.0][row % 3],
            day + 1 + row % 9
        ));
    }
    let mut readers = String::from("reader,town,phone\n");
    for row in 0..30 {
        readers.push_str(&format!("R{row:02},{},555-{row:03}\n", ["Aalen", "Ulm", "Horb"][row % 3]));
    }
    let folder = Folder::of(&[("loans.csv", &loans), ("orders.csv", &orders), ("readers.csv", &readers)]);
    let (lakeward, _) = built(folder.path());
    (folder, lakeward)
}

#[test]
fn the_time_between_two_dates_is_computed_where_it_is_asked_for() {
    let (_folder, lakeward) = loans();
    let mean = after(&lakeward, &["average number of days between loan date and return date"]).0;
    assert!(mean.contains("mean") && mean.contains("return_date") && !mean.contains("due_date"), "{mean}");
    let longer = after(&lakeward, &["loans kept longer than 30 days"]).0;
    assert!(longer.contains("minus") && longer.contains("greater") && longer.contains("30"), "{longer}");
    let weeks = after(&lakeward, &["average weeks from order to delivery by supplier"]).0;
    assert!(weeks.contains("divided_by") && weeks.contains("delivered_on") && weeks.contains("supplier"), "{weeks}");
    // Those are counted from today, and these are a period.
    for text in ["orders of the last 30 days", "loans older than 90 days"] {
        let plan = after(&lakeward, &[text]).0;
        assert!(!plan.contains("minus"), "{text}: {plan}");
    }
}

#[test]
fn money_is_how_many_times_the_price_of_one() {
    let (_folder, lakeward) = loans();
    let (spend, answer) = after(&lakeward, &["what did we spend with each supplier?"]);
    assert!(spend.contains("times") && spend.contains("qty") && spend.contains("unit_price"), "{spend}");
    let reason = &first(&answer).reason;
    assert!(reason.contains("`spend` is qty times unit_price"), "{reason}");
}

#[test]
fn a_name_that_only_another_table_has_is_looked_up_there() {
    let (_folder, lakeward) = loans();
    let (towns, answer) = after(&lakeward, &["loans by town"]);
    assert!(towns.contains("\"join\"") && towns.contains("readers") && towns.contains("town"), "{towns}");
    assert!(first(&answer).reason.contains("`town` is that of `readers`"), "{}", first(&answer).reason);
}

#[test]
fn rows_of_another_table_are_counted_where_they_are_spoken_of() {
    let (_folder, lakeward) = loans();
    let more = after(&lakeward, &["readers", "readers with more than 3 loans"]).0;
    assert!(more.contains("loans") && more.contains("greater") && more.contains("first_present"), "{more}");
    let (none, answer) = after(&lakeward, &["readers", "readers without any loans"]);
    let is_none = r#""left":{"column":"loans"},"comparison":"equal","right":{"value":0}"#;
    assert!(none.contains(is_none), "{none}");
    let reason = &first(&answer).reason;
    assert!(reason.contains("`loans` is the number of rows of `loans` for each `reader`"), "{reason}");
    let each = after(&lakeward, &["readers", "how many loans does each reader have?"]).0;
    assert!(each.contains("first_present") && !each.contains("sum"), "{each}");
    // What stands behind is said of the loans where they have it, else it may be.
    for (request, said) in
        [("readers without loans of Dune", "Dune"), ("readers who have had no loans since August 2024", "2024-08-01")]
    {
        let (some, answer) = after(&lakeward, &["readers", request]);
        let counts = some.find("\"group\"").expect("a count");
        assert!(some[..counts].contains(said) && !some[counts..].contains(said), "{some}");
        assert!(first(&answer).reason.contains("of those where"), "{}", first(&answer).reason);
    }
    let (_, behind) = after(&lakeward, &["readers", "readers with more than 3 loans in Ulm"]);
    let doubts = &first(&behind).preconditions;
    assert!(doubts.iter().any(|doubt| !doubt.met && doubt.what.contains("not on `loans`")), "{doubts:?}");
    let found = after(&lakeward, &["readers with no loans"]).0;
    assert!(found.contains(is_none), "{found}");
}

#[test]
fn a_table_that_is_named_and_nothing_else_is_opened_whatever_is_at_hand() {
    let (_folder, lakeward) = loans();
    for request in ["orders", "show me the orders", "now the orders table please"] {
        let (opened, answer) = after(&lakeward, &["readers", "readers without any loans", request]);
        assert!(opened.contains(r#""table":"orders""#) && !opened.contains("loans"), "{request}: {opened}");
        assert!(first(&answer).preconditions.iter().all(|part| part.met), "{:?}", first(&answer));
    }
}

#[test]
fn a_table_that_was_opened_by_its_name_is_what_the_next_turn_is_about() {
    let (_folder, lakeward) = loans();
    let turns = ["readers", "readers without any loans", "ok now the orders", "only those with qty above 10"];
    let (over, answer) = after(&lakeward, &turns);
    assert!(over.contains(r#""table":"orders""#) && over.contains("qty") && !over.contains("loans"), "{over}");
    assert!(first(&answer).preconditions.iter().all(|part| part.met), "{:?}", first(&answer));
    // How something belongs to a table names none.
    let by = after(&lakeward, &["loans", "by reader"]).0;
    assert!(by.contains("group"), "{by}");
}

#[test]
fn thanks_carry_nothing_out() {
    let (_folder, lakeward) = loans();
    for request in ["thanks", "thanks, that is all", "great, that's all for now"] {
        let answer = after(&lakeward, &["loans", "only Dune", request]).1;
        assert!(!answer.carry_out && answer.operations.is_empty(), "{request}: {answer:?}");
    }
    let goes_on = after(&lakeward, &["loans", "only Dune", "thanks!", "how many are there?"]).0;
    assert!(goes_on.contains("Dune") && goes_on.contains("count"), "{goes_on}");
}

#[test]
fn only_who_agrees_has_what_was_proposed_carried_out() {
    let (_folder, lakeward) = loans();
    for request in ["hello", "interesting", "wow", "is that right", "qwerty", "asdf jkl"] {
        let (_, answer) = after(&lakeward, &["loans", "only Dune", request]);
        assert!(!answer.carry_out && answer.operations.is_empty() && !answer.notes.is_empty(), "{request}: {answer:?}");
    }
    for request in ["ok", "great", "looks good", "do it", "perfect, run it"] {
        assert!(after(&lakeward, &["loans", "only Dune", request]).1.carry_out, "{request}");
    }
}

#[test]
fn columns_are_renamed_and_spoken_of_by_their_new_names() {
    let (_folder, lakeward) = loans();
    let renamed = after(&lakeward, &["orders", "rename qty to pieces"]).0;
    assert!(renamed.contains(r#""rename":[["qty","pieces"]]"#), "{renamed}");
    let goes_on = after(&lakeward, &["orders", "rename qty to pieces", "only those with more than 5 pieces"]).0;
    assert!(goes_on.contains(r#""left":{"column":"pieces"},"comparison":"greater""#), "{goes_on}");
    // What cannot be done is said, and nothing else is done.
    for (request, reason) in [
        ("rename weight to kg", "`weight` is not applied: no column is called so"),
        ("rename qty to unit_price", "`unit_price` is not applied: another column is called so already"),
        ("drop the last filter", "no condition stands"),
    ] {
        let (_, in_vain) = after(&lakeward, &["orders", request]);
        let first = first(&in_vain);
        assert!(first.runnable.is_none() && first.reason.contains(reason), "{request}: {first:?}");
    }
}

#[test]
fn months_of_one_year_are_one_condition() {
    let (_folder, lakeward) = loans();
    let months = after(&lakeward, &["orders", "orders with ordered_on between March and May 2024"]).0;
    assert!(months.contains("2024-03-01") && months.contains("2024-06-01"), "{months}");
    let one = after(&lakeward, &["orders", "total qty of orders in March 2024"]).0;
    assert!(!(one.contains("ordered_on") && one.contains("delivered_on")), "one column: {one}");
}

#[test]
fn the_one_with_the_most_is_one() {
    let (_folder, lakeward) = loans();
    let one = after(&lakeward, &["orders", "the supplier with the highest total qty"]).0;
    assert!(one.contains(r#""limit":{"rows":1"#) && one.contains("sum"), "{one}");
}

#[test]
fn what_rows_are_sorted_by_makes_no_groups() {
    let (_folder, lakeward) = loans();
    let sorted = after(&lakeward, &["loans", "sort by book, then by loan date newest first"]).0;
    assert!(sorted.contains("sort") && sorted.contains("book") && !sorted.contains("top"), "{sorted}");
}

#[test]
fn misspelt_words_are_read_as_the_lake_spells_them() {
    let (_folder, lakeward) = lake();
    let (plan, answer) = after(&lakeward, &["hall rentels withuot catering by the Jazz Klub"]);
    assert!(plan.contains("hall_rentals") && plan.contains("catering"), "{plan}");
    let note = answer.notes.iter().find(|note| note.contains("read as")).expect("a note");
    assert!(note.contains("`rentels` read as `rentals`") && note.contains("`withuot` read as `without`"), "{note}");
    assert!(!note.contains("Klub"), "what no cell has is missing, not misspelt: {note}");
    let found = lakeward.search("membrers", 5).expect("an answer");
    assert!(found[0].table == "members" && found[0].reason.starts_with("`membrers` read as `members`: "), "{found:?}");
}

#[test]
fn another_count_is_beside_the_one_before() {
    let (_folder, lakeward) = lake();
    let turns = ["how many hall rentals are in the Great Hall?", "and how many in the Foyer?"];
    let other = after(&lakeward, &turns).0;
    assert!(other.contains("Foyer") && !other.contains("Great Hall"), "{other}");
    let among = after(&lakeward, &[turns[0], "how many of them are by Rotary?"]).0;
    assert!(among.contains("Rotary") && among.contains("Great Hall"), "{among}");
}

#[test]
fn which_of_them_are_rows_and_not_groups() {
    let (_folder, lakeward) = lake();
    let turns = ["number of hall rentals by client", "which of them have catering?"];
    let rows = after(&lakeward, &turns).0;
    assert!(rows.contains("catering") && !rows.contains("group"), "{rows}");
}

#[test]
fn ages_are_counted_from_a_date_of_birth() {
    let (_folder, lakeward) = lake();
    let (older, answer) = after(&lakeward, &["members older than 60"]);
    assert!(older.contains("birth_date") && older.contains("less"), "{older}");
    assert!(first(&answer).reason.contains("is an age"), "{}", first(&answer).reason);
    let joined = after(&lakeward, &["members whose joined is older than 10 years"]).0;
    assert!(joined.contains("less") && joined.contains("joined") && !joined.contains(":10}"), "{joined}");
    let mean = after(&lakeward, &["average age of the members by section"]).0;
    assert!(mean.contains("birth_date") && mean.contains("minus") && mean.contains("section"), "{mean}");
}

#[test]
fn who_names_no_column_is_not_sure_to_be_understood() {
    let (_folder, lakeward) = lake();
    let vague = after(&lakeward, &["hall rentals that went really well"]).1;
    assert!(first(&vague).score < 0.6, "{:?}", first(&vague));
    let other = after(&lakeward, &["hall rentals whose deposit is above 500"]).1;
    let doubts: Vec<&str> =
        first(&other).preconditions.iter().filter(|part| !part.met).map(|part| part.what.as_str()).collect();
    assert!(doubts.iter().any(|doubt| doubt.contains("`deposit`")), "{:?}", first(&other));
}

/// A lake in short names, and what its README says of them.
fn short_names() -> (Folder, Lakeward) {
    let mut calls = String::from("cl_no,dt,st,prs,qty,crw\n");
    for call in 0..160 {
        let (month, day) = (call % 12 + 1, call % 27 + 1);
        let state = ["open", "shut"][call % 2];
        calls.push_str(&format!(
            "{call},2024-{month:02}-{day:02},{state},{},{},crew {}\n",
            call % 9,
            call % 5,
            call % 7
        ));
    }
    let readme = "# Lifeboat\n\nCompiled by the harbour master\nof Sund. Licence: CC0. Last updated 2025-02-01.\n\n\
        - `prs`: persons who were on board\n- `crw`: crew that went out\n";
    let folder = Folder::of(&[("calls.csv", &calls), ("README.md", readme)]);
    let (lakeward, _) = built(folder.path());
    (folder, lakeward)
}

#[test]
fn a_readme_of_the_lake_says_what_columns_are_and_who_made_it() {
    let (_folder, lakeward) = short_names();
    let named = after(&lakeward, &["calls with more than six persons"]).0;
    assert!(named.contains("prs") && named.contains('6'), "{named}");
    let mut session = lakeward.new_session();
    say(&lakeward, &mut session, "show me the calls");
    let said = say(&lakeward, &mut session, "which licence has it, and who compiled it?");
    let facts: Vec<&str> = said.facts.iter().filter_map(|fact| fact.value.as_deref()).collect();
    assert!(facts.contains(&"CC0"), "{:?}", said.facts);
    assert!(facts.iter().any(|fact| fact.starts_with("the harbour master of Sund")), "{:?}", said.facts);
}

#[test]
fn what_is_named_alone_is_opened() {
    let (_folder, lakeward) = short_names();
    for text in ["calls", "I need the calls", "show me the calls please"] {
        let (plan, answer) = after(&lakeward, &[text]);
        let doubts = first(&answer).preconditions.iter().any(|part| !part.met);
        assert!(plan.contains("calls") && !plan.contains("steps") && !doubts, "{text}: {plan} {answer:?}");
    }
}

#[test]
fn a_number_that_is_asked_for_is_computed_or_missed() {
    let (_folder, lakeward) = short_names();
    let counted = after(&lakeward, &["how many calls are open?"]).1;
    assert!(first(&counted).reason.contains("`qty`"), "{}", first(&counted).reason);
    let (plan, missed) = after(&lakeward, &["show me the calls", "how much did it all cost in March?"]);
    let silent = missed
        .operations
        .first()
        .is_some_and(|first| first.question.is_none() && first.preconditions.iter().all(|part| part.met));
    assert!(plan.contains("group") || !silent, "{plan} {missed:?}");
    let sorted = after(&lakeward, &["show me the calls", "sort them by crew"]).0;
    assert!(sorted.contains("crw") && !sorted.contains("descending"), "{sorted}");
}
