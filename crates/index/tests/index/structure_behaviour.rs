//! What every structure of a segment promises, tried on all that are listed: the same answers whether tables came at once or in many
//! updates, a lake of nothing, damage that is named and repaired, and files of another kind or version that are told apart.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Silent;
use lakeward_index::build::{self, BuildOptions, BuildStats};
use lakeward_index::lexical::LexicalOptions;
use lakeward_index::manifest::Manifest;
use lakeward_index::structures::FORMATS;
use lakeward_index::verify::verify;
use lakeward_index::{LakeIndex, TableRef, header_hashes};
use lakeward_models::embed::{Embedder, EmbedderExt, StaticModel, TokenEmbedder};
use xxhash_rust::xxh3::xxh3_64;

/// The model in the program with a vector a word of its own, so that no structure is left out.
struct WithPieces;

const VOCABULARY: usize = 100;

fn number_of(word: &str) -> u32 {
    (xxh3_64(word.as_bytes()) % VOCABULARY as u64) as u32
}

impl Embedder for WithPieces {
    fn id(&self) -> &str {
        "with-pieces"
    }

    fn dims(&self) -> usize {
        StaticModel::builtin().dims()
    }

    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) -> usize {
        StaticModel::builtin().embed_weighted(texts, out)
    }

    fn as_text_encoder(&self) -> Option<&dyn Embedder> {
        Some(self)
    }

    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        Some(self)
    }
}

impl TokenEmbedder for WithPieces {
    fn vocabulary_len(&self) -> usize {
        VOCABULARY
    }

    fn count_pieces(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }

    fn embed_pieces(&self, text: &str, most: usize, _marks: bool, out: &mut Vec<f32>) -> Vec<u32> {
        let words: Vec<&str> = text.split_whitespace().take(most).collect();
        words.iter().for_each(|word| out.extend(self.embed(word)));
        words.into_iter().map(number_of).collect()
    }
}

/// Table `number` of the lake: towns that its neighbours have too, a column of years that most have, and metadata.
fn write_table(lake: &Path, number: usize) {
    let mut text = "town,year,figure\n".to_string();
    for row in 0..30 {
        let town = number * 10 + row;
        text.push_str(&format!("Town {town},{},{}.5\n", 1990 + row % 20, town * 7 % 100));
    }
    fs::write(lake.join(format!("table_{number:02}.csv")), text).expect("a file");
    let place = ["Leinster", "Munster"][number % 2];
    let metadata = format!(
        r#"{{"title": "Figures {number} of towns", "description": "What was counted in {place}.", "keywords": ["towns", "{place}"],
            "spatial": "{place}", "temporal": "1990/2009"}}"#
    );
    fs::write(lake.join(format!("table_{number:02}.csv.json")), metadata).expect("a file");
}

fn lake_of(tables: usize) -> tempfile::TempDir {
    let lake = tempfile::tempdir().expect("a folder");
    (0..tables).for_each(|number| write_table(lake.path(), number));
    lake
}

fn built(lake: &Path, index: &Path, options: &BuildOptions) -> Result<BuildStats> {
    build::build(lake, index, &WithPieces, options, &Silent)
}

fn open(index: &Path) -> Result<LakeIndex> {
    LakeIndex::open(index, WithPieces.id())
}

/// What one structure says of a table, by the table's id.
type Answers = BTreeMap<String, Vec<String>>;

/// What the structure in `file` says; a structure that is not known here has to be added.
fn answers(index: &LakeIndex, file: &str) -> Result<Answers> {
    let mut answers = Answers::new();
    for table in index.tables() {
        let mut said = Vec::new();
        let segment = index.segment(table.segment)?;
        let columns = segment.tables.columns(table.table)?;
        match file {
            "words.seg" => {
                for query in ["towns leinster", "what was counted", "Town 33"] {
                    let hits =
                        index.lexical().search(query, &LexicalOptions { k: 100, ..LexicalOptions::default() })?;
                    let hit = hits.iter().find(|hit| (hit.segment, hit.table) == (table.segment, table.table));
                    // Scores count tables that are gone until their segment is written anew; matches do not.
                    said.push(format!("{:?}", hit.map(|hit| &hit.matched)));
                }
            }
            "catalog.seg" => {
                said.push(format!("{:?} {:?}", segment.tables.stamp(table.table)?.content, columns.len()));
                said.push(format!("{:?} {}", index.table(table)?.profile.rows, segment.tables.citation(table.table)?));
            }
            "facets.seg" => {
                let facets = index.facets()?;
                for (role, value, _) in facets.values() {
                    let mut having = facets.none();
                    index.add_tables_with(role, value, &mut having)?;
                    if having.contains(table) {
                        said.push(format!("{role:?} {value}"));
                    }
                }
                said.sort_unstable();
                said.push(format!("{:?}", index.years(table)?));
            }
            "vectors.seg" => {
                let vectors = &segment.vectors;
                for column in columns {
                    said.push(vector_of(&vectors.columns, column)?);
                }
                for set in [&vectors.contents, &vectors.topics, &vectors.titles] {
                    said.push(vector_of(set, table.table)?);
                }
            }
            "join.seg" => {
                for column in columns {
                    let record = segment.columns.record(column)?;
                    let mut found = 0;
                    for hash in segment.columns.hashes(record)?.iter() {
                        found += usize::from(holds(&segment.join.values, *hash, column)?);
                    }
                    let name = segment.columns.name(record)?;
                    let mut named = 0;
                    for hash in header_hashes(name) {
                        named += usize::from(holds(&segment.join.headers, hash, column)?);
                    }
                    said.push(format!("{name}: {found} values, {named} names"));
                }
            }
            "columns.seg" => {
                for column in columns {
                    let record = segment.columns.record(column)?;
                    let (hashes, samples) = (segment.columns.hashes(record)?, segment.columns.samples(record)?);
                    said.push(format!("{} {hashes:?} {samples:?}", segment.columns.name(record)?));
                    said.push(format!(
                        "{:?} {:?} {:?}",
                        record.rows,
                        record.semantic(),
                        segment.columns.quantiles(record)?
                    ));
                }
            }
            "correlations.seg" => {
                let stored = &segment.correlations;
                for key in stored.of_table(table.table)? {
                    let name =
                        |column: &u32| segment.columns.name(segment.columns.record(*column)?).map(str::to_string);
                    let columns = key.columns().iter().map(name).collect::<Result<Vec<_>>>()?;
                    let values =
                        stored.values(key)?.iter().map(|value| name(&value.column)).collect::<Result<Vec<_>>>()?;
                    said.push(format!(
                        "{columns:?} {values:?} {:?} {:?}",
                        stored.hashes(key, &segment.columns)?,
                        stored.codes(key)?
                    ));
                }
            }
            "meanings.seg" => {
                let meanings = segment.meanings.as_ref();
                said.extend(meanings.map(|meanings| vector_of(&meanings.0, table.table)).transpose()?);
            }
            "token-vectors.seg" => said.push(format!("{:?}", index.token_rows(table)?)),
            "tokens.seg" => said.push(format!("{:?}", index.pieces(table)?)),
            other => panic!("no question is known to ask `{other}`"),
        }
        answers.insert(index.id(table)?.to_string(), said);
    }
    Ok(answers)
}

fn vector_of(set: &lakeward_index::vectors::VectorSet, id: u32) -> Result<String> {
    let mut vector = vec![0.0; set.dims()];
    set.vector(id, &mut vector)?;
    Ok(format!("{vector:?}"))
}

fn holds(postings: &lakeward_index::postings::Postings, hash: u64, column: u32) -> Result<bool> {
    let mut holds = false;
    if let Some(list) = postings.find(hash)? {
        postings.for_each(list, |found| holds |= found == column)?;
    }
    Ok(holds)
}

/// The files of the segments, by path below the index and in order.
fn files(index: &Path) -> Vec<PathBuf> {
    let manifest = Manifest::read(index).expect("a manifest");
    let of_segment = |segment: &lakeward_index::manifest::SegmentEntry| {
        let folder = Manifest::segment_folder(index, &segment.name);
        segment.files.iter().map(|file| folder.join(&file.name)).collect::<Vec<_>>()
    };
    manifest.segments.iter().flat_map(of_segment).collect()
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("a name")
}

/// All answers of all structures, or the first error.
fn all_answers(index: &Path) -> Result<Vec<Answers>> {
    let index = open(index)?;
    FORMATS.iter().map(|format| answers(&index, format.name)).collect()
}

#[test]
fn every_structure_answers_alike_from_one_segment_and_from_several() {
    let lake = lake_of(0);
    let (updated, fresh) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let options = BuildOptions::default();
    let (mut merged, mut segments) = (0, 0);
    // Segments of like size are merged: what is stored is copied. The last update leaves several.
    for number in 0.. {
        write_table(lake.path(), number);
        if number % 4 == 3 {
            fs::remove_file(lake.path().join(format!("table_{:02}.csv", number - 2))).expect("a file");
        }
        merged += built(lake.path(), updated.path(), &options).expect("a build").merged_segments;
        segments = open(updated.path()).expect("an index").segments().len();
        if number > 10 && segments > 1 {
            break;
        }
    }
    built(lake.path(), fresh.path(), &options).expect("a build");
    let (several, one) = (open(updated.path()).expect("an index"), open(fresh.path()).expect("an index"));
    assert!(merged > 0 && one.segments().len() == 1 && several.len() == one.len(), "{merged} merged, {segments} left");
    for format in FORMATS {
        let expected = answers(&one, format.name).expect("answers");
        assert!(expected.values().all(|said| said.iter().any(|said| !said.is_empty())), "{}", format.name);
        assert_eq!(answers(&several, format.name).expect("answers"), expected, "{}", format.name);
    }
    let listed: BTreeSet<&str> = FORMATS.iter().map(|format| format.name).collect();
    assert_eq!(files(fresh.path()).iter().map(|path| name_of(path)).collect::<BTreeSet<_>>(), listed);
    assert_eq!(verify(updated.path()).expect("a verdict").2, []);
}

#[test]
fn the_same_lake_gives_the_same_files() {
    let lake = lake_of(6);
    // Times of change are stored once they are settled.
    std::thread::sleep(Duration::from_millis(300));
    let (one, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    for index in [&one, &other] {
        built(lake.path(), index.path(), &BuildOptions::default()).expect("a build");
    }
    for (left, right) in files(one.path()).iter().zip(files(other.path())) {
        // tantivy names its files by chance.
        if name_of(left) != "words.seg" {
            assert!(fs::read(left).expect("a file") == fs::read(&right).expect("a file"), "{}", left.display());
        }
    }
}

#[test]
fn every_structure_is_there_for_a_table_of_nothing_and_for_no_table() {
    let lake = lake_of(0);
    let index = tempfile::tempdir().expect("a folder");
    built(lake.path(), index.path(), &BuildOptions::default()).expect("a build");
    assert!(open(index.path()).expect("an index").is_empty());
    assert!(all_answers(index.path()).expect("answers").iter().all(BTreeMap::is_empty));
    fs::write(lake.path().join("bare.csv"), "a\n").expect("a file");
    built(lake.path(), index.path(), &BuildOptions::default()).expect("a build");
    assert_eq!(open(index.path()).expect("an index").tables().collect::<Vec<_>>(), [TableRef { segment: 0, table: 0 }]);
    assert!(all_answers(index.path()).expect("answers").iter().all(|answers| answers.len() == 1));
    assert_eq!(verify(index.path()).expect("a verdict").2, []);
}

#[test]
fn every_structure_names_damage_and_is_repaired() {
    let lake = lake_of(5);
    let index = tempfile::tempdir().expect("a folder");
    built(lake.path(), index.path(), &BuildOptions::default()).expect("a build");
    let good = all_answers(index.path()).expect("answers");
    for path in files(index.path()) {
        let bytes = fs::read(&path).expect("a file");
        let name = name_of(&path);
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 40) {
            let mut bad = bytes.clone();
            bad[at] ^= 0x10;
            fs::write(&path, &bad).expect("a file");
            check_damage(index.path(), name, &good, &format!("{name}, byte {at}"));
        }
        for length in [0, 63, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&path, &bytes[..length]).expect("a file");
            check_damage(index.path(), name, &good, &format!("{name}, cut at {length}"));
        }
        fs::remove_file(&path).expect("a file");
        check_damage(index.path(), name, &good, &format!("{name}, gone"));
        fs::write(&path, &bytes).expect("a file");
    }
    for format in FORMATS {
        let path = files(index.path()).into_iter().find(|path| name_of(path) == format.name).expect("a file");
        let mut bytes = fs::read(&path).expect("a file");
        bytes[100] ^= 1;
        fs::write(&path, &bytes).expect("a file");
        let options = BuildOptions { repair: true, ..BuildOptions::default() };
        assert_eq!(
            built(lake.path(), index.path(), &options).expect("a build").repaired_segments,
            1,
            "{}",
            format.name
        );
        assert_eq!(all_answers(index.path()).expect("answers"), good, "{}", format.name);
    }
}

/// The damage is in the file called `name`: verification says so, and no answer is another one than before.
fn check_damage(index: &Path, name: &str, good: &[Answers], when: &str) {
    let damage = verify(index).expect("a verdict").2;
    assert!(damage.len() == 1 && damage[0].file.ends_with(name), "{when}: {damage:?}");
    let opened = match open(index) {
        Ok(opened) => opened,
        Err(error) => return assert!(is_damage(&error, name), "{when}: {error}"),
    };
    for (format, good) in FORMATS.iter().zip(good) {
        match answers(&opened, format.name) {
            Ok(found) => assert!(found == *good, "{when}: `{}` answers otherwise", format.name),
            Err(error) => assert!(is_damage(&error, name), "{when}: {error}"),
        }
    }
}

fn is_damage(error: &Error, name: &str) -> bool {
    matches!(error, Error::DamagedIndex { path, .. } if path.ends_with(name))
}

#[test]
fn every_structure_tells_other_kinds_and_versions_apart() {
    let lake = lake_of(2);
    let index = tempfile::tempdir().expect("a folder");
    built(lake.path(), index.path(), &BuildOptions::default()).expect("a build");
    let files = files(index.path());
    for (place, path) in files.iter().enumerate() {
        let bytes = fs::read(path).expect("a file");
        let mut newer = bytes.clone();
        // Kind and version stand behind the mark of all segment files, before the checksum of these sixteen bytes.
        let version = u32::from_le_bytes([newer[8], newer[9], newer[10], newer[11]]) + 1;
        newer[8..12].copy_from_slice(&version.to_le_bytes());
        let checksum = xxh3_64(&newer[..16]);
        newer[16..24].copy_from_slice(&checksum.to_le_bytes());
        fs::write(path, newer).expect("a file");
        match open(index.path()).err() {
            Some(Error::IndexVersion { path: named, found, expected }) => {
                assert_eq!((&named, found, expected), (path, version, version - 1));
            }
            other => panic!("{}: {other:?}", path.display()),
        }
        fs::copy(&files[(place + 1) % files.len()], path).expect("a file");
        match open(index.path()).err() {
            Some(error) => assert!(is_damage(&error, name_of(path)), "{error}"),
            None => panic!("{} opens as another file", path.display()),
        }
        fs::write(path, bytes).expect("a file");
    }
    open(index.path()).expect("an index");
}
