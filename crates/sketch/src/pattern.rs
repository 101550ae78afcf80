//! Formats of cells: the pattern of digits, capitals and small letters, without the actual characters.

/// Writes the format of a cell: runs of digits as `9{n}`, capitals as `A{n}`, small letters as `a`, capitalised words as
/// `Aa`, other characters as they are; at most 24 characters.
pub fn write_pattern(cell: &str, out: &mut String) {
    const LONGEST_PATTERN: usize = 24;
    const LONGEST_RUN: u32 = 8;
    out.clear();
    let mut chars = cell.chars().peekable();
    while let Some(c) = chars.next() {
        if out.len() >= LONGEST_PATTERN {
            out.push('…');
            return;
        }
        let class = class_of(c);
        let Some(class) = class else {
            out.push(c);
            continue;
        };
        let mut run = 1u32;
        while chars.peek().is_some_and(|next| class_of(*next) == Some(class)) {
            chars.next();
            run += 1;
        }
        let word = class == 'A' && run == 1 && chars.peek().is_some_and(|next| class_of(*next) == Some('a'));
        if word {
            while chars.peek().is_some_and(|next| class_of(*next) == Some('a')) {
                chars.next();
            }
            out.push_str("Aa");
        } else if class == 'a' || run == 1 || run > LONGEST_RUN {
            out.push(class);
        } else {
            out.push(class);
            out.push('{');
            out.extend(char::from_digit(run, 10));
            out.push('}');
        }
    }
}

#[inline]
fn class_of(c: char) -> Option<char> {
    if c.is_ascii() {
        return match c {
            '0'..='9' => Some('9'),
            'A'..='Z' => Some('A'),
            'a'..='z' => Some('a'),
            _ => None,
        };
    }
    if c.is_uppercase() {
        Some('A')
    } else if c.is_alphabetic() {
        Some('a')
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_distinct() {
        let mut pattern = String::new();
        for (cell, expected) in
            [("2020-01-02", "9{4}-9{2}-9{2}"), ("AB12", "A{2}9{2}"), ("New York", "Aa Aa"), ("x", "a"), ("US", "A{2}")]
        {
            write_pattern(cell, &mut pattern);
            assert_eq!(pattern, expected);
        }
    }
}
