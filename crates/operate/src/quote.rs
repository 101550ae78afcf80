//! Names and values as SQL writes them. Nothing else turns text of a lake or of a user into SQL.

/// A name in double quotes, those within doubled.
pub fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text in single quotes, those within doubled.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A pattern of `text` as it stands between two pieces of pattern.
pub fn pattern(before: &str, text: &str, after: &str) -> String {
    let mut pattern = String::from(before);
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push_str(after);
    literal(&pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_cannot_be_left() {
        assert_eq!(identifier("\"; DROP"), "\"\"\"; DROP\"");
        assert_eq!(literal("O'Brien'; --"), "'O''Brien''; --'");
        assert_eq!(pattern("%", "50%_\\", "%"), "'%50\\%\\_\\\\%'");
    }
}
