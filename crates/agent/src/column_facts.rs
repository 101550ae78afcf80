//! Questions about a column or a code of the tables at hand, answered from what the publisher says of it, from its profile, and from the lists
//! that explain its codes.

use super::Agent;
use super::record_questions::is_question;
use super::scored::link_of;
use crate::recommend::RecordFact;
use crate::recommend::mentions::Phrases;
use crate::recommend::next_operations::listed;
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::plan::Plan;
use lakeward_core::request::Input;
use lakeward_core::text::{counted, lower_words, runs, words};
use lakeward_lake::dataset::Dataset;
use lakeward_lake::profile::ColumnProfile;
use lakeward_reading::fields::Field;

/// Values and meanings that are listed.
const MOST_LISTED: usize = 8;
/// A lake of more tables is not looked through for a column.
const MOST_TABLES: usize = 2_000;

/// What is known of a column or of one of its codes.
struct Known {
    fact: RecordFact,
    /// The column; none of a code.
    column: Option<String>,
    /// Whether the publisher or a list says what it means.
    is_explained: bool,
}

/// Whether a turn asks in a closed form what something means: `what does drv mean?`, `what's in the sev column?`.
pub(super) fn asks_for_a_meaning(text: &str) -> bool {
    let said: Vec<String> = lower_words(text).collect();
    let says = |word: &str| said.iter().any(|known| known == word);
    // "What is the mean of fare" asks for a figure.
    let does = said.iter().position(|word| matches!(word.as_str(), "does" | "do" | "did"));
    let does_mean = does.is_some_and(|does| said[does..].iter().any(|word| word == "mean"));
    let means = does_mean || says("meaning") || (says("what") && said.last().is_some_and(|last| last == "means"));
    let stands_for = said.windows(2).any(|two| two[0].starts_with("stand") && two[1] == "for");
    let is_of_column = said.last().is_some_and(|last| last == "column") && is_question(text) && !says("how");
    means || stands_for || is_of_column || said.first().is_some_and(|first| first == "explain")
}

/// Whether what a question asks for may be a column's.
pub(super) fn may_be_of_column(fields: &[Field]) -> bool {
    let Some(first) = fields.first() else { return true };
    matches!(first, Field::Description | Field::Columns | Field::Method | Field::Size | Field::Unused | Field::Title)
}

impl Agent<'_> {
    /// What is known of the columns of the tables `about` that a text names, and of codes of theirs that it spells; nothing where it names none.
    ///
    /// # Errors
    /// A damaged index.
    pub(super) fn column_facts(&self, session: &Session, text: &str, about: &[String]) -> Result<Vec<RecordFact>> {
        Ok(self.known_of_columns(session, text, about)?.into_iter().map(|known| known.fact).collect())
    }

    fn known_of_columns(&self, session: &Session, text: &str, about: &[String]) -> Result<Vec<Known>> {
        let phrases = Phrases::of(text);
        let mut facts = Vec::new();
        for id in about {
            let Some(at) = self.index.get(id)? else { continue };
            let dataset = self.index.dataset(at)?;
            let Some(table) = dataset.table() else { continue };
            let lists = self.lists_of(session, &Plan::of(Input::Table(id.clone())))?;
            let fact = |about: String, field: &str, value: String| RecordFact {
                record: id.clone(),
                title: dataset.title(),
                citation: dataset.citation().to_string(),
                link: link_of(&dataset),
                about,
                field: Some(field.to_string()),
                value: Some(value),
            };
            let columns = &table.profile.columns;
            for mention in phrases.columns(columns) {
                let column = &columns[mention.column];
                let meanings = lists.iter().find(|(explained, _)| *explained == column.name).map(|(_, list)| {
                    let listed =
                        list.meanings.iter().take(MOST_LISTED).map(|(meaning, code)| format!("{code}: {meaning}"));
                    format!("codes of `{}`: {}", list.table, listed.collect::<Vec<_>>().join(", "))
                });
                let is_explained = meanings.is_some() || description(&dataset, column).is_some();
                let value = described(&dataset, column).into_iter().chain(meanings).collect::<Vec<_>>().join("; ");
                let fact = fact(format!("column `{}`", column.name), "columns", value);
                facts.push(Known { fact, column: Some(column.name.clone()), is_explained });
            }
            for (column, list) in &lists {
                let spelt = |code: &String| words(text).any(|word| word == code);
                for (meaning, code) in list.meanings.iter().filter(|(_, code)| spelt(code)) {
                    let value = format!("{meaning} (`{}` of `{}`)", list.code, list.table);
                    let fact = fact(format!("`{code}` in column `{column}`"), "columns", value);
                    facts.push(Known { fact, column: None, is_explained: true });
                }
            }
        }
        Ok(facts)
    }

    /// What is known of the columns of the lake whose names a text spells as no word is written, `st_cd`: of the first table where that is said, else
    /// a sentence with the tables that have it.
    ///
    /// # Errors
    /// A damaged index.
    pub(super) fn facts_of_spelt_columns(
        &self,
        session: &Session,
        text: &str,
    ) -> Result<(Vec<RecordFact>, Vec<Message>)> {
        let (mut facts, mut notes) = (Vec::new(), Vec::new());
        if self.index.tables().count() > MOST_TABLES {
            return Ok((facts, notes));
        }
        for name in runs(text, |letter| letter == '_').filter(|name| name.trim_matches('_').contains('_')) {
            let mut with: Vec<String> = Vec::new();
            for table in self.index.tables() {
                let dataset = self.index.dataset(table)?;
                if dataset.columns().iter().any(|column| column.name.eq_ignore_ascii_case(name)) {
                    with.push(dataset.id().to_string());
                }
            }
            with.sort();
            let is_it = |known: &Known| {
                known.is_explained && known.column.as_ref().is_some_and(|column| column.eq_ignore_ascii_case(name))
            };
            let explained = self.known_of_columns(session, name, &with)?.into_iter().find(is_it);
            if explained.is_none() && !with.is_empty() {
                let tables = listed(&with.iter().take(MOST_LISTED).cloned().collect::<Vec<_>>());
                notes.push(message!("`{}` is a column of {}; nothing says what it means", name, tables));
            }
            facts.extend(explained.map(|known| known.fact));
        }
        Ok((facts, notes))
    }
}

/// What the publisher says of a column, in a clause.
fn description(dataset: &Dataset, column: &ColumnProfile) -> Option<String> {
    let said = dataset.metadata()?.columns.get(&column.name)?;
    let text = said.description.as_ref().or(said.title.as_ref())?;
    Some(text.trim().trim_end_matches('.').to_string())
}

/// What the publisher and the profile say of a column, a clause each.
fn described(dataset: &Dataset, column: &ColumnProfile) -> Vec<String> {
    let said = dataset.metadata().and_then(|metadata| metadata.columns.get(&column.name));
    let meaning = description(dataset, column);
    let mut clauses = vec![meaning.unwrap_or_else(|| "the publisher does not say what it means".into())];
    clauses.extend(said.and_then(|said| said.unit.as_ref()).map(|unit| format!("in {unit}")));
    let values = match (&column.min, &column.max) {
        (Some(min), Some(max)) => format!("from {min} to {max}"),
        _ => {
            let listed: Vec<&str> = column.top.iter().take(MOST_LISTED).map(|(value, _)| value.as_str()).collect();
            let more = if column.distinct > listed.len() as u64 { ", …" } else { "" };
            format!("{}: {}{more}", counted(column.distinct, "different value"), listed.join(", "))
        }
    };
    clauses.push(values);
    if column.missing > 0 {
        clauses.push(format!("missing in {} of {}", column.missing, counted(column.rows, "row")));
    }
    clauses
}

#[cfg(test)]
mod tests {
    use super::asks_for_a_meaning;

    #[test]
    fn meanings_are_asked_for_in_closed_forms() {
        for text in ["what does drv mean?", "what is in the sev column", "what does LP stand for?", "explain survived"]
        {
            assert!(asks_for_a_meaning(text), "{text}");
        }
        for text in ["the mean of fare by class", "drop the fare column", "what is the mean fare of each class?"] {
            assert!(!asks_for_a_meaning(text), "{text}");
        }
    }
}
