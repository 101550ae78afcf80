//! What one record says in one respect.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::answer::in_order;
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::text::shown;

/// Characters of a title and of a value that are told.
const TITLE: usize = 160;
const VALUE: usize = 600;

/// A respect with the field that says it, and what each of the records says in it.
pub type Row = (Message, Vec<Message>);
/// Facts of one record that are told in lines.
const LINES: usize = 3;

/// What one record or table says in one respect, and where it says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct RecordFact {
    /// The id of the record or table.
    pub record: String,
    /// Its title.
    pub title: String,
    /// What it is cited by.
    pub citation: String,
    /// Where it is on the web, where its citation is no address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// In which respect: `licence`, `related works`.
    pub about: String,
    /// The field of the record that says it; none where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What it says; none where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

impl RecordFact {
    /// The value, or that there is none.
    pub fn statement(&self) -> Message {
        match &self.value {
            Some(value) => shown(value, VALUE).into(),
            None => message!("the record does not say"),
        }
    }

    /// What it is cited by and where it is.
    pub fn cited(&self) -> String {
        self.link.as_ref().map_or_else(|| self.citation.clone(), |link| format!("{} {link}", self.citation))
    }

    /// The fact in a line.
    pub fn line(&self) -> String {
        let field = self.field.as_ref().map(|field| format!(" (field `{field}`)")).unwrap_or_default();
        format!(
            "{} of {} [{}]: {}{field}",
            self.about,
            shown(&self.title, TITLE),
            shown(&self.cited(), TITLE),
            self.statement()
        )
    }

    /// The records that `facts` are of, and in each respect what each of them says; none where a few lines say it.
    pub fn table(facts: &[Self]) -> Option<(Vec<&Self>, Vec<Row>)> {
        let (mut records, mut respects): (Vec<&Self>, Vec<&str>) = Default::default();
        for fact in facts {
            if records.iter().all(|known| known.record != fact.record) {
                records.push(fact);
            }
            if !respects.contains(&fact.about.as_str()) {
                respects.push(&fact.about);
            }
        }
        if records.len() < 2 && respects.len() <= LINES {
            return None;
        }
        let rows = respects.into_iter().map(|about| {
            let of = |record: &Self| facts.iter().find(|fact| fact.about == about && fact.record == record.record);
            let said: Vec<Option<&Self>> = records.iter().map(|record| of(record)).collect();
            let mut fields: Vec<&str> = Vec::new();
            for field in said.iter().flatten().filter_map(|fact| fact.field.as_deref()) {
                if !fields.contains(&field) {
                    fields.push(field);
                }
            }
            let label = match fields.is_empty() {
                true => Message::name(about),
                false => message!("{} (`{}`)", Message::name(about), fields.join("`, `")),
            };
            (label, said.into_iter().map(|fact| fact.map(Self::statement).unwrap_or_default()).collect())
        });
        let rows = rows.collect();
        Some((records, rows))
    }
}
