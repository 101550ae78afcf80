//! Why equal values in a column may be equal by chance, and how much a column looks like a key.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LogicalType, SMALL_DOMAIN, SemanticType};
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_sketch::ColumnSketch;

/// Why equal values in this column are weak evidence for a relation between tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weakness {
    /// Years, which occur in many unrelated tables.
    Year,
    /// Yes and no.
    Boolean,
    /// Row numbers: 1, 2, 3, …
    Counter,
    /// Small whole numbers.
    SmallNumbers,
    /// A few values that many tables share.
    SmallDomain,
    /// Measurements that agree by chance.
    Measure,
}

impl Weakness {
    /// The reason, for answers.
    pub fn message(self) -> Message {
        match self {
            Weakness::Year => message!("years: they occur in many unrelated tables"),
            Weakness::Boolean => message!("a yes/no column"),
            Weakness::Counter => message!("row numbers 1, 2, 3, …"),
            Weakness::SmallNumbers => message!("small whole numbers"),
            Weakness::SmallDomain => message!("only a few distinct values"),
            Weakness::Measure => message!("measured numbers: they agree by chance"),
        }
    }
}

/// Why equal values in this column are weak evidence, if they are.
pub fn weakness(sketch: &ColumnSketch, logical: LogicalType, semantic: Option<SemanticType>) -> Option<Weakness> {
    match (logical, semantic) {
        (LogicalType::Boolean, _) => return Some(Weakness::Boolean),
        (_, Some(SemanticType::Year)) => return Some(Weakness::Year),
        (LogicalType::Float, _) | (_, Some(SemanticType::Percentage)) => return Some(Weakness::Measure),
        _ => {}
    }
    if logical == LogicalType::Integer
        && let Some(numbers) = sketch.numbers
    {
        let dense = numbers.max - numbers.min + 1.0 <= 1.1 * sketch.distinct as f64;
        if sketch.ascending && dense && numbers.min.abs() <= 1.0 && sketch.distinct > 2 {
            return Some(Weakness::Counter);
        }
        if numbers.min >= -100.0 && numbers.max <= 1000.0 {
            return Some(Weakness::SmallNumbers);
        }
        if semantic == Some(SemanticType::Measure) && sketch.multiplicity > 1.0 {
            return Some(Weakness::Measure);
        }
    }
    let places = matches!(semantic, Some(SemanticType::Country | SemanticType::CountryCode | SemanticType::UsState));
    let places = places && sketch.distinct >= 3;
    (!places && sketch.distinct < SMALL_DOMAIN && sketch.multiplicity > 1.2).then_some(Weakness::SmallDomain)
}

/// How much a column looks like a key of its table, in 0..=1: high if it is unique and complete, an identifier, code or
/// name rather than a measurement, and far to the left.
pub fn key_likeness(
    sketch: &ColumnSketch,
    semantic: Option<SemanticType>,
    weakness: Option<Weakness>,
    place: usize,
) -> f64 {
    if sketch.rows == 0 || sketch.present() == 0 {
        return 0.0;
    }
    let complete = sketch.present() as f64 / sketch.rows as f64;
    let unique = 1.0 / sketch.multiplicity.max(1.0);
    let prior = match semantic {
        Some(SemanticType::Identifier | SemanticType::Code | SemanticType::CountryCode) => 1.0,
        Some(
            SemanticType::Name
            | SemanticType::Country
            | SemanticType::UsState
            | SemanticType::Email
            | SemanticType::Url,
        ) => 0.95,
        Some(SemanticType::Time) => 0.7,
        Some(SemanticType::Category) => 0.6,
        Some(SemanticType::Year) => 0.5,
        Some(SemanticType::FreeText) => 0.3,
        _ => 0.25,
    };
    let not_by_chance = match weakness {
        None => 1.0,
        Some(Weakness::Counter) => 0.5,
        Some(Weakness::Year) => 0.8,
        Some(_) => 0.4,
    };
    let leftness = 1.0 - 0.02 * place.min(10) as f64;
    complete * unique * prior * not_by_chance * leftness
}
