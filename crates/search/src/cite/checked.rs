//! The gate that every answer passes before it is returned.
//!
//! Rankings and evidence come from the index and name only tables in it; a language model's text may name anything. The gate
//! looks each id up in the snapshot that was searched, and removes from a model's text what looks like the name of data and is
//! not in the catalogue. An answer that has passed is a [`Checked`], which only the gate can make: the user interfaces accept
//! only those.

use std::cell::{Cell, OnceCell};
use std::collections::HashSet;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use super::mention::{Kind, Mention, mentions, plain, replaced, shape};
use super::resolve::with_content;
use lakeward_core::error::{Error, Result};
use lakeward_index::LakeIndex;
use lakeward_lake::identifier::{Identifier, trimmed};
use lakeward_lake::source::Origin;

pub use super::mention::NOT_THERE;

/// Most shapes of names that are stored of a catalogue.
const MOST_SHAPES: usize = 4096;
/// Most identifiers of one text that are looked up; each lookup may scan every table.
const MOST_LOOKED_UP: usize = 8;

/// An answer that names tables or records of the catalogue.
pub trait NamesTables {
    /// Checks every id in it with the gate, and cleans every text that a model may have written. `false` if it is about a table
    /// that is not in the catalogue and must not be returned.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
    fn pass(&mut self, gate: &Gate<'_>) -> Result<bool>;
}

impl<T: NamesTables> NamesTables for Vec<T> {
    fn pass(&mut self, gate: &Gate<'_>) -> Result<bool> {
        let mut failed = None;
        let mut outside = 0;
        self.retain_mut(|answer| match answer.pass(gate) {
            Ok(is_there) => {
                outside += usize::from(!is_there);
                is_there
            }
            Err(error) => {
                failed.get_or_insert(error);
                false
            }
        });
        gate.count(outside);
        failed.map_or(Ok(true), Err)
    }
}

/// An answer that has passed the gate: every table it names is in the snapshot that was searched.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<T>(T);

impl<T> Checked<T> {
    /// The answer itself; later changes to it are not checked.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Serialize> Serialize for Checked<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for Checked<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<T> IntoIterator for Checked<Vec<T>> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Lets only names of one snapshot of a catalogue pass.
pub struct Gate<'a> {
    index: &'a LakeIndex,
    /// Shapes of table names, to distinguish them from words; gathered for the first text.
    shapes: OnceCell<HashSet<String>>,
    /// Number of things removed.
    taken: Cell<usize>,
}

impl<'a> Gate<'a> {
    /// The gate of `index`.
    pub fn new(index: &'a LakeIndex) -> Self {
        Self { index, shapes: OnceCell::new(), taken: Cell::new(0) }
    }

    /// Checks `answer` and removes what must not be returned.
    ///
    /// # Errors
    /// [`Error::Internal`] for an answer about a table that is not in the catalogue; [`Error::DamagedIndex`].
    pub fn admit<T: NamesTables>(&self, mut answer: T) -> Result<Checked<T>> {
        match answer.pass(self)? {
            true => Ok(Checked(answer)),
            false => Err(Error::Internal("an answer about a table that the catalogue does not have".into())),
        }
    }

    /// Whether there is a table or record of this id.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
    pub fn has(&self, id: &str) -> Result<bool> {
        Ok(self.index.get(id)?.is_some())
    }

    /// Number of things removed so far.
    pub fn taken(&self) -> usize {
        self.taken.get()
    }

    /// Adds to the number of things removed.
    pub fn count(&self, things: usize) {
        self.taken.set(self.taken.get() + things);
    }

    /// A text of a language model in which each apparent identifier or name of data that is not in the catalogue is replaced by a
    /// note ([`NOT_THERE`]). Names that occur in `grounds` are kept: texts by the program itself about the tables at hand, their
    /// columns and choices.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
    pub fn text(&self, text: &str, grounds: &[&str]) -> Result<String> {
        let shapes = self.shapes()?;
        let has_shape = |word: &str| shape(word).is_some_and(|shape| shapes.contains(&shape)) || self.has_folder(word);
        self.cleaned(text, grounds, mentions(text, &has_shape))
    }

    /// The same, but removes only identifiers: for texts of the program that quote a model.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub fn identifiers(&self, text: &str, grounds: &[&str]) -> Result<String> {
        let mut found = mentions(text, &|_| false);
        found.retain(|mention| mention.kind == Kind::Identifier);
        self.cleaned(text, grounds, found)
    }

    /// Whether [`text`](Self::text) would leave `text` unchanged. Removals in this check are not counted.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub fn admits_text(&self, text: &str, grounds: &[&str]) -> Result<bool> {
        let before = self.taken.get();
        let cleaned = self.text(text, grounds)?;
        self.taken.set(before);
        Ok(cleaned == text)
    }

    fn cleaned(&self, text: &str, grounds: &[&str], found: Vec<Mention>) -> Result<String> {
        let mut looked_up = 0;
        let mut unknown = Vec::new();
        for mention in found {
            let word = &text[mention.range.clone()];
            let inner = trimmed(word);
            let grounded = mention.kind != Kind::Disguised && grounds.iter().any(|ground| holds(ground, inner));
            if grounded || self.is_table_name(inner)? {
                continue;
            }
            let identifier =
                Identifier::parse(inner).filter(|_| mention.kind == Kind::Identifier && plain(inner) == inner);
            looked_up += usize::from(identifier.is_some());
            let known = match &identifier {
                Some(_) if looked_up > MOST_LOOKED_UP => false,
                Some(identifier) => self.knows(identifier)?,
                None => false,
            };
            if !known {
                unknown.push(mention.range);
            }
        }
        let (cleaned, taken) = replaced(text, &unknown);
        self.count(taken);
        Ok(cleaned)
    }

    /// Whether a table has this id or file, or an id or file with this last part.
    fn is_table_name(&self, name: &str) -> Result<bool> {
        if self.has(name)? {
            return Ok(true);
        }
        for table in self.index.tables() {
            let store = &self.index.segment(table.segment)?.tables;
            let is_last = |whole: &str| whole.rsplit('/').next() == Some(name);
            let is_origin = match store.origin(table.table)? {
                Origin::File(path) => path == name || is_last(path),
                record @ Origin::Record { .. } => record == Origin::read(name),
            };
            if is_origin || is_last(store.id(table.table)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a table of the catalogue carries `identifier` now.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
    pub fn knows(&self, identifier: &Identifier) -> Result<bool> {
        let Identifier::Own(own) = identifier else { return Ok(!self.index.with_identifier(identifier)?.is_empty()) };
        // Both must be right: an invented table with a true hash misleads, and so does the reverse.
        let Some(table) = self.index.get(&own.table)? else { return Ok(false) };
        Ok(own.hash.is_some() && with_content(self.index, own)?.contains(&table))
    }

    fn shapes(&self) -> Result<&HashSet<String>> {
        if let Some(shapes) = self.shapes.get() {
            return Ok(shapes);
        }
        let mut shapes = HashSet::new();
        for table in self.index.tables() {
            let id = self.index.id(table)?;
            for name in [Some(id), id.rsplit('/').next()].into_iter().flatten() {
                if shapes.len() < MOST_SHAPES {
                    shapes.extend(shape(name));
                }
            }
        }
        Ok(self.shapes.get_or_init(|| shapes))
    }

    /// Whether `word` is a path below a folder of the lake.
    fn has_folder(&self, word: &str) -> bool {
        let plain = plain(word);
        let Some((folder, rest)) = plain.split_once('/') else { return false };
        let inside = format!("{}/", folder.to_lowercase());
        let mut ids = self.index.tables().filter_map(|table| self.index.id(table).ok());
        !rest.is_empty() && !folder.is_empty() && ids.any(|id| id.to_lowercase().starts_with(&inside))
    }
}

/// Whether `ground` contains `name` as a whole word.
fn holds(ground: &str, name: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '/' | '@' | '-'));
    let whole = |at: usize| !part(ground[..at].chars().next_back()) && !part(ground[at + name.len()..].chars().next());
    !name.is_empty() && ground.match_indices(name).any(|(at, _)| whole(at))
}
