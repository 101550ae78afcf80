//! An answer of a conversation: what was understood, operations and tables with their reasons, what was looked up.

use maud::{Markup, html};

use super::conversation::{Done, Forms};
use super::layout::{grid, marked, phrase, said, text};
use crate::messages::{self, count, fill, in_language, name, narrowing_line, say, understood};
use crate::service::percent::percent_encoded;
use lakeward::answers::{RankedOperation, RankedTable, Recommendation};
use lakeward::usage;
use lakeward_agent::recommend::{Narrowing, Note, RecordFact};
use lakeward_core::request::{Label, OperationKind};

/// Tables of an answer that are shown, and those that need not be unfolded.
const TABLES: usize = 10;
const IN_SIGHT: usize = 3;
/// Pairs of columns that are shown.
const ALIGNED: usize = 30;

/// An answer; with `forms` its operations and tables can be used.
pub fn answer(found: &Recommendation, forms: Option<&Forms<'_>>) -> Markup {
    let question = found.operations.first().filter(|first| first.kind == OperationKind::Clarify);
    html! {
        p.why { (phrase("Understood: {}", &[html! { (text(&understood(&found.signals))) }])) }
        @if found.nothing_found {
            p.warn { (nothing_found(!found.tables.is_empty())) }
        }
        @if !found.summary.is_empty() && !found.nothing_found {
            p { @for sentence in &found.summary { (said(&sentence.cited())) " " } }
        }
        @if let Some(question) = question.and_then(|first| first.question.as_ref()) {
            p { strong { (text(&in_language(&question.text))) } }
            ol { @for choice in &question.choices { li { (text(&in_language(&choice.label))) } } }
            p { (say("Answer with the number, or in your own words.")) }
        }
        (operations(found, forms))
        (tables(found, forms))
        @if !found.narrowings.is_empty() {
            h3 { (say("Narrow by")) }
            ul { @for narrowing in &found.narrowings { li { (values_of(narrowing, forms)) } } }
        }
        @let tabled = RecordFact::table(&found.facts);
        @if let Some((records, respects)) = &tabled {
            table {
                thead { tr { th scope="col" { "" } @for record in records {
                    th scope="col" { (text(&record.title)) " " span.why { (text(&record.cited())) } }
                } } }
                tbody { @for (about, values) in respects {
                    tr { th scope="row" { (text(&in_language(about))) } @for value in values { td { (text(&in_language(value))) } } }
                } }
            }
        }
        @let is_tabled = |note: &Note<'_>| tabled.is_some() && matches!(note, Note::Fact(_));
        @for note in found.typed_notes().filter(|note| !is_tabled(note)) { p { (marked(&messages::note(note))) } }
    }
}

/// A field that answers can be narrowed by; with `forms` each of its values is a button that does it.
fn values_of(narrowing: &Narrowing, forms: Option<&Forms<'_>>) -> Markup {
    let Some(forms) = forms else { return html! { (text(&narrowing_line(narrowing))) } };
    let role = text(&name(&narrowing.role.to_string()));
    html! {
        div.row {
            span { (role) ": " }
            @for value in &narrowing.values {
                @let (said, shown) = (text(&narrowing.choice(value)), text(&value.value));
                form method="post" action={ "/sessions/" (forms.session.id) "/ask" } {
                    (forms.fields())
                    input type="hidden" name="text" value=(said);
                    button.quiet aria-label={ (role) ": " (shown) ", " (count(value.answers as u64, "answer")) } { (shown) " (" (value.answers) ")" }
                }
            }
        }
    }
}

/// Says that nothing seems to serve, with the nearest below it or not.
pub fn nothing_found(are_shown: bool) -> &'static str {
    match are_shown {
        true => say("Nothing in the lake seems to answer this; these are but the nearest."),
        false => say("Nothing in the lake seems to answer this."),
    }
}

fn operations(found: &Recommendation, forms: Option<&Forms<'_>>) -> Markup {
    html! {
        @if found.worth_showing().next().is_some() {
            h3 { (say("Operations")) }
            p.why { (say("The likeliest first: how likely each is what you want.")) }
            ol.cards.answers {
                @for (place, operation) in found.worth_showing().enumerate() { (operation_line(place + 1, operation, forms)) }
            }
        }
    }
}

fn operation_line(number: usize, operation: &RankedOperation, forms: Option<&Forms<'_>>) -> Markup {
    html! {
        li {
            strong { (say(operation.kind.name())) } " " span.badge { (format!("{:.0} %", 100.0 * operation.score)) }
            p.why { (said(&operation.reason)) }
            @for unmet in operation.preconditions.iter().filter(|condition| !condition.met) {
                p.why { (phrase("Not yet: {}", &[said(&unmet.what)])) }
            }
            @if let Some(forms) = forms.filter(|_| operation.runnable.is_some()) {
                @let turn = forms.session.latest().map_or(0, |turn| turn.number);
                a.button href={ "/sessions/" (forms.session.id) "/preview?turn=" (turn) "&operation=" (number) } { (fill("Preview operation {}", &[&number.to_string()])) }
            }
        }
    }
}

fn tables(found: &Recommendation, forms: Option<&Forms<'_>>) -> Markup {
    let shown = &found.tables[..found.tables.len().min(TABLES)];
    let relevance: Vec<f64> = shown.iter().filter_map(relevance).collect();
    let in_sight = shown.len().min(IN_SIGHT);
    let (first, others) = shown.split_at(in_sight);
    // Whoever is led to a table sees it.
    let is_chosen = |table: &RankedTable| forms.is_some_and(|forms| forms.done.is_about(&table.table));
    html! {
        @if !shown.is_empty() {
            h3 { (say("Tables")) }
            p.why {
                @if !relevance.is_empty() { (say("Per cent: the probability, by its words and meaning, that a table serves.")) " " }
                @if !relevance.is_sorted_by(|a, b| a >= b) { (say("The order also weighs what a table is to be used for and how well it goes with the one at hand.")) }
            }
            ol.cards.answers { @for (place, table) in first.iter().enumerate() { (table_line(place + 1, table, forms)) } }
            @if !others.is_empty() {
                details open[others.iter().any(is_chosen)] {
                    summary { (count(others.len() as u64, "more table")) }
                    ol.cards.answers.more {
                        @for (place, table) in others.iter().enumerate() { (table_line(in_sight + place + 1, table, forms)) }
                    }
                }
            }
        }
    }
}

/// The probability that a table serves by its words; none where it is to be joined or appended, for which its keys and columns count.
fn relevance(table: &RankedTable) -> Option<f64> {
    let evidence = &table.evidence;
    let combines = match table.operation {
        OperationKind::Join => evidence.join.is_some(),
        OperationKind::Union => evidence.union.is_some(),
        _ => false,
    };
    evidence.search.as_ref().filter(|_| !combines)?.relevance
}

/// The probability that a table serves the request, in words and as a bar.
pub fn meter(relevance: f64) -> Markup {
    html! { span.meter { (bar(relevance, &format!("{:.0} %", 100.0 * relevance))) } }
}

pub fn bar(share: f64, words: &str) -> Markup {
    let width = (100.0 * share.clamp(0.0, 1.0)).round();
    html! {
        svg.bar width="100" height="10" role="img" aria-label=(words) viewBox="0 0 100 10" {
            rect.track width="100" height="10" rx="3" {}
            rect width=(width) height="10" rx="3" {}
        }
        " " (words)
    }
}

/// The address of a dataset, where it has one on the web.
fn address_of(table: &RankedTable) -> Option<&str> {
    let known = [table.link.as_deref(), Some(table.citation.as_str())];
    known.into_iter().flatten().find(|text| text.starts_with("https://") || text.starts_with("http://"))
}

fn table_line(number: usize, table: &RankedTable, forms: Option<&Forms<'_>>) -> Markup {
    let evidence = &table.evidence;
    let id = forms.map(|_| format!("table-{number}"));
    html! {
        li id=[&id] tabindex=[id.as_ref().map(|_| "-1")] {
            a.title href={ "/table?id=" (percent_encoded(&table.table)) @if let Some(forms) = forms { "&seen=" (usage::answer_of(forms.session)) } } { (text(&table.title)) }
            @if let Some(forms) = forms { (mark(table, forms)) }
            @if let Some(relevance) = relevance(table) { (meter(relevance)) }
            p.why {
                code { (text(&table.table)) }
                @if table.record { " " (say("(catalogue record)")) } @else { ", " (count(table.rows, "row")) }
            }
            @if table.record {
                p.why { (phrase("Cite: {}", &[html! { (text(&table.citation)) }])) @if let Some(link) = address_of(table) { " " a href=(link) rel="noopener noreferrer" { (text(link)) } } }
            }
            p.why { (said(&table.reason)) }
            @if let Some(join) = &evidence.join {
                p.why {
                    (text(&join.query_column)) " = " (text(&join.column)) " "
                    (bar(join.containment, &fill("{} % of the values", &[&format!("{:.0}", 100.0 * join.containment)])))
                }
            }
            @if let Some(union) = &evidence.union {
                details {
                    summary { (phrase("{} of the same meaning", &[html! { (count(union.alignment.len() as u64, "column")) }])) }
                    (grid(say("Columns of the same meaning"), &["Yours", "Its", "Fit"].map(say), &union.alignment.iter().take(ALIGNED).map(|pair| {
                        vec![(text(&pair.query_column), false), (text(&pair.column), false), (format!("{:.2}", pair.score), true)]
                    }).collect::<Vec<_>>()))
                }
            }
            @if let Some(forms) = forms { (choices(table, forms)) }
        }
    }
}

/// What was chosen of a table.
fn mark(table: &RankedTable, forms: &Forms<'_>) -> Markup {
    html! {
        @if forms.session.is_accepted(&table.table) { " " span.badge.yes { "✓ " (say("accepted")) } }
        @if forms.session.is_rejected(&table.table) { " " span.badge.no { "✗ " (say("turned down")) } }
    }
}

/// The buttons that choose a table or turn it down, and what came of the latest of them.
fn choices(table: &RankedTable, forms: &Forms<'_>) -> Markup {
    let session = forms.session;
    let (accepted, rejected) = (session.is_accepted(&table.table), session.is_rejected(&table.table));
    html! {
        @match &forms.done {
            Done::Chose(id) if *id == table.table && accepted => p.done role="status" { (say("Accepted: joins and unions start from it from now on.")) },
            Done::Chose(id) if *id == table.table && rejected => p.done role="status" { (say("Turned down: it is not recommended again unless you name it.")) },
            _ => {},
        }
        div.row {
            @for (accepts, word) in [(true, "Accept"), (false, "Reject")] {
                @if accepts && !accepted || !accepts && !rejected {
                    form method="post" action={ "/sessions/" (session.id) "/choose" } {
                        (forms.fields())
                        input type="hidden" name="table" value=(percent_encoded(&table.table));
                        input type="hidden" name="accepted" value=(accepts);
                        button.quiet aria-label={ (say(word)) " " (text(&table.title)) } { (say(word)) }
                    }
                }
            }
        }
    }
}
