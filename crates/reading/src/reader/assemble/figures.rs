//! Keys, measures and computed columns.

use lakeward_core::plan::{
    Arithmetic, DatePart, Direction, Expression, Key, Measure, MeasureFunction, Order, Step, Value,
};

use super::groups::count;
use super::{Assembler, NotApplied, is_measure};
use crate::reader::number::number;
use crate::reader::schema::{ColumnKind, Schema, StandIn};
use crate::reader::span::{Function, Role, Span, TurnReading};
use crate::reader::unit::Unit;
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::text::{lower_words, name_key};

/// What only names what another span computes is not computed beside it: `the revenue as n times pr`, where no column is called revenue.
pub(super) fn not_computed_twice(reading: &mut TurnReading, schema: &Schema) {
    let is_named = |span: &Span| span.columns.iter().all(|column| schema.columns[*column].is_named(&span.words));
    let derives =
        |span: &&Span| span.role == Role::Derive && span.columns.len() + usize::from(span.second.is_some()) > 1;
    let named: Vec<Option<Function>> =
        reading.spans.iter().filter(derives).filter(|span| is_named(span)).map(|span| span.function).collect();
    let is_name = |span: &Span| {
        let none = span.columns.iter().chain(&span.second).all(|column| !schema.columns[*column].is_named(&span.words));
        derives(&span) && none && named.contains(&span.function)
    };
    reading.spans.retain(|span| !is_name(span));
}

impl Assembler<'_> {
    /// What the turn groups by.
    pub(super) fn keys(&mut self) -> Vec<Key> {
        let mut keys: Vec<Key> = Vec::new();
        for (place, span) in self.spans(Role::Group) {
            if self.lacks_figure(span) {
                continue;
            }
            // "Kind of sponsor" is the kind.
            let before = place.checked_sub(1).map(|before| &self.reading.spans[before]);
            let between = before
                .filter(|before| before.role == Role::Group && self.done[place - 1])
                .and_then(|before| self.reading.text.get(before.bytes.end..span.bytes.start));
            if between.is_some_and(|between| between.trim() == "of") {
                self.done[place] = true;
                continue;
            }
            for column in &self.keys_of(span) {
                let name = self.name(*column);
                let kind = self.schema.columns[*column].kind;
                let of = Expression::Column(name);
                let key = match span.part {
                    Some(part) if kind == ColumnKind::Date => self.step_of_time(part, *column, of),
                    // A whole number is its own year.
                    Some(part @ DatePart::Decade) if kind.is_number() => {
                        Key { of: Expression::Part { part, of: Box::new(of) }, name: None }
                    }
                    _ => Key { of, name: None },
                };
                self.done[place] = true;
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        // "How many joined each year?" groups by the year of a date and not by the date as well.
        let part_of = |key: &Key| match &key.of {
            Expression::Part { of, .. } => of.as_column().map(str::to_string),
            _ => None,
        };
        let parts: Vec<String> = keys.iter().filter_map(part_of).collect();
        keys.retain(|key| key.of.as_column().is_none_or(|name| !parts.iter().any(|part| part == name)));
        keys
    }

    /// Dates as the steps of time that a turn groups by: days and weeks are those of the calendar, and so are the months of several years, unless
    /// the words speak of every year or month ("by month of the year", "by day of the month", "by weekday").
    fn step_of_time(&self, part: DatePart, column: usize, of: Expression) -> Key {
        let column = &self.schema.columns[column];
        let says = |wanted: &[&str]| lower_words(&self.reading.text).any(|said| wanted.contains(&said.as_str()));
        let of_date = |part: DatePart| Expression::Part { part, of: Box::new(of.clone()) };
        let arithmetic = |operator, left: Expression, right: Expression| Expression::Arithmetic {
            operator,
            left: Box::new(left),
            right: Box::new(right),
        };
        if part == DatePart::Weekday && says(&["week", "weekly", "weeks"]) && !says(&["day", "days", "weekday"]) {
            // Its Monday.
            let sunday = arithmetic(Arithmetic::Minus, of_date(DatePart::Date), of_date(DatePart::Weekday));
            let monday = arithmetic(Arithmetic::Plus, sunday, Expression::Value(Value::Integer(1)));
            return Key { of: monday, name: Some("week".into()) };
        }
        let spans_years = column.only_year.is_none() && !column.of_result;
        let part = match part {
            DatePart::Day if !says(&["month", "months"]) => DatePart::Date,
            DatePart::Month
                if spans_years
                    && !says(&["year", "years", "season", "seasonal"])
                    && !self.layout.clone().is_of_one_year(&column.name) =>
            {
                DatePart::YearMonth
            }
            part => part,
        };
        Key { of: of_date(part), name: None }
    }

    /// The columns that a span groups by: one where it spells its name, or says "kind of dish"; beside the first those that it names.
    fn keys_of(&self, span: &Span) -> Vec<usize> {
        let key = name_key(&span.words);
        let spelt = span.columns.iter().copied().find(|column| name_key(&self.schema.columns[*column].name) == key);
        let says = |word: &str| lower_words(&span.words).any(|known| known == word);
        if let Some(one) = spelt.or(span.column().filter(|_| says("of") && !says("and"))) {
            return vec![one];
        }
        let is_named = |column: &usize| self.schema.columns[*column].is_named(&span.words);
        let first = span.columns.first().into_iter();
        first.chain(span.columns.iter().skip(1).filter(|column| is_named(column))).copied().collect()
    }

    /// What the turn computes of groups or of all rows.
    pub(super) fn measures(&mut self) -> Vec<Measure> {
        let mut measures: Vec<Measure> = Vec::new();
        let shares = self.spans(Role::Derive).into_iter().filter(|(_, span)| self.is_share_of_sum(span));
        for (place, span) in self.spans(Role::Measure).into_iter().chain(shares.collect::<Vec<_>>()) {
            if let Some(measure) = self.figure_of_ages(span) {
                self.done[place] = true;
                self.of_time.push(place);
                measures.push(measure);
                continue;
            }
            let computes = |function: &Function| is_measure(*function) || span.is_share();
            let Some(function) = span.function.filter(computes) else { continue };
            if self.lacks_figure(span) {
                continue;
            }
            // "Show me the births of 2024" are rows: nothing says that they are counted.
            let counts_rows = function == Function::Count && (span.column().is_none() || span.unknown_column);
            if counts_rows && self.spans(Role::Group).is_empty() && !self.layout.is_grouped() && !self.says_how_many() {
                self.done[place] = true;
                continue;
            }
            if let Some(name) = self.elapsed(span) {
                self.done[place] = true;
                self.of_time.push(place);
                self.computed = Some(name.clone());
                if !self.is_of_each_row(function) {
                    let says_total = lower_words(&self.reading.text).any(|word| matches!(&*word, "total" | "sum"));
                    let mean = matches!(function, Function::Count | Function::CountDistinct | Function::Sum);
                    let function = match mean {
                        true if says_total => Function::Sum,
                        true => Function::Mean,
                        false => function,
                    };
                    measures.extend(measure_of(function, name));
                }
                continue;
            }
            for measure in self.measures_of(span, function) {
                self.done[place] = true;
                if !measures.contains(&measure) {
                    measures.push(measure);
                }
            }
        }
        measures
    }

    /// Whether the turn has a word that asks for a number.
    pub(super) fn says_how_many(&self) -> bool {
        const ASKING: [&str; 22] = [
            "how",
            "many",
            "much",
            "number",
            "numbers",
            "count",
            "counts",
            "counted",
            "counting",
            "total",
            "totals",
            "often",
            "times",
            "tally",
            "amount",
            "quantity",
            "figure",
            "figures",
            "frequency",
            "share",
            "percent",
            "percentage",
        ];
        lower_words(&self.reading.text).any(|word| ASKING.contains(&word.as_str()))
            || self.reading.text.contains(['%', '#'])
    }

    fn measures_of(&mut self, span: &Span, function: Function) -> Vec<Measure> {
        let plain = |function: MeasureFunction, of: Option<String>| Measure {
            function,
            of: of.map(Expression::Column),
            condition: None,
            name: None,
        };
        let columns = self.names(span);
        let second = span.second.map(|column| self.name(column));
        match function {
            Function::Count => {
                self.remark_on_quantity();
                vec![count()]
            }
            Function::Sum | Function::CountDistinct if columns.is_empty() && asks_how_many(span) => {
                let doubt = NotApplied::rows_counted(&span.words);
                if !self.not_applied.contains(&doubt) {
                    self.not_applied.push(doubt);
                }
                vec![plain(MeasureFunction::Count, None)]
            }
            _ if span.is_share() => self.share(span).into_iter().collect(),
            Function::Correlation => match (columns.as_slice(), second) {
                ([one, other, ..], _) => vec![correlation(one, other)],
                ([one], Some(other)) => vec![correlation(one, &other)],
                _ => Vec::new(),
            },
            Function::AtMax | Function::AtMin | Function::First | Function::Last => {
                let direction = match function {
                    Function::AtMax | Function::Last => Direction::Descending,
                    _ => Direction::Ascending,
                };
                let Some(by) = second.or_else(|| columns.get(1).cloned()) else { return Vec::new() };
                let by = vec![Order { by: Expression::Column(by), direction }];
                let first = |name: &String| plain(MeasureFunction::First { by: by.clone() }, Some(name.clone()));
                columns.first().map(first).into_iter().collect()
            }
            _ => {
                let function = match function {
                    Function::CountDistinct => MeasureFunction::CountDistinct,
                    Function::Sum => MeasureFunction::Sum,
                    Function::Median => MeasureFunction::Median,
                    Function::Min => MeasureFunction::Min,
                    Function::Max => MeasureFunction::Max,
                    Function::Deviation => MeasureFunction::StandardDeviation,
                    // Which quantile has to be said.
                    Function::Quantile => match quantile(span) {
                        Some(at) => MeasureFunction::Quantile { at },
                        None => return Vec::new(),
                    },
                    _ => MeasureFunction::Mean,
                };
                if columns.is_empty() && !self.replaces {
                    return Vec::new();
                }
                if columns.is_empty() {
                    // Another function for what stands.
                    return vec![plain(function, None)];
                }
                // Beside a quantity, a number that names rows is none that is added or averaged.
                let is_quantity = |place: &usize| self.schema.columns[*place].quantity;
                let some = span.columns.iter().any(is_quantity);
                let both: Vec<(&usize, String)> =
                    span.columns.iter().zip(columns).filter(|(place, _)| !some || is_quantity(place)).collect();
                let of = |(place, name): (&usize, String)| self.in_named_unit(span, *place).unwrap_or(name);
                let columns: Vec<String> = both.into_iter().map(of).collect();
                columns.into_iter().map(|name| plain(function.clone(), Some(name))).collect()
            }
        }
    }

    /// Says that rows are counted where a column has how many each row is of.
    fn remark_on_quantity(&mut self) {
        let Some(column) = self.schema.columns.iter().find(|column| column.says_how_many()) else { return };
        let remark = "rows are counted; how many each is of is in `{}`: \"the sum of {}\" adds that up";
        let remark = Message::of(remark, vec![(&column.name).into(), (&column.name).into()]);
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// The name of a column of the numbers of another in the unit that is said with a figure of it: "tonnes of each kind", "the mean in minutes".
    fn in_named_unit(&mut self, span: &Span, column: usize) -> Option<String> {
        let known = &self.schema.columns[column];
        if known.of_result {
            return None;
        }
        let behind = self.reading.text.get(span.bytes.end..).unwrap_or_default();
        let mut behind = lower_words(behind);
        let behind = behind.next().filter(|word| word == "in").and_then(|_| behind.next()).unwrap_or_default();
        let unit = Unit::other_than(known, &format!("{} {behind}", span.words))?;
        let (operator, by) =
            if unit.times >= 1.0 { (Arithmetic::Times, unit.times) } else { (Arithmetic::DividedBy, unit.divided_by) };
        let name = format!("{}_in_{}", self.name(column), unit.said);
        let right = Box::new(Expression::Value(Value::Number(by)));
        let value = Expression::Arithmetic { operator, left: Box::new(Expression::column(known.name.clone())), right };
        let derived = Step::Derive { name: name.clone(), value };
        let rows = &mut self.layout.last().rows;
        if !rows.contains(&derived) {
            rows.push(derived);
            self.remarks.push(message!("{} is converted from {} to {}", &known.name, &*unit.own, &*unit.said));
        }
        Some(name)
    }

    /// Columns computed for each row.
    pub(super) fn derive(&mut self) {
        for (place, span) in self.spans(Role::Derive) {
            // What is computed of the turn's own figure waits for it.
            if self.done[place] || self.is_share_of_sum(span) || (self.figure.is_none() && self.speaks_of_figure(span))
            {
                continue;
            }
            if span.is_share() && self.is_of_one_figure(span) {
                self.share_of_all_rows(place);
                continue;
            }
            let own = span.column().map(|column| &self.schema.columns[column]).filter(|own| own.computed.is_some());
            if let Some(own) = own {
                self.done[place] = true;
                self.computed = Some(own.name.clone());
                continue;
            }
            let Some((name, value)) = self.derived(span) else { continue };
            self.done[place] = true;
            let speaks_of = self.names(span);
            let of_result = self.speaks_of_figure(span) || speaks_of.iter().any(|name| self.is_of_result(name));
            let grouped = self.layout.is_grouped();
            let level = match self.layout.grouped() {
                Some(level) => level,
                None => self.layout.last(),
            };
            let steps = if grouped || of_result { &mut level.after } else { &mut level.rows };
            let steps = if level.group.is_none() { &mut level.rows } else { steps };
            steps.push(Step::Derive { name: name.clone(), value });
            if !grouped && !of_result {
                self.computed = Some(name.clone());
            }
            if let Some(Step::Select(kept)) = &mut level.columns {
                kept.push(lakeward_core::plan::Kept { column: name, name: None });
            }
        }
    }

    fn derived(&self, span: &Span) -> Option<(String, Expression)> {
        let names = self.names(span);
        let first = names.first()?.clone();
        let second = names.get(1).cloned().or_else(|| span.second.map(|column| self.name(column)));
        // "Total in, total out and the one less the other": two figures of the turn itself are the first and the second.
        let is_figure = self.stand_in(span) == Some(StandIn::Figure);
        let second = if is_figure && second.as_ref() == Some(&first) { Some(self.second_figure()?) } else { second };
        let column = |name: &str| Expression::column(name);
        let constant = |number: f64| Expression::Value(Value::Number(number));
        let arithmetic =
            |operator, left, right| Expression::Arithmetic { operator, left: Box::new(left), right: Box::new(right) };
        let said = span.number.or_else(|| number(&span.words).map(|number| number.value));
        let within = || second.clone().into_iter().collect::<Vec<_>>();
        let ascending = |name: &str| vec![Order { by: column(name), direction: Direction::Ascending }];
        Some(match span.function? {
            Function::Minus => {
                let second = second?;
                // A change between years is the later less the earlier, unless the words name both.
                let is_year = |name: &str| name.len() == 4 && name.parse::<u32>().is_ok();
                let says = |name: &str| span.words.contains(name);
                let turned = is_year(&first) && is_year(&second) && first < second && !(says(&first) && says(&second));
                let (first, second) = if turned { (second, first) } else { (first, second) };
                (format!("{first}_minus_{second}"), arithmetic(Arithmetic::Minus, column(&first), column(&second)))
            }
            Function::Plus => {
                let rest = names.get(1..).filter(|rest| !rest.is_empty()).map_or_else(within, <[String]>::to_vec);
                let sum = rest.iter().fold(column(&first), |sum, name| arithmetic(Arithmetic::Plus, sum, column(name)));
                ("total".to_string(), sum)
            }
            Function::Times => match second {
                Some(second) => {
                    (format!("{first}_times_{second}"), arithmetic(Arithmetic::Times, column(&first), column(&second)))
                }
                None => {
                    let factor = said?;
                    (format!("{first}_times_{factor}"), arithmetic(Arithmetic::Times, column(&first), constant(factor)))
                }
            },
            Function::Ratio => {
                let by = match &second {
                    Some(second) => column(second),
                    None => constant(said?),
                };
                let name = second.unwrap_or_else(|| said.map_or_else(String::new, |by| by.to_string()));
                (format!("{first}_per_{name}"), arithmetic(Arithmetic::DividedBy, column(&first), by))
            }
            Function::Percent if second.is_some() => {
                let second = second?;
                let ratio = arithmetic(Arithmetic::DividedBy, column(&first), column(&second));
                (format!("{first}_percent_of_{second}"), arithmetic(Arithmetic::Times, constant(100.0), ratio))
            }
            Function::Rate => {
                let (second, of) = (second?, span.number.or(said).unwrap_or(1.0));
                let ratio = arithmetic(Arithmetic::DividedBy, column(&first), column(&second));
                (format!("{first}_per_{of}_{second}"), arithmetic(Arithmetic::Times, constant(of), ratio))
            }
            Function::Share | Function::Percent => {
                let of = Box::new(column(&first));
                (format!("{first}_percent"), Expression::Share { of, within: within(), times: 100.0 })
            }
            Function::Change | Function::Running | Function::Rank => {
                let by = second.clone().or_else(|| self.date_column());
                match span.function? {
                    Function::Rank => {
                        let direction = if span.descending { Direction::Descending } else { Direction::Ascending };
                        let by = vec![Order { by: column(&first), direction }];
                        (format!("rank_by_{first}"), Expression::Rank { by, within: Vec::new() })
                    }
                    Function::Running => {
                        let (of, by) = (Box::new(column(&first)), ascending(&by?));
                        (format!("running_{first}"), Expression::RunningTotal { of, by, within: Vec::new() })
                    }
                    _ => {
                        let of = Box::new(column(&first));
                        let previous = Expression::Previous { of, by: ascending(&by?), within: Vec::new(), rows: 1 };
                        (format!("{first}_change"), arithmetic(Arithmetic::Minus, column(&first), previous))
                    }
                }
            }
            Function::Bin => {
                let width = said.filter(|width| *width > 0.0)?;
                (format!("{first}_from"), Expression::Bin { of: Box::new(column(&first)), width, start: 0.0 })
            }
            Function::Part => {
                let part = span.part?;
                (format!("{first}_{}", part.word()), Expression::Part { part, of: Box::new(column(&first)) })
            }
            _ => return None,
        })
    }

    /// The figure that comes after the first of the last grouping.
    fn second_figure(&self) -> Option<String> {
        let group = self.layout.levels.iter().rev().find_map(|level| level.group.as_ref())?;
        let Step::Group(grouping) = group else { return None };
        grouping.measures.get(1).map(Measure::column_name)
    }

    /// The column that rows come in time by.
    fn date_column(&self) -> Option<String> {
        let columns = &self.schema.columns;
        let dated = columns.iter().find(|column| column.kind == ColumnKind::Date);
        let year = || {
            let is_year = |column: &&crate::reader::schema::SchemaColumn| {
                column.kind == ColumnKind::Integer
                    && column.range.map_or(column.name.to_lowercase().contains("year"), |(least, most)| {
                        least >= 1500.0 && most <= 2200.0
                    })
            };
            columns.iter().find(is_year)
        };
        dated.or_else(year).map(|column| column.name.clone())
    }
}

/// Whether a number of things is asked for, and not of different ones.
fn asks_how_many(span: &Span) -> bool {
    let says = |wanted: &[&str]| lower_words(&span.words).any(|word| wanted.contains(&word.as_str()));
    says(&["many", "number"]) && !says(&["different", "distinct", "unique"])
}

/// A mean, median, or one of the ends of a column.
pub(super) fn measure_of(function: Function, of: String) -> Option<Measure> {
    let function = match function {
        Function::Mean => MeasureFunction::Mean,
        Function::Median => MeasureFunction::Median,
        Function::Min => MeasureFunction::Min,
        Function::Max => MeasureFunction::Max,
        _ => return None,
    };
    Some(Measure { function, of: Some(Expression::Column(of)), condition: None, name: None })
}

fn correlation(one: &str, other: &str) -> Measure {
    let with = Box::new(Expression::column(other));
    Measure {
        function: MeasureFunction::Correlation { with },
        of: Some(Expression::column(one)),
        condition: None,
        name: None,
    }
}

/// The part that a quantile is at, where the words say it.
fn quantile(span: &Span) -> Option<f64> {
    match span.number.or_else(|| number(&span.words).map(|number| number.value))? {
        part if part > 0.0 && part < 1.0 => Some(part),
        percent if (1.0..100.0).contains(&percent) => Some(percent / 100.0),
        _ => None,
    }
}
