//! Writes tables of Delta and Iceberg for tests, file by file.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int32Array, Int64Array, StringArray, StructArray};
use arrow::datatypes::{DataType, Field, Fields, Schema};
use arrow::json::ReaderBuilder;
use arrow::record_batch::RecordBatch;
use arrow_avro::compression::CompressionCodec;
use arrow_avro::writer::WriterBuilder;
use arrow_avro::writer::format::AvroOcfFormat;
use roaring::RoaringTreemap;
use serde_json::{Value, json};

pub fn parquet_bytes(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

pub fn parquet(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    fs::write(path, parquet_bytes(&batch)).unwrap();
}

pub fn texts(words: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(words.to_vec()))
}

pub fn numbers(numbers: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(numbers.to_vec()))
}

/// A Delta table that is written action by action.
pub struct DeltaTable {
    pub folder: PathBuf,
    pub version: u64,
}

impl DeltaTable {
    pub fn new(folder: PathBuf) -> DeltaTable {
        fs::create_dir_all(folder.join("_delta_log")).unwrap();
        DeltaTable { folder, version: 0 }
    }

    /// The table of `columns`, each a name and a type or a whole field, in its first version.
    pub fn created(folder: PathBuf, columns: &[Value], keys: &[&str]) -> DeltaTable {
        let mut table = DeltaTable::new(folder);
        table.commit(&[json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}), metadata(columns, keys)]);
        table
    }

    /// The file of a version.
    pub fn log(&self, version: u64) -> PathBuf {
        self.folder.join(format!("_delta_log/{version:020}.json"))
    }

    pub fn commit(&mut self, actions: &[Value]) {
        let lines: Vec<String> = actions.iter().map(Value::to_string).collect();
        fs::write(self.log(self.version), lines.join("\n")).unwrap();
        self.version += 1;
    }

    /// Writes what the first version and the `actions` say as a checkpoint of `version`; its path.
    pub fn checkpoint(&self, version: u64, actions: &[Value]) -> PathBuf {
        let map = |name: &str| {
            let entries = vec![Field::new("key", DataType::Utf8, false), Field::new("value", DataType::Utf8, true)];
            let entries = Field::new("key_value", DataType::Struct(entries.into()), false);
            Field::new(name, DataType::Map(Arc::new(entries), false), true)
        };
        let of = |name: &str, kind: DataType| Field::new(name, kind, true);
        let part = |name: &str, fields: Vec<Field>| of(name, DataType::Struct(fields.into()));
        let list = DataType::List(Arc::new(Field::new("element", DataType::Utf8, true)));
        let schema = Schema::new(vec![
            part("protocol", vec![of("minReaderVersion", DataType::Int32), of("minWriterVersion", DataType::Int32)]),
            part(
                "metaData",
                vec![
                    of("id", DataType::Utf8),
                    part("format", vec![of("provider", DataType::Utf8), map("options")]),
                    of("schemaString", DataType::Utf8),
                    of("partitionColumns", list),
                    map("configuration"),
                    of("createdTime", DataType::Int64),
                ],
            ),
            part(
                "add",
                vec![
                    of("path", DataType::Utf8),
                    map("partitionValues"),
                    of("size", DataType::Int64),
                    of("modificationTime", DataType::Int64),
                    of("dataChange", DataType::Boolean),
                ],
            ),
        ]);
        let created = fs::read_to_string(self.log(0)).unwrap();
        let actions = std::iter::once(created).chain(actions.iter().map(Value::to_string));
        let actions = actions.collect::<Vec<_>>().join("\n");
        let mut rows = ReaderBuilder::new(Arc::new(schema)).build(actions.as_bytes()).unwrap();
        let batch = rows.next().unwrap().unwrap();
        let checkpoint = self.folder.join(format!("_delta_log/{version:020}.checkpoint.parquet"));
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(fs::File::create(&checkpoint).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        checkpoint
    }

    /// Writes a file of these columns, and the action that adds it.
    pub fn file(&self, name: &str, columns: Vec<(&str, ArrayRef)>, values: Value) -> Value {
        parquet(&self.folder.join(name), columns);
        add(name, fs::metadata(self.folder.join(name)).unwrap().len(), values)
    }
}

pub fn column(name: &str, kind: &str) -> Value {
    json!({"name": name, "type": kind, "nullable": true, "metadata": {}})
}

pub fn metadata(columns: &[Value], keys: &[&str]) -> Value {
    let schema = json!({"type": "struct", "fields": columns}).to_string();
    json!({"metaData": {"id": "t", "format": {"provider": "parquet", "options": {}}, "schemaString": schema,
        "partitionColumns": keys, "configuration": {}, "createdTime": 0}})
}

pub fn add(name: &str, bytes: u64, values: Value) -> Value {
    json!({"add": {"path": name, "partitionValues": values, "size": bytes, "modificationTime": 0, "dataChange": true}})
}

pub fn remove(name: &str) -> Value {
    json!({"remove": {"path": name, "deletionTimestamp": 0, "dataChange": true}})
}

/// The bytes of a deletion vector: magic number, then the bitmaps.
pub fn vector(rows: &[u64]) -> Vec<u8> {
    let mut bytes = 1_681_511_377u32.to_le_bytes().to_vec();
    rows.iter().copied().collect::<RoaringTreemap>().serialize_into(&mut bytes).unwrap();
    bytes
}

/// Writes a vector to a file, and gives its descriptor.
pub fn vector_file(table: &DeltaTable, name: &str, rows: &[u64]) -> Value {
    let vector = vector(rows);
    let mut crc = flate2::Crc::new();
    crc.update(&vector);
    let mut bytes = vec![1];
    bytes.extend(u32::try_from(vector.len()).unwrap().to_be_bytes());
    bytes.extend(&vector);
    bytes.extend(crc.sum().to_be_bytes());
    fs::write(table.folder.join(name), bytes).unwrap();
    let address = url::Url::from_file_path(fs::canonicalize(table.folder.join(name)).unwrap()).unwrap();
    json!({"storageType": "p", "pathOrInlineDv": address.to_string(), "offset": 1, "sizeInBytes": vector.len(),
        "cardinality": rows.len()})
}

pub const WITH_VECTORS: &str = r#"{"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
    "readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}}"#;

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

/// A table of the columns `town`, `people`, `mayor` and `side`, by the last of which its files are parted unless all are in one part.
pub struct IcebergTable {
    pub folder: PathBuf,
    pub is_parted: bool,
    version: i64,
    commits: i64,
}

impl IcebergTable {
    pub fn new(folder: PathBuf, version: i64) -> IcebergTable {
        fs::create_dir_all(folder.join("metadata")).unwrap();
        IcebergTable { folder, is_parted: true, version, commits: 0 }
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
        let side = || (Arc::new(Field::new("side", DataType::Utf8, true)), text(&|entry| entry.part.clone()));
        let part = match self.is_parted {
            true => StructArray::from(vec![side()]),
            false => StructArray::new_empty_fields(entries.len(), None),
        };
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
        let by_side = json!([{"name": "side", "transform": "identity", "source-id": 4, "field-id": 1000}]);
        let spec = if self.is_parted { by_side } else { json!([]) };
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
