//! Messages read and written: one program, because each needs the code of all types.

mod cdr;
mod hostile;
mod model;
mod rclpy;
