//! An aggregate made of what a request names: groups from its granularity and from "per" and "by", figures from its words.

use super::RankedOperation;
use super::fit::{is_group, is_measure};
use super::mentions::{Mention, Phrases};
use super::next_operations::{Base, Situation, listed, met, proposal, unmet, without_table};
use lakeward_core::plan::{DatePart, Expression, Grouping, Key, Measure, MeasureFunction, Step};
use lakeward_core::request::OperationKind;
use lakeward_core::text::name_likeness;
use lakeward_core::text::{bare, name_words};
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::{LogicalType, SemanticType};

/// Words for figures; the first that occurs counts.
const FUNCTIONS: [(&[&str], MeasureFunction); 6] = [
    (&["median", "medians"], MeasureFunction::Median),
    (&["average", "averages", "avg", "mean", "means"], MeasureFunction::Mean),
    (&["total", "totals", "sum", "sums", "altogether", "overall"], MeasureFunction::Sum),
    (&["highest", "maximum", "max", "peak", "greatest", "largest"], MeasureFunction::Max),
    (&["lowest", "minimum", "min", "least", "smallest"], MeasureFunction::Min),
    (&["distinct", "different", "unique"], MeasureFunction::CountDistinct),
];
/// A header this much like a part of the granularity is meant by it.
const MEANT: f64 = 0.7;
/// Measures of which figures are computed where none is named.
const MOST_MEASURES: usize = 3;

/// The aggregate that the request asks of the base table.
pub fn propose(situation: &Situation<'_>, phrases: &Phrases) -> RankedOperation {
    let kind = OperationKind::Aggregate;
    let Some(base) = &situation.base else { return without_table(situation, kind) };
    let columns = &base.entry.profile.columns;
    let mentions = phrases.columns(columns);
    let groups = groups(situation, base, &mentions);
    let measures = measures(situation.text, columns, &mentions, &groups);
    let id = base.entry.id.as_str();
    let group_names: Vec<String> = groups.iter().map(|group| group.column.name.clone()).collect();
    let mut preconditions = vec![match group_names.is_empty() {
        false => met(format!("groups by {}", listed(&group_names))),
        true => unmet(format!("nothing in the request names a grouping column of `{id}`: one row over all")),
    }];
    let named: Vec<String> = measures.iter().filter_map(|measure| Some(measure.of.as_ref()?.to_string())).collect();
    preconditions.push(match (named.is_empty(), columns.iter().any(is_measure)) {
        (false, _) => met(format!("computes from {}", listed(&named))),
        (true, true) => met("counts rows"),
        (true, false) => unmet(format!("`{id}` has no column of numbers: it counts rows")),
    });
    let by = if group_names.is_empty() { "over all rows".into() } else { format!("per {}", listed(&group_names)) };
    let figures = if named.is_empty() { "counts rows".into() } else { format!("figures of {}", listed(&named)) };
    let keys = groups.iter().map(Group::key).collect();
    let step = Step::Group(Grouping { keys, measures });
    RankedOperation {
        table: Some(id.to_string()),
        runnable: Some(base.plan.clone().then(step)),
        ..proposal(kind, preconditions, format!("{figures} {by}, of `{id}`"))
    }
}

/// A grouping column.
struct Group<'a> {
    column: &'a ColumnProfile,
    /// For dates, the part to group by.
    part: Option<DatePart>,
}

impl Group<'_> {
    fn key(&self) -> Key {
        let column = Expression::column(&self.column.name);
        let of = match self.part {
            Some(part) => Expression::Part { part, of: Box::new(column) },
            None => column,
        };
        Key { of, name: None }
    }
}

/// Grouping columns: those that the wanted granularity names, else those named after "per", "by" or "each", else those
/// mentioned that can group.
fn groups<'a>(situation: &Situation<'_>, base: &Base<'a>, mentions: &[Mention]) -> Vec<Group<'a>> {
    let columns = &base.entry.profile.columns;
    let mut keys: Vec<Group<'a>> = Vec::new();
    let mut push = |column: &'a ColumnProfile, part: Option<DatePart>| {
        let temporal = matches!(column.logical, LogicalType::Date | LogicalType::Timestamp);
        if !keys.iter().any(|known| known.column.name == column.name) {
            keys.push(Group { column, part: part.filter(|_| temporal) });
        }
    };
    for part in &situation.signals.constraints.granularity {
        if let Some((column, date_part)) = column_meant(part, base) {
            push(column, date_part);
        }
    }
    let words = words_before(situation.text);
    for mention in mentions {
        let Some(column) = columns.get(mention.column) else { continue };
        let led = words.get(mention.word).is_some_and(|lead| *lead);
        if led && (is_group(column) || !is_measure(column)) {
            push(column, None);
        }
    }
    keys
}

/// For each word of the request as [`Phrases`] counts them: whether "per", "by", "each" or an "and" after such stands before.
fn words_before(text: &str) -> Vec<bool> {
    let mut leads = Vec::new();
    let mut open = 0;
    for word in text.split_whitespace() {
        leads.push(open > 0);
        open = match bare(word).to_lowercase().as_str() {
            "per" | "by" | "each" | "every" => 4,
            "and" if open > 0 => 3,
            _ => open - i32::from(open > 0),
        };
        if word.ends_with(['.', ';', '?', '!']) {
            open = 0;
        }
    }
    leads
}

/// The column that a part of a granularity means, with the part of the date where it means one.
fn column_meant<'a>(part: &str, base: &Base<'a>) -> Option<(&'a ColumnProfile, Option<DatePart>)> {
    let columns = &base.entry.profile.columns;
    let best =
        columns.iter().map(|column| (name_likeness(part, &column.name), column)).max_by(|a, b| a.0.total_cmp(&b.0));
    let date_part = match name_words(part).last().map(String::as_str) {
        Some("year" | "yearly" | "annual" | "years") => Some(DatePart::Year),
        Some("month" | "monthly" | "months") => Some(DatePart::YearMonth),
        Some("day" | "daily" | "date" | "days") => Some(DatePart::Date),
        _ => None,
    };
    if let Some((_, column)) = best.filter(|(likeness, _)| *likeness >= MEANT) {
        return Some((column, date_part));
    }
    let of = |wanted: &[SemanticType]| {
        columns.iter().find(|column| column.semantic.is_some_and(|semantic| wanted.contains(&semantic)))
    };
    let meant = match (date_part, part.to_lowercase().as_str()) {
        (Some(DatePart::Year), _) => of(&[SemanticType::Year]).or_else(|| of(&[SemanticType::Time])),
        (Some(_), _) => of(&[SemanticType::Time]),
        (None, "country" | "countries" | "nation") => of(&[SemanticType::Country, SemanticType::CountryCode]),
        (None, "state" | "states") => of(&[SemanticType::UsState]),
        _ => None,
    };
    meant.map(|column| (column, date_part))
}

/// What is computed: the figure that the request names, of the columns it names.
fn measures(text: &str, columns: &[ColumnProfile], mentions: &[Mention], groups: &[Group<'_>]) -> Vec<Measure> {
    let words = name_words(text);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let function = FUNCTIONS.iter().find(|(words, _)| has(words)).map(|(_, function)| function.clone());
    let grouped = |column: &ColumnProfile| groups.iter().any(|group| group.column.name == column.name);
    let free = |place: usize| columns.get(place).filter(|column| !grouped(column));
    let measure = |function: MeasureFunction, column: Option<&ColumnProfile>| {
        let of = column.map(|column| Expression::column(&column.name));
        Measure { function, of, condition: None, name: None }
    };
    let count = measure(MeasureFunction::Count, None);
    let counts = has(&["how", "many", "count", "counts", "number", "headcount"]);
    let Some(function) = function else {
        let named: Vec<Measure> = mentions
            .iter()
            .filter_map(|mention| free(mention.column))
            .filter(|column| is_measure(column) && !counts)
            .map(|column| measure(MeasureFunction::Sum, Some(column)))
            .collect();
        return if named.is_empty() { vec![count] } else { named };
    };
    let fits = |column: &&ColumnProfile| function == MeasureFunction::CountDistinct || is_measure(column);
    let mut named: Vec<&ColumnProfile> =
        mentions.iter().filter_map(|mention| free(mention.column)).filter(fits).collect();
    if named.is_empty() {
        named = columns.iter().filter(|column| is_measure(column) && !grouped(column)).take(MOST_MEASURES).collect();
    }
    let mut measures: Vec<Measure> = named.into_iter().map(|column| measure(function.clone(), Some(column))).collect();
    if measures.is_empty() || counts {
        measures.insert(0, count);
    }
    measures
}
