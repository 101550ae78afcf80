//! Finds the runs of words with one role, given the probability of each tag for each word.

use std::ops::Range;

use super::model::best;
use super::span::Role;

/// Words with one role.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    /// Their numbers.
    pub words: Range<usize>,
    /// The role.
    pub role: Role,
    /// How sure it is, 0..=1.
    pub sure: f32,
}

/// The probability that a word has a role: that it begins it or goes on with it.
pub(super) fn of_role(tags: &[f32], role: Role) -> f32 {
    tags[1 + 2 * role.place()] + tags[2 + 2 * role.place()]
}

/// The runs of words with one role in the likeliest sequence of tags; how sure each is, is the mean probability of its tags.
pub(super) fn runs(tags: &[Vec<f32>]) -> Vec<Run> {
    let chosen = likeliest(tags);
    let mut found = Vec::new();
    let mut at = 0;
    while at < chosen.len() {
        if chosen[at] == 0 {
            at += 1;
            continue;
        }
        let role = (chosen[at] - 1) / 2;
        let from = at;
        at += 1;
        while at < chosen.len() && chosen[at] == 2 + 2 * role {
            at += 1;
        }
        let sure = (from..at).map(|word| tags[word][chosen[word]]).sum::<f32>() / (at - from) as f32;
        found.push(Run { words: from..at, role: Role::ALL[role], sure });
    }
    found
}

/// The likeliest sequence of tags in which a word goes on with a role only behind one that has it (Viterbi). Tag 0 is no role, 1 + 2r begins
/// role r, 2 + 2r continues it.
fn likeliest(tags: &[Vec<f32>]) -> Vec<usize> {
    const LEAST: f32 = 1e-9;
    let Some(first) = tags.first() else { return Vec::new() };
    let is_inside = |tag: usize| tag > 0 && tag.is_multiple_of(2);
    let mut scores: Vec<f32> = (0..first.len())
        .map(|tag| if is_inside(tag) { f32::NEG_INFINITY } else { first[tag].max(LEAST).ln() })
        .collect();
    let mut before: Vec<Vec<usize>> = Vec::with_capacity(tags.len());
    for word in &tags[1..] {
        let anywhere = best(&scores);
        let from: Vec<usize> = (0..word.len())
            .map(|tag| match is_inside(tag) {
                true if scores[tag] >= scores[tag - 1] => tag,
                true => tag - 1,
                false => anywhere,
            })
            .collect();
        scores = from.iter().zip(word).map(|(from, p)| scores[*from] + p.max(LEAST).ln()).collect();
        before.push(from);
    }
    let mut tag = best(&scores);
    let mut chosen = vec![tag];
    for from in before.iter().rev() {
        tag = from[tag];
        chosen.push(tag);
    }
    chosen.reverse();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_goes_on_only_behind_itself() {
        // None, begins A, goes on A, begins B, goes on B.
        let tags = [vec![0.1, 0.5, 0.0, 0.4, 0.0], vec![0.1, 0.1, 0.3, 0.0, 0.5], vec![0.9, 0.1, 0.0, 0.0, 0.0]];
        assert_eq!(likeliest(&tags), [3, 4, 0]);
        assert_eq!(likeliest(&[]), Vec::<usize>::new());
    }
}
