//! A sentence model in a folder: its vectors against those of a reference, and folders that hold no model.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, build};
use lakeward_index::verify::verify;
use lakeward_models::embed::{Embedder, EmbedderExt, SentenceModel, StaticModel, TokenEmbedder};
use lakeward_search::late::{LateQuery, token_vectors};
use lakeward_search::weights::LateModels;

use crate::tiny_model::{HIDDEN, WORDS, write_model};

/// From `scripts/sentence_reference.py`.
const EXPECTED: [f32; HIDDEN] = [0.282687, -0.297782, 0.089491, 0.250711, -0.418669, 0.166355, 0.355156, -0.656853];
/// The first values of the vectors of all-MiniLM-L6-v2, from the same with its folder.
const REAL: [(&str, [f32; 8]); 3] = [
    ("bus passengers by year", [0.06404, -0.01427, 0.05758, -0.0162, -0.03026, 0.1042, 0.0615, -0.01353]),
    ("monthly wheat prices in canada", [0.01751, -0.01621, 0.03927, 0.03677, -0.02375, 0.03742, -0.05369, 0.01661]),
    ("census of the population", [0.0246, -0.06566, 0.00805, 0.10597, -0.04198, 0.07666, -0.04126, -0.00552]),
];

#[test]
fn vectors_are_those_of_the_reference() {
    let folder = tempfile::tempdir().expect("as the test made it");
    write_model(folder.path());
    let model = SentenceModel::open(folder.path()).expect("as the test made it");
    assert_eq!(model.dims(), HIDDEN);
    // scripts/sentence_reference.py computes the same model with numpy.
    let vector = model.embed("Buses of Dublin");
    let expected = EXPECTED;
    for (value, expected) in vector.iter().zip(expected) {
        assert!((value - expected).abs() < 1e-5, "{vector:?} is not {expected:?}");
    }
    let mut rows = Vec::new();
    let pieces = model.embed_pieces("Buses of Dublin", 3, false, &mut rows);
    assert_eq!((pieces, rows.len()), (vec![4, 5, 7], 3 * HIDDEN), "the first three pieces, without marks");
    assert!(rows.chunks(HIDDEN).all(|row| (row.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5));
    // What the vocabulary cannot spell says nothing; a text of any length is read to its bound.
    assert_eq!(model.embed("Zürich"), vec![0.0; HIDDEN]);
    assert_eq!(model.embed(&"bus ".repeat(100_000)), model.embed(&"bus ".repeat(14)));
}

/// What is done to a folder with a model.
type Damage<'a> = &'a dyn Fn(&Path);

#[test]
fn a_folder_that_holds_no_model_is_named() {
    let damage: [(&str, Damage<'_>, &str); 8] = [
        (
            "no vocabulary",
            &|folder| fs::remove_file(folder.join("vocab.txt")).expect("as the test made it"),
            "vocab.txt",
        ),
        (
            "no weights",
            &|folder| fs::remove_file(folder.join("model.safetensors")).expect("as the test made it"),
            "model.safetensors",
        ),
        (
            "another vocabulary",
            &|folder| fs::write(folder.join("vocab.txt"), "[CLS]\n[SEP]\n").expect("as the test made it"),
            "2 pieces",
        ),
        (
            "no marks",
            &|folder| fs::write(folder.join("vocab.txt"), "a\nb\nc\nd\ne\nf\ng\nh\ni\n").expect("as the test made it"),
            "no piece `[CLS]`",
        ),
        ("no json", &|folder| fs::write(folder.join("config.json"), "{").expect("as the test made it"), "config.json"),
        (
            "a giant",
            &|folder| {
                let config = fs::read_to_string(folder.join("config.json")).expect("as the test made it");
                fs::write(
                    folder.join("config.json"),
                    config.replace("\"hidden_size\": 8", "\"hidden_size\": 99999999"),
                )
                .expect("as the test made it");
            },
            "hidden_size is 99999999",
        ),
        (
            "other shapes",
            &|folder| {
                let config = fs::read_to_string(folder.join("config.json")).expect("as the test made it");
                fs::write(folder.join("config.json"), config.replace("\"hidden_size\": 8", "\"hidden_size\": 6"))
                    .expect("as the test made it");
            },
            "which contradicts `config.json`",
        ),
        (
            "cut short",
            &|folder| {
                let bytes = fs::read(folder.join("model.safetensors")).expect("as the test made it");
                fs::write(folder.join("model.safetensors"), &bytes[..bytes.len() - 5]).expect("as the test made it");
            },
            "not a safetensors file",
        ),
    ];
    for (what, damage, said) in damage {
        let folder = tempfile::tempdir().expect("as the test made it");
        write_model(folder.path());
        damage(folder.path());
        let error = SentenceModel::open(folder.path()).err().unwrap_or_else(|| panic!("{what}: it opens"));
        assert!(error.to_string().contains(said), "{what}: {error}");
    }
}

/// all-MiniLM-L6-v2, where a package of it is installed.
#[test]
fn the_real_model_gives_the_vectors_of_its_authors() {
    let Ok(folder) = std::env::var("LAKEWARD_TEST_SENTENCE_MODEL") else {
        println!("skipped: LAKEWARD_TEST_SENTENCE_MODEL names no folder with all-MiniLM-L6-v2");
        return;
    };
    let model = SentenceModel::open(Path::new(&folder)).expect("as the test made it");
    assert_eq!(model.dims(), 384);
    for (text, expected) in REAL {
        let vector = model.embed(text);
        for (value, expected) in vector.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-4, "{text}: {:?}", &vector[..8]);
        }
    }
    let request = "which data sets have monthly numbers of passengers of public transport in Dublin and other cities";
    let began = Instant::now();
    (0..20).for_each(|_| _ = model.embed(request));
    println!("a request of {} pieces: {:.1?}", model.count_pieces(request), began.elapsed() / 20);
    let cosine = |a: &str, b: &str| -> f32 { model.embed(a).iter().zip(model.embed(b)).map(|(a, b)| a * b).sum() };
    assert!(
        cosine("bus ridership in Dublin", "public transport passengers")
            > cosine("bus ridership in Dublin", "wheat prices")
    );
}

/// The rows of every table, by id: of the title and of what stands below it.
fn rows_by_id(index: &LakeIndex) -> BTreeMap<String, (Vec<i8>, Vec<i8>)> {
    let rows = |table| {
        let (title, body) = index.token_rows(table).expect("rows");
        (index.id(table).expect("an id").to_string(), (title.to_vec(), body.to_vec()))
    };
    index.tables().map(rows).collect()
}

fn indexed(lake: &Path, index: &Path, model: &SentenceModel) -> LakeIndex {
    build(lake, index, model, &BuildOptions::default(), &Silent).expect("an index");
    LakeIndex::open(index, model.id()).expect("an index")
}

#[test]
fn rows_of_pieces_stay_what_they_are_through_updates() {
    let folder = tempfile::tempdir().expect("as the test made it");
    write_model(folder.path());
    let model = SentenceModel::open(folder.path()).expect("as the test made it");
    let place = tempfile::tempdir().expect("a folder");
    let (lake, kept) = (place.path().join("lake"), place.path().join("index"));
    fs::create_dir(&lake).expect("a folder");
    let write = |name: &str| fs::write(lake.join(name), "bus,train\ndublin,buses\nof,bus\n").expect("a file");
    write("train_of_dublin.csv");
    let first = rows_by_id(&indexed(&lake, &kept, &model));
    let (title, body) = &first["train_of_dublin"];
    assert_eq!(title.len(), 3 * HIDDEN, "a row a piece of the title");
    assert!(body.len() > 4 * HIDDEN, "names of columns and cells below it");
    // So many small segments that they are merged, with tables struck out and files gone.
    for round in 0..12 {
        write(&format!("bus_{round}.csv"));
        if round % 3 == 2 {
            fs::remove_file(lake.join(format!("bus_{}.csv", round - 1))).expect("a file");
        }
        indexed(&lake, &kept, &model);
    }
    let updated = LakeIndex::open(&kept, model.id()).expect("an index");
    let fresh = indexed(&lake, &place.path().join("fresh"), &model);
    assert_eq!(rows_by_id(&updated), rows_by_id(&fresh));
    assert_eq!(rows_by_id(&updated)["train_of_dublin"], first["train_of_dublin"]);
    let (one, dims) = updated.token_vector_rarity().expect("counts").expect("vectors");
    let (other, _) = fresh.token_vector_rarity().expect("counts").expect("vectors");
    assert_eq!(dims, HIDDEN);
    for piece in 0..WORDS.len() as u32 {
        assert_eq!(one.of(piece), other.of(piece), "{piece}");
    }
    let vectors = token_vectors(&updated, &model, &LateModels::default()).expect("vectors");
    assert_eq!(vectors.dims(), HIDDEN, "those of the sentence model");
    let mut query = LateQuery::new(vectors.as_ref(), "train of dublin").expect("a request");
    for table in updated.tables() {
        let score = query.score(table).expect("a score");
        assert!((0.0..=1.0).contains(&score), "{score}");
    }
    // Damage is found, and what it took is read again.
    assert_eq!(verify(&kept).expect("a manifest").2, []);
    let segments = fs::read_dir(kept.join("segments")).expect("a folder").flatten();
    for segment in segments {
        let path = segment.path().join("token-vectors.seg");
        let mut bytes = fs::read(&path).expect("a file");
        bytes[100] ^= 1;
        fs::write(&path, bytes).expect("a file");
    }
    let damaged = verify(&kept).expect("a manifest").2;
    assert!(
        !damaged.is_empty() && damaged.iter().all(|damage| damage.file.ends_with("token-vectors.seg")),
        "{damaged:?}"
    );
    let repair = BuildOptions { repair: true, ..BuildOptions::default() };
    build(&lake, &kept, &model, &repair, &Silent).expect("mended");
    let mended = LakeIndex::open(&kept, model.id()).expect("an index");
    assert_eq!(rows_by_id(&mended), rows_by_id(&fresh));
    // An index of another model has none, and late interaction goes on with the model in the program.
    build(&lake, &place.path().join("static"), StaticModel::builtin(), &BuildOptions::default(), &Silent)
        .expect("built");
    let other = LakeIndex::open(&place.path().join("static"), StaticModel::builtin().id()).expect("an index");
    assert!(other.token_vector_rarity().expect("counts").is_none());
    assert_eq!(
        token_vectors(&other, StaticModel::builtin(), &LateModels::default()).expect("vectors").dims(),
        StaticModel::builtin().dims()
    );
}

/// all-MiniLM-L6-v2 tells records apart that share no word with the request.
#[test]
fn the_real_model_orders_records_by_their_words_in_context() {
    let Ok(folder) = std::env::var("LAKEWARD_TEST_SENTENCE_MODEL") else {
        println!("skipped: LAKEWARD_TEST_SENTENCE_MODEL names no folder with all-MiniLM-L6-v2");
        return;
    };
    let model = SentenceModel::open(Path::new(&folder)).expect("as the test made it");
    let place = tempfile::tempdir().expect("a folder");
    let titles =
        ["Bus ridership in Dublin", "Wheat prices by month", "Hospital beds per region", "Salaries of school teachers"];
    let lines: Vec<String> =
        titles.iter().enumerate().map(|(id, title)| format!(r#"{{"id": "r{id}", "title": "{title}"}}"#)).collect();
    fs::write(place.path().join("corpus.jsonl"), lines.join("\n")).expect("a file");
    let index = indexed(place.path(), &place.path().join(".lakeward"), &model);
    let vectors = token_vectors(&index, &model, &LateModels::default()).expect("vectors");
    assert_eq!(vectors.dims(), 384);
    let requests =
        ["public transport passengers", "what does grain cost", "medical capacity", "how much educators earn"];
    for (expected, request) in requests.iter().enumerate() {
        let mut query = LateQuery::new(vectors.as_ref(), request).expect("a request");
        let best = index.tables().max_by(|a, b| {
            let mut score = |table| query.score(table).expect("a score");
            score(*a).total_cmp(&score(*b))
        });
        assert_eq!(index.id(best.expect("records")).expect("an id"), format!("r{expected}"), "{request}");
    }
}
