//! What a turn says and its plan does not have as it was said: words that are left out, and words that something else is taken for.

use lakeward_core::message;
use lakeward_core::message::Message;

/// Something that was said and is not in the plan as it was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotApplied {
    /// The words.
    pub words: String,
    /// What became of them.
    pub why: WhyNot,
}

/// What became of words that are not in a plan as they were said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyNot {
    /// They are left out, for this reason.
    LeftOut(Message),
    /// They name nothing, and this is taken for them: it is in the plan.
    Guessed(Message),
    /// They name nothing that could be counted: rows are.
    RowsCounted,
    /// They are a condition on this column, of which only the rows without a value are at hand: they are left out.
    OfGap(String),
    /// They are in the plan, and no row can meet them, for this reason.
    NoRows(Message),
}

impl NotApplied {
    /// Words that are left out, with the reason in a clause.
    pub fn left_out(words: impl Into<String>, reason: impl Into<Message>) -> Self {
        Self { words: words.into(), why: WhyNot::LeftOut(reason.into()) }
    }

    /// Words that name nothing, and what is taken for them.
    pub fn guess(words: impl Into<String>, taken: impl Into<Message>) -> Self {
        Self { words: words.into(), why: WhyNot::Guessed(taken.into()) }
    }

    /// Words that name nothing that could be counted, where rows are.
    pub fn rows_counted(words: impl Into<String>) -> Self {
        Self { words: words.into(), why: WhyNot::RowsCounted }
    }

    /// Words for a condition on a column of which only the rows without a value are at hand.
    pub fn of_gap(words: impl Into<String>, column: impl Into<String>) -> Self {
        Self { words: words.into(), why: WhyNot::OfGap(column.into()) }
    }

    /// Words for a condition that no row can meet, with the reason in a clause.
    pub fn no_rows(words: impl Into<String>, reason: impl Into<Message>) -> Self {
        Self { words: words.into(), why: WhyNot::NoRows(reason.into()) }
    }

    /// Whether something else is taken for the words.
    pub fn is_guess(&self) -> bool {
        matches!(self.why, WhyNot::Guessed(_))
    }

    /// Whether they speak of a gap in the rows at hand.
    pub fn is_of_gap(&self) -> bool {
        matches!(self.why, WhyNot::OfGap(_))
    }

    /// Whether they name nothing that could be counted, and rows are.
    pub fn counts_rows(&self) -> bool {
        self.why == WhyNot::RowsCounted
    }

    /// It in a clause.
    pub fn statement(&self) -> Message {
        let words = &self.words;
        match &self.why {
            WhyNot::LeftOut(reason) => message!("`{}` is not applied: {}", words, reason),
            WhyNot::Guessed(taken) => message!("nothing here is called `{}`, and {} is taken for it", words, taken),
            WhyNot::RowsCounted => message!("nothing here is called `{}`: rows are counted", words),
            WhyNot::OfGap(column) => {
                message!("`{}` is not applied: the rows at hand are those without a `{}`", words, column)
            }
            WhyNot::NoRows(reason) => message!("no row is left by `{}`: {}", words, reason),
        }
    }
}
