//! How parts of a sketch that is being built are written down, in formats whose fields have no names.

/// As JSON in a text, of types that leave fields out.
pub mod as_json {
    use serde::de::{DeserializeOwned, Error as _};
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes `value`.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(value: &impl Serialize, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&serde_json::to_string(value).map_err(S::Error::custom)?)
    }

    /// Reads what [`serialize`] has written.
    ///
    /// # Errors
    /// The deserializer's.
    pub fn deserialize<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<T, D::Error> {
        serde_json::from_str(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A map as the list of its pairs, sorted.
pub mod pairs {
    use std::hash::{BuildHasher, Hash};

    use hashbrown::HashMap;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes `map`.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer, K: Serialize + Ord, V: Serialize + Ord, H>(
        map: &HashMap<K, V, H>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut pairs: Vec<(&K, &V)> = map.iter().collect();
        pairs.sort_unstable();
        serializer.collect_seq(pairs)
    }

    /// Reads what [`serialize`] has written.
    ///
    /// # Errors
    /// The deserializer's.
    pub fn deserialize<'de, D, K, V, H>(deserializer: D) -> Result<HashMap<K, V, H>, D::Error>
    where
        D: Deserializer<'de>,
        K: Deserialize<'de> + Hash + Eq,
        V: Deserialize<'de>,
        H: BuildHasher + Default,
    {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
    }
}
