//! Vectors from a server: good ones are used, others never reach an index.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lakeward_core::Error;
use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, build};
use lakeward_models::embed::{Embedder, EmbedderExt, RemoteModel, dot};
use lakeward_models::llm::{FailureKind, Manners};
use lakeward_search::text_search::{SearchOptions, search};
use serde_json::{Value, json};

use crate::embedder_behaviour::embedder_behaves;

use super::server::{Asked, Reply, Server, body, complains};
use super::{TIME, at};

const DIMS: usize = 16;

/// A vector of the letters of a text: alike for texts of like letters.
fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.1; DIMS];
    text.bytes().for_each(|byte| vector[byte as usize % DIMS] += 1.0);
    vector
}

fn texts(asked: &Asked) -> Vec<String> {
    asked.body["input"].as_array().expect("texts").iter().filter_map(Value::as_str).map(str::to_string).collect()
}

fn vectors(asked: &Asked) -> Vec<Value> {
    let row = |(place, text): (usize, &String)| json!({"index": place, "embedding": vector(text)});
    texts(asked).iter().enumerate().map(row).collect()
}

fn good(asked: &Asked) -> Reply {
    let mut rows = vectors(asked);
    // In any order: the number counts.
    rows.reverse();
    body(200, &json!({"object": "list", "data": rows}))
}

fn connect(server: &Server) -> Result<RemoteModel, Error> {
    RemoteModel::connect(&at(&server.url()), Manners { retries: 1, concurrency: 2 }, TIME)
}

fn lake(folder: &Path) {
    fs::write(folder.join("ports.csv"), "port,country\nLisbon,Portugal\nAntwerp,Belgium\n").expect("a file");
    fs::write(folder.join("wages.csv"), "year,wage,trade\n2001,12.5,masons\n2002,13,smiths\n").expect("a file");
}

#[test]
fn texts_are_asked_for_in_batches_and_once() {
    let server = Server::new(|_, asked| good(asked));
    let model = connect(&server).expect("a model");
    assert!(model.id().starts_with("served:drill/16#"), "{}", model.id());
    assert_eq!(model.dims(), DIMS);
    let names: Vec<String> = (0..80).map(|number| format!("name {number}")).collect();
    let twice = names.iter().chain(&names).cloned();
    model.prefetch(|| twice.chain([String::new(), "\u{200b}".into()]).collect());
    let sizes: Vec<usize> = server.asked().iter().map(|asked| texts(asked).len()).collect();
    assert_eq!(sizes, [4, 32, 32, 16]);
    let (one, other) = (model.embed("name 7"), model.embed("name  7\n"));
    assert_eq!(one, other);
    assert!((dot(&one, &one) - 1.0).abs() < 1e-5);
    assert!(model.embed(" ").iter().all(|value| *value == 0.0));
    assert_eq!(server.asked().len(), 4);
    let mut joined = vec![0.0; DIMS];
    model.embed_weighted(&[("name", 1.0), ("of", 0.0), ("7", 3.0)], &mut joined);
    assert_eq!((joined, server.asked().len()), (one, 4));
    assert!(model.failure().is_none());
    assert_eq!(server.asked()[0].body["model"], "drill");
}

#[test]
fn a_model_on_a_server_behaves() {
    let server = Server::new(|_, asked| good(asked));
    let model = connect(&server).expect("a model");
    embedder_behaves(&model, ["port country", "wages"]);
}

#[test]
fn what_is_remembered_is_bounded() {
    let server = Server::new(|_, asked| good(asked));
    let model = connect(&server).expect("a model");
    let many: Vec<String> = (0..9_000).map(|number| format!("n{number}")).collect();
    for part in many.chunks(1_000) {
        model.prefetch(|| part.to_vec());
    }
    let before = server.asked().len();
    model.embed("n8999");
    assert_eq!(server.asked().len(), before);
    model.embed("n0");
    assert_eq!(server.asked().len(), before + 1);
}

#[test]
fn the_id_is_of_the_model_and_not_of_its_address() {
    let (one, two) = (Server::new(|_, asked| good(asked)), Server::new(|_, asked| good(asked)));
    let other = Server::new(|_, asked| {
        let row = |text: &String| json!({"embedding": vector(text).iter().rev().collect::<Vec<_>>()});
        body(200, &json!({"data": texts(asked).iter().map(row).collect::<Vec<_>>()}))
    });
    let id = |server: &Server| connect(server).expect("a model").id().to_string();
    assert_eq!(id(&one), id(&two));
    assert_ne!(id(&one), id(&other), "another model of this name and length");
}

#[test]
fn vectors_that_are_none_are_refused_on_connecting() {
    let with = |change: fn(&mut Vec<Value>)| {
        move |_: usize, asked: &Asked| {
            let mut rows = vectors(asked);
            change(&mut rows);
            body(200, &json!({"data": rows}))
        }
    };
    for (server, expected) in [
        (Server::new(with(|rows| _ = rows.pop())), "3 vectors for 4 texts"),
        (Server::new(with(|rows| rows[1]["index"] = json!(0))), "returns vectors with wrong indexes"),
        (Server::new(with(|rows| rows[1]["index"] = json!(99))), "returns vectors with wrong indexes"),
        (Server::new(with(|rows| rows[1]["embedding"] = json!([1.0]))), "vectors of 16 and of 1 values"),
        (Server::new(with(|rows| rows[1]["embedding"] = json!(vec![0.0; DIMS]))), "zero or not finite"),
        (Server::new(with(|rows| rows[1]["embedding"][3] = json!(1e300))), "zero or not finite"),
        (Server::new(with(|rows| rows[1]["embedding"][3] = Value::Null)), "OpenAI protocol"),
        (Server::new(with(|rows| rows.iter_mut().for_each(|row| row["embedding"] = json!([])))), "vectors of 0 values"),
        (Server::new(|_, _| body(200, &json!({"error": "not loaded"}))), "answers: not loaded"),
        (Server::new(|_, _| complains(501, "start it with --embeddings")), "answers 501: start it with --embeddings"),
        (Server::new(|_, _| Reply::Hangs(Vec::new())), "no answer within 2 s"),
    ] {
        let error = connect(&server).err().expect("an error");
        assert!(matches!(error, Error::EmbeddingServer { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("[embedding]")));
    }
}

#[test]
fn a_text_too_long_is_halved_until_it_fits() {
    for (status, words) in [(400, "maximum context length is 300"), (500, "input (900 tokens) is too large to process")]
    {
        let server = Server::new(move |_, asked| {
            if texts(asked).iter().any(|text| text.len() > 300) { complains(status, words) } else { good(asked) }
        });
        let model = connect(&server).expect("a model");
        let long = "ab ".repeat(400);
        model.prefetch(|| vec!["short".into(), long.clone()]);
        let kept: String = long.chars().take(299).collect();
        assert!(dot(&model.embed(&long), &model.embed(&kept)) > 0.999);
        assert!(model.failure().is_none());
        assert_eq!(server.asked().iter().filter(|asked| texts(asked) == ["short"]).count(), 1);
    }
}

#[test]
fn a_text_that_is_refused_has_no_vector_and_one_server_that_refuses_all_is_trouble() {
    let refusing = Arc::new(AtomicUsize::new(0));
    let all = Arc::clone(&refusing);
    let server = Server::new(move |_, asked| {
        let bad = all.load(Ordering::SeqCst) > 0 || texts(asked).iter().any(|text| text == "!");
        if bad { complains(400, "Input content cannot be empty") } else { good(asked) }
    });
    let model = connect(&server).expect("a model");
    model.prefetch(|| vec!["!".into(), "port".into()]);
    assert!(model.embed("!").iter().all(|value| *value == 0.0) && model.failure().is_none());
    assert!(model.embed("port").iter().any(|value| *value != 0.0));
    refusing.store(1, Ordering::SeqCst);
    assert!(model.embed("other").iter().all(|value| *value == 0.0));
    assert_eq!(model.failure().map(|failure| failure.kind), Some(FailureKind::Refused));
}

#[test]
fn an_index_is_whole_or_what_it_was() {
    let (folder, place) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    lake(folder.path());
    let good_until = Arc::new(Mutex::new(usize::MAX));
    let until = Arc::clone(&good_until);
    let server = Server::new(move |number, asked| match number < *until.lock().expect("a number") {
        true => good(asked),
        false => Reply::Says(500, "", Vec::new()),
    });
    let model = connect(&server).expect("a model");
    let options = BuildOptions::default();
    // One request a table: all its texts together.
    *good_until.lock().expect("a number") = 2;
    let error = build(folder.path(), place.path(), &model, &options, &Silent).expect_err("an error");
    assert!(matches!(&error, Error::EmbeddingServer { reason } if reason.contains("drill@127.0.0.1")), "{error}");
    assert!(matches!(LakeIndex::open(place.path(), model.id()), Err(Error::NoIndex { .. })));
    *good_until.lock().expect("a number") = usize::MAX;
    let stats = build(folder.path(), place.path(), &model, &options, &Silent).expect("an index");
    assert_eq!((stats.tables, stats.skipped.len()), (2, 0));
    let index = LakeIndex::open(place.path(), model.id()).expect("an index");
    let found = search(&index, &model, "port country", &SearchOptions::new(5)).expect("tables");
    assert_eq!(found[0].table, "ports");
    assert!(found[0].cosine > 0.5 && model.failure().is_none());
    let error = LakeIndex::open(place.path(), "lakeward-static-256@0").err().expect("an error");
    assert!(error.hint().is_some_and(|hint| hint.contains("`model = \"drill\"`")), "{error}");
    // A new table while the server is down: the index stays as it is, and searches go on by words.
    drop(index);
    *good_until.lock().expect("a number") = 0;
    fs::write(folder.path().join("fairs.csv"), "fair,month\nBruges,May\n").expect("a file");
    assert!(build(folder.path(), place.path(), &model, &options, &Silent).is_err());
    let index = LakeIndex::open(place.path(), model.id()).expect("an index");
    assert_eq!(index.len(), 2);
    model.retry();
    let found = search(&index, &model, "masons wage", &SearchOptions::new(5)).expect("tables");
    assert_eq!((found[0].table.as_str(), found[0].cosine), ("wages", 0.0));
    assert_eq!(model.failure().map(|failure| failure.kind), Some(FailureKind::ServerError));
}

#[test]
fn a_server_that_dies_is_waited_for_once() {
    let server = Server::new(|number, asked| if number == 0 { good(asked) } else { Reply::Hangs(Vec::new()) });
    let model = connect(&server).expect("a model");
    let started = std::time::Instant::now();
    (0..50).for_each(|number| assert_eq!(model.embed_into(&format!("n{number}"), &mut [0.0; DIMS]), 0));
    assert!(started.elapsed() < TIME + Duration::from_secs(1));
    assert_eq!(model.failure().map(|failure| failure.kind), Some(FailureKind::TimedOut));
}
