//! The facets of all segments as one dictionary.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use hashbrown::HashMap;

#[cfg(test)]
use super::Facets;
use super::alike::Alike;
use super::{Kind, known_year};
use crate::Segment;
use crate::open::{LakeIndex, TableRef};
use crate::table_set::TableSet;
use lakeward_core::error::Result;
use lakeward_core::respect::Respect;
use lakeward_lake::identifier::Identifier;

/// The position of a list of tables.
#[derive(Debug, Clone, Copy)]
struct List {
    segment: u32,
    start: u64,
    tables: u32,
}

/// The lists of one value, and the number of live tables in them.
#[derive(Debug, Default)]
struct Lists {
    lists: Vec<List>,
    tables: u32,
    /// Whether it separates records: another value exists under one of its fields.
    is_selective: bool,
}

/// The values of the records and tables of a lake, by role; field names are not kept. If a value is the only one of its field, it does not
/// separate records: it can be looked up, but is not among the [`values`](FacetIndex::values).
#[derive(Debug)]
pub struct FacetIndex {
    roles: BTreeMap<Respect, HashMap<Box<str>, Lists>>,
    cut_short: BTreeMap<Respect, Lists>,
    title_words: Vec<(Box<str>, u32)>,
    /// Live tables.
    all: TableSet,
    records: usize,
    has_years: bool,
    /// Values by what they mean, once asked for.
    pub(super) alike: OnceLock<Alike>,
}

impl FacetIndex {
    /// Reads the dictionaries of `segments`. Cost: one lookup per distinct value, and the lists of segments with removed tables.
    pub(crate) fn new(segments: &[Segment]) -> Result<Self> {
        let mut all = TableSet::empty(segments.iter().map(|segment| segment.tables.len()));
        for (place, segment) in segments.iter().enumerate() {
            for table in (0..segment.tables.len() as u32).filter(|table| segment.is_live(*table)) {
                all.insert(TableRef { segment: place as u32, table });
            }
        }
        let mut fields: BTreeMap<&str, HashMap<&str, Lists>> = BTreeMap::new();
        let mut cut_short: BTreeMap<Respect, Lists> = BTreeMap::new();
        let mut title_words: HashMap<&str, u32> = HashMap::new();
        for (place, segment) in segments.iter().enumerate() {
            for entry in 0..segment.facets.len() {
                let entry = segment.facets.entry(entry)?;
                let tables = match segment.has_removed() {
                    false => entry.tables,
                    true => {
                        let list = segment.facets.list(&entry)?;
                        list.iter().filter(|table| segment.is_live(**table)).count() as u32
                    }
                };
                if tables == 0 {
                    continue;
                }
                let lists = match entry.kind {
                    Kind::Value => fields.entry(entry.field).or_default().entry(entry.text).or_default(),
                    Kind::CutShort => cut_short.entry(Respect::of_field(entry.field)).or_default(),
                    Kind::TitleWord => {
                        *title_words.entry(entry.text).or_default() += tables;
                        continue;
                    }
                };
                lists.lists.push(List { segment: place as u32, start: entry.list_start, tables: entry.tables });
                lists.tables += tables;
            }
        }
        let mut index = FacetIndex {
            roles: BTreeMap::new(),
            cut_short,
            title_words: title_words.into_iter().map(|(word, tables)| (word.into(), tables)).collect(),
            records: all.len(),
            has_years: false,
            all,
            alike: OnceLock::new(),
        };
        index.title_words.sort_unstable();
        index.has_years = index.any_years(segments)?;
        let mut shared: BTreeSet<(Respect, &str)> = BTreeSet::new();
        for (field, values) in fields {
            let is_selective = values.len() > 1;
            let role = Respect::of_field(field);
            let of_role = index.roles.entry(role.clone()).or_default();
            for (value, lists) in values {
                match of_role.get_mut(value) {
                    Some(known) => {
                        known.lists.extend(lists.lists);
                        known.is_selective |= is_selective;
                        shared.insert((role.clone(), value));
                    }
                    None => _ = of_role.insert(value.into(), Lists { is_selective, ..lists }),
                }
            }
        }
        // A table may have a value under two fields of one role.
        let shared: Vec<(Respect, String)> =
            shared.into_iter().map(|(role, value)| (role, value.to_string())).collect();
        for (role, value) in shared {
            let tables = index.tables_with(segments, &role, &value)?.len() as u32;
            if let Some(lists) = index.roles.get_mut(&role).and_then(|values| values.get_mut(value.as_str())) {
                lists.tables = tables;
            }
        }
        Ok(index)
    }

    fn any_years(&self, segments: &[Segment]) -> Result<bool> {
        for (place, segment) in segments.iter().enumerate() {
            for (table, years) in segment.facets.all_years()?.iter().enumerate() {
                let table = TableRef { segment: place as u32, table: table as u32 };
                if years.iter().any(|year| known_year(*year).is_some()) && self.all.contains(table) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Every role with its number of values, by role.
    pub fn roles(&self) -> impl Iterator<Item = (&Respect, usize)> {
        let counted = |values: &HashMap<Box<str>, Lists>| values.values().filter(|lists| lists.is_selective).count();
        self.roles.iter().map(move |(role, values)| (role, counted(values))).filter(|(_, count)| *count > 0)
    }

    /// Every value with the number of tables and records that have it, by role and value.
    pub fn values(&self) -> impl Iterator<Item = (&Respect, &str, u32)> {
        self.roles.iter().flat_map(|(role, values)| {
            let informative = values.iter().filter(|(_, lists)| lists.is_selective);
            let mut sorted: Vec<(&str, u32)> = informative.map(|(value, lists)| (&**value, lists.tables)).collect();
            sorted.sort_unstable();
            sorted.into_iter().map(move |(value, tables)| (role, value, tables))
        })
    }

    /// The values of `role`, in no order.
    pub fn values_of(&self, role: &Respect) -> impl Iterator<Item = &str> {
        self.roles.get(role).into_iter().flat_map(|values| values.keys().map(|value| &**value))
    }

    /// The words of titles in lower case, each with the number of tables and records whose title has it, by word.
    pub fn title_words(&self) -> impl Iterator<Item = (&str, u32)> {
        self.title_words.iter().map(|(word, tables)| (&**word, *tables))
    }

    /// Number of tables and records.
    pub fn records(&self) -> usize {
        self.records
    }

    /// Whether any of them has known years.
    pub fn has_years(&self) -> bool {
        self.has_years
    }

    /// All tables and records.
    pub fn all(&self) -> &TableSet {
        &self.all
    }

    /// The empty set of tables, for this snapshot.
    pub fn none(&self) -> TableSet {
        let mut none = self.all.clone();
        none.clear();
        none
    }

    /// Number of tables and records with `value` in `role`; 0 if there are none.
    pub fn count(&self, role: &Respect, value: &str) -> u32 {
        self.roles.get(role).and_then(|values| values.get(value)).map_or(0, |lists| lists.tables)
    }

    fn tables_with(&self, segments: &[Segment], role: &Respect, value: &str) -> Result<TableSet> {
        let mut set = self.none();
        if let Some(lists) = self.roles.get(role).and_then(|values| values.get(value)) {
            self.add(segments, lists, &mut set)?;
        }
        Ok(set)
    }

    fn add(&self, segments: &[Segment], lists: &Lists, set: &mut TableSet) -> Result<()> {
        for list in &lists.lists {
            let segment = &segments[list.segment as usize];
            let tables = segment.facets.numbers(list.start, list.tables)?;
            if !segment.has_removed() {
                set.insert_numbers(list.segment, tables);
                continue;
            }
            for table in tables {
                let table = TableRef { segment: list.segment, table: *table };
                if self.all.contains(table) {
                    set.insert(table);
                }
            }
        }
        Ok(())
    }
}

impl LakeIndex {
    /// Adds to `set` the tables and records that have `value` in `role`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if an index file is damaged, as below.
    pub fn add_tables_with(&self, role: &Respect, value: &str, set: &mut TableSet) -> Result<()> {
        let facets = self.facets()?;
        match facets.roles.get(role).and_then(|values| values.get(value)) {
            Some(lists) => facets.add(self.segments(), lists, set),
            None => Ok(()),
        }
    }

    /// The tables and records whose list in `role` the publisher truncated: a value that is missing from the list may still apply.
    pub fn cut_short(&self, role: &Respect) -> Result<TableSet> {
        let facets = self.facets()?;
        let mut set = facets.none();
        if let Some(lists) = facets.cut_short.get(role) {
            facets.add(self.segments(), lists, &mut set)?;
        }
        Ok(set)
    }

    /// Calls `each` with every live table and record that has known years, in order: first and last year. If only one is known, it is used
    /// for both.
    pub fn for_each_years(&self, mut each: impl FnMut(TableRef, i32, i32)) -> Result<()> {
        for (place, segment) in self.segments().iter().enumerate() {
            for (table, years) in segment.facets.all_years()?.iter().enumerate() {
                let [first, last] = years.map(known_year);
                let (Some(first), Some(last)) = (first.or(last), last.or(first)) else { continue };
                let table = table as u32;
                if segment.is_live(table) {
                    each(TableRef { segment: place as u32, table }, first, last);
                }
            }
        }
        Ok(())
    }

    /// Adds the live tables and records to `set` whose years meet what is asked for: first and last year. A side that is not known is open:
    /// what begins in 1969 and is not said to end covers every year from then on.
    #[inline]
    pub fn add_tables_in_years(&self, set: &mut TableSet, meets: impl Fn(i32, i32) -> bool) -> Result<()> {
        for (place, segment) in self.segments().iter().enumerate() {
            set.insert_where(place as u32, segment.facets.all_years()?, |[first, last]| {
                let (first, last) = (known_year(*first), known_year(*last));
                let is_known = first.is_some() || last.is_some();
                is_known && meets(first.unwrap_or(i32::MIN), last.unwrap_or(i32::MAX))
            });
        }
        set.intersect(self.facets()?.all());
        Ok(())
    }

    /// The tables and records that are cited by `identifier`, or are at its address, in the order of segments. Cost: two lookups a segment,
    /// and each found is read.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn with_identifier(&self, identifier: &Identifier) -> Result<Vec<TableRef>> {
        let (mut cited, mut placed) = (Vec::new(), Vec::new());
        for (place, segment) in self.segments().iter().enumerate() {
            for table in segment.facets.with_identifier(identifier.key())? {
                if !segment.is_live(table) {
                    continue;
                }
                let dataset = segment.tables.dataset(table)?;
                let is_same = |text: &str| Identifier::of_publisher(text).key() == identifier.key();
                let mut others = dataset.metadata().into_iter().flat_map(|metadata| &metadata.identifiers);
                let is_cited = is_same(dataset.citation()) || others.any(|other| is_same(other));
                let list = if is_cited { &mut cited } else { &mut placed };
                list.push(TableRef { segment: place as u32, table });
            }
        }
        // The address may be a table's source and not its identifier.
        Ok(if cited.is_empty() { placed } else { cited })
    }

    /// First and last year covered by a table or record.
    pub fn years(&self, table: TableRef) -> Result<(Option<i32>, Option<i32>)> {
        let [first, last] = self.segment(table.segment)?.facets.stored_years(table.table)?.map(known_year);
        Ok((first, last))
    }
}

#[cfg(test)]
impl Facets {
    /// All stored facets as text.
    pub fn descriptions(&self) -> Vec<String> {
        let entries = (0..self.len()).map(|place| self.entry(place).unwrap());
        entries
            .map(|entry| format!("{:?} {} {}: {:?}", entry.kind, entry.field, entry.text, self.list(&entry).unwrap()))
            .collect()
    }
}
