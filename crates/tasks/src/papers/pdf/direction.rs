//! From the visual order of letters on a page to reading order: Arabic, Hebrew and similar scripts run from right to left, and
//! PDFs store their letters in visual order.
//!
//! A small inverse of the Unicode bidirectional algorithm (UAX #9) for one line: a line with at least as many right-to-left letters as
//! others is reversed, and numbers and words of other scripts in it are reversed back; in other lines each right-to-left run is
//! reversed. Deeper embeddings are not handled.

use unicode_normalization::char::is_combining_mark;

/// The bidirectional class of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Right,
    Left,
    Number,
    Neutral,
}

/// Whether `letter` is read from right to left.
pub fn is_right_to_left(letter: char) -> bool {
    let is_digit = matches!(letter, '\u{660}'..='\u{669}' | '\u{6F0}'..='\u{6F9}' | '\u{66A}'..='\u{66C}');
    !is_digit
        && matches!(letter,
            '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' | '\u{10800}'..='\u{10FFF}'
            | '\u{1E800}'..='\u{1EFFF}')
}

fn class(letter: char) -> Class {
    match letter {
        letter if letter.is_numeric() => Class::Number,
        letter if is_right_to_left(letter) => Class::Right,
        letter if letter.is_alphanumeric() => Class::Left,
        _ => Class::Neutral,
    }
}

/// The letters of one mark in visual order: a ligature has them in reading order.
pub fn by_place(text: &str) -> String {
    match text.chars().any(is_right_to_left) {
        true => text.chars().rev().collect(),
        false => text.to_string(),
    }
}

/// Converts `line` from visual order to reading order.
pub fn as_read(line: String) -> String {
    if !line.chars().any(is_right_to_left) {
        return line;
    }
    let mut clusters: Vec<(Class, String)> = Vec::new();
    for letter in line.chars() {
        match clusters.last_mut() {
            Some((_, cluster)) if is_combining_mark(letter) => cluster.push(letter),
            _ => clusters.push((class(letter), letter.to_string())),
        }
    }
    let count = |of: Class| clusters.iter().filter(|(class, _)| *class == of).count();
    if count(Class::Right) >= count(Class::Left) {
        turn(&mut clusters);
    } else {
        let mut at = 0;
        while let Some(start) = (at..clusters.len()).find(|place| clusters[*place].0 == Class::Right) {
            let stop =
                (start..clusters.len()).find(|place| clusters[*place].0 == Class::Left).unwrap_or(clusters.len());
            let end =
                (start..stop).rev().find(|place| clusters[*place].0 == Class::Right).map_or(stop, |last| last + 1);
            turn(&mut clusters[start..end]);
            at = end;
        }
    }
    clusters.into_iter().map(|(_, cluster)| cluster).collect()
}

/// Reverses `run`, and reverses left-to-right parts in it back.
fn turn(run: &mut [(Class, String)]) {
    run.reverse();
    let is_ltr = |class: Class| matches!(class, Class::Left | Class::Number);
    let mut at = 0;
    while at < run.len() {
        if !is_ltr(run[at].0) {
            mirror(&mut run[at].1);
            at += 1;
            continue;
        }
        let (mut end, mut next) = (at + 1, at + 1);
        while next < run.len() && run[next].0 != Class::Right {
            // Between numbers only characters that occur inside a number; between words anything.
            let numbers = run[end - 1].0 == Class::Number && run[next].0 == Class::Number;
            let between = &run[end..next];
            let inside = between.len() <= 1 && between.iter().all(|(_, sign)| ".,:/-–".contains(sign.as_str()));
            if is_ltr(run[next].0) {
                if numbers && !inside {
                    break;
                }
                end = next + 1;
            }
            next += 1;
        }
        run[at..end].reverse();
        at = end;
    }
}

/// Mirrors brackets.
fn mirror(sign: &mut String) {
    const PAIRS: [(&str, &str); 4] = [("(", ")"), ("[", "]"), ("{", "}"), ("«", "»")];
    for (open, close) in PAIRS {
        if sign == open {
            *sign = close.into();
            return;
        }
        if sign == close {
            *sign = open.into();
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_by_place_are_read() {
        let by_place = |text: &str| text.chars().rev().collect::<String>();
        assert_eq!(as_read(by_place("مجموعة بيانات")), "مجموعة بيانات");
        assert_eq!(as_read("Lanes and roads.".into()), "Lanes and roads.");
        let trained = format!("ImageNet 12.5 {}", by_place("على مجموعة بيانات"));
        assert_eq!(as_read(trained), "على مجموعة بيانات ImageNet 12.5");
        assert_eq!(as_read(format!("The word {} is Hebrew", by_place("שלום"))), "The word שלום is Hebrew");
        assert_eq!(as_read(format!("(3) {}", by_place("جدول"))), "جدول (3)");
        assert_eq!(super::by_place("لا"), "ال");
    }
}
