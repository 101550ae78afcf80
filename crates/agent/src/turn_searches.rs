//! What the plain searches of one turn found, by their text: stages of the turn that look for the same words search once. It is empty between
//! turns.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use lakeward_search::SearchedText;

/// The searches of the turn that is being answered.
#[derive(Default)]
pub(super) struct TurnSearches {
    found: RefCell<HashMap<String, SearchedText>>,
    /// Turns that are being answered: a turn may answer another one on the way to its own answer.
    turns: Cell<usize>,
}

/// A turn that is being answered. When the outermost one is dropped, what was found is forgotten.
pub(super) struct CurrentTurn<'a>(&'a TurnSearches);

impl TurnSearches {
    /// Begins a turn.
    pub fn begin_turn(&self) -> CurrentTurn<'_> {
        self.turns.set(self.turns.get() + 1);
        CurrentTurn(self)
    }

    /// What this turn found for `text`.
    pub fn get(&self, text: &str) -> Option<SearchedText> {
        self.found.borrow().get(text).cloned()
    }

    /// Keeps what a search found until the turn ends; nothing outside of a turn.
    pub fn keep(&self, found: &SearchedText) {
        if self.turns.get() > 0 {
            self.found.borrow_mut().insert(found.text.clone(), found.clone());
        }
    }
}

impl Drop for CurrentTurn<'_> {
    fn drop(&mut self) {
        let left = self.0.turns.get() - 1;
        self.0.turns.set(left);
        if left == 0 {
            self.0.found.borrow_mut().clear();
        }
    }
}
