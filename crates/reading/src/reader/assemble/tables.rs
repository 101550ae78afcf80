//! Tables that a turn wants beside the one at hand, and where a plan takes them up.

use lakeward_core::plan::{Plan, Step};
use lakeward_core::text::{is_function_word, lower_words, runs};

use super::Assembler;
use crate::reader::layout::Layout;
use crate::reader::span::{How, Role, Span};

/// A table that the analyst requests beside the one at hand.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestedTable {
    /// What for.
    pub how: How,
    /// The words that describe it.
    pub words: String,
    /// Its id, where the annotation has it.
    pub id: Option<String>,
    /// Words for the columns that are requested of it.
    pub columns: Vec<String>,
    /// Columns here that it must share.
    pub keys: Vec<String>,
}

impl RequestedTable {
    /// The same with the table that its columns are wanted of, where the words name one: "genre and country of the act", "the agency's city".
    pub fn of_owner(&self) -> Option<Self> {
        const OF: [&str; 4] = [" of ", " from ", " in ", " for "];
        let split = |phrase: &String| {
            let of = OF.iter().find_map(|of| phrase.split_once(of));
            let own =
                || ["'s ", "’s "].iter().find_map(|own| phrase.split_once(own)).map(|(owner, head)| (head, owner));
            of.or_else(own).map(|(head, owner)| (head.trim().to_string(), owner.trim().to_string()))
        };
        let owner = self.columns.iter().rev().find_map(split).map(|(_, owner)| owner)?;
        let owner = if self.words.is_empty() { owner } else { self.words.clone() };
        let head = |phrase: &String| split(phrase).map_or_else(|| phrase.clone(), |(head, _)| head);
        let columns: Vec<String> = self.columns.iter().map(head).collect();
        let is_said = |words: &String| lower_words(words).any(|word| !is_function_word(&word));
        (self.how == How::Join && columns.iter().all(is_said) && is_said(&owner)).then(|| Self {
            words: owner,
            columns,
            ..self.clone()
        })
    }
}

/// Puts a join or a union where it belongs: at the rows of the last level if nothing was computed of them, else on the result. Columns that the
/// plan keeps are those that it kept.
pub fn with_table(plan: &Plan, step: Step) -> Plan {
    let mut layout = Layout::of(plan);
    let is_join = matches!(step, Step::Join(_));
    let level = layout.last();
    let keeps_rows = level.limit.is_none() && level.top.is_none() && level.distinct.is_none();
    if is_join && level.group.is_some() && keeps_rows {
        level.after.push(step);
    } else if keeps_rows && level.group.is_none() {
        level.tables.push(step);
    } else if !is_join && let Some(first) = layout.levels.first_mut() {
        // Rows that are appended belong to what is counted, not to the counts.
        first.tables.push(step);
    } else {
        layout.on_result().tables.push(step);
    }
    layout.plan()
}

impl Assembler<'_> {
    /// Columns that the text spells as no words of a language are (`owner_id`), outside of all that was read.
    fn columns_spelt(&self) -> Vec<String> {
        let text = &self.reading.text;
        let inside = |word: &str| {
            let at = word.as_ptr() as usize - text.as_ptr() as usize;
            let is_read = |span: &Span| matches!(span.role, Role::Table | Role::Add) && span.bytes.contains(&at);
            self.reading.spans.iter().any(is_read)
        };
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let written = runs(text, is_name).filter(|word| word.contains('_') && !inside(word));
        let column = |word: &str| self.schema.columns.iter().find(|column| !column.of_result && column.name == word);
        written.filter_map(column).map(|column| column.name.clone()).collect()
    }

    pub(super) fn tables(&mut self) -> Vec<RequestedTable> {
        let adds: Vec<(usize, &Span)> = self.spans(Role::Add);
        let keys: Vec<(usize, &Span)> = self.spans(Role::Key);
        let mut key_names: Vec<String> = keys.iter().flat_map(|(_, span)| self.names(span)).collect();
        if key_names.is_empty() {
            key_names = self.columns_spelt();
        }
        let parts =
            |words: &str| words.split([',', ';']).flat_map(|part| part.split(" and ")).map(str::to_string).collect();
        let several = adds.iter().flat_map(|(_, span)| -> Vec<String> { parts(&span.words) });
        let columns: Vec<String> = several.filter(|words| !words.trim().is_empty()).collect();
        adds.iter().chain(&keys).for_each(|(place, _)| self.done[*place] = true);
        let mut requested: Vec<RequestedTable> = Vec::new();
        for (place, span) in self.spans(Role::Table) {
            self.done[place] = true;
            requested.push(RequestedTable {
                how: span.how,
                words: span.words.clone(),
                id: span.value.clone(),
                columns: if span.how == How::Join { columns.clone() } else { Vec::new() },
                keys: key_names.clone(),
            });
        }
        if !columns.is_empty() && !requested.iter().any(|table| table.how == How::Join) {
            // What is wanted from a table that nobody named.
            requested.push(RequestedTable { how: How::Join, words: String::new(), id: None, columns, keys: key_names });
        }
        requested
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_wanted_of_the_table_that_words_name() {
        let owned = |columns: &[&str]| {
            let columns = columns.iter().map(|column| column.to_string()).collect();
            let (words, id, keys) = (String::new(), None, Vec::new());
            let owned = RequestedTable { how: How::Join, words, id, columns, keys }.of_owner()?;
            Some(format!("{} | {}", owned.columns.join(", "), owned.words))
        };
        assert_eq!(owned(&["genre", "country of the act"]).as_deref(), Some("genre, country | the act"));
        assert_eq!(owned(&["the agency's city"]).as_deref(), Some("city | the agency"));
        assert_eq!(owned(&["members from acts"]).as_deref(), Some("members | acts"));
        assert_eq!(owned(&["population"]), None);
        assert_eq!(owned(&["name of the"]), None);
    }
}
