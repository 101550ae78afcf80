//! A plan as a script in Python that makes its result again with the package `datafusion` and without Lakeward.
//!
//! The script checks the files that it reads by their SHA-256, reads delimited text as the lake's reader does (what no other
//! reader would read so is refused here), and runs the query one part of its WITH after the other. Functions that only
//! Lakeward's SQL has are defined in it, as are the ways to read cells, of both only what the plan needs; they are pieces of Python in
//! the folder beside this file. Tests compare their results with those of the functions here.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::cells::CellType;
use super::context::LakeContext;
use super::inputs::{InputTable, profiles};
use super::plan::plan_parts;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::Plan;
use lakeward_core::request::Input;
use lakeward_core::text::hex;
use lakeward_lake::location::Location;
use lakeward_lake::reader::{self, ReadOptions, RepairKind};
use lakeward_lake::source::{Compression, Format};
use lakeward_lake::storage::Address;

const CELLS: &str = include_str!("script/cells.py");
const NUMBERS: &str = include_str!("script/numbers.py");
const DATES: &str = include_str!("script/dates.py");
const NORMAL: &str = include_str!("script/normal.py");
const DELIMITED: &str = include_str!("script/delimited.py");
const CORRELATION: &str = include_str!("script/correlation.py");
const MAIN: &str = include_str!("script/main.py");
/// Python's names of Lakeward's functions of cells, and of their results' types.
const FUNCTIONS: [(&str, &str); 3] = [
    ("value_normalize", "normal_forms, pa.string()"),
    ("value_number", "lambda cells, how: values(cells, read_float, how), pa.float64()"),
    ("value_date", "lambda cells, how: values(cells, read_date, how), pa.date32()"),
];
/// Repairs of a delimited text that the script makes as well.
const REPAIRED: [RepairKind; 10] = [
    RepairKind::ShortRows,
    RepairKind::LongRows,
    RepairKind::ExtraColumns,
    RepairKind::RowNames,
    RepairKind::DuplicateHeaders,
    RepairKind::EmptyHeaders,
    RepairKind::NoteRows,
    RepairKind::BlankLines,
    RepairKind::MixedLineEnds,
    RepairKind::GuessedEncoding,
];

/// A script in Python that makes the result of `plan` again. `heading` are lines of comment; files below `lake` are named
/// relative to it. Files are read whole.
///
/// # Errors
/// As [`super::plan_sql`]; [`Error::Usage`] for a file that the script would read otherwise than the lake's reader.
pub fn plan_script(context: &LakeContext, plan: &Plan, lake: &Path, heading: &[String]) -> Result<String> {
    let (parts, result) = plan_parts(context, plan)?;
    let mut called = BTreeSet::new();
    let mut steps = String::from("STEPS = [\n");
    for (name, sql) in &parts {
        steps.push_str(&format!("    ({}, {}),\n", quoted(name), query(&with_arities(sql, &mut called)?)));
    }
    steps.push_str(&format!("]\nRESULT = {}\n", query(&with_arities(&result, &mut called)?)));
    let mut sources = Vec::new();
    for input in plan.inputs() {
        sources.push(source(context, input, lake)?);
    }
    let is_called = |name: &str| called.contains(name);
    let has = |kinds: &[&str]| {
        let columns = sources.iter().filter_map(|source| source["columns"].as_array()).flatten();
        columns.into_iter().any(|column| kinds.iter().any(|kind| column[1] == *kind))
    };
    let normal = is_called("value_normalize");
    let delimited = sources.iter().any(|source| source["format"] == "delimited");
    let own: Vec<String> = FUNCTIONS
        .iter()
        .filter(|(name, _)| is_called(name))
        .map(|(name, definition)| format!("    (\"{name}\", {definition}),\n"))
        .collect();
    let correlation = is_called("corr");
    let aggregates = if correlation { "(\"corr\", Correlation, pa.list_(pa.float64()))," } else { "" };
    let definitions = format!("\n\nFUNCTIONS = [\n{}]\nAGGREGATES = [{aggregates}]\n\n\n", own.concat());
    let pieces = [
        (CELLS, delimited || !own.is_empty()),
        (NUMBERS, normal || is_called("value_number") || has(&["integer", "float"])),
        (DATES, normal || is_called("value_date") || has(&["date", "timestamp"])),
        (NORMAL, normal),
        (DELIMITED, delimited),
        (CORRELATION, correlation),
        (definitions.as_str(), true),
        (MAIN, true),
    ];
    let pieces: String = pieces.into_iter().filter(|(_, needed)| *needed).map(|(piece, _)| piece).collect();
    let (imports, code): (Vec<&str>, Vec<&str>) =
        pieces.lines().partition(|line| line.starts_with("import ") || line.starts_with("from "));
    let imports: BTreeSet<&str> = imports.into_iter().collect();
    let mut script: Vec<String> = heading.iter().map(|line| format!("# {line}")).collect();
    script.push("# Needs Python 3.10 or later and: pip install 'datafusion>=55,<56' pyarrow".into());
    if !own.is_empty() {
        script.push("# Functions that only queries of Lakeward have are defined below: see FUNCTIONS.".into());
    }
    if is_called("percentile_cont") {
        script.push(
            "# DataFusion's percentile_cont rounds the place between two values to a millionth; Lakeward's does not."
                .into(),
        );
    }
    script.extend(imports.into_iter().map(String::from));
    script.push(format!("\nLAKE = {}\nSOURCES = [", quoted(&lake.to_string_lossy())));
    script.extend(sources.iter().map(|source| format!("    {source},")));
    script.push(format!("]\n{steps}"));
    script.push(code.join("\n").trim_start().to_string());
    Ok(script.join("\n") + "\n")
}

/// The functions that `sql` calls and only Lakeward's queries have.
///
/// # Errors
/// [`Error::Sql`] for what is no SQL.
pub fn own_functions(sql: &str) -> Result<Vec<&'static str>> {
    let mut called = BTreeSet::new();
    with_arities(sql, &mut called)?;
    Ok(FUNCTIONS.iter().map(|(name, _)| *name).filter(|name| called.contains(*name)).collect())
}

/// `sql` with `_as` behind the names of our functions where they have a second argument, since a function of Python has one number
/// of them; the names of all functions that it calls go to `called`.
fn with_arities(sql: &str, called: &mut BTreeSet<String>) -> Result<String> {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).with_unescape(false).tokenize();
    let mut tokens = tokens.map_err(|error| Error::Sql { reason: error.to_string() })?;
    for at in 1..tokens.len() {
        let (before, behind) = tokens.split_at_mut(at);
        if let (Some(Token::Word(word)), Some((Token::LParen, arguments))) = (before.last_mut(), behind.split_first())
            && word.quote_style.is_none()
        {
            called.insert(word.value.clone());
            if FUNCTIONS.iter().any(|(name, _)| *name == word.value) && has_second(arguments) {
                word.value.push_str("_as");
            }
        }
    }
    Ok(tokens.iter().map(ToString::to_string).collect())
}

/// Whether there is a comma before the bracket that closes a list of arguments.
fn has_second(arguments: &[Token]) -> bool {
    let mut depth = 0u32;
    for token in arguments {
        match token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket if depth == 0 => return false,
            Token::RParen | Token::RBracket => depth -= 1,
            Token::Comma if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

/// What the script has to know of a file. Only texts, numbers and lists, which JSON and Python write alike.
fn source(context: &LakeContext, input: &Input, lake: &Path) -> Result<Value> {
    let InputTable { sql, path, .. } = InputTable::resolve(context, input)?;
    if Address::is(&path) {
        let reason = format!("`{}` is in a store, and the script reads files of folders only", path.display());
        return Err(Error::usage(format!("{reason}; `--sql` gives the query")));
    }
    let file = path.strip_prefix(lake).unwrap_or(&path).to_string_lossy();
    let mut source = json!({"table": sql, "file": file, "format": "parquet"});
    match Location::of(&path) {
        Location::File { format: Format::Parquet, compression: Compression::None, .. } => {}
        Location::File { format: Format::Csv, .. } => describe(context, input, &path, &mut source)?,
        _ => {
            let reason = format!("`{}` is neither delimited text nor Parquet", path.display());
            return Err(Error::usage(format!("{reason}, and the script reads nothing else; `--sql` gives the query")));
        }
    }
    source["sha256"] = json!(sha256(&path)?);
    Ok(source)
}

/// Adds to `source` how the delimited text at `path` is to be read.
fn describe(context: &LakeContext, input: &Input, path: &Path, source: &mut Value) -> Result<()> {
    let refused = |why: &str| {
        let reason = format!("a script would not read `{}` as Lakeward does: {why}", path.display());
        Err(Error::usage(format!("{reason}; `--sql` gives the query")))
    };
    let mut reader = reader::open_path(path, &ReadOptions::default())?;
    while reader.next_batch()?.is_some() {}
    let report = reader.report();
    if let Some(repair) = report.repairs.iter().find(|repair| !REPAIRED.contains(&repair.kind)) {
        return refused(&repair.to_string());
    }
    let dialect = match &report.dialect {
        Some(dialect) if !dialect.backslash_escapes => dialect,
        _ => return refused("backslashes stand before quotes"),
    };
    let columns = profiles(context, input)?;
    let columns: Vec<Value> = columns
        .iter()
        .map(|column| {
            let kind = match CellType::of(column) {
                CellType::Text | CellType::Declared(_) => "text",
                CellType::Integer => "integer",
                CellType::Float => "float",
                CellType::Date => "date",
                CellType::Timestamp => "timestamp",
                CellType::Boolean => "boolean",
            };
            json!([column.name, kind, column.writing.to_string()])
        })
        .collect();
    source["format"] = json!("delimited");
    source["encoding"] = json!(dialect.encoding);
    // No cell of a text holds these.
    source["delimiter"] = json!(dialect.delimiter.unwrap_or('\u{1}'));
    source["quote"] = json!(dialect.quote.unwrap_or('\u{2}'));
    source["lines_above"] = json!(dialect.preamble_lines);
    source["lines_below"] = json!(report.count(RepairKind::NoteRows));
    source["header"] = json!(u8::from(dialect.header));
    source["rows"] = json!(report.rows);
    source["columns"] = json!(columns);
    Ok(())
}

fn sha256(path: &Path) -> Result<String> {
    let mut hasher = Sha256::new();
    let copied = File::open(path).and_then(|mut file| io::copy(&mut file, &mut hasher));
    copied.map_err(|error| Error::io("read", path, error))?;
    Ok(hex(&hasher.finalize()))
}

/// A text in Python.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A query in Python, over several lines where it can be.
fn query(sql: &str) -> String {
    let plain = !sql.contains("\"\"\"") && !sql.contains(|c: char| c.is_control() && c != '\n');
    if plain { format!("r\"\"\"\n{sql}\n\"\"\"") } else { quoted(sql) }
}
