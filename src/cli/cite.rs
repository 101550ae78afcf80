//! `lakeward cite ID…` and `lakeward resolve ID`

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::args::{Arguments, CiteCommand, CiteFormat, ResolveCommand};
use super::{Status, lake, printer};
use lakeward::Lakeward;
use lakeward_core::error::{Error, Result};
use lakeward_search::cite::{Citation, Meaning, Resolution, bibtex, csl_json, plain};

/// What `cite --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CiteDocument {
    /// The program's version.
    pub lakeward: &'static str,
    /// The citations, in the requested order; several for an identifier of several tables.
    pub citations: Vec<Cited>,
    /// Identifiers for which nothing was found.
    pub unknown: Vec<Resolution>,
}

/// A citation in all formats.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cited {
    /// The requested identifier.
    pub asked: String,
    /// The citation's fields.
    #[serde(flatten)]
    pub citation: Citation,
    /// What has changed since the requested identifier was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// As one line of text.
    pub text: String,
    /// As a BibTeX entry.
    pub bibtex: String,
    /// As a CSL-JSON item.
    pub csl_json: Value,
}

/// `lakeward cite ID…`
pub fn cite(arguments: &Arguments, command: &CiteCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let mut document = CiteDocument { lakeward: env!("CARGO_PKG_VERSION"), citations: Vec::new(), unknown: Vec::new() };
    for id in &command.ids {
        let resolution = lakeward.resolve(id)?;
        if resolution.meaning == Meaning::Unknown {
            document.unknown.push(resolution);
            continue;
        }
        document.citations.extend(cited(&lakeward, &resolution)?);
    }
    if arguments.json {
        printer::json(&document)?;
    } else {
        show(arguments, command.format, &document)?;
    }
    Ok(match (document.citations.is_empty(), document.unknown.is_empty()) {
        (true, _) => Status::NothingFound,
        (false, true) => Status::Done,
        (false, false) => Status::InPart,
    })
}

/// The citations of the tables that an identifier resolves to: those with the cited content, else the current ones.
fn cited(lakeward: &Lakeward, resolution: &Resolution) -> Result<Vec<Cited>> {
    let has_cited_version = resolution.tables.iter().any(|table| table.is_cited_version);
    let note = (resolution.meaning != Meaning::Present).then(|| resolution.told.clone());
    let mut citations = Vec::new();
    for table in resolution.tables.iter().filter(|table| table.is_cited_version || !has_cited_version) {
        let index = lakeward.index();
        let dataset = index.dataset(index.find(&table.table)?)?;
        let citation = Citation::of(&dataset, &index.manifest().lake);
        let (text, bibtex, csl_json) = (plain(&citation), bibtex(&citation), csl_json(&citation));
        let note = note.clone();
        citations.push(Cited { asked: resolution.asked.clone(), citation, note, text, bibtex, csl_json });
    }
    Ok(citations)
}

fn show(arguments: &Arguments, format: CiteFormat, document: &CiteDocument) -> Result<()> {
    let all = format == CiteFormat::All;
    for cited in &document.citations {
        if all || format == CiteFormat::Text {
            printer::safe_line(&cited.text);
        }
        if all || format == CiteFormat::Bibtex {
            cited.bibtex.lines().for_each(printer::safe_line);
        }
    }
    if (all || format == CiteFormat::CslJson) && !document.citations.is_empty() {
        // One list: citation managers import that.
        let items: Vec<&Value> = document.citations.iter().map(|cited| &cited.csl_json).collect();
        let text = serde_json::to_string_pretty(&items).map_err(|error| Error::Internal(error.to_string()))?;
        text.lines().for_each(printer::safe_line);
    }
    let mut notes: Vec<&str> = document.citations.iter().filter_map(|cited| cited.note.as_deref()).collect();
    notes.dedup();
    if !arguments.quiet {
        notes.into_iter().for_each(printer::note);
    }
    document.unknown.iter().for_each(print_unknown);
    Ok(())
}

/// `lakeward resolve ID`
pub fn resolve(arguments: &Arguments, command: &ResolveCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let resolution = lakeward.resolve(&command.id.join(" "))?;
    let status = if resolution.meaning == Meaning::Unknown { Status::NothingFound } else { Status::Done };
    if arguments.json {
        printer::json(&resolution)?;
        return Ok(status);
    }
    if resolution.meaning == Meaning::Unknown {
        print_unknown(&resolution);
        return Ok(status);
    }
    printer::safe_line(&resolution.told);
    for table in &resolution.tables {
        let path = table.path.as_deref().unwrap_or("a record of the catalogue");
        let which = if table.is_cited_version { "" } else { ", not the version cited" };
        printer::safe_line(&format!("  {}: {} ({path}{which})", table.table, table.title));
        printer::safe_line(&format!("    {}", table.own));
        if table.identifier != table.own {
            printer::safe_line(&format!("    {}", table.identifier));
        }
    }
    Ok(status)
}

fn print_unknown(resolution: &Resolution) {
    let nearest: Vec<String> = resolution.nearest.iter().map(|name| format!("`{name}`")).collect();
    let advice = if nearest.is_empty() { String::new() } else { format!("; did you mean {}?", nearest.join(", ")) };
    printer::note(&format!("{}{advice}", resolution.told));
}
