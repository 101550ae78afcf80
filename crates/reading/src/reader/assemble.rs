//! Makes a plan of a turn that was read: its spans become conditions, measures, keys and orders in the slots of the
//! plan.
//!
//! Types decide what is possible: a number is not compared with a column of names, an order needs a column. What
//! cannot be put into the plan is returned with the reason; nothing that was read is dropped in silence. Other tables
//! are returned as descriptions, as only a search can find them.

mod age;
mod bounds;
mod columns;
mod computed;
mod conditions;
mod doubted;
mod figures;
mod groups;
mod no_rows;
mod order;
mod rounding;
mod shares;
mod tables;
mod take_back;
mod values;
mod yes_no;

pub use tables::{RequestedTable, with_table};

use lakeward_core::plan::Plan;
use lakeward_core::text::{is_function_word, lower_words, name_key, name_words};

use super::grounding;
use super::layout::Layout;
use super::not_applied::NotApplied;
use super::number::number;
use super::schema::{ColumnKind, Schema, SchemaColumn, StandIn};
use super::span::{Function, Role, Span, TurnReading};
use super::unit::Unit;
use super::value_match::value_features;
use super::words::words;
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::request::Act;

/// What a turn makes of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembly {
    /// The plan with what the turn says of rows and columns; the same one where it says nothing.
    pub plan: Plan,
    /// The tables wanted.
    pub tables: Vec<RequestedTable>,
    /// What was read and is not in it.
    pub not_applied: Vec<NotApplied>,
    /// How words were taken that can be taken in another way: a unit converted, a figure chosen; a clause each.
    pub remarks: Vec<Message>,
}

/// What a turn makes of the plan that is `known`. `schema` is the one that the turn was read with.
pub fn assemble(reading: &TurnReading, schema: &Schema, known: &Plan) -> Assembly {
    let fresh = reading.has(Act::New);
    let base = if fresh { Plan::of(known.relation.source.clone()) } else { known.clone() };
    let mut reading = with_content(reading, schema);
    bounds::from_month_to_month(&mut reading, schema);
    bounds::one_column_between(&mut reading, schema);
    bounds::one_date(&mut reading, schema);
    not_another_code(&mut reading);
    bounds::corrected(&mut reading, schema, &base);
    figures::not_computed_twice(&mut reading, schema);
    computed::not_of_parts(&mut reading, schema);
    order::sorted_by_both(&mut reading);
    let reading = &reading;
    let mut assembler = Assembler {
        reading,
        schema,
        layout: Layout::of(&base),
        replaces: reading.has(Act::Correct),
        swaps: false,
        not_applied: Vec::new(),
        remarks: Vec::new(),
        done: vec![false; reading.spans.len()],
        figure: None,
        computed: None,
        of_time: Vec::new(),
    };
    assembler.swaps = assembler.asks_the_same();
    let tables = assembler.tables();
    assembler.take_back();
    assembler.compute();
    assembler.derive();
    assembler.ages();
    assembler.rows();
    assembler.groups();
    assembler.forget_what_is_gone();
    assembler.derive();
    assembler.figure_rows();
    assembler.leave_figure();
    assembler.order();
    assembler.columns();
    assembler.distinct();
    if let Some((words, decimals)) = &reading.decimals {
        assembler.round(words, *decimals);
    }
    assembler.guesses();
    assembler.in_vain();
    assembler.named_in_vain();
    assembler.grouped_in_vain();
    assembler.counted_in_vain();
    let mut not_applied = assembler.leftovers();
    let Assembler { layout, mut remarks, .. } = assembler;
    let plan = layout.plan();
    if fresh && plan != base && Layout::of(known).has_conditions() {
        remarks.push(message!("it begins anew: the conditions that stood before do not count"));
    }
    let changes = [Act::New, Act::Refine, Act::Correct].iter().any(|act| reading.has(*act)) && plan != base;
    if changes && !schema.is_of_demands {
        not_applied.extend(reading.unread.iter().map(|word| NotApplied::left_out(word, "nothing is done with it")));
    }
    Assembly { plan, tables, not_applied, remarks }
}

/// A code that is written like another one is not that one: where `K25` is said and there is `K11`, there is no such value.
fn not_another_code(reading: &mut TurnReading) {
    // Letters and digits in their places; none for what is not of both.
    let form = |text: &str| -> Option<String> {
        let text = text.trim();
        let is_code = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '/' | '.'))
            && text.chars().any(|c| c.is_ascii_digit())
            && text.chars().any(|c| c.is_ascii_alphabetic());
        let place = |c: char| if c.is_ascii_digit() { '9' } else { c.to_ascii_lowercase() };
        is_code.then(|| text.chars().map(place).collect())
    };
    for span in reading.spans.iter_mut().filter(|span| span.role == Role::Value) {
        let is_other = span.value.as_ref().is_some_and(|value| {
            !value.eq_ignore_ascii_case(span.words.trim())
                && form(value).is_some_and(|of| Some(of) == form(&span.words))
        });
        if is_other {
            span.value = None;
        }
    }
}

/// The reading without spans of function words and signs alone, which can name nothing but a value that is written so (`A`).
fn with_content(reading: &TurnReading, schema: &Schema) -> TurnReading {
    let names_something = |span: &&Span| {
        let names = matches!(
            span.role,
            Role::Value | Role::Show | Role::Hide | Role::Column | Role::Table | Role::Add | Role::Key | Role::Limit
        );
        let content = |word: &str| !is_function_word(&word.to_lowercase());
        let column = span.column().filter(|_| span.role == Role::Value).map(|column| &schema.columns[column]);
        let is_value = column.is_some_and(|column| column.values.contains(&span.words));
        !names || is_value || lower_words(&span.words).any(|word| content(&word))
    };
    TurnReading { spans: reading.spans.iter().filter(names_something).cloned().collect(), ..reading.clone() }
}

struct Assembler<'a> {
    reading: &'a TurnReading,
    schema: &'a Schema,
    layout: Layout,
    /// What is said takes the place of what stands.
    replaces: bool,
    /// A value that is said takes the place of the one that stands.
    swaps: bool,
    not_applied: Vec<NotApplied>,
    remarks: Vec<Message>,
    /// Spans that are in the plan or need not be.
    done: Vec<bool>,
    /// The name of the first figure that the turn computes.
    figure: Option<String>,
    /// The name of the column that it computed last for every row.
    computed: Option<String>,
    /// Places of the spans that speak of a time or of a column that is computed for them.
    of_time: Vec<usize>,
}

impl<'a> Assembler<'a> {
    /// What follows `per` or `each` and was read as nothing: groups that are wanted of a column that is not there.
    fn grouped_in_vain(&mut self) {
        if self.reading.spans.iter().any(|span| span.role == Role::Group) || !self.of_time.is_empty() {
            return;
        }
        let words = words(&self.reading.text);
        let said = |place: usize| words.get(place).map(|word| &self.reading.text[word.bytes.clone()]);
        let is_read = |bytes: &std::ops::Range<usize>| {
            self.reading.spans.iter().any(|span| span.bytes.start < bytes.end && bytes.start < span.bytes.end)
        };
        let mut lost = Vec::new();
        for place in 0..words.len() {
            let groups =
                said(place).is_some_and(|word| matches!(word.to_lowercase().as_str(), "per" | "each" | "every"));
            let next = said(place + 1).filter(|next| groups && !is_function_word(&next.to_lowercase()));
            if let Some(next) = next.filter(|next| next.chars().all(char::is_alphabetic))
                && !is_read(&words[place + 1].bytes)
                && !matches!(next.to_lowercase().as_str(), "cent" | "row" | "one")
            {
                lost.push(next.to_string());
            }
        }
        let reason = "no column has this name, so nothing is grouped by it";
        self.not_applied.extend(lost.into_iter().map(|words| NotApplied::left_out(words, reason)));
    }

    /// Whether the turn asks what was asked last of another value: `and how many no-shows?` after a figure of the cancelled ones.
    fn asks_the_same(&mut self) -> bool {
        const MORE: [&str; 7] = ["too", "also", "well", "plus", "together", "both", "or"];
        let words: Vec<String> = lower_words(&self.reading.text).collect();
        let said: Vec<&str> = words.iter().map(String::as_str).collect();
        let is_question = self.reading.text.trim_end().ends_with('?');
        let asks = match said[..] {
            ["what" | "how", "about", ..] | ["and", "what" | "how", ..] => true,
            ["and", ..] => is_question,
            _ => false,
        };
        asks && self.layout.is_grouped() && !said.iter().any(|word| MORE.contains(word))
    }

    /// Says that no figure is computed where the words ask for one.
    fn counted_in_vain(&mut self) {
        const FIRST: usize = 4;
        let words: Vec<String> = lower_words(&self.reading.text).take(FIRST).collect();
        let asked = words.windows(2).find(|two| two[0] == "how" && matches!(two[1].as_str(), "many" | "much"));
        let changes = self.done.iter().any(|done| *done);
        if let Some(two) = asked.filter(|_| changes && !self.schema.is_of_demands && !self.layout.is_grouped()) {
            self.not_applied.push(NotApplied::left_out(two.join(" "), "no figure is computed of these rows"));
        }
    }

    /// The spans of a role with their places.
    fn spans(&self, role: Role) -> Vec<(usize, &'a Span)> {
        let reading: &'a TurnReading = self.reading;
        reading.spans.iter().enumerate().filter(|(_, span)| span.role == role).collect()
    }

    fn name(&self, column: usize) -> String {
        let Some(column) = self.schema.columns.get(column) else { return String::new() };
        match self.figure.as_ref().or(self.computed.as_ref()) {
            Some(figure) if column.stand_in == Some(StandIn::Figure) => figure.clone(),
            _ => column.name.clone(),
        }
    }

    /// Whether a span speaks of a figure that nothing computes.
    fn lacks_figure(&self, span: &Span) -> bool {
        self.figure.is_none() && self.computed.is_none() && self.speaks_of_figure(span)
    }

    fn speaks_of_figure(&self, span: &Span) -> bool {
        self.stand_in(span).is_some()
    }

    /// What the column of a span stands for, where it is none of a table.
    fn stand_in(&self, span: &Span) -> Option<StandIn> {
        let mut columns = span.columns.iter().chain(&span.second);
        columns.find_map(|column| self.schema.columns.get(*column)?.stand_in)
    }

    fn names(&self, span: &Span) -> Vec<String> {
        span.columns.iter().map(|column| self.name(*column)).collect()
    }

    fn refuse(&mut self, place: usize, reason: impl Into<Message>) {
        self.done[place] = true;
        let words = self.reading.spans[place].words.as_str();
        self.not_applied.push(NotApplied::left_out(words, reason));
    }

    /// Whether the name is one that the result has and its rows have not.
    fn is_of_result(&self, name: &str) -> bool {
        self.schema.place(name).is_some_and(|place| self.schema.columns[place].of_result)
    }

    /// What the words do not name: columns and values that the reader takes them for. Where it is not very sure, or a column is named for itself,
    /// that is no remark but a doubt: of 70 such spans of two writers below this confidence 47 % were wrong, of 17 above it 12 %.
    fn guesses(&mut self) {
        const SURE: f32 = 0.9;
        for (place, span) in self.reading.spans.iter().enumerate() {
            if let Some(reason) = self.doubted_marks(span) {
                self.not_applied.push(NotApplied::left_out(&span.words, reason));
            }
            let Some(column) = span.column() else { continue };
            let known = &self.schema.columns[column];
            let lost = self.not_applied.iter().any(|lost| lost.words == span.words);
            if lost
                || known.of_result
                || self.of_time.contains(&place)
                || !(self.done[place] || span.role == Role::Column)
            {
                continue;
            }
            // "The most common names" are the first by a figure, whatever they are called.
            let is_by_text = span.role == Role::Order && span.descending && known.kind == ColumnKind::Text;
            if is_by_text && known.used.is_empty() && !self.reading.says_before(span, "by") {
                let reason = format!("`{}` is text, and the words do not say by which figure", known.name);
                self.not_applied.push(NotApplied::left_out(&span.words, reason));
                continue;
            }
            if let Some(words) = grounding::attribute_of(span, known) {
                let reason = format!("`{}` has nothing that is called so", known.name);
                self.not_applied.push(NotApplied::left_out(words, reason));
                continue;
            }
            if self.is_of_numbers_of_rows(span, known) {
                let reason = format!("`{}` tells rows apart, so that this figure of it says nothing", known.name);
                self.not_applied.push(NotApplied::left_out(&span.words, reason));
                continue;
            }
            let computes = matches!(span.role, Role::Measure | Role::Derive | Role::Group | Role::Test | Role::Column);
            // "The median instead" goes on with the column that stands, "average tyre pressure" is of another one; a figure of years is hardly meant unless
            // they are named.
            let is_function_alone = lower_words(&span.words).filter(|word| !is_function_word(word)).count() <= 1;
            let goes_on = !known.used.is_empty() && is_function_alone && (known.quantity || !known.holds_years());
            let counts = span.role == Role::Measure && (span.function == Some(Function::Count) || goes_on);
            let (taken, is_doubt) = if let (Role::Value, Some(value)) = (span.role, &span.value) {
                let meaning = known.meaning(value, Some(&span.words));
                let said = meaning.unwrap_or(value);
                let [alike, short] = value_features(&span.words, said);
                if let Some(meaning) = meaning {
                    self.remarks.push(message!("`{}` of `{}` means {}", value, &known.name, meaning));
                    if alike >= 1.0 {
                        continue;
                    }
                }
                let says_number = number(&span.words).is_some_and(|said| Some(said) == number(value));
                let is_other = known.kind == ColumnKind::Text && alike == 0.0 && short < 0.5 && !says_number;
                let is_part = name_key(said).contains(&name_key(&span.words));
                if (!is_other || is_part) && meaning.is_none() {
                    continue;
                }
                (value, span.confidence < 1.0 && !may_abbreviate(said, &span.words))
            } else if let Some(other) = self.named_alike(span, known) {
                let reason = format!("`{}` is taken for it, and `{other}` is called so, too", known.name);
                self.not_applied.push(NotApplied::left_out(&span.words, reason));
                continue;
            } else if let Some(noun) = self.noun_of_bound(span, known) {
                self.not_applied.push(NotApplied::guess(noun, format!("`{}`", known.name)));
                continue;
            } else if computes && span.role == Role::Measure && self.is_only_one_in_unit(column, &span.words) {
                // "How many tonnes" is the column in kg, which is said.
                continue;
            } else if computes && !counts && span.part.is_none() && !known.is_named(&span.words) {
                let is_of_years = span.role == Role::Measure && known.holds_years() && !known.quantity;
                let is_doubt = span.confidence < SURE || is_of_years || self.asks_for_value(span);
                (&known.name, span.role == Role::Column || is_doubt)
            } else if span.role == Role::Order && known.used.is_empty() && !known.is_named(&span.words) {
                (&known.name, false)
            } else {
                continue;
            };
            if is_doubt {
                self.not_applied.push(NotApplied::guess(&span.words, format!("`{taken}`")));
            } else {
                self.remarks.push(message!("`{}` is taken for {}", &span.words, taken));
            }
        }
        for span in self.reading.of(Role::Derive) {
            let column = span.column().map(|column| &self.schema.columns[column]);
            if let Some(unit) = column.and_then(|column| Unit::other_than(column, &span.words)) {
                let reason = format!("it is computed in {}", unit.own);
                self.not_applied.push(NotApplied::left_out(unit.said, reason));
            }
        }
    }

    /// Whether a span asks for a total or mean of numbers that only tell rows apart, beside quantities, and does not spell their name: "average order
    /// value" is not the mean of `order_no`.
    fn is_of_numbers_of_rows(&self, span: &Span, column: &SchemaColumn) -> bool {
        const NUMBERS: [&str; 10] = ["id", "no", "nr", "num", "number", "code", "key", "ref", "idx", "pk"];
        let sums = matches!(
            span.function,
            Some(Function::Sum | Function::Mean | Function::Median | Function::Deviation | Function::Quantile)
        );
        let is_called_so = name_words(&column.name).last().is_some_and(|last| NUMBERS.contains(&last.as_str()));
        let is_spelt = name_key(&span.words).contains(&name_key(&column.name));
        let beside_quantities = self.schema.columns.iter().any(|other| other.quantity);
        let is_number = column.kind == ColumnKind::Integer && !column.of_result && !yes_no::says_yes_or_no(column);
        span.role == Role::Measure
            && sums
            && is_number
            && !column.quantity
            && is_called_so
            && !is_spelt
            && beside_quantities
    }

    /// Whether a column is the only one that can be told in the unit that words say.
    fn is_only_one_in_unit(&self, column: usize, words: &str) -> bool {
        let has = |place: &usize| Unit::other_than(&self.schema.columns[*place], words).is_some();
        has(&column) && (0..self.schema.columns.len()).filter(|place| has(place)).count() == 1
    }

    /// Columns that are named for themselves where only some are shown or figures computed, and that are none of them and compared with nothing: "the
    /// survivors, name and age only".
    fn named_in_vain(&mut self) {
        let narrows = |span: &Span| matches!(span.role, Role::Show | Role::Measure | Role::Group);
        if !self.reading.spans.iter().any(narrows) {
            return;
        }
        for span in self.reading.of(Role::Column) {
            let Some(column) = span.column() else { continue };
            let known = &self.schema.columns[column];
            let uses = |other: &Span| {
                other.role != Role::Column && other.columns.iter().chain(&other.second).any(|other| *other == column)
            };
            if known.used.is_empty()
                && !known.of_result
                && known.is_named(&span.words)
                && !self.reading.spans.iter().any(uses)
            {
                let reason = format!("`{}` is neither shown nor compared with anything", known.name);
                self.not_applied.push(NotApplied::left_out(&span.words, reason));
            }
        }
    }

    /// What was read and found no place.
    fn leftovers(&mut self) -> Vec<NotApplied> {
        for (place, span) in self.reading.spans.iter().enumerate() {
            if self.done[place] {
                continue;
            }
            let reason = match span.role {
                Role::Value | Role::Test | Role::Compare | Role::Derive => message!("no column of the table fits"),
                Role::Group | Role::Measure => message!("there is no such column"),
                Role::Limit => message!("it does not say how many"),
                _ => continue,
            };
            self.not_applied.push(NotApplied::left_out(&span.words, reason));
        }
        std::mem::take(&mut self.not_applied)
    }
}

/// Whether a function computes a figure for groups or rows of its own.
pub(super) fn is_measure(function: Function) -> bool {
    function.place() <= Function::Last.place()
}

/// Whether a value is a code whose letters are in `words` in their order: `EWR` for Newark; a single one begins a word: `R` for republicans.
fn may_abbreviate(value: &str, words: &str) -> bool {
    const CODE: usize = 3;
    let code: Vec<char> = value.chars().flat_map(char::to_lowercase).collect();
    let words = words.to_lowercase();
    match code[..] {
        [] => false,
        [only] => words.split_whitespace().any(|word| word.starts_with(only)),
        _ => {
            let mut letters = words.chars();
            code.len() <= CODE && code.iter().all(|letter| letters.any(|other| other == *letter))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::may_abbreviate;

    #[test]
    fn codes_are_short_for_words_that_have_their_letters() {
        assert!(may_abbreviate("EWR", "Newark") && may_abbreviate("R", "the republicans"));
        assert!(!may_abbreviate("A", "sewage") && !may_abbreviate("XY", "Newark") && !may_abbreviate("News", "Newark"));
    }
}
