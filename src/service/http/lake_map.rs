//! A map of the lake: tables by topic, and what the searches say can be joined with them or appended to them.
//!
//! Topics are clusters of the tables' topic vectors by average linkage (Sokal and Michener, 1958), named by words of their titles. Links are
//! the answers of the join and the union search of each table, which are kept until the index changes.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::service::{Stop, mcp};
use lakeward::Lakeward;
use lakeward_core::error::Result;
use lakeward_core::text::{is_function_word, lower_words};
use lakeward_index::TableRef;

/// Tables of a map by default, and at most.
const TABLES: [usize; 2] = [80, 200];
/// Answers of each search that become links.
const ANSWERS: usize = 6;
/// Links at most, the strongest.
const MOST_LINKS: usize = 400;
/// Strength of the weakest link that is shown by default.
const LEAST: f64 = 0.5;
/// Time for reading tables that were not read before; the rest is told.
const BUDGET: Duration = Duration::from_secs(20);
/// Larger files are not read for a map.
const MOST_BYTES: u64 = 64 << 20;
/// Tables whose links are kept.
const MOST_KEPT: usize = 20_000;
/// Topics at most.
const MOST_TOPICS: usize = 12;

/// What a map shows.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct MapOf {
    /// Only tables about this, in plain words.
    #[serde(default)]
    pub about: String,
    /// Only this table and what it is linked with.
    #[serde(default)]
    pub table: String,
    /// Only these links.
    pub kind: Option<LinkKind>,
    /// Strength of the weakest link, 0..=1: 0.5 by default.
    pub least: Option<f64>,
    /// Tables: 80 by default, at most 200.
    pub k: Option<usize>,
}

/// How two tables go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// They share values of a key.
    Join,
    /// They have the same columns.
    Union,
}

/// A table on the map.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MapTable {
    /// Its id.
    pub table: String,
    /// Its title.
    pub title: String,
    /// Its rows; none for a record.
    pub rows: Option<u64>,
    /// Place of its topic.
    pub topic: usize,
}

/// Two tables that go together.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MapLink {
    /// How.
    pub kind: LinkKind,
    /// Places of the two tables.
    pub tables: [usize; 2],
    /// The score of the search, 0..=1.
    pub strength: f64,
    /// The columns it is about.
    pub on: String,
}

/// A map.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LakeMap {
    /// Tables and records of the lake.
    pub total: usize,
    /// Names of the topics.
    pub topics: Vec<String>,
    /// The tables, those of a topic together.
    pub tables: Vec<MapTable>,
    /// The links between them, the strongest first.
    pub links: Vec<MapLink>,
    /// Tables whose links are not known: they are large, cannot be read, or there was no time left.
    pub unread: usize,
}

/// What a table goes with: how, the other's id, strength, columns.
type Links = Arc<Vec<(LinkKind, String, f64, String)>>;

/// The links of tables, for one state of the index.
#[derive(Debug, Clone, Default)]
pub struct LakeMaps(Arc<Mutex<(u64, HashMap<String, Links>)>>);

impl LakeMaps {
    /// The map that `of` asks for.
    ///
    /// # Errors
    /// [`lakeward_core::Error::UnknownTable`] with the nearest ids; [`lakeward_core::Error::Interrupted`]; those of the searches.
    pub fn of(&self, lake: &Lakeward, stop: &Stop, of: &MapOf) -> Result<LakeMap> {
        let (index, until) = (lake.index(), Instant::now() + BUDGET);
        let most = of.k.unwrap_or(TABLES[0]).clamp(1, TABLES[1]);
        stop.begin("choosing tables");
        let mut ids: Vec<String> = Vec::new();
        if !of.table.trim().is_empty() {
            ids.push(mcp::table_id(lake, of.table.trim())?);
            let links = self.links(lake, &ids[0], until)?;
            ids.extend(links.iter().flat_map(|links| links.iter()).map(|(_, other, ..)| other.clone()));
        } else if !of.about.trim().is_empty() {
            ids.extend(lake.search(&of.about, most)?.iter().map(|answer| answer.table.clone()));
        } else {
            ids = index.tables().take(most).map(|table| index.id(table).map(str::to_string)).collect::<Result<_>>()?;
        }
        let mut seen = std::collections::HashSet::new();
        ids.retain(|id| seen.insert(id.clone()));
        ids.truncate(most);
        let places: Vec<TableRef> = ids.iter().map(|id| index.find(id)).collect::<Result<_>>()?;
        stop.begin("grouping them by topic");
        let mut map = grouped(lake, &ids, &places)?;
        stop.begin("looking for tables that go together");
        let at: HashMap<&str, usize> =
            map.tables.iter().enumerate().map(|(place, it)| (it.table.as_str(), place)).collect();
        let mut best: BTreeMap<(LinkKind, [usize; 2]), (f64, String)> = BTreeMap::new();
        for (place, table) in map.tables.iter().enumerate().filter(|(_, it)| it.rows.is_some()) {
            stop.check()?;
            let Some(links) = self.links(lake, &table.table, until)? else {
                map.unread += 1;
                continue;
            };
            for (kind, other, strength, on) in links.iter() {
                let Some(&other) = at.get(other.as_str()) else { continue };
                let known = best.entry((*kind, [place.min(other), place.max(other)])).or_insert((0.0, String::new()));
                if *strength > known.0 {
                    *known = (*strength, on.clone());
                }
            }
        }
        let is_shown = |kind: LinkKind, strength: f64| {
            of.kind.is_none_or(|only| only == kind) && strength >= of.least.unwrap_or(LEAST)
        };
        let links = best.into_iter().filter(|((kind, _), (strength, _))| is_shown(*kind, *strength));
        map.links = links.map(|((kind, tables), (strength, on))| MapLink { kind, tables, strength, on }).collect();
        map.links.sort_by(|a, b| b.strength.total_cmp(&a.strength).then(a.tables.cmp(&b.tables)));
        map.links.truncate(MOST_LINKS);
        Ok(map)
    }

    /// What the table goes with; `None` if it was not read before and cannot be now.
    fn links(&self, lake: &Lakeward, id: &str, until: Instant) -> Result<Option<Links>> {
        let generation = lake.index().manifest().generation;
        {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.0 != generation || kept.1.len() >= MOST_KEPT {
                *kept = (generation, HashMap::new());
            }
            if let Some(links) = kept.1.get(id) {
                return Ok(Some(Arc::clone(links)));
            }
        }
        let dataset = lake.index().dataset(lake.index().find(id)?)?;
        let small = dataset.table().is_some_and(|table| table.read_bytes <= MOST_BYTES);
        if !small || Instant::now() >= until {
            return Ok(None);
        }
        // A file that is gone or damaged since has no links; the page of the table says why.
        let Ok(query) = mcp::query_table(lake, id) else { return Ok(None) };
        let mut links = Vec::new();
        for found in lake.join(&query, &[], ANSWERS)?.answers.iter() {
            links.push((
                LinkKind::Join,
                found.table.clone(),
                found.score,
                format!("{} = {}", found.query_column, found.column),
            ));
        }
        for found in lake.union(&query, ANSWERS)?.iter() {
            let columns: Vec<&str> = found.alignment.iter().map(|pair| pair.query_column.as_str()).collect();
            links.push((LinkKind::Union, found.table.clone(), found.score, columns.join(", ")));
        }
        let links = Arc::new(links);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.0 == generation {
            kept.1.insert(id.to_string(), Arc::clone(&links));
        }
        Ok(Some(links))
    }
}

/// The tables by topic, without links.
fn grouped(lake: &Lakeward, ids: &[String], places: &[TableRef]) -> Result<LakeMap> {
    let index = lake.index();
    let (mut vectors, mut shown) = (Vec::new(), Vec::new());
    for (id, table) in ids.iter().zip(places) {
        let topics = &index.segment(table.segment)?.vectors.topics;
        let mut vector = vec![0.0; topics.dims()];
        topics.vector(table.table, &mut vector)?;
        vectors.push(vector);
        let dataset = index.dataset(*table)?;
        shown.push((id, dataset.title(), dataset.table().map(|table| table.profile.rows)));
    }
    let clusters = clusters(&vectors);
    let titles: Vec<&str> = shown.iter().map(|(_, title, _)| title.as_str()).collect();
    let topics = names(&titles, &clusters);
    let mut tables = Vec::with_capacity(ids.len());
    for (topic, members) in clusters.iter().enumerate() {
        tables.extend(members.iter().map(|&member| {
            let (id, title, rows) = &shown[member];
            MapTable { table: (*id).clone(), title: title.clone(), rows: *rows, topic }
        }));
    }
    Ok(LakeMap { total: index.len(), topics, tables, links: Vec::new(), unread: 0 })
}

/// Clusters of unit vectors, the largest first: the two of greatest mean cosine are put together until there are few; none takes
/// more than two and a half times its share.
fn clusters(vectors: &[Vec<f32>]) -> Vec<Vec<usize>> {
    let topics = (vectors.len() as f64).sqrt().round().clamp(1.0, MOST_TOPICS as f64) as usize;
    let largest = (vectors.len() as f64 / topics as f64 * 2.5).ceil() as usize;
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(x * y)).sum::<f64>();
    let mut likeness: Vec<Vec<f64>> = vectors.iter().map(|a| vectors.iter().map(|b| dot(a, b)).collect()).collect();
    let mut clusters: Vec<Vec<usize>> = (0..vectors.len()).map(|place| vec![place]).collect();
    while clusters.len() > topics {
        let mut best: Option<(f64, usize, usize)> = None;
        for a in 0..clusters.len() {
            for b in a + 1..clusters.len() {
                let fits = clusters[a].len() + clusters[b].len() <= largest;
                if fits && best.is_none_or(|(known, ..)| likeness[a][b] > known) {
                    best = Some((likeness[a][b], a, b));
                }
            }
        }
        let Some((_, a, b)) = best else { break };
        let sizes = [clusters[a].len() as f64, clusters[b].len() as f64];
        let mean = |(x, y): (&f64, &f64)| (sizes[0] * x + sizes[1] * y) / (sizes[0] + sizes[1]);
        let merged: Vec<f64> = likeness[a].iter().zip(&likeness[b]).map(mean).collect();
        likeness.iter_mut().zip(&merged).for_each(|(row, mean)| row[a] = *mean);
        likeness[a] = merged;
        let taken = clusters.remove(b);
        clusters[a].extend(taken);
        likeness.remove(b);
        for row in &mut likeness {
            row.remove(b);
        }
    }
    clusters.iter_mut().for_each(|members| members.sort_unstable());
    clusters.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    clusters
}

/// Each topic by the two words that most of its titles have and least of the others'.
fn names(titles: &[&str], clusters: &[Vec<usize>]) -> Vec<String> {
    let words = |title: &str| -> std::collections::BTreeSet<String> {
        lower_words(title)
            .filter(|word| word.chars().count() > 2 && !is_function_word(word) && word.contains(char::is_alphabetic))
            .collect()
    };
    let mut everywhere: HashMap<String, f64> = HashMap::new();
    titles.iter().flat_map(|title| words(title)).for_each(|word| *everywhere.entry(word).or_default() += 1.0);
    let name = |members: &Vec<usize>| {
        let mut counts: BTreeMap<String, f64> = BTreeMap::new();
        members
            .iter()
            .flat_map(|&member| words(titles[member]))
            .for_each(|word| *counts.entry(word).or_default() += 1.0);
        let mut scored: Vec<(f64, String)> = counts
            .into_iter()
            .map(|(word, count)| (count * count / everywhere.get(&word).copied().unwrap_or(1.0), word))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let best: Vec<String> = scored.into_iter().take(2).map(|(_, word)| word).collect();
        if best.is_empty() { "other".to_string() } else { best.join(", ") }
    };
    clusters.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_one_topic_are_put_together() {
        let vectors: Vec<Vec<f32>> = (0..9)
            .map(|place| (0..3).map(|part| if part == place % 3 { 1.0 } else { 0.01 * place as f32 }).collect())
            .collect();
        assert_eq!(clusters(&vectors), [[0, 3, 6], [1, 4, 7], [2, 5, 8]]);
        assert_eq!(clusters(&[]), Vec::<Vec<usize>>::new());
        let titles = ["Births by year", "Trains by line", "Births by city", "Trains"];
        assert_eq!(names(&titles, &[vec![0, 2], vec![1, 3]]), ["births, city", "trains, line"]);
    }
}
