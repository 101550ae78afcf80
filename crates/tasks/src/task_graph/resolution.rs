//! Which names mean the same dataset: positive verdicts are merged by union-find, the user's first, never against a user's veto.

use std::collections::{BTreeSet, HashMap};

use super::aliases::{Aliases, Meaning, MergeRule};
use super::dataset::DatasetRecord;
use super::names::{flat, trimmed_key};
use super::nearest::NearestNames;
use super::verdicts::{Decision, Named, Stage, VERSION, Verdict, Verdicts};

/// Candidates that a judge sees per name.
const JUDGED_CANDIDATES: usize = 3;
/// Maximum number of names sent to a judge in one build.
const MAX_JUDGED_NAMES: usize = 2_000;
/// Bytes of a description that a judge sees.
const DESCRIPTION_BYTES: usize = 600;

/// A name and the dataset it may mean.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeQuestion<'a> {
    /// The name as written in a document.
    pub name: &'a str,
    /// That document's description of it, or empty.
    pub said: &'a str,
    /// The title of the record.
    pub title: &'a str,
    /// Its description, truncated.
    pub description: &'a str,
}

/// Decides the names that the dictionary leaves open.
pub trait Judge {
    /// The model, its prompt and the prompt's version.
    fn id(&self) -> String;

    /// Whether the name means the dataset, and why; `None` without an answer, so that the next build asks again.
    fn decide(&self, question: &JudgeQuestion<'_>) -> Option<(Decision, String)>;
}

/// Names resolved to datasets.
#[derive(Debug, Default)]
pub struct Resolution {
    /// The union-find root of each element: records by position, then names.
    roots: Vec<usize>,
    records: usize,
    names: HashMap<String, usize>,
    /// All verdicts that were considered.
    pub verdicts: Verdicts,
}

impl Resolution {
    /// The dataset of a record.
    pub fn of_record(&self, place: usize) -> usize {
        self.roots[place]
    }

    /// The dataset of a name: below the number of records for a known dataset.
    pub fn of_name(&self, name: &str) -> Option<usize> {
        Some(self.roots[self.records + *self.names.get(name)?])
    }

    /// Resolves `names` (each once) against `datasets` and each other, also by what documents have `said`. Without `joins`, only the user's
    /// merges are applied.
    pub fn new(
        datasets: &[DatasetRecord],
        (names, said): (&BTreeSet<(String, String)>, Vec<Verdict>),
        lasting: &Verdicts,
        judge: Option<&dyn Judge>,
        joins: bool,
    ) -> Self {
        let mut descriptions: HashMap<&str, &str> = HashMap::new();
        let mut list: Vec<&str> = Vec::new();
        for (name, description) in names {
            descriptions.entry(name).or_insert(description);
            if list.last() != Some(&name.as_str()) {
                list.push(name);
            }
        }
        let mut verdicts = lasting.clone();
        if joins {
            Dictionary::new(datasets).judge_all(&list, &mut verdicts);
            for verdict in said {
                if verdicts.get(&verdict.a, &verdict.b, Stage::Dictionary).is_none() {
                    verdicts.put(verdict);
                }
            }
            if let Some(judge) = judge {
                ask_judge(datasets, (&list, &descriptions), judge, &mut verdicts);
            }
        }
        Self::of_verdicts(datasets, &list, verdicts, joins)
    }

    /// Applies `verdicts`; each of `names` occurs once. Without `joins`, only the user's merges are applied.
    pub fn of_verdicts(datasets: &[DatasetRecord], names: &[&str], verdicts: Verdicts, joins: bool) -> Self {
        let names = names.iter().enumerate().map(|(place, name)| ((*name).to_string(), place)).collect();
        let mut resolution = Self { roots: Vec::new(), records: datasets.len(), names, verdicts };
        resolution.join(datasets, joins);
        resolution
    }

    fn join(&mut self, datasets: &[DatasetRecord], joins: bool) {
        let records: HashMap<&str, usize> =
            datasets.iter().enumerate().map(|(place, record)| (record.id.as_str(), place)).collect();
        let place_of = |named: &Named| match named {
            Named::Record(id) => records.get(id.as_str()).copied(),
            Named::Name(name) => self.names.get(name.as_str()).map(|place| self.records + place),
        };
        let mut forest = Forest((0..self.records + self.names.len()).collect());
        let ends = |verdict: &Verdict| Some((place_of(&verdict.a)?, place_of(&verdict.b)?));
        let vetoes: Vec<(usize, usize)> = self
            .verdicts
            .iter()
            .filter(|verdict| verdict.stage == Stage::User && verdict.decision == Decision::Different)
            .filter_map(ends)
            .collect();
        for stage in [Stage::User, Stage::Dictionary, Stage::Judge] {
            let accepted = self.verdicts.iter().filter(|verdict| {
                verdict.stage == stage && verdict.decision == Decision::Same && (joins || stage == Stage::User)
            });
            for verdict in accepted {
                let Some((a, b)) = ends(verdict) else { continue };
                // Through names alone two records of a catalogue never become one.
                let of_names = matches!(verdict.a, Named::Name(_)) || matches!(verdict.b, Named::Name(_));
                let by_user = stage == Stage::User;
                if by_user || !of_names || forest.root(a) == forest.root(b) || !forest.are_records(a, b, self.records) {
                    forest.join(a, b, &vetoes);
                }
            }
        }
        self.roots = (0..forest.0.len()).map(|place| forest.root(place)).collect();
    }

    /// Whether the two sides of a verdict are now the same dataset.
    pub fn is_joined(&self, datasets: &[DatasetRecord], verdict: &Verdict) -> bool {
        let root = |named: &Named| match named {
            Named::Record(id) => {
                datasets.binary_search_by(|record| record.id.as_str().cmp(id)).ok().map(|place| self.roots[place])
            }
            Named::Name(name) => self.of_name(name),
        };
        matches!((root(&verdict.a), root(&verdict.b)), (Some(a), Some(b)) if a == b)
    }
}

/// Union-find; the root of a set is its smallest element, so that records come before names.
struct Forest(Vec<usize>);

impl Forest {
    fn root(&mut self, place: usize) -> usize {
        let mut root = place;
        while self.0[root] != root {
            root = self.0[root];
        }
        let mut at = place;
        while self.0[at] != root {
            at = std::mem::replace(&mut self.0[at], root);
        }
        root
    }

    /// Whether both sets have a record: the first `records` elements are records, and a root is the smallest of its set.
    fn are_records(&mut self, a: usize, b: usize, records: usize) -> bool {
        self.root(a) < records && self.root(b) < records
    }

    fn join(&mut self, a: usize, b: usize, vetoes: &[(usize, usize)]) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        for (one, other) in vetoes {
            let (one, other) = (self.root(*one), self.root(*other));
            if (one, other) == (a, b) || (one, other) == (b, a) {
                return;
            }
        }
        self.0[a.max(b)] = a.min(b);
    }
}

/// The dictionaries of the catalogue's records and of the lake's tables.
struct Dictionary<'a> {
    datasets: &'a [DatasetRecord],
    records: (Aliases, Vec<usize>),
    tables: (Aliases, Vec<usize>),
}

impl<'a> Dictionary<'a> {
    fn new(datasets: &'a [DatasetRecord]) -> Self {
        let of = |tables: bool| {
            let places: Vec<usize> = (0..datasets.len()).filter(|place| datasets[*place].is_table == tables).collect();
            let texts: Vec<String> = places.iter().map(|place| datasets[*place].text()).collect();
            let titles = places.iter().map(|place| datasets[*place].title.as_str());
            (Aliases::new(titles.zip(texts.iter().map(String::as_str))), places)
        };
        Self { datasets, records: of(false), tables: of(true) }
    }

    /// Adds the rules' verdicts about each name, and about tables with the same title as a record.
    fn judge_all(&self, names: &[&str], verdicts: &mut Verdicts) {
        // Names that match no record may still mean the same dataset as each other.
        let mut unknown: Vec<&str> = Vec::new();
        let mut by_key: HashMap<String, &str> = HashMap::new();
        for name in names {
            if self.judge(&Named::Name((*name).to_string()), name, verdicts) {
                continue;
            }
            let key = trimmed_key(name);
            if key.len() < 2 {
                continue;
            }
            match by_key.get(&key) {
                Some(first) => {
                    let rule = if flat(first) == flat(name) { MergeRule::Name } else { MergeRule::Trim };
                    let (a, b) = (Named::Name((*first).to_string()), Named::Name((*name).to_string()));
                    verdicts.put(by_rule(a, b, rule, Decision::Same));
                }
                None => {
                    by_key.insert(key, name);
                    unknown.push(name);
                }
            }
        }
        // Those that differ by more than that: without a maker's name, or one the initials of the other.
        let all = Aliases::new(unknown.iter().map(|name| (*name, *name)));
        for (place, name) in unknown.iter().enumerate() {
            if let Some((other, rule)) = all.other(place) {
                let (a, b) = (Named::Name((*name).to_string()), Named::Name(unknown[other].to_string()));
                verdicts.put(by_rule(a, b, rule, Decision::Same));
            }
        }
        let (aliases, places) = &self.records;
        for table in self.datasets.iter().filter(|dataset| dataset.is_table) {
            if let Meaning::One(record, MergeRule::Name) = aliases.meaning(&table.title) {
                let record = &self.datasets[places[record]];
                let (a, b) = (Named::Record(table.id.clone()), Named::Record(record.id.clone()));
                verdicts.put(by_rule(a, b, MergeRule::Name, Decision::Same));
            }
        }
    }

    /// Adds the verdicts about one name; returns whether any rule matched it.
    fn judge(&self, named: &Named, name: &str, verdicts: &mut Verdicts) -> bool {
        for (aliases, places) in [&self.records, &self.tables] {
            let record = |place: &usize| Named::Record(self.datasets[places[*place]].id.clone());
            match aliases.meaning(name) {
                Meaning::One(place, rule) => {
                    verdicts.put(by_rule(named.clone(), record(&place), rule, Decision::Same));
                    return true;
                }
                Meaning::Several(several, rule) => {
                    let unsure = |place| by_rule(named.clone(), record(place), rule, Decision::Unsure);
                    several.iter().take(JUDGED_CANDIDATES).for_each(|place| verdicts.put(unsure(place)));
                    return true;
                }
                Meaning::Unknown => {}
            }
        }
        false
    }
}

fn by_rule(a: Named, b: Named, rule: MergeRule, decision: Decision) -> Verdict {
    let sentence = match decision {
        Decision::Same => rule.says().to_string(),
        _ => format!("{}, but other datasets match the same way", rule.says()),
    };
    Verdict {
        version: VERSION,
        a,
        b,
        stage: Stage::Dictionary,
        decision,
        by: format!("rule {}@1", rule.name()),
        sentence,
    }
}

/// Asks the judge about the nearest datasets of each name that no rule has resolved.
fn ask_judge(
    datasets: &[DatasetRecord],
    (names, descriptions): (&[&str], &HashMap<&str, &str>),
    judge: &dyn Judge,
    verdicts: &mut Verdicts,
) {
    let joined: BTreeSet<String> = verdicts
        .iter()
        .filter(|verdict| verdict.decision == Decision::Same)
        .filter_map(|verdict| match (&verdict.a, &verdict.b) {
            (Named::Name(name), Named::Record(_)) | (Named::Record(_), Named::Name(name)) => Some(name.clone()),
            _ => None,
        })
        .collect();
    let open: Vec<&str> = names.iter().copied().filter(|name| !joined.contains(*name)).take(MAX_JUDGED_NAMES).collect();
    if open.is_empty() || datasets.is_empty() {
        return;
    }
    let texts: Vec<String> = datasets.iter().map(DatasetRecord::text).collect();
    let titles = datasets.iter().map(|record| record.title.as_str());
    let aliases = Aliases::new(titles.zip(texts.iter().map(String::as_str)));
    let nearest = NearestNames::new(&aliases, &texts);
    for name in open {
        for (place, _) in nearest.nearest(name, JUDGED_CANDIDATES) {
            let (a, b) = (Named::Name(name.to_string()), Named::Record(datasets[place].id.clone()));
            let known = verdicts.get(&a, &b, Stage::Judge).filter(|verdict| verdict.by == judge.id());
            let decision = match known {
                Some(verdict) => Some((verdict.decision, verdict.sentence.clone())),
                None => judge.decide(&JudgeQuestion {
                    name,
                    said: descriptions.get(name).copied().unwrap_or_default(),
                    title: &datasets[place].title,
                    description: &texts[place][..texts[place].floor_char_boundary(DESCRIPTION_BYTES)],
                }),
            };
            let Some((decision, sentence)) = decision else { continue };
            verdicts.put(Verdict { version: VERSION, a, b, stage: Stage::Judge, decision, by: judge.id(), sentence });
            if decision == Decision::Same {
                break;
            }
        }
    }
}
