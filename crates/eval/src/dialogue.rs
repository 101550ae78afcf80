//! Scores of a conversation with a list after every turn.

use std::collections::HashSet;

use super::benchmark::Grades;

/// AT@k, the average turn of ScienceDB AI (2025), for one dialogue: the number, from 1, of the first turn after which a
/// relevant document is among the first `k` of that turn's list; the number of turns + 2 if there is none. Smaller is better.
pub fn turn_of_success(lists: &[Vec<String>], grades: &Grades, k: usize) -> usize {
    let relevant = |id: &String| grades.get(id).is_some_and(|grade| *grade > 0);
    let first = lists.iter().position(|list| list.iter().take(k).any(relevant));
    first.map_or(lists.len() + 2, |place| place + 1)
}

/// The final ranking of a dialogue: its lists concatenated, the last turn's first, each document once.
pub fn final_ranking(lists: &[Vec<String>]) -> Vec<&str> {
    let mut seen = HashSet::new();
    lists.iter().rev().flatten().map(String::as_str).filter(|id| seen.insert(*id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_turn_of_success_is_the_first_that_shows_the_target() {
        let list = |ids: &[&str]| ids.iter().map(|id| id.to_string()).collect::<Vec<String>>();
        let lists = [list(&["a", "b"]), list(&["b", "t"]), list(&["t"])];
        let grades = Grades::from([("t".to_string(), 1), ("a".to_string(), 0)]);
        assert_eq!([1, 2].map(|k| turn_of_success(&lists, &grades, k)), [3, 2]);
        assert_eq!(turn_of_success(&lists[..1], &grades, 5), 3);
        assert_eq!(final_ranking(&lists), ["t", "b", "a"]);
    }
}
