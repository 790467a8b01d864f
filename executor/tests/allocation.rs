//! A digest and a random number are made without allocating: they belong into callbacks.

use allocation_counter::measure;
use ringspin_executor::rand_core::Rng;
use ringspin_executor::{Digest, DigestHasher, Graph};
use std::collections::BTreeMap;

#[derive(Digest)]
#[digest(crate = "ringspin_executor")]
enum Cell {
    Free,
    Wall { name: String, corners: Vec<[f32; 2]> },
}

#[test]
fn nothing_is_allocated() {
    let wall = |n: u32| Cell::Wall { name: format!("wall {n}"), corners: vec![[0.5; 2]; 100] };
    let map: BTreeMap<u32, Option<Cell>> = BTreeMap::from_iter([
        (1, None),
        (2, Some(Cell::Free)),
        (3, Some(wall(3))),
        (4, Some(wall(4))),
    ]);
    let node = Graph::new().create_node("node", ()).unwrap();
    let mut random = node.create_random("noise").unwrap();
    let mut sum = 0;
    let allocations = measure(|| {
        for _ in 0..10 {
            sum ^= DigestHasher::of(&map) ^ random.next_u64() ^ DigestHasher::of(&random);
        }
    });
    assert_eq!(allocations.count_total, 0);
    assert_ne!(sum, 0);
}
