//! The bytes of a C struct's `uint8[]`, where they are: r2r's own functions free, allocate and copy
//! them each time, which for small messages takes as long as all else that is done with them.

pub use r2r_rcl::rosidl_runtime_c__uint8__Sequence as Octets;

/// The bytes of a `uint8[]`. O(1).
///
/// ```
/// use ringspin_ros2::rcl::{RosMessage, octets, octets_mut};
/// use r2r::std_msgs::msg::UInt8MultiArray;
/// let mut native = r2r::NativeMsg::<UInt8MultiArray>::new();
/// assert!(octets(&native.data).is_empty());
/// octets_mut(&mut native.data, 3).copy_from_slice(b"abc");
/// assert_eq!(UInt8MultiArray::from_native(&native).data, b"abc");
/// ```
pub fn octets(sequence: &Octets) -> &[u8] {
    match sequence.data.is_null() {
        true => &[],
        // SAFETY: a sequence of C has so many bytes there, and is borrowed.
        false => unsafe { std::slice::from_raw_parts(sequence.data, sequence.size) },
    }
}

/// The bytes of a `uint8[]`, of which there are `length` from now on, to be overwritten. Those that
/// it had stay if they were as many, and else become 0. Allocates only when the length changes.
///
/// # Panics
/// If there is no memory.
pub fn octets_mut(sequence: &mut Octets, length: usize) -> &mut [u8] {
    if sequence.size != length || sequence.data.is_null() {
        sequence.update(&vec![0; length]);
    }
    if length == 0 {
        return &mut [];
    }
    assert!(!sequence.data.is_null() && sequence.size == length, "no memory for {length} bytes");
    // SAFETY: a sequence of C has so many bytes there, and is borrowed exclusively.
    unsafe { std::slice::from_raw_parts_mut(sequence.data, length) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rcl::RosMessage;
    use r2r::NativeMsg;
    use r2r::std_msgs::msg::UInt8MultiArray;

    #[test]
    fn bytes_are_written_where_they_are() {
        let mut native = NativeMsg::<UInt8MultiArray>::new();
        octets_mut(&mut native.data, 4).copy_from_slice(&[1, 2, 3, 4]);
        let before = native.data.data;
        assert_eq!(octets_mut(&mut native.data, 4), [1, 2, 3, 4]);
        octets_mut(&mut native.data, 4)[3] = 9;
        assert_eq!((octets(&native.data), native.data.data), (&[1, 2, 3, 9][..], before));
        assert_eq!(UInt8MultiArray::from_native(&native).data, [1, 2, 3, 9]);
    }

    #[test]
    fn another_length_starts_with_zeros() {
        let mut native = NativeMsg::<UInt8MultiArray>::new();
        for length in [0, 3, 5, 2, 0, 1] {
            assert_eq!(octets_mut(&mut native.data, length), vec![0; length]);
            octets_mut(&mut native.data, length).fill(7);
            assert_eq!(octets(&native.data), vec![7; length]);
        }
    }
}
