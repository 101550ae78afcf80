//! Answers as rows: the columns of a type are derived from its JSON Schema, with the extensions of [`lakeward_core::answer`].

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::json::ReaderBuilder;
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::{Map, Value};

use lakeward_core::answer::ORDER;
use lakeward_core::error::{Error, Result};

/// Rows converted to JSON at a time, when a batch is built.
const ROWS_AT_ONCE: usize = 1024;

/// The columns of a type's values.
pub(super) struct Columns {
    schema: SchemaRef,
    columns: Vec<Column>,
    is_ranked: bool,
}

/// A column, or a part of a column's values.
struct Column {
    /// The path of its value in an answer: a field, or a field and a part of it.
    path: Vec<String>,
    name: String,
    kind: Kind,
    nullable: bool,
}

/// The type of a column.
enum Kind {
    Plain(DataType),
    List(Box<Kind>),
    Parts(Vec<Column>),
}

impl Columns {
    /// The columns of `A`.
    pub(super) fn of<A: JsonSchema>() -> Self {
        Self::read(false, schema_for!(A).as_value())
    }

    /// The columns of `A` after a column `rank`, which counts from 1.
    pub(super) fn ranked<A: JsonSchema>() -> Self {
        Self::read(true, schema_for!(A).as_value())
    }

    fn read(is_ranked: bool, document: &Value) -> Self {
        let columns = Description { document }.columns(document);
        let rank = is_ranked.then(|| Field::new("rank", DataType::UInt32, false));
        let fields: Vec<Field> = rank.into_iter().chain(columns.iter().map(Column::field)).collect();
        Self { schema: Arc::new(Schema::new(fields)), columns, is_ranked }
    }

    /// The Arrow schema.
    pub(super) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// `answers` as one batch of rows.
    ///
    /// # Errors
    /// [`Error::Internal`] if Arrow rejects them.
    pub(super) fn batch<A: Serialize>(&self, answers: &[A]) -> Result<RecordBatch> {
        let failed = |error: ArrowError| Error::Internal(error.to_string());
        if answers.is_empty() {
            return Ok(RecordBatch::new_empty(self.schema()));
        }
        let builder = ReaderBuilder::new(self.schema()).with_strict_mode(true).with_batch_size(answers.len());
        let mut decoder = builder.build_decoder().map_err(failed)?;
        let mut ranks = 1_u32..;
        for answers in answers.chunks(ROWS_AT_ONCE) {
            let mut rows = Vec::with_capacity(answers.len());
            for answer in answers {
                let answer = serde_json::to_value(answer).map_err(|error| Error::Internal(error.to_string()))?;
                let mut row = values(&self.columns, answer);
                if self.is_ranked {
                    row.insert("rank".into(), ranks.next().into());
                }
                rows.push(row);
            }
            decoder.serialize(&rows).map_err(failed)?;
        }
        Ok(decoder.flush().map_err(failed)?.unwrap_or_else(|| RecordBatch::new_empty(self.schema())))
    }
}

/// The JSON Schema of a type, which may refer to others.
#[derive(Clone, Copy)]
struct Description<'a> {
    document: &'a Value,
}

impl<'a> Description<'a> {
    /// The columns for the fields of `object`.
    fn columns(self, object: &'a Value) -> Vec<Column> {
        let fields = &object["properties"];
        // If no field is optional, `required` has all fields in order.
        let order = object.get(ORDER).or_else(|| object.get("required")).and_then(Value::as_array);
        let mut columns = Vec::new();
        for name in order.into_iter().flatten().filter_map(Value::as_str) {
            let field = &fields[name];
            match &field["x-sql"] {
                Value::Bool(false) => {}
                Value::String(all) if all == "*" => {
                    let (parts, nullable) = self.resolved(field);
                    columns.extend(self.columns(parts).into_iter().map(|part| part.below(name, nullable)));
                }
                renamed => columns.push(self.column(name, renamed.as_str().unwrap_or(name), field)),
            }
        }
        columns
    }

    fn column(self, field: &str, name: &str, described: &'a Value) -> Column {
        let (kind, nullable) = self.resolved(described);
        let kind = match described["x-sql-type"].as_str() {
            Some("Binary") => Kind::Plain(DataType::Binary),
            _ => self.kind(kind),
        };
        let nullable = nullable || described["x-sql-null"] == true;
        Column { path: vec![field.into()], name: name.into(), kind, nullable }
    }

    /// The schema of a field's non-null values, and whether it may be null.
    fn resolved(self, mut described: &'a Value) -> (&'a Value, bool) {
        let is_null = |choice: &Value| choice["type"] == "null";
        let mut nullable = described["type"].as_array().is_some_and(|types| types.iter().any(|name| name == "null"));
        loop {
            let choices = described["anyOf"].as_array();
            if let Some(name) = described["$ref"].as_str().and_then(|place| place.strip_prefix("#/$defs/")) {
                described = &self.document["$defs"][name];
            } else if let Some(choice) = choices.and_then(|choices| choices.iter().find(|choice| !is_null(choice))) {
                nullable = nullable || choices.is_some_and(|choices| choices.iter().any(is_null));
                described = choice;
            } else {
                return (described, nullable);
            }
        }
    }

    fn kind(self, described: &'a Value) -> Kind {
        let types = described["type"].as_array();
        let one = types.and_then(|types| types.iter().find(|name| *name != "null")).unwrap_or(&described["type"]);
        Kind::Plain(match (one.as_str(), described["format"].as_str()) {
            (Some("boolean"), _) => DataType::Boolean,
            (Some("number"), _) => DataType::Float64,
            (Some("integer"), Some("uint32")) => DataType::UInt32,
            (Some("integer"), _) => DataType::UInt64,
            (Some("array"), _) => return Kind::List(Box::new(self.kind(self.resolved(&described["items"]).0))),
            (Some("object"), _) => return Kind::Parts(self.columns(described)),
            // Also enums.
            _ => DataType::Utf8,
        })
    }
}

impl Column {
    /// The same column, as a part of the field `name`.
    fn below(mut self, name: &str, nullable: bool) -> Self {
        self.path.insert(0, name.into());
        self.nullable |= nullable;
        self
    }

    fn field(&self) -> Field {
        Field::new(&self.name, self.kind.data_type(), self.nullable)
    }
}

impl Kind {
    fn data_type(&self) -> DataType {
        match self {
            Self::Plain(plain) => plain.clone(),
            Self::List(item) => DataType::List(Arc::new(Field::new_list_field(item.data_type(), true))),
            Self::Parts(parts) => DataType::Struct(parts.iter().map(Column::field).collect::<Fields>()),
        }
    }

    /// `value` with its parts renamed to the column names.
    fn renamed(&self, value: Value) -> Value {
        match (self, value) {
            (Self::List(item), Value::Array(values)) => values.into_iter().map(|value| item.renamed(value)).collect(),
            (Self::Parts(parts), value @ Value::Object(_)) => Value::Object(values(parts, value)),
            (_, value) => value,
        }
    }

    /// The value of a field that an answer leaves out because it is empty, if the column cannot be NULL.
    fn empty(&self) -> Value {
        match self {
            Self::Plain(DataType::Boolean) => false.into(),
            Self::Plain(DataType::Utf8) => "".into(),
            Self::Plain(_) => 0.into(),
            Self::List(_) => Value::Array(Vec::new()),
            Self::Parts(parts) => Value::Object(values(parts, Value::Null)),
        }
    }
}

/// The values of an answer by column name.
fn values(columns: &[Column], mut answer: Value) -> Map<String, Value> {
    let mut value = |column: &Column| {
        let found = column.path.iter().try_fold(&mut answer, |value, name| value.get_mut(name));
        match found.map(Value::take) {
            None | Some(Value::Null) if column.nullable => Value::Null,
            None | Some(Value::Null) => column.kind.empty(),
            Some(value) => column.kind.renamed(value),
        }
    };
    columns.iter().map(|column| (column.name.clone(), value(column))).collect()
}

#[cfg(test)]
mod tests {
    use arrow::util::display::array_value_to_string;
    use lakeward_core::answer::in_order;
    use serde::Deserialize;

    use super::*;

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Taste {
        /// As lemons.
        Sour,
        VerySweet,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Size {
        #[schemars(extend("x-sql" = "grams"))]
        weight: u64,
        #[schemars(extend("x-sql" = false))]
        width: u64,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[schemars(transform = in_order::<Self>)]
    struct Pear {
        #[schemars(extend("x-sql" = "id"))]
        table: String,
        taste: Option<Taste>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<Size>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("x-sql" = "*"))]
        size: Option<Size>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ripe: bool,
        #[schemars(extend("x-sql-type" = "Binary"))]
        digits: Option<String>,
        #[schemars(extend("x-sql-null" = true))]
        score: f64,
    }

    #[test]
    fn columns_are_read_off_the_schema() {
        let fields: Vec<String> =
            Columns::ranked::<Pear>().schema().fields().iter().map(|field| field.to_string()).collect();
        let expected = [
            r#"Field { "rank": UInt32 }"#,
            r#"Field { "id": Utf8 }"#,
            r#"Field { "taste": nullable Utf8 }"#,
            r#"Field { "others": List(Struct("grams": non-null UInt64)) }"#,
            r#"Field { "grams": nullable UInt64 }"#,
            r#"Field { "ripe": Boolean }"#,
            r#"Field { "digits": nullable Binary }"#,
            r#"Field { "score": nullable Float64 }"#,
        ];
        assert_eq!(fields, expected);
    }

    #[test]
    fn what_an_answer_leaves_out_is_empty_or_null() {
        let size = |weight| Size { weight, width: 1 };
        let full = Pear {
            table: "a".into(),
            taste: Some(Taste::VerySweet),
            others: vec![size(2), size(3)],
            size: Some(size(4)),
            ripe: true,
            digits: Some("0aff".into()),
            score: 0.5,
        };
        let bare = Pear {
            table: "b".into(),
            taste: None,
            others: Vec::new(),
            size: None,
            ripe: false,
            digits: None,
            score: 1.0,
        };
        let batch = Columns::ranked::<Pear>().batch(&[full, bare]).unwrap();
        let cells = |row| -> Vec<String> {
            batch.columns().iter().map(|column| array_value_to_string(column, row).unwrap()).collect()
        };
        assert_eq!(cells(0), ["1", "a", "very_sweet", "[{grams: 2}, {grams: 3}]", "4", "true", "0aff", "0.5"]);
        assert_eq!(cells(1), ["2", "b", "", "[]", "", "false", "", "1.0"]);
    }
}
