//! Lists of answers, with the columns that their type declares, or each answer's name with its evidence below.

use super::{list, out, right_align};
use crate::messages::{in_language, name, say};
use lakeward_core::listing::{ListCell, ListColumn, Listed};
use lakeward_core::text::shown;

/// Characters of an id above its evidence.
const ID_CHARS: usize = 200;

/// The answers as a list, best first; with `explain`, the evidence of each below it.
pub fn answers<A: Listed>(answers: &[A], explain: Option<&impl Fn(&A) -> Vec<String>>) {
    let Some(explain) = explain else {
        return rows(A::COLUMNS, answers, true);
    };
    for (place, answer) in answers.iter().enumerate() {
        out(&format!("{}. {}", place + 1, heading(A::COLUMNS, answer)));
        for line in explain(answer) {
            out(&format!("   {line}"));
        }
        out("");
    }
}

/// The answer's id and figures: `us/states  (0.873, 51 rows)`.
fn heading<A>(columns: &[ListColumn<A>], answer: &A) -> String {
    let mut name = String::new();
    let mut figures = Vec::new();
    for column in columns {
        match &column.cell {
            ListCell::Id(id) | ListCell::Titled(id, _) => name = shown(id(answer), ID_CHARS),
            ListCell::Figure(..) => figures.push(column.cell.text(answer)),
            ListCell::Count(_) | ListCell::Amount(_) => {
                figures.push(format!("{} {}", column.cell.text(answer), column.head));
            }
            ListCell::Text(..) | ListCell::Message(..) => {}
        }
    }
    format!("{name}  ({})", figures.join(", "))
}

/// Prints `answers` as a table with these columns, the first of them the row's number if `numbered`; nothing if there are none.
pub fn rows<A>(columns: &[ListColumn<A>], answers: &[A], numbered: bool) {
    if answers.is_empty() {
        return;
    }
    let mut table = list();
    let number = |text: String| numbered.then_some(text).into_iter();
    table.set_header(number("#".into()).chain(columns.iter().map(|column| say(column.head).into())));
    for (place, answer) in answers.iter().enumerate() {
        table.add_row(number((place + 1).to_string()).chain(columns.iter().map(|column| text_of(column, answer))));
    }
    let shift = usize::from(numbered);
    let numbers = columns.iter().enumerate().filter(|(_, column)| column.cell.is_number());
    let right: Vec<usize> = (0..shift).chain(numbers.map(|(place, _)| place + shift)).collect();
    right_align(&mut table, &right);
    out(&table.trim_fmt());
}

/// A cell; reasons are sentences of an answer, and what a table is for is a message.
fn text_of<A>(column: &ListColumn<A>, answer: &A) -> String {
    match column.cell {
        ListCell::Message(most, message) => shown(&in_language(message(answer)), most),
        ListCell::Text(_, text) if column.head == "for" => name(&text(answer)),
        _ => column.cell.text(answer),
    }
}
