//! Turns that speak of what was shown: one of the answers is taken or turned down, asked about, or more and fewer of them are wanted.

use std::sync::OnceLock;

use super::Agent;
use super::Request;
use super::reading::Reading;
use super::trace::Provenance;
use super::turn::Turned;
use crate::recommend::{RankedOperation, Recommendation};
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::request::{Act, Input};
use lakeward_core::text::shown;
use lakeward_lake::dataset::Dataset;
use lakeward_models::embed::{EmbedderExt, SentenceModel};
use lakeward_reading::reader::{Role, Span, TurnReading, number_said};
use lakeward_search::cite::Gate;

/// Characters of a value that is told.
const TOLD: usize = 300;
/// Answers that a question without a number is about.
const ASKED_ABOUT: usize = 3;

/// What a question about a dataset can be about, with what people mean by it.
const FIELDS: [(Field, &str); 9] = [
    (Field::Publisher, "who made it, who collected it, who publishes it, the source"),
    (Field::Licence, "licence, am I allowed to use, share or sell it, terms of use"),
    (Field::Format, "file format, which type of file, csv or excel"),
    (Field::Period, "which years it covers, how far back it goes, when it starts and ends"),
    (Field::Updated, "when it was last updated, whether it is still kept up, how often new figures come"),
    (Field::Size, "how big it is, how many rows and columns, how large is the file"),
    (Field::Description, "what it contains, what it is about, what a word or column means, how it was measured"),
    (Field::Citation, "how to cite it, reference, identifier, doi"),
    (Field::Link, "where to download it, link, web page, address"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Publisher,
    Licence,
    Format,
    Period,
    Updated,
    Size,
    Description,
    Citation,
    Link,
}

impl Field {
    /// The field that a question means: the one whose description is nearest in meaning.
    fn of(question: &str) -> Self {
        static MEANT: OnceLock<Vec<Vec<f32>>> = OnceLock::new();
        let model = SentenceModel::builtin();
        let meant = MEANT.get_or_init(|| FIELDS.iter().map(|(_, words)| model.embed(words)).collect());
        let asked = model.embed(question);
        let likeness = |meant: &Vec<f32>| meant.iter().zip(&asked).map(|(a, b)| a * b).sum::<f32>();
        let best = meant.iter().map(likeness).enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        best.map_or(Field::Description, |(place, _)| FIELDS[place].0)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Publisher => "publisher",
            Self::Licence => "licence",
            Self::Format => "format",
            Self::Period => "period",
            Self::Updated => "last change",
            Self::Size => "size",
            Self::Description => "description",
            Self::Citation => "citation",
            Self::Link => "link",
        }
    }

    /// What is known of it.
    fn told(self, dataset: &Dataset) -> Option<String> {
        let metadata = dataset.metadata();
        let text = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let facets = |names: &[&str]| {
            let fields = metadata.map(|metadata| metadata.fields(dataset.path()).0).unwrap_or_default();
            let said: Vec<&str> =
                fields.into_iter().filter(|(name, _)| names.contains(name)).map(|(_, value)| value).collect();
            (!said.is_empty()).then(|| said.join(", "))
        };
        match self {
            Self::Publisher => metadata
                .and_then(|metadata| text(&metadata.publisher))
                .or_else(|| facets(&["publisher", "author", "survey", "surveys", "source"])),
            Self::Licence => metadata.and_then(|metadata| text(&metadata.licence)),
            Self::Format => facets(&["format"]).or_else(|| Some(dataset.path()?.rsplit_once('.')?.1.to_uppercase())),
            Self::Period => {
                let years = |metadata: &lakeward_lake::metadata::TableMetadata| metadata.years();
                let told = metadata.map(years).filter(|(first, last)| first.is_some() || last.is_some());
                let covered = dataset.table().and_then(|table| table.profile.time.as_ref()).map(|time| time.years());
                let (first, last) = told.or(covered)?;
                let year = |year: Option<i32>| year.map_or_else(|| "?".to_string(), |year| year.to_string());
                Some(format!("{} to {}", year(first), year(last)))
            }
            Self::Updated => {
                let changed = metadata.and_then(|metadata| text(&metadata.modified).or_else(|| text(&metadata.issued)));
                let rhythm = facets(&["frequency", "status"]);
                match (changed, rhythm) {
                    (Some(changed), Some(rhythm)) => Some(format!("{changed} ({rhythm})")),
                    (changed, rhythm) => changed.or(rhythm),
                }
            }
            Self::Size => dataset
                .table()
                .map(|table| format!("{} rows, {} columns", table.profile.rows, table.profile.columns.len())),
            Self::Description => metadata.and_then(|metadata| text(&metadata.description)),
            Self::Citation => Some(dataset.citation().to_string()),
            Self::Link => {
                metadata.and_then(|metadata| text(&metadata.source_url).or_else(|| text(&metadata.identifier)))
            }
        }
    }
}

impl Agent<'_> {
    /// The answer to a turn that speaks of what was shown; none where it is a request like others.
    ///
    /// # Errors
    /// Those of [`Agent::turn`].
    pub(super) fn answer_shown(&self, session: &mut Session, reading: &Reading<'_>) -> Result<Option<Turned>> {
        let turn = &reading.turn;
        let Some(act) = turn.acts.first().filter(|act| turn.is_surely(**act)) else { return Ok(None) };
        let listed = session.listed();
        match act {
            Act::Pick | Act::Accept if !listed.is_empty() && reading.over.is_none() => {
                let id = named(turn, &listed).into_iter().next().unwrap_or_else(|| listed[0].clone());
                self.picked(session, reading, &id).map(Some)
            }
            Act::Ask | Act::Compare if !listed.is_empty() => {
                let mut about = named(turn, &listed);
                if about.is_empty() {
                    let most = if *act == Act::Compare { ASKED_ABOUT } else { 1 };
                    about = listed.into_iter().take(most).collect();
                }
                let notes = self.asked(&reading.request.text, &about)?;
                self.answer_with_notes(session, reading, notes).map(Some)
            }
            Act::Chat if turn.spans.is_empty() => {
                self.answer_with_notes(session, reading, vec!["nothing to look for in that".into()]).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// One of the answers is what is worked with from now on.
    fn picked(&self, session: &mut Session, reading: &Reading<'_>, id: &str) -> Result<Turned> {
        session.accept(id);
        let dataset = match self.index.get(id)? {
            Some(table) => self.index.dataset(table)?,
            None => {
                return self.answer_with_notes(session, reading, vec![format!("`{id}` is not in the lake any more")]);
            }
        };
        if dataset.is_record() {
            let note = format!("`{id}` is chosen; it is a record, its data is not in the lake: {}", dataset.citation());
            return self.answer_with_notes(session, reading, vec![note]);
        }
        session.use_table(Input::Table(id.to_string()));
        // What is said besides is said of it.
        let says_more = reading.turn.acts.len() > 1;
        let text = if says_more { reading.request.text.clone() } else { String::new() };
        let request = Request { text, table: Some(id.to_string()), column: None, k: reading.request.k };
        let answer = self.answer(session, &request, None)?;
        if let Some(turn) = session.turns.last_mut() {
            turn.text.clone_from(&reading.request.text);
        }
        Ok(answer)
    }

    /// What is known of datasets in the respect that a question asks for.
    fn asked(&self, question: &str, about: &[String]) -> Result<Vec<String>> {
        let field = Field::of(question);
        let mut notes = Vec::new();
        for id in about {
            let Some(table) = self.index.get(id)? else { continue };
            let dataset = self.index.dataset(table)?;
            let told = field.told(&dataset).map_or("the record does not say".to_string(), |told| shown(&told, TOLD));
            notes.push(format!("{} of {}: {told}", field.name(), shown(&dataset.title(), TOLD)));
        }
        Ok(notes)
    }

    /// An answer that searches nothing and proposes nothing.
    pub(super) fn answer_with_notes(
        &self,
        session: &mut Session,
        reading: &Reading<'_>,
        notes: Vec<String>,
    ) -> Result<Turned> {
        self.answer_with_operations(session, reading, Vec::new(), notes)
    }

    /// An answer that searches nothing and proposes what is given.
    pub(super) fn answer_with_operations(
        &self,
        session: &mut Session,
        reading: &Reading<'_>,
        operations: Vec<RankedOperation>,
        notes: Vec<String>,
    ) -> Result<Turned> {
        let recommendation = Recommendation {
            signals: reading.signals.clone(),
            spec: reading.spec(),
            tables: Vec::new(),
            operations,
            nothing_found: false,
            summary: Vec::new(),
            notes,
        };
        let recommendation = Gate::new(self.index).admit(recommendation)?;
        session.push_turn(&reading.request.text, &recommendation);
        Ok((recommendation, Provenance { lists: Vec::new(), run: None, model: None }))
    }
}

/// The answers that a turn turns down: those that it names, else all that were shown; none where it says what is wanted instead ("no, monthly
/// figures").
pub(super) fn turned_down(session: &Session, turn: &TurnReading) -> Vec<String> {
    let says_more = turn.acts.len() > 1;
    let wants = says_more || turn.spans.iter().any(|span| !span.unwanted && span.role != Role::Answer);
    if !turn.is_surely(Act::Reject) {
        return Vec::new();
    }
    let listed = session.listed();
    match named(turn, &listed) {
        named if !named.is_empty() => named,
        _ if wants => Vec::new(),
        _ => listed,
    }
}

/// The answers that a turn names by their numbers.
fn named(turn: &TurnReading, listed: &[String]) -> Vec<String> {
    let number = |span: &Span| {
        let said = span.number.or_else(|| number_said(&span.words).map(|number| number.value));
        let last = || span.words.to_lowercase().contains("last").then_some(listed.len() as f64);
        said.or_else(last)
    };
    let places = turn.of(Role::Answer).filter_map(number);
    places.filter_map(|place| listed.get((place as usize).checked_sub(1)?).cloned()).collect()
}
