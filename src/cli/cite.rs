//! `lakeward cite ID…` and `lakeward resolve ID`

use serde_json::Value;

use super::args::{Arguments, CiteCommand, CiteFormat, ResolveCommand};
use super::{Status, lake, printer};
use lakeward::documents::CiteDocument;
use lakeward_core::error::{Error, Result};
use lakeward_search::cite::{Meaning, Resolution};

/// `lakeward cite ID…`
pub fn cite(arguments: &Arguments, command: &CiteCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let document = CiteDocument::of(&lakeward, &command.ids)?;
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

/// Prints citations in a format, with what is unknown.
pub fn show(arguments: &Arguments, format: CiteFormat, document: &CiteDocument) -> Result<()> {
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
    printer::safe_line(&resolution.explanation);
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
    printer::note(&format!("{}{advice}", resolution.explanation));
}
