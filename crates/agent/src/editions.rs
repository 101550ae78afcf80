//! Editions: tables that differ only by the year or month in their names, as `sales_2021` and `sales_22`, or
//! `leaks_2024_07` and `leaks_2024_08`. A request for another period than that of the table at hand goes to the
//! edition of that period.

mod moved_years;

use std::ops::Range;

use self::moved_years::{date_columns, with_years_moved};
use super::Agent;
use super::known_columns::AtHand;
use super::plan_reading::{Correction, Read};
use super::requested_table::replaced_source;
use super::scored::{Scored, best_table};
use crate::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Plan, Relation, Step, Union, UnionPart};
use lakeward_core::request::Input;
use lakeward_core::text::years::{LIKELY, year, years};
use lakeward_core::text::{is_function_word, lower_words, name_words};
use lakeward_lake::dataset::TableEntry;
use lakeward_reading::reader::{Act, How, MONTHS, NotApplied, RequestedTable, TurnReading, month_in_words};
use lakeward_search::union::{self, UnionOptions};

/// Words that ask for rows beside those at hand, not in their place.
const BESIDE: [&str; 9] = ["too", "also", "well", "both", "add", "append", "include", "including", "plus"];
/// Words that ask for two periods side by side.
const COMPARES: [&str; 6] = ["compare", "compared", "comparing", "comparison", "versus", "vs"];
/// Words between the first and the last of several periods.
const UNTIL: [&str; 5] = ["to", "through", "thru", "until", "till"];
/// Months that are other words as well, unless one of these stands before them or a year behind them.
const OTHER_WORDS: [&str; 3] = ["may", "march", "mar"];
const BEFORE_MONTHS: [&str; 16] = [
    "in", "of", "for", "from", "since", "until", "till", "during", "and", "or", "to", "through", "only", "just",
    "plus", "versus",
];
/// Tables that align with one at hand, among which an edition with other names is looked for.
const ALIGNED: usize = 20;
/// Most periods of one range.
const LONGEST_RANGE: usize = 24;

/// A year, a month of any year, or a month of a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Period {
    year: Option<i32>,
    month: Option<u32>,
}

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
        for input in base.inputs() {
            if let Input::Table(id) = input {
                at_hand.extend(self.table_of(id)?);
            }
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
        read.assembly.remarks.push(format!("`{}` by its name", editions.tables.join("`, `")));
        let is_beside = !matches!(&editions.plan.relation.source, Input::Table(id) if editions.tables.contains(id));
        let compares = lower_words(text).find(|word| COMPARES.contains(&word.as_str())).filter(|_| !is_beside);
        let alone = |word: String| NotApplied::left_out(word, "only the other period is shown");
        read.assembly.not_applied.extend(compares.map(alone));
        let moved = editions.moved.map(|[from, to]| format!("dates of {from} are those of {to}"));
        read.assembly.remarks.extend(moved);
        Ok(read)
    }

    /// Whether words name nothing but periods that all rows of `table` are of, as its name says.
    pub(super) fn says_own_period(table: &TableEntry, words: &str) -> bool {
        let said = periods(words);
        !said.is_empty() && said.iter().all(|said| is_named(table.id.as_str(), *said) && lies_in(table, *said))
    }

    /// Puts the edition of the first period that `text` names before the best table, where that is an edition of another one.
    ///
    /// # Errors
    /// A damaged index.
    pub(super) fn put_edition_first(&self, text: &str, scored: &mut Vec<Scored>) -> Result<()> {
        let Some(best) = best_table(scored).and_then(|best| best.candidate.dataset.table()).cloned() else {
            return Ok(());
        };
        let Some(first) = periods(text).first().copied().filter(|first| !is_of(&best, *first)) else { return Ok(()) };
        let Some(edition) = self.edition(&best, first)? else { return Ok(()) };
        if let Some(place) = scored.iter().position(|scored| scored.id() == edition.id) {
            let edition = scored.remove(place);
            scored.insert(0, edition);
        }
        Ok(())
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

/// The periods that a text names, each once; those between the ends of a range with them.
fn periods(text: &str) -> Vec<Period> {
    let words: Vec<String> = lower_words(text).collect();
    // With the places of their words.
    let mut found: Vec<(Range<usize>, Period)> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |before| words[before].as_str());
        if let Some(year) = year(word, LIKELY) {
            // "June and July 2024" are both of that year.
            match found.last_mut().filter(|(place, said)| place.end == at && said.year.is_none()) {
                Some((place, _)) => {
                    place.end = at + 1;
                    let months = found.iter_mut().rev().take_while(|(_, said)| said.year.is_none());
                    months.for_each(|(_, said)| said.year = Some(year));
                }
                None => found.push((at..at + 1, Period { year: Some(year), month: None })),
            }
        } else if let Some(month) = month_in_words(word).filter(|_| word.chars().all(char::is_alphabetic)) {
            let next = |behind: usize| words.get(at + behind).map_or("", String::as_str);
            let is_first = UNTIL.contains(&next(1)) && month_in_words(next(2)).is_some();
            let is_month = !OTHER_WORDS.contains(&word.as_str())
                || is_first
                || year(next(1), LIKELY).is_some()
                || words.len() == 1
                || BEFORE_MONTHS.contains(&before);
            if is_month {
                found.push((at..at + 1, Period { year: None, month: Some(month) }));
            }
        }
    }
    let mut each: Vec<Period> = Vec::new();
    for (place, (at, period)) in found.iter().enumerate() {
        let first = place.checked_sub(1).map(|place| &found[place]);
        let is_range = |(first, _): &&(Range<usize>, Period)| match at.start - first.end {
            0 => {
                ["-", "–"].iter().any(|dash| text.contains(&format!("{}{dash}{}", words[first.start], words[at.start])))
            }
            1 => UNTIL.contains(&words[first.end].as_str()),
            _ => false,
        };
        let between = first.filter(is_range).map_or_else(Vec::new, |(_, first)| between(*first, *period));
        for said in between.into_iter().chain([*period]) {
            if !each.contains(&said) {
                each.push(said);
            }
        }
    }
    each
}

/// The periods after `first` and before `last`.
fn between(first: Period, last: Period) -> Vec<Period> {
    let (from, to) = match (first, last) {
        (Period { year: Some(from), month: None }, Period { year: Some(to), month: None }) => {
            return (from + 1..to).take(LONGEST_RANGE).map(|year| Period { year: Some(year), month: None }).collect();
        }
        (Period { year: from, month: Some(first) }, Period { year: to, month: Some(last) })
            if from.is_some() == to.is_some() =>
        {
            (from.unwrap_or(0) * 12 + first as i32 - 1, to.unwrap_or(0) * 12 + last as i32 - 1)
        }
        _ => return Vec::new(),
    };
    let of = |month: i32| Period {
        year: first.year.map(|_| month.div_euclid(12)),
        month: Some(month.rem_euclid(12) as u32 + 1),
    };
    (from + 1..to).take(LONGEST_RANGE).map(of).collect()
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

/// Whether a name says a period.
fn is_named(id: &str, said: Period) -> bool {
    let runs = runs(id);
    let has = |text: Vec<String>| runs.iter().any(|run| text.contains(&id[run.clone()].to_lowercase()));
    said.year.is_none_or(|year| has(vec![year.to_string()])) && said.month.is_none_or(|month| has(written(month)))
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

/// The ways in which a name may write a month, in small letters.
fn written(month: u32) -> Vec<String> {
    let name = MONTHS[month as usize - 1];
    vec![format!("{month:02}"), name.to_string(), name[..3].to_string()]
}

/// The names that `id` would have for another period: its year, its month, or both are others.
fn names_of(id: &str, said: Period) -> Vec<String> {
    let runs = runs(id);
    let with_year = |run: &Range<usize>| {
        let year = said.year?;
        let old = &id[run.clone()];
        old.bytes().all(|byte| byte.is_ascii_digit()).then(|| match old.len() {
            4 => year.to_string(),
            _ => format!("{:02}", year % 100),
        })
    };
    let with_month = |run: &Range<usize>| {
        let (month, old) = (said.month?, &id[run.clone()]);
        let name = MONTHS[month as usize - 1];
        match old.parse::<u32>() {
            Ok(number) => (old.len() == 2 && (1..=12).contains(&number)).then(|| format!("{month:02}")),
            Err(_) => {
                let new = if old.len() == 3 { &name[..3] } else { name };
                let is_capital = old.starts_with(char::is_uppercase);
                Some(if is_capital { format!("{}{}", new[..1].to_uppercase(), &new[1..]) } else { new.to_string() })
            }
        }
    };
    let replaced = |mut changes: Vec<(&Range<usize>, String)>| {
        changes.sort_by_key(|(run, _)| std::cmp::Reverse(run.start));
        let mut name = id.to_string();
        changes.into_iter().for_each(|(run, new)| name.replace_range(run.clone(), &new));
        name
    };
    let mut names = Vec::new();
    for run in &runs {
        names.extend(with_year(run).filter(|_| said.month.is_none()).map(|new| replaced(vec![(run, new)])));
        let Some(month) = with_month(run) else { continue };
        // In the year that the name says, or in another.
        names.push(replaced(vec![(run, month.clone())]));
        let years = runs.iter().filter(|other| *other != run).filter_map(|other| Some((other, with_year(other)?)));
        names.extend(years.map(|(other, year)| replaced(vec![(run, month.clone()), (other, year)])));
    }
    names
}

/// The parts of `id` that may say a period: four digits that are a year, two digits, the name of a month.
fn runs(id: &str) -> Vec<Range<usize>> {
    let kind = |byte: u8| match byte {
        b'0'..=b'9' => 1,
        _ if byte.is_ascii_alphabetic() => 2,
        _ => 0,
    };
    let mut runs = Vec::new();
    let mut start = 0;
    let bytes = id.as_bytes();
    for at in 1..=bytes.len() {
        if at < bytes.len() && kind(bytes[at]) == kind(bytes[start]) {
            continue;
        }
        let text = id.get(start..at).unwrap_or_default();
        let is_period = match kind(bytes[start]) {
            1 => text.len() == 2 || year(text, LIKELY).is_some(),
            2 => text.len() == 3 && month_in_words(text).is_some() || MONTHS.contains(&text.to_lowercase().as_str()),
            _ => false,
        };
        if is_period {
            runs.push(start..at);
        }
        start = at;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_and_months_in_names() {
        let found = |id: &str| runs(id).into_iter().map(|run| id[run].to_string()).collect::<Vec<_>>();
        assert_eq!(found("sal/inv_2021"), ["2021"]);
        assert_eq!(found("wo/wo_21"), ["21"]);
        assert_eq!(found("zone3/f_00042"), Vec::<String>::new());
        assert_eq!(found("q1_2020_12"), ["2020", "12"]);
        assert_eq!(found("january24_é"), ["january", "24"]);
        assert_eq!(found("reads_Jan_24"), ["Jan", "24"]);
    }

    #[test]
    fn periods_are_read_as_people_write_them() {
        let of = |text: &str| periods(text).iter().map(|said| (said.year, said.month)).collect::<Vec<_>>();
        assert_eq!(of("the same for 2020"), [(Some(2020), None)]);
        assert_eq!(of("2018 to 2020"), [(Some(2018), None), (Some(2019), None), (Some(2020), None)]);
        assert_eq!(of("2018-2020").len(), 3);
        assert_eq!(of("stick june + july on"), [(None, Some(6)), (None, Some(7))]);
        assert_eq!(of("June and July 2024, please"), [(Some(2024), Some(6)), (Some(2024), Some(7))]);
        assert_eq!(of("nov 2023 to feb 2024").len(), 4);
        assert_eq!(of("what may be wrong with the march of progress"), []);
        assert_eq!(of("in may"), [(None, Some(5))]);
    }

    #[test]
    fn names_of_another_period() {
        let of = |id: &str, year, month| names_of(id, Period { year, month });
        assert_eq!(of("leaks_2024_07", None, Some(8)), ["leaks_2024_08"]);
        assert_eq!(of("leaks_2024_07", Some(2023), Some(8)), ["leaks_2024_08", "leaks_2023_08"]);
        assert_eq!(of("leaks_July_24", None, Some(8))[0], "leaks_August_24");
        assert_eq!(of("inv_21", Some(2022), None), ["inv_22"]);
    }
}
