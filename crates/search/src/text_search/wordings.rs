//! Wordings of a text: as it is said, and with each synonym of the lake's users. Each is searched, and the best answer of a table stays.

use lakeward_core::error::Result;
use lakeward_index::LakeIndex;

/// An answer that a text finds in one of its wordings.
pub(crate) trait Worded {
    /// What it is, whatever found it.
    type Key: PartialEq;
    fn key(&self) -> Self::Key;
    /// Whether it is called what was asked for; its score.
    fn rank(&self) -> (bool, f64);
    fn reason(&mut self) -> &mut String;
}

/// The best `k` answers of `search` to `text`, as it is said and with each synonym; of an answer in several wordings the best one.
pub(crate) fn in_all_wordings<A: Worded>(
    index: &LakeIndex,
    text: &str,
    k: usize,
    search: impl Fn(&str) -> Result<Vec<A>>,
) -> Result<Vec<A>> {
    let mut answers = search(text)?;
    for (wording, synonym) in index.synonyms().wordings(text) {
        for mut answer in search(&wording)? {
            answer.reason().insert_str(0, &format!("your synonym `{synonym}`: "));
            match answers.iter_mut().find(|known| known.key() == answer.key()) {
                Some(known) if known.rank() < answer.rank() => *known = answer,
                Some(_) => {}
                None => answers.push(answer),
            }
        }
    }
    answers.sort_by(|a, b| {
        let ((left, a_score), (right, b_score)) = (a.rank(), b.rank());
        right.cmp(&left).then(b_score.total_cmp(&a_score))
    });
    answers.truncate(k);
    Ok(answers)
}
