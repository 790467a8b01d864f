//! LiDAR odometry by KISS-ICP as ordinary nodes: live, replayed, and over ROS 2.
//!
//! The estimator and the generator of drives compute the same bits on every machine, so replays of
//! a recording are equal byte for byte.

#![forbid(unsafe_code)]

pub mod case_study;
pub mod drive;
pub mod geometry;
pub mod node;
pub mod odometry;
pub mod plot;
pub mod point_cloud;
pub mod replay;
pub mod street;
mod voxel_map;

pub use voxel_map::VoxelMap;
