//! LiDAR odometry by KISS-ICP as ordinary nodes: live, and replayed.

#![forbid(unsafe_code)]
