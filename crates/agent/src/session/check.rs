//! Whether a document that parses can be a session: what a type does not say. A file that somebody else wrote must not lead a later
//! step out of the folder of sessions, nor make a number point nowhere.

use std::path::{Component, Path};

use super::document::Session;
use lakeward_core::request::Input;

/// What is impossible about a session, if anything is.
pub fn fault(session: &Session) -> Option<String> {
    let last = session.turns.last().map_or(0, |turn| turn.number);
    if !session.turns.iter().zip(session.turns.iter().skip(1)).all(|(a, b)| a.number.checked_add(1) == Some(b.number)) {
        return Some("its turns are not numbered one after the other".into());
    }
    if session.turns.first().is_some_and(|turn| turn.number == 0) {
        return Some("its turns are not numbered from 1".into());
    }
    if last == usize::MAX {
        return Some("the number of its last turn is impossible".into());
    }
    if session.accepted.iter().chain(&session.rejected).any(|choice| choice.turn > last) {
        return Some("a table was chosen after a turn that is not there".into());
    }
    for (place, step) in session.steps.iter().enumerate() {
        let number = place + 1;
        if step.number != number {
            return Some(format!("step {} stands where step {number} should", step.number));
        }
        if step.turn > last {
            return Some(format!("step {number} was carried out after turn {}, which is not there", step.turn));
        }
        if !is_below(&step.file) {
            return Some(format!("the file of step {number}, `{}`, is outside the folder of sessions", step.file));
        }
        if let Err(error) = step.plan.check() {
            return Some(format!("the plan of step {number} cannot be carried out: {error}"));
        }
        if let Some(missing) = step.plan.inputs().into_iter().find_map(|input| later_step(input, place)) {
            return Some(format!("step {number} reads the result of step {missing}, which is not before it"));
        }
    }
    if session.steps_before_table > session.steps.len() {
        return Some("the table in use was chosen after steps that are not there".into());
    }
    let missing = session.table.as_ref().and_then(|input| later_step(input, session.steps.len()))?;
    Some(format!("the table in use is the result of step {missing}, which is not there"))
}

/// The step that `input` names, unless it is among the first `steps`.
fn later_step(input: &Input, steps: usize) -> Option<usize> {
    match input {
        Input::Step(number) if *number == 0 || *number > steps => Some(*number),
        _ => None,
    }
}

/// Whether a path stays in the folder it is relative to.
pub fn is_below(path: &str) -> bool {
    let plain = |part: Component| matches!(part, Component::Normal(_));
    !path.is_empty() && !path.contains(['\0', '\\']) && Path::new(path).components().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_their_folder() {
        for path in ["s/1.parquet", "1.parquet"] {
            assert!(is_below(path), "{path}");
        }
        for path in ["", "../x", "s/../../x", "/etc/passwd", "..\\x", "a\0b", "./x"] {
            assert!(!is_below(path), "{path}");
        }
    }
}
