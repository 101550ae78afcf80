//! The constants of every ranking and fusion, in one versioned file that the program ships and `lakeward tune` writes.
//!
//! What is here weighs or scales what answers are ordered by, is a threshold of that, or makes a probability. Bounds of time and memory
//! (how many candidates are looked at or read) stand beside the code that they bound, as do definitions: likenesses from which two
//! things are taken for one, what a copy, a code list or a column that helps a model is, quantiles of statistics. The constants of BM25F
//! (k1, b, boosts of fields, and what an abbreviation counts beside a word that is spelt out) are part of what the word index is
//! (`lakeward_index::lexical`), which is below this crate: a word's score is a figure of the index, and this file weighs it. Figures that
//! were fitted to the reader stand with it (`lakeward_reading`), the similarity of tasks is part of what a task graph is
//! (`lakeward_tasks`), and how the search loop fuses its lists is a setting (`search.retrieval` of `lakeward.toml`). The file is read
//! once and checked whole.

use std::path::Path;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::candidates::RelevanceWeights;
use super::column_search::ColumnWeights;
use super::join::JoinWeights;
use super::text_search::SearchWeights;
use super::union::UnionWeights;
use lakeward_core::error::{Error, Result, nearest_field};

mod evidence;
mod operations;
mod request;
mod turn;

pub use evidence::{AlignmentWeights, JoinEvidenceWeights, TupleWeights};
pub use operations::{FeasibilityWeights, LikelihoodWeights, OperationWeights, PredictionWeights};
pub use request::{
    CalibrationWeights, ColumnSearchWeights, FusionWeights, LateModels, LateWeights, RecordWeights, RerankWeights,
    TextWeights,
};
pub use turn::{FitWeights, NamedColumnWeights, PartnerWeights, SufficiencyWeights, TurnWeights};

/// Declares a section of the file, and where it stands there: all its values have to be there, and no others. A file of an older
/// version does not have the section; then it is as shipped.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident in $place:ident $fields:tt) => {
        section! { $(#[$doc])* $name $fields }

        impl Default for $name {
            /// As shipped.
            fn default() -> Self {
                $crate::weights::RankingWeights::shipped().$place
            }
        }
    };
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type),+
        }
    };
}

use section;

/// The version of the file that this program writes.
pub const VERSION: u32 = 6;
/// Files from this version on are read, too.
const OLDEST: u32 = 1;
/// Longest file that is read.
const MOST_BYTES: u64 = 1 << 20;

/// The file that ships.
const SHIPPED: &str = include_str!("weights.json");

/// The constants of the searches and of what is made of them. α, β and γ of the utility stand in the same file and are kept here
/// as they were read: they belong to a later part of the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RankingWeights {
    /// [`VERSION`].
    pub version: u32,
    /// Of join search; learned.
    #[serde(deserialize_with = "without_sizes")]
    pub join: JoinWeights,
    /// Of union search; learned.
    #[serde(deserialize_with = "without_sizes")]
    pub union: UnionWeights,
    /// Of text search; learned.
    pub search: SearchWeights,
    /// The same without a model that reads whole texts; learned.
    #[serde(default = "shipped_search_static")]
    pub search_static: SearchWeights,
    /// Of column search.
    pub columns: ColumnWeights,
    /// Of the three together; learned.
    pub relevance: RelevanceWeights,
    /// Of the utility: α, β, γ and the form of Eq. 3; learned.
    pub utility: Map<String, Value>,
    /// Of ranked lists put together.
    #[serde(default)]
    pub fusion: FusionWeights,
    /// Of text search, beside its features.
    #[serde(default)]
    pub text: TextWeights,
    /// Of column search, beside its features.
    #[serde(default)]
    pub column_search: ColumnSearchWeights,
    /// Of what several queries found.
    #[serde(default)]
    pub rerank: RerankWeights,
    /// Of the probability that an answer serves.
    #[serde(default)]
    pub calibration: CalibrationWeights,
    /// Of records that meet demands.
    #[serde(default)]
    pub records: RecordWeights,
    /// Of late interaction.
    #[serde(default)]
    pub late: LateModels,
    /// Of a pair of columns for a join.
    #[serde(default)]
    pub join_evidence: JoinEvidenceWeights,
    /// Of a join on several columns.
    #[serde(default)]
    pub tuples: TupleWeights,
    /// Of a pair of columns for a union.
    #[serde(default)]
    pub alignment: AlignmentWeights,
    /// Of what a turn makes of the searches.
    #[serde(default)]
    pub turn: TurnWeights,
    /// Of the table that words describe.
    #[serde(default)]
    pub partner: PartnerWeights,
    /// Of what can be done with a table.
    #[serde(default)]
    pub feasibility: FeasibilityWeights,
    /// Of how well a table meets a task specification.
    #[serde(default)]
    pub fit: FitWeights,
    /// Of the operations that could come next.
    #[serde(default)]
    pub operations: OperationWeights,
    /// Of the probability that an operation is what is wanted.
    #[serde(default)]
    pub likelihood: LikelihoodWeights,
    /// Of requests for a prediction.
    #[serde(default)]
    pub prediction: PredictionWeights,
    /// Of columns of other tables that words name.
    #[serde(default)]
    pub named_columns: NamedColumnWeights,
    /// Of the end of a search.
    #[serde(default)]
    pub sufficiency: SufficiencyWeights,
}

impl RankingWeights {
    /// The weights that ship with the program.
    pub fn shipped() -> &'static Self {
        static WEIGHTS: OnceLock<RankingWeights> = OnceLock::new();
        WEIGHTS.get_or_init(|| {
            #[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
            serde_json::from_str(SHIPPED).expect("the shipped weights are well-formed")
        })
    }

    /// The weights of a file that `lakeward tune` wrote. What a file of an older version does not have is as shipped.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Usage`] for a file of a newer version, an unknown or missing name, or a weight below 0.
    pub fn load(path: &Path) -> Result<Self> {
        let wrong = |what: String| Error::usage(format!("`{}` {what}", path.display()));
        let size = std::fs::metadata(path).map_err(|error| Error::io("read", path, error))?.len();
        if size > MOST_BYTES {
            return Err(wrong(format!("has {size} bytes; that is no file of weights")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
        let value: Value = serde_json::from_str(&text).map_err(|error| wrong(format!("is not JSON: {error}")))?;
        let version = value.get("version").and_then(Value::as_u64);
        if !version.is_some_and(|version| (u64::from(OLDEST)..=u64::from(VERSION)).contains(&version)) {
            let version = version.map_or("no version".to_string(), |version| format!("version {version}"));
            return Err(wrong(format!(
                "has {version}, this program reads versions {OLDEST} to {VERSION}; run `lakeward tune` again"
            )));
        }
        if let Some((name, below)) = negative(&value, "") {
            return Err(wrong(format!("has {below} for {name}; a weight is a number of 0 or more")));
        }
        let weights = Self::of_any_version(value).map_err(|error| wrong(unknown_name(&error.to_string())))?;
        Ok(Self { version: VERSION, ..weights })
    }

    /// The weights that a document has, such as a trace; what those of an older version do not have is as shipped.
    ///
    /// # Errors
    /// An unknown name, or a missing one in weights of this version.
    pub fn deserialize_any_version<'de, D: Deserializer<'de>>(document: D) -> std::result::Result<Self, D::Error> {
        Self::of_any_version(Value::deserialize(document)?).map_err(D::Error::custom)
    }

    fn of_any_version(mut value: Value) -> serde_json::Result<Self> {
        // Before there was a model that reads whole texts, all searches were without one.
        if let Some(learned) = value.get_mut("search").filter(|search| search.get("about").is_none()) {
            let learned = learned.take();
            value["search_static"] = learned;
            value["search"] = serde_json::to_value(Self::shipped().search)?;
        }
        // Before grains were looked up in columns, they were guessed from profiles.
        if let Some(fit) = value.get_mut("fit").filter(|fit| fit.get("few_rows").is_some()) {
            *fit = serde_json::to_value(Self::shipped().fit)?;
        }
        // Before words of records were counted as a share of all that was said.
        if let Some(records) = value.get_mut("records").filter(|records| records.get("title").is_some()) {
            *records = serde_json::to_value(Self::shipped().records)?;
        }
        if value.get("version").and_then(Value::as_u64) != Some(u64::from(VERSION)) {
            // What a request was compared with before it was compared with the world belongs to other weights.
            let before = |calibration: &&mut Value| calibration.get("world").is_none();
            if let Some(calibration) = value.get_mut("calibration").filter(before) {
                *calibration = serde_json::to_value(Self::shipped().calibration)?;
            }
            fill(&mut value, &serde_json::from_str(SHIPPED)?);
        }
        serde_json::from_value(value)
    }

    /// The weights as the file has them.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The first 16 hexadecimal digits of the weights' BLAKE3 hash: which ones a figure was measured with.
    pub fn hash(&self) -> String {
        blake3::hash(self.to_json().as_bytes()).to_hex().as_str()[..16].to_string()
    }
}

/// Weights that a file may still have and that count no longer: how many rows tables have is no reason to join or append them.
const SIZES: [&str; 2] = ["rows", "same_rows"];

/// Learned weights, without those of [`SIZES`].
fn without_sizes<'de, D: Deserializer<'de>, W: DeserializeOwned>(file: D) -> std::result::Result<W, D::Error> {
    let mut weights = Map::<String, Value>::deserialize(file)?;
    SIZES.iter().for_each(|name| _ = weights.remove(*name));
    serde_json::from_value(Value::Object(weights)).map_err(D::Error::custom)
}

fn shipped_search_static() -> SearchWeights {
    RankingWeights::shipped().search_static
}

/// Gives `value` the fields of `shipped` that it does not have.
fn fill(value: &mut Value, shipped: &Value) {
    let (Value::Object(fields), Value::Object(shipped)) = (value, shipped) else { return };
    for (name, shipped) in shipped {
        match fields.get_mut(name) {
            Some(field) => fill(field, shipped),
            None => _ = fields.insert(name.clone(), shipped.clone()),
        }
    }
}

/// The name and value of a number below 0, where there is one.
fn negative(value: &Value, name: &str) -> Option<(String, f64)> {
    match value {
        Value::Number(number) => {
            number.as_f64().filter(|number| *number < 0.0).map(|number| (name.to_string(), number))
        }
        Value::Object(map) => map.iter().find_map(|(field, value)| {
            let name = if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
            negative(value, &name)
        }),
        _ => None,
    }
}

/// Serde's message about a name that it does not know, with the nearest that it does.
fn unknown_name(message: &str) -> String {
    match nearest_field(message) {
        Some(nearest) => format!("is no file of weights: {message}; did you mean `{nearest}`?"),
        None => format!("is no file of weights: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_written_as_they_are_read_and_mistakes_are_named() {
        let shipped = RankingWeights::shipped();
        assert_eq!(shipped.to_json(), SHIPPED);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights.json");
        std::fs::write(&path, SHIPPED).unwrap();
        assert_eq!(&RankingWeights::load(&path).unwrap(), shipped);
        let wrong = |from: &str, to: &str| {
            std::fs::write(&path, SHIPPED.replacen(from, to, 1)).unwrap();
            RankingWeights::load(&path).unwrap_err().to_string()
        };
        assert!(wrong("\"version\": 6", "\"version\": 7").contains("version 7"));
        assert!(wrong("\"relevance\"", "\"relevanec\"").contains("did you mean `relevance`?"));
        let (from, to) = ("\"search\": 0.1", "\"search\": -0.2");
        assert!(wrong(from, to).contains("-0.2 for relevance.to_join.search"), "{}", wrong(from, to));
        assert!(wrong("{", "").contains("is not JSON"));
        assert!(wrong("\"rank_constant\": 60.0", "\"rank_constant\": -1").contains("-1 for fusion.rank_constant"));
        assert!(wrong("\"doubt\": 0.1,", "").contains("missing field `doubt`"));
    }

    #[test]
    fn what_a_file_of_an_older_version_does_not_have_is_as_shipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights.json");
        let mut older: Value = serde_json::from_str(SHIPPED).unwrap();
        older["version"] = 2.into();
        older.as_object_mut().unwrap().remove("columns");
        older["records"].as_object_mut().unwrap().remove("stated_demand");
        older["records"]["late"] = 3.0.into();
        older["calibration"] = serde_json::json!({"about": 6.4, "ahead": 3.5, "behind": 50.0, "offset": 3.6});
        std::fs::write(&path, older.to_string()).unwrap();
        let (read, shipped) = (RankingWeights::load(&path).unwrap(), RankingWeights::shipped());
        let records = RecordWeights { late: 3.0, ..shipped.records };
        assert_eq!(read, RankingWeights { records, ..shipped.clone() });
        older["version"] = VERSION.into();
        std::fs::write(&path, older.to_string()).unwrap();
        assert!(RankingWeights::load(&path).is_err(), "of this version nothing may be missing");
    }

    /// The kept files of all versions; `tests/program/durability` reads them changed, too.
    fn kept(version: u32) -> (Value, RankingWeights) {
        let formats = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/program/data/formats/weights");
        let path = formats.join(format!("v{version}.json"));
        let text = std::fs::read_to_string(&path).unwrap();
        (serde_json::from_str(&text).unwrap(), RankingWeights::load(&path).unwrap())
    }

    #[test]
    fn a_file_of_any_version_is_read() {
        for version in OLDEST..=VERSION {
            let (file, read) = kept(version);
            assert_eq!((file["version"].as_u64(), read.version), (Some(version.into()), VERSION));
            assert_eq!(file["join"]["rarity"].as_f64(), Some(read.join.rarity), "version {version}");
        }
        for version in [4, 5] {
            assert_eq!(&kept(version).1, RankingWeights::shipped());
        }
    }

    #[test]
    fn files_of_the_first_version_are_read() {
        let shipped = RankingWeights::shipped();
        let (_, read) = kept(1);
        assert_eq!(read.join.rarity, 0.25);
        assert_eq!(read.union.in_place, 0.21, "beside a weight for sizes, which it has and is not read");
        let utility = shipped.utility.clone();
        let learned = RankingWeights { join: shipped.join, union: shipped.union, utility, ..read };
        assert_eq!(&learned, shipped, "what it does not have is as shipped");
    }
}
