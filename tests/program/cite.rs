//! Citations that survive what happens to a lake; and a language model that lies about which data there is.

use std::fs;
use std::path::PathBuf;

use crate::llm_server::server::{Asked, Server, says};
use crate::place::{Folder, Run, lakeward};
use lakeward::Lakeward;
use lakeward::Place;
use lakeward_agent::Request;
use lakeward_core::Error;
use lakeward_core::monitor::Silent;
use lakeward_index::build::BuildOptions;
use lakeward_models::llm::config::ModelOptions;
use lakeward_search::cite::{Gate, Identifier, Meaning, NOT_THERE, Resolution};
use serde_json::json;

const COUNTRIES: &str = "code,country,capital\nNO,Norway,Oslo\nCH,Switzerland,Bern\nIT,Italy,Rome\nUA,Ukraine,Kyiv\n";
const TOWNS: &str = "town,country,inhabitants\nOslo,Norway,717710\nBern,Switzerland,134591\nRome,Italy,2755309\n";
const RECORDS: &str = concat!(
    r#"{"id": "10100001", "title": "Federal employment & pay", "author": "Statistics {Canada}", "date": "2012-08-01", "#,
    r#""doi": "10.25318/1010000101-eng", "license": "Open"}"#,
    "\n",
    r#"{"id": "10100002", "title": "Central debt", "author": "Treasury", "doi": "CSTR:31253.11.sciencedb.00002"}"#,
    "\n",
    r#"{"id": "10100003", "title": "No identifier"}"#,
    "\n",
);

/// A lake of two tables and three records.
struct Lake {
    folder: Folder,
}

impl Lake {
    fn new() -> Self {
        let files = [("geo/countries.csv", COUNTRIES), ("geo/towns.csv", TOWNS)];
        let place = Self { folder: Folder::of(&[("records.jsonl", RECORDS)]) };
        files.iter().for_each(|(name, text)| place.write(name, text));
        place
    }

    fn lake(&self) -> PathBuf {
        self.folder.at("lake")
    }

    fn write(&self, name: &str, text: &str) {
        self.folder.write(&format!("lake/{name}"), text);
    }

    fn index(&self) -> Lakeward {
        let options = BuildOptions { records: Some(self.folder.at("records.jsonl")), ..BuildOptions::default() };
        let place = Place::new(&self.lake(), None).expect("a place");
        Lakeward::build(place, &options, &Silent).expect("an index").0
    }
}

fn own(lakeward: &Lakeward, table: &str) -> String {
    lakeward.resolve(table).expect("a resolution").tables[0].own.clone()
}

fn found(resolution: &Resolution) -> (Meaning, Vec<&str>) {
    (resolution.meaning, resolution.tables.iter().map(|table| table.table.as_str()).collect())
}

#[test]
fn a_citation_survives_what_happens_to_the_lake() {
    let place = Lake::new();
    let lakeward = place.index();
    let (countries, record) = (own(&lakeward, "geo/countries"), own(&lakeward, "10100003"));
    assert!(countries.starts_with("lakeward:lake/geo/countries@"), "{countries}");
    let resolve = |lakeward: &Lakeward, text: &str| lakeward.resolve(text).expect("a resolution");
    for asked in [countries.as_str(), "geo/countries", "geo/countries.csv", "lakeward:lake/geo/countries"] {
        assert_eq!(found(&resolve(&lakeward, asked)), (Meaning::Present, vec!["geo/countries"]), "{asked}");
    }
    // Built anew from nothing: nothing but the catalogue is needed.
    fs::remove_dir_all(place.lake().join(".lakeward")).expect("removed");
    let lakeward = place.index();
    assert_eq!(resolve(&lakeward, &countries).meaning, Meaning::Present);
    // Moved.
    fs::create_dir(place.lake().join("world")).expect("a folder");
    fs::rename(place.lake().join("geo/countries.csv"), place.lake().join("world/nations.csv")).expect("moved");
    let lakeward = place.index();
    let moved = resolve(&lakeward, &countries);
    assert_eq!(found(&moved), (Meaning::Moved, vec!["world/nations"]));
    assert_eq!(moved.explanation, "moved from `geo/countries` to `world/nations`");
    // Something else in its old place.
    place.write("geo/countries.csv", TOWNS.replace("Oslo", "Bergen").as_str());
    let lakeward = place.index();
    let both = resolve(&lakeward, &countries);
    assert_eq!(found(&both), (Meaning::MovedAndReplaced, vec!["world/nations", "geo/countries"]));
    assert!(both.tables[0].is_cited_version && !both.tables[1].is_cited_version);
    assert!(
        both.explanation.contains("moved from `geo/countries` to `world/nations`")
            && both.explanation.contains("instead of")
    );
    // The content is gone, and its place has another.
    fs::remove_file(place.lake().join("world/nations.csv")).expect("removed");
    let lakeward = place.index();
    let changed = resolve(&lakeward, &countries);
    assert_eq!(found(&changed), (Meaning::Changed, vec!["geo/countries"]));
    let cited = changed.cited_version.clone().expect("a version");
    assert!(
        changed.explanation.contains(&cited) && changed.explanation.contains(&changed.tables[0].version),
        "{}",
        changed.explanation
    );
    // Back, twice.
    place.write("geo/countries.csv", COUNTRIES);
    place.write("copy/of_it.csv", COUNTRIES);
    let lakeward = place.index();
    let back = resolve(&lakeward, &countries);
    assert_eq!(found(&back), (Meaning::Present, vec!["geo/countries", "copy/of_it"]));
    // The publisher says what it is to be called: the old identifier holds all the same.
    place.write(
        "geo/datapackage.json",
        r#"{"name": "c", "id": "https://doi.org/10.1234/ABC", "resources": [{"path": "countries.csv"}]}"#,
    );
    let lakeward = place.index();
    assert_eq!(resolve(&lakeward, &countries).tables[0].identifier, "https://doi.org/10.1234/abc");
    assert_eq!(found(&resolve(&lakeward, "DOI 10.1234/abc.")), (Meaning::Present, vec!["geo/countries"]));
    // Records, too.
    assert_eq!(found(&resolve(&lakeward, &record)), (Meaning::Present, vec!["10100003"]));
    for asked in ["10.25318/1010000101-ENG", "https://doi.org/10.25318/1010000101-eng", "doi:10.25318/1010000101-eng"] {
        assert_eq!(found(&resolve(&lakeward, asked)), (Meaning::Present, vec!["10100001"]), "{asked}");
    }
    assert_eq!(found(&resolve(&lakeward, "https://cstr.cn/31253.11.ScienceDB.00002")).1, ["10100002"]);
    place.folder.write("records.jsonl", RECORDS.replace("No identifier", "Another title"));
    let lakeward = place.index();
    assert_eq!(found(&resolve(&lakeward, &record)), (Meaning::Changed, vec!["10100003"]));
    // Another lake is told of.
    let elsewhere = resolve(&lakeward, &countries.replace("lakeward:lake/", "lakeward:pond/"));
    assert!(elsewhere.explanation.contains("a lake called `pond`"), "{}", elsewhere.explanation);
    // Nothing.
    for (asked, near) in [
        ("lakeward:lake/geo/countrys@0123456789abcdef", "geo/countries"),
        ("geo/countrys", "geo/countries"),
        ("10.25318/1010000102-eng", "https://doi.org/10.25318/1010000101-eng"),
    ] {
        let unknown = resolve(&lakeward, asked);
        assert_eq!((unknown.meaning, unknown.tables.len()), (Meaning::Unknown, 0), "{asked}");
        assert!(unknown.nearest.iter().any(|name| name == near), "{asked}: {:?}", unknown.nearest);
    }
    assert!(resolve(&lakeward, "10.9999/nothing.like.it").nearest.is_empty());
    for hostile in
        ["", " ", "@", "lakeward:", "lakeward:/", "../../etc/passwd", "\u{0}", "doi:", "10./", "%", &"/".repeat(5000)]
    {
        assert_eq!(resolve(&lakeward, hostile).meaning, Meaning::Unknown, "{hostile:?}");
    }
}

/// What the lying model says there is; nothing of it may be seen.
const LIES: [&str; 12] = [
    "10.9999/made.up.1",
    "doi:10.9999/made.up.1",
    "CSTR:99999.11.made.1",
    "lakeward:lake/geo/rivers@0123456789abcdef",
    "geo/rivers",
    "10100009",
    "gеo/countries",
    "10.25318/1010000101-еng",
    "hdl:20.500.9/made",
    "https://data.example/made",
    "made_up_2019",
    "rivers.csv",
];

/// Answers every question with `lie` wherever its shape lets it.
fn lying(lie: String) -> Server {
    Server::new(move |_, asked: &Asked| {
        let name = asked.body["response_format"]["json_schema"]["name"].as_str().unwrap_or_default().to_string();
        let answer = match name.as_str() {
            "question" => json!({"question": format!("Do you mean the data of {lie} or other data?")}),
            "signals" => json!({"operation": lie, "intention": "Exploration"}),
            "query_plan" => json!({
                "queries": [{"text": format!("data {lie}"), "aim": format!("finds {lie}")}, {"text": "data", "aim": "all"}],
                "must_have": [lie],
            }),
            "verdict" => json!({"sufficient": false, "missing": [lie], "reason": format!("{lie} is missing.")}),
            "ranking" => json!({"ranking": [lie]}),
            _ => json!({"answer": lie, "ranking": [lie], "summary": lie}),
        };
        says(&answer.to_string())
    })
}

fn names_a_lie(text: &str, lie: &str) -> bool {
    text.contains(lie) || text.contains(&json!(lie).to_string().trim_matches('"').to_string())
}

#[test]
fn no_face_shows_what_a_lying_model_made_up() {
    let place = Lake::new();
    place.index();
    let mut reworded = 0;
    for lie in LIES {
        let server = lying(lie.to_string());
        let url = server.url();
        let set = [("LAKEWARD_LLM_URL", url.as_str()), ("LAKEWARD_LLM_MODEL", "liar")];
        // Vague, so that a question is asked.
        for arguments in [&["ask", "what data is there?", "--json"][..], &["ask", "something with data", "--explain"]] {
            let said = Run::of(lakeward(arguments).env("LAKEWARD_LAKE", place.lake()).envs(set)).said();
            assert!(!names_a_lie(&said, lie), "{lie}: {said}");
        }
        assert!(!server.asked().is_empty(), "the model was not asked");
        let asked_for_words = |asked: &Asked| asked.body["response_format"]["json_schema"]["name"] == "question";
        reworded += server.asked().iter().filter(|asked| asked_for_words(asked)).count();
        // The library, which Python and SQL share; and the session, with its transcript.
        let said = ModelOptions { url: Some(url.clone()), model: Some("liar".into()), ..ModelOptions::default() };
        let lakeward = place.index().with_model(&said).expect("a model");
        let mut session = lakeward.new_session();
        let request = Request { text: "what data is there?".into(), k: 10, ..Request::default() };
        let (answer, _) = lakeward.ask(&mut session, &request).expect("an answer");
        for document in [json!(answer), json!(session)] {
            assert!(!names_a_lie(&document.to_string(), lie), "{lie}: {document}");
        }
        let transcript = lakeward_agent::session::transcript::markdown(&session);
        assert!(!names_a_lie(&transcript, lie), "{lie}: {transcript}");
        assert!(answer.tables.iter().all(|table| lakeward.index().get(&table.table).expect("an index").is_some()));
    }
    assert!(reworded > 0, "no question was reworded: the test tests nothing");
}

#[test]
fn the_gate_lets_out_what_is_there() {
    let place = Lake::new();
    let lakeward = place.index();
    let gate = Gate::new(lakeward.index());
    let own = own(&lakeward, "geo/towns");
    for said in [
        "Do you mean geo/countries or geo/towns?",
        "Is it record 10100001, in federal_pay?",
        "See https://doi.org/10.25318/1010000101-eng (also DOI:10.25318/1010000101-ENG).",
        &format!("It is {own}."),
        "towns.csv and countries",
    ] {
        assert_eq!(gate.text(said, &["federal_pay"]).expect("a text"), said);
    }
    assert_eq!(gate.taken(), 0);
    for lie in LIES {
        let text = gate.text(&format!("It is {lie}, surely."), &[]).expect("a text");
        assert_eq!(text, format!("It is {NOT_THERE}, surely."), "{lie}");
    }
    assert_eq!(gate.taken(), LIES.len());
    // A true hash of another table, and a true table with a made-up hash.
    let (table, hash) = own.rsplit_once('@').expect("a hash");
    for lie in [format!("lakeward:lake/geo/countries@{hash}"), format!("{table}@0123456789abcdef"), table.to_string()] {
        assert!(!gate.knows(&Identifier::of_publisher(&lie)).expect("an answer"), "{lie}");
    }
    let mut made_up = lakeward.search("towns", 1).expect("answers").into_inner();
    made_up[0].table = "geo/rivers".into();
    assert!(gate.admit(made_up.clone()).expect("answers").is_empty());
    let alone = made_up.pop().expect("an answer");
    assert!(matches!(gate.admit(alone), Err(Error::Internal(_))));
}
