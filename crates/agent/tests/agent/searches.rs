//! A turn searches for each text once, counted by the vectors that its searches ask the embedder for; and a request that names a grain finds
//! the partner that has it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lakeward_agent::config::Config;
use lakeward_agent::session::{Session, SessionStore};
use lakeward_agent::{Agent, Request};
use lakeward_core::monitor::Silent;
use lakeward_core::plan::Step;
use lakeward_core::request::OperationKind;
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, build};
use lakeward_models::embed::{Embedder, StaticModel};
use tempfile::TempDir;

/// The model in the program, keeping which weighted words it is asked for: each search for a text asks once.
struct Counting {
    asked: Mutex<Vec<String>>,
}

impl Embedder for Counting {
    fn id(&self) -> &str {
        StaticModel::builtin().id()
    }

    fn dims(&self) -> usize {
        StaticModel::builtin().dims()
    }

    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) -> usize {
        // One text alone is a column or a title of the table at hand.
        if texts.len() > 1 {
            let words: Vec<&str> = texts.iter().map(|(word, _)| *word).collect();
            self.asked.lock().expect("no panic").push(words.join(" "));
        }
        StaticModel::builtin().embed_weighted(texts, out)
    }
}

fn sample_lake() -> (PathBuf, TempDir, LakeIndex) {
    let lake = Path::new(crate::REPOSITORY).join("lake");
    let folder = tempfile::tempdir().expect("a folder");
    let builtin = StaticModel::builtin();
    build(&lake, folder.path(), builtin, &BuildOptions::default(), &Silent).expect("a build");
    let index = LakeIndex::open(folder.path(), builtin.id()).expect("an index");
    (lake, folder, index)
}

#[test]
fn columns_at_a_grain_come_from_a_partner_that_has_it() {
    let (lake, folder, index) = sample_lake();
    let sessions = SessionStore::new(folder.path());
    let agent = Agent::new(&lake, &index, StaticModel::builtin(), Config::default(), sessions);
    let join = |text: &str, table: &str| {
        let request = Request { text: text.into(), table: Some(table.into()), ..Request::default() };
        let answer = agent.turn(&mut Session::new("grain", "lake"), &request).expect("an answer");
        let join = answer.operations.iter().find(|operation| operation.kind == OperationKind::Join);
        let plan = join.and_then(|join| join.runnable.clone()).expect("a plan");
        let Some(Step::Join(join)) = plan.relation.steps.last().cloned() else { panic!("{plan:?}") };
        let on: Vec<String> = join.on.iter().map(|key| format!("{} = {}", key.left, key.right)).collect();
        let adds: Vec<String> = join.columns.into_iter().map(|kept| kept.column).collect();
        (join.with.source.to_string(), on.join(", "), adds.join(", "))
    };
    let all = |partner: &str, on: &str, adds: &str| (partner.to_string(), on.to_string(), adds.to_string());
    let emissions = "energy/co2_per_person/co2pp_1970_1984";
    let (partner, keys) = ("population/country_pops_1960_2022", "country = country_name, year = year");
    assert_eq!(join("add the population for each country and year", emissions), all(partner, keys, "population"));
    // Of what no table has at this grain, nothing else is taken for it.
    assert_ne!(join("add the continent for each country and year", emissions).0, partner);
}

#[test]
fn each_text_is_searched_once_a_turn() {
    let (lake, folder, index) = sample_lake();
    let mut paired = 0;
    // Beside the one search for a text its vector is computed for other things: further tables that are proposed are ranked by it, and what a
    // join wants of another table is looked for among columns, too.
    let cases = [
        ("manufacturer and model of aircraft by tail number", None, 1),
        // Its words are searched for, then those of the table to join, then its words again.
        ("join flights with the weather of their airports", None, 1),
        ("unemploymnt in the states", None, 0),
        ("add wind and visibility", Some("transport/nyc2013/planes_faa"), 0),
    ];
    let again = cases.map(|(text, table, _)| {
        let embedder = Counting { asked: Mutex::default() };
        let sessions = SessionStore::new(folder.path());
        let agent = Agent::new(&lake, &index, &embedder, Config::default(), sessions);
        let request = Request { text: text.into(), table: table.map(String::from), ..Request::default() };
        let answer = agent.turn(&mut Session::new("count", "lake"), &request).expect("an answer");
        let join = answer.operations.iter().find(|operation| operation.kind == OperationKind::Join);
        paired += usize::from(table.is_none() && join.is_some_and(|join| join.runnable.is_some()));
        let asked = embedder.asked.into_inner().expect("no panic");
        let texts: BTreeSet<&String> = asked.iter().collect();
        assert!(!texts.is_empty(), "`{text}` searches for nothing");
        asked.len() - texts.len()
    });
    assert_eq!(again, cases.map(|(.., other_uses)| other_uses));
    assert!(paired > 0, "no request of these looks for a second table");
}
