//! What a turn says, span by span: the plain types between the trained model, the annotated turns and the assembly.

use lakeward_core::plan::DatePart;
use lakeward_core::request::Act;
use lakeward_core::text::lower_words;

use super::control::ALL_STEPS;
use super::number::number;
use super::unit::Unit;
use super::words::words;

/// Declares a closed set whose names are read from and written to annotations: `CountDistinct` is `count_distinct`.
macro_rules! names {
    ($(#[$about_set:meta])* pub enum $set:ident { $($(#[$about:meta])* $name:ident = $text:literal,)* }) => {
        $(#[$about_set])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $set { $($(#[$about])* $name,)* }

        impl $set {
            /// All of them, in the order of the model's classes.
            pub const ALL: &'static [Self] = &[$($set::$name),*];

            /// Its name in annotations.
            pub fn name(self) -> &'static str {
                match self { $($set::$name => $text,)* }
            }

            /// The one of this name.
            pub fn of(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }

            /// Its position in [`Self::ALL`].
            pub fn place(self) -> usize {
                Self::ALL.iter().position(|one| *one == self).unwrap_or_default()
            }
        }
    };
}

names! {
    /// What a span of words is for.
    pub enum Role {
        /// A value that rows must have or not have.
        Value = "value",
        /// A condition without a value: missing, present, yes, no.
        Test = "test",
        /// Two columns compared.
        Compare = "compare",
        /// Each different row once.
        Distinct = "distinct",
        /// How many rows.
        Limit = "limit",
        /// A column that is kept, others are not.
        Show = "show",
        /// A column that is left out.
        Hide = "hide",
        /// A column named without another role.
        Column = "column",
        /// What makes a group.
        Group = "group",
        /// A figure computed for groups or for all rows.
        Measure = "measure",
        /// The order of rows.
        Order = "order",
        /// A column computed for each row.
        Derive = "derive",
        /// Another table.
        Table = "table",
        /// What is wanted from another table.
        Add = "add",
        /// A column that tables are joined on.
        Key = "key",
        /// What is replaced or taken back.
        Old = "old",
        /// How many turns are undone.
        Steps = "steps",
        /// The number of an answer shown.
        Answer = "answer",
        /// What the data is about.
        Topic = "topic",
        /// A place that the dataset covers.
        Place = "place",
        /// A period that the dataset covers.
        Period = "period",
        /// What a row of the dataset stands for.
        Grain = "grain",
        /// Who publishes the dataset.
        Publisher = "publisher",
        /// The format of its files.
        Format = "format",
        /// How often it appears.
        Frequency = "frequency",
        /// Its licence.
        Licence = "licence",
        /// Whether it is kept up.
        Status = "status",
    }
}

names! {
    /// How a value is compared, or what a test asks.
    pub enum Operator {
        /// The same value.
        Equal = "=",
        /// Another value.
        Different = "!=",
        /// Below.
        Less = "<",
        /// Not above.
        AtMost = "<=",
        /// Above.
        Greater = ">",
        /// Not below.
        AtLeast = ">=",
        /// A text that has it somewhere.
        Contains = "contains",
        /// A text that begins with it.
        Starts = "starts",
        /// A text that ends with it.
        Ends = "ends",
        /// No value.
        Missing = "missing",
        /// Some value.
        Present = "present",
        /// Yes.
        Yes = "yes",
        /// No.
        No = "no",
    }
}

impl Operator {
    /// Operators as they are written out, a longer one before what it ends with.
    const WRITTEN: [(&str, Operator); 19] = [
        ("!=", Operator::Different),
        ("<>", Operator::Different),
        ("≠", Operator::Different),
        ("not equal to", Operator::Different),
        ("n't equal to", Operator::Different),
        ("greater than or equal to", Operator::AtLeast),
        ("more than or equal to", Operator::AtLeast),
        ("less than or equal to", Operator::AtMost),
        ("fewer than or equal to", Operator::AtMost),
        (">=", Operator::AtLeast),
        ("=>", Operator::AtLeast),
        ("≥", Operator::AtLeast),
        ("<=", Operator::AtMost),
        ("=<", Operator::AtMost),
        ("≤", Operator::AtMost),
        (">", Operator::Greater),
        ("<", Operator::Less),
        ("==", Operator::Equal),
        ("equal to", Operator::Equal),
    ];

    /// The operator that is written out before a value: a sign, or "not equal to". One that only ends like one of them ("level or equal to") is
    /// left to the model.
    pub(super) fn written_before(text: &str, value: std::ops::Range<usize>) -> Option<Self> {
        let inside = text[value.clone()].find(char::is_alphanumeric).unwrap_or(0);
        let before = text[..value.start + inside].trim_end_matches(['-', '"', '\'', ' ']).to_lowercase();
        let (_, operator) = Self::WRITTEN.into_iter().find(|(sign, _)| before.ends_with(sign))?;
        (operator != Operator::Equal || !before.ends_with("or equal to")).then_some(operator)
    }
}

names! {
    /// How a measure or a derived column is computed.
    pub enum Function {
        /// Number of rows.
        Count = "count",
        /// Number of different values.
        CountDistinct = "count_distinct",
        /// Sum.
        Sum = "sum",
        /// Mean.
        Mean = "mean",
        /// Median.
        Median = "median",
        /// Smallest value.
        Min = "min",
        /// Largest value.
        Max = "max",
        /// Standard deviation.
        Deviation = "std",
        /// Part of a total; of a measure or of every row.
        Share = "share",
        /// A quantile.
        Quantile = "quantile",
        /// Pearson's correlation of two columns.
        Correlation = "correlation",
        /// The value of one column where another is greatest.
        AtMax = "at_max",
        /// The value of one column where another is smallest.
        AtMin = "at_min",
        /// The first value in an order.
        First = "first",
        /// The last value in an order.
        Last = "last",
        /// The difference of two columns.
        Minus = "minus",
        /// Their sum.
        Plus = "plus",
        /// A multiple, or the product of two columns.
        Times = "times",
        /// One divided by the other.
        Ratio = "ratio",
        /// The same in per cent.
        Percent = "percent",
        /// So many of one for a number of the other.
        Rate = "rate",
        /// The change to the row before.
        Change = "change",
        /// The running total.
        Running = "running",
        /// The rank.
        Rank = "rank",
        /// Ranges of equal width.
        Bin = "bin",
        /// Part of a date.
        Part = "part",
    }
}

names! {
    /// What another table is for.
    pub enum How {
        /// Its columns are added.
        Join = "join",
        /// Its rows are appended.
        Union = "union",
        /// Rows are kept that also occur there.
        Semi = "semi",
        /// Rows are kept that do not occur there.
        Anti = "anti",
        /// It is the table to work on.
        Source = "source",
    }
}

/// Parts of dates by their names in annotations, in the order of the model's classes.
pub const PARTS: [DatePart; 7] = [
    DatePart::Year,
    DatePart::Month,
    DatePart::Day,
    DatePart::Weekday,
    DatePart::Quarter,
    DatePart::Hour,
    DatePart::Decade,
];

/// Words of a turn with what they say. Columns are numbers into the [`super::Schema`] that the turn was read with.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Bytes of the text.
    pub bytes: std::ops::Range<usize>,
    /// The words.
    pub words: String,
    /// What they are for.
    pub role: Role,
    /// The columns they speak of, the most important first.
    pub columns: Vec<usize>,
    /// How likely the first of them is, in 0..=1.
    pub likely_column: f32,
    /// The next likeliest columns of a value, likeliest first.
    pub others: Vec<(usize, f32)>,
    /// The other column of a comparison or a computation, or the one that decides between rows.
    pub second: Option<usize>,
    /// Whether they name a column that there is none of.
    pub unknown_column: bool,
    /// How values are compared.
    pub operator: Operator,
    /// How a figure is computed.
    pub function: Option<Function>,
    /// The greatest first.
    pub descending: bool,
    /// The part of a date.
    pub part: Option<DatePart>,
    /// What another table is for.
    pub how: How,
    /// Whether it is what the dataset must not have.
    pub unwanted: bool,
    /// The value as the table has it, where it is known better than by the words.
    pub value: Option<String>,
    /// The number that is said or meant: rows, turns, the unit of a rate.
    pub number: Option<f64>,
    /// The unit that is said with its number.
    pub unit: Option<Unit>,
    /// How sure the model is of role and columns, in 0..=1; 1 for annotated spans.
    pub confidence: f32,
}

impl Span {
    /// A span with nothing but its words and role.
    pub fn new(bytes: std::ops::Range<usize>, words: impl Into<String>, role: Role) -> Self {
        Self {
            bytes,
            words: words.into(),
            role,
            columns: Vec::new(),
            likely_column: 1.0,
            others: Vec::new(),
            second: None,
            unknown_column: false,
            operator: Operator::Equal,
            function: None,
            descending: false,
            part: None,
            how: How::Join,
            unwanted: false,
            value: None,
            number: None,
            unit: None,
            confidence: 1.0,
        }
    }

    /// The span of these bytes of a text, with the unit that is said with its number.
    pub(super) fn of(text: &str, bytes: std::ops::Range<usize>, role: Role) -> Self {
        let unit = (role == Role::Value).then(|| Unit::behind_number(&text[bytes.start..], bytes.len())).flatten();
        Self { unit, ..Self::new(bytes.clone(), &text[bytes], role) }
    }

    /// Whether it computes a part of a total: a per cent of no second column is one too.
    pub fn is_share(&self) -> bool {
        let computes = matches!(self.role, Role::Measure | Role::Derive);
        let of_total = self.function == Some(Function::Percent) && self.second.is_none() && self.columns.len() < 2;
        computes && (self.function == Some(Function::Share) || of_total)
    }

    /// Its first column.
    pub fn column(&self) -> Option<usize> {
        self.columns.first().copied()
    }
}

/// A turn as it was read: what the analyst does, and the spans in the order of the text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnReading {
    /// The text.
    pub text: String,
    /// What the analyst does; a second act where two are said ("undo that and …").
    pub acts: Vec<Act>,
    /// How sure the model is of the first act, in 0..=1.
    pub confidence: f32,
    /// The greatest probability that a word in no span belongs in one, in 0..=1.
    pub overlooked: f32,
    /// Whether it is about the table that was just made rather than its source.
    pub on_result: bool,
    /// The spans, first word first; they do not overlap.
    pub spans: Vec<Span>,
    /// How many decimals figures are to have, with the words.
    pub decimals: Option<(String, i32)>,
    /// Words in no span that surely say something: numbers, days, months, values of columns.
    pub unread: Vec<String>,
}

impl TurnReading {
    /// The probability that the whole turn is read right, in 0..=1: logistic in how sure the reader is of all spans together and of the words in
    /// none, fitted on 1,506 turns of three writers that it had not learned from (eval/turns.md).
    pub fn certainty(&self) -> f64 {
        const BIAS: f64 = 0.91;
        const SPANS: f64 = 1.83;
        const OVERLOOKED: f64 = -0.21;
        const LEAST: f64 = 1e-3;
        let spans: f64 = self.spans.iter().map(|span| f64::from(span.confidence).max(LEAST).ln()).sum();
        let overlooked = f64::from(self.overlooked).clamp(LEAST, 1.0 - LEAST);
        let logit = BIAS + SPANS * spans + OVERLOOKED * (overlooked / (1.0 - overlooked)).ln();
        1.0 / (1.0 + (-logit).exp())
    }

    /// The same with what is written in closed forms, which no model needs to guess: operators between a column and a value, and decimals.
    pub(super) fn with_written_forms(mut self) -> Self {
        for place in 0..self.spans.len() {
            let span = &mut self.spans[place];
            let Some(operator) = Operator::written_before(&self.text, span.bytes.clone()) else { continue };
            // What has no digit has no order: "<b>" is no sign.
            let fits =
                matches!(operator, Operator::Equal | Operator::Different) || span.words.contains(char::is_numeric);
            if !fits || !matches!(span.role, Role::Value | Role::Old) {
                continue;
            }
            (span.role, span.operator) = (Role::Value, operator);
            let [.., before, span] = &mut self.spans[..=place] else { continue };
            let between = self.text.get(before.bytes.end..span.bytes.start).unwrap_or_default();
            let is_operator = Operator::WRITTEN.iter().any(|(sign, _)| between.trim().eq_ignore_ascii_case(sign));
            let names = matches!(before.role, Role::Group | Role::Show | Role::Order | Role::Column);
            if names && is_operator && before.column().is_some() {
                before.role = Role::Column;
                span.columns.clone_from(&before.columns);
            }
        }
        // What begins anew wants something, unless it says no.
        let is_topic = |span: &&Span| span.role == Role::Topic;
        let wants_nothing = self.has(Act::New)
            && self.spans.iter().any(|span| is_topic(&span))
            && self.spans.iter().filter(is_topic).all(|span| span.unwanted);
        if wants_nothing && !says_no(&self.text) {
            self.spans.iter_mut().filter(|span| span.role == Role::Topic).for_each(|span| span.unwanted = false);
        }
        if let Some((bytes, decimals)) = decimals_in(&self.text) {
            self.spans.retain(|span| span.bytes.end <= bytes.start || bytes.end <= span.bytes.start);
            self.unread.retain(|word| !self.text[bytes.clone()].contains(word.as_str()));
            self.decimals = Some((self.text[bytes].to_string(), decimals));
        }
        self
    }

    /// Whether a word stands in a span, or right before it.
    pub fn says_before(&self, span: &Span, word: &str) -> bool {
        let before = self.text.get(..span.bytes.start).unwrap_or_default();
        let last = lower_words(before).last();
        lower_words(&span.words).chain(last).any(|known| known == word)
    }

    /// The span that the reader is least sure of.
    pub fn least_sure(&self) -> Option<&Span> {
        self.spans.iter().min_by(|a, b| a.confidence.total_cmp(&b.confidence))
    }

    /// Whether the analyst does this.
    pub fn has(&self, act: Act) -> bool {
        self.acts.contains(&act)
    }

    /// Whether the analyst does this first of all, and the reader is sure enough of it to do something that a request does not.
    pub fn is_surely(&self, act: Act) -> bool {
        const SURE: f32 = 0.6;
        self.acts.first() == Some(&act) && self.confidence >= SURE
    }

    /// The spans of a role.
    pub fn of(&self, role: Role) -> impl Iterator<Item = &Span> {
        self.spans.iter().filter(move |span| span.role == role)
    }

    /// How many turns are undone or made again; one where no number is said.
    pub fn steps(&self) -> usize {
        let number = |span: &Span| span.number.or_else(|| number(&span.words).map(|number| number.value));
        self.of(Role::Steps).find_map(number).map_or(1, |steps| steps.clamp(1.0, ALL_STEPS as f64) as usize)
    }

    /// How many answers are wanted, 1..=100, where the turn says a number: of a search, more or fewer of what is shown.
    pub fn requested_answers(&self) -> Option<usize> {
        let number = |span: &Span| span.number.or_else(|| number(&span.words).map(|number| number.value));
        let said = self.of(Role::Limit).find_map(number)?;
        (said >= 1.0).then(|| said.min(100.0) as usize)
    }
}

/// Whether a text has a word that turns others into what is not wanted.
pub(super) fn says_no(text: &str) -> bool {
    const NO: [&str; 12] = [
        "no",
        "not",
        "without",
        "except",
        "excluding",
        "but",
        "never",
        "none",
        "nothing",
        "other",
        "rather",
        "instead",
    ];
    lower_words(text).any(|word| NO.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t"))
}

/// The decimals that a text asks for, with the words: `two decimal places`.
fn decimals_in(text: &str) -> Option<(std::ops::Range<usize>, i32)> {
    const MOST: f64 = 15.0;
    let words = words(text);
    let at = words.iter().position(|word| text[word.bytes.clone()].to_lowercase().starts_with("decimal"))?;
    let before = words.get(at.checked_sub(1)?)?.bytes.clone();
    let said = number(&text[before.clone()]).filter(|said| (0.0..=MOST).contains(&said.value))?;
    Some((before.start..words[at].bytes.end, said.value as i32))
}
