//! The order of rows and how many of them are kept.

use lakeward_core::message;
use lakeward_core::plan::{Direction, Expression, Measure, MeasureFunction, Order, Step, Top};
use lakeward_core::text::lower_words;

use super::Assembler;
use crate::reader::layout::ordered_by;
use crate::reader::number::number;
use crate::reader::schema::{ColumnKind, SchemaColumn, StandIn};
use crate::reader::span::{Role, Span, TurnReading};

/// `sort by branch, then by date`: what rows are sorted by first makes no groups.
pub(super) fn sorted_by_both(reading: &mut TurnReading) {
    const SORTS: [&str; 6] = ["sort", "sorted", "order", "ordered", "arrange", "arranged"];
    /// Words from the verb to `by`.
    const NEAR: usize = 3;
    let orders = reading.spans.iter().any(|span| span.role == Role::Order);
    if !orders || reading.spans.iter().any(|span| span.role == Role::Measure) {
        return;
    }
    let text = reading.text.clone();
    for span in reading.spans.iter_mut().filter(|span| span.role == Role::Group) {
        let before: Vec<String> = lower_words(text.get(..span.bytes.start).unwrap_or_default()).collect();
        let Some(("by", before)) = before.split_last().map(|(last, rest)| (last.as_str(), rest)) else { continue };
        if before.iter().rev().take(NEAR).any(|word| SORTS.contains(&word.as_str())) {
            (span.role, span.descending) = (Role::Order, false);
        }
    }
}

impl Assembler<'_> {
    /// A figure of all rows is one row, which has no order and no first ten: an order by a column of the rows, where the turn computes nothing, is of
    /// these.
    pub(super) fn leave_figure(&mut self) {
        let computes = self.reading.spans.iter().any(|span| matches!(span.role, Role::Measure | Role::Group));
        let of_rows = |span: &Span| {
            let column = span.column().map(|column| &self.schema.columns[column]);
            span.role == Role::Order && column.is_some_and(|column| !column.of_result && column.stand_in.is_none())
        };
        let orders = self.reading.spans.iter().any(of_rows);
        let level = self.layout.last();
        let is_of_all = level.grouping().is_some_and(|grouping| grouping.keys.is_empty());
        if computes || !orders || !is_of_all {
            return;
        }
        (level.group, level.after, level.columns) = (None, Vec::new(), None);
        (level.order, level.limit) = (Vec::new(), None);
        self.remarks.push(message!("these are the rows that the figure before is of"));
    }

    pub(super) fn order(&mut self) {
        let limit = self.spans(Role::Limit).first().map(|(place, span)| (*place, rows_in(span)));
        let mut orders: Vec<Order> = Vec::new();
        // "By hours, longest first": the second says nothing but the direction.
        let mut directions: Vec<(usize, Direction)> = Vec::new();
        for (place, span) in self.spans(Role::Order) {
            if self.done[place] {
                continue;
            }
            let said = direction_in(&span.words);
            // Names go from A to Z unless the words say otherwise.
            let is_of_names = span.column().is_some_and(|column| {
                let column = &self.schema.columns[column];
                column.kind == ColumnKind::Text && column.meanings.is_empty() && !column.of_result
            });
            let descends =
                said.map_or(span.descending && !(is_of_names && only_orders(&span.words)), |(descends, _)| descends);
            let direction = if descends { Direction::Descending } else { Direction::Ascending };
            // "Ascending instead" goes by the columns that the order goes by already.
            let current = self.layout.last().order.clone();
            if said.is_some_and(|(_, is_all)| is_all) && !current.is_empty() {
                self.done[place] = true;
                orders = current.into_iter().map(|order| Order { direction, ..order }).collect();
                continue;
            }
            let Some(name) = self.order_column(span) else {
                directions.push((place, direction));
                continue;
            };
            self.done[place] = true;
            if !orders.iter().any(|order| ordered_by(order) == Some(&name)) {
                orders.push(Order { by: Expression::Column(name), direction });
            }
        }
        // "Reasons ranked by total charge": the figure that is computed is what they are ranked by.
        if orders.is_empty() && directions.is_empty() {
            orders.extend(self.ranked_by());
        }
        for (place, direction) in directions {
            match orders.last_mut() {
                Some(order) => {
                    self.done[place] = true;
                    order.direction = direction;
                }
                None => self.refuse(place, "it does not say which column the order goes by"),
            }
        }
        let rows = match limit {
            Some((place, Some(rows))) => {
                if !self.done[place] {
                    self.done[place] = true;
                    Some(rows)
                } else {
                    None
                }
            }
            None if !orders.is_empty() && self.asks_for_one() => Some(1),
            _ => None,
        };
        let keys = self.keys();
        let best_of_each = !keys.is_empty() && self.measures().is_empty() && !self.layout.is_grouped();
        if best_of_each && !orders.is_empty() {
            let within: Vec<String> = keys.iter().filter_map(|key| key.of.as_column().map(str::to_string)).collect();
            if within.len() == keys.len() {
                self.layout.last().top = Some(Top { rows: rows.unwrap_or(1), by: orders, within });
                return;
            }
        }
        if orders.is_empty() && rows.is_none() {
            return;
        }
        let on_result = self.reading.on_result;
        let asks_for_figures = !self.spans(Role::Measure).is_empty()
            || self.spans(Role::Limit).iter().any(|(_, span)| self.reading.says_before(span, "top"));
        // An order of what was already cut is one of what is left.
        let level = self.layout.last();
        if !orders.is_empty() && rows.is_none() && level.limit.is_some() && !self.replaces {
            let level = if on_result { self.layout.on_result() } else { self.layout.last() };
            level.order = orders;
            return;
        }
        if !orders.is_empty() {
            level.order = orders;
        }
        if let Some(rows) = rows {
            // Some of the groups by what was just asked of them: the greatest.
            let figure = level.grouping().and_then(|grouping| grouping.measures.first()).map(Measure::column_name);
            match figure.filter(|_| level.order.is_empty()) {
                Some(figure) if asks_for_figures => {
                    level.order = vec![Order { by: Expression::Column(figure), direction: Direction::Descending }];
                }
                Some(figure) => self.remarks.push(message!("in the order of the groups, not of {}", figure)),
                None => {}
            }
            level.limit = Some((rows, 0));
        }
    }

    /// Whether the words ask for one that has most or least: "the vet with the highest total charge".
    fn asks_for_one(&self) -> bool {
        let words: Vec<String> = lower_words(&self.reading.text).collect();
        let Some([the, one]) = words.first_chunk::<2>() else { return false };
        let is_one = matches!(the.as_str(), "the" | "which" | "what") && !one.ends_with('s');
        let most = |word: &str| word.len() > 4 && word.ends_with("est") || matches!(word, "most" | "least");
        let has = |three: &[String]| {
            matches!(three[0].as_str(), "with" | "has" | "had") && three[1] == "the" && most(&three[2])
        };
        is_one && words.windows(3).any(has)
    }

    /// The order by a figure that the turn computes, where the words say that rows are ranked by it.
    fn ranked_by(&mut self) -> Option<Order> {
        const RANKED: [&str; 6] = ["ranked", "rank", "sorted", "sort", "ordered", "order"];
        let is_ranked = self.spans(Role::Measure).iter().any(|(place, span)| {
            let before = self.reading.text.get(..span.bytes.start).unwrap_or_default();
            let words: Vec<String> = lower_words(before).collect();
            let by = matches!(&words[..], [.., verb, by] if by == "by" && RANKED.contains(&verb.as_str()));
            by && self.done[*place]
        });
        let figure = self.figure.clone().filter(|_| is_ranked)?;
        Some(Order { by: Expression::Column(figure), direction: Direction::Descending })
    }

    /// The first figure that stands where a turn computes none and asks for no number: what is called the best goes by that, not by a number of rows
    /// that nobody asked for. Of 98 orders by the number of rows in labels/turns two would add it to a figure that stands.
    fn standing_figure(&mut self) -> Option<String> {
        let asks = self.reading.spans.iter().any(|span| matches!(span.role, Role::Group | Role::Measure));
        if asks || self.says_how_many() {
            return None;
        }
        let measures = &self.layout.grouped()?.grouping()?.measures;
        let counts = |measure: &Measure| measure.function == MeasureFunction::Count && measure.of.is_none();
        if measures.iter().any(counts) { None } else { measures.first().map(Measure::column_name) }
    }

    /// The column of numbers that words name, where they name one only.
    fn only_number_named(&self, said: &str) -> Option<String> {
        let is_number = |column: &&SchemaColumn| column.kind.is_number() && column.stand_in.is_none();
        let mut named = self.schema.columns.iter().filter(is_number).filter(|column| column.is_named(said));
        named.next().filter(|_| named.next().is_none()).map(|column| column.name.clone())
    }

    /// The column that an order goes by: the one named, as the result calls it.
    fn order_column(&mut self, span: &Span) -> Option<String> {
        let stand_in = self.stand_in(span);
        let standing = self.standing_figure().filter(|_| stand_in == Some(StandIn::Rows));
        if stand_in == Some(StandIn::Rows)
            && standing.is_none()
            && let Some(name) = self.count_of_rows()
        {
            return Some(name);
        }
        self.remarks.extend(standing.map(|figure| message!("`{}` is taken for {}", &span.words, figure)));
        let named = span.column().filter(|_| stand_in.is_none()).map(|column| self.name(column));
        let by_name = self.only_number_named(&span.words);
        let Some(level) = self.layout.levels.last_mut() else { return named.or(by_name) };
        let computed = level.rows.iter().chain(&level.after).rev().find_map(|step| match step {
            Step::Derive { name, .. } => Some(name.clone()),
            _ => None,
        });
        let Some(grouping) = level.grouping() else { return named.or(computed).or(by_name) };
        let Some(name) = named else {
            return computed.or_else(|| grouping.measures.first().map(Measure::column_name));
        };
        let of = |measure: &&Measure| measure.of.as_ref().and_then(Expression::as_column) == Some(&name);
        let is_key = grouping.keys.iter().any(|key| key.column_name() == name);
        let made = grouping.measures.iter().any(|measure| measure.column_name() == name);
        if is_key || made {
            return Some(name);
        }
        let measure = grouping.measures.iter().find(of).map(Measure::column_name);
        let key = grouping
            .keys
            .iter()
            .find(|key| matches!(&key.of, Expression::Part { of, .. } if of.as_column() == Some(&name)));
        measure.or_else(|| key.map(|key| key.column_name())).or_else(|| {
            // Neither key nor measure: the figure that was computed, or the first one.
            computed.clone().or_else(|| grouping.measures.first().map(Measure::column_name))
        })
    }
}

/// Whether words say that an order goes down, where one of them says nothing else; and whether they say no more than that.
fn direction_in(words: &str) -> Option<(bool, bool)> {
    const BESIDE: [&str; 6] = ["order", "sorted", "sort", "in", "instead", "first"];
    let down = |word: &str| match word {
        "descending" | "desc" | "decreasing" => Some(true),
        "ascending" | "asc" | "increasing" => Some(false),
        _ => None,
    };
    let words: Vec<String> = lower_words(words).collect();
    let descends = words.iter().find_map(|word| down(word))?;
    let is_all = words.iter().all(|word| down(word).is_some() || BESIDE.contains(&word.as_str()));
    Some((descends, is_all))
}

/// Whether words name what an order goes by and no direction: `by title`, not `z to a`.
fn only_orders(words: &str) -> bool {
    const DIRECTIONS: [&str; 8] = ["z", "reverse", "reversed", "backwards", "last", "latest", "down", "opposite"];
    !lower_words(words).any(|word| DIRECTIONS.contains(&word.as_str()))
}

/// How many rows a span says; one where it says "the best" without a number.
fn rows_in(span: &Span) -> Option<u64> {
    let said = span.number.or_else(|| number(&span.words).map(|number| number.value));
    said.or(Some(1.0)).filter(|rows| *rows >= 1.0 && *rows < 1e9).map(|rows| rows as u64)
}
