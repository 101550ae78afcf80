//! Ids of tables: their paths without extensions, as far as that tells them apart.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::LakeFile;
use super::format::{format_of, strip_compression};

/// The stable name of a table in its lake: its path without extensions, or with them where two files would share an id.
/// A copy of it costs nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema)]
pub struct TableId(#[schemars(with = "String")] Arc<str>);

impl TableId {
    /// Takes a text as an id without a check: read back from an index, or typed by a user.
    pub fn new(id: impl Into<String>) -> Self {
        TableId(id.into().into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for TableId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Serialize for TableId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for TableId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

impl fmt::Display for TableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One id per table, in the order given: the relative path without extensions, the full path where two would be equal.
pub fn assign_ids(files: &[LakeFile]) -> Vec<TableId> {
    let mut ids: Vec<String> = files.iter().map(|file| file.short_id.clone()).collect();
    // A lengthened id can equal another file's short one (`a.csv`, `a.tsv`, `a.csv.csv`), hence the loop.
    loop {
        let mut owners: HashMap<&str, Vec<usize>> = HashMap::new();
        ids.iter().enumerate().for_each(|(at, id)| owners.entry(id).or_default().push(at));
        let shared = owners.into_values().filter(|owners| owners.len() > 1).flatten();
        let mut lengthen: Vec<usize> = shared.filter(|&at| ids[at] != files[at].relative).collect();
        if lengthen.is_empty() {
            break;
        }
        lengthen.sort_unstable();
        lengthen.into_iter().for_each(|at| ids[at].clone_from(&files[at].relative));
    }
    number_repeats(ids).into_iter().map(TableId::new).collect()
}

/// Appends `~2`, `~3`, … to repeated ids: only file names that differ in escaped characters can still be equal here.
fn number_repeats(ids: Vec<String>) -> Vec<String> {
    let mut taken: HashSet<String> = ids.iter().cloned().collect();
    let mut seen: HashSet<String> = HashSet::new();
    ids.into_iter()
        .map(|id| {
            if seen.insert(id.clone()) {
                return id;
            }
            let fresh = (2..).map(|number| format!("{id}~{number}")).find(|name| !taken.contains(name));
            let fresh = fresh.unwrap_or(id);
            taken.insert(fresh.clone());
            fresh
        })
        .collect()
}

pub(super) fn short_id(relative: &str) -> &str {
    let (stem, _) = strip_compression(relative);
    let name_start = stem.rfind('/').map_or(0, |slash| slash + 1);
    match stem[name_start..].rfind('.') {
        Some(dot) if dot > 0 && format_of(&stem[name_start + dot + 1..].to_lowercase()).is_some() => {
            &stem[..name_start + dot]
        }
        _ => stem,
    }
}
