//! What a capable model answered to prompts over our own labels and sample lake, given back by a server: each role does with real answers
//! what it is for, through the whole program.
//!
//! Who answered saw nothing but the prompts, and the answers are kept as they were given. An answer belongs to the very text of its prompt, so a changed
//! prompt finds none. To ask anew, name a server: `LAKEWARD_RECORD_LLM=URL` and `LAKEWARD_RECORD_MODEL`; what it answers is added.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use super::server::{Asked, Server, complains, says};
use crate::REPOSITORY;
use crate::place::{Folder, Run, lakeward};

const FILE: &str = "tests/program/llm_server/recorded.jsonl";
/// Requests over the sample lake whose answers in words were recorded.
const REQUESTS: [&str; 10] = [
    "which airports have the most delays?",
    "population of each country over the years",
    "medals by country at the olympics",
    "which cars use the least fuel?",
    "earthquakes since 2000 with their magnitude",
    "films by genre and budget",
    "carbon dioxide per head by country",
    "nutrients of foods",
    "temperature of cities by month",
    "bike trips by day and weather",
];

/// The key of a prompt: a hash of its messages, without the year in which it is said.
fn key(asked: &Asked) -> String {
    let messages = asked.body["messages"].as_array().expect("messages").iter();
    let lines = messages.flat_map(|message| message["content"].as_str().unwrap_or_default().lines());
    let said: Vec<&str> = lines.filter(|line| !line.starts_with("year: ")).collect();
    format!("{:016x}", xxh3_64(said.join("\n").as_bytes()))
}

/// What a prompt asks for, by the shape of its answer.
fn shape(asked: &Asked) -> String {
    asked.body["response_format"]["json_schema"]["name"].as_str().unwrap_or_default().to_string()
}

/// How many recorded answers of each shape were given.
pub(crate) type Given = Arc<Mutex<BTreeMap<String, usize>>>;

/// A server of the recorded answers.
pub(crate) fn server() -> (Server, Given) {
    let path = Path::new(REPOSITORY).join(FILE);
    let lines = fs::read_to_string(&path).unwrap_or_default();
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("an answer");
        let text = |name: &str| line[name].as_str().expect("a text").to_string();
        (text("prompt"), text("answer"))
    };
    let recorded: BTreeMap<String, String> = lines.lines().map(line).collect();
    let given = Given::default();
    let counted = Arc::clone(&given);
    let server = Server::new(move |_, asked| {
        let key = key(asked);
        let answer = recorded.get(&key).cloned().or_else(|| record(&path, &key, asked));
        let Some(answer) = answer else { return complains(401, "nothing was recorded for this prompt") };
        *counted.lock().expect("counts").entry(shape(asked)).or_default() += 1;
        says(&answer)
    });
    (server, given)
}

/// The answer of the server that is named for recording, added to the file.
fn record(path: &Path, key: &str, asked: &Asked) -> Option<String> {
    static ONE: Mutex<()> = Mutex::new(());
    let url = std::env::var("LAKEWARD_RECORD_LLM").ok()?;
    let mut body = asked.body.clone();
    body["model"] = json!(std::env::var("LAKEWARD_RECORD_MODEL").unwrap_or_else(|_| "relay".into()));
    let client = lakeward_http::client(Duration::from_secs(10), None).build().ok()?;
    let sent = async {
        let call = client.post(format!("{url}/chat/completions"));
        let reply = call.header("content-type", "application/json").body(body.to_string()).send().await?;
        reply.text().await
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let reply: Value = serde_json::from_str(&runtime.block_on(sent).ok()?).ok()?;
    let answer = reply["choices"][0]["message"]["content"].as_str()?.to_string();
    let _one = ONE.lock().expect("the file");
    let mut lines = fs::read_to_string(path).unwrap_or_default();
    lines.push_str(&format!("{}\n", json!({"shape": shape(asked), "prompt": key, "answer": answer})));
    fs::write(path, lines).expect("the file");
    Some(answer)
}

fn run(lake: &Path, index: &Path, settings: &Path, arguments: &[&str]) -> Value {
    let mut command = lakeward(["--json", "--quiet"]);
    command.args(arguments).env("LAKEWARD_CONFIG", settings).env("LAKEWARD_LAKE", lake).env("LAKEWARD_INDEX", index);
    serde_json::from_str(&Run::of(&mut command).succeeded().stdout).unwrap_or_default()
}

fn settings(folder: &Folder, server: &Server, more: &str) -> std::path::PathBuf {
    let text = format!("[llm]\nurl = \"{}\"\nmodel = \"recorded\"\nretries = 0\n{more}", server.url());
    folder.write("settings.toml", text)
}

#[test]
fn a_capable_model_is_right_in_each_role() {
    let (server, given) = server();
    let folder = Folder::of(&[("lake/rain.csv", "day,rain\n2021-01-01,3\n2021-01-02,0\n")]);
    let settings = settings(&folder, &server, "");
    let (lake, index) = (folder.at("lake"), folder.at("index"));
    run(&lake, &index, &settings, &["index"]);
    let report = run(&lake, &index, &settings, &["model", "check", "--concurrency", "2"]);
    let given = given.lock().expect("counts").clone();
    for (role, least, wrong) in
        [("reading", 10, 1), ("ranking", 10, 0), ("judging", 10, 0), ("extraction", 10, 0), ("same_dataset", 12, 0)]
    {
        let found = report["roles"].as_array().expect("roles").iter().find(|found| found["role"] == role);
        let count = |name: &str| found.expect("a role")[name].as_u64().expect("a count");
        assert!(
            count("answered") >= least,
            "{role}: {} of the recorded prompts are still asked, of {given:?}: record them anew, as the head of this file says",
            count("answered")
        );
        assert!(count("model") + wrong >= count("answered") && count("obeyed") == 0, "{role}: {found:?}");
    }
    // All three questions to a paper were recorded.
    assert!(given["ranking"] >= 12 && given["extract_pairs"] >= 8 && given["extract_keywords"] >= 8, "{given:?}");
    let of = |role: &str| {
        let mut roles = report["roles"].as_array().expect("roles").iter();
        roles.find(|found| found["role"] == role).expect("a role")["trust"].as_f64().expect("a trust")
    };
    // Who answers a fifth of the lists right, and the others not at all, gains where it answers.
    assert!(of("ranking") > 0.0 && of("same_dataset") == 0.0);
}

#[test]
fn sentences_of_a_capable_model_stand_with_what_they_rest_on() {
    let (server, given) = server();
    let folder = Folder::of(&[]);
    let (lake, index) = (Path::new(REPOSITORY).join("lake"), folder.at("index"));
    let settings = settings(&folder, &server, "reading = 0.0\nranking = 0.0\njudging = 0.0\n");
    run(&lake, &index, &settings, &["index"]);
    let (mut by_model, mut left_out) = (0, 0);
    for request in REQUESTS {
        let answer = run(&lake, &index, &settings, &["ask", request]);
        let tables: Vec<&str> =
            answer["tables"].as_array().expect("tables").iter().filter_map(|table| table["table"].as_str()).collect();
        let joined = &answer["operations"][0]["table"];
        for sentence in answer["summary"].as_array().expect("sentences").iter().filter(|said| said["by_model"] == true)
        {
            let list = |name: &str| sentence[name].as_array().cloned().unwrap_or_default();
            let cites = list("cites");
            assert!(!list("evidence").is_empty(), "{request}: {sentence}");
            // What is missing, and a question, speak of no table.
            assert!(!cites.is_empty() || sentence["about"] != "serves", "{request}: {sentence}");
            let known = |id: &Value| tables.contains(&id.as_str().expect("an id")) || *joined == *id;
            assert!(cites.iter().all(known), "{request}: {sentence}");
            by_model += 1;
        }
        let notes = answer["notes"].as_array().cloned().unwrap_or_default();
        left_out += notes.iter().filter(|note| note.to_string().contains("of the model had no evidence")).count();
    }
    let given = given.lock().expect("counts").get("answer").copied().unwrap_or_default();
    assert!(given >= 5, "{given} of {} answers are still asked for: record them anew", REQUESTS.len());
    assert!(
        by_model >= 2 * given && left_out <= given / 3,
        "{by_model} sentences of {given}, {left_out} with some left out"
    );
}

/// Titles, abstracts and texts in which well-known data sets are named.
const PAPERS: [[&str; 3]; 8] = [
    ["Detection", "We detect objects in images.", "Object detection is trained and evaluated on COCO."],
    ["Captions", "We describe images in sentences.", "Image captioning is trained and evaluated on MS-COCO."],
    [
        "Mortality Prediction in Intensive Care",
        "We study mortality prediction.",
        "We predict mortality on the Medical Information Mart for Intensive Care III (MIMIC-III) dataset. On MIMIC-III the error of \
         mortality prediction is 2.1 %.",
    ],
    [
        "Length of Stay",
        "We study length of stay.",
        "Length of stay is predicted on stays of the Medical Information Mart for Intensive Care III.",
    ],
    [
        "Classification of Alzheimer's Disease",
        "We study classification of Alzheimer's disease from MRI.",
        "Scans were obtained from the Alzheimer's Disease Neuroimaging Initiative (ADNI) dataset. On ADNI our classification of \
         Alzheimer's disease reaches an accuracy of 91.2 %.",
    ],
    [
        "A Small Language Model",
        "We train a language model and evaluate arithmetic reasoning, language understanding and code generation.",
        "For arithmetic reasoning we evaluate on GSM8K. Language understanding is evaluated on GLUE. Code generation is evaluated on \
         HumanEval.",
    ],
    [
        "Knowing How",
        "We study physical commonsense reasoning.",
        "We evaluate physical commonsense reasoning on PIQA. PIQA asks which of two ways reaches a goal.",
    ],
    [
        "CARLA: An Open Urban Driving Simulator",
        "We introduce CARLA, an open-source simulator for autonomous driving research.",
        "We use CARLA to study the performance of three approaches to autonomous driving. All approaches to autonomous driving are \
         evaluated in CARLA.",
    ],
];

#[test]
fn well_known_data_sets_are_read_and_joined_by_a_capable_model() {
    let (server, given) = server();
    let records =
        [("ms-coco", "MS COCO", "The Microsoft Common Objects in Context set has images with objects and captions.")]
            .map(|(id, title, description)| json!({"id": id, "title": title, "description": description}).to_string());
    let papers = PAPERS.map(|[title, summary, text]| {
        let sections = json!([{"heading": "Experiments", "text": text}]);
        json!({"id": title, "title": title, "abstract": summary, "sections": sections}).to_string()
    });
    let folder = Folder::of(&[("records.jsonl", &records.join("\n")), ("papers.jsonl", &papers.join("\n"))]);
    let (lake, index) = (folder.at("lake"), folder.at("index"));
    fs::create_dir(&lake).expect("a folder");
    let settings = settings(&folder, &server, "extraction = 0.9\nsame_dataset = 0.9\nconcurrency = 1\n");
    run(&lake, &index, &settings, &["index", "--records", &folder.text("records.jsonl")]);
    run(&lake, &index, &settings, &["papers", "add", &folder.text("papers.jsonl")]);
    let extracted = run(&lake, &index, &settings, &["papers", "extract"]);
    assert_eq!(
        extracted["by_model"],
        PAPERS.len(),
        "{:?}: record the answers anew, as the head of this file says: {extracted}",
        given.lock().expect("counts")
    );
    run(&lake, &index, &settings, &["graph", "build"]);

    // Each data set once, with its own task.
    let lines = fs::read_to_string(extracted["path"].as_str().expect("a path")).expect("extractions");
    let mut uses: Vec<(String, String)> = Vec::new();
    for paper in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        for task in paper["tasks"].as_array().into_iter().flatten() {
            for dataset in task["datasets"].as_array().into_iter().flatten() {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_lowercase();
                uses.push((text(&dataset["name"]), format!("{} {}", text(&task["name"]), text(&task["text"]))));
            }
        }
    }
    for (name, word) in [
        ("adni", "alzheimer"),
        ("gsm8k", "arithmetic"),
        ("glue", "understanding"),
        ("humaneval", "code"),
        ("piqa", "commonsense"),
        ("carla", "driving"),
        ("mimic-iii", "mortality"),
    ] {
        let of: Vec<&String> = uses.iter().filter(|(own, _)| own == name).map(|(_, task)| task).collect();
        assert!(matches!(of.as_slice(), [task] if task.contains(word)), "{name}: {uses:?}");
    }

    let joined = |a: &str, b: &str| run(&lake, &index, &settings, &["graph", "why", a, b])["joined"] == true;
    assert!(joined("COCO", "MS-COCO") && joined("MS-COCO", "ms-coco"));
    assert!(joined("MIMIC-III", "Medical Information Mart for Intensive Care III"));
}
