//! Points in cubic cells of space, in the order of their insertion.

use crate::geometry::Vector;
use indexmap::IndexMap;
use indexmap::map::Entry;
use rustc_hash::FxBuildHasher;

/// The indices of a cell.
type Voxel = [i32; 3];

fn voxel_of(point: Vector, size_m: f64) -> Voxel {
    point.0.map(|x| (x / size_m).floor() as i32)
}

/// The first point of each cubic cell, in the order of the points.
pub(crate) fn downsample(points: &[Vector], size_m: f64) -> Vec<Vector> {
    let mut first: IndexMap<Voxel, Vector, FxBuildHasher> = IndexMap::default();
    for point in points {
        first.entry(voxel_of(*point, size_m)).or_insert(*point);
    }
    first.into_values().collect()
}

/// The local map: a few points in each cell around the sensor.
#[derive(Clone, Debug)]
pub struct VoxelMap {
    size_m: f64,
    points_max: usize,
    cells: IndexMap<Voxel, Vec<Vector>, FxBuildHasher>,
}

impl VoxelMap {
    /// An empty map with cells of this size, and up to `points_max` points in each.
    pub fn new(size_m: f64, points_max: usize) -> Self {
        Self { size_m, points_max, cells: IndexMap::default() }
    }

    /// Returns whether it has no points.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// All points, by cell in the order of insertion.
    pub fn points(&self) -> impl Iterator<Item = Vector> {
        self.cells.values().flatten().copied()
    }

    /// Adds the points that find room in their cell and have no close neighbour there.
    pub fn insert(&mut self, points: impl IntoIterator<Item = Vector>) {
        let apart_squared = self.size_m * self.size_m / self.points_max as f64;
        for point in points {
            match self.cells.entry(voxel_of(point, self.size_m)) {
                Entry::Vacant(entry) => {
                    let mut cell = Vec::with_capacity(self.points_max);
                    cell.push(point);
                    entry.insert(cell);
                }
                Entry::Occupied(mut entry) => {
                    let cell = entry.get_mut();
                    let is_close =
                        |other: &Vector| (*other - point).length_squared() < apart_squared;
                    if cell.len() < self.points_max && !cell.iter().any(is_close) {
                        cell.push(point);
                    }
                }
            }
        }
    }

    /// Removes the cells with a first point at least `distance_m` away from `center`.
    pub fn remove_far(&mut self, center: Vector, distance_m: f64) {
        let far = distance_m * distance_m;
        self.cells.retain(|_, points| (points[0] - center).length_squared() < far);
    }

    /// The nearest point in the cell of `point` and the 26 around it, with the square of its
    /// distance. The first of equally near ones.
    pub fn nearest(&self, point: Vector) -> Option<(Vector, f64)> {
        let [x, y, z] = voxel_of(point, self.size_m);
        let around = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy)));
        let voxels = around.flat_map(|(dx, dy)| (-1..=1).map(move |dz| [x + dx, y + dy, z + dz]));
        let mut nearest: Option<(Vector, f64)> = None;
        for other in voxels.filter_map(|voxel| self.cells.get(&voxel)).flatten() {
            let distance = (*other - point).length_squared();
            if nearest.is_none_or(|(_, least)| distance < least) {
                nearest = Some((*other, distance));
            }
        }
        nearest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64) -> Vector {
        Vector::new(x, 0.1, 0.1)
    }

    #[test]
    fn downsampling_keeps_the_first_point_of_each_cell() {
        let points = [2.9, -0.5, 0.5, -0.9, 2.1, 0.6].map(at);
        assert_eq!(downsample(&points, 1.0), [2.9, -0.5, 0.5].map(at));
    }

    #[test]
    fn cell_refuses_close_points_and_points_beyond_its_limit() {
        let mut map = VoxelMap::new(1.0, 4); // points are half a metre apart
        map.insert([0.1, 0.5, 0.61].map(at));
        assert_eq!(map.points().collect::<Vec<_>>(), [0.1, 0.61].map(at));
        let mut map = VoxelMap::new(1.0, 2);
        map.insert([[0.0, 0.0, 0.0], [0.9, 0.9, 0.0], [0.0, 0.9, 0.9]].map(Vector));
        assert_eq!(map.points().count(), 2);
    }

    #[test]
    fn nearest_point_may_be_in_a_cell_around() {
        let mut map = VoxelMap::new(1.0, 20);
        map.insert([0.1, 1.05, 2.5].map(at));
        let (point, distance) = map.nearest(at(0.9)).unwrap();
        assert_eq!(point, at(1.05));
        assert!((distance - 0.0225).abs() < 1e-12, "{distance}");
        assert_eq!(map.nearest(at(-1.5)), None, "two cells away");
    }

    #[test]
    fn far_cells_are_removed_and_the_order_stays() {
        let mut map = VoxelMap::new(1.0, 20);
        map.insert([0.5, 10.5, 1.5, 2.5].map(at));
        map.remove_far(at(0.0), 10.0);
        assert_eq!(map.points().collect::<Vec<_>>(), [0.5, 1.5, 2.5].map(at));
    }
}
