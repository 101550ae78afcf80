//! What an analyst does with a turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Label;

/// What an analyst does with a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Adds to what stands.
    Refine,
    /// Replaces something of what stands by something of its kind.
    Correct,
    /// Takes something back and gives nothing instead.
    Retract,
    /// Begins anew.
    New,
    /// Wants the state before.
    Undo,
    /// Wants the state after, once it was undone.
    Redo,
    /// Chooses one of the answers shown.
    Pick,
    /// Asks about a result or a dataset.
    Ask,
    /// Compares answers.
    Compare,
    /// Wants more answers.
    More,
    /// Wants fewer answers.
    Fewer,
    /// Takes what was offered.
    Accept,
    /// Turns down what was offered.
    Reject,
    /// Wants what stands to be done.
    Run,
    /// Says nothing that bears on the data.
    Chat,
    /// Wants something that nobody could name.
    Unclear,
}

impl Label for Act {
    /// In the order of the reader's classes.
    const ALL: &'static [Self] = &[
        Self::Refine,
        Self::Correct,
        Self::Retract,
        Self::New,
        Self::Undo,
        Self::Redo,
        Self::Pick,
        Self::Ask,
        Self::Compare,
        Self::More,
        Self::Fewer,
        Self::Accept,
        Self::Reject,
        Self::Run,
        Self::Chat,
        Self::Unclear,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Refine => "refine",
            Self::Correct => "correct",
            Self::Retract => "retract",
            Self::New => "new",
            Self::Undo => "undo",
            Self::Redo => "redo",
            Self::Pick => "pick",
            Self::Ask => "ask",
            Self::Compare => "compare",
            Self::More => "more",
            Self::Fewer => "fewer",
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::Run => "run",
            Self::Chat => "chat",
            Self::Unclear => "unclear",
        }
    }
}

impl Act {
    /// The one of this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|act| act.name() == name)
    }
}
