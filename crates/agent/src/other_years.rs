//! Tables that are one but for the year in their names, as `sales_2021` and `sales_22`: what is asked for other years than those of the table at
//! hand is asked of its editions.

use super::Agent;
use super::known_columns::AtHand;
use super::plan_reading::Read;
use super::wanted_table::replaced_source;
use crate::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Plan, Relation, Step, Union, UnionPart};
use lakeward_core::request::Input;
use lakeward_core::text::lower_words;
use lakeward_core::text::years::{LIKELY, year, years};
use lakeward_lake::dataset::TableEntry;
use lakeward_reading::reader::{Act, TurnReading};

/// Words that ask for rows beside those at hand, not in their place.
const BESIDE: [&str; 9] = ["too", "also", "well", "both", "add", "append", "include", "including", "plus"];

/// A plan over editions of other years.
pub(super) struct OtherYears {
    /// The plan.
    pub plan: Plan,
    years: Vec<i32>,
    tables: Vec<String>,
}

impl OtherYears {
    /// The turn without the years, which its tables are of.
    pub fn without_years(&self, turn: &mut TurnReading) {
        turn.spans.retain(|span| !years(&span.words, LIKELY).any(|said| self.years.contains(&said)));
        if turn.spans.is_empty() {
            turn.acts = vec![Act::Refine];
        }
    }
}

impl Agent<'_> {
    /// `base` over the editions of the years that `text` names, where no table of it covers them and each has an edition: beside the rows at hand
    /// or in their place. None where rows at hand are kept by their year already, as no row of another one would be left.
    ///
    /// # Errors
    /// A damaged index.
    pub(super) fn in_other_years(&self, text: &str, base: &Plan) -> Result<Option<OtherYears>> {
        let Input::Table(id) = &base.relation.source else { return Ok(None) };
        let Some(own) = self.table_of(id)? else { return Ok(None) };
        let mut at_hand = Vec::new();
        for input in base.inputs() {
            if let Input::Table(id) = input {
                at_hand.extend(self.table_of(id)?);
            }
        }
        let covers = |said: i32| at_hand.iter().any(|table| is_of(table, said));
        let (mut asked, mut says_own) = (Vec::new(), false);
        for said in years(text, LIKELY) {
            says_own |= covers(said);
            if !covers(said) && !asked.contains(&said) {
                asked.push(said);
            }
        }
        let mut tables = Vec::new();
        for said in &asked {
            let Some(edition) = self.edition(&own, *said)? else { return Ok(None) };
            tables.push(edition);
        }
        if tables.is_empty() || keeps_year(base, &covers)? {
            return Ok(None);
        }
        let names = own.profile.columns.iter().map(|column| (column.name.clone(), column.name.clone()));
        let names: Vec<(String, String)> = names.collect();
        let part =
            |table: &String| UnionPart { columns: names.clone(), with: Relation::of(Input::Table(table.clone())) };
        let beside = says_own || lower_words(text).any(|word| BESIDE.contains(&word.as_str()));
        let (mut plan, others) = match &tables[..] {
            [first, rest @ ..] if !beside => (replaced_source(base, Input::Table(first.clone()), Vec::new()), rest),
            all => (base.clone(), all),
        };
        if !others.is_empty() {
            let others = others.iter().map(part).collect();
            plan.relation.steps.insert(0, Step::Union(Union { others, keep_extra: false, source_column: None }));
        }
        Ok(Some(OtherYears { plan, years: asked, tables }))
    }

    /// How a turn reads over editions of other years, which is told.
    ///
    /// # Errors
    /// Those of [`Agent::assembled`].
    pub(super) fn read_in_other_years(
        &self,
        session: &Session,
        text: &str,
        other: &OtherYears,
        at_hand: Option<AtHand<'_>>,
    ) -> Result<Read> {
        let mut read = self.assembled(session, text, &other.plan, at_hand, &|turn| other.without_years(turn))?;
        read.assembly.remarks.push(format!("`{}` by the year", other.tables.join("`, `")));
        Ok(read)
    }

    /// The table with the columns of `own` and its name, but of a year.
    fn edition(&self, own: &TableEntry, said: i32) -> Result<Option<String>> {
        let id = own.id.as_str();
        for run in numbers(id) {
            let written = if id[run.clone()].len() == 4 { said.to_string() } else { format!("{:02}", said % 100) };
            let other = format!("{}{written}{}", &id[..run.start], &id[run.end..]);
            let Some(table) = self.table_of(&other)? else { continue };
            let has = |name: &String| table.profile.columns.iter().any(|column| column.name == *name);
            if other != id && own.profile.columns.iter().all(|column| has(&column.name)) {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    fn table_of(&self, id: &str) -> Result<Option<TableEntry>> {
        let Some(table) = self.index.get(id)? else { return Ok(None) };
        Ok(self.index.dataset(table)?.table().cloned())
    }
}

/// Whether rows of a table are of a year, by their dates or else by its name.
fn is_of(table: &TableEntry, said: i32) -> bool {
    match table.profile.time.as_ref().map(|time| time.years()) {
        Some((Some(from), Some(to))) => (from..=to).contains(&said),
        _ => years(table.id.as_str(), LIKELY).any(|own| own == said),
    }
}

/// Whether a condition of `plan` has a year for which `is_there` says that rows at hand are of it.
fn keeps_year(plan: &Plan, is_there: &dyn Fn(i32) -> bool) -> Result<bool> {
    for step in plan.relation.steps.iter().filter(|step| matches!(step, Step::Filter(_))) {
        let written = serde_json::to_string(step).map_err(|error| Error::Internal(error.to_string()))?;
        if years(&written, LIKELY).any(is_there) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The runs of four digits in `id` that are a year, and those of two.
fn numbers(id: &str) -> Vec<std::ops::Range<usize>> {
    let mut runs = Vec::new();
    let mut start = None;
    for (at, is_digit) in id.bytes().map(|byte| byte.is_ascii_digit()).chain([false]).enumerate() {
        match (start, is_digit) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                if at - from == 2 || year(&id[from..at], LIKELY).is_some() {
                    runs.push(from..at);
                }
                start = None;
            }
            _ => {}
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn years_in_names_have_four_digits_or_two() {
        let found = |id: &str| numbers(id).into_iter().map(|run| id[run].to_string()).collect::<Vec<_>>();
        assert_eq!(found("sal/inv_2021"), ["2021"]);
        assert_eq!(found("wo/wo_21"), ["21"]);
        assert_eq!(found("zone3/f_00042"), Vec::<String>::new());
        assert_eq!(found("q1_2020_12"), ["2020", "12"]);
    }
}
