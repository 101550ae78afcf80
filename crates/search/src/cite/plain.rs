//! Citations as one line of text.

use super::citation::Citation;

/// As DataCite recommends: *Creator (PublicationYear): Title. Version. Publisher. Dataset. Identifier* (DataCite Metadata
/// Schema 4, "Recommended citation"); without a creator it begins with the title. The version is included unless it is part of
/// the identifier.
pub fn plain(citation: &Citation) -> String {
    let year = citation.issued.map(|date| date.year.to_string()).unwrap_or_else(|| "n.d.".into());
    let title = one_line(&citation.title);
    let mut text = match &citation.creator {
        Some(creator) => format!("{} ({year}): {}", one_line(creator), ended(&title)),
        None => format!("{title} ({year})."),
    };
    let identifier = citation.identifier.to_string();
    if identifier != citation.own {
        text.push_str(&format!(" Version {}.", citation.version));
    }
    if let Some(publisher) = &citation.publisher {
        text.push_str(&format!(" {}", ended(&one_line(publisher))));
    }
    text.push_str(&format!(" Dataset. {identifier}"));
    text
}

fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn ended(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_string() } else { format!("{text}.") }
}
