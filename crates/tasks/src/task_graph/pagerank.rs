//! Personalised PageRank on an undirected weighted graph: how near every node is to a few seeds, over all paths.
//!
//! A random walker starts at a seed, drawn by the seeds' weights; with probability α it follows an edge of its node, drawn by the
//! edges' weights, and with 1 − α it jumps back to a seed. The score of a node is the share of time spent there (Page et
//! al. 1999; Haveliwala, WWW 2002). α is `alpha` of `networkx.pagerank`: a *greater* α explores farther.
//!
//! With A the symmetric matrix of weights, D its row sums and p the seeds, the scores are y / Σy where
//! (I − α·A·D⁻¹)·y = p. The division amounts to networkx's rule for nodes without edges (their walker jumps to the
//! seeds). With y = D^½·z that is a symmetric positive definite system, (I − α·D^−½·A·D^−½)·z = D^−½·p, whose condition number is
//! at most (1 + α) / (1 − α), so conjugate gradients needs about 30 products with the matrix at α = 0.85 for eight
//! digits, where power iteration needs 113.

use rayon::prelude::*;

/// How far PageRank goes, and how exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageRankOptions {
    /// The probability to follow an edge, from 0 to below 1; 0.85 by default.
    pub alpha: f64,
    /// The scores are within this of the exact ones, summed over all nodes; 1e-8 by default.
    pub tolerance: f64,
    /// Products with the matrix at most; 1,000 by default, far more than any graph needs for the default tolerance.
    pub most_steps: usize,
}

impl Default for PageRankOptions {
    fn default() -> Self {
        Self { alpha: 0.85, tolerance: 1e-8, most_steps: 1_000 }
    }
}

/// With 1 the walker would never return to the seeds.
const GREATEST_ALPHA: f64 = 0.999;
/// Smaller weights count as 0, so that no square root underflows.
const MIN_WEIGHT: f64 = 1e-100;
/// Greater weights are clamped to this, so that sums stay finite.
const GREATEST_WEIGHT: f64 = 1e100;

/// Number of directed edges from which products run in parallel, and the minimum number of rows per thread.
const SHARED_EDGES: usize = 1 << 16;
const SHARED_ROWS: usize = 512;

/// Scores of all nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct PageRank {
    /// One per node, non-negative, summing to 1; all 0 without a seed.
    pub scores: Vec<f64>,
    /// Number of products with the matrix.
    pub steps: usize,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

/// An undirected weighted graph in compressed rows; 12 bytes for each direction of an edge.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Network {
    /// Where the edges of each node start; one more entry than nodes.
    starts: Vec<usize>,
    neighbours: Vec<u32>,
    /// Weight over √(sum of weights of both ends), parallel to `neighbours`.
    normalised: Vec<f64>,
    /// Square root of each node's sum of weights.
    root_degree: Vec<f64>,
}

impl Network {
    /// The graph of `nodes` nodes with the undirected `edges` (one end, other end, weight). Each edge is given once, in either
    /// direction; weights of repeated edges add up, loops count once, and an edge is ignored if its weight is below 1e-100 or NaN
    /// or one of its ends is not a node.
    pub fn new(nodes: usize, edges: &[(u32, u32, f64)]) -> Self {
        let fits = |&(a, b, weight): &(u32, u32, f64)| {
            let is_edge = (a as usize) < nodes && (b as usize) < nodes && weight >= MIN_WEIGHT;
            is_edge.then_some((a, b, weight.min(GREATEST_WEIGHT)))
        };
        let mut starts = vec![0usize; nodes + 1];
        let mut degree = vec![0.0; nodes];
        for (a, b, weight) in edges.iter().filter_map(fits) {
            starts[a as usize + 1] += 1;
            degree[a as usize] += weight;
            if a != b {
                starts[b as usize + 1] += 1;
                degree[b as usize] += weight;
            }
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let root_degree: Vec<f64> = degree.iter().map(|degree: &f64| degree.sqrt()).collect();
        let mut next = starts.clone();
        let mut neighbours = vec![0; starts[nodes]];
        let mut normalised = vec![0.0; starts[nodes]];
        for (a, b, weight) in edges.iter().filter_map(fits) {
            let share = weight / (root_degree[a as usize] * root_degree[b as usize]);
            let mut place = |from: u32, to: u32| {
                let at = &mut next[from as usize];
                neighbours[*at] = to;
                normalised[*at] = share;
                *at += 1;
            };
            place(a, b);
            if a != b {
                place(b, a);
            }
        }
        Self { starts, neighbours, normalised, root_degree }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.root_degree.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.root_degree.is_empty()
    }

    /// The nodes that share an edge with `node`, with its weight.
    pub fn neighbours(&self, node: u32) -> impl Iterator<Item = (u32, f64)> {
        let at = node as usize;
        let range = if at < self.len() { self.starts[at]..self.starts[at + 1] } else { 0..0 };
        range.map(move |edge| {
            let to = self.neighbours[edge];
            (to, self.normalised[edge] * self.root_degree[at] * self.root_degree[to as usize])
        })
    }

    /// Personalised PageRank from `seeds` (node, weight above 0). Seeds are ignored if they are not a node or their weight is below
    /// 1e-100 or NaN.
    pub fn pagerank(&self, seeds: &[(u32, f64)], options: &PageRankOptions) -> PageRank {
        let nodes = self.len();
        let mut start = vec![0.0; nodes];
        for &(node, weight) in seeds {
            if let Some(share) = start.get_mut(node as usize)
                && weight >= MIN_WEIGHT
            {
                *share += weight.min(GREATEST_WEIGHT);
            }
        }
        let total: f64 = start.iter().sum();
        if total <= 0.0 {
            return PageRank { scores: start, steps: 0, converged: true };
        }
        start.iter_mut().for_each(|share| *share /= total);
        let alpha = if options.alpha.is_nan() { 0.0 } else { options.alpha.clamp(0.0, GREATEST_ALPHA) };
        // Nodes without edges keep their start value; the others form the linear system.
        let mut residual: Vec<f64> =
            start.iter().zip(&self.root_degree).map(|(p, root)| if *root > 0.0 { p / root } else { 0.0 }).collect();
        let mut solution = vec![0.0; nodes];
        let mut direction = residual.clone();
        let mut product = vec![0.0; nodes];
        let mut square = dot(&residual, &residual);
        let enough = options.tolerance * (1.0 - alpha);
        let mut steps = 0;
        // Σ|residual of y| / (1 − α) bounds the error of y, as ‖(I − α·A·D⁻¹)⁻¹‖₁ ≤ 1 / (1 − α); Σy ≥ 1.
        let mut converged = self.residual_of_scores(&residual) <= enough;
        while !converged && steps < options.most_steps {
            self.multiply(&direction, &mut product, alpha);
            let curvature = dot(&direction, &product);
            if curvature <= 0.0 {
                break;
            }
            let length = square / curvature;
            for node in 0..nodes {
                solution[node] += length * direction[node];
                residual[node] -= length * product[node];
            }
            let next = dot(&residual, &residual);
            let turn = next / square;
            for node in 0..nodes {
                direction[node] = residual[node] + turn * direction[node];
            }
            square = next;
            steps += 1;
            converged = self.residual_of_scores(&residual) <= enough;
        }
        let mut scores = start;
        for (node, root) in self.root_degree.iter().enumerate() {
            if *root > 0.0 {
                // Negative values are rounding errors.
                scores[node] = (solution[node] * root).max(0.0);
            }
        }
        let total: f64 = scores.iter().sum();
        scores.iter_mut().for_each(|score| *score /= total);
        PageRank { scores, steps, converged }
    }

    fn residual_of_scores(&self, residual: &[f64]) -> f64 {
        residual.iter().zip(&self.root_degree).map(|(residual, root)| residual.abs() * root).sum()
    }

    /// `out` = (I − α·D^−½·A·D^−½)·`vector`.
    fn multiply(&self, vector: &[f64], out: &mut [f64], alpha: f64) {
        let product = |(node, out): (usize, &mut f64)| {
            let edges = self.starts[node]..self.starts[node + 1];
            let pulled: f64 = self.neighbours[edges.clone()]
                .iter()
                .zip(&self.normalised[edges])
                .map(|(to, share)| share * vector[*to as usize])
                .sum();
            *out = vector[node] - alpha * pulled;
        };
        if self.neighbours.len() < SHARED_EDGES {
            out.iter_mut().enumerate().for_each(product);
        } else {
            // Each row is summed in a fixed order: the result does not depend on the number of threads.
            out.par_iter_mut().with_min_len(SHARED_ROWS).enumerate().for_each(product);
        }
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(l, r)| l * r).sum()
}

#[cfg(test)]
mod tests {
    //! The scores equal those of a reference; they are a distribution; they grow with nearness; invalid seeds and edges
    //! change nothing.

    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Reference {
        nodes: usize,
        edges: Vec<(u32, u32, f64)>,
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        alpha: f64,
        seeds: Vec<(u32, f64)>,
        scores: Vec<f64>,
    }

    #[test]
    fn scores_are_those_of_networkx() {
        let text = include_str!("pagerank.json");
        let reference: Reference = serde_json::from_str(text).expect("the reference");
        let network = Network::new(reference.nodes, &reference.edges);
        for case in reference.cases {
            let options = PageRankOptions { alpha: case.alpha, ..PageRankOptions::default() };
            let found = network.pagerank(&case.seeds, &options);
            assert!(found.converged, "α {} {:?}", case.alpha, case.seeds);
            let difference: f64 = found.scores.iter().zip(&case.scores).map(|(l, r)| (l - r).abs()).sum();
            assert!(difference < 1e-6, "α {} {:?}: {difference}", case.alpha, case.seeds);
        }
    }

    #[test]
    fn edges_are_returned_unchanged() {
        let network = Network::new(3, &[(0, 1, 0.5), (2, 1, 0.25), (0, 9, 1.0), (0, 2, -1.0), (1, 2, f64::NAN)]);
        let of =
            |node| network.neighbours(node).map(|(to, weight)| (to, (weight * 1e9).round() / 1e9)).collect::<Vec<_>>();
        assert_eq!(of(1), [(0, 0.5), (2, 0.25)]);
        assert_eq!((of(2), of(7)), (vec![(1, 0.25)], vec![]));
    }

    #[test]
    fn ten_thousand_tasks_take_few_steps() {
        let nodes = 10_000u32;
        let edges: Vec<(u32, u32, f64)> = (0..nodes)
            .flat_map(|node| {
                (1..=12u32)
                    .map(move |step| (node, (node * 31 + step * step * 97) % nodes, 0.6 + 0.03 * f64::from(step)))
            })
            .collect();
        let found =
            Network::new(nodes as usize, &edges).pagerank(&[(17, 1.0), (4_711, 0.5)], &PageRankOptions::default());
        assert!(found.converged && found.steps < 60, "{} steps", found.steps);
    }

    /// Number of nodes, edges, seeds, α.
    type Graph = (usize, Vec<(u32, u32, f64)>, Vec<(u32, f64)>, f64);

    fn graphs() -> impl Strategy<Value = Graph> {
        (1usize..30).prop_flat_map(|nodes| {
            let node = 0..nodes as u32;
            let edges = prop::collection::vec((node.clone(), node.clone(), 0.01f64..1.0), 0..60);
            (Just(nodes), edges, prop::collection::vec((node, 0.01f64..1.0), 1..4), 0.0f64..0.99)
        })
    }

    proptest! {
        #[test]
        fn scores_are_a_distribution_that_solves_the_equation((nodes, edges, seeds, alpha) in graphs()) {
            let network = Network::new(nodes, &edges);
            let found = network.pagerank(&seeds, &PageRankOptions { alpha, ..PageRankOptions::default() });
            prop_assert!(found.converged);
            prop_assert!((found.scores.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            // x = α·(A·D⁻¹·x + the mass on nodes without edges, sent to the seeds) + (1 − α)·p
            let total: f64 = seeds.iter().map(|(_, weight)| weight).sum();
            let mut expected = vec![0.0; nodes];
            let lost: f64 = (0..nodes).filter(|node| network.root_degree[*node] == 0.0).map(|node| found.scores[node]).sum();
            for (node, weight) in &seeds {
                expected[*node as usize] += (1.0 - alpha + alpha * lost) * weight / total;
            }
            for node in 0..nodes as u32 {
                let degree: f64 = network.neighbours(node).map(|(_, weight)| weight).sum();
                for (to, weight) in network.neighbours(node) {
                    expected[to as usize] += alpha * found.scores[node as usize] * weight / degree;
                }
            }
            let difference: f64 = expected.iter().zip(&found.scores).map(|(l, r)| (l - r).abs()).sum();
            prop_assert!(difference < 1e-6, "{}", difference);
        }

        #[test]
        fn any_input_is_accepted(nodes in 0usize..5, edges: Vec<(u32, u32, f64)>, seeds: Vec<(u32, f64)>, alpha: f64) {
            let found = Network::new(nodes, &edges).pagerank(&seeds, &PageRankOptions { alpha, ..PageRankOptions::default() });
            prop_assert!(found.scores.len() == nodes && found.scores.iter().all(|score| score.is_finite()));
        }
    }
}
