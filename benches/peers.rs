//! What public programs are asked too. `cargo bench --bench peers -- BENCH OUT`
//!
//! Indexes the tables of BENCH/lake and writes into OUT, for the scripts under `scripts/peers/`, the vectors of all columns
//! (`columns.f32`, `dims` a row) with 500 of them as queries (`queries.u32`), and what this program took for them. Where BENCH
//! has search requests (`queries.jsonl`, `qrels.txt`), they are asked as well. Figures go to `ours.json`. With
//! RAYON_NUM_THREADS=1 both sides have one core.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{self, BuildOptions};
use lakeward_index::lexical::LexicalOptions;
use lakeward_index::segment::{SegmentFile, SegmentKind, SegmentWriter};
use lakeward_index::vectors::{BinaryChoice, VectorSet, VectorSetBuilder};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_search::{SearchOptions, text_search};
use serde_json::{Value, json};

const KIND: SegmentKind = SegmentKind(*b"BPEE");
const QUERIES: usize = 500;
const K: usize = 10;

fn main() {
    let arguments: Vec<PathBuf> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").map(PathBuf::from).collect();
    let [bench, out] = arguments.as_slice() else {
        // `cargo bench` without arguments runs every bench.
        println!("peers: needs -- BENCH OUT");
        return;
    };
    fs::create_dir_all(out).unwrap();
    let place = tempfile::tempdir().unwrap();
    let model = StaticModel::builtin();
    build::build(&bench.join("lake"), place.path(), model, &BuildOptions::default(), &Silent).unwrap();
    let index = LakeIndex::open(place.path(), model.id()).unwrap();
    let mut ours = json!({ "tables": index.len() });
    ours["vectors"] = vectors(&index, out);
    if bench.join("qrels.txt").is_file() {
        ours["words"] = words(&index, model, bench);
    }
    println!("{ours:#}");
    fs::write(out.join("ours.json"), ours.to_string()).unwrap();
}

fn vectors(index: &LakeIndex, out: &Path) -> Value {
    let dims = index.segments()[0].vectors.columns.dims();
    let mut rows: Vec<f32> = Vec::new();
    for segment in index.segments() {
        let mut row = vec![0.0; dims];
        for id in 0..segment.vectors.columns.len() as u32 {
            segment.vectors.columns.vector(id, &mut row).unwrap();
            // Columns without values have no vector.
            if row.iter().any(|part| *part != 0.0) {
                rows.extend_from_slice(&row);
            }
        }
    }
    let count = rows.len() / dims;
    let queries: Vec<u32> = (0..QUERIES.min(count)).map(|at| (at * count / QUERIES.min(count)) as u32).collect();
    fs::write(out.join("columns.f32"), bytemuck::cast_slice(&rows)).unwrap();
    fs::write(out.join("queries.u32"), bytemuck::cast_slice(&queries)).unwrap();
    let place = tempfile::tempdir().unwrap();
    let (exact, exact_build) = built(&rows, dims, &place.path().join("exact.seg"), BinaryChoice::Never);
    let (bits, bits_build) = built(&rows, dims, &place.path().join("bits.seg"), BinaryChoice::Always);
    let (exact_found, exact_ms) = asked(&exact, &rows, dims, &queries);
    let (bits_found, bits_ms) = asked(&bits, &rows, dims, &queries);
    let hits = |found: &[Vec<u32>]| -> usize {
        found.iter().zip(&exact_found).map(|(found, exact)| found.iter().filter(|id| exact.contains(id)).count()).sum()
    };
    fs::write(out.join("exact.u32"), bytemuck::cast_slice(&exact_found.concat())).unwrap();
    json!({
        "rows": count, "dims": dims, "exact_build_s": exact_build, "exact_ms": exact_ms, "bits_build_s": bits_build,
        "bits_ms": bits_ms, "bits_recall": hits(&bits_found) as f64 / (queries.len() * K) as f64,
    })
}

fn built(rows: &[f32], dims: usize, path: &Path, choice: BinaryChoice) -> (VectorSet, f64) {
    let began = Instant::now();
    let mut builder = VectorSetBuilder::new(dims).unwrap();
    rows.chunks_exact(dims).for_each(|row| builder.push(row).unwrap());
    let mut writer = SegmentWriter::create(path, KIND, 1).unwrap();
    builder.write(&mut writer, *b"VEC", choice).unwrap();
    writer.finish().unwrap();
    let elapsed = began.elapsed().as_secs_f64();
    let segment = SegmentFile::open(path, KIND, 1).unwrap();
    segment.verify().unwrap();
    (VectorSet::open(&segment, *b"VEC").unwrap(), elapsed)
}

/// The nearest of each query and the median time of one, in milliseconds.
fn asked(set: &VectorSet, rows: &[f32], dims: usize, queries: &[u32]) -> (Vec<Vec<u32>>, f64) {
    let mut times = Vec::new();
    let mut found = Vec::new();
    for query in queries {
        let vector = &rows[*query as usize * dims..][..dims];
        let began = Instant::now();
        let nearest = set.search(vector, K, None).unwrap();
        times.push(began.elapsed().as_secs_f64() * 1e3);
        found.push(nearest.into_iter().map(|(id, _)| id).collect());
    }
    (found, median(times))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn words(index: &LakeIndex, model: &dyn Embedder, bench: &Path) -> Value {
    let mut relevant: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for line in fs::read_to_string(bench.join("qrels.txt")).unwrap().lines() {
        let parts: Vec<&str> = line.split_whitespace().collect();
        relevant.entry(parts[0].into()).or_default().insert(parts[2].into(), parts[3].parse().unwrap());
    }
    let (mut word_times, mut all_times, mut word_scores, mut all_scores) = (vec![], vec![], vec![], vec![]);
    for line in fs::read_to_string(bench.join("queries.jsonl")).unwrap().lines() {
        let query: Value = serde_json::from_str(line).unwrap();
        let (Some(text), Some("search")) = (query["text"].as_str(), query["task"].as_str()) else { continue };
        let grades = &relevant[query["id"].as_str().unwrap()];
        let began = Instant::now();
        let hits = index.lexical().search(text, &LexicalOptions { k: K, ..LexicalOptions::default() }).unwrap();
        word_times.push(began.elapsed().as_secs_f64() * 1e3);
        let table = |hit: &lakeward_index::lexical::LexicalHit| {
            index.segment(hit.segment).unwrap().tables.id(hit.table).unwrap().to_string()
        };
        word_scores.push(ndcg(&hits.iter().map(table).collect::<Vec<_>>(), grades));
        let began = Instant::now();
        let answers = text_search::search(index, model, text, &SearchOptions::new(K)).unwrap();
        all_times.push(began.elapsed().as_secs_f64() * 1e3);
        all_scores.push(ndcg(&answers.into_iter().map(|answer| answer.table).collect::<Vec<_>>(), grades));
    }
    if word_times.is_empty() {
        return Value::Null;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    json!({
        "queries": word_times.len(), "words_ms": median(word_times), "words_ndcg": mean(&word_scores),
        "search_ms": median(all_times), "search_ndcg": mean(&all_scores),
    })
}

fn ndcg(ranking: &[String], grades: &HashMap<String, f64>) -> f64 {
    let gain = |grade: f64, place: usize| grade / ((place + 2) as f64).log2();
    let mut ideal: Vec<f64> = grades.values().copied().collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let best: f64 = ideal.iter().take(K).enumerate().map(|(place, grade)| gain(*grade, place)).sum();
    let found = ranking.iter().take(K).enumerate();
    found.map(|(place, table)| gain(grades.get(table).copied().unwrap_or(0.0), place)).sum::<f64>() / best
}
