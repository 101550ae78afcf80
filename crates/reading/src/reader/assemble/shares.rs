//! Shares: of a number's total, of rows that meet a condition.

use lakeward_core::message;
use lakeward_core::plan::{Branch, Condition, Expression, Measure, MeasureFunction, Step, Value};
use lakeward_core::text::{is_function_word, lower_words, name_likeness};

use super::Assembler;
use super::groups::count;
use super::yes_no::says_yes_or_no;
use crate::reader::layout::Level;
use crate::reader::span::{Role, Span};

/// A share of 1 in per cent, and what shares are called.
const PERCENT: f64 = 100.0;
const PERCENTAGE: &str = "percent";

impl Assembler<'_> {
    /// Whether a share of a column's total is one of sums: of groups, or of the rows that meet a condition.
    pub(super) fn is_share_of_sum(&self, span: &Span) -> bool {
        let sums = !self.spans(Role::Group).is_empty() && self.spans(Role::Measure).is_empty();
        let of_rows = self.quantity(span).is_some() && !self.layout.is_grouped();
        span.is_share() && of_rows && (sums || self.counted_by_share().is_some())
    }

    /// The number of every row that a share is of: one named in its span or right behind it ("what share of all passengers").
    pub(super) fn quantity(&self, share: &Span) -> Option<usize> {
        let is_bare = |word: &String| word == "all" || is_function_word(word);
        let text = self.reading.text.get(share.bytes.start..).unwrap_or_default();
        let behind = lower_words(text).skip_while(|word| word != "of").skip_while(is_bare);
        let said: Vec<String> = behind.take_while(|word| !is_bare(word)).take(2).collect();
        let own: Vec<String> = lower_words(&share.words).collect();
        let is_quantity = |place: &usize| {
            let column = &self.schema.columns[*place];
            let names = |word: &String| name_likeness(word, &column.name) > 0.5;
            let is_said = column.quantity && said.iter().any(names);
            let is_own = share.columns.contains(place) && own.iter().any(names);
            let is_read = is_own && (column.quantity || share.role == Role::Derive);
            column.kind.is_number() && !column.of_result && !says_yes_or_no(column) && (is_said || is_read)
        };
        (0..self.schema.columns.len()).find(is_quantity)
    }

    /// A share: of a number's total or of the rows, in each group or in the rows that meet a condition.
    pub(super) fn share(&mut self, span: &Span) -> Option<Measure> {
        let quantity = self.quantity(span);
        let within: Vec<String> = self.spans(Role::Group).iter().flat_map(|(_, span)| self.names(span)).collect();
        let condition = self.counted_by_share().and_then(|place| self.condition(&self.reading.spans[place]));
        let of = quantity.map(|column| self.name(column));
        let Some(condition) = condition else {
            let function = MeasureFunction::Share { within: Vec::new(), times: PERCENT };
            return Some(Measure { function, of: of.map(Expression::Column), condition: None, name: None });
        };
        let Some(of) = of else { return Some(percentage_of(condition)) };
        let part = format!("{of}_percent");
        let of = Box::new(Expression::Column(of));
        let derived = Step::Derive { name: part.clone(), value: Expression::Share { of, within, times: PERCENT } };
        let rows = &mut self.layout.last().rows;
        if !rows.contains(&derived) {
            rows.push(derived);
        }
        let (of, name) = (Some(Expression::Column(part)), Some(PERCENTAGE.to_string()));
        Some(Measure { function: MeasureFunction::Sum, of, condition: Some(condition), name })
    }

    /// Whether a span speaks of the one figure that stands of all rows: of itself it is always the whole.
    pub(super) fn is_of_one_figure(&mut self, span: &Span) -> bool {
        let of_result = self.names(span).first().is_some_and(|name| self.is_of_result(name));
        let grouping = self.layout.grouped().and_then(Level::grouping);
        of_result && grouping.is_some_and(|grouping| grouping.keys.is_empty())
    }

    /// Makes a number of rows that meet conditions their share of all rows; of another figure nothing is computed.
    pub(super) fn share_of_all_rows(&mut self, place: usize) {
        let Some(level) = self.layout.grouped() else { return };
        let counts = level.grouping().is_some_and(|grouping| grouping.measures == [count()]);
        let is_condition = |step: &Step| matches!(step, Step::Filter(_));
        let conditions = level.rows.iter().filter_map(|step| match step {
            Step::Filter(condition) => Some(condition.clone()),
            _ => None,
        });
        let Some(condition) = conditions.reduce(Condition::and).filter(|_| counts) else {
            self.refuse(place, "the share of one figure of itself is always 100 %");
            return;
        };
        level.rows.retain(|step| !is_condition(step));
        let of_rows = message!("it is the share of all rows for which {}", condition.message());
        level.grouping().into_iter().for_each(|grouping| grouping.measures = vec![percentage_of(condition.clone())]);
        self.done[place] = true;
        self.remarks.push(of_rows);
    }
}

/// The percentage of rows that meet a condition.
fn percentage_of(condition: Condition) -> Measure {
    let [hundred, nothing] = [PERCENT, 0.0].map(|number| Expression::Value(Value::Number(number)));
    let branches = vec![Branch { when: condition, then: hundred }];
    let counted = Expression::Case { branches, otherwise: Some(Box::new(nothing)) };
    let name = Some(PERCENTAGE.to_string());
    Measure { function: MeasureFunction::Mean, of: Some(counted), condition: None, name }
}
