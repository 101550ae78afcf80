//! How an answer type is declared: once, as a struct with serde's and schemars' derives. Everything else follows from its JSON Schema.
//!
//! Three interfaces are generated from that schema (by `src/functions/table/columns.rs` and `scripts/python_types.py`) or from the struct's
//! serde names: SQL rows, frozen Python dataclasses, and the JSON of `--json`, HTTP and session files. Where an interface differs, the
//! field carries a schema extension:
//!
//! | on a field | effect |
//! |---|---|
//! | `#[schemars(extend("x-sql" = "id"))]` | its SQL name, where the field name is an SQL keyword or unclear in SQL |
//! | `#[schemars(extend("x-sql" = false))]` | not an SQL column |
//! | `#[schemars(extend("x-sql" = "*"))]` | its fields become nullable SQL columns |
//! | `#[schemars(extend("x-sql-null" = true))]` | nullable in SQL though never NULL, to share a type with another column |
//! | `#[schemars(extend("x-sql-type" = "Binary"))]` | bytes in SQL, hexadecimal digits elsewhere |
//! | `#[schemars(transform = in_order::<Self>)]`, on the struct | records the field order, which JSON Schema does not |
//!
//! The columns of a terminal list are declared in a [`crate::listing`] table beside the struct.

use std::cell::Cell;

use schemars::Schema;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor, value};
use serde::forward_to_deserialize_any;

/// The schema key under which an object's field names are listed in order.
pub const ORDER: &str = "x-order";

/// Adds the field names of `T`, in order, to its schema: `properties` is an unordered map, and `required` omits optional fields.
pub fn in_order<'de, T: Deserialize<'de>>(schema: &mut Schema) {
    let names = Cell::new([].as_slice());
    // Always fails: only the field names are needed.
    let _ = T::deserialize(FieldNames(&names));
    let is_known = |name: &&&str| schema.get("properties").is_some_and(|known| known.get(name).is_some());
    let names: Vec<&str> = names.get().iter().filter(is_known).copied().collect();
    schema.insert(ORDER.to_string(), names.into());
}

/// Records the field names that a struct requests, and supplies no values.
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
    #[expect(dead_code, reason = "only its schema is used")]
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
