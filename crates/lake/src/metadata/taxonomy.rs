//! Subjects and organisations in levels, broadest first.
//!
//! Publishers write levels as one text (`Earth science > Hydrology`), as nested objects (`children`, or `parent`), or as a list whose
//! items name their parents by code. All become paths. A chain that comes back to itself is cut there and noted.

use std::collections::HashMap;

use serde_json::Value;

use super::clean;
use super::parts::{Unused, UnusedReason};
use super::value::{self, get, items};

/// What joins the levels of a path in a text.
pub(super) const JOINED: &str = " > ";
/// Most levels of a path.
const MOST_LEVELS: usize = 12;
/// Most paths of one record.
const MOST_PATHS: usize = 256;

/// The paths that `nodes` stand for, each once; what is left out of them is noted of `field`.
pub(super) fn paths(nodes: &[&Value], field: &str, unused: &mut Vec<Unused>) -> Vec<Vec<String>> {
    let mut levels = Levels { by_code: HashMap::new(), field, unused, found: Vec::new() };
    levels.list(nodes, 0);
    for node in nodes {
        let above = levels.above(node);
        levels.take(node, above);
    }
    levels.found
}

struct Levels<'v, 'u> {
    /// Items of the list, and below, by code.
    by_code: HashMap<String, &'v Value>,
    field: &'u str,
    unused: &'u mut Vec<Unused>,
    found: Vec<Vec<String>>,
}

impl<'v> Levels<'v, '_> {
    fn list(&mut self, nodes: &[&'v Value], depth: usize) {
        for node in nodes.iter().take(MOST_PATHS) {
            if let Some(code) = value::line(node, &["code", "id", "@id"]) {
                self.by_code.entry(code).or_insert(node);
            }
            if depth < MOST_LEVELS {
                let below: Vec<&Value> = children(node).collect();
                self.list(&below, depth + 1);
            }
        }
    }

    /// The names above `node`, broadest first.
    fn above(&mut self, node: &Value) -> Vec<String> {
        let (mut names, mut seen) = (Vec::new(), Vec::new());
        let mut node = node;
        while let Some(parent) = self.parent(node) {
            let name = name_of(parent);
            if seen.contains(&std::ptr::from_ref(parent)) || names.len() >= MOST_LEVELS {
                let cycle = seen.contains(&std::ptr::from_ref(parent));
                let reason = if cycle { UnusedReason::Cycle } else { UnusedReason::TooDeep };
                Unused::note(self.unused, self.field, reason, name.as_deref());
                break;
            }
            seen.push(std::ptr::from_ref(parent));
            names.extend(name);
            node = parent;
        }
        names.reverse();
        names
    }

    fn parent<'n>(&self, node: &'n Value) -> Option<&'n Value>
    where
        'v: 'n,
    {
        let written = get(node, &["parent", "broader", "parentOrganization"]);
        if written.is_object() {
            return Some(written);
        }
        let code = value::line(node, &["parentCode", "parentId", "parent_id", "pcode", "parent", "broader"])?;
        self.by_code.get(&code).copied()
    }

    fn take(&mut self, node: &Value, above: Vec<String>) {
        if self.found.len() >= MOST_PATHS || above.len() >= MOST_LEVELS {
            return Unused::note(self.unused, self.field, UnusedReason::TooDeep, None);
        }
        let mut path = above;
        let name = name_of(node);
        // In markup it separates nothing.
        let levels = |name: &String| match name.contains('<') {
            true => vec![clean::tag(name)],
            false => name.split('>').map(clean::tag).collect(),
        };
        path.extend(name.iter().flat_map(levels).filter(|level| !level.is_empty()));
        let before = path.len();
        // A level that names itself as the one above.
        path.dedup();
        if path.len() < before {
            Unused::note(self.unused, self.field, UnusedReason::Cycle, name.as_deref());
        }
        path.truncate(MOST_LEVELS);
        if !path.is_empty() && !self.found.contains(&path) {
            self.found.push(path.clone());
        }
        for child in children(node) {
            self.take(child, path.clone());
        }
    }
}

fn children(node: &Value) -> impl Iterator<Item = &Value> {
    let below = get(node, &["children", "child", "narrower", "subOrganization", "departments"]);
    items(below).filter(|child| child.is_object() || child.is_string())
}

/// The name of a level, in English where there is one.
fn name_of(node: &Value) -> Option<String> {
    let named = value::line(
        node,
        &["nameEn", "titleEn", "name", "organisationName", "prefLabel", "label", "title", "@value", "nameZh"],
    );
    named.or_else(|| node.as_str().map(clean::line)).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> (Vec<String>, Vec<UnusedReason>) {
        let mut unused = Vec::new();
        let found = paths(&items(value).collect::<Vec<_>>(), "taxonomy", &mut unused);
        (found.iter().map(|path| path.join("/")).collect(), unused.iter().map(|unused| unused.reason).collect())
    }

    #[test]
    fn levels_are_read_in_every_form() {
        let hydrology = ["Earth science", "Earth science/Hydrology"];
        for form in [
            json!([{"nameEn": "Earth science", "children": [{"nameEn": "Hydrology"}]}]),
            json!([{"code": 170, "nameEn": "Earth science"}, {"code": 17060, "parentCode": 170, "nameEn": "Hydrology"}]),
            json!(["Earth science", "Earth science > Hydrology"]),
            json!(["Earth science", {"name": "Hydrology", "parent": {"name": "Earth science"}}]),
        ] {
            assert_eq!(read(&form), (hydrology.map(str::to_string).to_vec(), vec![]), "{form}");
        }
    }

    #[test]
    fn a_cycle_is_cut_and_noted() {
        let (found, why) = read(
            &json!([{"code": "a", "name": "A", "parentCode": "b"}, {"code": "b", "name": "B", "parentCode": "a"}]),
        );
        assert!(!found.is_empty() && why.contains(&UnusedReason::Cycle), "{found:?} {why:?}");
        let (_, why) = read(&json!({"code": "a", "name": "A", "parentCode": "a"}));
        assert_eq!(why, [UnusedReason::Cycle]);
        let mut deep = json!({"name": "0"});
        for level in 1..100 {
            deep = json!({"name": level.to_string(), "children": [deep]});
        }
        let (found, why) = read(&deep);
        assert_eq!((found.len(), why), (MOST_LEVELS, vec![UnusedReason::TooDeep]));
    }
}
