//! Tables that a request names outright: the one that is asked for goes before one that only has what is said of it, and one that is named and
//! not used is told.

use std::collections::BTreeSet;

use super::other_table::is_asking;
use super::scored::{Scored, best_table, with_first};
use lakeward_core::text::{is_function_word, lower_words, stems};
use lakeward_lake::dataset::TableEntry;

/// Candidates that are looked at.
const AMONG: usize = 10;

/// The candidates, first of all the table that the request is of: its name comes before all else that the request says, and the best table is not
/// called so, nor has it anything that is, unless it is named, too. `invoices of the Bristol clinic`, though monthly figures have a column of clinics.
pub(super) fn with_named_first(text: &str, scored: Vec<Scored>) -> Vec<Scored> {
    let head = head(text);
    let Some(best) = best_table(&scored).and_then(|best| best.candidate.dataset.table()) else { return scored };
    let is_head = |scored: &&Scored| {
        let name = name(scored.id());
        !name.is_empty() && name.iter().eq(head.iter().take(name.len()).collect::<BTreeSet<_>>())
    };
    let named = scored.iter().take(AMONG).filter(|scored| !scored.candidate.dataset.is_record()).find(is_head);
    // Of two that are named the first is asked for: "owners with no pets", though pets have an owner.
    let best_name = name(best.id.as_str());
    let both = !best_name.is_empty() && best_name.is_subset(&stems(text));
    match named.filter(|named| both || !says(best, &name(named.id()))).map(|named| named.id().to_string()) {
        Some(named) => with_first(scored, |id| id == named),
        None => scored,
    }
}

/// Tables that `text` names and that are not `used`, nor has the table at hand anything that is called so.
pub(super) fn named_in_vain<'s>(text: &str, scored: &'s [Scored], at_hand: &TableEntry, used: &[&str]) -> Vec<&'s str> {
    let said = stems(text);
    let tables = scored.iter().take(AMONG).filter(|scored| !scored.candidate.dataset.is_record()).map(Scored::id);
    let is_lost = |id: &&str| {
        let name = name(id);
        !used.contains(id) && !name.is_empty() && name.is_subset(&said) && !says(at_hand, &name)
    };
    tables.filter(is_lost).collect()
}

/// Whether words are the name of a table.
pub(super) fn are_name(words: &str, id: &str) -> bool {
    let name = name(id);
    !name.is_empty() && name == stems(words)
}

/// Whether a request says nothing but a table's name or title: `show me the invoices`.
pub(super) fn only_names(text: &str, table: &TableEntry) -> bool {
    says_only(text, &(&stems(table.id.as_str()) | &stems(&table.title())))
}

/// Whether a request asks for a table by its name and says nothing else, and none of those at hand has anything that is called so: `now the orders`,
/// and neither `by orders` nor `with their orders`. Who spells the table's name means it: `the gardeners`, though plots have a `gardener`.
pub(super) fn opens_other<'t>(
    text: &str,
    table: &TableEntry,
    mut at_hand: impl Iterator<Item = &'t TableEntry>,
) -> bool {
    let last = table.id.as_str().rsplit('/').next().unwrap_or_default();
    let is_spelt = lower_words(text).any(|word| word.eq_ignore_ascii_case(last));
    let has = |own: &TableEntry| match is_spelt {
        true => own.profile.columns.iter().any(|column| column.name.eq_ignore_ascii_case(last)),
        false => says(own, &name(table.id.as_str())),
    };
    names_outright(text, table) && !at_hand.any(has)
}

/// Whether it says nothing but the last part of the table's id.
pub(super) fn names_outright(text: &str, table: &TableEntry) -> bool {
    says_only(text, &name(table.id.as_str()))
}

/// Whether a request asks for what is called by words with these stems, and says no more, nor how it belongs to anything: `by reader`, `and for Clinton`.
fn says_only(text: &str, name: &BTreeSet<String>) -> bool {
    const RELATES: [&str; 8] = ["and", "but", "by", "for", "no", "not", "their", "with"];
    const DATA: [&str; 16] = [
        "table", "tables", "data", "dataset", "datasets", "file", "files", "row", "rows", "all", "records", "open",
        "i", "load", "ok", "okay",
    ];
    let says_more = |word: &String| !is_asking(word) && !DATA.contains(&word.as_str()) && !stems(word).is_subset(name);
    let names = |word: &String| !is_function_word(word) && stems(word).is_subset(name);
    let relates = |word: &String| RELATES.contains(&word.as_str());
    lower_words(text).any(|word| names(&word)) && !lower_words(text).any(|word| says_more(&word) || relates(&word))
}

/// The stems of the last part of a table's id, without numbers.
fn name(id: &str) -> BTreeSet<String> {
    let last = id.rsplit('/').next().unwrap_or(id);
    stems(last).into_iter().filter(|stem| !stem.chars().all(|letter| letter.is_ascii_digit())).collect()
}

/// Whether a table or one of its columns is called like one of these stems.
fn says(table: &TableEntry, name: &BTreeSet<String>) -> bool {
    let (title, columns) = (table.title(), table.profile.columns.iter().map(|column| column.name.as_str()));
    let mut texts = [table.id.as_str(), &title].into_iter().chain(columns);
    texts.any(|text| stems(text).iter().any(|stem| name.contains(stem)))
}

/// The stems of a request in order, from the first word on that does more than ask.
fn head(text: &str) -> Vec<String> {
    let words = lower_words(text).filter(|word| !is_asking(word));
    words.flat_map(|word| stems(&word)).collect()
}
