//! What is said in closed forms: another operation of the answer, a new start, help, what is never done, and columns that are spelt.

use lakeward::Lakeward;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::Session;
use lakeward_core::plan::Plan;
use lakeward_core::request::Input;

use crate::place::{Folder, built, say};

fn lake() -> (Folder, Lakeward) {
    let mut stays = String::from("stay_no,st_cd,nights,paid_eur\n");
    for stay in 0..60 {
        stays.push_str(&format!("{},S{:02},{},{}\n", 100 + stay, stay % 6, stay % 9 + 1, 40 + 7 * (stay % 11)));
    }
    let mut sites = String::from("st_cd,site_name,kind\n");
    for (site, name) in
        ["Pine Bay", "Otter Creek", "Eagle Hut", "Fern Dell", "Heron Lake", "Larch Hut"].iter().enumerate()
    {
        sites.push_str(&format!("S{site:02},{name},{}\n", ["camp", "hut"][site % 2]));
    }
    let folder = Folder::of(&[("stays.csv", &stays), ("sites.csv", &sites)]);
    let (lakeward, _) = built(folder.path());
    (folder, lakeward)
}

fn on(lakeward: &Lakeward, table: &str) -> Session {
    let mut session = lakeward.new_session();
    session.use_table(Input::Table(table.into()));
    session
}

fn notes(answer: &Recommendation) -> String {
    answer.notes.iter().map(|note| note.as_str()).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_new_start_leaves_all_behind() {
    let (_folder, lakeward) = lake();
    let mut session = on(&lakeward, "stays");
    say(&lakeward, &mut session, "mean paid_eur per st_cd");
    say(&lakeward, &mut session, "only those of more than 3 nights");
    let answer = say(&lakeward, &mut session, "ok, start over");
    assert!(answer.operations.is_empty() && answer.is_answer(), "{answer:?}");
    assert!(notes(&answer).contains("the working table is now stays"), "{}", notes(&answer));
    assert!(session.pending().is_empty(), "{:?}", session.pending());
    assert!(session.demands.is_empty(), "{:?}", session.demands);
    let next = say(&lakeward, &mut session, "how many rows");
    assert_eq!(next.plan(1).expect("a plan").relation.steps.len(), 1, "{next:?}");
}

#[test]
fn another_operation_is_named_by_its_number() {
    let (_folder, lakeward) = lake();
    let mut session = on(&lakeward, "stays");
    let answer = say(&lakeward, &mut session, "top 5 sites by paid_eur");
    let second = answer.worth_showing().nth(1).and_then(|operation| operation.runnable.clone());
    let Some(second) = second else { return };
    let chosen = say(&lakeward, &mut session, "the second one");
    assert_eq!(chosen.plan(1).expect("a plan"), &second, "{}", notes(&chosen));
    let pending: Vec<Plan> = session.pending().into_iter().cloned().collect();
    assert_eq!(pending.last(), Some(&second), "what follows goes on from it");
}

#[test]
fn help_and_what_is_never_done_are_said() {
    let (_folder, lakeward) = lake();
    let help = say(&lakeward, &mut lakeward.new_session(), "help");
    assert!(help.is_answer() && notes(&help).contains("`start over`"), "{}", notes(&help));
    let delete = say(&lakeward, &mut lakeward.new_session(), "delete all rows of stays");
    assert!(notes(&delete).contains("files are never changed"), "{}", notes(&delete));
}

#[test]
fn a_spelt_column_is_explained_without_a_table_at_hand() {
    let (_folder, lakeward) = lake();
    let known = say(&lakeward, &mut lakeward.new_session(), "what does st_cd mean?");
    assert!(notes(&known).contains("S02: Eagle Hut"), "{}", notes(&known));
    let unknown = say(&lakeward, &mut lakeward.new_session(), "what does paid_eur mean?");
    assert!(notes(&unknown).contains("`paid_eur` is a column of `stays`"), "{}", notes(&unknown));
}
