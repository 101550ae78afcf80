//! Guarantees of the word index: the same results however tables are divided, exact names first, no query fails, damage is reported,
//! nothing is written and no threads are left behind.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::open::TableRef;
use crate::structure::{SegmentFiles, Structure};
use crate::table_set::TableSet;
use lakeward_core::error::Error;

const MEMORY_BYTES: usize = 16 << 20;

fn build_with(dir: &Path, documents: &[LexicalDocument<'_>], memory_bytes: usize) -> LexicalStats {
    std::fs::create_dir_all(dir).unwrap();
    let mut builder = LexicalBuilder::new(&dir.join("scratch"), memory_bytes);
    for document in documents {
        builder.add(document).unwrap();
    }
    builder.write(dir).unwrap()
}

fn file(dir: &Path) -> std::path::PathBuf {
    dir.join("words.seg")
}

fn segment(dir: &Path) -> SegmentFiles<'static> {
    SegmentFiles { folder: dir.to_path_buf(), removed: &[], listed: &[] }
}

fn open(segments: &[SegmentFiles<'_>]) -> lakeward_core::Result<LexicalIndex> {
    let words = segments.iter().map(Words::open).collect::<lakeward_core::Result<Vec<Words>>>()?;
    Ok(LexicalIndex::of(&words))
}

/// An index of `documents` in one segment; it needs the folder guard to stay alive.
fn index_of(documents: &[LexicalDocument<'_>]) -> (tempfile::TempDir, LexicalIndex) {
    let dir = tempfile::tempdir().unwrap();
    build_with(dir.path(), documents, MEMORY_BYTES);
    let index = open(&[segment(dir.path())]).unwrap();
    (dir, index)
}

fn tables_of(hits: &[LexicalHit]) -> Vec<u32> {
    hits.iter().map(|hit| hit.table).collect()
}

fn search(index: &LexicalIndex, query: &str) -> Vec<LexicalHit> {
    index.search(query, &LexicalOptions::default()).unwrap()
}

/// A few hundred words over 60 tables, the same every time.
fn many_texts() -> Vec<[String; 3]> {
    const WORDS: [&str; 12] =
        ["price", "energy", "city", "river", "school", "2020", "rate", "health", "bus", "tree", "budget", "A-320"];
    let mut state = 7u64;
    let mut next = |count: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % count
    };
    let mut text = |words: usize| (0..words).map(|_| WORDS[next(12).min(next(12))]).collect::<Vec<_>>().join(" ");
    (0..60).map(|table| [text(1 + table % 4), text(2 + table % 7), text(5 + table)]).collect()
}

fn documents_of(texts: &[[String; 3]]) -> Vec<LexicalDocument<'_>> {
    let mut documents = Vec::new();
    for (table, [title, headers, values]) in texts.iter().enumerate() {
        documents.push(LexicalDocument { table: table as u32, title, headers, values, ..LexicalDocument::default() });
    }
    documents
}

#[test]
fn scores_do_not_depend_on_how_tables_are_divided() {
    let texts = many_texts();
    let documents = documents_of(&texts);
    let (_whole_dir, whole) = index_of(&documents);
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Vec::new();
    for (at, part) in documents.chunks(13).enumerate() {
        let folder = dir.path().join(at.to_string());
        build_with(&folder, part, MEMORY_BYTES);
        segments.push(segment(&folder));
    }
    assert_eq!(segments.len(), 5);
    let divided = open(&segments).unwrap();
    let options = LexicalOptions { k: 60, ..LexicalOptions::default() };
    for query in ["energy prices", "health budget of the city 2020", "A320", "trees", "river school bus rate"] {
        let one = whole.search(query, &options).unwrap();
        let five = divided.search(query, &options).unwrap();
        assert!(one.len() > 5, "{query}");
        assert_eq!(tables_of(&one), tables_of(&five), "{query}");
        for (a, b) in one.iter().zip(&five) {
            assert!((a.score - b.score).abs() < 1e-5 && a.matched == b.matched, "{a:?} {b:?}");
        }
    }
}

#[test]
fn scores_of_chosen_tables_are_those_of_a_search_and_the_wanted_ones_are_whole() {
    const TABLES: usize = 150_000;
    let mut state = 7usize;
    let mut next = |count: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % count
    };
    let word = |number: usize| {
        let letter = |at: usize| char::from(b'b' + (number / [1, 15][at] % 15) as u8);
        format!("{}o{}ux", letter(0), letter(1))
    };
    let titles: Vec<String> = (0..TABLES)
        .map(|_| (0..2 + next(6)).map(|_| word(next(200).min(next(200)).min(next(200))) + " ").collect())
        .collect();
    let documents: Vec<LexicalDocument<'_>> = titles
        .iter()
        .enumerate()
        .map(|(table, title)| LexicalDocument { table: table as u32, title, ..LexicalDocument::default() })
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Vec::new();
    for (at, part) in documents.chunks(100_000).enumerate() {
        let folder = dir.path().join(at.to_string());
        let part: Vec<LexicalDocument<'_>> = part
            .iter()
            .map(|document| LexicalDocument { table: document.table - 100_000 * at as u32, ..*document })
            .collect();
        build_with(&folder, &part, 64 << 20);
        segments.push(segment(&folder));
    }
    let index = open(&segments).unwrap();
    let words = [(3, 1.0), (150, 1.0), (90, 0.5), (0, 1.0), (180, 0.7)].map(|(number, weight)| (word(number), weight));
    let words = words.each_ref().map(|(word, weight)| (word.as_str(), *weight));
    let boosts = Boosts::only(&[LexicalField::Title]);
    let score = WordScore { boosts, length: 0.75 };
    let mut all = TableSet::empty([100_000, 50_000]);
    (0..2).for_each(|at| all.insert_numbers(at, &(0..100_000).collect::<Vec<u32>>()));
    let mut few = TableSet::empty([100_000, 50_000]);
    (0..2).for_each(|at| few.insert_numbers(at, &(0..50_000).step_by(31).collect::<Vec<u32>>()));
    let searched = index.search_tokens("words", &words, &LexicalOptions { k: TABLES, boosts, explain: false }).unwrap();
    assert!(searched.len() > 20_000);
    for filter in [&all, &few] {
        let scores = index.scores_among(&words, score, filter, None).unwrap();
        let mut best: Vec<(usize, f32)> = Vec::new();
        for hit in &searched {
            let place = filter.place(TableRef { segment: hit.segment, table: hit.table }).unwrap();
            let expected = if filter.contains_place(place) { hit.score } else { 0.0 };
            assert!((scores[place] - expected).abs() < 1e-4, "{hit:?} {}", scores[place]);
            best.extend(filter.contains_place(place).then_some((place, scores[place])));
        }
        assert_eq!(scores.iter().filter(|score| **score > 0.0).count(), best.len());
        let value = |place: usize, score: f32| score + if place.is_multiple_of(7) { 0.5 } else { 0.0 };
        let most = |score: f32| score + 0.5;
        let top = TopTables { count: 20, margin: 0.25, value: &value, most: &most };
        let fewer = index.scores_among(&words, score, filter, Some(top)).unwrap();
        best.sort_by(|a, b| value(b.0, b.1).total_cmp(&value(a.0, a.1)));
        let least = value(best[19].0, best[19].1) - 0.25;
        let promising = best.iter().filter(|(place, score)| value(*place, *score) >= least);
        assert!(promising.clone().count() >= 20 && promising.clone().all(|(place, score)| fewer[*place] == *score));
        assert!(fewer.iter().zip(&scores).all(|(fewer, score)| fewer <= score));
        let left = fewer.iter().zip(&scores).filter(|(fewer, score)| fewer < score).count();
        assert!(left > 0 || filter == &few, "all were scored");
    }
}

#[test]
fn a_small_memory_budget_still_gives_one_segment_and_the_same_answers() {
    let long: Vec<String> = (0..40)
        .map(|table| (0..20_000).map(|word| format!("w{} ", (word * 31 + table * 7) % 50_000)).collect())
        .collect();
    let documents: Vec<LexicalDocument<'_>> = long
        .iter()
        .enumerate()
        .map(|(table, values)| LexicalDocument { table: table as u32, values, ..LexicalDocument::default() })
        .collect();
    let (small, large) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let stats = build_with(small.path(), &documents, 0);
    build_with(large.path(), &documents, 1 << 30);
    assert_eq!(stats.tables, 40);
    assert_eq!(stats.text_bytes, long.iter().map(|text| text.len() as u64).sum::<u64>());
    let left: Vec<_> = std::fs::read_dir(small.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["words.seg"]);
    let small = open(&[segment(small.path())]).unwrap();
    let large = open(&[segment(large.path())]).unwrap();
    assert_eq!(search(&small, "w11 w4242 w17"), search(&large, "w11 w4242 w17"));
}

#[test]
fn dead_tables_are_never_returned() {
    let titled = |table, title| LexicalDocument { table, title, ..LexicalDocument::default() };
    let documents = [titled(0, "Energy prices"), titled(1, "Energy use")];
    let dir = tempfile::tempdir().unwrap();
    build_with(dir.path(), &documents, MEMORY_BYTES);
    let index = open(&[SegmentFiles { removed: &[0, 77], ..segment(dir.path()) }]).unwrap();
    assert_eq!(tables_of(&search(&index, "energy")), [1]);
    assert!(search(&index, "Energy prices").iter().all(|hit| hit.table == 1));
}

fn named() -> Vec<LexicalDocument<'static>> {
    vec![
        LexicalDocument { table: 0, id: "energy/food_prices", title: "Costs", ..LexicalDocument::default() },
        LexicalDocument {
            table: 1,
            id: "x/t1",
            title: "Food prices food prices",
            headers: "food\nprices",
            values: "food prices\nfood\nprices",
            ..LexicalDocument::default()
        },
        LexicalDocument { table: 2, id: "x/t2", title: "Food prices", ..LexicalDocument::default() },
        LexicalDocument { table: 3, id: "airports", title: "Zürich: airports", ..LexicalDocument::default() },
        LexicalDocument { table: 4, id: "IT", title: "", values: "of the", ..LexicalDocument::default() },
    ]
}

#[test]
fn an_exact_id_name_or_title_ranks_first_and_says_so() {
    let (_dir, index) = index_of(&named());
    for (query, first, field) in [
        ("energy/food_prices", 0, LexicalField::Id),
        ("`Energy/FoodPrices.csv`", 0, LexicalField::Id),
        ("zurich AIRPORTS", 3, LexicalField::Title),
        ("airports.csv.gz", 3, LexicalField::Id),
        ("it", 4, LexicalField::Id),
    ] {
        let hits = search(&index, query);
        assert_eq!(hits[0].table, first, "{query}");
        let exact = FieldMatch { field, words: vec![query.to_string()], exact: true };
        assert_eq!(hits[0].matched[0], exact, "{query}");
        assert!(hits.iter().skip(1).all(|hit| hit.score <= hits[0].score && !hit.matched.iter().any(|m| m.exact)));
    }
    // Table 1 has the words most often, tables 0 and 2 have them as names.
    let hits = search(&index, "food prices");
    assert_eq!(tables_of(&hits).len(), 3);
    assert_eq!(hits[2].table, 1);
    let values_only = LexicalOptions { boosts: Boosts::only(&[LexicalField::Values]), ..LexicalOptions::default() };
    assert_eq!(tables_of(&index.search("food prices", &values_only).unwrap()), [1]);
}

#[test]
fn matched_names_fields_and_the_users_own_words() {
    let document = LexicalDocument {
        id: "census/tbl_popByState",
        title: "Population of the states",
        headers: "popTotal\nstateName",
        values: "McDonald County\nA-320",
        ..LexicalDocument::default()
    };
    let (_dir, index) = index_of(&[document]);
    let hits = search(&index, "\"States'\" populations, (A320) popTotal?");
    let matched: Vec<(LexicalField, Vec<&str>)> =
        hits[0].matched.iter().map(|found| (found.field, found.words.iter().map(String::as_str).collect())).collect();
    let expected = [
        (LexicalField::Id, vec!["States", "popTotal"]),
        (LexicalField::Title, vec!["States", "populations"]),
        (LexicalField::Headers, vec!["States", "popTotal"]),
        (LexicalField::Values, vec!["A320"]),
    ];
    assert_eq!(matched, expected);
    assert!(search(&index, "Donald").is_empty());
    let silent = LexicalOptions { explain: false, ..LexicalOptions::default() };
    assert!(index.search("populations", &silent).unwrap()[0].matched.is_empty());
}

#[test]
fn weighted_tokens_search_chosen_fields() {
    let (_dir, index) = index_of(&[
        LexicalDocument { table: 0, headers: "city", values: "Bern\nBasel", ..LexicalDocument::default() },
        LexicalDocument { table: 1, headers: "city", values: "Zug", ..LexicalDocument::default() },
        LexicalDocument { table: 2, title: "city Zug Bern", ..LexicalDocument::default() },
    ]);
    let options = LexicalOptions {
        boosts: Boosts::only(&[LexicalField::Headers, LexicalField::Values]),
        ..LexicalOptions::default()
    };
    let run = |tokens: &[(&str, f32)]| tables_of(&index.search_tokens("a table", tokens, &options).unwrap());
    assert_eq!(run(&[("city", 1.0), ("Zug", 1.0), ("Bern", 0.1)]), [1, 0]);
    assert_eq!(run(&[("city", 1.0), ("Zug", 0.1), ("Bern", 1.0)]), [0, 1]);
    assert_eq!(run(&[("Zug", f32::NAN), ("Bern", -1.0), ("city", 0.0)]), Vec::<u32>::new());
}

#[test]
fn nothing_to_search_finds_nothing() {
    let none = open(&[]).unwrap();
    assert!(search(&none, "anything").is_empty());
    let (_dir, empty) = index_of(&[]);
    assert!(search(&empty, "anything").is_empty());
    let (_dir, index) = index_of(&named());
    assert!(search(&index, "").is_empty() && search(&index, "?!").is_empty() && search(&index, "qqq").is_empty());
    let no_hits = LexicalOptions { k: 0, ..LexicalOptions::default() };
    assert!(index.search("food", &no_hits).unwrap().is_empty());
}

proptest! {
    #[test]
    fn no_text_fails(query in ".{0,300}") {
        static INDEX: std::sync::OnceLock<(tempfile::TempDir, LexicalIndex)> = std::sync::OnceLock::new();
        let (_, index) = INDEX.get_or_init(|| index_of(&named()));
        search(index, &query);
    }
}

#[test]
fn a_merged_index_answers_as_one_built_at_once() {
    let texts = many_texts();
    let documents = documents_of(&texts);
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Vec::new();
    // Table 20 of the third part is removed, and table 7 of the first one is left out by the merge.
    for (at, part) in documents.chunks(9).enumerate() {
        let folder = dir.path().join(at.to_string());
        build_with(&folder, part, MEMORY_BYTES);
        segments.push(SegmentFiles { removed: &[20], ..segment(&folder) });
    }
    let renumbered = |table: u32| (table != 7).then_some(100 - table);
    let mut builder = LexicalBuilder::new(&dir.path().join("scratch"), MEMORY_BYTES);
    for segment in &segments {
        builder.add_segment(&Words::open(segment).unwrap(), &renumbered).unwrap();
    }
    let stats = builder.write(dir.path()).unwrap();
    assert_eq!(stats.tables, 58);
    let merged = open(&[segment(dir.path())]).unwrap();
    let kept: Vec<_> = documents
        .into_iter()
        .filter(|document| ![7, 20].contains(&document.table))
        .map(|document| LexicalDocument { table: 100 - document.table, ..document })
        .rev()
        .collect();
    let (_dir, expected) = index_of(&kept);
    let options = LexicalOptions { k: 60, ..LexicalOptions::default() };
    for query in ["energy prices", "health budget of the city 2020", "A320", "trees", "river school bus rate"] {
        let scores = |index: &LexicalIndex| {
            let mut hits: Vec<(u32, f32)> =
                index.search(query, &options).unwrap().iter().map(|hit| (hit.table, hit.score)).collect();
            hits.sort_by_key(|hit| hit.0);
            hits
        };
        let (found, expected) = (scores(&merged), scores(&expected));
        assert!(found.len() > 5 && found.len() == expected.len(), "{query}");
        assert!(found.iter().zip(&expected).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-5), "{query}");
    }
}

#[test]
fn every_flipped_byte_is_reported_or_harmless() {
    let dir = tempfile::tempdir().unwrap();
    build_with(dir.path(), &documents_of(&many_texts()), MEMORY_BYTES);
    let is_damaged = |result: lakeward_core::Result<LexicalIndex>| matches!(result, Err(Error::DamagedIndex { .. }));
    assert!(is_damaged(open(&[segment(&dir.path().join("missing"))])));
    let query = "energy prices of the city in 2020";
    let expected = search(&open(&[segment(dir.path())]).unwrap(), query);
    let path = file(dir.path());
    let good = std::fs::read(&path).unwrap();
    for length in [0, 50, good.len() / 2, good.len() - 1] {
        std::fs::write(&path, &good[..length]).unwrap();
        assert!(is_damaged(open(&[segment(dir.path())])), "{length}");
    }
    for at in (0..good.len()).step_by(1 + good.len() / 600) {
        let mut bad = good.clone();
        bad[at] ^= 0xA5;
        std::fs::write(&path, bad).unwrap();
        let opened = open(&[segment(dir.path())]);
        match opened.and_then(|index| index.search(query, &LexicalOptions::default())) {
            Ok(found) => assert_eq!(found, expected, "byte {at}"),
            Err(error) => assert!(matches!(error, Error::DamagedIndex { .. }), "{error}"),
        }
    }
}

#[test]
fn reading_writes_nothing_and_leaves_no_threads() {
    let (dir, index) = index_of(&named());
    let list = || {
        let mut names: Vec<_> =
            std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = list();
    search(&index, "food prices");
    assert_eq!(before, list());
    for task in std::fs::read_dir("/proc/self/task").into_iter().flatten() {
        let name = std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default();
        let is_tantivys =
            ["tantivy", "thrd-", "segment_updater", "merge_thread"].iter().any(|part| name.contains(part));
        assert!(!is_tantivys, "{name}");
    }
}

#[test]
fn single_words_are_known_by_rarity_and_spelling() {
    let titles = ["unemployment by county", "county budgets", "county schools", "populations of rivers"];
    let documents: Vec<LexicalDocument<'_>> = titles
        .iter()
        .zip(0..)
        .map(|(title, table)| LexicalDocument { table, title, ..LexicalDocument::default() })
        .collect();
    let (_dir, index) = index_of(&documents);
    let rarities = index.rarities(&["county", "rivers", "zebra", "?!"]).unwrap();
    assert_eq!(rarities.iter().map(|word| word.tables).collect::<Vec<_>>(), [3, 1, 0, 0]);
    assert!(rarities[0].rarity < rarities[1].rarity && rarities[1].rarity < rarities[2].rarity, "{rarities:?}");
    assert_eq!((rarities[2].rarity, rarities[3].rarity), (1.0, 0.0));
    let informative = index.informative_words("the counties of a County, and rivers", 10).unwrap();
    assert_eq!(informative.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>(), ["counties", "rivers"]);
    assert!(index.informative_words("", 10).unwrap().is_empty());
    let nearest = |word: &str| index.nearest_words(word).unwrap();
    let near = |distance, word: &str| vec![(distance, 1, word.to_string())];
    assert_eq!((nearest("buget"), nearest("buggets")), (near(1, "budget"), near(1, "budgets")));
    assert_eq!(nearest("unemploymnt"), near(3, "unemploy"));
    for far in ["bugt", "county2", "zebra", "xunemployment", ""] {
        assert!(nearest(far).is_empty(), "{far}");
    }
}
