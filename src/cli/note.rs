//! `lakeward note [TABLE]`

use super::args::{Arguments, NoteCommand};
use super::{Status, lake, printer};
use lakeward::documents::NoteList;
use lakeward_core::error::{Error, Result};
use lakeward_lake::notes::{NoteEdit, TableNote};

/// Changes the note on a table, or shows it; without a table shows all.
pub fn run(arguments: &Arguments, command: &NoteCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let index = lakeward.index();
    let edits = edits(command)?;
    let notes: Vec<TableNote> = match &command.table {
        None => index.notes().all().cloned().collect(),
        Some(table) if edits.is_empty() => {
            let known = index.notes().of(table);
            if known.is_none() {
                index.find(table)?;
            }
            known.cloned().into_iter().collect()
        }
        Some(table) => vec![lakeward.note(table, edits)?],
    };
    let list = NoteList::of(index, notes.iter().filter(|note| !note.is_empty()))?;
    if arguments.json {
        printer::json(&list)?;
    } else {
        printer::notes(&list);
        if list.notes.is_empty() && !arguments.quiet {
            printer::note(
                "no note; write one with `lakeward note TABLE --title …`, `--description …` or `--column COLUMN …`",
            );
        }
    }
    Ok(Status::Done)
}

fn edits(command: &NoteCommand) -> Result<Vec<NoteEdit>> {
    let mut edits = Vec::new();
    if let Some(title) = &command.title {
        edits.push(NoteEdit::Title(Some(title.clone())));
    }
    if let Some(description) = &command.description {
        edits.push(NoteEdit::Description(Some(description.clone())));
    }
    match (&command.column[..], command.remove) {
        ([], true) => edits.push(NoteEdit::Remove),
        ([], false) => {}
        ([name], true) => edits.push(NoteEdit::Column(name.clone(), None)),
        ([name, text], false) => edits.push(NoteEdit::Column(name.clone(), Some(text.clone()))),
        ([name, ..], false) => return Err(Error::usage(format!("what is `{name}`? write --column {name} TEXT"))),
        ([..], true) => return Err(Error::usage("--remove takes the column alone")),
    }
    Ok(edits)
}
