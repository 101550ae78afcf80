//! The answer about a column that goes with the target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cite::{Gate, NamesTables};
use lakeward_core::answer::in_order;
use lakeward_core::error::Result;
use lakeward_core::listing::{ListCell, ListColumn, Listed, REASON_CHARS, column};
use lakeward_core::message::Message;

/// Two columns that are equated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeyPair {
    /// The query's column.
    pub query_column: String,
    /// The candidate's column.
    #[schemars(extend("x-sql" = "table_column"))]
    pub column: String,
}

/// Why a column that goes with the target may be of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Caution {
    /// Both change with time; from one time to the next they do not change together.
    SharedTrend,
    /// Both change with the number of rows of a key; without that they do not go together.
    Size,
    /// It is the target under another name, or follows from it exactly.
    SameAsTarget,
    /// It is of a time after the target's.
    AfterEvent,
}

impl Caution {
    /// As a clause of an answer.
    pub fn reason(self) -> &'static str {
        match self {
            Self::SharedTrend => "shared trend: both change with time, but not together from one time to the next",
            Self::Size => "size: both grow with the number of rows of a key",
            Self::SameAsTarget => "leaks: it is the target under another name",
            Self::AfterEvent => "leaks: it is of a time after the target's",
        }
    }

    /// Whether a model with this column would know what it is to predict.
    pub fn leaks(self) -> bool {
        matches!(self, Self::SameAsTarget | Self::AfterEvent)
    }
}

/// A column of the lake that goes with the target, if its table is joined on a key; several rows of a key are aggregated first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct CorrelationAnswer {
    /// The table's id.
    #[schemars(extend("x-sql" = "id"))]
    pub table: String,
    /// Its title.
    pub title: String,
    /// The column that goes with the target.
    #[schemars(extend("x-sql" = "feature"))]
    pub column: String,
    /// Greater is better, 0..=1: the lower 95% bound of the strength's magnitude, for a shared trend of what remains without it.
    pub score: f64,
    /// Spearman's ρ in −1..=1; with labels √(1 − exp(−2 I)) of the mutual information I, in 0..=1.
    pub strength: f64,
    /// Lower end of the 95% interval of the strength.
    pub low: f64,
    /// Upper end of the 95% interval of the strength.
    pub high: f64,
    /// Pearson's r, where both are numbers.
    pub pearson: Option<f64>,
    /// Mutual information in bits, where one of the two has labels.
    pub information_bits: Option<f64>,
    /// Keys that were compared.
    pub keys: u64,
    /// The share of columns at least as unlikely to be found by chance that are expected to be false, of all that were tested.
    pub false_discovery_rate: f64,
    /// The columns to join on.
    #[schemars(extend("x-sql" = "pairs"))]
    pub on: Vec<KeyPair>,
    /// How the rows of a key become one value: `value` if there is one row, `mean`, or `most frequent` for labels.
    pub aggregate: String,
    /// Rows of the candidate for each key that matches, on average.
    pub fan_out: f64,
    /// Share of the query's rows that get a value, 0..=1.
    pub coverage: f64,
    /// Whether the figures are of the join of all rows; else they are estimates from the index.
    pub verified: bool,
    /// ρ without what both share with time, for a key with a time.
    pub without_time: Option<f64>,
    /// ρ of the changes from one time to the next, for a key with a time.
    pub of_changes: Option<f64>,
    /// ρ without what both share with the number of rows of a key, where that differs.
    pub without_size: Option<f64>,
    /// Why it may be of no use.
    pub cautions: Vec<Caution>,
    /// At most 200 points (target, column) to draw, where both are numbers.
    #[schemars(extend("x-sql" = false))]
    pub points: Vec<[f64; 2]>,
    /// Rows of the candidate's table.
    pub rows: u64,
    /// Its citation: the publisher's identifier, else `lakeward:<lake>/<table>@<hash>`.
    pub citation: String,
    /// The answer in a sentence.
    pub reason: Message,
}

impl Listed for CorrelationAnswer {
    const COLUMNS: &'static [ListColumn<Self>] = &[
        column("table", ListCell::Id(|a| &a.table)),
        column("column", ListCell::Text(60, |a| a.column.as_str().into())),
        column("score", ListCell::Figure(3, |a| a.score)),
        column("strength", ListCell::Figure(2, |a| a.strength)),
        column("why", ListCell::Message(REASON_CHARS, |a| &a.reason)),
    ];
}

impl NamesTables for CorrelationAnswer {
    fn pass(&mut self, gate: &Gate<'_>) -> Result<bool> {
        gate.has(&self.table)
    }
}

impl CorrelationAnswer {
    /// Whether a model with this column would know what it is to predict.
    pub fn leaks(&self) -> bool {
        self.cautions.iter().any(|caution| caution.leaks())
    }

    /// The answer in a sentence.
    pub(super) fn sentence(&self, target: &str) -> String {
        let what = match self.information_bits {
            None => format!("ρ {:.2} [{:.2}, {:.2}] with `{target}`", self.strength, self.low, self.high),
            Some(bits) => format!("tells {bits:.2} bits of `{target}` (strength {:.2})", self.strength),
        };
        let on: Vec<String> = self
            .on
            .iter()
            .map(|pair| match pair.query_column == pair.column {
                true => format!("`{}`", pair.column),
                false => format!("`{}` = `{}`", pair.query_column, pair.column),
            })
            .collect();
        let mut text = format!("{what} over {} keys on {}", self.keys, on.join(" + "));
        if self.aggregate != "value" {
            text.push_str(&format!(", as the {} of {:.1} rows a key", self.aggregate, self.fan_out));
        }
        if self.coverage < 0.995 {
            text.push_str(&format!("; {:.0}% of your rows get none", 100.0 * (1.0 - self.coverage)));
        }
        if self.false_discovery_rate > 0.05 {
            text.push_str(&format!("; may be chance: {:.0}% of such finds are", 100.0 * self.false_discovery_rate));
        }
        if !self.verified {
            text.push_str("; an estimate from the index");
        }
        for caution in &self.cautions {
            text.push_str(&format!("; {}", caution.reason()));
        }
        text
    }
}
