//! Resolves an identifier to the tables that it stands for now.
//!
//! In our own identifiers the hash of the content decides and the path is a hint: a moved table is found by its content, a
//! changed one by its path; if both lead to a table, both are reported. A publisher's identifier stands for all tables that
//! carry it. Only the catalogue is needed: a citation stays valid when the index is rebuilt, when the lake is renamed, and
//! when a publisher's identifier is added later.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::citation::Citation;
use lakeward_core::error::{Result, nearest_names};
use lakeward_core::text::counted;
use lakeward_index::{LakeIndex, TableRef};
use lakeward_lake::dataset::Dataset;
use lakeward_lake::identifier::{Identifier, OwnIdentifier, trimmed, version};
use lakeward_lake::source::{self, Origin};

/// Most tables reported of one kind; the same content may exist a thousand times.
const MOST_REPORTED: usize = 100;
/// Similar names suggested where nothing was found.
const SUGGESTED: usize = 5;

/// The state of the table that was cited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// It exists with the cited content.
    Present,
    /// The cited content is at another place now.
    Moved,
    /// The table has other content now; the cited content is not in the lake any more.
    Changed,
    /// The cited content is at another place, and its former place has other content.
    MovedAndReplaced,
    /// It is not in the catalogue.
    Unknown,
}

/// A table that an identifier resolves to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResolvedTable {
    /// Its id in the catalogue.
    pub table: String,
    /// Its title.
    pub title: String,
    /// Its file in the lake; none for a record of a catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The identifier to cite it by.
    pub identifier: String,
    /// Lakeward's identifier of its present content.
    pub own: String,
    /// The leading digits of the hash of its content.
    pub version: String,
    /// Whether its content is the cited one; true where no version was cited.
    pub is_cited_version: bool,
}

/// The result of resolving an identifier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resolution {
    /// The identifier as it was given.
    pub asked: String,
    /// The identifier in its normal form; none for the id of a table and for a text that is no identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// The state of the table that was cited.
    pub meaning: Meaning,
    /// The tables, those with the cited content first, then by id; at most 100.
    pub tables: Vec<ResolvedTable>,
    /// The version that was cited, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cited_version: Option<String>,
    /// The result in a sentence.
    pub explanation: String,
    /// Ids most similar to the given one, where nothing was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
}

/// Resolves `text`, the id of a table, its path, or an identifier, in the lake whose files are below `lake`.
///
/// Cost: an id and an identifier are looked up; where nothing is found, similar names of all tables are.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn resolve(index: &LakeIndex, lake: &Path, text: &str) -> Result<Resolution> {
    let asked = text.trim();
    if let Some(table) = index.get(asked)? {
        return present(index, asked, None, &[table]);
    }
    match Identifier::parse(asked) {
        Some(Identifier::Own(own)) => return resolve_own(index, lake, asked, &own),
        Some(identifier) => {
            let tables = index.with_identifier(&identifier)?;
            if !tables.is_empty() {
                return present(index, asked, Some(&identifier), &tables);
            }
            return unknown(index, asked, Some(&identifier));
        }
        None => {}
    }
    let named = Identifier::Named(trimmed(asked).to_string());
    let mut tables = index.with_identifier(&named)?;
    if tables.is_empty() {
        tables = at_path(index, asked)?;
    }
    if tables.is_empty() { unknown(index, asked, None) } else { present(index, asked, None, &tables) }
}

/// The tables whose content hash begins with the hash of `own`.
pub(super) fn with_content(index: &LakeIndex, own: &OwnIdentifier) -> Result<Vec<TableRef>> {
    let mut found = Vec::new();
    if own.hash.is_none() {
        return Ok(found);
    }
    for table in index.tables() {
        if own.is_version(index.segment(table.segment)?.tables.content(table.table)?) {
            found.push(table);
        }
    }
    Ok(found)
}

fn at_path(index: &LakeIndex, path: &str) -> Result<Vec<TableRef>> {
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut found = Vec::new();
    for table in index.tables() {
        if index.origin(table)? == Origin::read(path) {
            found.push(table);
        }
    }
    Ok(found)
}

fn resolve_own(index: &LakeIndex, lake: &Path, asked: &str, own: &OwnIdentifier) -> Result<Resolution> {
    let at_id = index.get(&own.table)?;
    let same_content = with_content(index, own)?;
    let mut resolution = Resolution {
        asked: asked.to_string(),
        identifier: Some(own.to_string()),
        meaning: Meaning::Unknown,
        tables: Vec::new(),
        cited_version: own.hash.clone(),
        explanation: String::new(),
        nearest: Vec::new(),
    };
    let Some(table) = at_id else {
        if same_content.is_empty() {
            return unknown(index, asked, Some(&Identifier::Own(own.clone())));
        }
        resolution.tables = resolved(index, &same_content, true)?;
        resolution.meaning = Meaning::Moved;
        resolution.explanation = format!("moved from `{}` to {}", own.table, listed(&resolution.tables));
        return Ok(with_lake(resolution, index, own));
    };
    let dataset = index.dataset(table)?;
    let cited = own.hash.as_deref().unwrap_or_default();
    if own.is_version(dataset.content().as_bytes()) || matches_other_hash(&dataset, lake, own) {
        resolution.meaning = Meaning::Present;
        resolution.tables = resolved(index, &[table], true)?;
        let copies: Vec<TableRef> = same_content.iter().copied().filter(|other| *other != table).collect();
        resolution.explanation = match own.hash {
            Some(_) => format!("`{}` has the content that was cited", own.table),
            None => format!("`{}`; no version was cited", own.table),
        };
        if !copies.is_empty() {
            let copies = resolved(index, &copies, true)?;
            resolution.explanation.push_str(&format!("; so has {}", listed(&copies)));
            resolution.tables.extend(copies);
        }
        return Ok(with_lake(resolution, index, own));
    }
    let present = resolved(index, &[table], false)?;
    let now = version(dataset.content());
    resolution.tables = resolved(index, &same_content, true)?;
    if same_content.is_empty() {
        resolution.meaning = Meaning::Changed;
        resolution.explanation = format!(
            "`{}` has other content now: version {cited} was cited and is not in the lake any more, the present one is {now}",
            own.table
        );
    } else {
        resolution.meaning = Meaning::MovedAndReplaced;
        let moved = listed(&resolution.tables);
        resolution.explanation = format!(
            "moved from `{}` to {moved}; `{}` has other content now, version {now} instead of {cited}",
            own.table, own.table
        );
    }
    resolution.tables.extend(present);
    Ok(with_lake(resolution, index, own))
}

/// Whether the content is the cited one although its hash differs: a large file is hashed by its ends if only a sample of it is
/// read, and as a whole if all of it is.
fn matches_other_hash(dataset: &Dataset, lake: &Path, own: &OwnIdentifier) -> bool {
    // A record is hashed by its line.
    let Some(table) = dataset.table() else { return false };
    let Ok(path) = source::file_path(lake, &table.path) else { return false };
    if !source::is_hashed_by_ends(&path) {
        return false;
    }
    let other = if table.report.sample.is_some() { source::content_hash(&path) } else { source::ends_hash(&path) };
    other.is_ok_and(|hash| own.is_version(hash.as_bytes()))
}

/// Adds a note where the identifier names another lake.
fn with_lake(mut resolution: Resolution, index: &LakeIndex, own: &OwnIdentifier) -> Resolution {
    let here = &index.manifest().lake;
    if own.lake != *here {
        resolution
            .explanation
            .push_str(&format!("; it was cited from a lake called `{}`, this one is `{here}`", own.lake));
    }
    resolution
}

fn resolved(index: &LakeIndex, tables: &[TableRef], is_cited_version: bool) -> Result<Vec<ResolvedTable>> {
    let mut found = Vec::with_capacity(tables.len().min(MOST_REPORTED));
    for table in tables {
        let dataset = index.dataset(*table)?;
        let citation = Citation::of(&dataset, &index.manifest().lake);
        found.push(ResolvedTable {
            table: citation.table,
            title: citation.title,
            path: dataset.path().map(str::to_string),
            identifier: citation.identifier.to_string(),
            own: citation.own,
            version: version(dataset.content()),
            is_cited_version,
        });
        if found.len() == MOST_REPORTED {
            break;
        }
    }
    found.sort_by(|a, b| a.table.cmp(&b.table));
    Ok(found)
}

fn present(index: &LakeIndex, asked: &str, identifier: Option<&Identifier>, tables: &[TableRef]) -> Result<Resolution> {
    let found = resolved(index, tables, true)?;
    let explanation = match (identifier, found.len()) {
        (Some(identifier), 1) => format!("{identifier} is {}", listed(&found)),
        (Some(identifier), _) => {
            format!("{identifier} is {}: {}", counted(tables.len() as u64, "table"), listed(&found))
        }
        (None, _) => format!("{} of the catalogue", listed(&found)),
    };
    Ok(Resolution {
        asked: asked.to_string(),
        identifier: identifier.map(ToString::to_string),
        meaning: Meaning::Present,
        tables: found,
        cited_version: None,
        explanation,
        nearest: Vec::new(),
    })
}

fn unknown(index: &LakeIndex, asked: &str, identifier: Option<&Identifier>) -> Result<Resolution> {
    let mut names = Vec::with_capacity(index.len());
    let mut citations = Vec::new();
    let foreign = identifier.is_some_and(|identifier| !matches!(identifier, Identifier::Own(_)));
    for table in index.tables() {
        let store = &index.segment(table.segment)?.tables;
        if foreign {
            citations.push(store.citation(table.table)?);
        } else {
            names.push(store.id(table.table)?);
        }
    }
    names.extend(citations.iter().map(String::as_str));
    let name = match identifier {
        Some(Identifier::Own(own)) => own.table.clone(),
        Some(identifier) => identifier.to_string(),
        None => asked.to_string(),
    };
    let mut nearest = nearest_names(&name, names, SUGGESTED);
    if foreign {
        // All addresses of one resolver are similar, so only small differences count.
        nearest.retain(|other| strsim::levenshtein(other, &name) <= 3);
    }
    Ok(Resolution {
        asked: asked.to_string(),
        identifier: identifier.map(ToString::to_string),
        meaning: Meaning::Unknown,
        tables: Vec::new(),
        cited_version: match identifier {
            Some(Identifier::Own(own)) => own.hash.clone(),
            _ => None,
        },
        explanation: format!("`{asked}` is not in the catalogue"),
        nearest,
    })
}

/// The ids of the first few tables, as text.
fn listed(tables: &[ResolvedTable]) -> String {
    const SHOWN: usize = 5;
    let names: Vec<String> = tables.iter().take(SHOWN).map(|table| format!("`{}`", table.table)).collect();
    let more = tables.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}
