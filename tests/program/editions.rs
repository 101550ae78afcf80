//! Tables of one kind with a year or a month in their names: what is asked for another period is asked of its table.

use lakeward::{Lakeward, Place};
use lakeward_agent::Request;
use lakeward_agent::session::Session;
use lakeward_core::monitor::Silent;
use lakeward_core::plan::{Plan, Step};
use lakeward_core::request::Input;
use lakeward_index::build::BuildOptions;

use crate::place::Folder;

/// The plan that `text` comes to first, carried out.
fn say(lakeward: &Lakeward, session: &mut Session, text: &str) -> Plan {
    let request = Request { text: text.into(), ..Request::default() };
    let answer = lakeward.ask(session, &request).expect("an answer").0.into_inner();
    let plan = answer.plan(1).expect("a plan").clone();
    lakeward.run(session, &plan).expect("a result");
    plan
}

fn source(plan: &Plan) -> &str {
    match &plan.relation.source {
        Input::Table(id) => id,
        _ => "",
    }
}

fn appended(plan: &Plan) -> Vec<&Input> {
    let unions =
        plan.relation.steps.iter().filter_map(|step| if let Step::Union(union) = step { Some(union) } else { None });
    unions.flat_map(|union| &union.others).map(|part| &part.with.source).collect()
}

#[test]
fn another_year_is_another_table() {
    let rows = |year: i32| {
        let rows = (1..=28).map(|day| {
            let (region, amount) = (["North", "South"][day % 2], 100 + day);
            format!("{day},{region},{year}-02-{day:02},{amount}\n")
        });
        format!("no,region,sold_on,amount\n{}", rows.collect::<String>())
    };
    let files: Vec<(String, String)> = (2019..=2021)
        .map(|year| (format!("sales_{year}.csv"), rows(year)))
        .chain([("fees_20.csv".into(), rows(2020))])
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = Folder::of(&files);
    let place = Place::new(folder.path(), None).expect("a place");
    let (lakeward, _) = Lakeward::build(place, &BuildOptions::default(), &Silent).expect("an index");
    let mut session = Session::new("years", "lake");
    session.use_table(Input::Table("sales_2019".into()));
    let north = say(&lakeward, &mut session, "only the North region");
    assert_eq!(source(&north), "sales_2019");
    // The steps before stay.
    let other = say(&lakeward, &mut session, "the same for 2020");
    assert_eq!((source(&other), &other.relation.steps), ("sales_2020", &north.relation.steps));
    let both = say(&lakeward, &mut session, "2021 too");
    assert_eq!((source(&both), appended(&both)), ("sales_2020", vec![&Input::Table("sales_2021".into())]));
    assert_eq!(session.working().and_then(|_| session.plan()), Some(both));
    // A year of these rows is one of their values, and rows of another year would not be left then.
    let one = say(&lakeward, &mut session, "only those sold in 2021");
    assert_eq!(appended(&one).len(), 1);
    assert!(one.relation.steps.iter().any(|step| matches!(step, Step::Filter(_))));
    let request = Request { text: "the same for 2019".into(), ..Request::default() };
    let answer = lakeward.ask(&mut session, &request).expect("an answer").0.into_inner();
    let plan = answer.plan(1).ok();
    assert!(plan.is_none_or(|plan| source(plan) == "sales_2020" && appended(plan).len() == 1), "{plan:?}");
}

#[test]
fn dates_of_one_year_are_those_of_another_in_its_table() {
    let rows = |year: i32| {
        let rows = (1..=120).map(|at| {
            let (depot, month, day) = (["Mill", "Dock", "Hill"][at % 3], at % 12 + 1, at % 28 + 1);
            format!("{at},{depot},{year}-{month:02}-{day:02},{}\n", 807 + 20 * at)
        });
        format!("no,depot,started,litres\n{}", rows.collect::<String>())
    };
    let folder = Folder::of(&[("tours_2022.csv", &rows(2022)), ("tours_2023.csv", &rows(2023))]);
    let place = Place::new(folder.path(), None).expect("a place");
    let (lakeward, _) = Lakeward::build(place, &BuildOptions::default(), &Silent).expect("an index");
    let mut session = Session::new("dates", "lake");
    session.use_table(Input::Table("tours_2023".into()));
    let quarter = say(&lakeward, &mut session, "only tours started from January to March 2023");
    let other = say(&lakeward, &mut session, "the same for 2022");
    let written = |plan: &Plan| serde_json::to_string(&plan.relation.steps).expect("JSON");
    assert_eq!((source(&quarter), source(&other)), ("tours_2023", "tours_2022"));
    assert!(written(&quarter).contains("2023"), "{}", written(&quarter));
    assert_eq!(written(&other), written(&quarter).replace("2023", "2022"));
    // A number that looks like a year is none.
    let mut session = Session::new("numbers", "lake");
    session.use_table(Input::Table("tours_2023".into()));
    let many = say(&lakeward, &mut session, "only tours with litres below 2023");
    let request = Request { text: "the same for 2022".into(), ..Request::default() };
    let answer = lakeward.ask(&mut session, &request).expect("an answer").0.into_inner();
    let numbers = |plan: &Plan| written(plan).matches("2023").count();
    assert_eq!(numbers(&many), 1, "{}", written(&many));
    assert!(answer.plan(1).is_ok_and(|plan| numbers(plan) == 1), "{:?}", answer.operations.first());
}

#[test]
fn an_edition_may_call_its_columns_otherwise() {
    let rows = |header: &str, year: i32, clerks: [&str; 3]| {
        let row = |at: usize| {
            let (street, clerk) = (["Mill Lane", "High Street", "Dock Road"][at % 3], clerks[at % 3]);
            format!(
                "{year}/{at:04},{year}-{:02}-{:02},{street},{},{clerk}\n",
                at % 12 + 1,
                at % 28 + 1,
                20 + 5 * (at % 9)
            )
        };
        format!("{header}\n{}", (1..=90).map(row).collect::<String>())
    };
    let folder = Folder::of(&[
        ("fines_2021.csv", &rows("notice,issued,street,amount_eur,clerk", 2021, ["K10", "K11", "K12"])),
        ("fines_2022.csv", &rows("notice_no,issued_on,street_name,amount,clerk_id", 2022, ["K10", "K11", "K15"])),
    ]);
    let place = Place::new(folder.path(), None).expect("a place");
    let (lakeward, _) = Lakeward::build(place, &BuildOptions::default(), &Silent).expect("an index");
    let mut session = Session::new("renamed", "lake");
    session.use_table(Input::Table("fines_2021".into()));
    say(&lakeward, &mut session, "number of fines per clerk");
    let both = say(&lakeward, &mut session, "both years together, 2021 and 2022");
    assert_eq!(appended(&both), [&Input::Table("fines_2022".into())]);
    assert!(!both.relation.steps.iter().any(|step| matches!(step, Step::Filter(_))), "{:?}", both.relation.steps);
    // What only the appended rows have is known, and is not taken for another code.
    let without = say(&lakeward, &mut session, "leave out K15");
    let filters = without.relation.steps.iter().filter(|step| matches!(step, Step::Filter(_))).map(Step::to_string);
    assert_eq!(filters.collect::<Vec<_>>(), ["keeps the rows whose clerk is other than K15"]);
}

#[test]
fn another_month_is_another_table() {
    let rows = |month: u32| {
        let rows = (1..=28).map(|day| format!("{day:02},Z{},2024-{month:02}-{day:02},{}\n", day % 4, 40 + day));
        format!("no,zone,read_on,litres\n{}", rows.collect::<String>())
    };
    let files: Vec<(String, String)> =
        (5..=8).map(|month| (format!("net/losses_2024_{month:02}.csv"), rows(month))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = Folder::of(&files);
    let place = Place::new(folder.path(), None).expect("a place");
    let (lakeward, _) = Lakeward::build(place, &BuildOptions::default(), &Silent).expect("an index");
    let mut session = Session::new("months", "lake");
    let first = say(&lakeward, &mut session, "litres per zone in august");
    assert_eq!(source(&first), "net/losses_2024_08");
    let other = say(&lakeward, &mut session, "same for July");
    assert_eq!(source(&other), "net/losses_2024_07");
    // Several are found together.
    let request = Request { text: "losses in June and July".into(), ..Request::default() };
    let answer = lakeward.ask(&mut Session::new("both", "lake"), &request).expect("an answer").0.into_inner();
    let both = answer.plan(1).expect("a plan");
    assert_eq!(
        (source(both), appended(both)),
        ("net/losses_2024_06", vec![&Input::Table("net/losses_2024_07".into())])
    );
    let more = say(&lakeward, &mut session, "may to june too");
    let of_months = ["net/losses_2024_05", "net/losses_2024_06"].map(|id| Input::Table(id.into()));
    assert_eq!((source(&more), appended(&more)), ("net/losses_2024_07", of_months.iter().collect()));
}
