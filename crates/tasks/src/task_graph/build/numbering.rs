//! Numbers of words, which do not depend on the order in which texts come.

use std::collections::HashMap;

use crate::task_graph::lists::Lists;
use crate::task_graph::words::{Words, plain_words};

/// Numbers words in order of arrival; [`Numbering::finish`] renumbers them alphabetically.
#[derive(Default)]
pub(super) struct Numbering {
    pub numbers: HashMap<String, u32>,
    pub words: Words,
}

impl Numbering {
    pub fn number(&mut self, word: String) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(word).or_insert(next)
    }

    pub fn informative(&mut self, text: &str) -> Vec<u32> {
        let stems = self.words.informative(text);
        stems.into_iter().map(|stem| self.number(stem)).collect()
    }

    pub fn plain(&mut self, text: &str) -> Vec<u32> {
        plain_words(text).into_iter().map(|word| self.number(word)).collect()
    }

    /// The words used in `lists`, ascending; the lists are renumbered.
    pub fn finish(self, lists: &mut [&mut Lists<u32>]) -> Vec<String> {
        let mut used = vec![false; self.numbers.len()];
        lists.iter().for_each(|list| list.items().iter().for_each(|number| used[*number as usize] = true));
        let mut words: Vec<(String, u32)> =
            self.numbers.into_iter().filter(|(_, number)| used[*number as usize]).collect();
        words.sort_unstable();
        let mut places = vec![0u32; used.len()];
        words.iter().enumerate().for_each(|(place, (_, number))| places[*number as usize] = place as u32);
        for list in lists {
            list.items_mut().iter_mut().for_each(|number| *number = places[*number as usize]);
        }
        words.into_iter().map(|(word, _)| word).collect()
    }
}
