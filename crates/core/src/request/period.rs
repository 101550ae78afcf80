//! Periods: the time that a request is about.

use std::fmt;

use chrono::Month;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The time that the data should cover. Displayed as `2012`, `2017, 2021`, `2010-2020`, `2015 onward`, `June-August 2021`, `last five
/// years`; this text is for people and never parsed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// One or several single years, in order.
    Years(Vec<i32>),
    /// From a year, to a year, or both, inclusive.
    Span {
        /// First year.
        from: Option<i32>,
        /// Last year.
        to: Option<i32>,
    },
    /// A range of months, inclusive.
    Months {
        /// First month.
        from: YearMonth,
        /// Last month.
        to: YearMonth,
    },
    /// A period without a known year, as written: `last five years`.
    Relative(String),
}

/// A month of a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct YearMonth {
    /// The year.
    pub year: i32,
    /// The month, 1..=12.
    pub month: u8,
}

impl YearMonth {
    fn name(self) -> &'static str {
        Month::try_from(self.month).map_or("", |month| month.name())
    }
}

impl Period {
    /// First and last year, `None` where open: (2015, none) for `2015 onward`; both `None` for `last five years`.
    pub fn years(&self) -> (Option<i32>, Option<i32>) {
        match self {
            Self::Years(years) => (years.first().copied(), years.last().copied()),
            Self::Span { from, to } => (*from, *to),
            Self::Months { from, to } => (Some(from.year), Some(to.year)),
            Self::Relative(_) => (None, None),
        }
    }
}

impl fmt::Display for Period {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Years(years) => {
                let years: Vec<String> = years.iter().map(i32::to_string).collect();
                formatter.write_str(&years.join(", "))
            }
            Self::Span { from: Some(first), to: Some(last) } if first == last => write!(formatter, "{first}"),
            Self::Span { from: Some(first), to: Some(last) } => write!(formatter, "{first}-{last}"),
            Self::Span { from: Some(first), to: None } => write!(formatter, "{first} onward"),
            Self::Span { from: None, to: Some(last) } => write!(formatter, "until {last}"),
            Self::Span { from: None, to: None } => Ok(()),
            Self::Months { from, to } if from == to => write!(formatter, "{} {}", from.name(), from.year),
            Self::Months { from, to } if from.year == to.year => {
                write!(formatter, "{}-{} {}", from.name(), to.name(), from.year)
            }
            Self::Months { from, to } => {
                write!(formatter, "{} {}-{} {}", from.name(), from.year, to.name(), to.year)
            }
            Self::Relative(text) => formatter.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_knows_its_years_and_is_shown() {
        let month = |year, month| YearMonth { year, month };
        for (period, years, shown) in [
            (Period::Span { from: Some(2015), to: None }, (Some(2015), None), "2015 onward"),
            (Period::Span { from: None, to: Some(1999) }, (None, Some(1999)), "until 1999"),
            (Period::Span { from: Some(2010), to: Some(2020) }, (Some(2010), Some(2020)), "2010-2020"),
            (Period::Years(vec![2017, 2021]), (Some(2017), Some(2021)), "2017, 2021"),
            (Period::Months { from: month(2021, 6), to: month(2021, 8) }, (Some(2021), Some(2021)), "June-August 2021"),
            (
                Period::Months { from: month(2020, 12), to: month(2021, 2) },
                (Some(2020), Some(2021)),
                "December 2020-February 2021",
            ),
            (Period::Relative("latest year".into()), (None, None), "latest year"),
        ] {
            assert_eq!((period.years(), period.to_string().as_str()), (years, shown));
            let json = serde_json::to_string(&period).unwrap();
            assert_eq!(serde_json::from_str::<Period>(&json).unwrap(), period, "{json}");
        }
    }
}
