//! What demands mean in a catalogue: words of a request become values that its records have.
//!
//! A demand whose words name a value filters the records. One that is only like a value changes their scores. One for
//! which the catalogue has nothing stays words to search by.

mod frequency;
mod spelling;
mod status;
mod vocabulary;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use crate::reader::{TurnReading, country_in, this_year, words};

use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_core::request::{Demand, Demanded};
use lakeward_core::respect::Respect;
use lakeward_core::text::{Stemmer, is_function_word, lower_words, shown};
use lakeward_index::LakeIndex;
use lakeward_models::embed::StaticModel;

pub(crate) use frequency::is_only_frequency;
pub use vocabulary::Vocabulary;
use vocabulary::{RoleAt, Stem};

/// What is named shares this much with a value (weighted Dice): see `Vocabulary::nearest`.
const ALIKE: f32 = 0.6;

/// The words of a catalogue, read when they are first needed and shared by all agents over one snapshot.
#[derive(Default)]
pub struct CatalogueWords {
    read: OnceLock<Option<Vocabulary>>,
    present_year: OnceLock<i32>,
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

    /// The year that "the last ten years" is counted from: the one that most records of the catalogue end in, else today's.
    pub fn present_year(&self, index: &LakeIndex) -> i32 {
        *self.present_year.get_or_init(|| {
            let today = this_year();
            let mut ends: HashMap<i32, usize> = HashMap::new();
            let counted = index.for_each_years(|_, _, last| {
                if last <= today {
                    *ends.entry(last).or_default() += 1;
                }
            });
            let most = ends.into_iter().max_by_key(|(year, records)| (*records, *year)).filter(|_| counted.is_ok());
            most.map_or(today, |(year, _)| year)
        })
    }

    /// What `words` demand in `role`, stated in turn `turn`.
    ///
    /// # Errors
    /// [`Error::Usage`] with the nearest name, where the catalogue has no such role, or no such value in it.
    pub fn demand(&self, index: &LakeIndex, role: &str, words: &str, turn: usize) -> Result<Demand> {
        let Some(vocabulary) = self.of(index)? else {
            return Err(Error::usage("the catalogue says nothing by field that could be asked for"));
        };
        let known = Respect::from(role.to_string());
        let said = Demand::in_words(known.clone(), words, turn);
        let grounded = match known {
            Respect::Period => crate::reader::period_demand(said),
            _ => vocabulary.grounded(said),
        };
        if grounded.role == known && grounded.value != Demanded::Words {
            return Ok(Demand { hard: true, filters: true, ..grounded });
        }
        let nearest = |of: &str, names: &mut dyn Iterator<Item = &str>| nearest_names(of, names, 1).into_iter().next();
        let advice =
            |nearest: Option<String>| nearest.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
        if vocabulary.has(&known) || known == Respect::Period {
            let near = nearest(words, &mut vocabulary.values_of(&known));
            return Err(Error::usage(format!("no record has `{}` as {role}{}", shown(words, 80), advice(near))));
        }
        let roles: Vec<&str> = vocabulary.roles().map(Respect::name).collect();
        let near = nearest(role, &mut roles.iter().copied());
        let all = near.map_or(format!("; there is {}", roles.join(", ")), |name| advice(Some(name)));
        Err(Error::usage(format!("the catalogue says nothing of a `{}`{all}", shown(role, 40))))
    }
}

impl Vocabulary {
    /// A demand with the values that it means here. A grain can be a dimension of the records, or how often they are released; what the
    /// data is about can be one of their subjects.
    pub fn grounded(&self, demand: Demand) -> Demand {
        if demand.value != Demanded::Words {
            return demand;
        }
        let frequency = || {
            let values = self.of_frequency(frequency::meant_by(&demand.said)?)?;
            Some((Respect::Frequency, vec![values.to_vec()], true))
        };
        let found = match &demand.role {
            Respect::Frequency => frequency(),
            Respect::Status => status::meant_by(&demand.said)
                .and_then(|status| self.of_status(status))
                .map(|values| (Respect::Status, vec![values.to_vec()], true)),
            Respect::Grain => Some(())
                .filter(|()| frequency::is_only_frequency(&demand.said))
                .and_then(|()| frequency())
                .or_else(|| self.in_role(&Respect::Dimension, &demand.said)),
            Respect::Column => {
                self.in_role(&Respect::Dimension, &demand.said).map(|(role, values, _)| (role, values, false))
            }
            Respect::Topic => [Respect::Subject, Respect::Source, Respect::Institution, Respect::Dimension]
                .iter()
                .find_map(|role| self.in_role(role, &demand.said).filter(|(.., whole)| *whole))
                .map(|(role, values, _)| (role, values, false)),
            // Words do not say whether it published the data or made it: which of the two it is, the catalogue says.
            Respect::Source => {
                let published = self.in_role(&Respect::Source, &demand.said);
                match published.as_ref().is_some_and(|(.., whole)| *whole) {
                    true => published,
                    false => {
                        let made = self.in_role(&Respect::Institution, &demand.said);
                        made.filter(|(.., whole)| *whole || published.is_none()).or(published)
                    }
                }
            }
            Respect::Place => self.in_role(&Respect::Place, &demand.said).or_else(|| {
                let (country, _) = country_in(&demand.said)?;
                self.in_role(&Respect::Place, country)
            }),
            role => self.in_role(role, &demand.said),
        };
        match found {
            // What only sounds alike is not refused.
            Some((.., false)) if demand.avoid => demand,
            Some((role, values, hard)) => Demand { role, value: Demanded::Values(values), hard, ..demand },
            None => demand,
        }
    }

    /// A turn with its spans as wide as the names of the catalogue that they touch: `Employment, Payrolls and Hours` is one name. Only names
    /// of several words count.
    pub fn with_names(&self, text: &str, mut reading: TurnReading) -> TurnReading {
        let words = words(text);
        let said: Vec<String> = words.iter().map(|word| text[word.bytes.clone()].to_lowercase()).collect();
        let mut stemmer = Stemmer::default();
        // Signs between words are none of theirs.
        let places: Vec<usize> = (0..words.len()).filter(|place| words[*place].is_word).collect();
        let stems: Vec<Option<Stem>> = places.iter().map(|place| self.mended(&said[*place], &mut stemmer)).collect();
        let content: Vec<bool> = places.iter().map(|place| !is_function_word(&said[*place])).collect();
        let mut names: Vec<(usize, Range<usize>)> = Vec::new();
        for role in [Respect::Source, Respect::Institution, Respect::Dimension, Respect::Subject, Respect::Place] {
            let Some(at) = self.role_at(&role) else { continue };
            for (from, to, _) in self.named(at, &stems, &content).0 {
                let bytes = words[places[from]].bytes.start..words[places[to - 1]].bytes.end;
                names.push((content[from..to].iter().filter(|content| **content).count(), bytes));
            }
        }
        // The longest first.
        names.sort_by_key(|(says, bytes)| Reverse((*says, bytes.len())));
        let mut taken: Vec<Range<usize>> = Vec::new();
        for (says, name) in names {
            let overlaps = |bytes: &Range<usize>| bytes.start < name.end && name.start < bytes.end;
            if says < 2 || taken.iter().any(overlaps) {
                continue;
            }
            let touched: Vec<usize> =
                (0..reading.spans.len()).filter(|at| overlaps(&reading.spans[*at].bytes)).collect();
            let (Some(first), Some(last)) = (touched.first(), touched.last()) else { continue };
            let bytes = reading.spans[*first].bytes.start.min(name.start)..reading.spans[*last].bytes.end.max(name.end);
            reading.spans[*first].words = text[bytes.clone()].to_string();
            reading.spans[*first].bytes = bytes;
            reading.spans.drain(first + 1..=*last);
            taken.push(name);
        }
        reading
    }

    /// The values of a role that words name, and whether the words name nothing else; the most alike where none is named outright.
    fn in_role(&self, role: &Respect, said: &str) -> Option<(Respect, Vec<Vec<String>>, bool)> {
        let at = self.role_at(role)?;
        let words: Vec<String> = lower_words(said).collect();
        let mut stemmer = Stemmer::default();
        let stems: Vec<Option<Stem>> = words.iter().map(|word| self.mended(word, &mut stemmer)).collect();
        let content: Vec<bool> = words.iter().map(|word| !is_function_word(word)).collect();
        let (named, whole) = self.named(at, &stems, &content);
        if !named.is_empty() {
            let values = |(from, to, thing): &(usize, usize, _)| self.values(*thing, &words[*from..*to].join(" "));
            return Some((role.clone(), named.iter().map(values).collect(), whole));
        }
        if let Some(thing) = self.abbreviated(at, said.trim().trim_matches('.')) {
            return Some((role.clone(), vec![self.values(thing, said)], true));
        }
        let asked: Vec<Option<Stem>> =
            stems.into_iter().zip(content).filter(|(_, content)| *content).map(|(stem, _)| stem).collect();
        let thing = self.nearest(at as RoleAt, &asked, ALIKE)?;
        Some((role.clone(), vec![self.values(thing, said)], false))
    }

    /// The stem of a word, mended where nobody knows the word as it is written.
    fn mended(&self, word: &str, stemmer: &mut Stemmer) -> Option<Stem> {
        if let Some(stem) = self.stem(stemmer.stem(word)) {
            return Some(stem);
        }
        if self.spelling().knows(word) || is_word(word) {
            return None;
        }
        let mended = self.spelling().mend(word)?.to_string();
        self.stem(stemmer.stem(&mended))
    }
}

/// Whether the embedding model has a word whole: it is right as it is, though the catalogue does not have it.
fn is_word(word: &str) -> bool {
    let mut pieces = 0;
    StaticModel::builtin().tokens(word, |_| pieces += 1);
    pieces == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::{Role as SpanRole, Span};

    fn vocabulary() -> Vocabulary {
        let values = [
            (Respect::Place, "Ontario"),
            (Respect::Place, "Prince Edward Island"),
            (Respect::Place, "British Columbia"),
            (Respect::Subject, "Crops"),
            (Respect::Subject, "Government finance"),
            (Respect::Source, "Labour Force Survey"),
            (Respect::Source, "Census"),
            (Respect::Institution, "Institute of Botany"),
            (Respect::Institution, "Census"),
            (Respect::Dimension, "Sex"),
            (Respect::Dimension, "Age group"),
            (Respect::Frequency, "Monthly"),
            (Respect::Frequency, "Annual"),
            (Respect::Status, "current"),
            (Respect::Status, "archived"),
        ];
        let values = values.into_iter().map(|(role, value)| (role, value.to_string(), 3));
        Vocabulary::new(values, std::iter::empty(), true)
    }

    fn grounded(role: Respect, said: &str) -> String {
        let found = vocabulary().grounded(Demand::in_words(role, said, 1));
        format!("{} {found}{}", found.role, if found.hard { "!" } else { "" })
    }

    #[test]
    fn spans_are_as_wide_as_the_names_they_touch() {
        let text = "from the Labour Force Survey, for crops in Ontario";
        let span = |words: &str, role| {
            let from = text.find(words).unwrap();
            Span::new(from..from + words.len(), words, role)
        };
        let read =
            vec![span("Labour", SpanRole::Publisher), span("Survey", SpanRole::Topic), span("crops", SpanRole::Topic)];
        let turn = TurnReading { spans: read, ..TurnReading::default() };
        let wider = vocabulary().with_names(text, turn.clone());
        let said: Vec<(&str, SpanRole)> = wider.spans.iter().map(|span| (span.words.as_str(), span.role)).collect();
        // What no span touches is not wanted, and one word is as it was read.
        assert_eq!(said, [("Labour Force Survey", SpanRole::Publisher), ("crops", SpanRole::Topic)]);
        let silent = TurnReading::default();
        assert_eq!(vocabulary().with_names(text, silent.clone()), silent);
    }

    #[test]
    fn words_become_values_of_the_catalogue() {
        for (role, said, expected) in [
            (Respect::Place, "ontario", "place Ontario!"),
            (Respect::Place, "Ontario and british columbia", "place Ontario and British Columbia!"),
            (Respect::Place, "PEI", "place Prince Edward Island!"),
            (Respect::Place, "Norway", "place Norway"),
            (Respect::Source, "the labor force survey", "source Labour Force Survey"),
            // Who made the data is read as who published it; what both are called so is the publisher.
            (Respect::Source, "the Institute of Botany", "institution Institute of Botany!"),
            (Respect::Source, "the census", "source Census!"),
            (Respect::Institution, "the census", "institution Census!"),
            (Respect::Grain, "monthly", "frequency Monthly!"),
            (Respect::Grain, "sex and age groups", "dimension Sex and Age group!"),
            (Respect::Topic, "crops", "subject Crops"),
            (Respect::Topic, "how many people farm", "topic how many people farm"),
            (Respect::Frequency, "every year", "frequency Annual!"),
            (Respect::Status, "still updated", "status current!"),
        ] {
            assert_eq!(grounded(role, said), expected, "{said}");
        }
    }
}
