//! The words of one snapshot's catalogue.

use std::sync::OnceLock;

use super::{Reader, Vocabulary};
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_core::request::Demand;
use lakeward_core::role::Role;
use lakeward_core::text::shown;
use lakeward_index::LakeIndex;
use lakeward_models::embed::StaticModel;

/// The words of a catalogue, read when they are first needed and shared by all agents over one snapshot.
#[derive(Default)]
pub struct CatalogueWords {
    read: OnceLock<Option<Vocabulary>>,
}

impl CatalogueWords {
    /// Those of the catalogue in `index`, the snapshot that this belongs to; `None` where it says nothing that could be asked for.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn of(&self, index: &LakeIndex) -> Result<Option<&Vocabulary>> {
        if let Some(read) = self.read.get() {
            return Ok(read.as_ref());
        }
        let read = Vocabulary::of_index(index)?;
        Ok(self.read.get_or_init(|| read).as_ref())
    }

    /// What reads turns against them; `None` where the catalogue says nothing that could be asked for.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn reader(&self, index: &LakeIndex) -> Result<Option<Reader<'_>>> {
        Ok(self.of(index)?.map(Self::reader_of))
    }

    fn reader_of(vocabulary: &Vocabulary) -> Reader<'_> {
        Reader::new(vocabulary, is_word)
    }

    /// What `words` demand in `role`, stated in turn `turn`.
    ///
    /// # Errors
    /// [`Error::Usage`] with the nearest name, where the catalogue has no such role, or no such value in it.
    pub fn demand(&self, index: &LakeIndex, role: &str, words: &str, turn: usize) -> Result<Demand> {
        let Some(vocabulary) = self.of(index)? else {
            return Err(Error::Usage("the catalogue says nothing by field that could be asked for".into()));
        };
        let known = Role::from(role.to_string());
        if let Some(demand) = Self::reader_of(vocabulary).look_up(&known, words, turn) {
            return Ok(demand);
        }
        let nearest = |of: &str, names: &mut dyn Iterator<Item = &str>| nearest_names(of, names, 1).into_iter().next();
        let advice =
            |nearest: Option<String>| nearest.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
        if vocabulary.has(&known) || known.name() == "period" {
            let near = nearest(words, &mut vocabulary.values_of(&known));
            return Err(Error::Usage(format!("no record has `{}` as {role}{}", shown(words, 80), advice(near))));
        }
        let roles: Vec<&str> = vocabulary.roles().map(Role::name).collect();
        let near = nearest(role, &mut roles.iter().copied());
        let all = near.map_or(format!("; there is {}", roles.join(", ")), |name| advice(Some(name)));
        Err(Error::Usage(format!("the catalogue says nothing of a `{}`{all}", shown(role, 40))))
    }
}

/// Whether the embedding model has a word whole: it is right as it is, though the catalogue does not have it.
fn is_word(word: &str) -> bool {
    let mut pieces = 0;
    StaticModel::builtin().tokens(word, |_| pieces += 1);
    pieces == 1
}
