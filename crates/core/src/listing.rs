//! A terminal list: its columns, declared beside the type of its rows.

use std::borrow::Cow;

use crate::message::Message;
use crate::text::shown;

/// Maximum characters of an id in a list.
const ID_CHARS: usize = 80;
/// Maximum characters of a title beside an id in a list.
const TITLE_CHARS: usize = 120;
/// Maximum characters of an answer's reason in a list.
pub const REASON_CHARS: usize = 400;

/// A type whose values are the rows of a list.
pub trait Listed: Sized + 'static {
    /// The columns; the first one identifies the row.
    const COLUMNS: &'static [ListColumn<Self>];
}

/// A column in a list of `A`s.
pub struct ListColumn<A> {
    /// Its header.
    pub head: &'static str,
    /// What it shows of a row, and in which form.
    pub cell: ListCell<A>,
}

/// What a column shows of an `A`, and in which form. Numbers are right-aligned.
pub enum ListCell<A> {
    /// An id.
    Id(fn(&A) -> &str),
    /// An id, followed by a title if the id is not readable.
    Titled(fn(&A) -> &str, fn(&A) -> Option<&str>),
    /// A number with this many decimals.
    Figure(usize, fn(&A) -> f64),
    /// A count, if known.
    Count(fn(&A) -> Option<u64>),
    /// A quantity in words, if known.
    Amount(fn(&A) -> Option<String>),
    /// A text of at most this many characters.
    Text(usize, fn(&A) -> Cow<'_, str>),
    /// A message of at most this many characters.
    Message(usize, fn(&A) -> &Message),
}

/// A column from its header and cell.
pub const fn column<A>(head: &'static str, cell: ListCell<A>) -> ListColumn<A> {
    ListColumn { head, cell }
}

impl<A> ListCell<A> {
    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Figure(..) | Self::Count(_) | Self::Amount(_))
    }

    /// The text of this cell for `row`: one line, safe to show; `?` if unknown.
    pub fn text(&self, row: &A) -> String {
        let known = |amount: Option<String>| amount.unwrap_or_else(|| "?".into());
        match self {
            Self::Id(id) => shown(id(row), ID_CHARS),
            Self::Titled(id, title) => {
                let title = title(row).map(|title| format!("  {}", shown(title, TITLE_CHARS))).unwrap_or_default();
                format!("{}{title}", shown(id(row), ID_CHARS))
            }
            Self::Figure(decimals, figure) => format!("{:.decimals$}", figure(row)),
            Self::Count(count) => known(count(row).map(|count| count.to_string())),
            Self::Amount(amount) => known(amount(row)),
            Self::Text(chars, text) => shown(&text(row), *chars),
            Self::Message(chars, message) => shown(message(row), *chars),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_safe_to_show_and_marks_what_is_unknown() {
        struct Pear(&'static str, Option<u64>, f64);
        let shown = |cell: ListCell<Pear>| cell.text(&Pear("a\u{1b}[2J\nb", None, 0.12345));
        assert_eq!(shown(ListCell::Id(|pear| pear.0)), "a [2J b");
        assert_eq!(shown(ListCell::Titled(|pear| pear.0, |_| Some("x\ty"))), "a [2J b  x y");
        assert_eq!(shown(ListCell::Count(|pear| pear.1)), "?");
        assert_eq!(shown(ListCell::Figure(3, |pear| pear.2)), "0.123");
        assert_eq!(shown(ListCell::Text(4, |pear| pear.0.into())), "a […");
    }
}
