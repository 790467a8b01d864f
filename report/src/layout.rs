//! Layered graph layout: layers follow the data flow, with few crossings and short edges.
//!
//! The classical steps of layered drawings: break cycles, assign layers by longest path, split long
//! edges into pieces, order layers by barycentres, compute positions by least squares. All loops
//! are bounded, and ties are broken by index, so that a graph has one drawing.

/// The number of passes over the layers that reduce crossings.
const SWEEPS: usize = 24;

/// The number of passes that move positions towards their neighbours.
const ROUNDS: usize = 24;

/// The width of a piece of an edge within a layer.
const PASSING: f64 = 14.0;

/// A graph with coordinates.
pub(crate) struct Layout {
    /// The centre of each node.
    pub(crate) nodes: Vec<(f64, f64)>,
    /// For each given edge, its polyline from centre to centre; empty for a self-loop and for an
    /// edge of an unknown node.
    pub(crate) edges: Vec<Vec<(f64, f64)>>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// The sizes of a layout.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) node: (f64, f64),
    pub(crate) gap: (f64, f64),
}

/// Lays out `count` nodes from top to bottom.
///
/// O(s · e²) for s sweeps and e edges between two layers.
pub(crate) fn lay_out(count: usize, edges: &[(usize, usize)], sizes: Sizes) -> Layout {
    let usable: Vec<(usize, usize)> = acyclic(count, edges);
    let layer_of = layers(count, &usable);
    let mut pieces = Pieces::new(count, &layer_of, edges);
    pieces.order();
    let xs = pieces.positions(sizes);
    let ys = |layer: usize| sizes.node.1 / 2.0 + layer as f64 * (sizes.node.1 + sizes.gap.1);
    let at = |vertex: usize| (xs[vertex], ys(pieces.layer_of[vertex]));
    let right = (0..count).map(|node| xs[node] + sizes.node.0 / 2.0).fold(0.0, f64::max);
    let passing = xs.iter().copied().fold(0.0, f64::max);
    Layout {
        nodes: (0..count).map(at).collect(),
        edges: pieces.chains.iter().map(|chain| chain.iter().map(|v| at(*v)).collect()).collect(),
        width: right.max(passing + PASSING),
        height: pieces.rows.len().max(1) as f64 * (sizes.node.1 + sizes.gap.1) - sizes.gap.1,
    }
}

/// The edges without self-loops; those that would close a cycle are reversed.
fn acyclic(count: usize, edges: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let known: Vec<(usize, usize)> =
        edges.iter().copied().filter(|(a, b)| a != b && *a < count && *b < count).collect();
    let mut next = vec![Vec::new(); count];
    known.iter().for_each(|(a, b)| next[*a].push(*b));
    // The order in which a depth-first search leaves the nodes: an edge to a node that is left
    // later closes a cycle.
    let (mut left_at, mut seen, mut clock) = (vec![0; count], vec![false; count], 0);
    for root in 0..count {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((node, at)) = path.last_mut() {
            let node = *node;
            match next[node].get(*at) {
                None => {
                    left_at[node] = clock;
                    clock += 1;
                    path.pop();
                }
                Some(to) => {
                    *at += 1;
                    if !std::mem::replace(&mut seen[*to], true) {
                        path.push((*to, 0));
                    }
                }
            }
        }
    }
    known.into_iter().map(|(a, b)| if left_at[b] < left_at[a] { (a, b) } else { (b, a) }).collect()
}

/// The layer of each node: below all its predecessors, and sources just above their successors.
fn layers(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut layer_of = vec![0; count];
    // Each round settles at least one layer.
    for _ in 0..count {
        let mut changed = false;
        for (from, to) in edges {
            if layer_of[*to] <= layer_of[*from] {
                layer_of[*to] = layer_of[*from] + 1;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for node in 0..count {
        let is_source = !edges.iter().any(|(_, to)| *to == node);
        let fed = edges.iter().filter(|(from, _)| *from == node).map(|(_, to)| layer_of[*to]);
        if let Some(first) = fed.min().filter(|_| is_source) {
            layer_of[node] = first - 1;
        }
    }
    layer_of
}

/// Nodes and pieces of long edges, layer by layer. The nodes come first.
struct Pieces {
    nodes: usize,
    layer_of: Vec<usize>,
    /// The members of each layer, from left to right.
    rows: Vec<Vec<usize>>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    /// By edge: the vertices on its path, in its own direction.
    chains: Vec<Vec<usize>>,
}

impl Pieces {
    fn new(count: usize, layer_of: &[usize], edges: &[(usize, usize)]) -> Self {
        let depth = layer_of.iter().max().map_or(0, |deepest| deepest + 1);
        let mut rows = vec![Vec::new(); depth];
        (0..count).for_each(|node| rows[layer_of[node]].push(node));
        let (mut layer_of, mut chains) = (layer_of.to_vec(), Vec::new());
        for (from, to) in edges {
            let mut chain = Vec::new();
            if from != to && *from < count && *to < count {
                let (upper, lower) = match layer_of[*from] <= layer_of[*to] {
                    true => (*from, *to),
                    false => (*to, *from),
                };
                chain.push(upper);
                let passed = layer_of[upper] + 1..layer_of[lower];
                for (row, layer) in rows[passed.clone()].iter_mut().zip(passed) {
                    row.push(layer_of.len());
                    chain.push(layer_of.len());
                    layer_of.push(layer);
                }
                chain.push(lower);
                if upper == *to {
                    chain.reverse();
                }
            }
            chains.push(chain);
        }
        let (mut above, mut below) =
            (vec![Vec::new(); layer_of.len()], vec![Vec::new(); layer_of.len()]);
        for pair in chains.iter().flat_map(|chain| chain.windows(2)) {
            let (upper, lower) = match layer_of[pair[0]] < layer_of[pair[1]] {
                true => (pair[0], pair[1]),
                false => (pair[1], pair[0]),
            };
            below[upper].push(lower);
            above[lower].push(upper);
        }
        Self { nodes: count, layer_of, rows, above, below, chains }
    }

    /// Searches for an order of each layer with few crossings, and keeps the best one.
    fn order(&mut self) {
        let mut best = (self.crossings(), self.rows.clone());
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            let depth = self.rows.len();
            for n in 1..depth {
                let layer = if down { n } else { depth - 1 - n };
                self.order_by_neighbours(layer, down);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.rows.clone());
            }
        }
        self.rows = best.1;
        self.swap_neighbours();
    }

    fn order_by_neighbours(&mut self, layer: usize, down: bool) {
        let place = self.places();
        let neighbours = if down { &self.above } else { &self.below };
        let centre = |vertex: usize| {
            let of = &neighbours[vertex];
            match of.len() {
                0 => place[vertex] as f64,
                count => of.iter().map(|other| place[*other] as f64).sum::<f64>() / count as f64,
            }
        };
        self.rows[layer].sort_by(|a, b| centre(*a).total_cmp(&centre(*b)));
    }

    /// Swaps adjacent vertices while that removes crossings.
    fn swap_neighbours(&mut self) {
        for _ in 0..SWEEPS {
            let mut improved = false;
            for layer in 0..self.rows.len() {
                for at in 1..self.rows[layer].len() {
                    let before = self.crossings_around(layer);
                    self.rows[layer].swap(at - 1, at);
                    if self.crossings_around(layer) < before {
                        improved = true;
                    } else {
                        self.rows[layer].swap(at - 1, at);
                    }
                }
            }
            if !improved {
                return;
            }
        }
    }

    fn places(&self) -> Vec<usize> {
        let mut place = vec![0; self.layer_of.len()];
        for row in &self.rows {
            row.iter().enumerate().for_each(|(n, vertex)| place[*vertex] = n);
        }
        place
    }

    fn crossings(&self) -> usize {
        (1..self.rows.len()).map(|layer| self.crossings_above(layer)).sum()
    }

    fn crossings_around(&self, layer: usize) -> usize {
        let below = if layer + 1 < self.rows.len() { self.crossings_above(layer + 1) } else { 0 };
        below + if layer > 0 { self.crossings_above(layer) } else { 0 }
    }

    /// Crossings of the edges that enter a layer from above.
    fn crossings_above(&self, layer: usize) -> usize {
        let place = self.places();
        let entering = self.rows[layer].iter().enumerate();
        let ends: Vec<(usize, usize)> = entering
            .flat_map(|(n, v)| self.above[*v].iter().map(|u| (place[*u], n)).collect::<Vec<_>>())
            .collect();
        let crosses = |a: &(usize, usize), b: &(usize, usize)| {
            (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1)
        };
        let later = |n: usize| ends[n + 1..].iter().filter(|b| crosses(&ends[n], b)).count();
        (0..ends.len()).map(later).sum()
    }

    /// The x coordinate of each vertex: as close to its neighbours as the layer allows.
    fn positions(&self, sizes: Sizes) -> Vec<f64> {
        let width = |v: usize| if v < self.nodes { sizes.node.0 } else { PASSING };
        let apart = |a: usize, b: usize| (width(a) + width(b)) / 2.0 + sizes.gap.0;
        let mut xs = vec![0.0; self.layer_of.len()];
        for row in &self.rows {
            let mut x = 0.0;
            for (n, vertex) in row.iter().enumerate() {
                x += if n == 0 { 0.0 } else { apart(row[n - 1], *vertex) };
                xs[*vertex] = x;
            }
        }
        for round in 0..ROUNDS {
            let depth = self.rows.len();
            for n in 0..depth {
                let layer = if round % 2 == 0 { n } else { depth - 1 - n };
                let row = &self.rows[layer];
                let offsets: Vec<f64> = row
                    .iter()
                    .enumerate()
                    .scan(0.0, |x, (n, v)| {
                        *x += if n == 0 { 0.0 } else { apart(row[n - 1], *v) };
                        Some(*x)
                    })
                    .collect();
                let wanted = row.iter().zip(&offsets).map(|(v, o)| self.wanted(*v, &xs, round) - o);
                let placed = isotonic(&wanted.collect::<Vec<_>>());
                for ((vertex, x), offset) in row.iter().zip(placed).zip(&offsets) {
                    xs[*vertex] = x + offset;
                }
            }
        }
        let edge = |v: usize| xs[v] - width(v) / 2.0;
        let left = (0..xs.len()).map(edge).fold(f64::INFINITY, f64::min);
        xs.iter().map(|x| x - left).collect()
    }

    /// The preferred position of a vertex: between its neighbours, in the last rounds on both
    /// sides. Pieces of the same edge attract each other most, so that long edges are straight.
    fn wanted(&self, vertex: usize, xs: &[f64], round: usize) -> f64 {
        let weight = |other: usize| match vertex >= self.nodes && other >= self.nodes {
            true => 8.0,
            false => 1.0,
        };
        let (above, below) = (&self.above[vertex], &self.below[vertex]);
        let both = round + 4 >= ROUNDS;
        let down = round.is_multiple_of(2);
        let above = above.iter().filter(|_| both || down);
        let below = below.iter().filter(|_| both || !down);
        let (mut sum, mut weights) = (0.0, 0.0);
        for other in above.chain(below) {
            sum += weight(*other) * xs[*other];
            weights += weight(*other);
        }
        if weights > 0.0 { sum / weights } else { xs[vertex] }
    }
}

/// Isotonic regression: the ascending sequence closest to `values` by least squares. Values in the
/// wrong order share their mean. O(n).
fn isotonic(values: &[f64]) -> Vec<f64> {
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for value in values {
        blocks.push((*value, 1));
        while let [.., (a, of_a), (b, of_b)] = &blocks[..]
            && a > b
        {
            let count = of_a + of_b;
            let mean = (a * *of_a as f64 + b * *of_b as f64) / count as f64;
            blocks.truncate(blocks.len() - 2);
            blocks.push((mean, count));
        }
    }
    blocks.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes { node: (100.0, 30.0), gap: (20.0, 40.0) };

    fn assert_apart(layout: &Layout) {
        for (n, a) in layout.nodes.iter().enumerate() {
            for b in &layout.nodes[n + 1..] {
                assert!(a.1 != b.1 || (a.0 - b.0).abs() >= 119.9, "{a:?} and {b:?} overlap");
            }
            assert!((50.0..=layout.width - 49.9).contains(&a.0), "{a:?} of {}", layout.width);
            assert!((15.0..=layout.height - 14.9).contains(&a.1), "{a:?} of {}", layout.height);
        }
    }

    #[test]
    fn a_chain_is_a_straight_line_downwards() {
        let layout = lay_out(3, &[(0, 1), (1, 2)], SIZES);
        assert_eq!(layout.nodes, [(50.0, 15.0), (50.0, 85.0), (50.0, 155.0)]);
        assert_eq!((layout.width, layout.height), (100.0, 170.0));
    }

    #[test]
    fn data_flows_downwards_and_nodes_do_not_overlap() {
        let edges = [(0, 2), (1, 2), (2, 3), (2, 4), (3, 5), (4, 5), (0, 5), (6, 5)];
        let layout = lay_out(7, &edges, SIZES);
        assert_apart(&layout);
        for ((from, to), way) in edges.iter().zip(&layout.edges) {
            assert!(layout.nodes[*from].1 < layout.nodes[*to].1);
            assert_eq!((way[0], way[way.len() - 1]), (layout.nodes[*from], layout.nodes[*to]));
            assert!(way.is_sorted_by(|a, b| a.1 < b.1), "{way:?}");
        }
        // A source is just above its successor, not at the top.
        assert_eq!(layout.nodes[5].1 - layout.nodes[6].1, 70.0);
    }

    #[test]
    fn avoidable_crossings_are_removed() {
        let edges = [(0, 4), (1, 3), (3, 6), (4, 5)];
        let layout = lay_out(7, &edges, SIZES);
        let x = |node: usize| layout.nodes[node].0;
        assert_eq!(x(0) < x(1), x(4) < x(3));
        assert_eq!(x(4) < x(3), x(5) < x(6));
    }

    #[test]
    fn cycles_self_loops_and_unknown_nodes_are_accepted() {
        let edges = [(0, 1), (1, 2), (2, 0), (1, 1), (0, 9)];
        let layout = lay_out(3, &edges, SIZES);
        assert_apart(&layout);
        assert_eq!(layout.edges[3].len() + layout.edges[4].len(), 0);
        let back = &layout.edges[2];
        assert_eq!((back[0], back[back.len() - 1]), (layout.nodes[2], layout.nodes[0]));
        assert_eq!(lay_out(0, &[], SIZES).nodes.len(), 0);
    }

    #[test]
    fn values_in_the_wrong_order_share_their_mean() {
        assert_eq!(isotonic(&[3.0, 1.0, 2.0, 5.0]), [2.0, 2.0, 2.0, 5.0]);
    }
}
