//! Keys, measures and computed columns.

use lakeward_core::plan::{
    Arithmetic, Branch, Direction, Expression, Key, Measure, MeasureFunction, Order, Step, Value,
};

use super::{Assembler, is_measure};
use crate::reader::number::number;
use crate::reader::schema::ColumnKind;
use crate::reader::span::{Function, Role, Span};

impl Assembler<'_> {
    /// What the turn groups by.
    pub(super) fn keys(&mut self) -> Vec<Key> {
        let mut keys: Vec<Key> = Vec::new();
        for (place, span) in self.spans(Role::Group) {
            if self.lacks_figure(span) {
                continue;
            }
            for column in &span.columns {
                let name = self.name(*column);
                let kind = self.schema.columns[*column].kind;
                let of = Expression::Column(name);
                let of = match span.part {
                    // A whole number is its own year.
                    Some(part) if kind == ColumnKind::Date || (kind.is_number() && part.word() == "decade") => {
                        Expression::Part { part, of: Box::new(of) }
                    }
                    _ => of,
                };
                let key = Key { of, name: None };
                self.done[place] = true;
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        keys
    }

    /// What the turn computes of groups or of all rows.
    pub(super) fn measures(&mut self) -> Vec<Measure> {
        let mut measures: Vec<Measure> = Vec::new();
        for (place, span) in self.spans(Role::Measure) {
            let Some(function) = span.function.filter(|function| is_measure(*function)) else { continue };
            if self.lacks_figure(span) {
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

    fn measures_of(&self, span: &Span, function: Function) -> Vec<Measure> {
        let plain = |function: MeasureFunction, of: Option<String>| Measure {
            function,
            of: of.map(Expression::Column),
            condition: None,
            name: None,
        };
        let columns = self.names(span);
        let second = span.second.map(|column| self.name(column));
        match function {
            Function::Count => vec![plain(MeasureFunction::Count, None)],
            Function::Share => self.share(columns),
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
                columns.into_iter().map(|name| plain(function.clone(), Some(name))).collect()
            }
        }
    }

    /// A share: of the rows that meet a condition, of a number's total, or of the rows.
    fn share(&self, columns: Vec<String>) -> Vec<Measure> {
        const PERCENT: f64 = 100.0;
        if let Some(place) = self.counted_by_share()
            && let Some(condition) = self.condition(&self.reading.spans[place])
        {
            let hundred = Expression::Value(Value::Number(PERCENT));
            let nothing = Expression::Value(Value::Number(0.0));
            let counted = Expression::Case {
                branches: vec![Branch { when: condition, then: hundred }],
                otherwise: Some(Box::new(nothing)),
            };
            let name = Some("percent".to_string());
            return vec![Measure { function: MeasureFunction::Mean, of: Some(counted), condition: None, name }];
        }
        let function = MeasureFunction::Share { within: Vec::new(), times: PERCENT };
        let column = columns.into_iter().next().filter(|name| {
            self.schema.place(name).is_some_and(|place| {
                self.schema.columns[place].kind.is_number() && !self.schema.columns[place].of_result
            })
        });
        vec![Measure { function, of: column.map(Expression::Column), condition: None, name: None }]
    }

    /// Columns computed for each row.
    pub(super) fn derive(&mut self) {
        for (place, span) in self.spans(Role::Derive) {
            // What is computed of the turn's own figure waits for it.
            if self.done[place] || (self.figure.is_none() && self.speaks_of_figure(span)) {
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
            Function::Percent => {
                let second = second?;
                let ratio = arithmetic(Arithmetic::DividedBy, column(&first), column(&second));
                (format!("{first}_percent_of_{second}"), arithmetic(Arithmetic::Times, constant(100.0), ratio))
            }
            Function::Rate => {
                let (second, of) = (second?, span.number.or(said).unwrap_or(1.0));
                let ratio = arithmetic(Arithmetic::DividedBy, column(&first), column(&second));
                (format!("{first}_per_{of}_{second}"), arithmetic(Arithmetic::Times, constant(of), ratio))
            }
            Function::Share => {
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
