//! The form of each table function: its parameters, description and example; and the parsing of its arguments.

use datafusion::common::ScalarValue;

use lakeward_core::error::{Error, Result, nearest_names};

pub(super) const TABLES: &str = "lake_tables";
pub(super) const PROFILE: &str = "lake_profile";
pub(super) const SEARCH: &str = "lake_search";
pub(super) const COLUMNS: &str = "lake_columns";
pub(super) const JOINABLE: &str = "lake_joinable";
pub(super) const UNIONABLE: &str = "lake_unionable";
pub(super) const CORRELATED: &str = "lake_correlated";
pub(super) const ASK: &str = "lake_ask";
pub(super) const FUNCTIONS: &str = "lake_functions";

/// The names of all table functions.
pub const NAMES: [&str; 9] = [TABLES, PROFILE, SEARCH, COLUMNS, JOINABLE, UNIONABLE, CORRELATED, ASK, FUNCTIONS];

/// Default number of rows.
pub const DEFAULT_ROWS: usize = 10;
/// Largest number of rows that can be requested.
pub const MOST_ROWS: usize = 10_000;

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// A text.
    Text,
    /// A text; optional or NULL.
    TextOrNull,
    /// A whole number in 1..=[`MOST_ROWS`]; optional or NULL, which means [`DEFAULT_ROWS`].
    Count,
}

/// A parameter of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in the form.
    pub name: &'static str,
    /// Its type.
    pub kind: ParameterKind,
    /// Its meaning.
    pub description: &'static str,
}

/// A table function's documentation, by which its arguments are also parsed.
#[derive(Debug, PartialEq, Eq)]
pub struct Form {
    /// Its name.
    pub name: &'static str,
    /// Its parameters in order; optional ones come last.
    pub parameters: &'static [Parameter],
    /// What it returns.
    pub description: &'static str,
    /// A query that runs over the sample lake.
    pub example: &'static str,
}

const TABLE: Parameter = Parameter {
    name: "table",
    kind: ParameterKind::Text,
    description: "an id of the lake (`us/zip/zip_ma`), its name in SQL (`us.zip.zip_ma`), or the path of a file",
};
const COUNT: Parameter =
    Parameter { name: "k", kind: ParameterKind::Count, description: "maximum rows, 1 to 10000; default 10" };

const ANSWERS: Parameter = Parameter {
    name: "k",
    kind: ParameterKind::Count,
    description: "maximum rows, 1 to 10000; by default as many as the text requests, else 10 tables or 3 records",
};

/// All table functions.
pub const FORMS: &[Form] = &[
    Form {
        name: TABLES,
        parameters: &[],
        description: "All tables and catalogue records of the lake, by id, with their metadata",
        example: "SELECT id, rows, title FROM lake_tables() WHERE format = 'parquet' ORDER BY rows DESC",
    },
    Form {
        name: PROFILE,
        parameters: &[TABLE],
        description: "The columns of a table in their order, with types, distinct values, extremes and samples",
        example: "SELECT name, data_type, distinct_values FROM lake_profile('us/states')",
    },
    Form {
        name: SEARCH,
        parameters: &[
            Parameter { name: "text", kind: ParameterKind::Text, description: "the topic of the tables" },
            COUNT,
        ],
        description: "Tables that match a text, best first",
        example: "SELECT rank, id, score, reason FROM lake_search('flight delays', 5)",
    },
    Form {
        name: COLUMNS,
        parameters: &[
            Parameter { name: "text", kind: ParameterKind::Text, description: "what the columns hold" },
            COUNT,
        ],
        description: "Columns that hold what a text says, best first, with what matched",
        example: "SELECT rank, id, column_name, reason FROM lake_columns('population density')",
    },
    Form {
        name: JOINABLE,
        parameters: &[
            TABLE,
            Parameter {
                name: "column",
                kind: ParameterKind::TextOrNull,
                description: "its key column, or several separated by commas; NULL for the best column",
            },
            COUNT,
        ],
        description: "Tables that can be joined with a table, best first, with the share of its values they contain",
        example: "SELECT rank, id, table_column, containment FROM lake_joinable('us/states', 'fips', 5)",
    },
    Form {
        name: UNIONABLE,
        parameters: &[TABLE, COUNT],
        description: "Tables whose rows could be appended to a table, best first, with the alignment of their columns",
        example: "SELECT rank, id, new_rows, alignment FROM lake_unionable('climate/daily/seattle_2012')",
    },
    Form {
        name: CORRELATED,
        parameters: &[
            TABLE,
            Parameter { name: "target", kind: ParameterKind::Text, description: "its column to be explained" },
            Parameter {
                name: "key",
                kind: ParameterKind::TextOrNull,
                description: "its key column, or two separated by a comma; NULL for the likeliest keys",
            },
            COUNT,
        ],
        description: "Columns of the lake that go with a column of a table, joined on a key, best first",
        example: "SELECT rank, id, feature, strength FROM lake_correlated('us/gun_murders_2010', 'total', 'state', 5)",
    },
    Form {
        name: ASK,
        parameters: &[
            Parameter { name: "text", kind: ParameterKind::Text, description: "the request in words" },
            Parameter {
                name: "table",
                kind: ParameterKind::TextOrNull,
                description: "the table to start from: an id of the lake or the path of a file; NULL for none",
            },
            ANSWERS,
        ],
        description: "Tables for a request, most useful first, each with the operation it suits best",
        example: "SELECT rank, id, utility, operation, reason FROM lake_ask('which airports have the longest delays?')",
    },
    Form {
        name: FUNCTIONS,
        parameters: &[],
        description: "All functions of Lakeward with their forms",
        example: "SELECT name, syntax, description FROM lake_functions() ORDER BY kind, name",
    },
];

impl Form {
    /// Its syntax: `lake_search(text [, k])`.
    pub fn syntax(&self) -> String {
        let mut text = format!("{}(", self.name);
        let mut open = 0;
        for (place, parameter) in self.parameters.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            if parameter.kind == ParameterKind::Text {
                text.push_str(&format!("{comma}{}", parameter.name));
            } else {
                text.push_str(&format!(" [{comma}{}", parameter.name));
                open += 1;
            }
        }
        text.push_str(&"]".repeat(open));
        text.push(')');
        text
    }

    fn usage(&self, what: &str) -> Error {
        Error::usage(format!("{}: {what}; write {}", self.name, self.syntax()))
    }
}

/// The form of the function `name`.
///
/// # Errors
/// [`Error::Usage`] with the nearest name.
pub fn form(name: &str) -> Result<&'static Form> {
    FORMS.iter().find(|form| form.name == name).ok_or_else(|| {
        let nearest = nearest_names(name, NAMES, 3);
        let known: Vec<&str> =
            if nearest.is_empty() { NAMES.to_vec() } else { nearest.iter().map(String::as_str).collect() };
        Error::usage(format!("there is no table function `{name}`; there is {}", known.join(", ")))
    })
}

/// The arguments of a call with the function's form.
pub(super) struct Given<'a> {
    pub(super) form: &'static Form,
    arguments: &'a [ScalarValue],
}

/// The arguments of a call of the function `name`.
///
/// # Errors
/// [`Error::Usage`] for an unknown name, and for too few or too many arguments.
pub(super) fn given<'a>(name: &str, arguments: &'a [ScalarValue]) -> Result<Given<'a>> {
    let form = form(name)?;
    let least = form.parameters.iter().filter(|parameter| parameter.kind == ParameterKind::Text).count();
    let most = form.parameters.len();
    if !(least..=most).contains(&arguments.len()) {
        let takes = match (least, most) {
            (0, 0) => "no argument".to_string(),
            (1, 1) => "one argument".to_string(),
            _ => format!("{least} to {most} arguments"),
        };
        return Err(form.usage(&format!(
            "it takes {takes}, and {} given",
            match arguments.len() {
                0 => "none is".to_string(),
                1 => "1 is".to_string(),
                many => format!("{many} are"),
            }
        )));
    }
    Ok(Given { form, arguments })
}

impl Given<'_> {
    fn usage(&self, place: usize, what: &str) -> Error {
        let name = self.form.parameters.get(place).map_or("argument", |parameter| parameter.name);
        self.form.usage(&format!("`{name}` {what}"))
    }

    /// The text at `place`.
    pub(super) fn text(&self, place: usize) -> Result<String> {
        let text = self.text_or_none(place)?.ok_or_else(|| self.usage(place, "must be a text, not NULL"))?;
        if text.trim().is_empty() {
            return Err(self.usage(place, "must not be empty"));
        }
        Ok(text)
    }

    /// The text at `place`, if there is one.
    pub(super) fn text_or_none(&self, place: usize) -> Result<Option<String>> {
        match self.arguments.get(place) {
            None | Some(ScalarValue::Null) => Ok(None),
            Some(value) => match value.try_as_str() {
                Some(text) => Ok(text.map(str::to_string)),
                None => Err(self.usage(place, &format!("must be a text, not {}", value.data_type()))),
            },
        }
    }

    /// The number of rows at `place`.
    pub(super) fn count(&self, place: usize) -> Result<usize> {
        Ok(self.count_or_none(place)?.unwrap_or(DEFAULT_ROWS))
    }

    pub(super) fn count_or_none(&self, place: usize) -> Result<Option<usize>> {
        let Some(value) = self.arguments.get(place).filter(|value| !value.is_null()) else { return Ok(None) };
        if !value.data_type().is_integer() {
            return Err(self.usage(place, &format!("must be a whole number, not {}", value.data_type())));
        }
        let number: Option<usize> = value.to_string().parse().ok();
        number
            .filter(|number| (1..=MOST_ROWS).contains(number))
            .map(Some)
            .ok_or_else(|| self.usage(place, &format!("must be 1 to {MOST_ROWS}, not {value}")))
    }
}
