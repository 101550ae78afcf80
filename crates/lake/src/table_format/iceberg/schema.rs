//! A schema of Iceberg as Arrow's fields, each with its number.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, TimeUnit};
use serde_json::Value;

use super::super::NUMBER;
use crate::metadata::ColumnMetadata;
use lakeward_core::text::on_one_line;

/// Types in types beyond which a schema is an error.
const MOST_DEPTH: usize = 32;

/// The columns of `schema`, and its comments on them.
///
/// # Errors
/// What is not understood, in one clause.
pub(super) fn columns(schema: &Value) -> Result<(Vec<FieldRef>, BTreeMap<String, ColumnMetadata>), String> {
    let listed = schema.get("fields").and_then(Value::as_array).ok_or("a schema without fields")?;
    let mut comments = BTreeMap::new();
    let mut columns = Vec::with_capacity(listed.len());
    let mut names = HashSet::new();
    for described in listed {
        let field = field(described, 0)?;
        if !names.insert(on_one_line(field.name())) {
            return Err(format!("two columns named `{}`", on_one_line(field.name())));
        }
        if let Some(comment) = described.get("doc").and_then(Value::as_str).filter(|text| !text.trim().is_empty()) {
            let metadata = ColumnMetadata { description: Some(comment.to_string()), ..ColumnMetadata::default() };
            comments.insert(field.name().clone(), metadata);
        }
        columns.push(field);
    }
    Ok((columns, comments))
}

fn field(described: &Value, depth: usize) -> Result<FieldRef, String> {
    let name = described.get("name").and_then(Value::as_str).ok_or("a column without a name")?;
    numbered(name, described.get("id"), described.get("type"), depth)
}

fn numbered(name: &str, id: Option<&Value>, kind: Option<&Value>, depth: usize) -> Result<FieldRef, String> {
    let kind = data_type(kind.ok_or_else(|| format!("no type of `{name}`"))?, depth + 1)?;
    let number = id.and_then(Value::as_i64).ok_or_else(|| format!("no number of `{name}`"))?;
    let metadata = HashMap::from([(NUMBER.to_string(), number.to_string())]);
    Ok(Arc::new(Field::new(name, kind, true).with_metadata(metadata)))
}

fn data_type(kind: &Value, depth: usize) -> Result<DataType, String> {
    if depth > MOST_DEPTH {
        return Err(format!("a type nested more than {MOST_DEPTH} deep"));
    }
    if let Some(name) = kind.as_str() {
        return primitive(name).ok_or_else(|| format!("a column of the unknown type `{name}`"));
    }
    let get = |key: &str| kind.get(key);
    match get("type").and_then(Value::as_str) {
        Some("struct") => {
            let fields = get("fields").and_then(Value::as_array).ok_or("a structure without fields")?;
            let fields: Result<Fields, String> = fields.iter().map(|described| field(described, depth)).collect();
            Ok(DataType::Struct(fields?))
        }
        Some("list") => Ok(DataType::List(numbered("element", get("element-id"), get("element"), depth)?)),
        Some("map") => {
            let key = numbered("key", get("key-id"), get("key"), depth)?;
            let value = numbered("value", get("value-id"), get("value"), depth)?;
            let entries = Fields::from(vec![Arc::new(key.as_ref().clone().with_nullable(false)), value]);
            Ok(DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entries), false)), false))
        }
        _ => Err("a column of an unknown type".into()),
    }
}

fn primitive(name: &str) -> Option<DataType> {
    let numbers = |prefix: &str, end: char| name.strip_prefix(prefix)?.strip_suffix(end);
    Some(match name {
        "boolean" => DataType::Boolean,
        "int" => DataType::Int32,
        "long" => DataType::Int64,
        "float" => DataType::Float32,
        "double" => DataType::Float64,
        "date" => DataType::Date32,
        "time" => DataType::Time64(TimeUnit::Microsecond),
        "timestamp" => DataType::Timestamp(TimeUnit::Microsecond, None),
        "timestamptz" => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        "string" => DataType::Utf8,
        "binary" => DataType::Binary,
        "uuid" => DataType::FixedSizeBinary(16),
        _ => {
            if let Some(length) = numbers("fixed[", ']') {
                return Some(DataType::FixedSizeBinary(length.trim().parse().ok().filter(|length| *length > 0)?));
            }
            let (precision, scale) = numbers("decimal(", ')')?.split_once(',')?;
            let (precision, scale) = (precision.trim().parse().ok()?, scale.trim().parse().ok()?);
            let fits = (1..=38).contains(&precision) && (0..=38).contains(&scale);
            fits.then_some(DataType::Decimal128(precision, scale))?
        }
    })
}
