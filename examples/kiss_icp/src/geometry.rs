//! Points, rotations and poses with the same bits on every machine.
//!
//! Only operations that IEEE 754 rounds exactly (sums, products, quotients, square roots), in a
//! fixed order, and sine, cosine and arc tangent of the crate `libm`, which are software.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// A point or direction in space, in metres where it is a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vector(
    /// Along the axes x, y and z.
    pub [f64; 3],
);

impl Vector {
    /// The vector of these coordinates.
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self([x, y, z])
    }

    /// The scalar product.
    pub fn dot(self, other: Self) -> f64 {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        a * d + b * e + c * f
    }

    /// The vector product.
    pub fn cross(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        Self([b * f - c * e, c * d - a * f, a * e - b * d])
    }

    /// The square of the length.
    pub fn length_squared(self) -> f64 {
        self.dot(self)
    }

    /// The length.
    pub fn length(self) -> f64 {
        self.length_squared().sqrt()
    }
}

impl Add for Vector {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        Self([a + d, b + e, c + f])
    }
}

impl AddAssign for Vector {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Vector {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Vector {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.map(|x| -x))
    }
}

impl Mul<f64> for Vector {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self(self.0.map(|x| x * factor))
    }
}

/// A rotation, as a unit quaternion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation {
    /// The imaginary part.
    pub vector: Vector,
    /// The real part.
    pub w: f64,
}

impl Rotation {
    /// No rotation.
    pub const IDENTITY: Self = Self { vector: Vector::new(0.0, 0.0, 0.0), w: 1.0 };

    /// The rotation about the z axis by an angle in radians.
    pub fn about_z(angle_rad: f64) -> Self {
        Self::exp(Vector::new(0.0, 0.0, angle_rad))
    }

    /// The rotation by a rotation vector: axis times angle in radians.
    pub fn exp(vector: Vector) -> Self {
        let angle = vector.length();
        let half = 0.5 * angle;
        let factor = if angle < 1e-10 { 0.5 } else { libm::sin(half) / angle };
        Self { vector: vector * factor, w: libm::cos(half) }.normalized()
    }

    /// The rotation vector, with an angle of at most pi.
    pub fn log(self) -> Vector {
        let sine = self.vector.length();
        if sine < 1e-10 {
            return self.vector * (2.0 / self.w);
        }
        let half =
            if self.w < 0.0 { libm::atan2(-sine, -self.w) } else { libm::atan2(sine, self.w) };
        self.vector * (2.0 * half / sine)
    }

    /// The opposite rotation.
    pub fn inverse(self) -> Self {
        Self { vector: -self.vector, w: self.w }
    }

    /// The angle of this rotation in radians, from 0 to pi.
    pub fn angle_rad(self) -> f64 {
        self.log().length()
    }

    /// The rotated vector.
    pub fn apply(self, vector: Vector) -> Vector {
        let twice = self.vector.cross(vector) * 2.0;
        vector + twice * self.w + self.vector.cross(twice)
    }

    fn normalized(self) -> Self {
        let length = (self.vector.length_squared() + self.w * self.w).sqrt();
        Self { vector: self.vector * (1.0 / length), w: self.w / length }
    }
}

impl Mul for Rotation {
    type Output = Self;
    /// The rotation by `other`, then by `self`.
    fn mul(self, other: Self) -> Self {
        let vector =
            other.vector * self.w + self.vector * other.w + self.vector.cross(other.vector);
        let w = self.w * other.w - self.vector.dot(other.vector);
        Self { vector, w }.normalized()
    }
}

/// A position and orientation: a rigid motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// The orientation.
    pub rotation: Rotation,
    /// The position in metres.
    pub position: Vector,
}

impl Pose {
    /// The origin.
    pub const IDENTITY: Self =
        Self { rotation: Rotation::IDENTITY, position: Vector::new(0.0, 0.0, 0.0) };

    /// The motion along a twist: translational part, then rotation vector.
    pub fn exp([linear, angular]: [Vector; 2]) -> Self {
        let angle_squared = angular.length_squared();
        let angle = angle_squared.sqrt();
        // Of the power series where the quotients would cancel.
        let (a, b) = if angle < 1e-5 {
            (0.5 - angle_squared / 24.0, 1.0 / 6.0 - angle_squared / 120.0)
        } else {
            let cosine = 1.0 - libm::cos(angle);
            (cosine / angle_squared, (angle - libm::sin(angle)) / (angle_squared * angle))
        };
        let cross = angular.cross(linear);
        let position = linear + cross * a + angular.cross(cross) * b;
        Self { rotation: Rotation::exp(angular), position }
    }

    /// The twist of this motion: translational part, then rotation vector.
    pub fn log(self) -> [Vector; 2] {
        let angular = self.rotation.log();
        let angle_squared = angular.length_squared();
        let angle = angle_squared.sqrt();
        let c = if angle < 1e-3 {
            1.0 / 12.0 + angle_squared / 720.0
        } else {
            let half = 0.5 * angle;
            (1.0 - half * libm::cos(half) / libm::sin(half)) / angle_squared
        };
        let cross = angular.cross(self.position);
        [self.position - cross * 0.5 + angular.cross(cross) * c, angular]
    }

    /// The motion back.
    pub fn inverse(self) -> Self {
        let rotation = self.rotation.inverse();
        Self { rotation, position: -rotation.apply(self.position) }
    }

    /// The point after this motion.
    pub fn apply(self, point: Vector) -> Vector {
        self.rotation.apply(point) + self.position
    }
}

impl Mul for Pose {
    type Output = Self;
    /// The motion `other`, then `self`.
    fn mul(self, other: Self) -> Self {
        Self { rotation: self.rotation * other.rotation, position: self.apply(other.position) }
    }
}

/// The solution of `matrix * x = right` for a symmetric positive semidefinite matrix, of which only
/// the lower triangle is read. Zero along directions that the matrix does not determine.
pub fn solve<const N: usize>(matrix: &[[f64; N]; N], right: [f64; N]) -> [f64; N] {
    // matrix = L D L^T, with ones on the diagonal of L.
    let mut lower = [[0.0; N]; N];
    let mut pivots = [0.0; N];
    let smallest = 1e-12 * (0..N).map(|i| matrix[i][i]).fold(0.0, f64::max);
    for j in 0..N {
        for i in j..N {
            let known = |k: usize| lower[i][k] * pivots[k] * lower[j][k];
            let rest = (0..j).fold(matrix[i][j], |rest, k| rest - known(k));
            if i == j {
                pivots[j] = rest;
                lower[j][j] = 1.0;
            } else if pivots[j] > smallest {
                lower[i][j] = rest / pivots[j];
            }
        }
    }
    let mut x = right;
    for i in 0..N {
        x[i] = (0..i).fold(x[i], |rest, k| rest - lower[i][k] * x[k]);
    }
    for (x, pivot) in x.iter_mut().zip(pivots) {
        *x = if pivot > smallest { *x / pivot } else { 0.0 };
    }
    for i in (0..N).rev() {
        x[i] = (i + 1..N).fold(x[i], |rest, k| rest - lower[k][i] * x[k]);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(a: Vector, b: Vector) {
        assert!((a - b).length() < 1e-12, "{a:?} is not {b:?}");
    }

    #[test]
    fn exponential_and_logarithm_are_inverse() {
        for scale in [1e-12, 1e-6, 0.9e-3, 1.1e-3, 0.1, 1.0, 3.0] {
            let twist = [Vector::new(1.0, -2.0, 0.5), Vector::new(0.6, 0.0, -0.8) * scale];
            let [linear, angular] = Pose::exp(twist).log();
            assert_near(linear, twist[0]);
            assert_near(angular, twist[1]);
        }
    }

    #[test]
    fn quarter_turn_along_a_circle_ends_where_geometry_says() {
        let quarter = std::f64::consts::FRAC_PI_2;
        let arc = [Vector::new(quarter * 10.0, 0.0, 0.0), Vector::new(0.0, 0.0, quarter)];
        let end = Pose::exp(arc);
        assert_near(end.position, Vector::new(10.0, 10.0, 0.0));
        assert_near(end.apply(Vector::new(1.0, 0.0, 0.0)), Vector::new(10.0, 11.0, 0.0));
        assert_near((end * end.inverse()).position, Vector::default());
        assert_near((end * end).position, Vector::new(0.0, 20.0, 0.0));
    }

    #[test]
    fn solution_satisfies_the_equations() {
        let rows = [[2.0, 0.5, -1.0], [0.1, 3.0, 0.2], [1.0, 1.0, 1.0], [0.0, -2.0, 0.3]];
        let mut matrix = [[0.0; 3]; 3];
        for row in rows {
            for (i, j) in (0..9).map(|n| (n / 3, n % 3)) {
                matrix[i][j] += row[i] * row[j];
            }
        }
        let right = [1.0, -2.0, 3.0];
        let x = solve(&matrix, right);
        for i in 0..3 {
            let left: f64 = (0..3).map(|j| matrix[i][j] * x[j]).sum();
            assert!((left - right[i]).abs() < 1e-12, "row {i}: {left}");
        }
    }

    #[test]
    fn solution_is_zero_along_undetermined_directions() {
        let x = solve(&[[4.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 2.0]], [8.0, 0.0, 1.0]);
        assert_eq!(x, [2.0, 0.0, 0.5]);
        assert_eq!(solve(&[[0.0; 6]; 6], [0.0; 6]), [0.0; 6]);
    }
}
