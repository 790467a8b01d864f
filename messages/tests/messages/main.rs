//! Messages read and written: one program, because each needs the code of all types.

mod cdr;
mod conversions;
mod hostile;
mod model;
mod rclpy;
