//! What a text spells out, whatever the reader takes its words for: ids of tables, and things to be counted that no table has.

use super::Agent;
use lakeward_core::error::Result;
use lakeward_core::plan::Plan;
use lakeward_core::request::Input;
use lakeward_core::text::{Stemmer, is_function_word, name_words, words};
use lakeward_index::LakeIndex;
use lakeward_reading::reader::{Function, How, NotApplied, Role, Schema, Span, TurnReading};

impl Agent<'_> {
    /// Words that spell the id of a table out are that table, whatever the model takes them for, but for a value that its column `holds`.
    pub(super) fn note_ids(
        &self,
        (text, plan): (&str, &Plan),
        holds: &dyn Fn(usize, &str) -> bool,
        turn: &mut TurnReading,
    ) -> Result<()> {
        let mut before: Option<(usize, How)> = None;
        for (bytes, id) in ids_in(self.index, text, plan)? {
            // "KPHX, KSEA and KCLT" are wanted in one way.
            let between = before.and_then(|(end, how)| Some((text.get(end..bytes.start)?, how)));
            let listed =
                between.filter(|(between, _)| words(between).all(|word| is_function_word(&word.to_lowercase())));
            let touches = |span: &Span| span.bytes.start < bytes.end && bytes.start < span.bytes.end;
            let is_held =
                |span: &Span| span.role == Role::Value && span.column().is_some_and(|c| holds(c, &span.words));
            if turn.spans.iter().any(|span| touches(span) && is_held(span)) {
                continue;
            }
            let read = turn.spans.iter().find(|span| touches(span) && span.role == Role::Table);
            let near = read.or_else(|| turn.spans.iter().find(|span| span.role == Role::Table));
            let joins = turn.spans.iter().any(|span| matches!(span.role, Role::Add | Role::Key));
            let how = near.map_or(if joins { How::Join } else { How::Union }, |span| span.how);
            let how = listed.map_or(how, |(_, how)| how);
            before = Some((bytes.end, how));
            turn.spans.retain(|span| !touches(span));
            let words = text[bytes.clone()].to_string();
            turn.spans.push(Span { how, value: Some(id), ..Span::new(bytes, words, Role::Table) });
        }
        turn.spans.sort_by_key(|span| span.bytes.start);
        Ok(())
    }

    /// What is to be counted, where nothing of the table is called so: "how many horses" counts rows that are none.
    pub(super) fn counted_by_another_name(
        &self,
        turn: &TurnReading,
        schema: &Schema,
        plan: &Plan,
    ) -> Result<Option<NotApplied>> {
        const ROWS: [&str; 4] = ["rows", "records", "entries", "lines"];
        let Some(count) = turn.of(Role::Measure).find(|span| span.function == Some(Function::Count)) else {
            return Ok(None);
        };
        let is_plural = |word: &str| word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && word != "does";
        let behind = turn.text.get(count.bytes.end..).unwrap_or_default();
        let next = words(behind).find(|word| !is_function_word(&word.to_lowercase())).filter(|word| {
            let at = count.bytes.end + (word.as_ptr() as usize - behind.as_ptr() as usize);
            !turn.spans.iter().any(|span| span.bytes.contains(&at))
        });
        let inside = words(&count.words).last();
        let thing = [inside, next].into_iter().flatten().find(|word| is_plural(&word.to_lowercase()));
        let Some(thing) = thing.filter(|word| !ROWS.contains(&word.to_lowercase().as_str())) else { return Ok(None) };
        let mut known = schema.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
        for input in plan.inputs() {
            known.push(input.to_string());
            let Input::Table(id) = input else { continue };
            let Some(table) = self.index.get(id)? else { continue };
            let dataset = self.index.dataset(table)?;
            known.push(dataset.title());
            if let Some(metadata) = dataset.metadata() {
                known.extend(metadata.description.clone());
                known.extend(metadata.tags.iter().cloned());
                known.extend(
                    metadata
                        .columns
                        .values()
                        .flat_map(|column| [&column.title, &column.description])
                        .flatten()
                        .cloned(),
                );
            }
        }
        let mut stemmer = Stemmer::default();
        let wanted = stemmer.stem(&thing.to_lowercase()).to_string();
        let mut is_named = |text: &String| name_words(text).iter().any(|word| stemmer.stem(word) == wanted);
        if known.iter().any(&mut is_named) || !schema.matches(thing, &|_, _| false).is_empty() {
            return Ok(None);
        }
        Ok(Some(NotApplied::rows_counted(thing)))
    }
}

/// Ids of tables of the lake that a text spells out, with their bytes: words with a slash; with digits or underscores that are the last part of the
/// id of one table; codes in capitals that are that of a table in the folder of one that `plan` reads.
pub(super) fn ids_in(index: &LakeIndex, text: &str, plan: &Plan) -> Result<Vec<(std::ops::Range<usize>, String)>> {
    let mut found = Vec::new();
    let folders: Vec<&str> = plan.tables().filter_map(|id| Some(id.rsplit_once('/')?.0)).collect();
    let mut at = 0;
    for word in
        text.split_inclusive(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '"' | '`' | '\''))
    {
        let from = at;
        at += word.len();
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let Some(offset) = word.find(bare).filter(|_| bare.len() > 2) else { continue };
        let bytes = from + offset..from + offset + bare.len();
        if bare.contains('/') {
            if index.get(bare)?.is_some() {
                found.push((bytes, bare.to_string()));
            }
            continue;
        }
        let is_code = bare.contains(char::is_uppercase) && !bare.contains(char::is_lowercase);
        if is_code {
            for folder in &folders {
                let id = format!("{folder}/{bare}");
                if index.get(&id)?.is_some() {
                    found.push((bytes.clone(), id));
                    break;
                }
            }
        }
        let looks_like_id = bare.contains(['_', '-']) && bare.len() > 5;
        if !looks_like_id || found.last().is_some_and(|(known, _)| *known == bytes) {
            continue;
        }
        let last = bare.to_lowercase();
        let is_last = |id: &&str| id.to_lowercase().rsplit('/').next() == Some(&*last);
        let mut ids = index.tables().filter_map(|table| index.id(table).ok()).filter(is_last);
        if let (Some(id), None) = (ids.next(), ids.next()) {
            found.push((bytes, id.to_string()));
        }
    }
    Ok(found)
}
