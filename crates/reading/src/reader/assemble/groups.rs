//! Groups and what is computed of them: in the grouping that stands, or in a new one.

use lakeward_core::plan::{Comparison, Condition, Expression, Grouping, JoinKind, Key, Measure, MeasureFunction, Step};

use super::{Assembler, NotApplied};
use crate::reader::layout::{Level, ordered_by};
use crate::reader::schema::{SchemaColumn, StandIn};
use crate::reader::span::{Role, Span};
use lakeward_core::message;
use lakeward_core::text::lower_words;

impl Assembler<'_> {
    /// The name of the number of rows in each group of the last grouping, which counts them from now on; what nothing asks for is not shown.
    pub(super) fn count_of_rows(&mut self) -> Option<String> {
        let level = self.layout.grouped()?;
        let grouping = level.grouping()?;
        let counts = |measure: &&Measure| {
            measure.function == MeasureFunction::Count && measure.of.is_none() && measure.condition.is_none()
        };
        if let Some(known) = grouping.measures.iter().find(counts) {
            return Some(known.column_name());
        }
        let name = count().column_name();
        let is_only = grouping.measures.is_empty();
        grouping.measures.push(count());
        match &mut level.columns {
            Some(Step::Drop(names)) => names.push(name.clone()),
            None if !is_only => level.columns = Some(Step::Drop(vec![name.clone()])),
            _ => {}
        }
        Some(name)
    }

    /// Whether the turn compares or orders groups by their number of rows.
    fn speaks_of_rows(&self) -> bool {
        let mut spans = self.reading.spans.iter().filter(|span| matches!(span.role, Role::Value | Role::Order));
        spans.any(|span| self.stand_in(span) == Some(StandIn::Rows))
    }

    /// What is asked for is shown, even if it was computed before for a condition alone.
    fn show_measures(&mut self, measures: &[Measure]) {
        let Some(level) = self.layout.grouped() else { return };
        if let Some(Step::Drop(names)) = &mut level.columns {
            names.retain(|name| !measures.iter().any(|measure| measure.column_name() == *name));
            if names.is_empty() {
                level.columns = None;
            }
        }
    }

    /// Whether the turn asks another question about the rows, so that what was computed of the last one's groups goes.
    pub(super) fn groups_anew(&self) -> bool {
        self.layout.is_grouped() && !self.spans(Role::Group).is_empty() && !self.spans(Role::Measure).is_empty()
    }

    /// Whether the rows of the last grouping are told apart by a column of this name.
    pub(super) fn is_key(&mut self, name: &str) -> bool {
        let grouping = self.layout.grouped().and_then(Level::grouping);
        grouping.is_some_and(|grouping| grouping.keys.iter().any(|key| key.column_name() == name))
    }

    /// Whether the last grouping computes a measure of this name.
    pub(super) fn is_measure(&mut self, name: &str) -> bool {
        let grouping = self.layout.grouped().and_then(Level::grouping);
        grouping.is_some_and(|grouping| grouping.measures.iter().any(|measure| measure.column_name() == name))
    }

    pub(super) fn groups(&mut self) {
        let mut keys: Vec<_> = self.keys();
        let mut measures: Vec<Measure> = self.measures();
        if keys.is_empty() && !self.layout.is_grouped() && measures.iter().any(is_of_all_rows) {
            keys = self.keys_of_shares();
            if keys.is_empty() {
                measures.retain(|measure| !is_of_all_rows(measure));
            }
        }
        if self.replaces {
            self.drop_kept_one(&keys);
        }
        if measures.is_empty() && !keys.is_empty() && self.lost_figure() {
            self.refuse_groups();
            return;
        }
        if measures.is_empty() && !keys.is_empty() && self.says_no_rows() {
            measures.extend(self.measure_of_computed());
        }
        if measures.is_empty() && self.answers_with_groups() {
            measures.extend(self.measure_of_order());
        }
        if measures.is_empty() && !keys.is_empty() && self.speaks_of_rows() {
            measures.push(count());
        }
        self.measure_what_is_computed(&keys, &mut measures);
        self.show_measures(&measures);
        let ordering = !self.spans(Role::Order).is_empty();
        self.figure = measures.first().map(Measure::column_name).or_else(|| {
            let grouping = self.layout.grouped()?.grouping()?;
            grouping.measures.first().map(Measure::column_name)
        });
        if keys.is_empty() && measures.is_empty() {
            return;
        }
        // "How many is that each?" goes on with the groups.
        let says_each = keys.is_empty() && lower_words(&self.reading.text).any(|word| word == "each");
        let on_result = self.reading.on_result && !says_each;
        let grouped = self.layout.is_grouped();
        if says_each && !grouped {
            self.not_applied.push(NotApplied::left_out("each", "it does not say of what"));
        }
        if measures.is_empty() && !grouped {
            if ordering || !self.spans(Role::Limit).is_empty() {
                // The best of each group: see `order`.
                return;
            }
            // A group that nothing is called and of which nothing is computed says too little: "per route" of rows with a zone.
            let is_guess = |span: &Span| {
                let column = span.column().map(|column| &self.schema.columns[column]);
                column.is_some_and(|column| span.part.is_none() && !column.is_named(&span.words))
            };
            let groups = self.spans(Role::Group);
            if groups.iter().any(|(_, span)| is_guess(span)) {
                groups.into_iter().for_each(|(place, _)| self.refuse(place, "there is no such column"));
                return;
            }
            // Of 20 such turns of writers not learned from 17 asked for a figure that was not read.
            if self.spans(Role::Distinct).is_empty() {
                let reason = "it does not say what is to be computed for each";
                let groups = self.spans(Role::Group).into_iter();
                let lost = groups.map(|(_, span)| NotApplied::left_out(&span.words, reason));
                self.not_applied.extend(lost);
            }
            self.new_grouping(Grouping { keys, measures });
            return;
        }
        if !grouped || on_result {
            self.new_grouping(Grouping { keys, measures });
            return;
        }
        let replaces = self.replaces;
        let speaks_of_joined = keys.iter().filter_map(|key| key.of.as_column()).any(|name| self.is_of_result(name));
        let Some(level) = self.layout.grouped() else { return };
        if speaks_of_joined && level.grouping().is_some() {
            // What was added to the groups is grouped by: it is added to the rows.
            let is_join = |step: &Step| matches!(step, Step::Join(join) if join.kind == JoinKind::Left);
            let (joins, after) = std::mem::take(&mut level.after).into_iter().partition(is_join);
            level.after = after;
            level.tables = [std::mem::take(&mut level.tables), joins].concat();
        }
        let Some(grouping) = level.grouping() else { return };
        match (keys.is_empty(), measures.is_empty()) {
            (false, true) if replaces => replace_keys(level, keys),
            (false, true) => {
                let new = keys.into_iter().filter(|key| !grouping.keys.contains(key)).collect::<Vec<_>>();
                grouping.keys.extend(new);
            }
            (true, false) if replaces => {
                let renamed = replace_measures(level, measures);
                self.layout.rename(&renamed);
            }
            (true, false) => {
                let new =
                    measures.into_iter().filter(|measure| !grouping.measures.contains(measure)).collect::<Vec<_>>();
                grouping.measures.extend(new);
            }
            _ => {
                // Both are said: another question about the same rows.
                *grouping = Grouping { keys, measures };
                level.after.clear();
                level.order.clear();
                level.limit = None;
                level.columns = None;
                self.layout.end_with_grouping();
            }
        }
    }

    /// What a share of all rows is one of each of: the columns of words that its span speaks of. Where there are none, it would be 100 %.
    fn keys_of_shares(&mut self) -> Vec<Key> {
        let mut keys = Vec::new();
        for (place, span) in self.spans(Role::Measure).into_iter().filter(|(_, span)| span.is_share()) {
            let columns = span.columns.iter().filter(|column| self.schema.columns[**column].has_words());
            let own: Vec<Key> =
                columns.map(|column| Key { of: Expression::Column(self.name(*column)), name: None }).collect();
            if own.is_empty() {
                self.refuse(place, "it does not say of what: of all rows it is 100 %");
            }
            keys.extend(own);
        }
        keys
    }

    /// "No, for every continent": what kept one of them goes, unless the turn itself says which.
    fn drop_kept_one(&mut self, keys: &[Key]) {
        let is_one = |part: &Condition| matches!(part, Condition::Compare { comparison: Comparison::Equal, .. });
        for name in keys.iter().filter_map(|key| key.of.as_column()) {
            let says_which =
                self.spans(Role::Value).iter().any(|(_, span)| self.names(span).iter().any(|own| own == name));
            if !says_which {
                self.layout.take_conditions(name, is_one);
            }
        }
    }

    /// Orders and conditions of what the last grouping no longer computes go with it.
    pub(super) fn forget_what_is_gone(&mut self) {
        let Some(level) = self.layout.grouped() else { return };
        if level.after.iter().any(|step| matches!(step, Step::Join(_))) {
            return;
        }
        let Some(Grouping { keys, measures }) = level.grouping() else { return };
        let mut known: Vec<String> = keys.iter().map(|key| key.column_name()).collect();
        known.extend(measures.iter().map(Measure::column_name));
        known.extend(level.after.iter().filter_map(|step| match step {
            Step::Derive { name, .. } => Some(name.clone()),
            _ => None,
        }));
        let is_gone =
            |column: &&SchemaColumn| column.of_result && column.stand_in.is_none() && !known.contains(&column.name);
        let gone: Vec<&String> = self.schema.columns.iter().filter(is_gone).map(|column| &column.name).collect();
        level.order.retain(|order| !ordered_by(order).is_some_and(|name| gone.iter().any(|gone| *gone == name)));
        for name in gone {
            for condition in self.layout.take_conditions(name, |_| true) {
                self.not_applied.push(NotApplied::left_out(condition.to_string(), "it is no longer computed"));
            }
        }
    }

    /// Whether the rows that are wanted are the groups: "which three wards", "the five huts with …"; not the best row of each group.
    fn answers_with_groups(&self) -> bool {
        let groups = self.spans(Role::Group);
        let before = |limit: &Span, group: &Span| {
            limit.bytes.end <= group.bytes.start && group.bytes.start - limit.bytes.end <= 1
        };
        self.spans(Role::Derive).is_empty()
            && self.spans(Role::Limit).iter().any(|(_, limit)| groups.iter().any(|(_, group)| before(limit, group)))
    }

    /// Whether a figure of rows that the turn asks for could not be computed.
    fn lost_figure(&self) -> bool {
        let has_figure = self.computed.is_some() || self.layout.is_grouped();
        let waits = |span: &Span| has_figure && self.speaks_of_figure(span);
        let asks = |(place, span): (usize, &Span)| !self.done[place] && !waits(span);
        self.spans(Role::Measure).into_iter().chain(self.spans(Role::Derive)).any(asks)
    }

    /// Groups alone would look like the answer.
    fn refuse_groups(&mut self) {
        for (place, _) in self.spans(Role::Group) {
            self.refuse(place, "what is to be computed for each could not be");
        }
    }

    /// Whether the turn says nothing of which rows come first.
    fn says_no_rows(&self) -> bool {
        self.spans(Role::Order).is_empty() && self.spans(Role::Limit).is_empty()
    }

    /// Makes the turn's figure one of the column that it computes: in "takings per month, tickets times price", the
    /// sum of tickets becomes the sum of tickets times price. This holds where the column is computed from two others
    /// in every row, where one figure is of one of the two, and where nothing else uses the computed column, so that
    /// grouping would lose it.
    fn measure_what_is_computed(&mut self, keys: &[Key], measures: &mut [Measure]) {
        let Some(name) = self.computed.clone() else { return };
        let uses = |of: &Expression| {
            let mut columns = Vec::new();
            of.columns(&mut columns);
            columns.contains(&name.as_str())
        };
        let is_used = keys.iter().any(|key| uses(&key.of))
            || measures.iter().filter_map(|measure| measure.of.as_ref()).any(uses)
            || !self.spans(Role::Order).is_empty();
        let steps = self.layout.levels.iter().flat_map(|level| &level.rows);
        let value = steps.rev().find_map(|step| match step {
            Step::Derive { name: made, value: value @ Expression::Arithmetic { .. } } if *made == name => Some(value),
            _ => None,
        });
        let mut operands = Vec::new();
        value.into_iter().for_each(|value| value.columns(&mut operands));
        let operands: Vec<String> = operands.into_iter().map(str::to_string).collect();
        if is_used || operands.len() < 2 {
            return;
        }
        let is_operand = |measure: &&mut Measure| {
            let column = measure.of.as_ref().and_then(Expression::as_column);
            column.is_some_and(|column| operands.iter().any(|operand| operand == column))
        };
        let mut of_operands = measures.iter_mut().filter(is_operand);
        if let (Some(measure), None) = (of_operands.next(), of_operands.next()) {
            measure.of = Some(Expression::Column(name.clone()));
            self.remarks.push(message!("the figure is of {}", name));
        }
    }

    /// The mean of what the turn computes of every row, where groups are wanted of it.
    fn measure_of_computed(&mut self) -> Option<Measure> {
        let name = self.computed.clone()?;
        self.remarks.push(message!("for each group the mean of {}", &name));
        Some(Measure {
            function: MeasureFunction::Mean,
            of: Some(Expression::Column(name)),
            condition: None,
            name: None,
        })
    }

    /// What groups are put in order by, where no measure is said: the total of the column that the order names, else their rows.
    fn measure_of_order(&self) -> Option<Measure> {
        let (_, order) = self.spans(Role::Order).first().copied()?;
        let of_rows = order.columns.first().filter(|column| self.schema.columns[**column].stand_in.is_none());
        let total =
            of_rows.filter(|column| self.schema.columns[**column].kind.is_number()).map(|column| self.name(*column));
        let function = if total.is_some() { MeasureFunction::Sum } else { MeasureFunction::Count };
        Some(Measure { function, of: total.map(Expression::Column), condition: None, name: None })
    }

    /// A grouping behind all that stands.
    fn new_grouping(&mut self, grouping: Grouping) {
        let needed: Vec<String> = grouping
            .keys
            .iter()
            .filter_map(|key| key.of.as_column().map(str::to_string))
            .chain(grouping.measures.iter().filter_map(|measure| measure.of.as_ref()?.as_column().map(str::to_string)))
            .collect();
        let level = self.layout.last();
        let cut = level.limit.is_some() || level.top.is_some() || level.distinct.is_some();
        if level.group.is_none() {
            // Columns that were left out can be grouped by all the same, and an order of rows means nothing for groups.
            if let Some(Step::Select(kept)) = &level.columns
                && (!cut || needed.iter().any(|name| !kept.iter().any(|kept| kept.column == *name)))
            {
                level.columns = None;
            }
            if !cut {
                level.order.clear();
                level.group = Some(Step::Group(grouping));
                return;
            }
        }
        self.layout.on_result().group = Some(Step::Group(grouping));
    }
}

/// Whether a measure is the share of all rows that all rows are.
fn is_of_all_rows(measure: &Measure) -> bool {
    let of_all = matches!(&measure.function, MeasureFunction::Share { within, .. } if within.is_empty());
    of_all && measure.of.is_none() && measure.condition.is_none()
}

/// The number of rows.
pub(super) fn count() -> Measure {
    Measure { function: MeasureFunction::Count, of: None, condition: None, name: None }
}

/// Other keys for a grouping; an order by a key that is gone goes too.
fn replace_keys(level: &mut Level, keys: Vec<Key>) {
    let Some(grouping) = level.grouping() else { return };
    let old: Vec<String> = grouping.keys.iter().map(|key| key.column_name()).collect();
    grouping.keys = keys;
    let new: Vec<String> = grouping.keys.iter().map(|key| key.column_name()).collect();
    let measures: Vec<String> = grouping.measures.iter().map(Measure::column_name).collect();
    level.order.retain(|order| {
        ordered_by(order).is_none_or(|name| !old.iter().any(|old| old == name) || new.iter().any(|new| new == name))
    });
    // What was only computed for a condition stays hidden.
    level.columns = match level.columns.take() {
        Some(Step::Drop(mut names)) => {
            names.retain(|name| measures.contains(name));
            (!names.is_empty()).then_some(Step::Drop(names))
        }
        _ => None,
    };
}

/// Other measures: of the same column where there is one, else in place of all. Returns their old and new names.
fn replace_measures(level: &mut Level, measures: Vec<Measure>) -> Vec<(String, String)> {
    let Some(grouping) = level.grouping() else { return Vec::new() };
    let mut renamed: Vec<(String, String)> = Vec::new();
    for measure in measures {
        let same = |known: &Measure| match (&known.of, &measure.of) {
            (_, None) => true,
            (Some(old), Some(new)) => old == new,
            (None, Some(_)) => false,
        };
        let needs_column =
            measure.of.is_none() && measure.function.word() != "count" && measure.function.word() != "share";
        let mut did = false;
        for known in grouping.measures.iter_mut().filter(|known| same(known)) {
            if needs_column && known.of.is_none() {
                continue;
            }
            let old = known.column_name();
            let of = if needs_column { known.of.clone() } else { measure.of.clone() };
            *known = Measure { function: measure.function.clone(), of, condition: known.condition.clone(), name: None };
            renamed.push((old, known.column_name()));
            did = true;
            if !needs_column {
                break;
            }
        }
        if !did {
            if let [only] = grouping.measures.as_mut_slice() {
                renamed.push((only.column_name(), measure.column_name()));
                *only = measure;
            } else {
                grouping.measures.push(measure);
            }
        }
    }
    let mut seen = Vec::new();
    grouping.measures.retain(|measure| {
        let new = !seen.contains(measure);
        seen.push(measure.clone());
        new
    });
    renamed
}
