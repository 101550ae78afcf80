//! The map of the lake, as a drawing that is walked by keys and links, and the same as a table.

use maud::{Markup, html};
use serde::Deserialize;

use super::fault::Fault;
use super::layout::{Visitor, page as whole, phrase, text};
use crate::messages::{count, fill, say};
use crate::service::http::app::READ;
use crate::service::http::endpoint::Query;
use crate::service::http::lake_map::{LakeMap, LinkKind, MapOf};
use crate::service::percent::percent_encoded;
use lakeward_core::text::shown;

/// Columns of topics, and the measures of one.
const COLUMNS: usize = 3;
const WIDTH: f64 = 380.0;
const GAP: f64 = 30.0;
const HEAD: f64 = 34.0;
const ROW: f64 = 22.0;
/// Width of a letter, about: lines end behind titles.
const LETTER: f64 = 6.6;
/// Characters of a title.
const TITLE: usize = 44;
/// Sizes in percent.
const ZOOMS: [u32; 4] = [100, 150, 200, 300];
/// Strengths to choose from.
const LEAST: [f64; 5] = [0.3, 0.5, 0.7, 0.8, 0.9];

/// What is shown, as a form says it: empty fields are none.
#[derive(Debug, Default, Deserialize)]
pub struct Of {
    #[serde(default)]
    about: String,
    #[serde(default)]
    table: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    least: String,
    #[serde(default)]
    zoom: String,
}

pub async fn page(visitor: Visitor, Query(of): Query<Of>) -> Result<Markup, Fault> {
    let kind = match of.kind.as_str() {
        "join" => Some(LinkKind::Join),
        "union" => Some(LinkKind::Union),
        _ => None,
    };
    let least: f64 = of.least.parse().unwrap_or(0.5);
    let asked = MapOf { about: of.about.clone(), table: of.table.clone(), kind, least: Some(least), k: None };
    let maps = visitor.app.maps.clone();
    let map = visitor.work(READ, move |lake, stop| maps.of(lake, stop, &asked)).await?;
    let zoom = of.zoom.parse().ok().filter(|zoom| ZOOMS.contains(zoom)).unwrap_or(ZOOMS[0]);
    Ok(whole(
        say("Map"),
        Some(&visitor),
        &html! {
            h1 { (say("Map of the lake")) }
            p.why {
                (phrase("{} of {} by topic; lines say what can be joined (solid) or appended (dashed), the stronger the better it fits.", &[
                    html! { (count(map.tables.len() as u64, "dataset")) }, html! { (map.total) },
                ]))
                @if map.tables.len() < map.total {
                    " " (phrase("To see others, say what they are about or name one of them below, or go through {}.", &[
                        html! { a href="/search" { (say("the list of all")) } },
                    ]))
                }
                @if map.unread > 0 {
                    " " (phrase("Of {} the links are not known yet: load the page again, or they are too large to be read for a map.", &[html! { (map.unread) }]))
                }
            }
            (filter(&of, least, zoom))
            (drawing(&map, zoom))
            (tables(&map))
        },
    ))
}

fn filter(of: &Of, least: f64, zoom: u32) -> Markup {
    let choice = |id: &str, label: &'static str, options: &[(String, String)], chosen: &str| {
        html! {
            div {
                label for=(id) { (say(label)) }
                select id=(id) name=(id) { @for (value, name) in options { option value=(value) selected[value == chosen] { (name) } } }
            }
        }
    };
    let kinds = [("", "joins and unions"), ("join", "joins"), ("union", "unions")]
        .map(|(value, name)| (value.to_string(), say(name).to_string()));
    let strengths = LEAST.map(|it| (it.to_string(), format!("{:.0} %", 100.0 * it)));
    let zooms = ZOOMS.map(|it| (it.to_string(), format!("{it} %")));
    html! {
        form.row method="get" action="/map" role="search" {
            div { label for="about" { (say("Only tables about")) } input id="about" name="about" type="search" value=(text(&of.about)) maxlength="1000"; }
            div { label for="table" { (say("Only around the table")) } input id="table" name="table" type="text" value=(text(&of.table)) maxlength="600"; }
            (choice("kind", "Lines", &kinds, &of.kind))
            (choice("least", "At least", &strengths, &least.to_string()))
            (choice("zoom", "Size", &zooms, &zoom.to_string()))
            div { button { (say("Show")) } }
        }
    }
}

/// Where the tables and the heads of topics stand, and how high all is.
fn places(map: &LakeMap) -> (Vec<[f64; 2]>, Vec<[f64; 2]>, f64) {
    let mut heights = [0.0_f64; COLUMNS];
    let (mut tables, mut heads) = (Vec::new(), Vec::new());
    for topic in 0..map.topics.len() {
        let members = map.tables.iter().filter(|table| table.topic == topic).count();
        let column = (0..COLUMNS).min_by(|a, b| heights[*a].total_cmp(&heights[*b])).unwrap_or(0);
        let (x, y) = (column as f64 * (WIDTH + GAP), heights[column]);
        heads.push([x, y]);
        tables.extend((0..members).map(|place| [x + 16.0, y + HEAD + (place as f64 + 0.5) * ROW]));
        heights[column] += HEAD + members as f64 * ROW + GAP;
    }
    (tables, heads, heights.into_iter().fold(0.0, f64::max))
}

fn drawing(map: &LakeMap, zoom: u32) -> Markup {
    let (places, heads, height) = places(map);
    let width = COLUMNS as f64 * (WIDTH + GAP) - GAP;
    html! {
        div.scroll.map id="map" tabindex="0" role="region" aria-label=(say("Map")) {
            svg class={ "map zoom" (zoom) } role="group" aria-label=(say("Tables by topic")) viewBox={ "-24 -8 " (width + 32.0) " " (height) } {
                @for (topic, [x, y]) in heads.iter().enumerate() {
                    @let members = map.tables.iter().filter(|table| table.topic == topic).count();
                    rect.topic x=(x) y=(y) width=(WIDTH) height=(HEAD + members as f64 * ROW) rx="8" {}
                    text.topic x=(x + 12.0) y=(y + 22.0) { (text(&map.topics[topic])) }
                }
                g aria-hidden="true" {
                    @for link in map.links.iter().rev() {
                        @let [a, b] = link.tables.map(|place| places[place]);
                        @let bend = if (a[0] - b[0]).abs() < 1.0 { -20.0 - (a[1] - b[1]).abs() * 0.12 } else { 0.0 };
                        @let path = format!("M{} {}C{:.0} {} {:.0} {} {} {}", a[0], a[1], a[0] + bend - 24.0, a[1], b[0] + bend - 24.0, b[1], b[0], b[1]);
                        path class={ "link " (kind(link.kind)) " s" (strength(link.strength)) } d=(path) data-ends={ (link.tables[0]) " " (link.tables[1]) } {}
                    }
                }
                @for (place, table) in map.tables.iter().enumerate() {
                    @let [x, y] = places[place];
                    a.node href={ "/table?id=" (percent_encoded(&table.table)) } data-node=(place) aria-label=(spoken(map, place)) {
                        @let title = shown(&table.title, TITLE);
                        rect.hit x=(x - 10.0) y=(y - ROW / 2.0) width=(WIDTH - 12.0) height=(ROW) {}
                        rect.behind x=(x + 11.0) y=(y - ROW / 2.0 + 2.0) width=(title.chars().count() as f64 * LETTER + 6.0) height=(ROW - 4.0) rx="3" {}
                        circle cx=(x) cy=(y) r=(radius(table.rows)) {}
                        text x=(x + 14.0) y=(y + 4.5) { (title) }
                    }
                }
            }
        }
    }
}

/// A table and how many it goes with.
fn spoken(map: &LakeMap, place: usize) -> String {
    let count = |kind| map.links.iter().filter(|link| link.kind == kind && link.tables.contains(&place)).count();
    let (joins, unions) = (count(LinkKind::Join).to_string(), count(LinkKind::Union).to_string());
    fill("{}: {} joins, {} unions", &[&text(&map.tables[place].title), &joins, &unions])
}

fn kind(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Join => "join",
        LinkKind::Union => "union",
    }
}

/// One of four classes.
fn strength(strength: f64) -> usize {
    (strength * 4.0).floor().clamp(0.0, 3.0) as usize
}

/// Greater with each power of ten.
fn radius(rows: Option<u64>) -> f64 {
    rows.map_or(3.0, |rows| 3.0 + (rows.max(1) as f64).log10())
}

fn tables(map: &LakeMap) -> Markup {
    let link = |place: usize| {
        let table = &map.tables[place];
        html! { a href={ "/table?id=" (percent_encoded(&table.table)) } { (text(&table.title)) } }
    };
    html! {
        h2 id="as-table" { (say("The same as a table")) }
        @if map.links.is_empty() { p { (say("No two of these tables go together as well as that.")) } }
        @else {
            div.scroll tabindex="0" role="region" aria-label=(say("Tables that go together")) {
                table {
                    caption { (count(map.links.len() as u64, "line")) }
                    thead { tr { @for head in ["Table", "Goes with", "How", "Strength", "By"] { th scope="col" { (say(head)) } } } }
                    tbody {
                        @for it in &map.links {
                            tr {
                                td { (link(it.tables[0])) }
                                td { (link(it.tables[1])) }
                                td { (say(kind(it.kind))) }
                                td.number { (format!("{:.0} %", 100.0 * it.strength)) }
                                td { (shown(&it.on, 80)) }
                            }
                        }
                    }
                }
            }
        }
        h3 { (say("All by topic")) }
        @for (topic, name) in map.topics.iter().enumerate() {
            details {
                summary { (text(name)) }
                ul { @for place in (0..map.tables.len()).filter(|place| map.tables[*place].topic == topic) { li { (link(place)) } } }
            }
        }
    }
}
