//! Evidence of the word index for chosen tables and one text: not only a score but the share of the text that each field contains.
//!
//! A share of the text is weighted by rarity: the sum of idf(t) over its words that are contained, divided by the same sum over all its
//! words that occur in the lake. Nothing is ranked here.

use hashbrown::{HashMap, HashSet};
use tantivy::postings::Postings;
use tantivy::{DocId, DocSet, Term};

use super::LexicalIndex;
use super::field::{Boosts, KeyKind, LexicalField};
use super::matched::{add_word, find};
use super::query::{Query, is_stop_word};
use super::score::TERM_LIMIT;
use super::search::{FieldMatch, Scored};
use super::segment::{OpenSegment, guarded};
use crate::open::TableRef;
use lakeward_core::error::{Error, Result};
use lakeward_core::text::bare;
use lakeward_models::languages::Language;

/// Maximum stop words between two words of the text that still count as neighbours.
const MOST_BETWEEN: usize = 2;
/// Maximum words of the text that are evaluated one by one.
const MOST_TYPED: usize = 64;

/// A text prepared for lookups in the word index.
pub struct LexicalQuery<'a> {
    index: &'a LexicalIndex,
    query: Query,
    text: String,
    exact: HashMap<(usize, DocId), KeyKind>,
    scores: Vec<Vec<f32>>,
    /// The same without cells.
    scores_about: Vec<Vec<f32>>,
    /// idf of each term, including those that no table contains.
    rarities: Vec<f32>,
    known: Vec<bool>,
    /// Whether any table has each term outside its cells.
    known_about: Vec<bool>,
}

/// A word as the user typed it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TypedWord<'a> {
    /// Without punctuation around it.
    pub text: &'a str,
    /// Its idf; 0 for a stop word.
    pub rarity: f32,
    /// Whether no table's name, columns or description say it, only cells if anything.
    pub unsaid: bool,
}

/// Evidence for one table; every share in 0..=1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LexicalEvidence {
    /// BM25F.
    pub score: f32,
    /// BM25F as a share of the limit for a table that repeats every word infinitely often.
    pub words: f64,
    /// The same without cells, as a share of the limit for all words of the text, also those that no table contains.
    pub words_about: f64,
    /// Share of the text that the table contains in any field.
    pub coverage: f64,
    /// Share of the text, also of words that no table contains, that the table contains in any field but cells.
    pub coverage_about: f64,
    /// Share of the text in names that the table contains in any field: words with a digit, or with a capital inside a sentence.
    pub names: f64,
    /// Whether it has a title or a description.
    pub described: bool,
    /// Share of the text that its title or its id contains.
    pub title: f64,
    /// Share of its title's words that the text contains.
    pub title_said: f64,
    /// Share of the text that its column names contain.
    pub headers: f64,
    /// Share of its column names' words that the text contains.
    pub headers_said: f64,
    /// Share of the text's neighbouring words that are also neighbours in title, column names, description or tags.
    pub phrases: f64,
    /// Which words occur in which field; an exact match first.
    pub matched: Vec<FieldMatch>,
}

/// Two neighbouring words of a text.
struct Pair {
    first: usize,
    second: usize,
    /// Maximum distance between them.
    reach: u32,
    weight: f32,
}

impl LexicalIndex {
    /// Looks up the words of `text`, in names of tables and columns also what they are in `language`; any text is valid.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`], as everything here.
    pub(crate) fn prepare(&self, text: &str, language: Option<Language>) -> Result<LexicalQuery<'_>> {
        let boosts = Boosts::default();
        let mut query = Query::from_text(text);
        // Records have no cells.
        let has_cells = self.segments.iter().any(|segment| segment.words(LexicalField::Values as usize) > 0);
        let both = [boosts, boosts.with(LexicalField::Values, 0.0)];
        let ways = if has_cells || self.exchange.is_some() { &both[..] } else { &both[..1] };
        let mut all = self.scored(text, &query.terms, ways)?;
        let unsaid: Vec<bool> =
            all.last().map_or_else(Vec::new, |about| about.counts.iter().map(|count| *count == 0).collect());
        if query.abbreviate(language, |at| unsaid.get(at).copied().unwrap_or(false)) {
            all = self.scored(&format!("{text}, abbreviated"), &query.terms, ways)?;
        }
        let known_about: Vec<bool> =
            all.last().map_or_else(Vec::new, |about| about.counts.iter().map(|count| *count > 0).collect());
        let mut scored = all.into_iter();
        let (scored, about) = (scored.next(), scored.next());
        let Some(Scored { scores, counts, weights }) = scored else {
            return Err(Error::Internal("no scores of a text".into()));
        };
        let scores_about = about.map_or_else(|| scores.clone(), |about| about.scores);
        Ok(LexicalQuery {
            scores_about,
            index: self,
            exact: self.exact_documents(text, &boosts)?,
            text: text.to_string(),
            scores,
            rarities: counts.iter().map(|count| weights.idf(*count)).collect(),
            known: counts.iter().map(|count| *count > 0).collect(),
            known_about,
            query,
        })
    }
}

impl LexicalQuery<'_> {
    /// The `k` best tables by BM25F as (segment, table), exact matches first, of an index that is open as a whole.
    pub fn best(&self, k: usize) -> Vec<(u32, u32)> {
        let best = self.best_of_all(k).unwrap_or_default();
        best.into_iter().map(|table| (table.segment, table.table)).collect()
    }

    /// The `k` best tables of all shards by BM25F by their places in the whole index, exact matches first.
    ///
    /// # Errors
    /// [`Error::AwaitsShards`] as all that is gathered.
    pub fn best_of_all(&self, k: usize) -> Result<Vec<TableRef>> {
        let best = self.index.best(&self.text, &self.scores, &self.exact, k)?;
        Ok(best.into_iter().map(|best| best.table).collect())
    }

    /// The first words of the text in order.
    pub fn typed_words(&self) -> Vec<TypedWord<'_>> {
        let shouted = !self.text.chars().any(char::is_lowercase);
        let mut rarity_of: HashMap<&str, (f32, bool)> = HashMap::new();
        for ((term, rarity), known) in self.query.terms.iter().zip(&self.rarities).zip(&self.known_about) {
            if !term.short {
                let (most, unsaid) = rarity_of.entry(self.query.words[term.word].as_str()).or_insert((0.0, true));
                *most = most.max(*rarity);
                *unsaid &= !known;
            }
        }
        let has_others = self.query.sequence.iter().any(Option::is_none);
        let words = self.text.split_whitespace().take(MOST_TYPED);
        let words = words.map(|word| (word, bare(word)));
        words
            .filter(|(_, bare)| !bare.is_empty())
            .map(|(word, text)| {
                let stop = has_others && is_stop_word(word, shouted);
                let (rarity, unsaid) = rarity_of.get(text).copied().filter(|_| !stop).unwrap_or_default();
                TypedWord { text, rarity, unsaid }
            })
            .collect()
    }

    /// The evidence for each of `tables`, given as (segment, table).
    pub fn evidence(&self, tables: &[(u32, u32)]) -> Result<Vec<LexicalEvidence>> {
        let mut all = vec![LexicalEvidence::default(); tables.len()];
        for (place, segment) in self.index.segments.iter().enumerate() {
            let (at, numbers): (Vec<usize>, Vec<u32>) =
                (0..tables.len()).filter(|at| tables[*at].0 as usize == place).map(|at| (at, tables[at].1)).unzip();
            let found = segment.documents_of(&numbers).into_iter().zip(at);
            let mut documents: Vec<(DocId, usize)> = found.filter_map(|(document, at)| Some((document?, at))).collect();
            documents.sort_unstable();
            if !documents.is_empty() {
                self.look_into(place, segment, &documents, &mut all)?;
            }
        }
        Ok(all)
    }

    fn look_into(
        &self,
        place: usize,
        segment: &OpenSegment,
        documents: &[(DocId, usize)],
        all: &mut [LexicalEvidence],
    ) -> Result<()> {
        let terms = &self.query.terms;
        let numbers: Vec<DocId> = documents.iter().map(|(document, _)| *document).collect();
        let pairs = self.pairs();
        let whole = |at: usize| !terms[at].part && self.known[at];
        let total: f32 = (0..terms.len()).filter(|at| whole(*at)).map(|at| self.rarities[at]).sum();
        // An empty sum is -0: adding 0 makes it 0.
        let share = |sum: f32| if total > 0.0 { (f64::from(sum / total) + 0.0).min(1.0) } else { 0.0 };
        let mut contained: Vec<Vec<bool>> = vec![vec![false; terms.len()]; documents.len()];
        let mut in_name = contained.clone();
        let mut about = contained.clone();
        let mut together = vec![vec![false; pairs.len()]; documents.len()];
        for field in LexicalField::ALL {
            let mut found_here: Vec<Vec<bool>> = vec![vec![false; terms.len()]; documents.len()];
            for (at, term) in terms.iter().enumerate() {
                if !self.known[at] || !term.is_in(field) {
                    continue;
                }
                let found = find(segment, &self.index.fields, field, &term.term, &numbers)?;
                for (row, _) in found.iter().enumerate().filter(|(_, found)| **found) {
                    found_here[row][at] = true;
                    contained[row][at] = true;
                    about[row][at] |= field != LexicalField::Values;
                    in_name[row][at] |= matches!(field, LexicalField::Title | LexicalField::Id);
                    add_word(&mut all[documents[row].1].matched, field, &self.query.words[term.word]);
                }
            }
            for (row, (document, at)) in documents.iter().enumerate() {
                let in_field = (0..terms.len()).filter(|at| found_here[row][*at] && !terms[*at].part);
                let length = segment.length(field as usize, *document);
                all[*at].described |= matches!(field, LexicalField::Title | LexicalField::Description) && length > 0;
                let length = length.max(1);
                let of_field = (in_field.clone().count() as f64 / f64::from(length)).min(1.0);
                let evidence = &mut all[*at];
                match field {
                    LexicalField::Title => evidence.title_said = of_field,
                    LexicalField::Headers => {
                        evidence.headers = share(in_field.filter(|at| whole(*at)).map(|at| self.rarities[at]).sum());
                        evidence.headers_said = of_field;
                    }
                    _ => {}
                }
            }
            if field.has_positions() {
                self.find_pairs(segment, field, &pairs, &numbers, (&found_here, &mut together))?;
            }
        }
        let pair_total: f32 = pairs.iter().map(|pair| pair.weight).sum();
        let highest: f32 = terms
            .iter()
            .zip(&self.rarities)
            .zip(&self.known)
            .filter(|((term, _), known)| **known && !term.short)
            .map(|((term, rarity), _)| term.weight * rarity * TERM_LIMIT)
            .sum();
        let spelt_out = terms.iter().zip(&self.rarities).filter(|(term, _)| !term.short);
        let limit: f32 = spelt_out.map(|(term, rarity)| term.weight * rarity * TERM_LIMIT).sum();
        let whole_text: f32 =
            terms.iter().zip(&self.rarities).filter(|(term, _)| !term.part).map(|(_, rarity)| rarity).sum();
        let names = self.names();
        let share_of_all = |sum: f32, all: f32| if all > 0.0 { f64::from(sum / all).clamp(0.0, 1.0) } else { 0.0 };
        for (row, (document, at)) in documents.iter().enumerate() {
            let rarity_of = |flags: &[bool]| -> f32 {
                (0..terms.len()).filter(|at| flags[*at] && whole(*at)).map(|at| self.rarities[at]).sum()
            };
            let evidence = &mut all[*at];
            evidence.score = self.scores[place].get(*document as usize).copied().unwrap_or(0.0);
            evidence.words = if highest > 0.0 { f64::from(evidence.score / highest).clamp(0.0, 1.0) } else { 0.0 };
            let score_about = self.scores_about[place].get(*document as usize).copied().unwrap_or(0.0);
            evidence.words_about = share_of_all(score_about, limit);
            let named: Vec<bool> = (0..terms.len()).map(|at| contained[row][at] && names[terms[at].word]).collect();
            evidence.names = share_of_all(rarity_of(&named), whole_text);
            evidence.coverage_about = share_of_all(rarity_of(&about[row]), whole_text);
            evidence.coverage = share(rarity_of(&contained[row]));
            evidence.title = share(rarity_of(&in_name[row]));
            let stand: f32 =
                pairs.iter().zip(&together[row]).filter(|(_, found)| **found).map(|(pair, _)| pair.weight).sum();
            evidence.phrases = if pair_total > 0.0 { f64::from(stand / pair_total).min(1.0) } else { 0.0 };
            if let Some(kind) = self.exact.get(&(place, *document)) {
                let field = if *kind == KeyKind::Title { LexicalField::Title } else { LexicalField::Id };
                let words = vec![self.text.trim().to_string()];
                evidence.matched.insert(0, FieldMatch { field, words, exact: true });
            }
        }
        Ok(())
    }

    /// Which words of the query are written as names. In a text where nearly all words have a capital, it tells nothing.
    fn names(&self) -> Vec<bool> {
        const MOST_CAPITALS: f64 = 0.7;
        let words: Vec<&str> = self.text.split_whitespace().take(MOST_TYPED).collect();
        let has_capital = |word: &str| bare(word).chars().next().is_some_and(char::is_uppercase);
        let capitals = words.iter().filter(|word| has_capital(word)).count() as f64;
        let tells = capitals < MOST_CAPITALS * words.len() as f64;
        let is_name = |at: usize| {
            let starts = at == 0 || words[at - 1].ends_with(['.', '!', '?', ':']);
            words[at].contains(|letter: char| letter.is_ascii_digit()) || tells && !starts && has_capital(words[at])
        };
        let named: HashSet<&str> = (0..words.len()).filter(|at| is_name(*at)).map(|at| bare(words[at])).collect();
        self.query.words.iter().map(|word| named.contains(word.as_str())).collect()
    }

    /// The neighbouring words of the text, without duplicate pairs.
    fn pairs(&self) -> Vec<Pair> {
        let sequence = &self.query.sequence;
        let mut pairs: Vec<Pair> = Vec::new();
        for (at, first) in sequence.iter().enumerate() {
            let Some(first) = *first else { continue };
            let next = sequence[at + 1..].iter().take(MOST_BETWEEN + 1).enumerate();
            let Some((between, second)) = next.filter_map(|(gap, next)| Some((gap, (*next)?))).next() else { continue };
            let is_new = !pairs.iter().any(|pair| (pair.first, pair.second) == (first, second));
            if is_new && first != second && self.known[first] && self.known[second] {
                let weight = self.rarities[first].min(self.rarities[second]);
                pairs.push(Pair { first, second, reach: between as u32 + 1, weight });
            }
        }
        pairs
    }

    /// Marks in `together` which pairs are neighbours in `field` of each document that has both words there.
    fn find_pairs(
        &self,
        segment: &OpenSegment,
        field: LexicalField,
        pairs: &[Pair],
        documents: &[DocId],
        (here, together): (&[Vec<bool>], &mut [Vec<bool>]),
    ) -> Result<()> {
        let term =
            |at: usize| Term::from_field_text(self.index.fields.text[field as usize], &self.query.terms[at].term);
        for (number, pair) in pairs.iter().enumerate() {
            let both = |row: usize| here[row][pair.first] && here[row][pair.second];
            let rows: Vec<usize> = (0..documents.len()).filter(|row| both(*row) && !together[*row][number]).collect();
            if rows.is_empty() {
                continue;
            }
            let first = segment.postings_with_positions(field as usize, &term(pair.first))?;
            let second = segment.postings_with_positions(field as usize, &term(pair.second))?;
            let (Some(mut first), Some(mut second)) = (first, second) else { continue };
            guarded(&segment.path, || {
                let (mut left, mut right) = (Vec::new(), Vec::new());
                for row in rows {
                    let document = documents[row];
                    for postings in [&mut first, &mut second] {
                        if postings.doc() < document {
                            postings.seek(document);
                        }
                    }
                    if first.doc() == document && second.doc() == document {
                        first.positions(&mut left);
                        second.positions(&mut right);
                        together[row][number] = stand_together(&left, &right, pair.reach);
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Whether a position of `second` (ascending) follows one of `first` (ascending) within `reach`.
fn stand_together(first: &[u32], second: &[u32], reach: u32) -> bool {
    let mut at = 0;
    first.iter().any(|place| {
        while second.get(at).is_some_and(|next| next <= place) {
            at += 1;
        }
        second.get(at).is_some_and(|next| next - place <= reach)
    })
}

#[cfg(test)]
mod tests {
    use super::stand_together;

    #[test]
    fn words_stand_together_in_their_order_only() {
        assert!(stand_together(&[3, 9], &[1, 10], 1));
        assert!(!stand_together(&[3, 9], &[1, 2, 11], 1));
        assert!(stand_together(&[3, 9], &[1, 2, 11], 2));
        assert!(!stand_together(&[], &[1], 3) && !stand_together(&[1], &[], 3));
    }
}
