//! The parts of an index that have no bench of their own: opening and the manifest, the catalogue, inverted lists, overlaps,
//! columns and the word index, on a made-up lake of 2,500 tables (20,000 columns). `cargo bench --bench structures`

#![allow(missing_docs, clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::OnceLock;

use divan::{Bencher, counter::ItemsCount};
use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, build};
use lakeward_index::lexical::{Boosts, LexicalField, LexicalOptions};
use lakeward_index::manifest::Manifest;
use lakeward_index::overlap::{QueryValues, SegmentParts, Selection, ValueWeights, overlaps};
use lakeward_index::postings::{PostingTags, Postings, write_postings};
use lakeward_index::segment::{SegmentFile, SegmentKind, SegmentWriter};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_search::QueryTable;
use web_lake::WebLake;

#[path = "support/web_lake.rs"]
mod web_lake;

const LAKE: WebLake = WebLake { tables: 2_500 };
const QUERIES: u32 = 100;

fn main() {
    divan::main();
}

struct Made {
    folder: tempfile::TempDir,
    index: LakeIndex,
}

impl Made {
    fn index_folder(&self) -> PathBuf {
        self.folder.path().join("index")
    }
}

fn made() -> &'static Made {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        LAKE.write(&folder.path().join("lake"));
        let (lake, index) = (folder.path().join("lake"), folder.path().join("index"));
        let embedder = StaticModel::builtin();
        build(&lake, &index, embedder, &BuildOptions::default(), &Silent).unwrap();
        let index = LakeIndex::open(&index, embedder.id()).unwrap();
        Made { folder, index }
    })
}

fn queries() -> &'static [QueryValues] {
    static QUERIES_MADE: OnceLock<Vec<QueryValues>> = OnceLock::new();
    QUERIES_MADE.get_or_init(|| {
        let lake = made().folder.path().join("lake");
        let of = |(table, place): (u32, u8)| {
            let name = WebLake::name(table);
            let table = QueryTable::resolve(&made().index, &lake, &name, StaticModel::builtin()).unwrap();
            table.columns[usize::from(place)].values.clone()
        };
        LAKE.queries(QUERIES).into_iter().map(of).collect()
    })
}

#[divan::bench]
fn read_manifest(bencher: Bencher) {
    let folder = made().index_folder();
    bencher.bench_local(|| Manifest::read(&folder).unwrap());
}

#[divan::bench]
fn open_index(bencher: Bencher) {
    let folder = made().index_folder();
    bencher.bench_local(|| LakeIndex::open(&folder, StaticModel::builtin().id()).unwrap());
}

#[divan::bench]
fn find_table(bencher: Bencher) {
    let index = &made().index;
    let mut tables = (0..LAKE.tables).cycle();
    bencher.bench_local(|| index.find(&WebLake::name(tables.next().unwrap())).unwrap());
}

#[divan::bench]
fn read_entry(bencher: Bencher) {
    let index = &made().index;
    let mut tables = index.tables().collect::<Vec<_>>().into_iter().cycle();
    // Parsed each time: the index itself keeps those used lately.
    bencher.bench_local(|| {
        let at = tables.next().unwrap();
        index.segment(at.segment).unwrap().tables.dataset(at.table).unwrap()
    });
}

#[divan::bench]
fn read_columns(bencher: Bencher) {
    let columns = &made().index.segments()[0].columns;
    bencher.counter(ItemsCount::new(columns.len())).bench_local(|| {
        let all = 0..columns.len() as u32;
        all.map(|column| columns.hashes(columns.record(column).unwrap()).unwrap().len()).sum::<usize>()
    });
}

#[divan::bench]
fn find_values(bencher: Bencher) {
    let postings = &made().index.segments()[0].join.values;
    let hashes: Vec<u64> = queries().iter().flat_map(|query| query.hashes.iter().copied()).collect();
    bencher
        .counter(ItemsCount::new(hashes.len()))
        .bench_local(|| hashes.iter().filter(|hash| postings.find(**hash).unwrap().is_some()).count());
}

#[divan::bench]
fn read_lists(bencher: Bencher) {
    let postings = &made().index.segments()[0].join.values;
    let hashes = queries().iter().flat_map(|query| query.hashes.iter());
    let lists: Vec<_> = hashes.filter_map(|hash| postings.find(*hash).unwrap()).collect();
    let ids: usize = lists.iter().map(|list| list.count()).sum();
    bencher.counter(ItemsCount::new(ids)).bench_local(|| {
        let mut sum = 0u64;
        lists.iter().for_each(|list| postings.for_each(*list, |id| sum += u64::from(id)).unwrap());
        sum
    });
}

#[divan::bench(sample_count = 10)]
fn write_lists(bencher: Bencher) {
    const TAGS: PostingTags = PostingTags { directory: *b"VDIR", hashes: *b"VHSH", starts: *b"VOFF", lists: *b"VLST" };
    const KIND: SegmentKind = SegmentKind(*b"BPST");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.seg");
    let columns = &made().index.segments()[0].columns;
    let hashes = |column: u32| columns.hashes(columns.record(column).unwrap()).unwrap().into_owned();
    let pairs: Vec<(u64, u32)> = (0..columns.len() as u32)
        .flat_map(|column| hashes(column).into_iter().map(move |hash| (hash, column)))
        .collect();
    bencher.counter(ItemsCount::new(pairs.len())).with_inputs(|| pairs.clone()).bench_local_values(|pairs| {
        let mut writer = SegmentWriter::create(&path, KIND, 1).unwrap();
        write_postings(&mut writer, TAGS, pairs).unwrap();
        writer.finish().unwrap();
        Postings::open(&SegmentFile::open(&path, KIND, 1).unwrap(), TAGS).unwrap().len()
    });
}

#[divan::bench(args = ["best 200", "all"])]
fn count_overlaps(bencher: Bencher, selection: &str) {
    let segment = &made().index.segments()[0];
    let selection = if selection == "all" { Selection::All } else { Selection::Best(200) };
    let parts = SegmentParts { postings: &segment.join.values, columns: &segment.columns, live: None };
    let mut queries = queries().iter().cycle();
    bencher.bench_local(|| {
        let query = queries.next().unwrap();
        let weights = ValueWeights::of(query, &[(&segment.join.values, segment.columns.len())]).unwrap();
        overlaps(query, &weights, 0, parts, selection, || Ok(Vec::new())).unwrap().len()
    });
}

#[divan::bench(args = [2, 20, 160])]
fn search_words(bencher: Bencher, words: usize) {
    let index = &made().index;
    let options =
        LexicalOptions { k: 100, boosts: Boosts::only(&[LexicalField::Headers, LexicalField::Values]), explain: false };
    // Words of the headers of so many tables: common and rare ones.
    let mut tables = index.tables().collect::<Vec<_>>().into_iter().cycle();
    let mut next = || {
        let entries = std::iter::repeat_with(|| index.table(tables.next().unwrap()).unwrap());
        let names = entries.flat_map(|entry| entry.profile.columns.clone().into_iter().map(|column| column.name));
        names.flat_map(|name| name.split(' ').map(str::to_string).collect::<Vec<_>>()).take(words).collect::<Vec<_>>()
    };
    bencher.with_inputs(&mut next).bench_local_values(|words| {
        let tokens: Vec<(&str, f32)> = words.iter().map(|word| (word.as_str(), 1.0)).collect();
        index.lexical().search_tokens("a table", &tokens, &options).unwrap().len()
    });
}
