//! Tables by words, narrowed by what publishers say of them.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::answer::{meter, nothing_found};
use super::fault::Fault;
use super::layout::{Visitor, page as whole, phrase, said, text};
use crate::messages::{count, fill, name, say};
use crate::service::http::actions;
use crate::service::http::app::LOOK;
use crate::service::http::endpoint::Query;
use crate::service::percent::{percent_decoded, percent_encoded};
use lakeward::Lakeward;
use lakeward::answers::SearchAnswer;
use lakeward::documents::Document;
use lakeward::usage;
use lakeward_core::error::Result as Outcome;
use lakeward_core::respect::Respect;
use lakeward_index::LakeIndex;
use lakeward_search::RankingWeights;

/// Answers that are shown, and answers whose facets are counted.
const SHOWN: usize = 10;
const COUNTED: usize = 200;
/// Datasets of a page of the list of all.
const LISTED: usize = 50;
/// Roles with facets, and values of one.
const ROLES: usize = 6;
const VALUES: usize = 8;

/// An answer with what its publisher says.
type Found = (SearchAnswer, Vec<(Respect, String)>);

pub async fn page(visitor: Visitor, Query(fields): Query<Vec<(String, String)>>) -> Result<Markup, Fault> {
    let words = fields.iter().find(|(name, _)| name == "q").map(|(_, value)| value.clone()).unwrap_or_default();
    let chosen: Vec<(Respect, String)> =
        fields.iter().filter(|(name, _)| name == "f").filter_map(|(_, value)| facet(value)).collect();
    // Names this answer, and draws which of two rankings goes first.
    let drawn = getrandom::u64().unwrap_or_default();
    let (asked, query) = (!words.trim().is_empty(), words.clone());
    let found = match asked {
        true => {
            let (compared, drawn) = (visitor.app.compared.clone().filter(|_| chosen.is_empty()), drawn);
            Some(visitor.work(LOOK, move |lake, _| with_facets(lake, &query, compared.map(|b| (b, drawn)))).await?)
        }
        false => None,
    };
    let from = fields.iter().find(|(name, _)| name == "from").and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let all = match asked {
        true => None,
        false => Some(visitor.work(LOOK, move |lake, _| listed(lake.index(), from)).await?),
    };
    let seen = format!("{drawn:016x}");
    if let (Some(log), Some((document, found, rankings))) = (&visitor.app.usage, &found) {
        let left = found.iter().filter(|it| has_all(it, &chosen)).take(SHOWN).map(|(answer, _)| answer.table.clone());
        log.show(&seen, &words, left, document.nothing_found, rankings.clone());
    }
    Ok(whole(
        say("Search"),
        Some(&visitor),
        &html! {
            h1 { (say("Search")) }
            form method="get" action="/search" role="search" {
                label for="q" { (say("Tables about")) }
                div.row { input id="q" name="q" type="search" value=(text(&words)) required maxlength="1000"; button.main { (say("Search")) } }
                @if let Some((_, found, _)) = &found { (facets(found, &chosen)) }
            }
            @if let Some((document, found, _)) = &found { (answers(document, found, &chosen, &seen)) }
            @if let Some((rows, all)) = &all { (list(rows, from, *all)) }
        },
    ))
}

/// A dataset of the list of all: its id, its title, its rows.
type Listed = (String, String, Option<u64>);

/// Some datasets of the lake from the place `from` on, and how many there are.
fn listed(index: &LakeIndex, from: usize) -> Outcome<(Vec<Listed>, usize)> {
    let row = |table| {
        let dataset = index.dataset(table)?;
        let rows = dataset.table().map(|table| table.profile.rows);
        Ok((dataset.id().as_str().to_string(), dataset.title().to_string(), rows))
    };
    Ok((index.tables().skip(from).take(LISTED).map(row).collect::<Outcome<_>>()?, index.len()))
}

/// All datasets, a page at a time.
fn list(rows: &[Listed], from: usize, all: usize) -> Markup {
    html! {
        h2 { (phrase("All {}", &[html! { (count(all as u64, "dataset")) }])) }
        @if all > rows.len() {
            nav.row aria-label=(say("Datasets")) {
                @if from > 0 { a.button href={ "/search?from=" (from.saturating_sub(LISTED)) } { (say("Previous")) } }
                span { @if rows.is_empty() { (fill("There are only {}.", &[&all.to_string()])) } @else { (fill("items {} to {}", &[&(from + 1).to_string(), &(from + rows.len()).to_string()])) } }
                @if from + rows.len() < all && !rows.is_empty() { a.button href={ "/search?from=" (from + LISTED) } { (say("Next")) } }
            }
        }
        ul.plain { @for (id, title, rows) in rows {
            li {
                a href={ "/table?id=" (percent_encoded(id)) } { (text(title)) } " " code { (text(id)) }
                span.why { @if let Some(rows) = rows { ", " (count(*rows, "row")) } @else { " " (say("(catalogue record)")) } }
            }
        } }
    }
}

/// The answers with their facets; with another ranking and random bits, the best are those of both, and which one put each.
fn with_facets(
    lake: &Lakeward,
    words: &str,
    compared: Option<(RankingWeights, u64)>,
) -> Outcome<(Document<SearchAnswer>, Vec<Found>, String)> {
    let document = actions::search(lake, words, Some(COUNTED))?;
    let (best, rankings) = match compared {
        Some((ranking, drawn)) => {
            let other = lake.ranked_by(ranking).search(words, COUNTED)?;
            usage::interleaved(&document.answers, &other, SHOWN, drawn)
        }
        None => (document.answers.to_vec(), String::new()),
    };
    let index = lake.index();
    let known = index.facets()?;
    let facets = |answer: &SearchAnswer| {
        let dataset = index.dataset(index.find(&answer.table)?)?;
        let nothing = Default::default();
        let (pairs, _) = dataset.metadata().unwrap_or(&nothing).fields(dataset.path());
        let facet = |(field, value): (&str, &str)| {
            let role = Respect::of_field(field);
            // Values that mean the same are one.
            let value = known.alike(&role, value).into_iter().min().unwrap_or(value).to_string();
            (role, value)
        };
        let mut facets: Vec<(Respect, String)> = pairs.into_iter().map(facet).collect();
        facets.sort();
        facets.dedup();
        Ok((answer.clone(), facets))
    };
    let found = best.iter().map(facets).collect::<Outcome<_>>()?;
    Ok((document, found, rankings))
}

/// A facet as the value of a field, and back: browsers change some characters of other values.
fn encoded(role: &Respect, value: &str) -> String {
    percent_encoded(&format!("{role}={value}"))
}

fn facet(text: &str) -> Option<(Respect, String)> {
    let text = percent_decoded(text)?;
    let (role, value) = text.split_once('=')?;
    Some((Respect::from(role.to_string()), value.to_string()))
}

/// The values that part of the answers have, by role, those first that divide them best, with how many of those that all chosen ones leave.
fn facets(found: &[Found], chosen: &[(Respect, String)]) -> Markup {
    let mut counts: BTreeMap<&Respect, BTreeMap<&str, usize>> = BTreeMap::new();
    for (_, facets) in found.iter().filter(|it| has_all(it, chosen)) {
        facets.iter().for_each(|(role, value)| *counts.entry(role).or_default().entry(value).or_default() += 1);
    }
    let left = found.iter().filter(|it| has_all(it, chosen)).count();
    let is_chosen = |role: &Respect, value: &str| chosen.iter().any(|(a, b)| a == role && b == value);
    let mut shown = Vec::new();
    for (role, values) in counts {
        // How much they tell of which answer it is.
        let entropy = |count: usize| -(count as f64 / left as f64) * (count as f64 / left as f64).log2();
        let information: f64 = values.values().filter(|count| **count > 1).map(|count| entropy(*count)).sum();
        let mut values: Vec<(&str, usize)> =
            values.into_iter().filter(|(value, count)| *count < left || is_chosen(role, value)).collect();
        values.sort_by(|a, b| is_chosen(role, b.0).cmp(&is_chosen(role, a.0)).then(b.1.cmp(&a.1)).then(a.0.cmp(b.0)));
        values.truncate(VALUES);
        if !values.is_empty() {
            shown.push((values.iter().any(|value| is_chosen(role, value.0)), information, role, values));
        }
    }
    shown.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
    html! {
        @if !shown.is_empty() {
            details.facets open[!chosen.is_empty()] {
                summary { (say("Narrow down")) }
                div.row {
                    @for (number, (_, _, role, values)) in shown.iter().take(ROLES).enumerate() {
                        fieldset {
                            legend { (text(&name(&role.to_string()))) }
                            @for (place, (value, count)) in values.iter().enumerate() {
                                @let id = format!("f{number}-{place}");
                                div {
                                    input id=(id) type="checkbox" name="f" value=(encoded(role, value)) checked[is_chosen(role, value)];
                                    label for=(id) { (text(value)) " (" (count) ")" }
                                }
                            }
                        }
                    }
                }
                button { (say("Apply")) }
            }
        }
    }
}

fn has_all((_, facets): &Found, chosen: &[(Respect, String)]) -> bool {
    chosen.iter().all(|one| facets.contains(one))
}

fn answers(document: &Document<SearchAnswer>, found: &[Found], chosen: &[(Respect, String)], seen: &str) -> Markup {
    let left: Vec<&Found> = found.iter().filter(|it| has_all(it, chosen)).collect();
    html! {
        h2 {
            @let shown = html! { (count(left.len().min(SHOWN) as u64, "table")) };
            @if left.len() > SHOWN { (phrase("{}, the best of {}", &[shown, html! { (left.len()) }])) } @else { (shown) }
        }
        @if document.nothing_found {
            p.warn { (nothing_found(!left.is_empty())) }
        }
        @if left.iter().any(|(answer, _)| answer.relevance.is_some()) { p.why { (say("Per cent: the probability that a table serves.")) } }
        ol.cards.answers {
            @for (answer, _) in left.iter().take(SHOWN) {
                li {
                    a.title href={ "/table?id=" (percent_encoded(&answer.table)) "&seen=" (seen) } { (text(&answer.title)) }
                    @if let Some(relevance) = answer.relevance { (meter(relevance)) }
                    p.why {
                        code { (text(&answer.table)) }
                        @if let Some(rows) = answer.rows { ", " (count(rows, "row")) } @else { " " (say("(catalogue record)")) }
                    }
                    p.why { (said(&answer.reason)) }
                }
            }
        }
    }
}
