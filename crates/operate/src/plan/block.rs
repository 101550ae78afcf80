//! One SELECT that is being put together, clause by clause in SQL's own order.

/// Longest line of a list of columns.
const LINE_CHARS: usize = 100;

/// A SELECT. Steps add clauses as long as SQL computes them in the order of the steps.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    /// What it does, the name of its part of the query: `filtered`.
    pub does: &'static str,
    /// What it selects; empty: everything.
    pub columns: Vec<String>,
    /// `DISTINCT`, `DISTINCT ON (…)`, or nothing.
    pub distinct: String,
    /// The table, or the tables joined.
    pub from: String,
    /// Conditions that must all hold.
    pub conditions: Vec<String>,
    /// Number of the first columns that make a group; `Some(0)` for one group of all rows.
    pub grouped: Option<usize>,
    /// Order of the rows.
    pub order: Vec<String>,
    /// Rows kept and rows skipped before.
    pub limit: Option<(u64, u64)>,
    /// A query in place of all this.
    pub whole: Option<String>,
}

impl Block {
    pub fn of(from: impl Into<String>) -> Self {
        Self { from: from.into(), ..Self::default() }
    }

    /// Whether it only names a table.
    pub fn is_plain(&self) -> bool {
        self.takes_condition() && self.conditions.is_empty()
    }

    /// Whether a condition on its columns belongs to its WHERE; else it needs a query around it. So does what it selects.
    pub fn takes_condition(&self) -> bool {
        self.columns.is_empty() && self.distinct.is_empty() && self.grouped.is_none() && self.takes_order()
    }

    /// Whether an order of its rows can be added.
    pub fn takes_order(&self) -> bool {
        self.order.is_empty() && self.limit.is_none() && self.whole.is_none() && !self.distinct.contains("ON")
    }

    pub fn sql(&self) -> String {
        if let Some(whole) = &self.whole {
            return whole.clone();
        }
        let columns = if self.columns.is_empty() { "*".to_string() } else { listed(&self.columns) };
        let distinct = if self.distinct.is_empty() { String::new() } else { format!("{} ", self.distinct) };
        let mut sql = format!("SELECT {distinct}{columns}\nFROM {}", self.from);
        for (place, condition) in self.conditions.iter().enumerate() {
            sql.push_str(if place == 0 { "\nWHERE " } else { "\n  AND " });
            sql.push_str(condition);
        }
        if let Some(keys) = self.grouped.filter(|keys| *keys > 0) {
            let places: Vec<String> = (1..=keys).map(|place| place.to_string()).collect();
            sql.push_str(&format!("\nGROUP BY {}", places.join(", ")));
        }
        if !self.order.is_empty() {
            sql.push_str(&format!("\nORDER BY {}", self.order.join(", ")));
        }
        if let Some((rows, skip)) = self.limit {
            sql.push_str(&format!("\nLIMIT {rows}"));
            if skip > 0 {
                sql.push_str(&format!(" OFFSET {skip}"));
            }
        }
        sql
    }
}

/// `sql` in lines that stand two characters further right; a line within quotes stays.
pub(super) fn indented(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len() + 40);
    let mut quote = None;
    text.push_str("  ");
    for c in sql.chars() {
        text.push(c);
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, '\n') => text.push_str("  "),
            _ => {}
        }
    }
    text
}

/// `items` parted by commas, in lines of at most [`LINE_CHARS`] where they fit.
fn listed(items: &[String]) -> String {
    let mut text = String::new();
    let mut line = 0;
    for (place, item) in items.iter().enumerate() {
        let chars = item.chars().count() + 2;
        if place > 0 {
            if line + chars > LINE_CHARS {
                text.push_str(",\n       ");
                line = 0;
            } else {
                text.push_str(", ");
            }
        }
        text.push_str(item);
        line += chars;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_broken() {
        let items: Vec<String> = (0..40).map(|number| format!("\"column_{number}\"")).collect();
        assert!(listed(&items).lines().all(|line| line.chars().count() < LINE_CHARS + 10));
    }
}
