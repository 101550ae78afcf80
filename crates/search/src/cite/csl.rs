//! Citations as CSL-JSON, which citation managers read.

use serde_json::{Value, json};

use super::citation::{Author, Citation};
use lakeward_lake::identifier::Identifier;

/// An item of type `dataset` with the field names of the CSL 1.0.2 schema.
pub fn csl_json(citation: &Citation) -> Value {
    let mut item = json!({
        "id": citation.key(),
        "type": "dataset",
        "title": citation.title,
        "version": citation.version,
        "archive": "Lakeward",
        "archive_location": citation.own,
    });
    let mut set = |name: &str, value: Value| item[name] = value;
    let author = |author: &Author| match &author.given {
        Some(given) => json!({"family": author.name, "given": given}),
        None => json!({"literal": author.name}),
    };
    match (&citation.creators[..], &citation.creator) {
        ([], Some(creator)) => set("author", json!([{"literal": creator}])),
        ([], None) => {}
        (creators, _) => set("author", creators.iter().map(author).collect()),
    }
    if let Some(publisher) = &citation.publisher {
        set("publisher", json!(publisher));
    }
    if let Some(date) = citation.issued {
        let mut parts = vec![date.year];
        parts.extend(date.month.map(u16::from));
        parts.extend(date.day.map(u16::from));
        set("issued", json!({"date-parts": [parts]}));
    }
    match &citation.identifier {
        Identifier::Doi(doi) => set("DOI", json!(doi)),
        Identifier::Url(_) | Identifier::Own(_) => {}
        other => set("number", json!(other.to_string())),
    }
    if let Some(url) = &citation.url {
        set("URL", json!(url));
    }
    if let Some(licence) = &citation.licence {
        set("note", json!(format!("Licence: {licence}")));
    }
    item
}
