//! A large build commits its tables before their texts are read: what it promises when it is stopped or killed on the way.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use lakeward_core::monitor::{Monitor, Silent, StopWhen, Total};
use lakeward_index::LakeIndex;
use lakeward_index::build::{self, BuildOptions, BuildStats, BuildStep};
use lakeward_index::manifest::Manifest;
use lakeward_index::verify::verify;
use lakeward_models::embed::{Embedder, StaticModel};

const TABLES: usize = 600;
/// Tables whose texts are written together.
const PART: usize = 256;

/// The static model as one that reads texts; counts the texts.
#[derive(Default)]
struct Reader(AtomicUsize);

/// Their columns by the same model, which does not count.
struct Models<'a>(&'a Reader);

fn words(texts: &[(&str, f32)], out: &mut [f32]) -> usize {
    StaticModel::builtin().embed_weighted(texts, out)
}

impl Embedder for Reader {
    fn id(&self) -> &str {
        "reader"
    }

    fn dims(&self) -> usize {
        StaticModel::builtin().dims()
    }

    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed);
        words(texts, out)
    }
}

impl Embedder for Models<'_> {
    fn id(&self) -> &str {
        "models"
    }

    fn dims(&self) -> usize {
        StaticModel::builtin().dims()
    }

    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) -> usize {
        words(texts, out)
    }

    fn as_text_encoder(&self) -> Option<&dyn Embedder> {
        Some(self.0)
    }
}

fn write(lake: &Path, number: usize, values: &str) {
    fs::write(lake.join(format!("table_{number:03}.csv")), format!("town,figure\n{values}\n")).expect("a file");
}

fn lake_of(tables: usize) -> tempfile::TempDir {
    let lake = tempfile::tempdir().expect("a folder");
    (0..tables).for_each(|number| write(lake.path(), number, &format!("Ghent {number},1\nBruges,2")));
    lake
}

fn built(lake: &Path, index: &Path, reader: &Reader, monitor: &dyn Monitor) -> BuildStats {
    build::build(lake, index, &Models(reader), &BuildOptions::default(), monitor).expect("a build")
}

/// Counts parts, and panics, as if killed, after this many.
struct KilledAfter(AtomicUsize);

impl Monitor for KilledAfter {
    fn begin(&self, _name: &str, _total: Total) {}
    fn advance(&self, _amount: u64) {}
    fn is_stopped(&self) -> bool {
        false
    }
    fn note(&self, what: &str) {
        assert!(what != BuildStep::TextsRead.to_string() || self.0.fetch_sub(1, Ordering::Relaxed) > 1, "killed");
    }
}

fn open(index: &Path) -> LakeIndex {
    LakeIndex::open(index, "models").expect("an index")
}

/// What every table is about, by id.
fn vectors(index: &Path) -> Vec<(String, Vec<f32>)> {
    let index = open(index);
    let mut all = Vec::new();
    for table in index.tables() {
        let meanings = index.segment(table.segment).expect("a segment").meanings.as_ref().expect("vectors");
        let mut vector = vec![0.0; meanings.0.dims()];
        meanings.0.vector(table.table, &mut vector).expect("a vector");
        all.push((index.id(table).expect("an id").to_string(), vector));
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[test]
fn a_killed_build_can_be_searched_and_goes_on_where_it_was() {
    let lake = lake_of(TABLES);
    let (place, whole) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let reader = Reader::default();
    assert_eq!(built(lake.path(), whole.path(), &reader, &Silent).texts_unread, 0);
    let all = reader.0.swap(0, Ordering::Relaxed);
    assert!(all >= TABLES);

    let killed = KilledAfter(AtomicUsize::new(2));
    let run = catch_unwind(AssertUnwindSafe(|| built(lake.path(), place.path(), &reader, &killed)));
    assert!(run.is_err());
    let index = open(place.path());
    assert_eq!((index.len(), index.texts_unread()), (TABLES, TABLES as u64));
    assert_eq!(verify(place.path()).expect("a verdict").2, []);
    let before = reader.0.swap(0, Ordering::Relaxed);
    assert_eq!(before, all * 2 * PART / TABLES, "texts of two parts");

    let rest = built(lake.path(), place.path(), &reader, &Silent);
    assert_eq!((rest.unchanged, rest.read_bytes, rest.texts_unread), (TABLES as u64, 0, 0));
    assert_eq!(reader.0.swap(0, Ordering::Relaxed), all - before, "only the rest is read");
    assert_eq!(open(place.path()).texts_unread(), 0);
    assert_eq!(vectors(place.path()), vectors(whole.path()));
    assert_eq!(verify(place.path()).expect("a verdict").2, []);
    let manifest = Manifest::read(place.path()).expect("a manifest");
    let [segment] = &manifest.segments[..] else { panic!("{} segments", manifest.segments.len()) };
    let folder = Manifest::segment_folder(place.path(), &segment.name);
    assert_eq!(fs::read_dir(folder).expect("a folder").count(), segment.files.len(), "parts are gone");

    assert!(!built(lake.path(), place.path(), &reader, &Silent).did_something());
    assert_eq!(reader.0.load(Ordering::Relaxed), 0, "unchanged tables cost nothing");
}

#[test]
fn a_stopped_build_says_what_is_unread_and_a_damaged_part_is_read_again() {
    let lake = lake_of(TABLES);
    let place = tempfile::tempdir().expect("a folder");
    let reader = Reader::default();
    let limit = AtomicUsize::new(PART * 4);
    let stop = StopWhen(|| reader.0.load(Ordering::Relaxed) > limit.load(Ordering::Relaxed));
    let stats = built(lake.path(), place.path(), &reader, &stop);
    assert_eq!((stats.unread, stats.texts_unread), (0, TABLES as u64));
    assert!(stats.is_partial());
    let parts: Vec<_> = fs::read_dir(place.path().join("segments"))
        .expect("segments")
        .flat_map(|segment| fs::read_dir(segment.expect("an entry").path()).expect("a folder"))
        .map(|file| file.expect("an entry").path())
        .filter(|path| path.to_string_lossy().contains(".part-"))
        .collect();
    assert!(!parts.is_empty(), "no part was kept");
    for part in &parts {
        let mut bytes = fs::read(part).expect("a part");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(part, bytes).expect("a file");
    }
    // A table that changes meanwhile is in a segment of its own, and the old one is not waited for.
    write(lake.path(), 7, "Antwerp,9");
    let rest = built(lake.path(), place.path(), &reader, &Silent);
    assert_eq!((rest.changed, rest.texts_unread), (1, 0));
    let fresh = tempfile::tempdir().expect("a folder");
    built(lake.path(), fresh.path(), &reader, &Silent);
    assert_eq!(vectors(place.path()), vectors(fresh.path()));
}
