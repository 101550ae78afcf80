//! Editions: tables that differ only by the year or month in their names, as `sales_2021` and `sales_22`, or
//! `leaks_2024_07` and `leaks_2024_08`. A request for another period than that of the table at hand goes to the
//! edition of that period.

mod moved_years;
mod period;

use self::moved_years::{date_columns, with_years_moved};
use self::period::{Period, is_named, names_of, periods};
use super::Agent;
use super::known_columns::AtHand;
use super::plan_reading::{Correction, Read};
use super::requested_table::replaced_source;
use super::scored::{Scored, best_table, with_first};
use crate::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::message;
use lakeward_core::plan::{Plan, Relation, Step, Union, UnionPart};
use lakeward_core::request::Input;
use lakeward_core::text::years::{LIKELY, years};
use lakeward_core::text::{is_function_word, lower_words, name_words};
use lakeward_lake::dataset::TableEntry;
use lakeward_reading::reader::{Act, How, NotApplied, RequestedTable, TurnReading};
use lakeward_search::union::{self, UnionOptions};

/// Words that ask for rows beside those at hand, not in their place.
const BESIDE: [&str; 9] = ["too", "also", "well", "both", "add", "append", "include", "including", "plus"];
/// Words that ask for two periods side by side.
const COMPARES: [&str; 6] = ["compare", "compared", "comparing", "comparison", "versus", "vs"];
/// Tables that align with one at hand, among which an edition with other names is looked for.
const ALIGNED: usize = 20;
/// A year, and a month where that is known.
type Date = (i32, Option<u32>);

/// A table of another period.
struct Edition {
    id: String,
    /// The columns of the table at hand with what they are called here.
    columns: Vec<(String, String)>,
}

/// A plan over editions of other periods.
pub(super) struct Editions {
    /// The plan.
    pub plan: Plan,
    periods: Vec<Period>,
    tables: Vec<String>,
    /// The year that conditions had, and the one that they have now.
    moved: Option<[i32; 2]>,
}

impl Editions {
    /// The turn without the periods, which its tables are of.
    pub fn without_periods(&self, turn: &mut TurnReading) {
        let says_other = |words: &str| periods(words).iter().any(|said| self.periods.contains(said));
        turn.spans.retain(|span| !says_other(&span.words));
        turn.unread.retain(|word| !says_other(word));
        if turn.spans.is_empty() {
            turn.acts = vec![Act::Refine];
        }
    }
}

impl Agent<'_> {
    /// `base` over the editions that a text wants, where the other `tables` that it wants are wanted by nothing but a period: "the same for 2022".
    ///
    /// # Errors
    /// A damaged index.
    pub(super) fn requested_editions(
        &self,
        text: &str,
        base: &Plan,
        tables: &[RequestedTable],
    ) -> Result<Option<Editions>> {
        let is_period = |requested: &RequestedTable| {
            let mut said = name_words(&requested.words).into_iter().filter(|word| !is_function_word(word));
            let is_said = |word: &str| word == "same" || !periods(word).is_empty();
            requested.id.is_none() && requested.columns.is_empty() && said.all(|word| is_said(&word))
        };
        match tables.iter().all(is_period) {
            true => {
                // "The same" of another year comes in the place of what there is.
                let is_same = lower_words(text).any(|word| word == "same");
                self.in_editions(text, base, !is_same && tables.iter().any(|requested| requested.how == How::Union))
            }
            false => Ok(None),
        }
    }

    /// `base` over the editions of the periods that `text` names, where no table of it covers them and each has an edition: beside the rows at hand
    /// where it `appends`, or in their place. Where rows at hand are kept by dates of their year, those of another year are kept by the same dates of
    /// that; none where they are kept by other periods, as no row would be left.
    ///
    /// # Errors
    /// A damaged index.
    fn in_editions(&self, text: &str, base: &Plan, appends: bool) -> Result<Option<Editions>> {
        let said = periods(text);
        let Input::Table(id) = &base.relation.source else { return Ok(None) };
        let Some(own) = self.table_of(id)?.filter(|_| !said.is_empty()) else { return Ok(None) };
        let mut at_hand = Vec::new();
        for id in base.tables() {
            at_hand.extend(self.table_of(id)?);
        }
        let covers = |said: Period| at_hand.iter().any(|table| is_of(table, said));
        let (own_periods, asked): (Vec<Period>, Vec<Period>) = said.into_iter().partition(|said| covers(*said));
        let mut editions = Vec::new();
        for said in &asked {
            let Some(edition) = self.edition(&own, *said)? else { return Ok(None) };
            editions.push(edition);
        }
        let kept = kept_periods(base)?;
        let beside =
            appends || !own_periods.is_empty() || lower_words(text).any(|word| BESIDE.contains(&word.as_str()));
        let is_one_table = !base.relation.steps.iter().any(|step| matches!(step, Step::Union(_)));
        let moved = match asked[..] {
            [Period { year: Some(to), month: None }] if !beside && is_one_table => year_of(&own).map(|from| [from, to]),
            _ => None,
        };
        let is_moved = |kept: &Period| {
            // What is before the end of a year is before the first day of the next.
            moved.is_some_and(|[from, _]| kept.year.is_none_or(|year| (from..=from + 1).contains(&year)))
        };
        let moved = moved.filter(|_| kept.iter().any(|kept| kept.year.is_some()) && kept.iter().all(is_moved));
        let is_kept = |kept: &Period| kept.year.is_some() && covers(*kept);
        if editions.is_empty() || (moved.is_none() && kept.iter().any(is_kept)) {
            return Ok(None);
        }
        let tables: Vec<String> = editions.iter().map(|edition| edition.id.clone()).collect();
        let mut editions = editions.into_iter();
        let mut plan = match (!beside).then(|| editions.next()).flatten() {
            Some(Edition { id, columns }) => {
                let renamed = columns.into_iter().filter(|(own, other)| own != other);
                replaced_source(base, Input::Table(id), renamed.map(|(own, other)| (other, own)).collect())
            }
            None => base.clone(),
        };
        let others: Vec<UnionPart> = editions
            .map(|Edition { id, columns }| UnionPart { columns, with: Relation::of(Input::Table(id)) })
            .collect();
        if !others.is_empty() {
            plan.relation.steps.insert(0, Step::Union(Union { others, keep_extra: false, source_column: None }));
        }
        // Rows of one period need no condition on it; one on months has to become one on those of the edition.
        let of_all = own_periods.into_iter().filter(|said| lies_in(&own, *said) && dates_of(&own).is_some());
        let says_all = kept.is_empty() || moved.is_some();
        let periods = if says_all { asked.into_iter().chain(of_all).collect() } else { Vec::new() };
        if let Some([from, to]) = moved {
            let dates = date_columns(&own);
            for step in plan.relation.steps.iter_mut().filter(|step| matches!(step, Step::Filter(_))) {
                *step = with_years_moved(step, &dates, from, to - from)?;
            }
            // What else has the year, a text or a number, would leave no row or the wrong ones.
            let is_left = |kept: &Period| kept.year.is_some_and(|year| year != to && year != to + 1);
            if kept_periods(&plan)?.iter().any(is_left) {
                return Ok(None);
            }
        }
        Ok(Some(Editions { plan, periods, tables, moved }))
    }

    /// How a turn reads over editions of other periods, which is told.
    ///
    /// # Errors
    /// Those of [`Agent::assembled`].
    pub(super) fn read_in_editions(
        &self,
        session: &Session,
        text: &str,
        editions: &Editions,
        (at_hand, corrected): (Option<AtHand<'_>>, &Correction<'_>),
    ) -> Result<Read> {
        let without_periods = |turn: &mut TurnReading| {
            corrected(turn);
            editions.without_periods(turn);
        };
        let mut read = self.assembled(session, text, &editions.plan, at_hand, &without_periods)?;
        read.assembly.remarks.push(message!("`{}` by its name", editions.tables.join("`, `")));
        let is_beside = !matches!(&editions.plan.relation.source, Input::Table(id) if editions.tables.contains(id));
        let compares = lower_words(text).find(|word| COMPARES.contains(&word.as_str())).filter(|_| !is_beside);
        let alone = |word: String| NotApplied::left_out(word, message!("only the other period is shown"));
        read.assembly.not_applied.extend(compares.map(alone));
        let moved = editions.moved.map(|[from, to]| message!("dates of {} are those of {}", from, to));
        read.assembly.remarks.extend(moved);
        Ok(read)
    }

    /// Whether words name nothing but periods that all rows of `table` are of, as its name says.
    pub(super) fn says_own_period(table: &TableEntry, words: &str) -> bool {
        let said = periods(words);
        !said.is_empty() && said.iter().all(|said| is_named(table.id.as_str(), *said) && lies_in(table, *said))
    }

    /// The candidates, the edition of the first period that `text` names before all, where the best table is an edition of another one.
    ///
    /// # Errors
    /// A damaged index.
    pub(super) fn with_edition_first(&self, text: &str, scored: Vec<Scored>) -> Result<Vec<Scored>> {
        let best = best_table(&scored).and_then(|best| best.candidate.dataset.table());
        let other = periods(text).first().copied().zip(best).filter(|(first, best)| !is_of(best, *first));
        let edition = other.map(|(first, best)| self.edition(best, first)).transpose()?.flatten();
        Ok(match edition {
            Some(edition) => with_first(scored, |id| id == edition.id),
            None => scored,
        })
    }

    /// The table with the columns of `own`, by these names or others, and with its name, but of a period. What a table holds goes before what its
    /// name says.
    fn edition(&self, own: &TableEntry, said: Period) -> Result<Option<Edition>> {
        let id = own.id.as_str();
        let columns = || own.profile.columns.iter().map(|column| &column.name);
        let mut renamed = None;
        for other in names_of(id, said) {
            let Some(table) = self.table_of(&other)? else { continue };
            let is_edition = other != id && (said.month.is_none() || is_of(&table, said));
            if !is_edition {
                continue;
            }
            if columns().all(|name| table.profile.columns.iter().any(|column| column.name == *name)) {
                let columns = columns().map(|name| (name.clone(), name.clone())).collect();
                return Ok(Some(Edition { id: other, columns }));
            }
            renamed = match renamed {
                None => self.renamed_edition(id, other)?,
                known => known,
            };
        }
        Ok(renamed)
    }

    /// `other` as an edition of `own`, where all columns of `own` align with some of it.
    fn renamed_edition(&self, own: &str, other: String) -> Result<Option<Edition>> {
        let Some(table) = self.open_candidate(own)? else { return Ok(None) };
        let options = UnionOptions { k: ALIGNED, count_rows: false, weights: &self.ranking };
        let aligned = union::search(self.index, self.lake, &table, &options)?;
        let found = aligned.into_iter().find(|answer| answer.table == other && answer.unmatched.is_empty());
        let pairs = found.map(|found| found.alignment.into_iter().map(|pair| (pair.query_column, pair.column)));
        Ok(pairs.map(|pairs| Edition { id: other, columns: pairs.collect() }))
    }

    fn table_of(&self, id: &str) -> Result<Option<TableEntry>> {
        let Some(table) = self.index.get(id)? else { return Ok(None) };
        Ok(self.index.dataset(table)?.table().cloned())
    }
}

/// First and last date of a table.
fn dates_of(table: &TableEntry) -> Option<(Date, Date)> {
    let time = table.profile.time.as_ref()?;
    Some((dated(&time.from)?, dated(&time.to)?))
}

/// Whether no row of a table is of another period, as far as it has dates.
fn lies_in(table: &TableEntry, said: Period) -> bool {
    let is_in = |(year, month): Date| {
        said.year.is_none_or(|said| said == year) && said.month.is_none_or(|said| month == Some(said))
    };
    let is_one_year = |(from, to): &(Date, Date)| said.year.is_some() || from.0 == to.0;
    dates_of(table).is_none_or(|dates| is_in(dates.0) && is_in(dates.1) && is_one_year(&dates))
}

/// Whether rows of a table are of a period, by their dates or else by its name.
fn is_of(table: &TableEntry, said: Period) -> bool {
    let named = |said: Period| is_named(table.id.as_str(), said);
    match (dates_of(table), said) {
        (None, _) => named(said),
        (Some(((from, _), (to, _))), Period { year: Some(year), month: None }) => (from..=to).contains(&year),
        (Some(((from, Some(first)), (to, Some(last)))), Period { year, month: Some(month) }) => {
            let (from, to) = (from * 12 + first as i32, to * 12 + last as i32);
            let (least, most) = year.map_or((from.div_euclid(12) - 1, to.div_euclid(12) + 1), |year| (year, year));
            (least..=most).any(|year| (from..=to).contains(&(year * 12 + month as i32)))
        }
        // Dates to the year say nothing of months, and neither may the name.
        (Some(((from, _), (to, _))), Period { year, month: Some(month) }) => {
            let is_year = year.is_none_or(|year| (from..=to).contains(&year));
            is_year
                && (!(1..=12).any(|other| named(Period { year: None, month: Some(other) }))
                    || named(Period { year: None, month: Some(month) }))
        }
        (Some(_), Period { year: None, month: None }) => true,
    }
}

/// The year of a date, and the month where it says one.
fn dated(text: &str) -> Option<Date> {
    let month = text.get(5..7).and_then(|month| month.parse().ok()).filter(|month| (1..=12).contains(month));
    Some((text.get(..4)?.parse().ok()?, month))
}

/// The years that conditions of `plan` have, and a period without a year for each that is about months.
fn kept_periods(plan: &Plan) -> Result<Vec<Period>> {
    let mut kept = Vec::new();
    for step in plan.relation.steps.iter().filter(|step| matches!(step, Step::Filter(_))) {
        let written = serde_json::to_string(step).map_err(|error| Error::Internal(error.to_string()))?;
        kept.extend(years(&written, LIKELY).map(|year| Period { year: Some(year), month: None }));
        kept.extend(written.contains("\"month\"").then_some(Period { year: None, month: None }));
    }
    Ok(kept)
}

/// The one year that a table is of, by its dates or else by its name.
fn year_of(table: &TableEntry) -> Option<i32> {
    match dates_of(table) {
        Some(((from, _), (to, _))) => (from == to).then_some(from),
        None => {
            let mut named = years(table.id.as_str(), LIKELY);
            named.next().filter(|_| named.next().is_none())
        }
    }
}
