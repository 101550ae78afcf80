//! A session edits one plan: what is proposed goes on from how the working table is made, and starts from tables of the lake.

use lakeward::Lakeward;
use lakeward_agent::recommend::{Precondition, RankedOperation};
use lakeward_agent::session::Session;
use lakeward_core::plan::{Edit, Plan};
use lakeward_core::request::{Act, Input, OperationKind};

use crate::place::{Folder, say};

const SALES: &str = "shop,kind,amount\nNorth,tea,10\nNorth,coffee,20\nSouth,tea,5\nSouth,tea,7\nEast,coffee,40\n";

fn lake() -> (Folder, Lakeward) {
    let folder = Folder::of(&[("sales.csv", SALES)]);
    let lakeward = folder.lake();
    (folder, lakeward)
}

fn proposed(lakeward: &Lakeward, session: &mut Session, text: &str, kind: OperationKind) -> RankedOperation {
    say(lakeward, session, text)
        .operations
        .into_iter()
        .find(|operation| operation.kind == kind)
        .expect("an operation of each kind")
}

fn steps(plan: &Plan) -> Vec<String> {
    plan.relation.steps.iter().map(ToString::to_string).collect()
}

#[test]
fn operations_go_on_from_the_plan_of_the_working_table() {
    let (_folder, lakeward) = lake();
    let mut session = lakeward.sessions().create(Some("s"), "lake").expect("a session");
    let sales = Input::Table("sales".into());
    session.use_table(sales.clone());
    let tea = r#"{"add_condition": {"compare": {"left": {"column": "kind"}, "comparison": "equal", "right": {"value": "tea"}}}}"#;
    let tea = serde_json::from_str::<Edit>(tea).expect("a change");
    let tea = lakeward.agent().edit_proposal(&session, &tea).expect("a proposal");
    assert_eq!((tea.kind, tea.reason.as_str()), (OperationKind::Filter, "keeps the rows whose kind is tea"));
    let tea = tea.runnable.expect("a plan");
    assert_eq!(steps(&tea), ["keeps the rows whose kind is tea"]);
    assert_eq!(lakeward.run(&mut session, &tea).expect("a run").rows, 3);
    let again = lakeward.run(&mut session, &tea).expect_err("nothing changes").to_string();
    assert_eq!(again, "not carried out: the plan is the one of the working table");
    assert_eq!((session.working(), session.plan()), (Some(Input::Step(1)), Some(tea.clone())));
    let per_shop =
        proposed(&lakeward, &mut session, "total amount per shop", OperationKind::Aggregate).runnable.expect("a plan");
    assert_eq!(steps(&per_shop), ["keeps the rows whose kind is tea", "computes the total amount for each shop"]);
    assert_eq!(per_shop.inputs(), [&sales], "never a result");
    assert_eq!(lakeward.run(&mut session, &per_shop).expect("a run").rows, 2);

    // A correction recomputes from the table.
    let edit = Edit::Remove { step: 1 };
    let change = lakeward.agent().edit_proposal(&session, &edit).expect("a proposal");
    assert_eq!(
        (change.kind, change.reason.as_str()),
        (OperationKind::Aggregate, "no longer keeps the rows whose kind is tea")
    );
    assert!(change.preconditions.iter().all(|precondition| precondition.met) && change.sql.is_some());
    let all = change.runnable.expect("a plan");
    assert_eq!(lakeward.run(&mut session, &all).expect("a run").rows, 3);
    assert_eq!(steps(&session.plan().expect("a plan")), ["computes the total amount for each shop"]);
    session.undo();
    assert_eq!(session.plan(), Some(per_shop));

    // What does not fit says why, and is not run.
    let none = lakeward.agent().edit_proposal(&session, &Edit::Remove { step: 7 }).expect("a proposal");
    assert!(none.runnable.is_none() && none.preconditions[0].what.contains("no step 7"), "{none:?}");
    let column = serde_json::from_str::<Edit>(r#"{"add": {"step": {"drop": ["shpo"]}}}"#).expect("a change");
    let unknown = lakeward.agent().edit_proposal(&session, &column).expect("a proposal");
    assert!(unknown.runnable.is_none() && unknown.preconditions[0].what.contains("`shop`"), "{unknown:?}");
}

#[test]
fn an_answer_says_what_it_rests_on() {
    let (_folder, lakeward) = lake();
    let unmet = |operation: &RankedOperation| -> Vec<String> {
        operation
            .preconditions
            .iter()
            .filter(|condition| !condition.met)
            .map(|condition| condition.what.to_string())
            .collect()
    };
    let rests_on = |whats: Vec<String>, what: &str| whats.iter().any(|what_is| what_is.contains(what));
    let mut session = lakeward.sessions().create(Some("s"), "lake").expect("a session");
    session.use_table(Input::Table("sales".into()));
    let first = proposed(&lakeward, &mut session, "only tea", OperationKind::Filter);
    let mut chosen = session.clone();
    chosen.use_table(Input::Table("sales".into()));
    let total = proposed(&lakeward, &mut chosen, "total amount per shop", OperationKind::Aggregate);
    assert!(!rests_on(unmet(&total), "not carried out"), "it was not asked of the table chosen since: {total:?}");
    // What could not be carried out at all.
    let mut lost = session.clone();
    let answer = lost.turns[0].recommendation.as_mut().expect("an answer");
    answer.operations.iter_mut().for_each(|operation| operation.runnable = None);
    let total = proposed(&lakeward, &mut lost, "total amount per shop", OperationKind::Aggregate);
    assert!(rests_on(unmet(&total), "“only tea” was not carried out"), "{total:?}");
    // Carried out.
    let mut session = lakeward.sessions().create(Some("t"), "lake").expect("a session");
    session.use_table(Input::Table("sales".into()));
    proposed(&lakeward, &mut session, "only tea", OperationKind::Filter);
    let tea = first.runnable.expect("a plan");
    lakeward.run(&mut session, &tea).expect("a run");
    let mut doubtful = session.clone();
    let total = proposed(&lakeward, &mut session, "total amount per shop", OperationKind::Aggregate);
    assert!(!rests_on(unmet(&total), "only tea"), "{total:?}");
    // Carried out in spite of a doubt.
    let answer = doubtful.turns[0].recommendation.as_mut().expect("an answer");
    let operation = answer.operations.iter_mut().find(|operation| operation.runnable.as_ref() == Some(&tea));
    let doubt = Precondition { met: false, what: "what `tea` means is uncertain".into() };
    operation.expect("the operation").preconditions.push(doubt);
    let total = proposed(&lakeward, &mut doubtful, "total amount per shop", OperationKind::Aggregate);
    assert!(rests_on(unmet(&total), "it rests on “only tea”"), "{total:?}");
    // A step is taken back, and what is left rests on it still.
    let mut back = doubtful.clone();
    lakeward.run(&mut back, &total.runnable.expect("a plan")).expect("a run");
    let notes = say(&lakeward, &mut back, "undo that").notes;
    assert!(notes.iter().any(|note| note.starts_with("warning: it rests on “only tea”")), "{notes:?}");
    doubtful.undo();
    let total = proposed(&lakeward, &mut doubtful, "total amount per kind", OperationKind::Aggregate);
    assert!(!rests_on(unmet(&total), "it rests on"), "{total:?}");
}

#[test]
fn what_was_asked_for_counts_before_it_is_carried_out() {
    let (_folder, lakeward) = lake();
    let mut session = lakeward.sessions().create(Some("s"), "lake").expect("a session");
    session.use_table(Input::Table("sales".into()));
    let pending = |session: &Session| session.pending().last().map(|plan| steps(plan)).unwrap_or_default();
    proposed(&lakeward, &mut session, "total amount per shop", OperationKind::Aggregate);
    let tea = proposed(&lakeward, &mut session, "only tea", OperationKind::Filter);
    let both = ["keeps the rows whose kind is tea", "computes the total amount for each shop"];
    assert_eq!(pending(&session), both);
    assert_eq!(*tea.reason, both.join(", then "), "nothing of it has been carried out yet");
    assert!(!tea.preconditions.iter().any(|condition| condition.what.contains("was not carried out")), "{tea:?}");

    // Steps back take what is pending before anything that was carried out, and offer what stood before it.
    let mut back = session.clone();
    let answer = say(&lakeward, &mut back, "undo that");
    assert_eq!(answer.operations.len(), 1);
    assert_eq!(answer.operations[0].reason, both[1]);
    assert_eq!(pending(&back), [both[1]]);
    let answer = say(&lakeward, &mut back, "undo that");
    assert!(answer.operations.is_empty() && back.pending().is_empty(), "{answer:?}");

    // What is turned down is dropped as well.
    let mut refused = session.clone();
    let answer = say(&lakeward, &mut refused, "no, not that");
    assert_eq!(answer.signals.acts, [Act::Reject]);
    assert_eq!(pending(&refused), [both[1]]);

    // Once it is carried out, or another table is chosen, nothing is pending.
    let mut other = session.clone();
    other.use_table(Input::Table("sales".into()));
    assert!(other.pending().is_empty());
    lakeward.run(&mut session, &tea.runnable.expect("a plan")).expect("a run");
    assert!(session.pending().is_empty());
    assert_eq!(steps(&session.plan_before(1).expect("a table")), [""; 0]);
}

#[test]
fn steps_back_reach_as_far_in_a_session_that_is_saved_after_every_turn() {
    let (_folder, lakeward) = lake();
    let mut session = lakeward.sessions().create(Some("s"), "lake").expect("a session");
    session.use_table(Input::Table("sales".into()));
    let mut said = |text: &str| {
        let answer = say(&lakeward, &mut session, text);
        lakeward.sessions().save(&mut session).expect("a place");
        session = lakeward.sessions().open("s").expect("as it was saved");
        let first = answer.operations.iter().find(|operation| operation.requested);
        first.and_then(|operation| operation.runnable.as_ref()).map(steps).unwrap_or_default()
    };
    let requests = ["only tea", "total amount per shop", "largest first", "the first two only"];
    let mut asked: Vec<Vec<String>> = requests.iter().map(|request| said(request)).collect();
    assert!(asked.iter().all(|steps| !steps.is_empty()), "{asked:?}");
    while asked.pop().is_some() {
        assert_eq!(said("undo that"), asked.last().cloned().unwrap_or_default(), "{} are left", asked.len());
    }
}
