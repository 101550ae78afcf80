//! Citations as BibTeX.

use super::citation::{Author, Citation};
use lakeward_lake::identifier::Identifier;

/// An entry `@dataset`, which biblatex knows and older styles print as `@misc`. The braces of every field are balanced, and no
/// character is read by TeX as a command.
pub fn bibtex(citation: &Citation) -> String {
    let mut fields: Vec<(&str, String)> = Vec::new();
    // A second pair of braces: an organisation has no family name, and `and` in its name separates no authors.
    let whole = |name: &str| format!("{{{}}}", text(name));
    let author = |author: &Author| match &author.given {
        Some(given) => format!("{}, {}", text(&author.name), text(given)),
        None => whole(&author.name),
    };
    let authors: Vec<String> = citation.creators.iter().map(author).collect();
    match (&authors[..], &citation.creator) {
        ([], Some(creator)) => fields.push(("author", whole(creator))),
        _ => fields.push(("author", authors.join(" and "))),
    }
    fields.push(("title", format!("{{{}}}", text(&citation.title))));
    if let Some(date) = citation.issued {
        fields.push(("year", date.year.to_string()));
        if let Some(month) = date.month {
            fields.push(("month", month.to_string()));
        }
    }
    if let Some(publisher) = &citation.publisher {
        fields.push(("publisher", text(publisher)));
    }
    fields.push(("version", citation.version.clone()));
    if let Identifier::Doi(doi) = &citation.identifier {
        fields.push(("doi", verbatim(doi)));
    }
    if let Some(url) = &citation.url {
        fields.push(("url", verbatim(url)));
    }
    let mut notes = Vec::new();
    if !matches!(citation.identifier, Identifier::Doi(_) | Identifier::Url(_)) {
        notes.push(format!("Identifier: {}", text(&citation.identifier.to_string())));
    }
    if citation.identifier.to_string() != citation.own {
        notes.push(format!("Content: {}", text(&citation.own)));
    }
    notes.extend(citation.licence.as_deref().map(|licence| format!("Licence: {}", text(licence))));
    fields.push(("note", notes.join("; ")));
    let mut out = format!("@dataset{{{},\n", citation.key());
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
        out.push_str(&format!("  {name:<9} = {{{value}}},\n"));
    }
    out.push_str("}\n");
    out
}

/// `text` for print: characters that TeX would read as commands are escaped. Braces become commands, too: BibTeX also counts
/// braces after a backslash, so that a single `\{` would break the file.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut space = false;
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            space = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut space) {
            out.push(' ');
        }
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' => out.push_str("\\textbraceleft{}"),
            '}' => out.push_str("\\textbraceright{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '$' | '&' | '#' | '_' | '%' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// `text` for fields that are read verbatim, DOI and address: spaces, braces and backslashes are percent-encoded, other white
/// space is removed.
fn verbatim(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '{' | '}' | '\\' | ' ' => out.push_str(&format!("%{:02X}", u32::from(c))),
            c if c.is_whitespace() || c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}
