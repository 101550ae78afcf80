//! How an answer is declared: once, as a struct with serde's and schemars' derives. Its JSON Schema says the rest.
//!
//! Three faces are read off that schema, by `src/functions/table/columns.rs` and `scripts/python_types.py`, or off the struct's serde
//! names: rows of SQL, frozen dataclasses of Python, and the JSON of `--json`, HTTP and session files. What a face shows otherwise stands
//! at the field, as an extension of its schema:
//!
//! | at a field | what it does |
//! |---|---|
//! | `#[schemars(extend("x-sql" = "id"))]` | its name in SQL, where the field's own is a word of the language or says too little there |
//! | `#[schemars(extend("x-sql" = false))]` | no column of SQL |
//! | `#[schemars(extend("x-sql" = "*"))]` | its parts are columns of SQL themselves, and may be NULL |
//! | `#[schemars(extend("x-sql-null" = true))]` | may be NULL in SQL though it never is: a type shared with another column |
//! | `#[schemars(extend("x-sql-type" = "Binary"))]` | bytes in SQL, written as hexadecimal digits |
//! | `#[schemars(transform = in_order::<Self>)]`, at the struct | the order of its fields, which a JSON Schema does not have |
//!
//! The columns of a list in the terminal are a table of [`crate::listing`] beside the struct.

use std::cell::Cell;

use schemars::Schema;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor, value};
use serde::forward_to_deserialize_any;

/// Where a schema has the names of an object's fields, in their order.
pub const ORDER: &str = "x-order";

/// Adds the names of the fields of `T`, in their order, to its schema: `properties` is a map without one, and `required` leaves out what
/// may be missing.
pub fn in_order<'de, T: Deserialize<'de>>(schema: &mut Schema) {
    let names = Cell::new([].as_slice());
    // It fails: the names are all that is asked for.
    let _ = T::deserialize(FieldNames(&names));
    let is_known = |name: &&&str| schema.get("properties").is_some_and(|known| known.get(name).is_some());
    let names: Vec<&str> = names.get().iter().filter(is_known).copied().collect();
    schema.insert(ORDER.to_string(), names.into());
}

/// Keeps the names that a struct asks for, and has no value for any.
struct FieldNames<'a>(&'a Cell<&'static [&'static str]>);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(value::Error::custom("no struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.set(fields);
        Err(value::Error::custom("no values"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use schemars::{JsonSchema, schema_for};
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[schemars(transform = in_order::<Self>)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Pear {
        #[serde(default, alias = "mass")]
        weight: f64,
        #[serde(skip)]
        eaten: bool,
        #[serde(rename = "from")]
        tree: Option<String>,
        apples: u32,
    }

    #[test]
    fn fields_are_named_in_their_order_as_they_are_written() {
        let schema = schema_for!(Pear);
        assert_eq!(schema.get(ORDER), Some(&serde_json::json!(["weight", "from", "apples"])));
    }
}
