//! What is remembered of what was asked for: shown beside the latest answer, taken away, and added.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::conversation::{self, Forms};
use super::fault::Fault;
use super::layout::{Form, Visitor, text};
use crate::messages::{demand_line, fill, name, say};
use crate::service::http::actions;
use crate::service::http::app::LOOK;
use lakeward::Lakeward;
use lakeward_core::error::Result;
use lakeward_core::request::Demand;
use lakeward_core::respect::Respect;

/// Values of a respect that tell records apart, at least.
const LEAST_VALUES: usize = 2;

/// The number of a demand, from 1.
#[derive(Deserialize)]
pub struct Forgotten {
    demand: usize,
    revision: u64,
}

#[derive(Deserialize)]
pub struct DemandForm {
    role: String,
    value: String,
    revision: u64,
}

/// What was asked for, each with a button that takes it away; a form for more; and what the latest answer does not know of yet.
pub fn memory(forms: &Forms<'_>) -> Markup {
    let session = forms.session;
    html! {
        div.memory id="memory" tabindex="-1" role="group" aria-label=(say("Remembered")) {
            @if !session.demands.is_empty() {
                ul.chips {
                    li.why { (say("Remembered:")) }
                    @for (place, demand) in session.demands.iter().enumerate() {
                        @let line = text(&demand_line(demand));
                        li {
                            form method="post" action={ "/sessions/" (session.id) "/forget" } {
                                (forms.fields())
                                input type="hidden" name="demand" value=(place + 1);
                                span { (line) } button aria-label=(fill("Forget {}", &[&line])) { "×" }
                            }
                        }
                    }
                }
            }
            (changed(forms))
            @if !forms.roles.is_empty() {
                details {
                    summary { (say("Add a demand")) }
                    form.row method="post" action={ "/sessions/" (session.id) "/demand" } {
                        (forms.fields())
                        div {
                            label for="role" { (say("In respect of")) }
                            select id="role" name="role" { @for role in forms.roles { option value=(role) { (name(role)) } } }
                        }
                        div { label for="value" { (say("It has to be")) } input id="value" name="value" type="text" required maxlength="600"; }
                        div { button { (say("Remember")) } }
                    }
                    p.why { (say("It takes the place of what was remembered in that respect.")) }
                }
            }
        }
    }
}

/// The respects in which the catalogue of `lake` can be asked for something; none where it says nothing by field.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`].
pub fn roles(lake: &Lakeward) -> Result<Vec<String>> {
    let facets = lake.index().facets()?;
    let mut roles: Vec<String> = facets
        .roles()
        .filter(|(_, values)| *values >= LEAST_VALUES)
        .map(|(role, _)| role.to_string())
        .filter(|role| text(role) == *role)
        .collect();
    if facets.has_years() && !roles.is_empty() {
        roles.push(Respect::Period.to_string());
    }
    Ok(roles)
}

/// Says that the latest answer was given before what is remembered was changed.
fn changed(forms: &Forms<'_>) -> Markup {
    let Some(turn) = forms.session.latest() else { return html! {} };
    let (then, now) = (&turn.signals.demands, &forms.session.demands);
    let without = |some: &[Demand], others: &[Demand]| -> Vec<String> {
        some.iter().filter(|demand| !others.contains(demand)).map(|demand| text(&demand_line(demand))).collect()
    };
    let (gone, new) = (without(then, now), without(now, then));
    html! {
        @if !gone.is_empty() || !new.is_empty() {
            div.warn role="status" {
                p {
                    @let (gone, new) = (gone.join("”, “"), new.join("”, “"));
                    @match (gone.is_empty(), new.is_empty()) {
                        (false, false) => (fill("This answer was given before “{}” was removed and “{}” was added.", &[&gone, &new])),
                        (false, true) => (fill("This answer was given before “{}” was removed.", &[&gone])),
                        (true, _) => (fill("This answer was given before “{}” was added.", &[&new])),
                    }
                    " " (say("The next one heeds it."))
                }
                p {
                    a.button href={ "/sessions/" (forms.session.id) "?ask=" (turn.number) "#next" } { (say("Ask again")) }
                    @if !gone.is_empty() { " " (say("in words that do not say it: the same words would be understood in the same way.")) }
                }
            }
        }
    }
}

/// Forgets something that was asked for.
pub async fn forget(
    visitor: Visitor,
    Path(id): Path<String>,
    Form(of): Form<Forgotten>,
) -> std::result::Result<Response, Fault> {
    let revision = (id.clone(), Some(of.revision));
    let changed = visitor.change(revision, LOOK, move |_, _, session| actions::forget(session, of.demand));
    conversation::after(&visitor, &id, changed.await, |(), _| "#memory".into(), "").await
}

/// Remembers a demand.
pub async fn demand(
    visitor: Visitor,
    Path(id): Path<String>,
    Form(of): Form<DemandForm>,
) -> std::result::Result<Response, Fault> {
    remember(&visitor, &id, of.revision, (of.role, of.value), "").await
}

/// Remembers what has to be in a respect; `typed` is what was typed for that.
pub async fn remember(
    visitor: &Visitor,
    id: &str,
    revision: u64,
    (role, value): (String, String),
    typed: &str,
) -> std::result::Result<Response, Fault> {
    let of = (id.to_string(), Some(revision));
    let changed = visitor.change(of, LOOK, move |lake, _, session| {
        let demand = lake.demand(role.trim().to_lowercase().as_str(), value.trim(), session.next_turn())?;
        session.demand(demand);
        Ok(())
    });
    conversation::after(visitor, id, changed.await, |(), _| "#memory".into(), typed).await
}
