//! The reader that is a language model. One question shows it the plan and the tables at hand, what is wanted, what was shown and what is said;
//! the answer is what the built-in reader gives: acts, the plan after the turn, the demands after it. It is checked against closed sets and tried
//! in a preview, repaired once with what is wrong, and not used if it is wrong then.

use std::cell::Cell;
use std::fmt::Display;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Agent;
use super::known_columns::{AtHand, described};
use super::masked_values::{MaskedValues, has_pivot};
use super::readers::TurnToRead;
use super::spelt_out::ids_in;
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::plan::{Plan, Relation};
use lakeward_core::request::{Act, Demand, Demanded, Input, Intention, Label, OperationKind, RequestedYears};
use lakeward_core::respect::Respect;
use lakeward_core::text::{NameParts, lower_words};
use lakeward_models::llm::config::Share;
use lakeward_models::llm::quote::clean;
use lakeward_models::llm::{AnswerShape, LanguageModel, PromptUse, Refusal};
use lakeward_operate::{PreviewLimits, WarningKind, plan_preview, relation_columns};
use lakeward_reading::reader::{Role, SchemaColumn, Span, TurnReading};
use lakeward_search::join::ColumnPair;
use lakeward_search::{TableAnswers, TableRequest};

/// Characters of a request, of an earlier one, of a column's name and of a value that a model is told.
const REQUEST: usize = 1_500;
const EARLIER: usize = 300;
const NAME: usize = 80;
const VALUE: usize = 40;
/// Columns of a table of the plan, and of another one.
const COLUMNS: usize = 60;
const OTHER_COLUMNS: usize = 20;
/// Values of a column where these are all, and where they are examples.
const ALL_VALUES: usize = 12;
const SOME_VALUES: usize = 3;
/// Tables that the request finds, that share keys, that are alike.
const FOUND: usize = 5;
const WITH_KEYS: usize = 5;
const ALIKE: usize = 3;
/// Plans before the one at hand.
const EARLIER_PLANS: usize = 3;
/// Datasets shown last that a prompt lists.
const SHOWN: usize = 10;
/// Demands and unmet requests that are taken from an answer, and characters of one.
const MOST_DEMANDS: usize = 20;
const DEMAND: usize = 120;

/// A turn as a model reads it.
pub(super) struct ModelReading {
    /// What the analyst does, with the answers and numbers that are named.
    pub turn: TurnReading,
    pub operation: OperationKind,
    pub intention: Intention,
    /// What is wanted of datasets after the turn, as it is said.
    pub demands: Vec<Demand>,
    /// The plan after it, where there is a table at hand.
    pub written: Option<Written>,
}

/// A plan that a model wrote.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub plan: Plan,
    /// What was asked for and is not in it.
    pub missing: Vec<String>,
    /// What is uncertain about it, if anything is.
    pub unsure: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    acts: Vec<Act>,
    operation: OperationKind,
    intention: Intention,
    #[serde(default)]
    plan: Option<Relation>,
    #[serde(default)]
    missing: Vec<String>,
    #[serde(default)]
    unsure: Option<String>,
    #[serde(default)]
    wanted: Vec<ModelDemand>,
    #[serde(default)]
    answers: Vec<usize>,
    #[serde(default)]
    count: Option<usize>,
    #[serde(default)]
    steps: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelDemand {
    role: String,
    words: String,
    #[serde(default)]
    avoid: bool,
    #[serde(default)]
    from: Option<i32>,
    #[serde(default)]
    to: Option<i32>,
}

impl Agent<'_> {
    /// The turn as a model reads it; `None` where it gives no answer that holds.
    ///
    /// # Errors
    /// A damaged index, and whatever reading the tables of the plan reports.
    pub(super) fn read_by_model(
        &self,
        model: &LanguageModel<'_>,
        asked: &TurnToRead<'_>,
    ) -> Result<Option<ModelReading>> {
        let TurnToRead { session, text, plan, at_hand, .. } = *asked;
        let tables = match plan {
            Some(plan) => self.prompt_tables(session, text, plan, at_hand)?,
            None => Value::Array(Vec::new()),
        };
        let others = match plan {
            Some(plan) => self.other_tables(text, plan, at_hand)?,
            None => Vec::new(),
        };
        let earlier = session.steps.iter().filter(|step| !step.undone).map(|step| &step.plan);
        let mut earlier: Vec<&Plan> = earlier.filter(|earlier| Some(*earlier) != plan).collect();
        earlier.drain(..earlier.len().saturating_sub(EARLIER_PLANS));
        let roles = self.roles()?;
        let listed = session.listed();
        let said: Vec<String> = self.window(session).into_iter().map(|text| clean(text, EARLIER)).collect();
        let mut masked = MaskedValues::of(self.config.llm.share, said.iter().map(String::as_str).chain([text]));
        // Columns that a pivot makes are called as values are.
        if !self.shares_values() && plan.is_some_and(|plan| has_pivot(&plan.relation)) {
            return Ok(None);
        }
        let tellable = |plan: &&Plan| self.shares_values() || !has_pivot(&plan.relation);
        let earlier: Vec<Value> =
            earlier.into_iter().filter(tellable).map(|plan| masked.relation(&plan.relation)).collect();
        let proposed = session.pending().pop().filter(tellable);
        let proposed = proposed.map_or(Value::Null, |plan| masked.relation(&plan.relation));
        let current = plan.map_or(Value::Null, |plan| masked.relation(&plan.relation));
        let values = [
            ("roles", json!(roles)),
            ("year", json!(self.words.present_year(self.index))),
            ("tables", tables),
            ("others", json!(others.iter().map(|(_, table)| table).collect::<Vec<_>>())),
            ("wanted", json!(session.demands.iter().map(prompt_demand).collect::<Vec<_>>())),
            ("shown", self.prompt_shown(&listed)?),
            ("conversation", json!(said)),
            ("earlier_plans", Value::Array(earlier)),
            ("plan", current),
            ("proposed", proposed),
            ("request", json!(clean(text, REQUEST))),
        ];
        let known = Known { session, plan, others, roles, masked, shown: listed.len(), tried: Cell::new(false) };
        let shape = AnswerShape { name: "reading", schema: schema(), max_tokens: 1_500 };
        let answer = model.ask(PromptUse::Read, &values, shape, |answer: Answer| self.checked(&known, answer));
        Ok(answer.ok().map(|answer| answer.reading(session, self.trust_in_reading())))
    }

    /// An answer whose plan names only what is there, runs, and leaves something; an empty result passes the second time.
    fn checked(&self, known: &Known<'_>, mut answer: Answer) -> Result<Answer, Refusal> {
        if !(1..=2).contains(&answer.acts.len()) {
            return Err(Refusal::new("acts are one or two"));
        }
        if let Some(demand) = answer.wanted.iter().find(|demand| !known.roles.contains(&demand.role)) {
            return Err(Refusal { problem: format!("`{}` is no role", demand.role), valid: known.roles.clone() });
        }
        if answer.answers.iter().any(|number| !(1..=known.shown).contains(number)) {
            return Err(Refusal::new(format!("answers are numbers of the {} datasets shown", known.shown)));
        }
        let Some(relation) = answer.plan.take() else { return Ok(answer) };
        let relation = answer.plan.insert(known.masked.unmasked(relation)?);
        if known.plan.is_none() {
            return Err(Refusal::new("there is no table at hand: plan is null"));
        }
        let plan = Plan::from(relation.clone());
        plan.check().map_err(|error| Refusal::new(error.to_string()))?;
        let of_plan: Vec<&Input> = known.plan.into_iter().flat_map(Plan::inputs).collect();
        for input in plan.inputs() {
            let is_other = input.table().is_some_and(|id| known.others.iter().any(|(other, _)| other == id));
            if !is_other && !of_plan.contains(&input) {
                let mut valid: Vec<String> = of_plan.iter().map(ToString::to_string).collect();
                valid.extend(known.others.iter().map(|(id, _)| id.clone()));
                return Err(Refusal { problem: format!("{input} is none of the tables given"), valid });
            }
        }
        let refused = |problem: &dyn Display| Refusal::new(format!("the plan cannot stand: {problem}"));
        let context = self.connected(known.session).map_err(|error| refused(&error))?;
        // What is wrong with names and types is told; what fails on the rows may quote them.
        relation_columns(context, &plan.relation).map_err(|error| refused(&error))?;
        let first = !known.tried.replace(true);
        let (problem, without_values) = match plan_preview(context, &plan, &PreviewLimits::default()) {
            Ok(preview) => match (preview.stopped, preview.warnings) {
                (Some(stopped), _) => (Some(stopped), "it takes too long"),
                (None, warnings) => {
                    let empty = warnings.into_iter().find(|warning| warning.kind == WarningKind::NothingLeft);
                    (empty.map(|warning| warning.text).filter(|_| first), "no row is left")
                }
            },
            Err(error) => (Some(error.to_string()), "it fails on the rows of the table"),
        };
        match problem {
            None => Ok(answer),
            Some(problem) if self.shares_values() => Err(refused(&problem)),
            Some(_) => Err(refused(&without_values)),
        }
    }

    /// The tables that a plan reads with their columns, and the columns of its result.
    fn prompt_tables(&self, session: &Session, text: &str, plan: &Plan, at_hand: Option<AtHand<'_>>) -> Result<Value> {
        let known = self.known_columns(session, plan, at_hand)?;
        let values = self.shares_values();
        let mut tables: Vec<Value> = Vec::new();
        for (input, known) in plan.inputs().into_iter().zip(&known) {
            tables.push(json!({"source": input, "columns": prompt_columns(known.columns(), text, COLUMNS, values)}));
        }
        if !plan.relation.steps.is_empty() {
            let columns = relation_columns(self.connected(session)?, &plan.relation)?;
            let columns: Vec<SchemaColumn> = columns.iter().map(|column| described(column, &known)).collect();
            tables.push(json!({"result": true, "columns": prompt_columns(&columns, text, COLUMNS, false)}));
        }
        Ok(Value::Array(tables))
    }

    /// Further tables that the request may speak of, by their ids: those that it names, that a search for it finds, that share keys with the
    /// table at hand, that are like it.
    fn other_tables(&self, text: &str, plan: &Plan, at_hand: Option<AtHand<'_>>) -> Result<Vec<(String, Value)>> {
        let mut ids: Vec<(String, Vec<String>)> =
            ids_in(self.index, text, plan)?.into_iter().map(|(_, id)| (id, Vec::new())).collect();
        if let Some(found) = self.searched(text)? {
            ids.extend(found.answers.into_iter().take(FOUND).map(|answer| (answer.table, Vec::new())));
        }
        if let Some(at_hand) = at_hand {
            let request = TableRequest { query: at_hand.table, column: None, depth: WITH_KEYS.max(ALIKE) };
            let answers = TableAnswers::of(self.index, self.lake, &request, &self.ranking)?;
            for answer in answers.joined().iter().take(WITH_KEYS) {
                let key = |on: &ColumnPair| format!("{} = {}", on.query_column, on.column);
                ids.push((answer.table.clone(), answer.on.iter().map(key).collect()));
            }
            ids.extend(answers.aligned().iter().take(ALIKE).map(|answer| (answer.table.clone(), Vec::new())));
        }
        let values = self.shares_values();
        let mut others: Vec<(String, Value)> = Vec::new();
        for (id, keys) in ids {
            if let Some((_, known)) = others.iter_mut().find(|(known, _)| *known == id) {
                if !keys.is_empty() && known.get("shares").is_none() {
                    known["shares"] = json!(keys);
                }
                continue;
            }
            let is_in = plan.tables().any(|known| known == id);
            let Some(table) = self.index.get(&id)?.filter(|_| !is_in) else { continue };
            let dataset = self.index.dataset(table)?;
            let Some(entry) = dataset.table() else { continue };
            let mut known = json!({
                "table": id,
                "rows": entry.profile.rows,
                "columns": prompt_columns(&self.columns_of(&id)?, text, OTHER_COLUMNS, values),
            });
            let title = clean(&dataset.title(), NAME);
            if !title.is_empty() && !id.ends_with(&title) {
                known["title"] = json!(title);
            }
            if !keys.is_empty() {
                known["shares"] = json!(keys);
            }
            others.push((id, known));
        }
        Ok(others)
    }

    /// The datasets shown last, as a prompt lists them.
    fn prompt_shown(&self, listed: &[String]) -> Result<Value> {
        let mut shown = Vec::new();
        for (number, id) in (1..).zip(listed.iter().take(SHOWN)) {
            let Some(table) = self.index.get(id)? else { continue };
            shown.push(json!({"number": number, "title": clean(&self.index.dataset(table)?.title(), NAME)}));
        }
        Ok(Value::Array(shown))
    }

    /// What datasets can be wanted by: what every request can say, and what the catalogue has fields for.
    fn roles(&self) -> Result<Vec<String>> {
        let always = [
            Respect::Topic,
            Respect::Place,
            Respect::Period,
            Respect::Grain,
            Respect::Column,
            Respect::Source,
            Respect::Format,
            Respect::Frequency,
            Respect::Licence,
            Respect::Status,
        ];
        let mut roles: Vec<String> = always.iter().map(|role| role.name().to_string()).collect();
        for role in self.words.of(self.index)?.into_iter().flat_map(|vocabulary| vocabulary.roles()) {
            // Fields that the publishers named themselves stay out: their names are text of the catalogue.
            if !matches!(role, Respect::Other(_)) && !roles.iter().any(|known| known == role.name()) {
                roles.push(role.name().to_string());
            }
        }
        Ok(roles)
    }

    /// Whether the model may see values of cells.
    fn shares_values(&self) -> bool {
        self.config.llm.share == Share::Values
    }
}

/// What an answer is checked against.
struct Known<'k> {
    session: &'k Session,
    plan: Option<&'k Plan>,
    /// Further tables by id, as a prompt describes each.
    others: Vec<(String, Value)>,
    roles: Vec<String>,
    /// What stands for values in the plans it was shown.
    masked: MaskedValues,
    /// How many datasets are shown.
    shown: usize,
    /// Whether a plan was tried before.
    tried: Cell<bool>,
}

impl Answer {
    /// The reading of a model that is trusted as far as `trust`: acts that have effects need more than a model of which nothing is known.
    fn reading(self, session: &Session, trust: f64) -> ModelReading {
        let numbered = |role: Role, number: usize| Span {
            number: Some(number as f64),
            ..Span::new(0..0, number.to_string(), role)
        };
        let has_plan = self.plan.is_some();
        let mut spans: Vec<Span> = self.answers.iter().map(|number| numbered(Role::Answer, *number)).collect();
        spans.extend(self.count.filter(|_| !has_plan).map(|count| numbered(Role::Limit, count)));
        spans.extend(self.steps.map(|steps| numbered(Role::Steps, steps)));
        let turn = TurnReading { acts: self.acts, confidence: trust as f32, spans, ..TurnReading::default() };
        let number = session.next_turn();
        let stated = self.wanted.into_iter().filter(|demand| lower_words(&demand.words).next().is_some());
        let demands = stated.take(MOST_DEMANDS).map(|demand| demand.resolved(&session.demands, number)).collect();
        let written = self.plan.map(|relation| Written {
            plan: relation.into(),
            missing: self.missing.iter().take(MOST_DEMANDS).map(|words| clean(words, DEMAND)).collect(),
            unsure: self.unsure.map(|words| clean(&words, DEMAND)).filter(|words| !words.is_empty()),
        });
        ModelReading { turn, operation: self.operation, intention: self.intention, demands, written }
    }
}

impl ModelDemand {
    /// The demand: one in force where it says the same.
    fn resolved(self, before: &[Demand], turn: usize) -> Demand {
        let role = Respect::from(self.role);
        let words = clean(&self.words, DEMAND);
        let same = |known: &&Demand| {
            known.role == role && known.avoid == self.avoid && known.said.to_lowercase() == words.to_lowercase()
        };
        if let Some(known) = before.iter().find(same) {
            return known.clone();
        }
        let years = match (self.from, self.to) {
            (Some(from), Some(to)) => Some(RequestedYears::Cover { from: from.min(to), to: from.max(to) }),
            (Some(from), None) => Some(RequestedYears::StartsIn(from)),
            (None, Some(to)) => Some(RequestedYears::EndsIn(to)),
            (None, None) => None,
        };
        let demand = Demand { avoid: self.avoid, ..Demand::in_words(role, words, turn) };
        match years.filter(|_| demand.role == Respect::Period) {
            Some(years) => Demand { value: Demanded::Period(years), hard: true, ..demand },
            None => demand,
        }
    }
}

fn prompt_demand(demand: &Demand) -> Value {
    let mut item = json!({"role": demand.role.name(), "words": clean(&demand.said, DEMAND), "avoid": demand.avoid});
    if let Demanded::Period(years) = demand.value {
        let (from, to) = years.bounds();
        item["from"] = json!(from);
        item["to"] = json!(to);
    }
    item
}

/// Columns as a prompt lists them, `name: type` with values or range where these may be shared; of a very wide table those that the
/// request may speak of.
fn prompt_columns(columns: &[SchemaColumn], text: &str, most: usize, values: bool) -> Vec<String> {
    let mut places: Vec<usize> = (0..columns.len()).collect();
    if columns.len() > most {
        let said: Vec<NameParts> = lower_words(text).map(|word| NameParts::of(&word)).collect();
        let likeness = |place: &usize| {
            let name = NameParts::of(&columns[*place].name);
            said.iter().map(|word| word.likeness(&name)).fold(0.0, f64::max)
        };
        places.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)).then(a.cmp(b)));
        places.truncate(most);
        places.sort_unstable();
    }
    places.into_iter().map(|place| prompt_column(&columns[place], values)).collect()
}

fn prompt_column(column: &SchemaColumn, values: bool) -> String {
    let mut line = format!("{}: {}", clean(&column.name, NAME), column.kind.word());
    if !values {
        return line;
    }
    if let Some((least, greatest)) = column.range.filter(|_| column.kind.is_number()) {
        line.push_str(&format!(" {least}..{greatest}"));
    }
    let shown = if column.complete { ALL_VALUES } else { SOME_VALUES };
    let few: Vec<String> = column.values.iter().take(shown).map(|value| clean(value, VALUE)).collect();
    if !few.is_empty() {
        line.push_str(if column.complete { " = " } else { " such as " });
        line.push_str(&few.join(" | "));
    }
    line
}

/// The shape of an answer; a plan is any object here, and checked when it is there.
fn schema() -> Value {
    let names = |all: Vec<&str>| json!({"type": "string", "enum": all});
    let acts = names(Act::ALL.iter().map(|act| act.name()).collect());
    let maybe = |kind: &str| json!({"type": [kind, "null"]});
    let demand = json!({
        "type": "object",
        "properties": {
            "role": {"type": "string"},
            "words": {"type": "string"},
            "avoid": {"type": "boolean"},
            "from": maybe("integer"),
            "to": maybe("integer"),
        },
        "required": ["role", "words", "avoid", "from", "to"],
        "additionalProperties": false,
    });
    let properties = json!({
        "acts": {"type": "array", "items": acts, "minItems": 1, "maxItems": 2},
        "operation": names(OperationKind::ALL.iter().map(|kind| kind.name()).collect()),
        "intention": names(Intention::ALL.iter().map(|intention| intention.name()).collect()),
        "plan": maybe("object"),
        "missing": {"type": "array", "items": {"type": "string"}},
        "unsure": {"type": "string"},
        "wanted": {"type": "array", "items": demand, "maxItems": MOST_DEMANDS},
        "answers": {"type": "array", "items": {"type": "integer"}},
        "count": maybe("integer"),
        "steps": maybe("integer"),
    });
    json!({
        "type": "object",
        "required": properties.as_object().map(|all| all.keys().collect::<Vec<_>>()),
        "properties": properties,
        "additionalProperties": false,
    })
}
