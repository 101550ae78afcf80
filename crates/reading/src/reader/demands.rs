//! The demands of a conversation after a turn: the spans of its reading are added to the demands in force, replace
//! them or take them back.

use chrono::{Datelike, Utc};
use lakeward_core::request::{Demand, Demanded, RequestedYears};
use lakeward_core::respect::Respect;
use lakeward_core::text::{is_function_word, lower_words};

use super::period::{with_other_end, years};
use super::place;
use crate::catalogue::is_only_frequency;

use super::schema::{ColumnKind, Schema, SchemaColumn};
use super::span::{Operator, Role, Span, TurnReading};
use lakeward_core::request::Act;

/// What a turn makes of the demands in force.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Revised {
    /// The demands in force after it, older ones first.
    pub demands: Vec<Demand>,
    /// Those before it that it replaced or took back.
    pub gone: Vec<Demand>,
    /// Words that take something back that is not in force.
    pub not_found: Vec<String>,
}

/// The demands in force as columns that a turn can speak of while there is no table: `drop Scotland` speaks of the place.
pub fn schema_of_demands(demands: &[Demand]) -> Schema {
    let column = |demand: &Demand| SchemaColumn {
        values: vec![demand.said.clone()],
        complete: true,
        used: vec![if demand.avoid { "not" } else { "where" }],
        ..SchemaColumn::new(demand.role.name(), ColumnKind::Text)
    };
    let mut columns: Vec<SchemaColumn> = demands.iter().map(column).collect();
    columns.push(SchemaColumn::figure());
    Schema { columns, is_of_demands: true, ..Schema::default() }
}

/// The demands after turn `turn`, which was read as `reading`; `over_demands` says that it was read over [`schema_of_demands`] and not over a
/// table. Years before now are counted from `this_year`.
pub fn revised(before: &[Demand], reading: &TurnReading, over_demands: bool, turn: usize, this_year: i32) -> Revised {
    let mut revised = Revised { demands: before.to_vec(), ..Revised::default() };
    // Whoever asks about an answer, takes one or chats names things without wanting others; a second act may.
    let speaks_of_answers = |act: &Act| matches!(act, Act::Pick | Act::Ask | Act::Compare | Act::Accept | Act::Chat);
    // "What about the university of X?" is one more thing that is wanted, or another one.
    let words: Vec<String> = lower_words(&reading.text).take(2).collect();
    let offers = matches!(words.iter().map(String::as_str).collect::<Vec<_>>()[..], ["what" | "how", "about"]);
    if reading.acts.iter().all(speaks_of_answers) && !offers {
        return revised;
    }
    let anew = begins_anew(before, reading);
    if anew {
        revised.gone = std::mem::take(&mut revised.demands);
    }
    let mut coordinated = reading.clone();
    place::with_coordinated(&mut coordinated);
    let mut new: Vec<Demand> = Vec::new();
    for span in coordinated.spans.iter().filter(|span| says_something(&span.words)) {
        if let Some(respect) = respect_of(span, over_demands) {
            new.extend(demands_of(&reading.text, span, respect, turn, this_year));
        }
    }
    if over_demands && !anew {
        let olds: Vec<&Span> = reading.of(Role::Old).collect();
        for old in &olds {
            let places = taken_back(old, before, &revised.demands);
            if places.is_empty() && reading.has(Act::Retract) {
                revised.not_found.push(old.words.clone());
            }
            revised.remove(&places);
        }
        if reading.has(Act::Retract) && olds.is_empty() {
            // The words of what is taken back with a role of their own.
            let goes = |demand: &Demand| {
                let same = |known: &Demand| {
                    known.role == demand.role && (shares_words(&known.said, &demand.said) || years_same(known, demand))
                };
                before.iter().any(same)
            };
            let (back, stays): (Vec<Demand>, Vec<Demand>) = new.into_iter().partition(goes);
            new = stays;
            for demand in back {
                let places: Vec<usize> = revised.places(|known| {
                    known.role == demand.role && (shares_words(&known.said, &demand.said) || years_same(known, &demand))
                });
                revised.remove(&places);
            }
        } else if (reading.has(Act::Correct) || offers) && olds.is_empty() {
            for demand in &new {
                let latest = |known: &Demand| known.role == demand.role && known.avoid == demand.avoid;
                // Of a topic the part that was said last.
                let last = revised.demands.iter().filter(|known| latest(known)).map(|known| known.turn).max();
                let places =
                    revised.places(|known| latest(known) && (known.role != Respect::Topic || Some(known.turn) == last));
                revised.remove(&places);
            }
        }
    }
    if new.iter().any(is_kind_of_rows) {
        // Rows are of one kind: of the one that was said last.
        let places = revised.places(|known| is_kind_of_rows(known) && known.turn < turn);
        revised.remove(&places);
    }
    for demand in one_period(new) {
        // What is wanted and not wanted at once is as it was said last; there is one period.
        let replaces = |known: &Demand| {
            known.role == demand.role
                && (same_words(&known.said, &demand.said)
                    || (demand.role == Respect::Period && !demand.avoid && !known.avoid))
        };
        let places = revised.places(replaces);
        revised.remove(&places);
        revised.demands.push(demand);
    }
    revised
}

/// Whether a demand says what a row is of, and not only how often there is one.
fn is_kind_of_rows(demand: &Demand) -> bool {
    demand.role == Respect::Grain && !demand.avoid && !is_only_frequency(&demand.said)
}

/// Whether a turn drops what was wanted before: another question without a topic is none, and of one in the middle the reader has to be sure.
fn begins_anew(before: &[Demand], reading: &TurnReading) -> bool {
    const SURE: f32 = 0.9;
    const ANEW: [&str; 5] = ["start over", "start again", "start anew", "begin again", "new search"];
    let says_topic = reading.of(Role::Topic).any(|span| !span.unwanted);
    let text = reading.text.to_lowercase();
    let is_sure = reading.confidence >= SURE || ANEW.iter().any(|words| text.trim_start().starts_with(words));
    reading.has(Act::New) && (before.is_empty() || (says_topic && is_sure))
}

/// Two ends of one period said apart (`from 2009 … to 2011`) as one.
fn one_period(mut demands: Vec<Demand>) -> Vec<Demand> {
    let years = |demand: &Demand| match demand.value {
        Demanded::Period(years) if !demand.avoid => Some(years.bounds()),
        _ => None,
    };
    let ends: Vec<i32> = demands.iter().filter_map(years).flat_map(|(from, to)| [from, to]).flatten().collect();
    let places: Vec<usize> = (0..demands.len()).filter(|place| years(&demands[*place]).is_some()).collect();
    if let ([first, rest @ ..], Some(from), Some(to)) = (&places[..], ends.iter().min(), ends.iter().max())
        && !rest.is_empty()
    {
        let words: Vec<&str> = places.iter().map(|place| demands[*place].said.as_str()).collect();
        let said = words.join(" to ");
        demands[*first] = Demand {
            value: Demanded::Period(RequestedYears::Cover { from: *from, to: *to }),
            said,
            ..demands[*first].clone()
        };
        for place in rest.iter().rev() {
            demands.remove(*place);
        }
    }
    demands
}

impl Revised {
    fn places(&self, is: impl Fn(&Demand) -> bool) -> Vec<usize> {
        self.demands.iter().enumerate().filter(|(_, known)| is(known)).map(|(place, _)| place).collect()
    }

    fn remove(&mut self, places: &[usize]) {
        for place in places.iter().rev() {
            let gone = self.demands.remove(*place);
            self.gone.push(gone);
        }
    }
}

/// The respect in which a span speaks of datasets. Without a table, what is grouped by is a grain and a figure a column.
fn respect_of(span: &Span, over_demands: bool) -> Option<Respect> {
    Some(match span.role {
        Role::Topic => Respect::Topic,
        Role::Place => Respect::Place,
        Role::Period => Respect::Period,
        Role::Grain => Respect::Grain,
        Role::Publisher => Respect::Source,
        Role::Format => Respect::Format,
        Role::Frequency => Respect::Frequency,
        Role::Licence => Respect::Licence,
        Role::Status => Respect::Status,
        Role::Group if over_demands => Respect::Grain,
        Role::Measure | Role::Show | Role::Column | Role::Order | Role::Derive | Role::Add if over_demands => {
            Respect::Column
        }
        Role::Hide if over_demands => Respect::Column,
        Role::Value | Role::Test if over_demands => Respect::Topic,
        _ => return None,
    })
}

/// The demands that a span of a text says: a place may say besides what its rows are of.
fn demands_of(text: &str, span: &Span, role: Respect, turn: usize, this_year: i32) -> Vec<Demand> {
    match role {
        Respect::Place => {
            let Some((name, rows)) = place::parts(&span.words) else { return Vec::new() };
            let place = Demand { avoid: span.unwanted, ..Demand::in_words(role, name, turn) };
            let rows = (!rows.is_empty() && !span.unwanted).then(|| Demand::in_words(Respect::Grain, rows, turn));
            [place].into_iter().chain(rows).collect()
        }
        Respect::Period => {
            let bytes = with_other_end(text, span.bytes.clone());
            let wider = Span { words: text.get(bytes).map_or(span.words.clone(), str::to_string), ..span.clone() };
            vec![demand_of(&wider, role, turn, this_year)]
        }
        role => vec![demand_of(span, role, turn, this_year)],
    }
}

fn demand_of(span: &Span, role: Respect, turn: usize, this_year: i32) -> Demand {
    let kept_out = matches!(span.role, Role::Value | Role::Test) && span.operator == Operator::Different;
    let avoid = span.unwanted || span.role == Role::Hide || kept_out;
    let mut demand = Demand { avoid, ..Demand::in_words(role, span.words.clone(), turn) };
    if demand.role == Respect::Period {
        let mut operator = span.operator;
        if demand.avoid {
            // What is not wanted before 2010 begins in 2010.
            let turned = match operator {
                Operator::Less => Some(Operator::AtLeast),
                Operator::AtMost => Some(Operator::Greater),
                Operator::Greater => Some(Operator::AtMost),
                Operator::AtLeast => Some(Operator::Less),
                _ => None,
            };
            demand.avoid = turned.is_none();
            operator = turned.unwrap_or(operator);
        }
        if let Some(years) = years(&span.words, operator, this_year) {
            demand.value = Demanded::Period(years);
            demand.hard = true;
        }
    }
    demand
}

/// The demands that a span takes back, by their places in `now`: the one that it is linked to, else those whose words it has.
fn taken_back(old: &Span, before: &[Demand], now: &[Demand]) -> Vec<usize> {
    let said = old.value.as_deref().unwrap_or(&old.words);
    let with_words: Vec<usize> = (0..now.len()).filter(|place| shares_words(&now[*place].said, said)).collect();
    let Some(linked) = old.column().and_then(|column| before.get(column)) else { return with_words };
    let of_role = |place: &usize| now[*place].role == linked.role;
    let both: Vec<usize> = with_words.iter().copied().filter(of_role).collect();
    if !both.is_empty() {
        return both;
    }
    // By its kind alone ("drop the years"), all of it.
    (0..now.len()).filter(of_role).collect()
}

/// The year of today.
pub fn this_year() -> i32 {
    Utc::now().year()
}

/// A demand with the years that its words say, where it is one of years; counted from the present year where they are relative.
pub fn period_demand(demand: Demand) -> Demand {
    if demand.role != Respect::Period {
        return demand;
    }
    match years(&demand.said, Operator::Equal, this_year()) {
        Some(years) => Demand { value: Demanded::Period(years), hard: true, ..demand },
        None => demand,
    }
}

fn years_same(a: &Demand, b: &Demand) -> bool {
    a.role == Respect::Period && a.value == b.value
}

fn same_words(a: &str, b: &str) -> bool {
    lower_words(a).eq(lower_words(b))
}

/// Whether a text has more than function words and signs.
fn says_something(text: &str) -> bool {
    lower_words(text).any(|word| !is_function_word(&word))
}

/// Whether the texts have a word in common that says something.
fn shares_words(a: &str, b: &str) -> bool {
    let content = |word: &String| !is_function_word(word);
    let known: Vec<String> = lower_words(a).filter(content).collect();
    lower_words(b).filter(content).any(|word| known.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(words: &str, role: Role) -> Span {
        Span::new(0..words.len(), words, role)
    }

    fn turn(acts: &[Act], spans: Vec<Span>) -> TurnReading {
        TurnReading { acts: acts.to_vec(), confidence: 1.0, spans, ..TurnReading::default() }
    }

    fn said(revised: &Revised) -> Vec<String> {
        revised.demands.iter().map(|demand| format!("{}: {demand}", demand.role)).collect()
    }

    #[test]
    fn demands_are_added_replaced_and_taken_back() {
        let first = turn(&[Act::New], vec![span("bus riders", Role::Topic), span("Leeds", Role::Place)]);
        let now = revised(&[], &first, true, 1, 2024);
        assert_eq!(said(&now), ["topic: bus riders", "place: Leeds"]);
        let since = Span { operator: Operator::AtLeast, ..span("2010", Role::Period) };
        let not_pdf = Span { unwanted: true, ..span("PDF", Role::Format) };
        let now = revised(&now.demands, &turn(&[Act::Refine], vec![since, not_pdf]), true, 2, 2024);
        assert_eq!(said(&now), ["topic: bus riders", "place: Leeds", "period: 2010 onward", "format: not PDF"]);
        assert_eq!(now.demands[2].value, Demanded::Period(RequestedYears::StartsIn(2010)));
        let now = revised(&now.demands, &turn(&[Act::Correct], vec![span("York", Role::Place)]), true, 3, 2024);
        assert_eq!(now.gone.iter().map(|gone| gone.said.as_str()).collect::<Vec<_>>(), ["Leeds"]);
        let years = Span { columns: vec![1], ..span("the years", Role::Old) };
        let order: Vec<&str> = now.demands.iter().map(|demand| demand.role.name()).collect();
        assert_eq!(order, ["topic", "period", "format", "place"]);
        let now = revised(&now.demands, &turn(&[Act::Retract], vec![years]), true, 4, 2024);
        assert_eq!(said(&now), ["topic: bus riders", "format: not PDF", "place: York"]);
        let now = revised(&now.demands, &turn(&[Act::Retract], vec![span("the moon", Role::Old)]), true, 5, 2024);
        assert_eq!(now.not_found, ["the moon"]);
        // What is asked about an answer is not wanted; words that say nothing are no demand; nobody is unsure of the first topic.
        let ask = turn(&[Act::Ask], vec![span("Paris", Role::Place)]);
        assert_eq!(revised(&now.demands, &ask, true, 6, 2024).demands, now.demands);
        let nothing = turn(&[Act::Refine], vec![span("of the", Role::Place)]);
        assert_eq!(revised(&now.demands, &nothing, true, 6, 2024).demands, now.demands);
        let unsure = TurnReading { confidence: 0.5, ..turn(&[Act::New], vec![span("rain", Role::Topic)]) };
        assert_eq!(said(&revised(&now.demands, &unsure, true, 6, 2024)).len(), now.demands.len() + 1);
        let again = turn(&[Act::New], vec![span("rain", Role::Topic)]);
        assert_eq!(said(&revised(&now.demands, &again, true, 6, 2024)), ["topic: rain"]);
    }
}
