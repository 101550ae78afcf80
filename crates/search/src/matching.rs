//! One-to-one alignment of columns: the assignment of greatest total weight.

/// The assignment of rows to columns with the greatest sum of `weights` (row-major, `rows` × `columns`, each ≥ 0); rows may
/// stay alone. Returns the column of each row. Kuhn–Munkres with potentials, O(n²·m) for n rows and m columns.
pub fn best_assignment(weights: &[f64], rows: usize, columns: usize) -> Vec<Option<usize>> {
    if rows == 0 || columns == 0 {
        return vec![None; rows];
    }
    if rows > columns {
        let transposed: Vec<f64> = (0..columns * rows).map(|at| weights[(at % rows) * columns + at / rows]).collect();
        let mut assigned = vec![None; rows];
        for (column, row) in best_assignment(&transposed, columns, rows).into_iter().enumerate() {
            if let Some(row) = row {
                assigned[row] = Some(column);
            }
        }
        return assigned;
    }
    let cost = |row: usize, column: usize| -weights[(row - 1) * columns + column - 1];
    // Places count from 1; column 0 stands for "not assigned yet".
    let mut row_potential = vec![0.0; rows + 1];
    let mut column_potential = vec![0.0; columns + 1];
    let mut row_of = vec![0usize; columns + 1];
    let mut way = vec![0usize; columns + 1];
    for row in 1..=rows {
        row_of[0] = row;
        let mut column = 0;
        let mut slack = vec![f64::INFINITY; columns + 1];
        let mut used = vec![false; columns + 1];
        loop {
            used[column] = true;
            let current = row_of[column];
            let (mut delta, mut next) = (f64::INFINITY, 0);
            for candidate in 1..=columns {
                if used[candidate] {
                    continue;
                }
                let reduced = cost(current, candidate) - row_potential[current] - column_potential[candidate];
                if reduced < slack[candidate] {
                    slack[candidate] = reduced;
                    way[candidate] = column;
                }
                if slack[candidate] < delta {
                    (delta, next) = (slack[candidate], candidate);
                }
            }
            for place in 0..=columns {
                if used[place] {
                    row_potential[row_of[place]] += delta;
                    column_potential[place] -= delta;
                } else {
                    slack[place] -= delta;
                }
            }
            column = next;
            if row_of[column] == 0 {
                break;
            }
        }
        while column != 0 {
            let before = way[column];
            row_of[column] = row_of[before];
            column = before;
        }
    }
    let mut assigned = vec![None; rows];
    for column in 1..=columns {
        if row_of[column] > 0 && weights[(row_of[column] - 1) * columns + column - 1] > 0.0 {
            assigned[row_of[column] - 1] = Some(column - 1);
        }
    }
    assigned
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(weights: &[f64], columns: usize, assigned: &[Option<usize>]) -> f64 {
        assigned
            .iter()
            .enumerate()
            .filter_map(|(row, column)| column.map(|column| weights[row * columns + column]))
            .sum()
    }

    /// Tries every assignment.
    fn brute(weights: &[f64], rows: usize, columns: usize, row: usize, used: u32) -> f64 {
        if row == rows {
            return 0.0;
        }
        let mut best = brute(weights, rows, columns, row + 1, used);
        for column in (0..columns).filter(|column| used & (1 << column) == 0) {
            let rest = brute(weights, rows, columns, row + 1, used | 1 << column);
            best = best.max(weights[row * columns + column] + rest);
        }
        best
    }

    #[test]
    fn a_greedy_choice_is_given_up_for_a_better_whole() {
        let weights = [0.9, 0.8, 0.8, 0.1];
        assert_eq!(best_assignment(&weights, 2, 2), [Some(1), Some(0)]);
        assert_eq!(best_assignment(&[0.0, 0.0], 1, 2), [None]);
        assert_eq!(best_assignment(&[], 0, 0), Vec::<Option<usize>>::new());
    }

    proptest::proptest! {
        #[test]
        fn no_assignment_weighs_more(rows in 1usize..5, columns in 1usize..6, seed in proptest::collection::vec(0u32..100, 30)) {
            let weights: Vec<f64> = seed[..rows * columns].iter().map(|weight| f64::from(*weight)).collect();
            let assigned = best_assignment(&weights, rows, columns);
            let mut used: Vec<usize> = assigned.iter().flatten().copied().collect();
            used.sort_unstable();
            used.dedup();
            proptest::prop_assert_eq!(used.len(), assigned.iter().flatten().count());
            proptest::prop_assert_eq!(total(&weights, columns, &assigned), brute(&weights, rows, columns, 0, 0));
        }
    }
}
