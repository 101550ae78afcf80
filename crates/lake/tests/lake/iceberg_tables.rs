//! Tables of Iceberg, written file by file: which rows they have, and what broken and hostile metadata does.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int32Array, Int64Array, StringArray, StructArray};
use arrow::datatypes::{DataType, Field, Fields, Schema};
use arrow::record_batch::RecordBatch;
use arrow_avro::compression::CompressionCodec;
use arrow_avro::writer::WriterBuilder;
use arrow_avro::writer::format::AvroOcfFormat;
use lakeward_lake::metadata::MetadataIndex;
use lakeward_lake::reader::RepairKind;
use lakeward_lake::source::{content_hash, list_files};
use serde_json::{Value, json};

use crate::holders::read;
use crate::layouts::{parquet, write};
use crate::log_tables::{numbers, texts};

/// Where the table says it is: not where it is.
const LOCATION: &str = "s3://warehouse/t";

/// An entry of a manifest.
#[derive(Clone)]
pub struct Entry {
    status: i32,
    sequence: Option<i64>,
    content: i32,
    path: String,
    format: String,
    part: String,
    bytes: i64,
}

impl Entry {
    pub fn removed(self) -> Entry {
        Entry { status: 2, ..self }
    }

    pub fn at(self, sequence: i64) -> Entry {
        Entry { sequence: Some(sequence), ..self }
    }

    pub fn in_part(self, part: &str) -> Entry {
        Entry { part: part.into(), ..self }
    }

    pub fn by_value(self) -> Entry {
        Entry { content: 2, ..self }
    }

    pub fn named(self, path: &str) -> Entry {
        Entry { path: path.into(), ..self }
    }

    pub fn of_format(self, format: &str) -> Entry {
        Entry { format: format.into(), ..self }
    }
}

/// A table of the columns `town`, `people`, `mayor` and `side`, by the last of which its files are parted.
pub struct IcebergTable {
    pub folder: PathBuf,
    version: i64,
    commits: i64,
}

impl IcebergTable {
    pub fn new(folder: PathBuf, version: i64) -> IcebergTable {
        fs::create_dir_all(folder.join("metadata")).unwrap();
        IcebergTable { folder, version, commits: 0 }
    }

    /// Writes a data file of these columns, each with its number.
    pub fn file(&self, name: &str, columns: Vec<(&str, i32, ArrayRef)>) -> Entry {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let field = |(name, number, array): &(&str, i32, ArrayRef)| {
            let number = [("PARQUET:field_id".to_string(), number.to_string())].into();
            Field::new(*name, array.data_type().clone(), true).with_metadata(number)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let arrays = columns.into_iter().map(|(_, _, array)| array).collect();
        let batch = RecordBatch::try_new(schema, arrays).unwrap();
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(fs::File::create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        self.entry(name, 0)
    }

    /// Writes a file of deletions by position.
    pub fn deletes(&self, name: &str, rows: &[(&str, i64)]) -> Entry {
        let paths: StringArray = rows.iter().map(|(path, _)| Some(*path)).collect();
        let places: Int64Array = rows.iter().map(|(_, place)| Some(*place)).collect();
        parquet(&self.folder.join(name), vec![("file_path", Arc::new(paths)), ("pos", Arc::new(places))]);
        self.entry(name, 1)
    }

    fn entry(&self, name: &str, content: i32) -> Entry {
        let bytes = fs::metadata(self.folder.join(name)).unwrap().len().try_into().unwrap();
        let (path, format, part) = (format!("{LOCATION}/{name}"), "PARQUET".into(), "north".into());
        Entry { status: 1, sequence: None, content, path, format, part, bytes }
    }

    /// Writes a manifest, and gives its name.
    pub fn manifest(&self, name: &str, entries: &[Entry]) -> String {
        let text = |of: &dyn Fn(&Entry) -> String| -> ArrayRef {
            Arc::new(entries.iter().map(|entry| Some(of(entry))).collect::<StringArray>())
        };
        let part = StructArray::from(vec![(
            Arc::new(Field::new("side", DataType::Utf8, true)),
            text(&|entry| entry.part.clone()),
        )]);
        let mut file: Vec<(&str, ArrayRef)> = vec![
            ("file_path", text(&|entry| entry.path.clone())),
            ("file_format", text(&|entry| entry.format.clone())),
            ("partition", Arc::new(part)),
            ("file_size_in_bytes", Arc::new(entries.iter().map(|entry| entry.bytes).collect::<Int64Array>())),
        ];
        let status: ArrayRef = Arc::new(entries.iter().map(|entry| entry.status).collect::<Int32Array>());
        let mut columns = vec![("status", status)];
        if self.version > 1 {
            let contents = entries.iter().map(|entry| entry.content).collect::<Int32Array>();
            file.insert(0, ("content", Arc::new(contents)));
            columns.push((
                "sequence_number",
                Arc::new(entries.iter().map(|entry| entry.sequence).collect::<Int64Array>()),
            ));
        }
        let fields: Fields = file.iter().map(|(name, array)| field(name, array)).collect();
        let arrays = file.into_iter().map(|(_, array)| array).collect();
        columns.push(("data_file", Arc::new(StructArray::new(fields, arrays, None))));
        self.avro(name, columns);
        name.to_string()
    }

    /// Makes a snapshot of these manifests the newest.
    pub fn commit(&mut self, manifests: &[String]) {
        self.commit_changed(manifests, |_| ());
    }

    /// As [`IcebergTable::commit`], with a change of the metadata.
    pub fn commit_changed(&mut self, manifests: &[String], change: impl Fn(&mut Value)) {
        self.commits += 1;
        let list = format!("snap-{}.avro", self.commits);
        let paths: StringArray = manifests.iter().map(|name| Some(format!("{LOCATION}/metadata/{name}"))).collect();
        let specs = Int32Array::from(vec![0; manifests.len()]);
        let mut columns: Vec<(&str, ArrayRef)> =
            vec![("manifest_path", Arc::new(paths)), ("partition_spec_id", Arc::new(specs))];
        if self.version > 1 {
            columns.push(("sequence_number", Arc::new(Int64Array::from(vec![self.commits; manifests.len()]))));
        }
        self.avro(&list, columns);
        let column = |id: i64, name: &str, kind: &str| json!({"id": id, "name": name, "type": kind, "required": false});
        let mut people = column(2, "people", "long");
        people["doc"] = "At the last census".into();
        let fields = [column(1, "town", "string"), people, column(3, "mayor", "string"), column(4, "side", "string")];
        let schema = json!({"type": "struct", "schema-id": 0, "fields": fields});
        let spec = json!([{"name": "side", "transform": "identity", "source-id": 4, "field-id": 1000}]);
        let mut metadata = json!({
            "format-version": self.version, "table-uuid": "t", "location": LOCATION, "last-updated-ms": self.commits,
            "schemas": [schema], "current-schema-id": 0, "partition-specs": [{"spec-id": 0, "fields": spec}],
            "default-spec-id": 0, "properties": {"comment": "People by town"}, "current-snapshot-id": self.commits,
            "snapshots": [{"snapshot-id": self.commits, "manifest-list": format!("{LOCATION}/metadata/{list}")}],
        });
        change(&mut metadata);
        let path = self.folder.join(format!("metadata/{:05}-a1.metadata.json", self.commits));
        fs::write(path, metadata.to_string()).unwrap();
    }

    fn avro(&self, name: &str, columns: Vec<(&str, ArrayRef)>) {
        let fields: Vec<Field> = columns.iter().map(|(name, array)| field(name, array)).collect();
        let schema = Schema::new(fields);
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let batch = RecordBatch::try_new(Arc::new(schema.clone()), arrays).unwrap();
        let file = fs::File::create(self.folder.join("metadata").join(name)).unwrap();
        // As other writers pack them.
        let builder = WriterBuilder::new(schema).with_compression(Some(CompressionCodec::Deflate));
        let mut writer = builder.build::<_, AvroOcfFormat>(file).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
    }
}

fn field(name: &str, array: &ArrayRef) -> Field {
    Field::new(name, array.data_type().clone(), true)
}

#[test]
fn an_iceberg_table_is_what_its_newest_snapshot_says() {
    let lake = tempfile::tempdir().unwrap();
    for version in [1, 2] {
        let mut table = IcebergTable::new(lake.path().join(format!("v{version}")), version);
        let a = table.file("data/a.parquet", vec![("town", 1, texts(&["Aby", "Bo"])), ("people", 2, numbers(&[3, 4]))]);
        // A column that was renamed, one of a narrower type, one that is gone.
        let narrow: ArrayRef = Arc::new(Int32Array::from(vec![5]));
        let b = table
            .file("data/b.parquet", vec![("city", 1, texts(&["Ce"])), ("people", 2, narrow), ("x", 9, numbers(&[0]))]);
        let gone = table.file("data/gone.parquet", vec![("town", 1, texts(&["no"])), ("people", 2, numbers(&[0]))]);
        let first = table.manifest("first.avro", &[a.in_part("north"), gone.in_part("north").removed()]);
        let second = table.manifest("second.avro", &[b.in_part("south")]);
        table.commit(&[first, second]);
        let path = lake.path().join(format!("v{version}"));
        let found = read(&path);
        assert_eq!(found.names, ["town", "people", "mayor", "side"]);
        assert_eq!(found.rows, [["Aby", "3", "", "north"], ["Bo", "4", "", "north"], ["Ce", "5", "", "south"]]);
        let parts = found.report.parts.unwrap();
        assert_eq!((parts.files, parts.keys), (2, vec!["side".to_string()]));
        assert_eq!(parts.reason, "the metadata of an Iceberg table");
    }
    let listing = list_files(lake.path()).unwrap();
    assert_eq!(listing.files.iter().map(|file| file.relative.as_str()).collect::<Vec<_>>(), ["v1", "v2"]);
    assert_eq!(listing.problems, []);
    let (mut metadata, _) = MetadataIndex::read(lake.path(), &listing.sidecars);
    metadata.add_described(listing.described);
    let said = metadata.get("v2").unwrap();
    assert_eq!(said.description.as_deref(), Some("People by town"));
    assert_eq!(said.columns["people"].description.as_deref(), Some("At the last census"));
}

#[test]
fn deletions_of_iceberg_are_applied_or_told() {
    let lake = tempfile::tempdir().unwrap();
    let mut table = IcebergTable::new(lake.path().join("t"), 2);
    let rows = |towns: &[&str]| vec![("town", 1, texts(towns)), ("people", 2, numbers(&vec![1; towns.len()]))];
    let old = table.file("data/old.parquet", rows(&["a", "b", "c"]));
    let new = table.file("data/new.parquet", rows(&["d", "e"]));
    // The new file came after the deletions, which do not concern it.
    let address = |name: &str| format!("s3://warehouse/t/data/{name}.parquet");
    let deleted = table.deletes("data/deletes.parquet", &[(&address("old"), 1), (&address("new"), 0)]);
    let by_value = table.file("data/values.parquet", vec![("town", 1, texts(&["c"]))]).by_value();
    let manifests = [
        table.manifest("old.avro", &[old.at(1)]),
        table.manifest("deletes.avro", &[deleted.at(2), by_value.at(2)]),
        table.manifest("new.avro", &[new.at(3)]),
    ];
    table.commit(&manifests);
    let path = lake.path().join("t");
    let found = read(&path);
    assert_eq!(found.rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["a", "c", "d", "e"]);
    let sentence = found.report.repair(RepairKind::DeletesByValue).unwrap().to_string();
    assert_eq!(sentence, "1 file deletes rows by their values, which is not applied");
    // Without the file of deletions nobody knows which rows of the old file are there.
    let before = content_hash(&path).unwrap();
    fs::remove_file(path.join("data/deletes.parquet")).unwrap();
    assert_eq!(content_hash(&path).unwrap(), before);
    table.commit(&manifests);
    let found = read(&path);
    assert_eq!(found.rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["d", "e"]);
    assert!(found.report.lost_rows());
}

#[test]
fn broken_and_hostile_metadata_of_iceberg_is_named() {
    let lake = tempfile::tempdir().unwrap();
    let at = |name: &str| lake.path().join(name);
    parquet(&at("outside.parquet"), vec![("town", texts(&["secret"]))]);
    let broken = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut table = IcebergTable::new(at(name), 2);
        let file = table.file("data/a.parquet", vec![("town", 1, texts(&["a"])), ("people", 2, numbers(&[1]))]);
        let manifest = table.manifest("m.avro", &[file]);
        table.commit_changed(&[manifest], change);
    };
    let mut deep = json!("long");
    for _ in 0..100 {
        deep = json!({"type": "list", "element-id": 7, "element": deep, "element-required": false});
    }
    broken("future", &|metadata| metadata["format-version"] = 3.into());
    broken("lost", &|metadata| metadata["current-snapshot-id"] = 77.into());
    broken("outside", &|metadata| metadata["snapshots"][0]["manifest-list"] = "/etc/passwd".into());
    broken("parent", &|metadata| metadata["snapshots"][0]["manifest-list"] = "s3://warehouse/t/../x.avro".into());
    broken("itself", &|metadata| metadata["snapshots"][0]["manifest-list"] = "s3://warehouse/t/metadata/m.avro".into());
    broken("missing", &|metadata| metadata["snapshots"][0]["manifest-list"] = "s3://warehouse/t/none.avro".into());
    broken("deep", &|metadata| metadata["schemas"][0]["fields"][0]["type"] = deep.clone());
    broken("type", &|metadata| metadata["schemas"][0]["fields"][0]["type"] = "decimal(99, 3)".into());
    broken("twice", &|metadata| metadata["schemas"][0]["fields"][1]["name"] = " town".into());
    broken("list", &|metadata| *metadata = json!([metadata]));
    write(&at("json"), &[("metadata/v1.metadata.json", "{\"format-version\": 2,")]);
    let mut table = IcebergTable::new(at("manifest"), 2);
    let file = table.file("data/a.parquet", vec![("town", 1, texts(&["a"]))]);
    let manifest = table.manifest("m.avro", &[file]);
    table.commit(&[manifest]);
    fs::write(at("manifest/metadata/m.avro"), "Obj\u{1}damaged").unwrap();
    let listing = list_files(lake.path()).unwrap();
    assert_eq!(listing.files.iter().map(|file| file.relative.as_str()).collect::<Vec<_>>(), ["outside.parquet"]);
    let names = [
        "future", "lost", "outside", "parent", "itself", "missing", "deep", "type", "twice", "list", "json", "manifest",
    ];
    for name in names {
        let problem = listing.problems.iter().find(|(path, _)| *path == at(name));
        let (_, reason) = problem.unwrap_or_else(|| panic!("{name}: {:?}", listing.problems));
        assert!(reason.starts_with("a table of Iceberg: ") && !reason.contains('\n'), "{reason}");
    }
    assert_eq!(listing.problems.len(), names.len());

    let mut table = IcebergTable::new(at("parts"), 2);
    let good = table.file("data/a.parquet", vec![("town", 1, texts(&["a"])), ("people", 2, numbers(&[1]))]);
    let elsewhere = good.clone().named("s3://warehouse/t/../outside.parquet");
    let absolute = good.clone().named("/etc/passwd");
    let orc = good.clone().named("s3://warehouse/t/data/b.orc").of_format("ORC");
    let missing = good.clone().named("s3://warehouse/t/data/c.parquet");
    let manifest = table.manifest("m.avro", &[good, elsewhere, absolute, orc, missing]);
    table.commit(&[manifest]);
    let found = read(&at("parts"));
    assert_eq!(found.rows.len(), 1);
    let lost = found.report.repair(RepairKind::UnreadableParts).unwrap();
    assert_eq!(lost.count, 4, "{lost}");
}
