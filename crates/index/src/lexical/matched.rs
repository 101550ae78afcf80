//! Which field of a hit contains which of the user's words.

use tantivy::{DocId, Term};

use lakeward_core::error::Result;

use super::field::{Boosts, Fields, LexicalField};
use super::query::Query;
use super::search::FieldMatch;
use super::segment::OpenSegment;

/// For each of `documents` (ascending) of `segment`: the fields that contain words of `query`, and those words as typed, in query order.
pub(super) fn matches_of(
    segment: &OpenSegment,
    fields: &Fields,
    boosts: &Boosts,
    query: &Query,
    documents: &[DocId],
) -> Result<Vec<Vec<FieldMatch>>> {
    let mut all: Vec<Vec<FieldMatch>> = documents.iter().map(|_| Vec::new()).collect();
    for field in LexicalField::ALL.into_iter().filter(|field| boosts.of(*field) > 0.0) {
        for term in query.terms.iter().filter(|term| term.is_in(field)) {
            let found = find(segment, fields, field, &term.term, documents)?;
            for (matches, _) in all.iter_mut().zip(found).filter(|(_, found)| *found) {
                add_word(matches, field, &query.words[term.word]);
            }
        }
    }
    Ok(all)
}

/// Whether each of `documents` (ascending) contains `term` in `field`.
pub(super) fn find(
    segment: &OpenSegment,
    fields: &Fields,
    field: LexicalField,
    term: &str,
    documents: &[DocId],
) -> Result<Vec<bool>> {
    let term = Term::from_field_text(fields.text[field as usize], term);
    let Some(mut postings) = segment.postings(field as usize, &term)? else { return Ok(vec![false; documents.len()]) };
    super::segment::guarded(&segment.path, || {
        Ok(documents
            .iter()
            .map(|&document| {
                let at = postings.seek(document);
                postings.docs().get(at) == Some(&document)
            })
            .collect())
    })
}

pub(super) fn add_word(matches: &mut Vec<FieldMatch>, field: LexicalField, word: &str) {
    match matches.last_mut() {
        Some(last) if last.field == field => {
            if !last.words.iter().any(|known| known == word) {
                last.words.push(word.to_string());
            }
        }
        _ => matches.push(FieldMatch { field, words: vec![word.to_string()], exact: false }),
    }
}
